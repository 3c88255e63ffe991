//! The server's side: requests in, answers and streams out, over whatever transport.

use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use async_trait::async_trait;
use futures_util::Stream;
use futures_util::future::BoxFuture;
use futures_util::stream::{self, StreamExt};
use serde::Serialize;
use serde_json::value::RawValue;
use time::OffsetDateTime;

use crate::changes::{TaskChange, events_between};
use crate::error::{RpcError, RpcErrorCode};
use crate::rpc::{A2aRequest, ListTasksQuery, RefusedCall, RpcCall, RpcId, SendMessageParams};
use crate::store::{StoredTask, TaskPage, TaskStore, TaskStoreError};
use crate::types::{A2aTask, A2aTaskState, Artifact, Json, Message, MessageRole, Part, StreamEvent};
use crate::version::ProtocolVersion;
use crate::wire::{json, write_event, write_task};

/// What an agent does with a message.
#[async_trait]
pub trait Agent: Send + Sync + 'static {
    /// Who sends a message.
    type Client: Clone + Send + Sync + 'static;

    /// Whom tasks belong to, as the store tells them apart.
    type Owner: Send + Sync + 'static;

    /// Whom the tasks of a client belong to.
    fn owner(client: &Self::Client) -> &Self::Owner;

    /// Decides what comes of a message. Lengthy work belongs into an [`AgentReply::Work`].
    ///
    /// # Errors
    /// If the message is refused.
    async fn receive(&self, params: SendMessageParams, client: &Self::Client)
    -> Result<AgentReply, RpcError>;

    /// Called when a client cancels an A2A task that has not ended. The task changes no more after that; work on it
    /// learns so at its next change.
    async fn cancelled(&self, _task: &A2aTask) {}
}

/// The beginning of an answer.
pub enum AgentReply {
    /// The answer itself.
    Message(Message),
    /// An A2A task for it, and the work, which runs whether or not the client stays.
    Work(Box<dyn FnOnce(TaskUpdates) -> BoxFuture<'static, ()> + Send>),
}

impl AgentReply {
    pub fn work<F, W>(work: F) -> Self
    where
        F: FnOnce(TaskUpdates) -> W + Send + 'static,
        W: Future<Output = ()> + Send + 'static,
    {
        Self::Work(Box::new(|updates| Box::pin(work(updates))))
    }

    pub fn text(text: impl Into<String>) -> Self {
        Self::Message(Message::new(MessageRole::Agent, vec![Part::text(text)]))
    }
}

/// With which work tells how it goes on.
#[derive(Clone)]
pub struct TaskUpdates {
    id: String,
    change: Arc<dyn Fn(TaskChange) -> BoxFuture<'static, bool> + Send + Sync>,
    /// Whether nothing is left to do for the task here.
    ended: Arc<AtomicBool>,
}

impl TaskUpdates {
    /// The id of the A2A task.
    pub fn task_id(&self) -> &str {
        &self.id
    }

    /// Tells in a sentence what happens. Returns false if nobody wants the work any more.
    pub async fn progress(&self, text: impl Into<String> + Send) -> bool {
        self.status(A2aTaskState::Working, Some(text.into())).await
    }

    pub async fn artifact(&self, artifact: Artifact) -> bool {
        self.make(TaskChange::Artifact(artifact)).await
    }

    /// Completes the task with its last, or only, artifact.
    pub async fn complete_with(&self, artifact: Artifact) -> bool {
        self.make(TaskChange::Complete(artifact)).await
    }

    pub async fn complete(&self) -> bool {
        self.status(A2aTaskState::Completed, None).await
    }

    pub async fn fail(&self, why: impl Into<String> + Send) -> bool {
        self.status(A2aTaskState::Failed, Some(why.into())).await
    }

    pub async fn reject(&self, why: impl Into<String> + Send) -> bool {
        self.status(A2aTaskState::Rejected, Some(why.into())).await
    }

    /// Leaves the task open when the work returns, because somebody else goes on with it through the store.
    pub fn hand_over(&self) {
        self.ended.store(true, Ordering::Relaxed);
    }

    async fn status(&self, state: A2aTaskState, text: Option<String>) -> bool {
        let message = text.map(|text| Message::new(MessageRole::Agent, vec![Part::text(text)]));
        self.make(TaskChange::Status { state, message }).await
    }

