//! The client's side: requests out, answers and streams in, over whatever transport.
//!
//! An [`Exchange`] is one message and what comes of it. It says what to do next ([`NextStep`]), is told what has come,
//! and puts the answer together. Whether the agent answers with a message or an A2A task, streams or is polled, or
//! loses its stream in the middle, the exchange ends with one [`ExchangeOutcome`].

mod requests;

use std::time::Duration;

use serde::Deserialize;
use serde_json::value::RawValue;

pub use self::requests::PeerRequest;
use crate::card::ChosenInterface;
use crate::error::PeerRpcError;
use crate::types::{
    A2aTask, A2aTaskState, A2aTaskStatus, Artifact, ArtifactUpdate, Message, MessageRole, Part, PartContent,
    StreamEvent, joined_text,
};
use crate::wire::{WireError, read_event, read_task};

/// How much an exchange takes in.
#[derive(Clone, Copy, Debug)]
pub struct ExchangeLimits {
    /// Of texts and data, all together.
    pub max_bytes: usize,
    /// Of a stream, or of all its parts where it is taken up again.
    pub max_events: usize,
    /// How often a stream that broke off is taken up again before the task is polled.
    pub max_resubscriptions: u32,
    /// The wait before the task is first polled. Each later one is longer, up to `max_poll_wait`.
    pub poll_wait: Duration,
    pub max_poll_wait: Duration,
}

impl Default for ExchangeLimits {
    fn default() -> Self {
        Self {
            max_bytes: 64 << 20,
            max_events: 200_000,
            max_resubscriptions: 5,
            poll_wait: Duration::from_millis(250),
            max_poll_wait: Duration::from_secs(5),
        }
    }
}

/// What the transport is to do.
#[derive(Debug)]
pub enum NextStep {
    /// Send it after the wait, and hand over what comes: to [`Exchange::on_response`] if it is a document, to
    /// [`Exchange::on_event`] and [`Exchange::on_stream_end`] if it is a stream.
    Send {
        request: PeerRequest,
        wait: Duration,
    },
    Done(ExchangeOutcome),
}

/// How an exchange ends.
#[derive(Debug, Clone, PartialEq)]
pub enum ExchangeOutcome {
    /// The agent's answer. Texts and data stand on lines of their own.
    Answer(String),
    /// The agent has ended the task without one: failed, rejected, or canceled.
    Ended {
        state: A2aTaskState,
        words: String,
    },
    /// The agent waits for input or for a login, neither of which will come.
    Interrupted {
        state: A2aTaskState,
        words: String,
    },
    /// The agent has refused the request.
    Refused(PeerRpcError),
    Failed(ExchangeError),
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ExchangeError {
    #[error("the answer is not one of the protocol: {0}")]
    NotTheProtocol(String),
    #[error("the answer is longer than {0} bytes")]
    TooLarge(usize),
    #[error("the stream has more than {0} events")]
    TooManyEvents(usize),
    #[error("the connection ended before the answer did")]
    CutOff,
    #[error("the answer belongs to another task or context")]
    Foreign,
}

/// What has come since the last look.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ExchangeNews {
    /// A sentence about how the work goes on.
    Progress(String),
    /// A piece of the answer.
    Text(String),
}

/// One message to an agent, and what comes of it.
pub struct Exchange {
    interface: ChosenInterface,
    message: Message,
    limits: ExchangeLimits,
    /// Whether the agent can stream.
    streams: bool,
    sent: bool,
    task_id: Option<String>,
    context_id: Option<String>,
    resubscriptions: u32,
    polls: u32,
    events: usize,
    bytes: usize,
    artifacts: Vec<Artifact>,
    /// What the agent has said last, should there be no artifact.
    last_words: Option<Message>,
    news: Vec<ExchangeNews>,
    outcome: Option<ExchangeOutcome>,
}

impl Exchange {
    /// A message to an agent. It carries on the context that it names, or begins one.
    pub fn new(interface: ChosenInterface, message: Message, streams: bool, limits: ExchangeLimits) -> Self {
        let context_id = message.context_id.clone();
        Self {
            interface,
            message,
            limits,
            streams,
            sent: false,
            task_id: None,
            context_id,
            resubscriptions: 0,
            polls: 0,
            events: 0,
            bytes: 0,
            artifacts: Vec::new(),
            last_words: None,
            news: Vec::new(),
            outcome: None,
        }
    }

    /// Goes on with a task that was begun before.
    pub fn resume(
        interface: ChosenInterface,
        task_id: String,
        streams: bool,
        limits: ExchangeLimits,
    ) -> Self {
        let message = Message::new(MessageRole::User, Vec::new());
        let exchange = Self::new(interface, message, streams, limits);
        Self { sent: true, task_id: Some(task_id), ..exchange }
    }

    /// The agent's task, once it is known.
    pub fn task_id(&self) -> Option<&str> {
        self.task_id.as_deref()
    }

