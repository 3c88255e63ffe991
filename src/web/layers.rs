//! Layers around every route.

mod run_to_end;

pub(super) use self::run_to_end::run_to_end;

use std::any::Any;
use std::borrow::Cow;
use std::fmt::{self, Display};
use std::future::Future;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::extract::{MatchedPath, Request, State};
use axum::http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, REFERRER_POLICY, STRICT_TRANSPORT_SECURITY,
    X_CONTENT_TYPE_OPTIONS,
};
use axum::http::{Extensions, HeaderMap, HeaderName, HeaderValue, Method, StatusCode, Version};
use axum::middleware::{FromFnLayer, Next, from_fn};
use axum::response::{IntoResponse, Response};
use tower_http::catch_panic::CatchPanicLayer;
use tower_http::compression::predicate::{DefaultPredicate, Predicate, SizeAbove};
use tower_http::compression::{CompressionLayer, CompressionLevel};
use tracing::{Instrument, debug, info, info_span};
use uuid::Uuid;

use self::run_to_end::Deadline;
use super::encoding::NoTransform;
use super::{Error, ErrorCode};
use crate::config::CaptchaService;
use crate::db;
use crate::metrics::{HttpMetrics, ResponseLabels};

const CSP: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self' blob:; \
    worker-src 'self'; font-src 'self'; img-src 'self' data: blob:; base-uri 'none'; form-action 'self'; \
    frame-ancestors 'none'";

/// The policy of a page that runs the script of a service that checks visitors, and shows its frames.
pub(super) fn csp_with_captcha(service: CaptchaService) -> String {
    let (directives, hosts): (&[&str], _) = match service {
        CaptchaService::Turnstile => (&["script-src"], "https://challenges.cloudflare.com"),
        CaptchaService::Hcaptcha => {
            (&["script-src", "style-src", "connect-src"], "https://hcaptcha.com https://*.hcaptcha.com")
        }
    };
    let policy = directives.iter().fold(CSP.to_owned(), |policy, directive| {
        policy.replacen(&format!("{directive} 'self'"), &format!("{directive} 'self' {hosts}"), 1)
    });
    format!("{policy}; frame-src {hosts}")
}

const SECURITY_HEADERS: [(HeaderName, &str); 6] = [
    (CONTENT_SECURITY_POLICY, CSP),
    (X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (REFERRER_POLICY, "strict-origin-when-cross-origin"),
    (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    (
        HeaderName::from_static("permissions-policy"),
        "camera=(), display-capture=(), geolocation=(), microphone=(), midi=(), payment=(), usb=()",
    ),
];

/// Browsers that have seen a site with https use nothing else for it during a year. Its subdomains are not ours to decide about.
const HSTS: &str = "max-age=31536000";

/// Always generated here: an id that a visitor sends could stand in the logs already.
#[derive(Clone, Copy, Debug)]
pub struct RequestId(Uuid);

impl Display for RequestId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Travels in the extensions of an error's response, for the metrics.
#[derive(Clone, Copy)]
pub(super) struct ErrorCodeLabel(pub ErrorCode);

/// Gives the request an id and a span, counts it, and logs its end.
pub(super) async fn observe(
    State(metrics): State<HttpMetrics>,
    mut request: Request,
    next: Next,
) -> Response {
    let started = Instant::now();
    let id = RequestId(Uuid::now_v7());
    request.extensions_mut().insert(id);
    // Shared with the task of a request that runs to its end.
    let in_flight = Arc::new(metrics.begin());
    request.extensions_mut().insert(Arc::clone(&in_flight));
    let path = request.uri().path().to_owned();
    let (method, route) = (method_label(request.method()), route(&request));
    let span = info_span!("request", %id, method = %request.method(), path);

    async {
        let mut response = next.run(request).await;
        let status = response.status().as_u16();
        let took = started.elapsed();
        let code = response.extensions().get::<ErrorCodeLabel>().map_or("", |label| label.0.name());
        let code = Cow::Borrowed(code);
        metrics.count(&ResponseLabels { method, route, status, code }, took);
        let ms = (took.as_secs_f64() * 10_000.0).round() / 10.0;
        if is_background_noise(&path) {
            debug!(status, ms, "answered");
        } else {
            info!(status, ms, "answered");
        }
        if let Ok(value) = HeaderValue::from_str(&id.to_string()) {
            response.headers_mut().insert("x-request-id", value);
        }
        drop(in_flight);
        response
    }
    .instrument(span)
    .await
}

/// Gives a request whose session could not be read or saved the answer that fits the database's error. The layer of
/// sessions knows only the error's text, and answers 500.
pub(super) async fn report_session_errors(request: Request, next: Next) -> Response {
    match db::with_session_error(next.run(request)).await {
        (response, Some(error)) if response.status().is_server_error() => Error::from(error).into_response(),
        (response, _) => response,
    }
}

/// Clients can make up any number of others, so those share a label.
fn method_label(method: &Method) -> &'static str {
    let methods = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];
    methods.into_iter().find(|name| method == name).unwrap_or("other")
}

