//! One error for all handlers, and the only place that turns it into an answer.
//!
//! A handler returns `Result<_, Error>`. The error travels in the extensions of an empty response until [`render`]
//! knows whom it is for: JSON for programs, a page of the site for people. Answers that axum makes itself (a bad
//! query string, a wrong method, a body too large) go through the same place and come out looking the same.

mod codes;
mod rejections;

use std::borrow::Cow;
use std::sync::Arc;

use askama::Template;
use axum::Json;
use axum::body::Body;
use axum::extract::{Extension, Request, State};
use axum::http::header::{ALLOW, CACHE_CONTROL, CONTENT_TYPE, RETRY_AFTER};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use axum::middleware::Next;
use axum::response::{Html, IntoResponse, Response};
use serde::Serialize;
use utoipa::ToSchema;

pub use self::codes::ErrorCode;
use super::Page;
use super::layers::{ErrorCodeLabel, RequestId};
use crate::db::{DatabaseHealth, DatabaseOutage};
use crate::work::WorkError;

/// In bytes. No message of axum is longer.
const REJECTION_LIMIT: usize = 4096;

#[derive(Clone, Debug)]
pub struct Error {
    code: ErrorCode,
    /// The code's own, except for answers of axum: several statuses share a code there.
    status: StatusCode,
    message: Cow<'static, str>,
    headers: Vec<(HeaderName, HeaderValue)>,
    /// Logged, never shown.
    cause: Option<Arc<anyhow::Error>>,
}

impl From<ErrorCode> for Error {
    fn from(code: ErrorCode) -> Self {
        Self {
            code,
            status: code.status(),
            message: code.sentence().into(),
            headers: Vec::new(),
            cause: None,
        }
    }
}

impl Error {
    /// An error with a message that is more precise than the code's own sentence.
    pub fn new(code: ErrorCode, message: impl Into<Cow<'static, str>>) -> Self {
        Self { message: message.into(), ..code.into() }
    }

    pub fn bad_request(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(ErrorCode::BadRequest, message)
    }

    /// Refuses a request in which something has a problem.
    pub fn bad_request_if(problem: Option<String>) -> Result<(), Self> {
        problem.map_or(Ok(()), |problem| Err(Self::bad_request(problem)))
    }

    pub fn not_found(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(ErrorCode::NotFound, message)
    }

    pub fn internal(cause: impl Into<anyhow::Error>) -> Self {
        Self::from(ErrorCode::Internal).with_cause(cause)
    }

    pub fn with_cause(self, cause: impl Into<anyhow::Error>) -> Self {
        Self { cause: Some(Arc::new(cause.into())), ..self }
    }

    pub fn with_header(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.headers.push((name, value));
        self
    }

    pub fn code(&self) -> ErrorCode {
        self.code
    }

    /// What went wrong, for people.
    pub fn sentence(&self) -> &str {
        &self.message
    }

    /// Whether it is the client's fault, and not the server's.
    pub fn is_refusal(&self) -> bool {
        self.status.is_client_error()
    }

    pub fn with_retry_after(self, seconds: u64) -> Self {
        self.with_header(RETRY_AFTER, HeaderValue::from(seconds))
    }

    fn from_status(status: StatusCode) -> Self {
        Self { status, ..ErrorCode::of(status).into() }
    }

    /// The error that an answer stands for; the answer itself if it is none, or has its final form already.
    /// Only programs get axum's own message: it speaks of fields and parsers.
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
        let axum_message = plain_text(body).await;
        if status.is_server_error() {
            error.cause = Some(Arc::new(anyhow::anyhow!("a bare {status}: {axum_message}")));
        } else if wants_json && keeps_axum_message(status) && !axum_message.is_empty() {
            error.message = rejections::in_plain_words(&axum_message).into();
        }
        Ok(error)
    }

    /// An outage of the database is noted, which logs it as well.
    fn log(&self, database: &DatabaseHealth) {
        match &self.cause {
            Some(cause) if cause.downcast_ref().is_some_and(|error| database.note(error)) => {}
            Some(cause) => tracing::error!(code = self.code.name(), "failed: {cause:#}"),
            // Logged with the state of the database.
            None if self.code == ErrorCode::NotReady => {}
            None if self.status.is_server_error() => {
                tracing::warn!(code = self.code.name(), "{}", self.message);
            }
            None => tracing::debug!(code = self.code.name(), "{}", self.message),
        }
    }

    fn as_json(&self) -> Response {
        Json(ErrorResponse { error: &self.message, code: self.code.name() }).into_response()
    }

    fn as_page(&self, request_id: &RequestId, method: &Method, path: &str) -> Response {
        let page = ErrorPage {
            page: Page::without_address(),
            status: self.status.as_u16(),
            title: self.code.title(),
            message: &self.message,
            recovery_link: self.code.recovery_link(method, path),
            request_id: self.status.is_server_error().then(|| request_id.to_string()),
        };
        match page.render() {
            Ok(html) => Html(html).into_response(),
            // Nothing is left to render with.
            Err(_) => self.as_json(),
        }
    }
}

/// An error, for programs.
#[derive(Serialize, ToSchema)]
#[schema(as = Error)]
pub(super) struct ErrorResponse<'a> {
    /// What went wrong, as a sentence for people.
    #[schema(example = "This page does not exist.")]
    error: &'a str,
    /// The same for programs.
    #[schema(example = "not_found")]
    code: &'static str,
}

#[derive(Template)]
#[template(path = "error.html")]
struct ErrorPage<'a> {
    page: Page,
    status: u16,
    title: &'static str,
    message: &'a str,
    /// The address of a link, and its words.
    recovery_link: (&'static str, &'static str),
    request_id: Option<String>,
}

/// The layer that turns errors into answers.
pub(super) async fn render(
    State(database): State<DatabaseHealth>,
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
    error.log(&database);
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
    matches!(path, "/healthz" | "/readyz" | "/metrics" | "/openapi.json" | "/a2a")
        || path.starts_with("/api/")
        || path.starts_with("/.well-known/")
}

/// Whether axum's message for this status is more precise than ours.
fn keeps_axum_message(status: StatusCode) -> bool {
    matches!(
        status,
        StatusCode::BAD_REQUEST | StatusCode::UNPROCESSABLE_ENTITY | StatusCode::UNSUPPORTED_MEDIA_TYPE
    )
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
        let (code, seconds) = match DatabaseOutage::of(&error) {
            None => return Self::internal(error),
            Some(DatabaseOutage::Busy) => (ErrorCode::Busy, 2),
            Some(DatabaseOutage::Unavailable) => (ErrorCode::DatabaseUnavailable, 2),
            Some(DatabaseOutage::DiskFull | DatabaseOutage::ReadOnly) => (ErrorCode::NotWritable, 30),
        };
        Self::from(code).with_retry_after(seconds).with_cause(error)
    }
}

impl From<WorkError> for Error {
    fn from(error: WorkError) -> Self {
        match error {
            WorkError::Busy => Self::from(ErrorCode::Busy).with_retry_after(5),
            WorkError::ClientQueueFull => {
                let message =
                    "Too many requests from your network are waiting already. Try again in 5 seconds.";
                Self::new(ErrorCode::RateLimited, message).with_retry_after(5)
            }
            WorkError::Unfinished(_) => Self::internal(error),
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
