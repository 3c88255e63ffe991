//! Agents: programs that build, asked over the A2A protocol.
//!
//! An agent is known by its address. Its card says where and how it is asked; the card is read again after a while, since
//! agents move. The card is as little trusted as the address: where it leads elsewhere, that place is looked up and
//! judged, too, and the agent's secret is not sent there. See the crate `a2a` for the protocol itself.

mod card;

use std::sync::Arc;
use std::time::Duration;

use ::a2a::{
    A2aTaskState, ChosenInterface, CredentialPlace, Exchange, ExchangeError, ExchangeLimits, ExchangeNews,
    ExchangeOutcome, Json, Message, MessageRole, NextStep, Part, PeerRequest, RpcErrorCode,
};
use async_trait::async_trait;
use reqwest::Url;
use reqwest::header::{AUTHORIZATION, HeaderName};
use tokio::sync::Mutex;
use tokio::time::{Instant, sleep, timeout, timeout_at};

use self::card::endpoint_at;
pub use self::card::{ReadCard, agent_address, fetch_card, read_card};
use super::client::{HttpTransport, ReceivedAnswer, ResponseBody, TransportSetup};
use super::error::Retry;
use super::{
    ChatPrompt, CompletionRequest, CompletionResponse, Delta, Endpoint, EndpointError, GenerateError,
    GenerateErrorKind, ModelProvider, ProviderKind, RequestLimits, Result, SentOptions, prompt_pictures,
};
use crate::arena::catalog::AgentSource;
use crate::outbound::{self, OutboundRefused};

/// How long a card is believed.
const CARD_LIFETIME: Duration = Duration::from_secs(10 * 60);

/// How long an agent has to hear that its work is not wanted any more.
const CANCEL_TIMEOUT: Duration = Duration::from_secs(10);

/// How many bytes of an agent's own words are kept.
const MAX_WORDS: usize = 2000;

pub(super) struct A2aProvider {
    endpoint: Endpoint,
    allows_private: bool,
    limits: RequestLimits,
    log_raw: bool,
    reached: Mutex<Option<(Instant, Arc<ReachedAgent>)>>,
}

/// An agent, as its card says that it is reached.
struct ReachedAgent {
    interface: ChosenInterface,
    streams: bool,
    transport: HttpTransport,
    source: AgentSource,
}

/// What is known of an exchange before it has ended.
#[derive(Default)]
struct Known {
    /// The agent's id of the conversation.
    context: Option<String>,
    source: Option<AgentSource>,
}

#[async_trait]
impl ModelProvider for A2aProvider {
    async fn ask(
        &self,
        request: &CompletionRequest,
        on_delta: &mut (dyn for<'d> FnMut(Delta<'d>) + Send),
    ) -> Result<CompletionResponse> {
        self.answer(request, None, on_delta).await
    }

    async fn resume(
        &self,
        id: &str,
        request: &CompletionRequest,
        on_delta: &mut (dyn for<'d> FnMut(Delta<'d>) + Send),
    ) -> Result<CompletionResponse> {
        self.answer(request, Some(id), on_delta).await
    }

    async fn cancel(&self, id: &str) -> Result<()> {
        let agent = self.reach().await?;
        agent.cancel(&agent.interface.cancel_request(id)).await;
        Ok(())
    }

    fn retry_wait(&self, error: &GenerateError, failures: u32) -> Option<Duration> {
        let is_refused = error.retry == Retry::Never || failures >= self.limits.tries;
        (!is_refused).then(|| self.backoff(failures))
    }
}

impl A2aProvider {
    pub fn new(
        endpoint: &Endpoint,
        allows_private: bool,
        limits: RequestLimits,
        log_raw: bool,
    ) -> Result<Self, EndpointError> {
        let url = outbound::parse_base_url(&endpoint.base_url)?;
        if endpoint.key.is_some() && !is_safe_for_secrets(&url) {
            return Err(OutboundRefused::NotEncrypted.into());
        }
        Ok(Self { endpoint: endpoint.clone(), allows_private, limits, log_raw, reached: Mutex::default() })
    }

