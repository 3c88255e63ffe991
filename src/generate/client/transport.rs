//! HTTP to a provider: one POST, no redirects, no compression, and bounds on everything that comes back.

mod calls;

use std::time::Duration;

use reqwest::header::{
    ACCEPT, ACCEPT_ENCODING, CONTENT_ENCODING, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue,
};
use reqwest::{Client, RequestBuilder, Response, Url};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc2822;
use tokio::time::timeout;

pub(super) use self::calls::is_plain_id;
pub(in super::super) use self::calls::{JsonLines, remote_id};
use super::super::error::Retry;
use super::super::{Endpoint, EndpointError, GenerateError, GenerateErrorKind, RequestLimits, Result};
use super::body::next_chunk;
use super::error_body::{self, MAX_ERROR_BODY};
use super::protocol::Protocol;
use super::received::ReceivedAnswer;
use super::sse::{SseStream, begins_stream};
use super::text::{clip, error_chain};
use crate::outbound;

const COMPRESSED: &str = "the answer is compressed, although that was not requested";

/// Keeps routers on the way from forgetting a connection on which nothing comes for minutes.
const KEEPALIVE: Duration = Duration::from_secs(30);

pub(in super::super) struct HttpTransport {
    client: Client,
    pub base: Url,
    limits: RequestLimits,
    /// For an event, or for an answer in one piece.
    max_body_bytes: usize,
}

pub(in super::super) enum ResponseBody {
    Stream(Box<SseStream>),
    Document(String),
}

/// What is the same for all requests to an endpoint.
pub(in super::super) struct TransportSetup {
    /// The header that carries the key, and what stands before the key in it.
    pub key_header: (HeaderName, &'static str),
    pub headers: Vec<(&'static str, &'static str)>,
    /// Whether the stream repeats the whole text in a single event.
    pub repeats_text: bool,
}

impl TransportSetup {
    pub(super) fn of(protocol: &dyn Protocol) -> Self {
        Self {
            key_header: protocol.key_header(),
            headers: protocol.headers().to_vec(),
            repeats_text: protocol.repeats_text(),
        }
    }
}

impl HttpTransport {
    pub fn new(
        endpoint: &Endpoint,
        setup: &TransportSetup,
        limits: RequestLimits,
    ) -> Result<Self, EndpointError> {
        let client = outbound::client_builder(endpoint.pinned.as_ref())
            .map_err(|error| EndpointError::NoTls(error.to_string()))?
            .default_headers(headers(endpoint, setup)?)
            .connect_timeout(limits.connect)
            .tcp_keepalive(KEEPALIVE)
            .build()
            .map_err(|error| EndpointError::NoTls(error.to_string()))?;
        let times = if setup.repeats_text { 2 } else { 1 };
        let max_body_bytes = limits.max_bytes.saturating_mul(times).saturating_add(MAX_ERROR_BODY);
        Ok(Self { client, base: outbound::parse_base_url(&endpoint.base_url)?, limits, max_body_bytes })
    }

    pub(in super::super) async fn post(
        &self,
        url: Url,
        body: Vec<u8>,
        received: &mut ReceivedAnswer<'_>,
    ) -> Result<ResponseBody> {
        received.start_request();
        self.answer(self.client.post(url).body(body), received).await
    }

    /// Sends another request about an answer that was requested before.
    pub(in super::super) async fn post_follow_up(
        &self,
        url: Url,
        body: Vec<u8>,
        received: &mut ReceivedAnswer<'_>,
    ) -> Result<ResponseBody> {
        self.answer(self.client.post(url).body(body), received).await
    }

    /// Reads an answer that was requested earlier.
    pub(super) async fn resume(&self, url: Url, received: &mut ReceivedAnswer<'_>) -> Result<ResponseBody> {
        received.start_request();
        self.answer(self.client.get(url), received).await
    }

    async fn answer(
        &self,
        request: RequestBuilder,
        received: &mut ReceivedAnswer<'_>,
    ) -> Result<ResponseBody> {
        let mut response = self.send(request, received).await?;
        let max_body_bytes = self.max_body_bytes;
        match media_type(&response).as_str() {
            "text/event-stream" | "" => {
                let stream = SseStream::new(response, &[], self.limits.idle, max_body_bytes);
                Ok(ResponseBody::Stream(Box::new(stream)))
            }
            "application/json" => {
                let body = self.body(response, Vec::new(), max_body_bytes, received).await?;
                if body.len() > max_body_bytes {
                    let message = format!("the answer is longer than {max_body_bytes} bytes");
                    return Err(GenerateError::new(GenerateErrorKind::TooLarge, message));
                }
                let body = String::from_utf8(body).map_err(|_| {
                    GenerateError::new(GenerateErrorKind::BadAnswer, "the answer is not valid UTF-8")
                })?;
                Ok(ResponseBody::Document(body))
            }
            other => {
                let other = other.to_owned();
                let begin = self.begin(&mut response, received).await?;
                if other == "text/plain" && begins_stream(&begin) {
                    let stream = SseStream::new(response, &begin, self.limits.idle, max_body_bytes);
                    return Ok(ResponseBody::Stream(Box::new(stream)));
                }
                let body = self.body(response, begin, MAX_ERROR_BODY, received).await?;
                let what = summarize_body(&String::from_utf8_lossy(&body));
                let message =
                    format!("the answer is {} instead of an event stream: {what}", clip(&other, 80));
                Err(GenerateError::unusable(message))
            }
        }
    }

