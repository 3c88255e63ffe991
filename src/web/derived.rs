//! Answers that depend on stored content alone. The id of what never changes names them, so browsers can keep them.

use axum::body::Body;
use axum::extract::FromRequestParts;
use axum::http::header::{CACHE_CONTROL, CONTENT_ENCODING, CONTENT_TYPE, ETAG, IF_NONE_MATCH, VARY};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};

use super::Error;
use super::encoding::{Encoding, NoTransform};
use super::voter::ClientAddress;
use crate::app::App;
use crate::work::WorkClient;

pub(super) const IMMUTABLE: &str = "public, max-age=31536000, immutable";

/// For what only admins see: no cache on the way may show it to others.
pub(super) const PRIVATE: &str = "no-store";

/// For answers that are different for each visitor, or at any time.
pub(super) const NO_STORE: (HeaderName, &str) = (CACHE_CONTROL, "no-store");

/// A request for stored content: what its answer depends on, besides the content.
pub(super) struct ContentRequest {
    pub app: App,
    /// The client whose turn heavy work for this request takes.
    pub client: WorkClient,
    pub encoding: Encoding,
    pub headers: HeaderMap,
}

impl FromRequestParts<App> for ContentRequest {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Error> {
        let client = ClientAddress::from_request_parts(parts, app).await?.client();
        let encoding = parts.extensions.get().copied().unwrap_or(Encoding::Identity);
        Ok(Self { app: app.clone(), client, encoding, headers: parts.headers.clone() })
    }
}

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
    /// Answers with the bytes, which are made only for visitors who do not have them yet.
    pub async fn respond<B: Into<Body>>(
        &self,
        headers: &HeaderMap,
        bytes: impl Future<Output = Result<B, Error>>,
    ) -> Result<Response, Error> {
        match self.not_modified(headers) {
            Some(known) => Ok(known),
            None => Ok(self.answer(bytes.await?)),
        }
    }

    /// The answer for a visitor who has these bytes already.
    pub fn not_modified(&self, headers: &HeaderMap) -> Option<Response> {
        let tag = self.tag();
        is_known(headers, &tag).then(|| (StatusCode::NOT_MODIFIED, self.cache_headers(&tag)).into_response())
    }

    pub fn answer(&self, body: impl Into<Body>) -> Response {
        let cache_headers = self.cache_headers(&self.tag());
        let mut response = (cache_headers, [(CONTENT_TYPE, self.kind)], body.into()).into_response();
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
