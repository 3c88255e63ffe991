//! One error for all handlers, and the one place where it turns into an answer.
//!
//! A handler returns `Result<_, Error>`. The error rides on a bare response until [`render`] knows whom it is
//! for: JSON for programs, a page of the site for people. Answers that axum makes itself (a bad query string,
//! a wrong method, a body too large) pass through the same place and come out looking the same.

pub(super) mod codes;

use std::borrow::Cow;
use std::sync::Arc;

use askama::Template;
use axum::Json;
use axum::body::Body;
use axum::extract::{Extension, Request};
use axum::http::header::{ALLOW, CACHE_CONTROL, CONTENT_TYPE, RETRY_AFTER};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use axum::middleware::Next;
use axum::response::{Html, IntoResponse, Response};
use serde::Serialize;
use utoipa::ToSchema;

use self::codes::ErrorCode;
use super::Page;
use super::layers::{ErrorCodeLabel, RequestId};
use crate::db;
use crate::work::WorkError;

/// Longer than any sentence axum writes.
const REJECTION_LIMIT: usize = 4096;

#[derive(Clone, Debug)]
pub struct Error {
    status: StatusCode,
    code: Cow<'static, str>,
    message: Cow<'static, str>,
    headers: Vec<(HeaderName, HeaderValue)>,
    /// Logged, never shown.
    cause: Option<Arc<anyhow::Error>>,
}

impl Error {
    /// `code` is for programs, one of [`codes::CODES`]; `message` is a sentence for people.
    pub fn new(status: StatusCode, code: &'static str, message: impl Into<Cow<'static, str>>) -> Self {
        Self { status, code: code.into(), message: message.into(), headers: Vec::new(), cause: None }
    }

    /// What its code alone tells: the status and the sentence are those of the table.
    pub fn from_code(code: &'static str) -> Self {
        match ErrorCode::find(code) {
            Some(known) => Self::new(known.status.unwrap_or(StatusCode::BAD_REQUEST), code, known.sentence),
            None => Self::internal(anyhow::anyhow!("nobody knows the code {code}")),
        }
    }

    pub fn bad_request(code: &'static str, message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, code, message)
    }

    pub fn not_found(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(StatusCode::NOT_FOUND, "not_found", message)
    }

    pub fn unavailable(code: &'static str, message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(StatusCode::SERVICE_UNAVAILABLE, code, message)
    }

    pub fn internal(cause: impl Into<anyhow::Error>) -> Self {
        Self { cause: Some(Arc::new(cause.into())), ..Self::from_status(StatusCode::INTERNAL_SERVER_ERROR) }
    }

    /// The same failure, said more precisely.
    pub fn with_message(self, code: &'static str, message: impl Into<Cow<'static, str>>) -> Self {
        Self { code: code.into(), message: message.into(), ..self }
    }

    /// The same failure, by a name of its own.
    pub fn with_code(self, code: &'static str) -> Self {
        Self { code: code.into(), ..self }
    }

    pub fn with_header(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.headers.push((name, value));
        self
    }

    /// What there is to say when only the status is known.
    fn from_status(status: StatusCode) -> Self {
        let ErrorCode { code, sentence, .. } = ErrorCode::of(status);
        Self::new(status, code, *sentence)
    }

    /// What is known of its code.
    fn known(&self) -> &'static ErrorCode {
        ErrorCode::find(&self.code).unwrap_or(ErrorCode::of(self.status))
    }

    /// The error an answer stands for, or the answer back if it stands for none or has been told already.
    /// What axum says of a request is for programs: it speaks of fields and parsers.
    async fn from_response(mut response: Response, wants_json: bool) -> Result<Self, Response> {
        if let Some(error) = response.extensions_mut().remove::<Self>() {
            return Ok(error);
        }
        let status = response.status();
        let is_error = status.is_client_error() || status.is_server_error();
        if !is_error || !is_plain(response.headers()) {
            return Err(response);
        }
        let (parts, body) = response.into_parts();
        let mut error = Self::from_status(status);
        error.headers.extend(
            [ALLOW, RETRY_AFTER]
                .into_iter()
                .filter_map(|name| parts.headers.get(&name).map(|value| (name, value.clone()))),
        );
        let said = plain_text(body).await;
        if status.is_server_error() {
            error.cause = Some(Arc::new(anyhow::anyhow!("a bare {status}: {said}")));
        } else if wants_json && keeps_axum_message(status) && !said.is_empty() {
            error.message = without_axum_prefix(&said).into();
        }
        Ok(error)
    }

    fn log(&self) {
        match &self.cause {
            Some(cause) => tracing::error!(code = %self.code, "failed: {cause:#}"),
            None if self.status.is_server_error() => tracing::warn!(code = %self.code, "{}", self.message),
            None => tracing::debug!(code = %self.code, "{}", self.message),
        }
    }

    fn as_json(&self) -> Response {
        Json(ErrorResponse { error: &self.message, code: &self.code }).into_response()
    }

    fn as_page(&self, request_id: &RequestId, method: &Method, path: &str) -> Response {
        let known = self.known();
        let page = ErrorPage {
            page: Page::without_address(),
            status: self.status.as_u16(),
            title: known.title,
            message: &self.message,
            recovery_link: known.recovery_link.link(method, path),
            request_id: self.status.is_server_error().then(|| request_id.to_string()),
        };
        match page.render() {
            Ok(html) => Html(html).into_response(),
            // Nothing is left to render with.
            Err(_) => self.as_json(),
        }
    }
}