    /// Sends a message, or goes on with the task that came of one, and waits for the answer.
    async fn answer(
        &self,
        request: &CompletionRequest,
        task: Option<&str>,
        on_delta: &mut (dyn for<'d> FnMut(Delta<'d>) + Send),
    ) -> Result<CompletionResponse> {
        if let Some(problem) = prompt_pictures::problem(ProviderKind::A2a, request) {
            return Err(GenerateError::new(GenerateErrorKind::BadRequest, problem));
        }
        let deadline = Instant::now() + self.limits.total;
        let mut received = ReceivedAnswer::new(on_delta, self.limits.max_bytes, self.log_raw);
        let mut known = Known { context: request.context.clone(), source: None };
        let asking = self.ask_with_retries(request, task, &mut known, &mut received);
        let result = timeout_at(deadline, asking).await.unwrap_or_else(|_| {
            let message = format!("the answer took longer than {} s", self.limits.total.as_secs_f64());
            Err(GenerateError::new(GenerateErrorKind::TimedOut, message))
        });
        let (usage, began) = (received.total_usage(), received.began());
        let response = CompletionResponse {
            text: received.text,
            usage,
            sent: SentOptions { agent: known.source, ..SentOptions::default() },
            notes: Vec::new(),
            context: known.context,
        };
        result.map(|()| response.clone()).map_err(|error| {
            let message = format!("The agent: {}", self.scrub(&error.message_with_status()));
            GenerateError { message, began, partial: Box::new(response), ..error }
        })
    }

    /// An agent that cannot be reached is tried again a few times. Once it has begun, only the caller may decide so.
    async fn ask_with_retries(
        &self,
        request: &CompletionRequest,
        task: Option<&str>,
        known: &mut Known,
        received: &mut ReceivedAnswer<'_>,
    ) -> Result<()> {
        let mut failures = 0;
        loop {
            let error = match self.ask_once(request, task, known, received).await {
                Ok(()) => return Ok(()),
                Err(error) => error,
            };
            if error.kind.is_unavailable() || error.kind == GenerateErrorKind::BadRequest {
                self.forget_card().await;
            }
            failures += 1;
            let is_busy = error.kind.is_unavailable() && error.retry != Retry::Never;
            if received.began() || !is_busy || failures >= self.limits.tries {
                return Err(error);
            }
            let wait = self.backoff(failures);
            let reason = self.scrub(&error.message_with_status());
            received.emit(Delta::Waiting { attempt: failures, reason, seconds: wait.as_secs_f64() });
            sleep(wait).await;
        }
    }

    async fn ask_once(
        &self,
        request: &CompletionRequest,
        task: Option<&str>,
        known: &mut Known,
        received: &mut ReceivedAnswer<'_>,
    ) -> Result<()> {
        let agent = self.reach().await?;
        known.source = Some(agent.source.clone());
        let limits = ExchangeLimits { max_bytes: self.limits.max_bytes, ..ExchangeLimits::default() };
        let interface = agent.interface.clone();
        let mut exchange = match task {
            Some(id) => Exchange::resume(interface, id.to_owned(), agent.streams, limits),
            None => Exchange::new(interface, message(request), agent.streams, limits),
        };
        let mut unwanted = CancelOnDrop { agent: Arc::clone(&agent), request: None };
        let outcome = self.run(&agent, &mut exchange, &mut unwanted, known, received).await?;
        unwanted.request = None;
        // A server that stopped has cancelled what it waited for, and an agent may have forgotten it.
        let is_gone = match &outcome {
            ExchangeOutcome::Ended { state, .. } => *state == A2aTaskState::Canceled,
            ExchangeOutcome::Refused(error) => error.is(RpcErrorCode::TaskNotFound),
            _ => false,
        };
        if task.is_some() && is_gone {
            return Box::pin(self.ask_once(request, None, known, received)).await;
        }
        match outcome {
            ExchangeOutcome::Answer(text) if text.trim().is_empty() => {
                let message = "it finished without writing anything";
                Err(GenerateError::new(GenerateErrorKind::Empty, message))
            }
            ExchangeOutcome::Answer(text) => {
                if received.len() == 0 {
                    received.push_text(&text)
                } else {
                    received.replace_from(0, &text)
                }
            }
            other => Err(failure(other)),
        }
    }

    /// Does what the exchange wants done until it has its outcome.
    async fn run(
        &self,
        agent: &ReachedAgent,
        exchange: &mut Exchange,
        unwanted: &mut CancelOnDrop,
        known: &mut Known,
        received: &mut ReceivedAnswer<'_>,
    ) -> Result<ExchangeOutcome> {
        let mut failures = 0;
        let mut is_first = true;
        loop {
            let (request, wait) = match exchange.next_step() {
                NextStep::Done(outcome) => return Ok(outcome),
                NextStep::Send { request, wait } => (request, wait),
            };
            sleep(wait).await;
            let read = agent.send(&request, is_first, exchange, received, |exchange, received| {
                unwanted.request = exchange.cancel_request();
                if let Some(id) = exchange.context_id() {
                    known.context = Some(id.to_owned());
                }
                pass_on(exchange, received)
            });
            is_first = false;
            match read.await {
                Ok(()) => failures = 0,
                // The task goes on at the agent, so it is looked for again.
                Err(error) if exchange.task_id().is_some() && is_passing(&error) => {
                    failures += 1;
                    if failures >= self.limits.tries {
                        return Err(error);
                    }
                    sleep(self.backoff(failures)).await;
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// The agent as its card says, which was read a while ago at most.
    async fn reach(&self) -> Result<Arc<ReachedAgent>> {
        let mut reached = self.reached.lock().await;
        if let Some((at, agent)) = &*reached
            && at.elapsed() < CARD_LIFETIME
        {
            return Ok(Arc::clone(agent));
        }
        let agent = Arc::new(self.read_card().await?);
        *reached = Some((Instant::now(), Arc::clone(&agent)));
        Ok(agent)
    }

    async fn read_card(&self) -> Result<ReachedAgent> {
        let ReadCard { card, interface, source, .. } =
            read_card(&self.endpoint, self.allows_private, self.limits).await?;
        let endpoint = endpoint_at(&self.endpoint, self.allows_private, &interface.url)
            .await
            .map_err(|error| unusable(format!("the address in its card cannot be used: {error}")))?;
        let setup = setup(card.credential.as_ref(), Some(&interface));
        let transport = HttpTransport::new(&endpoint, &setup, self.limits).map_err(unusable)?;
        Ok(ReachedAgent { interface, streams: card.streaming, transport, source })
    }

    /// The agent may have moved or changed, so its card is read again next time.
    async fn forget_card(&self) {
        *self.reached.lock().await = None;
    }

    fn backoff(&self, failures: u32) -> Duration {
        let doubled = self.limits.backoff.saturating_mul(2_u32.saturating_pow(failures.saturating_sub(1)));
        doubled.min(self.limits.max_wait).mul_f64(rand::random_range(0.5..1.0))
    }

    fn scrub(&self, text: &str) -> String {
        self.endpoint.key.as_ref().map_or_else(|| text.to_owned(), |key| key.scrub(text))
    }
}

impl ReachedAgent {
    /// Sends a request and hands over what comes, piece by piece. `look` is called after each.
    async fn send(
        &self,
        request: &PeerRequest,
        is_first: bool,
        exchange: &mut Exchange,
        received: &mut ReceivedAnswer<'_>,
        mut look: impl FnMut(&mut Exchange, &mut ReceivedAnswer<'_>) -> Result<()>,
    ) -> Result<()> {
        let (url, body) = (self.url()?, request.body.clone().into_bytes());
        let body = if is_first {
            self.transport.post(url, body, received).await?
        } else {
            self.transport.post_follow_up(url, body, received).await?
        };
        match body {
            ResponseBody::Document(text) => {
                exchange.on_response(&text);
                look(exchange, received)
            }
            ResponseBody::Stream(mut events) => {
                while !exchange.is_done() {
                    match events.next(received).await? {
                        Some(event) => exchange.on_event(&event.data),
                        None => {
                            exchange.on_stream_end();
                            return look(exchange, received);
                        }
                    }
                    look(exchange, received)?;
                }
                Ok(())
            }
        }
    }

    /// Tells the agent that its work is not wanted any more. It may have ended by itself.
    async fn cancel(&self, request: &PeerRequest) {
        let mut ignore = |_: Delta<'_>| {};
        let mut received = ReceivedAnswer::new(&mut ignore, 0, false);
        let Ok(url) = self.url() else { return };
        let sending = self.transport.post_follow_up(url, request.body.clone().into_bytes(), &mut received);
        let _ = timeout(CANCEL_TIMEOUT, sending).await;
    }

    fn url(&self) -> Result<Url> {
        outbound::parse_base_url(&self.interface.url).map_err(unusable)
    }
}

/// Cancels a task at its agent if whoever waits for it gives up.
struct CancelOnDrop {
    agent: Arc<ReachedAgent>,
    request: Option<PeerRequest>,
}

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        if let Some(request) = self.request.take() {
            let agent = Arc::clone(&self.agent);
            tokio::spawn(async move { agent.cancel(&request).await });
        }
    }
}

/// What the request asks for, in words and as data.
fn message(request: &CompletionRequest) -> Message {
    let ChatPrompt { system, user, .. } = &request.prompt;
    let text = if system.is_empty() { user.clone() } else { format!("{system}\n\n{user}") };
    let data = request.data.as_deref().and_then(|data| Json::of(data).ok()).map(Part::data);
    let parts = [Some(Part::text(text)), data].into_iter().flatten().collect();
    Message { context_id: request.context.clone(), ..Message::new(MessageRole::User, parts) }
}

fn pass_on(exchange: &mut Exchange, received: &mut ReceivedAnswer<'_>) -> Result<()> {
    if let Some(id) = exchange.task_id() {
        received.mark_started();
        received.set_remote_id(id);
    }
    for news in exchange.take_news() {
        match news {
            ExchangeNews::Progress(words) => received.emit(Delta::Progress(&words)),
            ExchangeNews::Text(text) => received.push_text(&text)?,
        }
    }
    Ok(())
}

fn setup(credential: Option<&CredentialPlace>, interface: Option<&ChosenInterface>) -> TransportSetup {
    let key_header = match credential {
        Some(CredentialPlace::Header(name)) => {
            HeaderName::try_from(name.as_str()).map_or((AUTHORIZATION, "Bearer "), |name| (name, ""))
        }
        Some(CredentialPlace::Bearer) | None => (AUTHORIZATION, "Bearer "),
    };
    let version = interface.map(|interface| ("a2a-version", interface.version.as_str()));
    TransportSetup { key_header, headers: version.into_iter().collect(), repeats_text: true }
}

/// Whether a secret that is sent there cannot be read on the way.
fn is_safe_for_secrets(url: &Url) -> bool {
    let is_loopback = match url.host() {
        Some(url::Host::Domain(name)) => name == "localhost",
        Some(url::Host::Ipv4(address)) => address.is_loopback(),
        Some(url::Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    };
    url.scheme() == "https" || is_loopback
}

/// Whether a request about a task may succeed later.
fn is_passing(error: &GenerateError) -> bool {
    use GenerateErrorKind::{CutOff, Stalled};
    error.kind.is_unavailable() || matches!(error.kind, CutOff | Stalled)
}

fn unusable(error: impl std::fmt::Display) -> GenerateError {
    GenerateError::unusable(error.to_string())
}

/// The error of an exchange that ended without an answer.
fn failure(outcome: ExchangeOutcome) -> GenerateError {
    let said = |words: &str| match clip(words) {
        words if words.is_empty() => "without a word".to_owned(),
        words => format!("saying: {words}"),
    };
    match outcome {
        ExchangeOutcome::Ended { state: A2aTaskState::Rejected, words } => {
            GenerateError::new(GenerateErrorKind::Refused, format!("it rejected the task, {}", said(&words)))
        }
        ExchangeOutcome::Ended { state: A2aTaskState::Canceled, words } => {
            let message = format!("it canceled the task, {}", said(&words));
            GenerateError::new(GenerateErrorKind::BadAnswer, message)
        }
        ExchangeOutcome::Ended { words, .. } => {
            let message = format!("its task failed, {}", said(&words));
            GenerateError::new(GenerateErrorKind::BadAnswer, message)
        }
        ExchangeOutcome::Interrupted { state: A2aTaskState::AuthRequired, words } => {
            let message = format!("it wants a login, {}", said(&words));
            GenerateError::new(GenerateErrorKind::NeedsInput, message)
        }
        ExchangeOutcome::Interrupted { words, .. } => {
            let message = format!("it asks for input, which nobody gives, {}", said(&words));
            GenerateError::new(GenerateErrorKind::NeedsInput, message)
        }
        ExchangeOutcome::Refused(error) => {
            let kind = if error.is(RpcErrorCode::Internal) {
                GenerateErrorKind::Overloaded
            } else {
                GenerateErrorKind::BadRequest
            };
            GenerateError::new(kind, format!("it refused the request with {}", clip(&error.to_string())))
        }
        ExchangeOutcome::Failed(error) => {
            let kind = match error {
                ExchangeError::TooLarge(_) | ExchangeError::TooManyEvents(_) => GenerateErrorKind::TooLarge,
                ExchangeError::CutOff => GenerateErrorKind::CutOff,
                ExchangeError::NotTheProtocol(_) | ExchangeError::Foreign => GenerateErrorKind::BadAnswer,
            };
            GenerateError::new(kind, clip(&error.to_string()))
        }
        ExchangeOutcome::Answer(_) => GenerateError::unusable("it answered"),
    }
}

fn clip(text: &str) -> String {
    text.trim().chars().take(MAX_WORDS).collect()
}
