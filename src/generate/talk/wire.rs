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

use super::super::{Endpoint, EndpointError, FailureKind, Patience, Pinned};
use super::complaint::{Complaint, ERROR_BODY};
use super::events::Events;
use super::heard::Heard;
use super::{Dialect, Retry, Trouble, clip};
use crate::tls;

const COMPRESSED: &str = "the answer is compressed, which nobody asked for";

/// A connection on which nothing comes for minutes must not be forgotten by what lies between.
const KEEPALIVE: Duration = Duration::from_secs(30);

const AGENT: &str = concat!("buildoff/", env!("CARGO_PKG_VERSION"));

pub(super) struct Wire {
    client: Client,
    base: Url,
    patience: Patience,
    /// Of an event, or of an answer in one piece.
    largest: usize,
}

pub(super) enum Reply {
    Stream(Box<Events>),
    Whole(String),
}

impl Wire {
    pub fn new(
        endpoint: &Endpoint,
        dialect: &dyn Dialect,
        patience: Patience,
    ) -> Result<Self, EndpointError> {
        let no_tls = |error: &dyn Error| EndpointError::NoTls(error.to_string());
        let tls = tls::config().map_err(|error| no_tls(error))?;
        let mut client = Client::builder();
        if let Some(Pinned { host, places }) = &endpoint.pinned {
            // A proxy would look the name up by itself.
            client = client.resolve_to_addrs(host, places).no_proxy();
        }
        let client = client
            .tls_backend_preconfigured(tls)
            .default_headers(headers(endpoint, dialect)?)
            .user_agent(AGENT)
            .redirect(Policy::none())
            .no_gzip()
            .no_brotli()
            .no_zstd()
            .no_deflate()
            .connect_timeout(patience.connect)
            .tcp_keepalive(KEEPALIVE)
            .build()
            .map_err(|error| no_tls(&error))?;
        let times = if dialect.repeats_text() { 2 } else { 1 };
        let largest = patience.max_bytes.saturating_mul(times).saturating_add(ERROR_BODY);
        Ok(Self { client, base: base(&endpoint.base_url)?, patience, largest })
    }

    pub fn base(&self) -> &Url {
        &self.base
    }

    pub async fn post(&self, url: Url, body: Vec<u8>, heard: &mut Heard<'_>) -> Result<Reply, Trouble> {
        heard.sent();
        let first_byte = self.patience.first_byte;
        let response = timeout(first_byte, self.client.post(url).body(body).send())
            .await
            .map_err(|_| stalled(first_byte))?
            .map_err(unreachable)?;
        let status = response.status();
        if status.is_redirection() {
            let message = format!("the answer is a redirect ({status}), which is not followed");
            return Err(Trouble::no_answer(message));
        }
        if !status.is_success() {
            return Err(self.complaint(response, heard).await);
        }
        if is_encoded(&response) {
            return Err(Trouble::no_answer(COMPRESSED));
        }
        let largest = self.largest;
        match media_type(&response).as_str() {
            "text/event-stream" | "" => {
                Ok(Reply::Stream(Box::new(Events::new(response, self.patience.idle, largest))))
            }
            "application/json" => {
                let body = self.body(response, largest, heard).await?;
                if body.len() > largest {
                    let message = format!("the answer is longer than {largest} bytes");
                    return Err(Trouble::new(FailureKind::TooLarge, message));
                }
                Ok(Reply::Whole(String::from_utf8(body).map_err(|_| bad("the answer is not valid UTF-8"))?))
            }
            other => {
                let other = other.to_owned();
                let body = self.body(response, ERROR_BODY, heard).await?;
                let what = gist(&String::from_utf8_lossy(&body));
                let message = format!("the answer is {} and no event stream: {what}", clip(&other, 80));
                Err(Trouble::no_answer(message))
            }
        }
    }

    /// What the provider says instead of an answer.
    async fn complaint(&self, response: Response, heard: &mut Heard<'_>) -> Trouble {
        let status = response.status();
        let retry = retry(response.headers());
        let mut trouble = self.explanation(response, heard).await.into_trouble(Some(status));
        if trouble.kind == FailureKind::BadAnswer {
            trouble.retry = Retry::Never;
        } else if retry != Retry::Unsaid {
            trouble.retry = retry;
        }
        trouble
    }

