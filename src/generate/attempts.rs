//! The attempt loop: send a request, check the answer, and send another request that says what was wrong.
//!
//! A [`Task`] is what is requested; the loop knows nothing else about it. Every attempt is reported to an
//! [`AttemptListener`] as it ends, and the next one starts only after the listener has stored it, so nothing that was
//! paid for depends on what comes after. Dropping the future ends everything, the request at the provider included.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use serde_json::{Value, json};
use tokio::time::Instant;

use super::{
    ChatMessage, ChatRole, CompletionRequest, Delta, GenerateError, GenerateErrorKind, ModelOptions,
    ModelProvider, Result,
};
use crate::arena::jobs::attempts::{Attempt, Outcome, PastAttempts};
use crate::work::{WorkClient, WorkError, WorkPool};

/// How many attempts there are unless the configuration says otherwise.
pub const DEFAULT_ATTEMPTS: u32 = 3;

/// What a model is to do, and how its answer is read.
pub trait Task: Send + Sync + 'static {
    type Output: Send + 'static;

    /// The form of the answer, where the provider can hold a model to it.
    fn schema(&self) -> Option<Arc<Value>> {
        None
    }

    fn first_prompt(&self) -> ChatPrompt;

    /// The prompt after an answer that was cut off or too long.
    fn shorter_prompt(&self) -> ChatPrompt;

    /// Reads a whole answer. This may be heavy work; the loop runs it off the async threads.
    fn read(&self, answer: &str) -> Result<Self::Output, RejectedAnswer>;

    /// Reads an answer whose end was lost, if all that matters must have come. Heavy work like [`Self::read`].
    fn read_interrupted(&self, _answer: &str) -> Option<Self::Output> {
        None
    }
}

/// The texts of one request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChatPrompt {
    pub system: String,
    pub user: String,
}

/// An answer that is not what was requested.
#[derive(Debug)]
pub struct RejectedAnswer {
    pub code: &'static str,
    pub message: String,
    /// Asks the model to correct it.
    pub repair: ChatPrompt,
}

pub struct AttemptLoop<T> {
    pub task: Arc<T>,
    pub provider: Arc<dyn ModelProvider>,
    /// The provider's id of the model.
    pub model: String,
    pub options: ModelOptions,
    /// Including those of `past`.
    pub max_attempts: u32,
    /// The last answer of earlier workers is checked again before anything is sent.
    pub past: PastAttempts,
    /// Checks the answers, on behalf of `work_client`.
    pub work: WorkPool,
    pub work_client: WorkClient,
}

/// What the loop was for, and what it took.
#[derive(Debug)]
pub struct Generated<T> {
    pub output: T,
    pub attempts: u32,
    /// From sending the request that brought the accepted answer to that answer's end. Earlier attempts, waiting for a
    /// busy provider and our own checks are not part of it.
    pub generation_time: Duration,
}

/// Follows an attempt loop. An error from any of its methods ends the loop.
#[async_trait]
pub trait AttemptListener: Send {
    /// An attempt is about to begin.
    async fn on_attempt_start(&mut self) -> anyhow::Result<()>;

    /// Called for every piece that streams in.
    fn on_delta(&mut self, delta: Delta<'_>);

    /// `next` is the number of the attempt that follows, if one does.
    async fn on_attempt_end(&mut self, attempt: &Attempt, next: Option<u32>) -> anyhow::Result<()>;
}

/// Why an attempt failed, and the prompt of another one if that makes sense.
struct FailedAttempt {
    error: GenerateError,
    next: Option<ChatPrompt>,
}

impl<T: Task> AttemptLoop<T> {
    /// Makes attempts until an answer is accepted, all are used up, or another one would not help.
    pub async fn run(&self, listener: &mut dyn AttemptListener) -> Result<Generated<T::Output>> {
        let mut number = self.past.count;
        let mut prompt = match &self.past.answer {
            Some((answer, generation_time)) => match self.read(answer).await {
                Ok(output) => {
                    return Ok(Generated { output, attempts: number, generation_time: *generation_time });
                }
                Err(failed) => failed.next.filter(|_| number < self.max_attempts).ok_or(failed.error)?,
            },
            None if self.past.code.as_deref().is_some_and(is_too_long) => self.task.shorter_prompt(),
            None => self.task.first_prompt(),
        };
        loop {
            number += 1;
            listener.on_attempt_start().await.map_err(GenerateError::cancelled)?;
            let (attempt, mut result) = self.attempt(prompt, listener).await;
            if let Err(failed) = &mut result
                && number >= self.max_attempts
            {
                failed.next = None;
            }
            let next = matches!(&result, Err(FailedAttempt { next: Some(_), .. })).then_some(number + 1);
            listener.on_attempt_end(&attempt, next).await.map_err(GenerateError::cancelled)?;
            prompt = match result {
                Ok(output) => {
                    return Ok(Generated { output, attempts: number, generation_time: attempt.answer_time });
                }
                Err(FailedAttempt { error, next }) => next.ok_or(error)?,
            };
        }
    }