fn route(request: &Request) -> String {
    request.extensions().get::<MatchedPath>().map_or_else(String::new, |route| route.as_str().to_owned())
}

fn is_background_noise(path: &str) -> bool {
    matches!(path, "/healthz" | "/readyz" | "/metrics") || path.starts_with("/static/")
}

/// Restricts what pages may do in a browser, and keeps caches from guessing. A page that needs another policy has set it.
pub(super) fn add_security_headers(mut response: Response, is_https: bool) -> Response {
    let headers = response.headers_mut();
    for (name, value) in SECURITY_HEADERS {
        headers.entry(name).or_insert(HeaderValue::from_static(value));
    }
    if is_https {
        headers.insert(STRICT_TRANSPORT_SECURITY, HeaderValue::from_static(HSTS));
    }
    headers.entry(CACHE_CONTROL).or_insert(HeaderValue::from_static("no-cache"));
    response
}

pub(super) fn catch_panics() -> CatchPanicLayer<fn(Box<dyn Any + Send>) -> Response> {
    CatchPanicLayer::custom(|panic: Box<dyn Any + Send>| {
        let message = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
        let message = message.or_else(|| panic.downcast_ref::<String>().cloned());
        let message = message.unwrap_or_else(|| "no message".to_owned());
        Error::internal(anyhow::anyhow!("a handler panicked: {message}")).into_response()
    })
}

/// Shorter answers fit into a packet anyway, and arrive no sooner when they are compressed.
const COMPRESSION_MIN_BYTES: u64 = 1200;

/// Quality 4 costs a fraction of a millisecond for a page and saves nearly as much as 11.
pub(super) fn compress() -> CompressionLayer<impl Predicate> {
    let predicate =
        DefaultPredicate::new().and(SizeAbove::new(COMPRESSION_MIN_BYTES)).and(is_worth_compressing);
    CompressionLayer::new().quality(CompressionLevel::Precise(4)).compress_when(predicate)
}

fn is_worth_compressing(_: StatusCode, _: Version, headers: &HeaderMap, extensions: &Extensions) -> bool {
    let kind = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let streamed_or_packed =
        ["application/x-ndjson", "application/octet-stream", "application/gzip", "font/"];
    extensions.get::<NoTransform>().is_none()
        && !streamed_or_packed.iter().any(|prefix| kind.starts_with(prefix))
}

type ResponseFuture = Pin<Box<dyn Future<Output = Response> + Send>>;

/// Answers 503 if the routes inside have not begun to answer in time. A stream that has begun continues. A request
/// that runs to its end (see [`run_to_end`]) is answered 503 as well, but its handler continues.
pub fn deadline(
    limit: Duration,
) -> FromFnLayer<impl Fn(Request, Next) -> ResponseFuture + Clone, (), (Request,)> {
    from_fn(move |request: Request, next: Next| -> ResponseFuture {
        Box::pin(async move {
            let timed_out = request.extensions().get::<Deadline>().cloned();
            let mut answer = pin!(next.run(request));
            match tokio::time::timeout(limit, &mut answer).await {
                Ok(response) => response,
                Err(_) => match timed_out {
                    Some(Deadline(timed_out)) => {
                        timed_out.cancel();
                        answer.await
                    }
                    None => {
                        let message = "The request took too long, so it was stopped. Try again.";
                        Error::new(ErrorCode::TimedOut, message).into_response()
                    }
                },
            }
        })
    })
}
