//! The attempt loop: send a request, check the answer, and send another request that says what was wrong.
//!
//! A [`Task`] is what is requested; the loop knows nothing else about it. Every attempt is reported to an
//! [`AttemptListener`] as it ends, and the next one starts only after the listener has stored it, so nothing that was
//! paid for depends on what comes after. Dropping the future ends everything, the request at the provider included.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use serde_json::{Value, json};
use tokio::time::{Instant, sleep};

use super::cost::least_usage;
use super::{
    ChatPrompt, CompletionRequest, CompletionResponse, Delta, GenerateError, GenerateErrorKind, ModelOptions,
    ModelProvider, Result, Usage,
};
use crate::arena::jobs::attempts::{Attempt, Billing, Outcome, PastAttempts};
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

    /// What is asked for, as data, for agents.
    fn data(&self) -> Option<Arc<Value>> {
        None
    }

    /// The prompt of the first attempt. What the model is to see in a later one, the later prompt must show again: each
    /// request stands alone.
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

/// An answer that is not what was requested.
#[derive(Debug)]
pub struct RejectedAnswer {
    pub code: &'static str,
    pub message: String,
    /// Asks the model to correct it, with the pictures that it needs for that.
    pub repair: ChatPrompt,
}

pub struct AttemptLoop<T> {
    pub task: Arc<T>,
    pub provider: Arc<dyn ModelProvider>,
    /// The provider's id of the model.
    pub model: String,
    /// Whether the model sees pictures. Prompts that have some are not sent to one that does not.
    pub vision: bool,
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

    /// Whether another attempt may follow one that has failed like this.
    fn goes_on_after(&self, _kind: GenerateErrorKind) -> bool {
        true
    }

    /// `next` is the number of the attempt that follows, if one does.
    async fn on_attempt_end(&mut self, attempt: &Attempt, next: Option<u32>) -> anyhow::Result<()>;
}

/// Why an attempt failed, and the prompt of the next one. None if another prompt would not help; an answer that was
/// interrupted is requested once more as it was.
struct FailedAttempt {
    error: GenerateError,
    next: Option<ChatPrompt>,
}

impl<T: Task> AttemptLoop<T> {
    /// Makes attempts until an answer is accepted, all are used up, or another one would not help.
    ///
    /// An answer that breaks off because of the provider uses up none of the attempts. The loop waits as a request to a
    /// busy provider does, and gives up after as many failures as one.
    pub async fn run(&self, listener: &mut dyn AttemptListener) -> Result<Generated<T::Output>> {
        let (mut count, mut interruptions) = (self.past.count, self.past.interruptions);
        let mut prompt = match self.first_step().await? {
            ControlFlow::Break(generated) => return Ok(generated),
            ControlFlow::Continue(prompt) => prompt,
        };
        let mut resumable = self.past.resumable.clone();
        let mut context = None;
        loop {
            listener.on_attempt_start().await.map_err(GenerateError::cancelled)?;
            let (attempt, result) = self.attempt(&prompt, &mut resumable, &mut context, listener).await;
            if attempt.outcome == Outcome::Interrupted {
                interruptions += 1;
            } else {
                count += 1;
            }
            let failed = match result {
                Ok(output) => {
                    listener.on_attempt_end(&attempt, None).await.map_err(GenerateError::cancelled)?;
                    return Ok(Generated { output, attempts: count, generation_time: attempt.answer_time });
                }
                Err(failed) => failed,
            };
            let next = match failed.next {
                _ if !listener.goes_on_after(failed.error.kind) => None,
                None if failed.error.is_interruption() => {
                    let wait = self.provider.retry_wait(&failed.error, interruptions);
                    wait.map(|wait| (prompt, Some(wait)))
                }
                next => next.filter(|_| count < self.max_attempts).map(|next| (next, None)),
            };
            let number = next.is_some().then_some(count + 1);
            listener.on_attempt_end(&attempt, number).await.map_err(GenerateError::cancelled)?;
            let (next, wait) = next.ok_or(failed.error)?;
            // What goes on in the background is only read again if it is the answer to the same request.
            resumable = resumable.filter(|_| wait.is_some() && self.options.background);
            if let Some(wait) = wait {
                listener.on_delta(Delta::Waiting {
                    attempt: interruptions,
                    reason: attempt.message.unwrap_or_default(),
                    seconds: wait.as_secs_f64(),
                });
                sleep(wait).await;
            }
            prompt = next;
        }
    }

    /// The request with which [`Self::run`] would begin, for somebody else to send. None if the answer of an earlier
    /// worker is accepted after all.
    ///
    /// # Errors
    /// If nothing is to be requested any more.
    pub async fn next_request(&self) -> Result<Option<CompletionRequest>> {
        Ok(match self.first_step().await? {
            ControlFlow::Continue(prompt) => Some(self.request(&prompt)),
            ControlFlow::Break(_) => None,
        })
    }

