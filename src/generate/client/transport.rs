//! The HTTP under it: one POST, no redirects, no compression, and bounds on all that comes back.

use std::error::Error;
use std::time::Duration;

use reqwest::header::{
    ACCEPT, ACCEPT_ENCODING, CONTENT_ENCODING, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue,
};
use reqwest::redirect::Policy;
use reqwest::{Client, Response, StatusCode, Url};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc2822;
use tokio::time::timeout;

use super::super::{Endpoint, EndpointError, GenerateErrorKind, PinnedHost, RequestLimits};
use super::api_error::{ApiError, MAX_ERROR_BODY};
use super::received::ReceivedAnswer;
use super::sse::SseStream;
use super::{Protocol, RequestError, Retry, clip};
use crate::tls;

const COMPRESSED: &str = "the answer is compressed, which nobody asked for";

/// A connection on which nothing comes for minutes must not be forgotten by what lies between.
const KEEPALIVE: Duration = Duration::from_secs(30);

const USER_AGENT: &str = concat!("buildoff/", env!("CARGO_PKG_VERSION"));

pub(super) struct HttpTransport {
    client: Client,
    base: Url,
    limits: RequestLimits,
    /// Of an event, or of an answer in one piece.
    max_body_bytes: usize,
}

pub(super) enum ResponseBody {
    Stream(Box<SseStream>),
    Document(String),
}

impl HttpTransport {
    pub fn new(
        endpoint: &Endpoint,
        protocol: &dyn Protocol,
        limits: RequestLimits,
    ) -> Result<Self, EndpointError> {
        let no_tls = |error: &dyn Error| EndpointError::NoTls(error.to_string());
        let tls = tls::config().map_err(|error| no_tls(error))?;
        let mut client = Client::builder();
        if let Some(PinnedHost { host, addresses }) = &endpoint.pinned {
            // A proxy would look the name up by itself.
            client = client.resolve_to_addrs(host, addresses).no_proxy();
        }
        let client = client
            .tls_backend_preconfigured(tls)
            .default_headers(headers(endpoint, protocol)?)
            .user_agent(USER_AGENT)
            .redirect(Policy::none())
            .no_gzip()
            .no_brotli()
            .no_zstd()
            .no_deflate()
            .connect_timeout(limits.connect)
            .tcp_keepalive(KEEPALIVE)
            .build()
            .map_err(|error| no_tls(&error))?;
        let times = if protocol.repeats_text() { 2 } else { 1 };
        let max_body_bytes = limits.max_bytes.saturating_mul(times).saturating_add(MAX_ERROR_BODY);
        Ok(Self { client, base: parse_base_url(&endpoint.base_url)?, limits, max_body_bytes })
    }

    pub fn base(&self) -> &Url {
        &self.base
    }

    pub async fn post(
        &self,
        url: Url,
        body: Vec<u8>,
        received: &mut ReceivedAnswer<'_>,
    ) -> Result<ResponseBody, RequestError> {
        received.start_request();
        let first_byte = self.limits.first_byte;
        let response = timeout(first_byte, self.client.post(url).body(body).send())
            .await
            .map_err(|_| stalled(first_byte))?
            .map_err(unreachable)?;
        let status = response.status();
        if status.is_redirection() {
            let message = format!("the answer is a redirect ({status}), which is not followed");
            return Err(RequestError::unusable(message));
        }
        if !status.is_success() {
            return Err(self.error_response(response, received).await);
        }
        if is_encoded(&response) {
            return Err(RequestError::unusable(COMPRESSED));
        }
        let max_body_bytes = self.max_body_bytes;
        match media_type(&response).as_str() {
            "text/event-stream" | "" => {
                Ok(ResponseBody::Stream(Box::new(SseStream::new(response, self.limits.idle, max_body_bytes))))
            }
            "application/json" => {
                let body = self.body(response, max_body_bytes, received).await?;
                if body.len() > max_body_bytes {
                    let message = format!("the answer is longer than {max_body_bytes} bytes");
                    return Err(RequestError::new(GenerateErrorKind::TooLarge, message));
                }
                Ok(ResponseBody::Document(
                    String::from_utf8(body).map_err(|_| bad_answer("the answer is not valid UTF-8"))?,
                ))
            }
            other => {
                let other = other.to_owned();
                let body = self.body(response, MAX_ERROR_BODY, received).await?;
                let what = summarize_body(&String::from_utf8_lossy(&body));
                let message = format!("the answer is {} and no event stream: {what}", clip(&other, 80));
                Err(RequestError::unusable(message))
            }
        }
    }

    /// What the provider says instead of an answer.
    async fn error_response(&self, response: Response, received: &mut ReceivedAnswer<'_>) -> RequestError {
        let status = response.status();
        let retry = retry_from_headers(response.headers());
        let mut error = self.read_api_error(response, received).await.into_request_error(Some(status));
        if error.kind == GenerateErrorKind::BadAnswer {
            error.retry = Retry::Never;
        } else if retry != Retry::Unspecified {
            error.retry = retry;
        }
        error
    }

    async fn read_api_error(&self, response: Response, received: &mut ReceivedAnswer<'_>) -> ApiError {
        if is_encoded(&response) {
            return ApiError::from_text(COMPRESSED.to_owned());
        }
        // The status alone tells more than that its explanation did not arrive.
        let body = self.body(response, MAX_ERROR_BODY, received).await.unwrap_or_default();
        let body = String::from_utf8_lossy(&body);
        ApiError::parse(&body).unwrap_or_else(|| ApiError::from_text(summarize_body(&body)))
    }