    async fn make(&self, change: TaskChange) -> bool {
        let is_last = match &change {
            TaskChange::Status { state, .. } => state.is_terminal(),
            TaskChange::Artifact(_) => false,
            TaskChange::Complete(_) => true,
        };
        let is_made = (self.change)(change).await;
        if is_last && is_made {
            self.ended.store(true, Ordering::Relaxed);
        }
        is_made
    }
}

/// The answer to a request: one JSON document, or a stream of them as server-sent events.
pub enum RpcAnswer {
    Document(String),
    Events(Pin<Box<dyn Stream<Item = String> + Send>>),
}

/// An agent that can be reached, and its tasks.
pub struct A2aServer<A, S> {
    agent: Arc<A>,
    store: Arc<S>,
}

impl<A, S> Clone for A2aServer<A, S> {
    fn clone(&self) -> Self {
        Self { agent: Arc::clone(&self.agent), store: Arc::clone(&self.store) }
    }
}

/// The task that comes of a message, or the message that answers it.
enum MessageOutcome {
    Message(Message),
    Task(StoredTask),
}

impl<A, S> A2aServer<A, S>
where
    A: Agent,
    S: TaskStore<Owner = A::Owner>,
{
    pub fn new(agent: A, store: S) -> Self {
        Self { agent: Arc::new(agent), store: Arc::new(store) }
    }

    /// Answers a request, as [`read_call`](crate::read_call) has read it.
    ///
    /// When this future or the stream is dropped, only the waiting ends.
    pub async fn answer(&self, call: Result<RpcCall, Box<RefusedCall>>, client: A::Client) -> RpcAnswer {
        let RpcCall { id, version, request } = match call {
            Ok(call) => call,
            Err(refused) => return RpcAnswer::Document(refused.response()),
        };
        let result = match request {
            A2aRequest::StreamMessage(params) => {
                let start = self.start(*params, &client, version).await;
                return self.stream(id, version, client, start);
            }
            A2aRequest::SubscribeToTask { id: task } => {
                let start = self.subscribe(&task, &client).await;
                return self.stream(id, version, client, start.map(MessageOutcome::Task));
            }
            A2aRequest::SendMessage(params) => self.send(*params, &client, version).await,
            A2aRequest::GetTask { id, history_length } => {
                let task = self.load(&id, &client).await.map(|stored| stored.task);
                task.map(|task| write_task(&with_history(task, history_length), version))
            }
            A2aRequest::CancelTask { id } => {
                self.cancel(&id, &client).await.map(|task| write_task(&task, version))
            }
            A2aRequest::ListTasks(query) => self.list(&query, &client).await,
        };
        RpcAnswer::Document(match result {
            Ok(result) => id.result(&result),
            Err(error) => id.error(&error, version),
        })
    }

    async fn send(
        &self,
        params: SendMessageParams,
        client: &A::Client,
        version: ProtocolVersion,
    ) -> Result<Json, RpcError> {
        let (waits, history_length) = (params.waits, params.history_length);
        let event = match self.start(params, client, version).await? {
            MessageOutcome::Message(message) => StreamEvent::Message(message),
            MessageOutcome::Task(mut stored) => {
                while waits && !stored.task.status.state.is_stopped() {
                    self.store.wait_for_change(&stored.task.id, stored.revision).await;
                    stored = self.load(&stored.task.id, client).await?;
                }
                StreamEvent::Task(with_history(stored.task, history_length))
            }
        };
        Ok(write_event(&event, version))
    }

    /// Gives a message to the agent, and starts the work that comes of it.
    async fn start(
        &self,
        params: SendMessageParams,
        client: &A::Client,
        version: ProtocolVersion,
    ) -> Result<MessageOutcome, RpcError> {
        if let Some(id) = &params.message.task_id {
            let known = self.load(id, client).await?.task;
            return Err(takes_no_message(&known, version));
        }
        let message = params.message.clone();
        let work = match self.agent.receive(params, client).await? {
            AgentReply::Message(answer) => {
                let context_id = answer.context_id.clone().or(message.context_id);
                return Ok(MessageOutcome::Message(Message { context_id, ..answer }));
            }
            AgentReply::Work(work) => work,
        };
        // In a task of its own: a client who leaves must not leave an A2A task behind that nobody works on.
        let (server, client) = (self.clone(), client.clone());
        let started = tokio::spawn(async move {
            let task = A2aTask::submitted(message, OffsetDateTime::now_utc());
            let stored = server.store.create(&task, A::owner(&client)).await.map_err(internal)?;
            let updates = server.updates(&task.id);
            tokio::spawn(server.run(work, updates));
            Ok(stored)
        });
        started.await.unwrap_or_else(|_| Err(RpcError::internal())).map(MessageOutcome::Task)
    }

    /// Does the work, and ends the A2A task if the work has left it open, also by a panic.
    async fn run(
        self,
        work: Box<dyn FnOnce(TaskUpdates) -> BoxFuture<'static, ()> + Send>,
        updates: TaskUpdates,
    ) {
        let _ = tokio::spawn(work(updates.clone())).await;
        if !updates.ended.load(Ordering::Relaxed) {
            updates.fail("The agent stopped without an answer.").await;
        }
    }

    fn updates(&self, id: &str) -> TaskUpdates {
        let (store, task) = (Arc::clone(&self.store), id.to_owned());
        let change = move |change| -> BoxFuture<'static, bool> {
            let (store, task) = (Arc::clone(&store), task.clone());
            Box::pin(async move { matches!(store.change(&task, change).await, Ok(Some(_))) })
        };
        TaskUpdates { id: id.to_owned(), change: Arc::new(change), ended: Arc::default() }
    }

    async fn load(&self, id: &str, client: &A::Client) -> Result<StoredTask, RpcError> {
        let stored = self.store.load(id, A::owner(client)).await.map_err(internal)?;
        stored.ok_or_else(|| RpcError::new(RpcErrorCode::TaskNotFound, "There is no such task."))
    }