    /// The conversation, for the next message.
    pub fn context_id(&self) -> Option<&str> {
        self.context_id.as_deref()
    }

    /// Takes what has come since the last call.
    pub fn take_news(&mut self) -> Vec<ExchangeNews> {
        std::mem::take(&mut self.news)
    }

    pub fn next_step(&mut self) -> NextStep {
        if let Some(outcome) = &self.outcome {
            return NextStep::Done(outcome.clone());
        }
        let send = |request, wait| NextStep::Send { request, wait };
        match &self.task_id {
            None if self.sent => NextStep::Done(ExchangeOutcome::Failed(ExchangeError::CutOff)),
            None => {
                self.sent = true;
                send(self.interface.send_request(&self.message, self.streams), Duration::ZERO)
            }
            Some(id) if self.streams && self.resubscriptions < self.limits.max_resubscriptions => {
                self.resubscriptions += 1;
                let wait = self.limits.poll_wait.saturating_mul(self.resubscriptions - 1);
                send(self.interface.subscribe_request(id), wait)
            }
            Some(id) => {
                let wait = self.limits.poll_wait.saturating_mul(2_u32.saturating_pow(self.polls.min(10)));
                self.polls += 1;
                let request = self.interface.get_request(id);
                send(request, wait.min(self.limits.max_poll_wait))
            }
        }
    }

    /// The request that ends the agent's work, if there is any to end.
    pub fn cancel_request(&self) -> Option<PeerRequest> {
        let id = self.task_id.as_ref().filter(|_| self.outcome.is_none())?;
        Some(self.interface.cancel_request(id))
    }

    /// A response in one piece has come.
    pub fn on_response(&mut self, body: &str) {
        self.on_payload(body);
    }

    /// The data of an event in a stream has come.
    pub fn on_event(&mut self, data: &str) {
        self.events += 1;
        if self.events > self.limits.max_events {
            self.fail(ExchangeError::TooManyEvents(self.limits.max_events));
            return;
        }
        self.on_payload(data);
    }

    /// The stream has ended, or broken off. If the task has not, it is looked at again.
    pub fn on_stream_end(&mut self) {
        if self.outcome.is_none() && self.task_id.is_none() {
            self.fail(ExchangeError::CutOff);
        }
    }

    pub fn is_done(&self) -> bool {
        self.outcome.is_some()
    }

