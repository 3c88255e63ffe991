//! Answers that depend on stored content alone. A digest names them, so browsers can keep them.

use axum::body::{Body, Bytes};
use axum::http::header::{CACHE_CONTROL, CONTENT_ENCODING, CONTENT_TYPE, ETAG, IF_NONE_MATCH, VARY};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};

use super::encoding::Encoding;
use super::encoding::NoTransform;

pub(super) const IMMUTABLE: &str = "public, max-age=31536000, immutable";

/// For answers that are different for each visitor, or at any time.
pub(super) const NO_STORE: (HeaderName, &str) = (CACHE_CONTROL, "no-store");

/// The bytes of a resource in one encoding, without the bytes themselves: those are made only for visitors who do
/// not have them yet.
pub(super) struct Representation<'a> {
    pub kind: &'static str,
    /// Names the content. Each encoding of it has a strong tag of its own.
    pub name: &'a str,
    pub encoding: Encoding,
    pub cache_control: &'static str,
}

impl Representation<'_> {
    /// The answer for a visitor who has these bytes already.
    pub fn not_modified(&self, headers: &HeaderMap) -> Option<Response> {
        let tag = self.tag();
        is_known(headers, &tag).then(|| (StatusCode::NOT_MODIFIED, self.cache_headers(&tag)).into_response())
    }

    pub fn answer(&self, bytes: Bytes) -> Response {
        self.answer_with(bytes.into())
    }

    pub fn answer_with(&self, body: Body) -> Response {
        let cache_headers = self.cache_headers(&self.tag());
        let mut response = (cache_headers, [(CONTENT_TYPE, self.kind)], body).into_response();
        if let Some(name) = self.encoding.name() {
            response.headers_mut().insert(CONTENT_ENCODING, HeaderValue::from_static(name));
        }
        response.extensions_mut().insert(NoTransform);
        response
    }

    fn tag(&self) -> String {
        match self.encoding.name() {
            Some(encoding) => format!("\"{}-{encoding}\"", self.name),
            None => format!("\"{}\"", self.name),
        }
    }

    fn cache_headers(&self, tag: &str) -> [(HeaderName, String); 3] {
        [
            (ETAG, tag.to_owned()),
            (CACHE_CONTROL, self.cache_control.to_owned()),
            (VARY, "accept-encoding".to_owned()),
        ]
    }
}

fn is_known(headers: &HeaderMap, tag: &str) -> bool {
    let named = headers.get_all(IF_NONE_MATCH).iter().filter_map(|value| value.to_str().ok());
    named
        .flat_map(|value| value.split(','))
        .map(str::trim)
        .any(|known| known == "*" || known.strip_prefix("W/").unwrap_or(known) == tag)
}