    async fn explanation(&self, response: Response, heard: &mut Heard<'_>) -> Complaint {
        if is_encoded(&response) {
            return Complaint::unread(COMPRESSED.to_owned());
        }
        // The status alone tells more than that its explanation did not arrive.
        let body = self.body(response, ERROR_BODY, heard).await.unwrap_or_default();
        let body = String::from_utf8_lossy(&body);
        Complaint::read(&body).unwrap_or_else(|| Complaint::unread(gist(&body)))
    }

    /// The body, or as much of it as shows that it is longer than `limit`.
    async fn body(
        &self,
        mut response: Response,
        limit: usize,
        heard: &mut Heard<'_>,
    ) -> Result<Vec<u8>, Trouble> {
        let mut body = Vec::new();
        while body.len() <= limit {
            let chunk = timeout(self.patience.idle, response.chunk()).await;
            let Some(bytes) = chunk.map_err(|_| stalled(self.patience.idle))?.map_err(broken)? else { break };
            heard.keep_raw(&bytes);
            body.extend_from_slice(&bytes[..bytes.len().min(limit + 1 - body.len())]);
        }
        Ok(body)
    }
}

fn headers(endpoint: &Endpoint, dialect: &dyn Dialect) -> Result<HeaderMap, EndpointError> {
    let mut headers = HeaderMap::new();
    headers.insert(ACCEPT, HeaderValue::from_static("text/event-stream"));
    headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    for &(name, value) in dialect.headers() {
        headers.insert(HeaderName::from_static(name), HeaderValue::from_static(value));
    }
    if let Some(key) = endpoint.key.as_ref().filter(|key| !key.expose().is_empty()) {
        let (name, before) = dialect.key_header();
        let mut value =
            HeaderValue::from_str(&format!("{before}{}", key.expose())).map_err(|_| EndpointError::BadKey)?;
        value.set_sensitive(true);
        headers.insert(name, value);
    }
    Ok(headers)
}

fn base(address: &str) -> Result<Url, EndpointError> {
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
fn retry(headers: &HeaderMap) -> Retry {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).map(str::trim);
    if text("x-should-retry") == Some("false") {
        return Retry::Never;
    }
    let number = |name, unit: f64| text(name)?.parse::<f64>().ok().map(|number| number * unit);
    let seconds = number("retry-after-ms", 0.001)
        .or_else(|| number("retry-after", 1.0))
        .or_else(|| text("retry-after").and_then(seconds_until));
    let wait = seconds.map(|seconds| Duration::try_from_secs_f64(seconds.max(0.0)).unwrap_or(Duration::MAX));
    wait.map_or(Retry::Unsaid, Retry::After)
}

fn seconds_until(date: &str) -> Option<f64> {
    let date = OffsetDateTime::parse(date, &Rfc2822).ok()?;
    Some((date - OffsetDateTime::now_utc()).as_seconds_f64())
}

/// What a page that is no API answer is about, in a few words.
fn gist(body: &str) -> String {
    let title = body.split_once("<title>").and_then(|(_, rest)| rest.split_once("</title>"));
    match title {
        Some((title, _)) => format!("a page titled “{}”", clip(title.trim(), 200)),
        None if body.trim().is_empty() => "an empty page".to_owned(),
        None => clip(&body.split_whitespace().collect::<Vec<_>>().join(" "), 300),
    }
}

fn bad(message: impl Into<String>) -> Trouble {
    Trouble::new(FailureKind::BadAnswer, message)
}

pub(super) fn stalled(patience: Duration) -> Trouble {
    let message = format!("nothing came for {} s", patience.as_secs_f64());
    Trouble::new(FailureKind::Stalled, message)
}

pub(super) fn broken(error: reqwest::Error) -> Trouble {
    let message = format!("the connection ended in the middle of the answer: {}", causes(error));
    Trouble::new(FailureKind::CutOff, message)
}

fn unreachable(error: reqwest::Error) -> Trouble {
    Trouble::new(FailureKind::Unreachable, format!("cannot be reached: {}", causes(error)))
}

fn causes(error: reqwest::Error) -> String {
    let error = error.without_url();
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        text = format!("{text}: {inner}");
        cause = inner.source();
    }
    clip(&text, 300)
}

impl Complaint {
    /// The kind of trouble, by the status as well if there is one.
    pub(in super::super) fn into_trouble(self, status: Option<StatusCode>) -> Trouble {
        let kind = self.kind(status.map(|status| status.as_u16()));
        let retry = self.retry_after.map_or(Retry::Unsaid, Retry::After);
        Trouble { kind, message: self.message, status, param: self.param, retry }
    }
}