    fn on_payload(&mut self, payload: &str) {
        let response: WireRpcResponse<'_> = match serde_json::from_str(payload) {
            Ok(response) => response,
            Err(error) => return self.fail(ExchangeError::NotTheProtocol(error.to_string())),
        };
        match (response.result, response.error) {
            (_, Some(error)) => self.on_error(error),
            (Some(result), None) => self.on_result(result.get()),
            (None, None) => {
                let message = "it has neither a result nor an error".to_owned();
                self.fail(ExchangeError::NotTheProtocol(message));
            }
        }
    }

    /// An agent that cannot take up its stream again is polled instead.
    fn on_error(&mut self, error: PeerRpcError) {
        let was_resubscribing = self.task_id.is_some() && self.streams && self.resubscriptions > 0;
        if was_resubscribing {
            self.streams = false;
        } else {
            self.outcome = Some(ExchangeOutcome::Refused(error));
        }
    }

    fn on_result(&mut self, result: &str) {
        // Answers to a look at a task are bare tasks in 1.0, everything else says what it is.
        let event =
            read_event(result).or_else(|error| read_task(result).map(StreamEvent::Task).map_err(|_| error));
        match event {
            Ok(event) => self.on_stream_event(event),
            Err(WireError(message)) => self.fail(ExchangeError::NotTheProtocol(message)),
        }
    }

    fn on_stream_event(&mut self, event: StreamEvent) {
        let (task_id, context_id) = match &event {
            StreamEvent::Task(task) => (Some(&task.id), Some(&task.context_id)),
            StreamEvent::Message(message) => (message.task_id.as_ref(), message.context_id.as_ref()),
            StreamEvent::Status(update) => (Some(&update.task_id), Some(&update.context_id)),
            StreamEvent::Artifact(update) => (Some(&update.task_id), Some(&update.context_id)),
        };
        if !self.belongs_here(task_id, context_id) {
            return self.fail(ExchangeError::Foreign);
        }
        match event {
            StreamEvent::Message(message) => self.on_message(&message),
            StreamEvent::Task(task) => self.on_task(task),
            StreamEvent::Status(update) => self.on_status(update.status),
            StreamEvent::Artifact(update) => self.on_artifact(update),
        }
    }

    /// Takes the ids of the first answer, and compares those of all others with them.
    fn belongs_here(&mut self, task_id: Option<&String>, context_id: Option<&String>) -> bool {
        let same = |known: &mut Option<String>, told: Option<&String>| {
            let Some(told) = told.filter(|id| !id.is_empty()) else { return true };
            known.get_or_insert_with(|| told.clone()) == told
        };
        same(&mut self.task_id, task_id) && same(&mut self.context_id, context_id)
    }

    fn on_message(&mut self, message: &Message) {
        if self.takes_in(&message.parts) {
            self.outcome = Some(ExchangeOutcome::Answer(text_of([&message.parts[..]])));
        }
    }

    fn on_task(&mut self, task: A2aTask) {
        // The task holds everything that has come so far.
        self.bytes = 0;
        if !task.artifacts.iter().all(|artifact| self.takes_in(&artifact.parts)) {
            return;
        }
        // Unless more has come in events. In those, text goes on where a chunk ended, which a task does not tell.
        let length = |artifacts: &[Artifact]| -> usize {
            artifacts.iter().flat_map(|artifact| &artifact.parts).map(content_length).sum()
        };
        if length(&task.artifacts) > length(&self.artifacts) {
            self.artifacts = task.artifacts;
        }
        if self.last_words.is_none() {
            let agents = task.history.into_iter().rev().find(|message| message.role == MessageRole::Agent);
            self.last_words = agents;
        }
        self.on_status(task.status);
    }

    fn on_status(&mut self, status: A2aTaskStatus) {
        let words = status.message.as_ref().map(|message| joined_text(&message.parts)).unwrap_or_default();
        if let Some(message) = status.message {
            if !self.takes_in(&message.parts) {
                return;
            }
            self.last_words = Some(message);
        }
        let state = status.state;
        self.outcome = match state {
            A2aTaskState::Completed => Some(ExchangeOutcome::Answer(self.answer())),
            _ if state.is_terminal() => Some(ExchangeOutcome::Ended { state, words }),
            _ if state.is_interrupted() => Some(ExchangeOutcome::Interrupted { state, words }),
            _ => {
                if !words.is_empty() {
                    self.news.push(ExchangeNews::Progress(words));
                }
                None
            }
        };
    }

    fn on_artifact(&mut self, update: ArtifactUpdate) {
        if !self.takes_in(&update.artifact.parts) {
            return;
        }
        let text = text_of([&update.artifact.parts[..]]);
        if !text.is_empty() {
            self.news.push(ExchangeNews::Text(text));
        }
        let known = self.artifacts.iter_mut().find(|known| known.id == update.artifact.id);
        match known {
            Some(known) if update.append => append(&mut known.parts, update.artifact.parts),
            Some(known) => *known = update.artifact,
            None => self.artifacts.push(update.artifact),
        }
    }

    /// The artifacts. Without any, what the agent has said last.
    fn answer(&self) -> String {
        let text = text_of(self.artifacts.iter().map(|artifact| &artifact.parts[..]));
        if !text.is_empty() {
            return text;
        }
        self.last_words.as_ref().map(|message| text_of([&message.parts[..]])).unwrap_or_default()
    }

    /// Counts what has come, and fails if it is too much.
    fn takes_in(&mut self, parts: &[Part]) -> bool {
        self.bytes = self.bytes.saturating_add(parts.iter().map(size).sum());
        let fits = self.bytes <= self.limits.max_bytes;
        if !fits {
            self.fail(ExchangeError::TooLarge(self.limits.max_bytes));
        }
        fits
    }

    fn fail(&mut self, error: ExchangeError) {
        self.outcome.get_or_insert(ExchangeOutcome::Failed(error));
    }
}

/// Adds the next chunk of an artifact. Text goes on where the chunk before it ended.
fn append(parts: &mut Vec<Part>, more: Vec<Part>) {
    let mut more = more.into_iter().peekable();
    if let (
        Some(Part { content: PartContent::Text(text), .. }),
        Some(Part { content: PartContent::Text(next), .. }),
    ) = (parts.last_mut(), more.peek())
    {
        text.push_str(next);
        more.next();
    }
    parts.extend(more);
}

fn size(part: &Part) -> usize {
    // Even an empty part takes memory.
    const OVERHEAD: usize = 64;
    OVERHEAD + content_length(part)
}

fn content_length(part: &Part) -> usize {
    match &part.content {
        PartContent::Text(text) | PartContent::Url(text) => text.len(),
        PartContent::Data(data) => data.get().len(),
        PartContent::Raw(bytes) => bytes.len(),
    }
}

/// Texts, and data as JSON, each on lines of its own.
fn text_of<'a>(parts: impl IntoIterator<Item = &'a [Part]>) -> String {
    let mut joined = String::new();
    for part in parts.into_iter().flatten() {
        let text = match &part.content {
            PartContent::Text(text) => text,
            PartContent::Data(data) => data.get(),
            PartContent::Raw(_) | PartContent::Url(_) => continue,
        };
        if !joined.is_empty() {
            joined.push('\n');
        }
        joined.push_str(text);
    }
    joined
}

#[derive(Deserialize)]
struct WireRpcResponse<'a> {
    #[serde(borrow)]
    result: Option<&'a RawValue>,
    error: Option<PeerRpcError>,
}