    async fn subscribe(&self, id: &str, client: &A::Client) -> Result<StoredTask, RpcError> {
        let stored = self.load(id, client).await?;
        if stored.task.status.state.is_terminal() {
            let message = "The task has ended; there is nothing more to stream.";
            return Err(RpcError::new(RpcErrorCode::UnsupportedOperation, message));
        }
        Ok(stored)
    }

    async fn cancel(&self, id: &str, client: &A::Client) -> Result<A2aTask, RpcError> {
        let before = self.load(id, client).await?;
        let change = TaskChange::Status { state: A2aTaskState::Canceled, message: None };
        match self.store.change(id, change).await.map_err(internal)? {
            Some(stored) => {
                self.agent.cancelled(&before.task).await;
                Ok(stored.task)
            }
            None => {
                let message = "The task has ended, so it cannot be cancelled.";
                Err(RpcError::new(RpcErrorCode::TaskNotCancelable, message))
            }
        }
    }

    async fn list(&self, query: &ListTasksQuery, client: &A::Client) -> Result<Json, RpcError> {
        let TaskPage { tasks, next_token, total } =
            self.store.list(query, A::owner(client)).await.map_err(internal)?;
        let tasks = tasks.into_iter().map(|mut task| {
            if !query.with_artifacts {
                task.artifacts.clear();
            }
            write_task(&with_history(task, Some(query.history_length.unwrap_or(0))), ProtocolVersion::V1_0).0
        });
        Ok(json(&WireTaskPage {
            tasks: tasks.collect(),
            next_page_token: next_token.unwrap_or_default(),
            page_size: query.page_size,
            total_size: total,
        }))
    }

    /// A stream that begins with what there is and ends when the task has stopped. A refusal is a stream of one event,
    /// since clients of 0.3 read nothing else where they have asked for a stream.
    fn stream(
        &self,
        id: RpcId,
        version: ProtocolVersion,
        client: A::Client,
        start: Result<MessageOutcome, RpcError>,
    ) -> RpcAnswer {
        let stored = match start {
            Err(error) => return one_event(id.error(&error, version)),
            Ok(MessageOutcome::Message(message)) => {
                return one_event(id.result(&write_event(&StreamEvent::Message(message), version)));
            }
            Ok(MessageOutcome::Task(stored)) => stored,
        };
        let first = StreamEvent::Task(stored.task.clone());
        let watch = Watch {
            server: self.clone(),
            client,
            seen: stored,
            queue: VecDeque::from([Ok(first)]),
            ended: false,
        };
        let events = stream::unfold(watch, async |mut watch| {
            let event = watch.next().await?;
            Some((event, watch))
        });
        RpcAnswer::Events(Box::pin(events.map(move |event| match event {
            Ok(event) => id.result(&write_event(&event, version)),
            Err(error) => id.error(&error, version),
        })))
    }
}

/// Somebody who watches an A2A task.
struct Watch<A: Agent, S> {
    server: A2aServer<A, S>,
    client: A::Client,
    seen: StoredTask,
    queue: VecDeque<Result<StreamEvent, RpcError>>,
    ended: bool,
}

impl<A, S> Watch<A, S>
where
    A: Agent,
    S: TaskStore<Owner = A::Owner>,
{
    async fn next(&mut self) -> Option<Result<StreamEvent, RpcError>> {
        while self.queue.is_empty() && !self.ended {
            let StoredTask { task, revision } = &self.seen;
            self.server.store.wait_for_change(&task.id, *revision).await;
            match self.server.load(&task.id, &self.client).await {
                Ok(now) => {
                    self.queue.extend(events_between(task, &now.task).into_iter().map(Ok));
                    self.seen = now;
                }
                Err(error) => self.queue.push_back(Err(error)),
            }
        }
        let next = self.queue.pop_front()?;
        self.ended |= next.as_ref().map_or(true, StreamEvent::is_last);
        Some(next)
    }
}

fn one_event(event: String) -> RpcAnswer {
    RpcAnswer::Events(Box::pin(stream::iter([event])))
}

/// An A2A task takes one message: what came of it is the answer. Another message begins another task.
fn takes_no_message(task: &A2aTask, version: ProtocolVersion) -> RpcError {
    let code = match version {
        ProtocolVersion::V0_3 => RpcErrorCode::InvalidParams,
        ProtocolVersion::V1_0 => RpcErrorCode::UnsupportedOperation,
    };
    let state = if task.status.state.is_terminal() { "has ended" } else { "is under way" };
    RpcError::new(code, format!("The task {state} and takes no more messages. Send one without \"taskId\"."))
}

fn with_history(mut task: A2aTask, length: Option<usize>) -> A2aTask {
    if let Some(length) = length {
        let beyond = task.history.len().saturating_sub(length);
        task.history.drain(..beyond);
    }
    task
}

fn internal(_: TaskStoreError) -> RpcError {
    RpcError::internal()
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct WireTaskPage {
    tasks: Vec<Box<RawValue>>,
    next_page_token: String,
    page_size: usize,
    total_size: usize,
}
