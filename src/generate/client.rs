//! What is the same whoever is asked: ask, hear the answer as it streams, step down where the provider wants
//! it, ask again where it is busy, and give up in time.

mod api_error;
mod options;
mod received;
mod sse;
mod transport;

use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use reqwest::header::HeaderName;
use reqwest::{StatusCode, Url};
use serde_json::Value;
use tokio::time::{Instant, sleep, timeout_at};
use tracing::warn;

use super::{
    CompletionRequest, CompletionResponse, Delta, Endpoint, EndpointError, GenerateError, GenerateErrorKind,
    ModelProvider, Note, RequestLimits, Secret,
};
pub(super) use api_error::ApiError;
pub(super) use options::RequestOptions;
pub(super) use received::ReceivedAnswer;
pub(super) use sse::SseEvent;
use sse::SseStream;
use transport::{HttpTransport, ResponseBody};

/// Of a refusal.
const MAX_REFUSAL: usize = 4 << 10;

/// Of an answer in the log, its beginning and its end.
const MAX_LOGGED: usize = 8 << 10;

const A_DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// How one provider speaks.
pub(super) trait Protocol: Send + Sync {
    /// As people know it.
    fn name(&self) -> &'static str;
    /// Where to ask, from the base address, whose path may or may not end in a version.
    fn url(&self, base: &Url, model: &str) -> Url;
    /// The header that carries the key, and what stands before it.
    fn key_header(&self) -> (HeaderName, &'static str);
    fn headers(&self) -> &'static [(&'static str, &'static str)] {
        &[]
    }
    /// Whether the protocol tells the whole text once more in a single event.
    fn repeats_text(&self) -> bool {
        false
    }
    fn options(&self, request: &CompletionRequest) -> RequestOptions;
    fn body(&self, request: &CompletionRequest, options: &RequestOptions) -> serde_json::Result<Vec<u8>>;
    fn parser(&self) -> Box<dyn StreamParser>;
}

/// Hears one answer, event by event.
pub(super) trait StreamParser: Send {
    fn on_event(
        &mut self,
        event: &SseEvent,
        received: &mut ReceivedAnswer<'_>,
    ) -> Result<StreamFlow, RequestError>;
    /// Whether the model has said that it is done, so that nothing of worth can follow.
    fn is_complete(&self) -> bool;
    /// Judges what was heard, once the stream is over.
    fn finish(&mut self, received: &mut ReceivedAnswer<'_>) -> Result<(), RequestError>;
    /// An answer in one piece, from a provider that does not stream.
    fn on_document(&mut self, body: String, received: &mut ReceivedAnswer<'_>) -> Result<(), RequestError> {
        Err(unexpected_document(&body, received))
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StreamFlow {
    Continue,
    Done,
}

/// What went wrong in one go. The message may still hold what a provider repeated of the key.
#[derive(Debug)]
pub(super) struct RequestError {
    pub kind: GenerateErrorKind,
    pub message: String,
    pub status: Option<StatusCode>,
    /// The parameter that the provider complains of.
    pub param: Option<String>,
    pub retry: Retry,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Retry {
    /// As the kind of the trouble suggests.
    #[default]
    Unspecified,
    After(Duration),
    Never,
}

impl RequestError {
    pub fn new(kind: GenerateErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), status: None, param: None, retry: Retry::Unspecified }
    }

    pub fn cut_off() -> Self {
        Self::new(GenerateErrorKind::CutOff, "the stream ended before the answer did")
    }

    /// Nothing like an answer: the same would come again.
    pub fn unusable(message: impl Into<String>) -> Self {
        Self { retry: Retry::Never, ..Self::new(GenerateErrorKind::BadAnswer, message) }
    }

    pub fn truncated() -> Self {
        Self::new(GenerateErrorKind::Truncated, "the model reached its limit of tokens before it was done")
    }

    fn message_with_status(&self) -> String {
        match self.status {
            Some(status) => format!("{} ({status})", self.message),
            None => self.message.clone(),
        }
    }

    fn is_retryable(&self) -> bool {
        let passing =
            [GenerateErrorKind::RateLimited, GenerateErrorKind::Overloaded, GenerateErrorKind::Unreachable];
        passing.contains(&self.kind) && self.retry != Retry::Never
    }
}

pub(super) struct ProviderClient {
    protocol: Box<dyn Protocol>,
    transport: HttpTransport,
    limits: RequestLimits,
    key: Option<Secret>,
    log_raw: bool,
}

impl ModelProvider for ProviderClient {
    fn ask<'a>(
        &'a self,
        request: &'a CompletionRequest,
        on_delta: &'a mut (dyn FnMut(Delta<'_>) + Send),
    ) -> BoxFuture<'a, Result<CompletionResponse, GenerateError>> {
        async move {
            let deadline = Instant::now() + self.limits.total;
            let mut received = ReceivedAnswer::new(on_delta, self.limits.max_bytes, self.log_raw);
            let mut notes = Vec::new();
            let result =
                timeout_at(deadline, self.ask_with_retries(request, deadline, &mut received, &mut notes))
                    .await;
            let result = result.unwrap_or_else(|_| Err(self.scrub_error(self.timeout_error(), &received)));
            let (usage, began) = (received.total_usage(), received.began());
            let text = received.text;
            match result {
                Ok(()) => Ok(CompletionResponse { text, usage, notes }),
                Err(error) => {
                    let message = format!("{}: {}", self.protocol.name(), error.message_with_status());
                    let is_final = error.kind.is_final() || error.retry == Retry::Never;
                    Err(GenerateError {
                        kind: error.kind,
                        message,
                        is_final,
                        began,
                        partial: text,
                        usage,
                        notes,
                    })
                }
            }
        }
        .boxed()
    }

    fn log_rejected(&self, answer: &str, why: &str) {
        if self.log_raw {
            let (provider, why, raw) =
                (self.protocol.name(), self.scrub(why), head_and_tail(&self.scrub(answer)));
            warn!(provider, why, raw, "an answer that is no build");
        }
    }
}

