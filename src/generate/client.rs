//! What is the same for all providers: send a request, read the answer as it streams in, leave out what the provider
//! does not support, retry while it is busy, and give up in time.

mod batches;
mod body;
mod efforts;
mod error_body;
mod learned;
mod options;
mod protocol;
mod received;
mod sse;
mod text;
mod transport;

use std::time::Duration;

use async_trait::async_trait;
use tokio::time::{Instant, sleep, timeout_at};
use tracing::warn;

use self::batches::ClientBatches;
pub(super) use self::error_body::{parse_error, provider_error};
use self::learned::LearnedOptions;
pub(super) use self::options::RequestOptions;
pub(super) use self::protocol::{
    Protocol, StreamFlow, StreamParser, join_url, push_refusal, set_field, unexpected_document,
};
pub(super) use self::received::ReceivedAnswer;
pub(super) use self::sse::SseEvent;
use self::sse::SseStream;
use self::text::{clip, head_and_tail, without_base64};
pub(super) use self::transport::{HttpTransport, JsonLines, ResponseBody, TransportSetup, remote_id};
use super::error::Retry;
use super::{
    BatchApi, CompletionRequest, CompletionResponse, Delta, Endpoint, EndpointError, GenerateError,
    GenerateErrorKind, ModelProvider, Note, ProviderKind, RequestLimits, Result, Secret, prompt_pictures,
};

/// The longest wait that is computed with. Whether it is too long is decided by `RequestLimits::max_wait`.
const A_DAY: Duration = Duration::from_secs(24 * 60 * 60);

pub(super) struct ProviderClient {
    kind: ProviderKind,
    protocol: Box<dyn Protocol>,
    transport: HttpTransport,
    limits: RequestLimits,
    key: Option<Secret>,
    log_raw: bool,
    learned: LearnedOptions,
}