    /// Sends a request, and returns the beginning of a response that is a success.
    async fn send(&self, request: RequestBuilder, received: &mut ReceivedAnswer<'_>) -> Result<Response> {
        let first_byte = self.limits.first_byte;
        let response = timeout(first_byte, request.send())
            .await
            .map_err(|_| GenerateError::stalled(first_byte))?
            .map_err(unreachable)?;
        let status = response.status();
        if status.is_redirection() {
            let message = format!("the answer is a redirect ({status}), which is not followed");
            return Err(GenerateError::unusable(message));
        }
        if !status.is_success() {
            return Err(self.error_response(response, received).await);
        }
        if is_encoded(&response) {
            return Err(GenerateError::unusable(COMPRESSED));
        }
        Ok(response)
    }

    /// The error that a response with an error status stands for.
    async fn error_response(&self, response: Response, received: &mut ReceivedAnswer<'_>) -> GenerateError {
        let status = response.status();
        let retry = retry_from_headers(response.headers());
        let mut error = if is_encoded(&response) {
            error_body::from_text(COMPRESSED.to_owned(), status)
        } else {
            // The status says more than the error of reading its explanation would.
            let body = self.body(response, Vec::new(), MAX_ERROR_BODY, received).await.unwrap_or_default();
            let body = String::from_utf8_lossy(&body);
            error_body::parse_error(&body, Some(status))
                .unwrap_or_else(|| error_body::from_text(summarize_body(&body), status))
        };
        if error.kind == GenerateErrorKind::BadAnswer {
            error.retry = Retry::Never;
        } else if retry != Retry::Unspecified {
            error.retry = retry;
        }
        error
    }

    /// Reads as much of a body as tells what it is.
    async fn begin(&self, response: &mut Response, received: &mut ReceivedAnswer<'_>) -> Result<Vec<u8>> {
        const ENOUGH: usize = 16;
        let mut begin = Vec::new();
        while begin.trim_ascii_start().len() < ENOUGH && begin.len() < MAX_ERROR_BODY {
            let Some(bytes) = next_chunk(response, self.limits.idle, received).await? else { break };
            begin.extend_from_slice(&bytes);
        }
        Ok(begin)
    }

    /// Reads a body, of which `body` is here already, up to one byte more than `limit`, which shows that it is longer.
    async fn body(
        &self,
        mut response: Response,
        mut body: Vec<u8>,
        limit: usize,
        received: &mut ReceivedAnswer<'_>,
    ) -> Result<Vec<u8>> {
        body.truncate(limit + 1);
        while body.len() <= limit {
            let Some(bytes) = next_chunk(&mut response, self.limits.idle, received).await? else { break };
            body.extend_from_slice(&bytes[..bytes.len().min(limit + 1 - body.len())]);
        }
        Ok(body)
    }
}

fn headers(endpoint: &Endpoint, setup: &TransportSetup) -> Result<HeaderMap, EndpointError> {
    let mut headers = HeaderMap::new();
    headers.insert(ACCEPT, HeaderValue::from_static("text/event-stream"));
    headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    for &(name, value) in &setup.headers {
        headers.insert(HeaderName::from_static(name), HeaderValue::from_static(value));
    }
    if let Some(key) = endpoint.key.as_ref().filter(|key| !key.expose().is_empty()) {
        let (name, before) = setup.key_header.clone();
        let mut value =
            HeaderValue::from_str(&format!("{before}{}", key.expose())).map_err(|_| EndpointError::BadKey)?;
        value.set_sensitive(true);
        headers.insert(name, value);
    }
    Ok(headers)
}

fn media_type(response: &Response) -> String {
    let value = response.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or("");
    value.split(';').next().unwrap_or("").trim().to_ascii_lowercase()
}

fn is_encoded(response: &Response) -> bool {
    response.headers().get(CONTENT_ENCODING).is_some_and(|encoding| encoding != "identity")
}

/// What the headers say about retrying: after milliseconds, after seconds, at a date, or not at all.
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

/// Says in a few words what a page is about that is not the answer of an API.
fn summarize_body(body: &str) -> String {
    let title = body.split_once("<title>").and_then(|(_, rest)| rest.split_once("</title>"));
    match title {
        Some((title, _)) => format!("a page titled “{}”", clip(title.trim(), 200)),
        None if body.trim().is_empty() => "an empty page".to_owned(),
        None => clip(&body.split_whitespace().collect::<Vec<_>>().join(" "), 300),
    }
}

fn unreachable(error: reqwest::Error) -> GenerateError {
    GenerateError::new(GenerateErrorKind::Unreachable, format!("cannot be reached: {}", error_chain(error)))
}