impl ProviderClient {
    pub fn new(
        endpoint: &Endpoint,
        protocol: Box<dyn Protocol>,
        limits: RequestLimits,
        log_raw: bool,
    ) -> Result<Self, EndpointError> {
        let transport = HttpTransport::new(endpoint, protocol.as_ref(), limits)?;
        Ok(Self { protocol, transport, limits, key: endpoint.key.clone(), log_raw })
    }

    async fn ask_with_retries(
        &self,
        request: &CompletionRequest,
        deadline: Instant,
        received: &mut ReceivedAnswer<'_>,
        notes: &mut Vec<Note>,
    ) -> Result<(), RequestError> {
        let mut options = self.protocol.options(request);
        let mut attempt = 1;
        loop {
            let error = match self.ask_once(request, &options, deadline, received).await {
                Ok(()) => return Ok(()),
                Err(error) => self.scrub_error(error, received),
            };
            // From here on tokens were paid for: whoever asked decides whether to pay again.
            if received.began() {
                return Err(error);
            }
            if let Some(note) = options.drop_unsupported(&error, &request.model) {
                notes.push(note);
                continue;
            }
            if !error.is_retryable() || attempt >= self.limits.tries {
                return Err(error);
            }
            self.wait_for_retry(error, attempt, deadline, received).await?;
            attempt += 1;
        }
    }

    async fn ask_once(
        &self,
        request: &CompletionRequest,
        options: &RequestOptions,
        deadline: Instant,
        received: &mut ReceivedAnswer<'_>,
    ) -> Result<(), RequestError> {
        let body = self.protocol.body(request, options).map_err(|error| {
            RequestError::new(
                GenerateErrorKind::BadRequest,
                format!("the request cannot be written: {error}"),
            )
        })?;
        let url = self.protocol.url(self.transport.base(), &request.model);
        let mut parser = self.protocol.parser();
        match self.transport.post(url, body, received).await? {
            ResponseBody::Document(body) => parser.on_document(body, received)?,
            ResponseBody::Stream(events) => {
                self.read_stream(*events, parser.as_mut(), deadline, received).await?
            }
        }
        parser.finish(received)?;
        if received.text.trim().is_empty() {
            return Err(RequestError::new(
                GenerateErrorKind::Empty,
                "the model finished without writing anything",
            ));
        }
        Ok(())
    }

    /// Hears a stream to its end. Once the model is done, nothing that follows can spoil its answer.
    async fn read_stream(
        &self,
        mut events: SseStream,
        parser: &mut dyn StreamParser,
        deadline: Instant,
        received: &mut ReceivedAnswer<'_>,
    ) -> Result<(), RequestError> {
        loop {
            let is_complete = parser.is_complete();
            let next = timeout_at(deadline, events.next(received)).await;
            let flow = match next.unwrap_or_else(|_| Err(self.timeout_error())) {
                Ok(Some(event)) => parser.on_event(&event, received),
                Ok(None) => Ok(StreamFlow::Done),
                Err(error) => Err(error),
            };
            match flow {
                Ok(StreamFlow::Continue) => {}
                Ok(StreamFlow::Done) => return Ok(()),
                Err(_) if is_complete => return Ok(()),
                Err(error) => return Err(error),
            }
        }
    }

