//! Keys and tokens, kept out of logs, errors and texts.

use std::fmt;
use std::sync::Arc;

use hmac::digest::CtOutput;
use hmac::{Hmac, KeyInit, Mac};
use reqwest::RequestBuilder;
use reqwest::header::HeaderValue;
use sha2::Sha256;
use url::form_urlencoded::Serializer;

/// What replaces a key in a text.
const REDACTED: &str = "[key]";

/// A shorter key is a placeholder for a server that needs none. It could be any word, so it is not removed.
const MIN_SCRUBBED_LEN: usize = 4;

/// Providers that repeat a key mask most of it, but leave its beginning.
const PREFIX_LEN: usize = 6;

/// A key. It has no `Display`, and its `Debug` does not show it.
#[derive(Clone)]
pub struct Secret(Arc<str>);

impl Secret {
    pub fn new(key: &str) -> Self {
        Self(key.trim().into())
    }

    /// Whether it is short enough to be guessed.
    pub fn is_short(&self) -> bool {
        self.0.len() < 16
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether it can be sent in a header.
    pub fn is_sendable(&self) -> bool {
        HeaderValue::from_str(&self.0).is_ok()
    }

    /// Compares in constant time.
    pub fn matches(&self, text: &str) -> bool {
        self.hmac_tag(b"") == Self::new(text).hmac_tag(b"")
    }

    /// Identifies the secret where it must not be known, such as in a session.
    pub fn fingerprint(&self, purpose: &str) -> String {
        hex::encode(self.hmac_tag(purpose.as_bytes()).into_bytes())
    }

    fn hmac_tag(&self, message: &[u8]) -> CtOutput<Hmac<Sha256>> {
        #[expect(clippy::expect_used, reason = "HMAC takes keys of every length")]
        let mut hmac = Hmac::<Sha256>::new_from_slice(self.0.as_bytes()).expect("HMAC takes any key");
        hmac.update(message);
        hmac.finalize()
    }

    /// Adds the secret to a request as a bearer token.
    pub fn authorize(&self, request: RequestBuilder) -> RequestBuilder {
        request.bearer_auth(self.expose())
    }

    /// Adds the secret to the fields of a form.
    pub fn append_to(&self, form: &mut Serializer<'_, String>, name: &str) {
        form.append_pair(name, self.expose());
    }

    pub(super) fn expose(&self) -> &str {
        &self.0
    }

    /// The text without the key, and without words that begin like it.
    pub(super) fn scrub(&self, text: &str) -> String {
        if self.0.len() < MIN_SCRUBBED_LEN {
            return text.to_owned();
        }
        let text = text.replace(&*self.0, REDACTED);
        let escaped = serde_json::to_string(&*self.0).unwrap_or_default();
        let text = text.replace(escaped.trim_matches('"'), REDACTED);
        let Some(prefix) = self.0.get(..PREFIX_LEN).filter(|prefix| prefix.len() < self.0.len()) else {
            return text;
        };
        let mut clean = String::with_capacity(text.len());
        let mut rest = text.as_str();
        while let Some(at) = rest.find(prefix) {
            clean.push_str(&rest[..at]);
            clean.push_str(REDACTED);
            rest = &rest[at..];
            rest = &rest[rest.find(is_key_delimiter).unwrap_or(rest.len())..];
        }
        clean.push_str(rest);
        clean
    }
}

fn is_key_delimiter(c: char) -> bool {
    c.is_whitespace() || matches!(c, '"' | '\'' | '`' | ',' | ';' | '(' | ')' | '<' | '>' | '{' | '}' | '\\')
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_scrubbed_whole_masked_or_cut() {
        let key = Secret::new(" sk-proj-a1b2c3d4e5f6 \n");
        for (said, clean) in [
            ("key sk-proj-a1b2c3d4e5f6 is wrong", "key [key] is wrong"),
            ("Incorrect API key provided: sk-proj-****e5f6.", "Incorrect API key provided: [key]"),
            (r#"{"key":"sk-proj-a1b2"}"#, r#"{"key":"[key]"}"#),
            ("twice: sk-proj-a1b2c3d4e5f6,sk-proj-a1", "twice: [key],[key]"),
            ("cut: sk-proj-a1", "cut: [key]"),
            ("nothing to hide", "nothing to hide"),
        ] {
            assert_eq!(key.scrub(said), clean);
        }
    }

    #[test]
    fn a_key_with_quotes_is_found_in_json() {
        let key = Secret::new(r#"ab"cd\ef"#);
        assert_eq!(key.scrub(r#"{"you sent":"ab\"cd\\ef"}"#), r#"{"you sent":"[key]"}"#);
    }

    #[test]
    fn a_secret_knows_itself_and_its_fingerprint_is_its_own() {
        let token = Secret::new("correct horse battery staple");
        assert!(token.matches(" correct horse battery staple\n"));
        for other in ["", "correct", "correct horse battery staplf", "Correct horse battery staple"] {
            assert!(!token.matches(other), "{other}");
            assert_ne!(token.fingerprint("session"), Secret::new(other).fingerprint("session"), "{other}");
        }
        assert_ne!(token.fingerprint("session"), token.fingerprint("another purpose"));
        assert_eq!(token.fingerprint("session"), token.clone().fingerprint("session"));
    }

    #[test]
    fn a_secret_shows_nothing() {
        assert_eq!(format!("{:?}", Secret::new("sk-proj-a1b2c3d4e5f6")), "Secret(…)");
    }
}