    async fn attempt(
        &self,
        prompt: ChatPrompt,
        listener: &mut dyn AttemptListener,
    ) -> (Attempt, Result<T::Output, FailedAttempt>) {
        let request = CompletionRequest {
            model: self.model.clone(),
            system: prompt.system,
            messages: vec![ChatMessage { role: ChatRole::User, text: prompt.user }],
            schema: self.task.schema(),
            options: self.options,
        };
        let mut sent_at = Instant::now();
        let mut on_delta = |delta: Delta<'_>| {
            if let Delta::Sent = delta {
                sent_at = Instant::now();
            }
            listener.on_delta(delta);
        };
        let result = self.provider.ask(&request, &mut on_delta).await;
        let answer_time = sent_at.elapsed();
        let (response, error) = match result {
            Ok(response) => (response, None),
            Err(mut error) => (std::mem::take(&mut *error.partial), Some(error)),
        };
        let answer: Arc<str> = response.text.into();
        let result = match error {
            None => self.read(&answer).await,
            Some(error) => self.read_interrupted(&answer, error).await,
        };
        let error = result.as_ref().err().map(|failed| &failed.error);
        if let Some(GenerateError { kind: GenerateErrorKind::Rejected(_), message, .. }) = error {
            self.provider.log_rejected(&answer, message);
        }
        let attempt = Attempt {
            outcome: error.map_or(Outcome::Accepted, |error| outcome(error.kind)),
            code: error.map(|error| error.kind.code()),
            message: error.map(|error| error.message.clone()),
            answer,
            answer_time,
            usage: response.usage,
            sent: response.sent,
            notes: json!(response.notes),
        };
        (attempt, result)
    }

    async fn read(&self, answer: &Arc<str>) -> Result<T::Output, FailedAttempt> {
        match self.off_thread(answer, T::read).await {
            Ok(Ok(output)) => Ok(output),
            Ok(Err(RejectedAnswer { code, message, repair })) => {
                let error = GenerateError::new(GenerateErrorKind::Rejected(code), message);
                Err(FailedAttempt { error, next: Some(repair) })
            }
            Err(error) => {
                let message = format!("the answer could not be checked: {:#}", anyhow::Error::from(error));
                let error = GenerateError::new(GenerateErrorKind::Unread, message);
                Err(FailedAttempt { error, next: None })
            }
        }
    }

    /// An answer whose end was lost is accepted if it turns out to be complete.
    async fn read_interrupted(
        &self,
        answer: &Arc<str>,
        error: GenerateError,
    ) -> Result<T::Output, FailedAttempt> {
        use GenerateErrorKind::*;
        if matches!(error.kind, Truncated | CutOff | TimedOut | Stalled | Overloaded)
            && let Ok(Some(output)) = self.off_thread(answer, T::read_interrupted).await
        {
            return Ok(output);
        }
        let next = match error.kind {
            _ if error.is_final() => None,
            // The client has tried several times already, unless an answer had begun.
            kind if kind.is_unavailable() && !error.began => None,
            kind if is_too_long(kind.code()) => Some(self.task.shorter_prompt()),
            _ => Some(self.task.first_prompt()),
        };
        Err(FailedAttempt { error, next })
    }

    async fn off_thread<R: Send + 'static>(
        &self,
        answer: &Arc<str>,
        read: fn(&T, &str) -> R,
    ) -> Result<R, WorkError> {
        let (task, answer) = (Arc::clone(&self.task), Arc::clone(answer));
        self.work.run(self.work_client, move || read(&task, &answer)).await
    }
}

/// Whether what failed with this code is requested again as something shorter.
fn is_too_long(code: &str) -> bool {
    [GenerateErrorKind::Truncated, GenerateErrorKind::TooLarge].iter().any(|kind| kind.code() == code)
}

fn outcome(kind: GenerateErrorKind) -> Outcome {
    match kind {
        GenerateErrorKind::Rejected(_) => Outcome::Refused,
        GenerateErrorKind::Unread => Outcome::Unread,
        _ => Outcome::Failed,
    }
}

#[cfg(test)]
mod tests;
