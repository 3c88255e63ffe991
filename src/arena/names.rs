//! The keys of models and the ids of prompts.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// A model's key: `openai_gpt_5_2_pro`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String")]
pub struct ModelKey(Arc<str>);

/// A prompt's slug: `steam-locomotive`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String")]
pub struct PromptId(Arc<str>);

const MAX_LEN: usize = 64;

/// What both kinds of names do alike.
macro_rules! checked_name {
    ($name:ty) => {
        impl $name {
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl TryFrom<String> for $name {
            type Error = String;

            fn try_from(text: String) -> Result<Self, String> {
                text.parse()
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
    };
}

checked_name!(ModelKey);
checked_name!(PromptId);

impl FromStr for ModelKey {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let allowed = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
        match (1..=MAX_LEN).contains(&text.len()) && text.bytes().all(allowed) {
            true => Ok(Self(text.into())),
            false => Err(format!("a model's key is 1 to {MAX_LEN} characters a-z, 0-9 and _")),
        }
    }
}

impl FromStr for PromptId {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let allowed = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
        let words = text.split('-').all(|word| !word.is_empty() && word.bytes().all(allowed));
        match words && text.len() <= MAX_LEN {
            true => Ok(Self(text.into())),
            false => Err(format!(
                "a prompt's id is a slug: words of a-z and 0-9 joined by hyphens, at most {MAX_LEN} characters"
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_and_slugs_keep_to_their_alphabets() {
        for (text, is_key, is_slug) in [
            ("openai_gpt_5_2_pro", true, false),
            ("steam-locomotive", false, true),
            ("castle", true, true),
            ("", false, false),
            ("Castle", false, false),
            ("a--b", false, false),
            ("-a", false, false),
            ("a/../b", false, false),
        ] {
            assert_eq!(text.parse::<ModelKey>().is_ok(), is_key, "{text}");
            assert_eq!(text.parse::<PromptId>().is_ok(), is_slug, "{text}");
        }
        assert!("a".repeat(65).parse::<ModelKey>().is_err());
        assert!("a".repeat(65).parse::<PromptId>().is_err());
    }
}