#[async_trait]
impl ModelProvider for ProviderClient {
    async fn ask(
        &self,
        request: &CompletionRequest,
        on_delta: &mut (dyn for<'d> FnMut(Delta<'d>) + Send),
    ) -> Result<CompletionResponse> {
        self.check_pictures(request)?;
        let deadline = Instant::now() + self.limits.total;
        let mut received = ReceivedAnswer::new(on_delta, self.limits.max_bytes, self.log_raw);
        let (mut options, mut notes) = self.options(request)?;
        let asking = self.ask_with_retries(request, &mut options, deadline, &mut received, &mut notes);
        let result = timeout_at(deadline, asking).await;
        let result = result.unwrap_or_else(|_| Err(self.scrub_error(self.timeout_error(), &received)));
        self.respond(result, received, &options, notes)
    }

    async fn resume(
        &self,
        id: &str,
        request: &CompletionRequest,
        on_delta: &mut (dyn for<'d> FnMut(Delta<'d>) + Send),
    ) -> Result<CompletionResponse> {
        let Some(url) = self.protocol.resume_url(&self.transport.base, id) else {
            return self.ask(request, on_delta).await;
        };
        let deadline = Instant::now() + self.limits.total;
        let mut received = ReceivedAnswer::new(on_delta, self.limits.max_bytes, self.log_raw);
        let (options, notes) = self.options(request)?;
        let resuming = async {
            let body = self.transport.resume(url, &mut received).await?;
            self.read_body(body, deadline, &mut received).await
        };
        let result = timeout_at(deadline, resuming).await.unwrap_or_else(|_| Err(self.timeout_error()));
        let result = result.map_err(|error| self.scrub_error(error, &received));
        self.respond(result, received, &options, notes)
    }

    async fn cancel(&self, id: &str) -> Result<()> {
        let Some(url) = self.protocol.cancel_url(&self.transport.base, id) else { return Ok(()) };
        let mut ignore = |_: Delta<'_>| {};
        let received = ReceivedAnswer::new(&mut ignore, 0, false);
        let result = self.transport.post_json(url, &serde_json::json!({})).await.map(drop);
        result.map_err(|error| self.scrub_error(error, &received))
    }

    fn retry_wait(&self, error: &GenerateError, failures: u32) -> Option<Duration> {
        let wait = self.backoff(error, failures);
        let is_refused = error.retry == Retry::Never || failures >= self.limits.tries;
        (!is_refused && wait <= self.limits.max_wait).then_some(wait)
    }

    fn batches(&self) -> Option<Box<dyn BatchApi + '_>> {
        let protocol = self.protocol.batches()?;
        Some(Box::new(ClientBatches { client: self, protocol }))
    }

    fn log_rejected(&self, answer: &str, why: &str) {
        if self.log_raw {
            let (provider, why, raw) =
                (self.protocol.name(), self.scrub(why), head_and_tail(&self.scrub(answer)));
            warn!(provider, why, raw, "an answer was rejected");
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
        let transport = HttpTransport::new(endpoint, &TransportSetup::of(protocol.as_ref()), limits)?;
        let (key, learned) = (endpoint.key.clone(), LearnedOptions::default());
        Ok(Self { kind: endpoint.provider, protocol, transport, limits, key, log_raw, learned })
    }

    fn respond(
        &self,
        result: Result<()>,
        received: ReceivedAnswer<'_>,
        options: &RequestOptions,
        notes: Vec<Note>,
    ) -> Result<CompletionResponse> {
        let (usage, began) = (received.total_usage(), received.began());
        let response =
            CompletionResponse { text: received.text, usage, sent: options.sent(), notes, context: None };
        match result {
            Ok(()) => Ok(response),
            Err(error) => {
                let message = format!("{}: {}", self.protocol.name(), error.message_with_status());
                Err(GenerateError { message, began, partial: Box::new(response), ..error })
            }
        }
    }

    /// Refuses pictures that the provider would refuse, before anything is sent.
    fn check_pictures(&self, request: &CompletionRequest) -> Result<()> {
        prompt_pictures::problem(self.kind, request).map_or(Ok(()), |problem| {
            let message = format!("{}: {problem}", self.protocol.name());
            Err(GenerateError::new(GenerateErrorKind::BadRequest, message))
        })
    }

    /// The options of a request, and how they differ from what it asks for.
    fn options(&self, request: &CompletionRequest) -> Result<(RequestOptions, Vec<Note>)> {
        if let Some(learned) = self.learned.recall(request) {
            return Ok(learned);
        }
        let mut options = self.protocol.options(request);
        let note = options.round_effort(self.protocol.efforts()).map_err(|why| {
            let message = format!("{}: {why}", self.protocol.name());
            GenerateError::new(GenerateErrorKind::BadRequest, message)
        })?;
        Ok((options, note.into_iter().collect()))
    }

    async fn ask_with_retries(
        &self,
        request: &CompletionRequest,
        options: &mut RequestOptions,
        deadline: Instant,
        received: &mut ReceivedAnswer<'_>,
        notes: &mut Vec<Note>,
    ) -> Result<()> {
        let mut attempt = 1;
        loop {
            let result = self.ask_once(request, options, deadline, received).await;
            if result.is_ok() || received.began() {
                self.learned.learn(request, options, notes);
            }
            let error = match result {
                Ok(()) => return Ok(()),
                Err(error) => self.scrub_error(error, received),
            };
            // Tokens were paid for, so only the caller may decide to pay again.
            if received.began() {
                return Err(error);
            }
            match options.adjust(&error, request) {
                Ok(Some(note)) => {
                    notes.push(note);
                    continue;
                }
                Ok(None) => {}
                Err(message) => return Err(GenerateError { message, ..error }),
            }
            if !error.kind.is_unavailable() || error.retry == Retry::Never || attempt >= self.limits.tries {
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
    ) -> Result<()> {
        let body = self.protocol.body(request, options).map_err(|error| {
            let message = format!("the request cannot be written: {error}");
            GenerateError::new(GenerateErrorKind::BadRequest, message)
        })?;
        let url = self.protocol.url(&self.transport.base, &request.model);
        let body = self.transport.post(url, body, received).await?;
        self.read_body(body, deadline, received).await
    }

    async fn read_body(
        &self,
        body: ResponseBody,
        deadline: Instant,
        received: &mut ReceivedAnswer<'_>,
    ) -> Result<()> {
        let mut parser = self.protocol.parser();
        match body {
            ResponseBody::Document(body) => parser.on_document(body, received)?,
            ResponseBody::Stream(events) => {
                self.read_stream(*events, parser.as_mut(), deadline, received).await?;
            }
        }
        finish(parser.as_ref(), received)
    }

    /// Reads a stream to its end. Once the model is done, an error that follows does not spoil its answer.
    async fn read_stream(
        &self,
        mut events: SseStream,
        parser: &mut dyn StreamParser,
        deadline: Instant,
        received: &mut ReceivedAnswer<'_>,
    ) -> Result<()> {
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

    /// Waits before a retry, or returns the error if that would take too long.
    async fn wait_for_retry(
        &self,
        error: GenerateError,
        attempt: u32,
        deadline: Instant,
        received: &mut ReceivedAnswer<'_>,
    ) -> Result<()> {
        let wait = self.backoff(&error, attempt);
        let left = deadline.saturating_duration_since(Instant::now());
        if wait > self.limits.max_wait.min(left) {
            let message = format!("{} (retry only after {} s)", error.message, wait.as_secs());
            return Err(GenerateError { message, ..error });
        }
        received.emit(Delta::Waiting {
            attempt,
            reason: error.message_with_status(),
            seconds: wait.as_secs_f64(),
        });
        sleep(wait).await;
        Ok(())
    }

    /// How long a provider is left alone after so many failures in a row.
    fn backoff(&self, error: &GenerateError, failures: u32) -> Duration {
        let doubled = self.limits.backoff.saturating_mul(2_u32.saturating_pow(failures.saturating_sub(1)));
        // Spread, so that requests that failed together are not repeated together.
        match error.retry {
            Retry::After(wished) => wished.min(A_DAY).mul_f64(rand::random_range(1.0..1.1)),
            Retry::Unspecified | Retry::Never => doubled.min(A_DAY).mul_f64(rand::random_range(0.5..1.0)),
        }
    }

    /// Removes the key, and pictures that a provider sends back, from what people and logs get to see.
    fn scrub_error(&self, mut error: GenerateError, received: &ReceivedAnswer<'_>) -> GenerateError {
        error.message = clip(&self.scrub(&error.message), 800);
        error.param = error.param.map(|param| self.scrub(&param));
        if let Some(raw) = received.raw() {
            let (provider, kind) = (self.protocol.name(), error.kind.code());
            warn!(
                provider,
                kind,
                why = error.message,
                raw = self.scrub(&raw),
                "a response could not be used"
            );
        }
        error
    }

    fn scrub(&self, text: &str) -> String {
        let text = without_base64(text);
        self.key.as_ref().map_or_else(|| text.clone().into_owned(), |key| key.scrub(&text))
    }

    fn timeout_error(&self) -> GenerateError {
        let message = format!("the answer took longer than {} s", self.limits.total.as_secs_f64());
        GenerateError::new(GenerateErrorKind::TimedOut, message)
    }
}

/// Decides whether what has come is an answer.
fn finish(parser: &dyn StreamParser, received: &ReceivedAnswer<'_>) -> Result<()> {
    parser.finish()?;
    if received.text.trim().is_empty() {
        let message = "the model finished without writing anything";
        return Err(GenerateError::new(GenerateErrorKind::Empty, message));
    }
    Ok(())
}