/// What programs are told when something is wrong.
#[derive(Serialize, ToSchema)]
#[schema(as = Error)]
pub(super) struct ErrorResponse<'a> {
    /// What is wrong, as a sentence for people.
    #[schema(example = "There is no such page here.")]
    error: &'a str,
    /// The same for programs.
    #[schema(example = "not_found")]
    code: &'a str,
}

#[derive(Template)]
#[template(path = "error.html")]
struct ErrorPage<'a> {
    page: Page,
    status: u16,
    title: &'static str,
    message: &'a str,
    /// An address and the words of the link to it.
    recovery_link: (&'static str, &'static str),
    request_id: Option<String>,
}

/// The layer that turns errors into answers.
pub(super) async fn render(
    Extension(request_id): Extension<RequestId>,
    request: Request,
    next: Next,
) -> Response {
    let (method, uri) = (request.method().clone(), request.uri().clone());
    let wants_json = wants_json(uri.path());
    let error = match Error::from_response(next.run(request).await, wants_json).await {
        Ok(error) => error,
        Err(response) => return response,
    };
    error.log();
    let mut response = match wants_json {
        true => error.as_json(),
        false => error.as_page(&request_id, &method, uri.path()),
    };
    *response.status_mut() = error.status;
    response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response.headers_mut().extend(error.headers);
    response.extensions_mut().insert(ErrorCodeLabel(error.code));
    response
}

fn wants_json(path: &str) -> bool {
    matches!(path, "/healthz" | "/readyz" | "/metrics" | "/openapi.json") || path.starts_with("/api/")
}

/// Whether axum's own words about this status tell more than ours.
fn keeps_axum_message(status: StatusCode) -> bool {
    matches!(
        status,
        StatusCode::BAD_REQUEST | StatusCode::UNPROCESSABLE_ENTITY | StatusCode::UNSUPPORTED_MEDIA_TYPE
    )
}

/// Without the machinery that axum names first.
fn without_axum_prefix(said: &str) -> String {
    let machinery = [
        "Failed to deserialize query string: ",
        "Failed to deserialize the JSON body into the target type: ",
    ];
    machinery.iter().find_map(|words| said.strip_prefix(words)).unwrap_or(said).to_owned()
}

fn is_plain(headers: &HeaderMap) -> bool {
    headers.get(CONTENT_TYPE).is_none_or(|kind| kind.as_bytes().starts_with(b"text/plain"))
}

async fn plain_text(body: Body) -> String {
    let bytes = axum::body::to_bytes(body, REJECTION_LIMIT).await.unwrap_or_default();
    String::from_utf8_lossy(&bytes).into_owned()
}

impl IntoResponse for Error {
    fn into_response(self) -> Response {
        let mut response = self.status.into_response();
        response.extensions_mut().insert(self);
        response
    }
}

impl From<sqlx::Error> for Error {
    fn from(error: sqlx::Error) -> Self {
        match error {
            error if db::is_transient(&error) => Self {
                cause: Some(Arc::new(error.into())),
                ..Self::unavailable("busy", "Too many people are here at once. Please try again in a moment.")
                    .with_header(RETRY_AFTER, HeaderValue::from_static("2"))
            },
            error => Self::internal(error),
        }
    }
}

impl From<WorkError> for Error {
    fn from(lost: WorkError) -> Self {
        match lost {
            WorkError::Busy => {
                Self::unavailable("busy", "There is a lot to do here just now. Please try again in a moment.")
                    .with_header(RETRY_AFTER, HeaderValue::from_static("5"))
            }
            WorkError::ClientQueueFull => {
                let message =
                    "Too many requests from your network are waiting already. Try again in 5 seconds.";
                Self::new(StatusCode::TOO_MANY_REQUESTS, "rate_limited", message)
                    .with_header(RETRY_AFTER, HeaderValue::from_static("5"))
            }
            WorkError::Unfinished(_) => Self::internal(lost),
        }
    }
}

impl From<anyhow::Error> for Error {
    fn from(error: anyhow::Error) -> Self {
        let error = match error.downcast::<sqlx::Error>() {
            Ok(database) => return database.into(),
            Err(error) => error,
        };
        error.downcast::<WorkError>().map_or_else(Self::internal, Self::from)
    }
}