    /// Reads what has come of a request of [`Self::next_request`]. None if another attempt is to be made. Nobody knows how
    /// long the answer took.
    pub async fn read_response(
        &self,
        result: Result<CompletionResponse>,
    ) -> (Attempt, Result<Option<Generated<T::Output>>>) {
        let (attempt, result) = self.judge(result, Duration::ZERO, |usage| *usage).await;
        let counts = attempt.outcome != Outcome::Interrupted;
        let count = self.past.count + u32::from(counts);
        let generated = match result {
            Ok(output) => Ok(Some(Generated { output, attempts: count, generation_time: Duration::ZERO })),
            Err(FailedAttempt { next: Some(_), .. }) if count < self.max_attempts => Ok(None),
            Err(failed) => Err(failed.error),
        };
        (attempt, generated)
    }

    /// Where to begin: with a prompt, unless the answer of an earlier worker is accepted.
    async fn first_step(&self) -> Result<ControlFlow<Generated<T::Output>, ChatPrompt>> {
        let PastAttempts { count, .. } = self.past;
        let prompt = match &self.past.answer {
            Some((answer, generation_time)) => match self.read(answer).await {
                Ok(output) => {
                    let generation_time = *generation_time;
                    return Ok(ControlFlow::Break(Generated { output, attempts: count, generation_time }));
                }
                Err(FailedAttempt { next: Some(repair), .. }) if count < self.max_attempts => repair,
                Err(failed) => return Err(failed.error),
            },
            None if self.past.code.as_deref().is_some_and(is_too_long) => self.task.shorter_prompt(),
            None => self.task.first_prompt(),
        };
        Ok(ControlFlow::Continue(prompt))
    }

    fn request(&self, prompt: &ChatPrompt) -> CompletionRequest {
        CompletionRequest {
            model: self.model.clone(),
            vision: self.vision,
            prompt: prompt.clone(),
            schema: self.task.schema(),
            options: self.options,
            data: self.task.data(),
            context: None,
        }
    }

    async fn attempt(
        &self,
        prompt: &ChatPrompt,
        resumable: &mut Option<String>,
        context: &mut Option<String>,
        listener: &mut dyn AttemptListener,
    ) -> (Attempt, Result<T::Output, FailedAttempt>) {
        let request = CompletionRequest { context: context.clone(), ..self.request(prompt) };
        let resumed = resumable.clone();
        let mut sent_at = Instant::now();
        let mut streamed_chars = 0;
        let mut on_delta = |delta: Delta<'_>| {
            match &delta {
                Delta::Sent => sent_at = Instant::now(),
                Delta::Text(text) => streamed_chars += text.chars().count(),
                Delta::Thinking { chars } => streamed_chars += chars,
                Delta::Remote { id } => *resumable = Some((*id).to_owned()),
                Delta::Progress(_) | Delta::Usage(_) | Delta::Waiting { .. } => {}
            }
            listener.on_delta(delta);
        };
        let result = match resumed {
            Some(id) => {
                on_delta(Delta::Remote { id: &id });
                match self.provider.resume(&id, &request, &mut on_delta).await {
                    // It is not kept any longer.
                    Err(error) if error.is_gone() || error.kind == GenerateErrorKind::BadRequest => {
                        self.provider.ask(&request, &mut on_delta).await
                    }
                    result => result,
                }
            }
            None => self.provider.ask(&request, &mut on_delta).await,
        };
        let response = match &result {
            Ok(response) => response,
            Err(error) => &error.partial,
        };
        if response.context.is_some() {
            context.clone_from(&response.context);
        }
        let request_chars = prompt.system.len() + prompt.user.len();
        self.judge(result, sent_at.elapsed(), |usage| least_usage(usage, request_chars, streamed_chars)).await
    }

    /// Reads what has come of a request. `at_least` tells what was used at least if the end of the answer was lost.
    async fn judge(
        &self,
        result: Result<CompletionResponse>,
        answer_time: Duration,
        at_least: impl FnOnce(&Usage) -> Usage,
    ) -> (Attempt, Result<T::Output, FailedAttempt>) {
        let (response, error) = match result {
            Ok(response) => (response, None),
            Err(mut error) => (std::mem::take(&mut *error.partial), Some(error)),
        };
        let answer: Arc<str> = response.text.into();
        let billing = match &error {
            Some(error) if error.cost_nothing() => Billing::Nothing,
            Some(error) if error.began && error.lost_the_end() => Billing::AtLeast(at_least(&response.usage)),
            _ => Billing::Reported,
        };
        let result = match error {
            None => self.read(&answer).await,
            Some(error) => self.read_interrupted(&answer, error).await,
        };
        let error = result.as_ref().err().map(|failed| &failed.error);
        if let Some(GenerateError { kind: GenerateErrorKind::Rejected(_), message, .. }) = error {
            self.provider.log_rejected(&answer, message);
        }
        let attempt = Attempt {
            outcome: error.map_or(Outcome::Accepted, outcome),
            code: error.map(|error| error.kind.code()),
            message: error.map(|error| error.message.clone()),
            answer,
            answer_time,
            usage: response.usage,
            billing,
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
            _ if error.is_final() || error.is_interruption() => None,
            // The client has tried several times already.
            kind if kind.is_unavailable() => None,
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

fn outcome(error: &GenerateError) -> Outcome {
    match error.kind {
        GenerateErrorKind::Rejected(_) => Outcome::Refused,
        GenerateErrorKind::Unread => Outcome::Unread,
        _ if error.is_interruption() => Outcome::Interrupted,
        _ => Outcome::Failed,
    }
}

#[cfg(test)]
mod tests;