    /// Waits until the provider may be asked again, or tells why that is too long.
    async fn wait_for_retry(
        &self,
        error: RequestError,
        attempt: u32,
        deadline: Instant,
        received: &mut ReceivedAnswer<'_>,
    ) -> Result<(), RequestError> {
        let doubled = self.limits.backoff.saturating_mul(2_u32.saturating_pow(attempt - 1));
        // Spread, so that not all who were turned away come back at once.
        let wait = match error.retry {
            Retry::After(wished) => wished.min(A_DAY).mul_f64(rand::random_range(1.0..1.1)),
            Retry::Unspecified | Retry::Never => doubled.min(A_DAY).mul_f64(rand::random_range(0.5..1.0)),
        };
        let left = deadline.saturating_duration_since(Instant::now());
        if wait > self.limits.max_wait.min(left) {
            let message = format!("{} (asks to wait for {} s)", error.message, wait.as_secs());
            return Err(RequestError { message, ..error });
        }
        received.emit(Delta::Waiting {
            attempt,
            reason: error.message_with_status(),
            seconds: wait.as_secs_f64(),
        });
        sleep(wait).await;
        Ok(())
    }

    /// Takes the key out of what goes on to people and logs.
    fn scrub_error(&self, mut error: RequestError, received: &ReceivedAnswer<'_>) -> RequestError {
        error.message = clip(&self.scrub(&error.message), 800);
        if let Some(raw) = received.raw() {
            let (provider, kind) = (self.protocol.name(), error.kind.code());
            warn!(provider, kind, why = error.message, raw = self.scrub(&raw), "an answer of no use");
        }
        error
    }

    fn scrub(&self, text: &str) -> String {
        self.key.as_ref().map_or_else(|| text.to_owned(), |key| key.scrub(text))
    }

    fn timeout_error(&self) -> RequestError {
        let message = format!("the answer took longer than {} s", self.limits.total.as_secs_f64());
        RequestError::new(GenerateErrorKind::TimedOut, message)
    }
}

/// An address below the base. A version is added unless the base has one already.
pub(super) fn join_url<'a>(
    base: &Url,
    version: Option<&str>,
    path: impl IntoIterator<Item = &'a str>,
) -> Url {
    let mut url = base.clone();
    let is_versioned = version.is_some_and(|version| base.path().trim_end_matches('/').ends_with(version));
    // Only addresses that can be no base have no segments, and `HttpTransport` takes none of those.
    if let Ok(mut segments) = url.path_segments_mut() {
        segments.pop_if_empty().extend(version.filter(|_| !is_versioned)).extend(path);
    }
    url
}

/// A field of a JSON object, if there is something to put into it.
pub(super) fn set_field(object: &mut Value, field: &str, value: Option<impl Into<Value>>) {
    if let Some(value) = value {
        object[field] = value.into();
    }
}

/// Adds to what a model says instead of an answer, of which the beginning is enough.
pub(super) fn push_refusal(refusal: &mut String, piece: &str) {
    if refusal.len() < MAX_REFUSAL {
        refusal.push_str(&clip(piece, MAX_REFUSAL));
    }
}

/// What is made of a document that is no answer: a complaint, or else something that is kept as it is.
pub(super) fn unexpected_document(body: &str, received: &mut ReceivedAnswer<'_>) -> RequestError {
    if let Some(api_error) = ApiError::parse(body) {
        return api_error.into_request_error(None);
    }
    let other =
        RequestError::unusable("the answer is one JSON document, and not of the kind that was asked for");
    received.push_text(body).err().unwrap_or(other)
}

/// The beginning and the end of a long text.
fn head_and_tail(text: &str) -> String {
    if text.len() <= 2 * MAX_LOGGED {
        return text.to_owned();
    }
    let (head, tail) =
        (text.floor_char_boundary(MAX_LOGGED), text.ceil_char_boundary(text.len() - MAX_LOGGED));
    format!("{}\n[…]\n{}", &text[..head], &text[tail..])
}

/// The beginning of a long text.
fn clip(text: &str, bytes: usize) -> String {
    if text.len() <= bytes {
        return text.to_owned();
    }
    format!("{}…", &text[..text.floor_char_boundary(bytes)])
}