    /// The body, or as much of it as shows that it is longer than `limit`.
    async fn body(
        &self,
        mut response: Response,
        limit: usize,
        received: &mut ReceivedAnswer<'_>,
    ) -> Result<Vec<u8>, RequestError> {
        let mut body = Vec::new();
        while body.len() <= limit {
            let chunk = timeout(self.limits.idle, response.chunk()).await;
            let Some(bytes) = chunk.map_err(|_| stalled(self.limits.idle))?.map_err(connection_lost)? else {
                break;
            };
            received.keep_raw(&bytes);
            body.extend_from_slice(&bytes[..bytes.len().min(limit + 1 - body.len())]);
        }
        Ok(body)
    }
}

fn headers(endpoint: &Endpoint, protocol: &dyn Protocol) -> Result<HeaderMap, EndpointError> {
    let mut headers = HeaderMap::new();
    headers.insert(ACCEPT, HeaderValue::from_static("text/event-stream"));
    headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    for &(name, value) in protocol.headers() {
        headers.insert(HeaderName::from_static(name), HeaderValue::from_static(value));
    }
    if let Some(key) = endpoint.key.as_ref().filter(|key| !key.expose().is_empty()) {
        let (name, before) = protocol.key_header();
        let mut value =
            HeaderValue::from_str(&format!("{before}{}", key.expose())).map_err(|_| EndpointError::BadKey)?;
        value.set_sensitive(true);
        headers.insert(name, value);
    }
    Ok(headers)
}

fn parse_base_url(address: &str) -> Result<Url, EndpointError> {
    let url: Url = address.parse().map_err(|_| EndpointError::BadAddress)?;
    if !url.username().is_empty() || url.password().is_some() {
        return Err(EndpointError::KeyInAddress);
    }
    let sound = matches!(url.scheme(), "http" | "https")
        && url.has_host()
        && url.query().is_none()
        && url.fragment().is_none();
    if sound { Ok(url) } else { Err(EndpointError::BadAddress) }
}

fn media_type(response: &Response) -> String {
    let value = response.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or("");
    value.split(';').next().unwrap_or("").trim().to_ascii_lowercase()
}

fn is_encoded(response: &Response) -> bool {
    response.headers().get(CONTENT_ENCODING).is_some_and(|encoding| encoding != "identity")
}

/// When the provider wants to be asked again: in milliseconds, in seconds, or at a date.
fn retry_from_headers(headers: &HeaderMap) -> Retry {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).map(str::trim);
    if text("x-should-retry") == Some("false") {
        return Retry::Never;
    }
    let number = |name, unit: f64| text(name)?.parse::<f64>().ok().map(|number| number * unit);
    let seconds = number("retry-after-ms", 0.001)
        .or_else(|| number("retry-after", 1.0))
        .or_else(|| text("retry-after").and_then(seconds_until));
    let wait = seconds.map(|seconds| Duration::try_from_secs_f64(seconds.max(0.0)).unwrap_or(Duration::MAX));
    wait.map_or(Retry::Unspecified, Retry::After)
}

fn seconds_until(date: &str) -> Option<f64> {
    let date = OffsetDateTime::parse(date, &Rfc2822).ok()?;
    Some((date - OffsetDateTime::now_utc()).as_seconds_f64())
}

/// What a page that is no API answer is about, in a few words.
fn summarize_body(body: &str) -> String {
    let title = body.split_once("<title>").and_then(|(_, rest)| rest.split_once("</title>"));
    match title {
        Some((title, _)) => format!("a page titled “{}”", clip(title.trim(), 200)),
        None if body.trim().is_empty() => "an empty page".to_owned(),
        None => clip(&body.split_whitespace().collect::<Vec<_>>().join(" "), 300),
    }
}

fn bad_answer(message: impl Into<String>) -> RequestError {
    RequestError::new(GenerateErrorKind::BadAnswer, message)
}

pub(super) fn stalled(idle: Duration) -> RequestError {
    let message = format!("nothing came for {} s", idle.as_secs_f64());
    RequestError::new(GenerateErrorKind::Stalled, message)
}

pub(super) fn connection_lost(error: reqwest::Error) -> RequestError {
    let message = format!("the connection ended in the middle of the answer: {}", error_chain(error));
    RequestError::new(GenerateErrorKind::CutOff, message)
}

fn unreachable(error: reqwest::Error) -> RequestError {
    RequestError::new(GenerateErrorKind::Unreachable, format!("cannot be reached: {}", error_chain(error)))
}

fn error_chain(error: reqwest::Error) -> String {
    let error = error.without_url();
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        text = format!("{text}: {inner}");
        cause = inner.source();
    }
    clip(&text, 300)
}

impl ApiError {
    /// The kind of trouble, by the status as well if there is one.
    pub(in super::super) fn into_request_error(self, status: Option<StatusCode>) -> RequestError {
        let kind = self.kind(status.map(|status| status.as_u16()));
        let retry = self.retry_after.map_or(Retry::Unspecified, Retry::After);
        RequestError { kind, message: self.message, status, param: self.param, retry }
    }
}
