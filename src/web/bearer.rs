//! Bearer tokens of requests.

use axum::http::header::AUTHORIZATION;
use axum::http::{HeaderMap, HeaderValue};

/// What a request shows as bearer token. Other schemes are meant for a proxy in front.
pub(super) fn bearer_token(headers: &HeaderMap) -> Option<&str> {
    headers.get(AUTHORIZATION).and_then(read)
}

fn read(value: &HeaderValue) -> Option<&str> {
    let (scheme, token) = str::from_utf8(value.as_bytes()).ok()?.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}
