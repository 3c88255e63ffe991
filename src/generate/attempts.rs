//! The attempt loop: ask, look at what comes, and ask again with what was wrong.
//!
//! Every attempt is told to an [`AttemptListener`] as it ends, and the next one waits until the listener has put it
//! away: nothing that was paid for depends on what comes after. Dropping the future ends everything,
//! the request at the provider included.

mod stopwatch;

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use serde_json::Value;

use self::stopwatch::Stopwatch;
use super::prompting::{self, ChatPrompt, RejectedAnswer};
use super::{
    ChatMessage, ChatRole, CompletionRequest, CompletionResponse, Delta, GenerateError, GenerateErrorKind,
    GenerationOptions, ModelProvider, Note, Usage, schema,
};
use crate::arena::{Settings, catalog};
use voxel::{self, Rejection, ValidGrid, Verdict, Warning};

/// How often a model is asked, unless told otherwise.
pub const DEFAULT_ATTEMPTS: u32 = 3;

/// No answer's text may be longer, unless told otherwise.
pub const ANSWER_MAX_BYTES: usize = 64 << 20;

/// What is wanted, and of whom.
#[derive(Clone)]
pub struct BuildRequest {
    pub provider: Arc<dyn ModelProvider>,
    /// The provider's id of the model.
    pub model: String,
    pub options: GenerationOptions,
    pub max_output_tokens: Option<u32>,
    pub prompt: String,
    pub settings: Settings,
    /// The form of the answer, where the provider may hold the model to it.
    pub schema: Option<Arc<Value>>,
    pub attempts: u32,
    pub max_bytes: usize,
    pub prior: PriorAttempts,
}

/// Attempts at the same that somebody else has made. They count, and their last answer is looked at again
/// before anything new is asked.
#[derive(Clone, Debug, Default)]
pub struct PriorAttempts {
    pub attempts: u32,
    /// What was wrong with the last of them.
    pub code: Option<String>,
    /// What the last of them brought, and how long that took.
    pub answer: Option<(Arc<str>, Duration)>,
}

/// An attempt that has ended.
#[derive(Clone, Debug)]
pub struct Attempt {
    /// From 1.
    pub number: u32,
    /// The answer, or as much of it as came.
    pub text: Arc<str>,
    pub outcome: Outcome,
    pub usage: Usage,
    /// From the question to the end of the answer.
    pub duration: Duration,
    /// From sending the request that was answered to the end of the answer.
    pub answer_time: Duration,
    pub notes: Vec<Note>,
    /// Whether another one follows.
    pub again: bool,
}

#[derive(Clone, Debug)]
pub enum Outcome {
    Accepted,
    /// An answer, but no build.
    Refused(Rejection),
    /// No answer, or not a whole one.
    Failed {
        kind: GenerateErrorKind,
        message: String,
    },
    /// An answer that could not be looked at; it may be one.
    Unread {
        message: String,
    },
}

/// Follows an attempt loop.
pub trait AttemptListener: Send {
    /// A question is about to go out. An error ends the loop.
    fn on_attempt_start(&mut self, _attempt: u32) -> BoxFuture<'_, anyhow::Result<()>> {
        Box::pin(std::future::ready(Ok(())))
    }

    /// What streams in during an attempt. Told often.
    fn on_delta(&mut self, attempt: u32, delta: Delta<'_>);

    /// An attempt has ended. An error ends the loop, as when there is nobody left to work for.
    fn on_attempt_end<'a>(&'a mut self, attempt: &'a Attempt) -> BoxFuture<'a, anyhow::Result<()>>;
}

/// A build, and what it took.
#[derive(Debug)]
pub struct GeneratedBuild {
    pub build: ValidGrid,
    /// The JSON that it was read from.
    pub spec: String,
    pub warnings: Vec<Warning>,
    pub attempts: u32,
    /// Of all attempts.
    pub usage: Usage,
    /// What `generationTimeMs` says: from sending the request that brought the accepted answer to that
    /// answer's end. Earlier attempts, waiting for a busy provider and our own checks are not in it.
    pub generation_time: Duration,
}

#[derive(Debug)]
pub struct BuildFailure {
    pub reason: FailureReason,
    pub attempts: u32,
    pub usage: Usage,
}

#[derive(Debug, thiserror::Error)]
pub enum FailureReason {
    /// The last answer was no build.
    #[error("{0}")]
    Refused(Rejection),
    #[error("{message}")]
    Failed { kind: GenerateErrorKind, message: String },
    #[error("the answer could not be looked at: {0}")]
    Unread(anyhow::Error),
    /// The listener wanted no more.
    #[error("the attempt could not be put away: {0}")]
    ListenerFailed(anyhow::Error),
}

/// A look at an answer, to be run off the async threads.
pub type Check = Box<dyn FnOnce() -> Result<CheckedAnswer, RejectedAnswer> + Send>;

/// What an answer holds.
pub struct CheckedAnswer {
    pub build: ValidGrid,
    pub spec: String,
    pub warnings: Vec<Warning>,
}

/// Takes an answer as any import is taken. Heavy work.
pub fn check(text: &str, settings: &Settings, max_bytes: usize) -> Result<CheckedAnswer, RejectedAnswer> {
    match voxel::check(text.as_bytes(), settings.grid, settings.palette, max_bytes) {
        Verdict::Accepted { build, spec, warnings } => {
            // An answer can begin as a file of another tool does.
            let spec = spec.map_or_else(|| build.write_spec(max_bytes), Ok);
            let spec =
                spec.map_err(|rejection| RejectedAnswer { rejection, stats: None, warnings: Vec::new() })?;
            Ok(CheckedAnswer { build, spec, warnings })
        }
        Verdict::Rejected { stats, warnings, rejection, .. } => {
            Err(RejectedAnswer { rejection, stats: Some(stats), warnings })
        }
        Verdict::Unreadable(rejection) => {
            Err(RejectedAnswer { rejection, stats: None, warnings: Vec::new() })
        }
    }
}

impl BuildRequest {
    /// With the usual number of attempts and bounds, and answers held to the form of a spec.
    pub fn new(
        provider: Arc<dyn ModelProvider>,
        model: impl Into<String>,
        prompt: impl Into<String>,
        settings: Settings,
    ) -> Self {
        Self {
            provider,
            model: model.into(),
            options: GenerationOptions::default(),
            max_output_tokens: None,
            prompt: prompt.into(),
            schema: Some(Arc::new(schema::with_plan(voxel::schema(settings.grid, settings.palette)))),
            settings,
            attempts: DEFAULT_ATTEMPTS,
            max_bytes: ANSWER_MAX_BYTES,
            prior: PriorAttempts::default(),
        }
    }

    /// What the catalog says of how this model is asked.
    pub fn with_options(mut self, options: catalog::ModelOptions) -> Self {
        let catalog::ModelOptions { effort, temperature, max_output_tokens } = options;
        self.options = GenerationOptions { effort, temperature };
        self.max_output_tokens = max_output_tokens;
        self
    }

    /// Asks until there is a build, the attempts are used up, or asking again would not help. `off_thread`
    /// runs heavy work.
    pub async fn run<R, F>(
        &self,
        off_thread: R,
        listener: &mut dyn AttemptListener,
    ) -> Result<GeneratedBuild, BuildFailure>
    where
        R: Fn(Check) -> F + Send + Sync,
        F: Future<Output = anyhow::Result<Result<CheckedAnswer, RejectedAnswer>>> + Send,
    {
        let mut spent = Usage::default();
        let mut number = self.prior.attempts;
        let mut prompt = match self.resume(&off_thread).await? {
            Resumed::Done(generated) => return Ok(generated),
            Resumed::Next(prompt) => prompt,
        };
        loop {
            number += 1;
            let listener_failed = |error| BuildFailure {
                reason: FailureReason::ListenerFailed(error),
                attempts: number - 1,
                usage: spent,
            };
            listener.on_attempt_start(number).await.map_err(listener_failed)?;
            let answer = self.ask(prompt, number, listener).await;
            spent = spent.plus(&answer.usage);
            let result = self.judge(answer.result, &answer.text, &off_thread).await;
            if let Err(AttemptError::Rejected(rejected)) = &result {
                self.provider.log_rejected(&answer.text, &rejected.rejection.message);
            }
            let next =
                result.as_ref().err().and_then(|reason| self.next_prompt(number, &answer.text, reason));
            let attempt = Attempt {
                number,
                text: answer.text,
                outcome: outcome(&result),
                usage: answer.usage,
                duration: answer.times.total,
                answer_time: answer.times.last_request,
                notes: answer.notes,
                again: next.is_some(),
            };
            let failure = |reason| BuildFailure { reason, attempts: number, usage: spent };
            listener
                .on_attempt_end(&attempt)
                .await
                .map_err(|error| failure(FailureReason::ListenerFailed(error)))?;
            match (result, next) {
                (Ok(CheckedAnswer { build, spec, warnings }), _) => {
                    let generation_time = answer.times.last_request;
                    return Ok(GeneratedBuild {
                        build,
                        spec,
                        warnings,
                        attempts: number,
                        usage: spent,
                        generation_time,
                    });
                }
                (Err(_), Some(next)) => prompt = next,
                (Err(error), None) => return Err(failure(error.into())),
            }
        }
    }

    /// Goes on where somebody else has stopped.
    async fn resume<R, F>(&self, off_thread: &R) -> Result<Resumed, BuildFailure>
    where
        R: Fn(Check) -> F,
        F: Future<Output = anyhow::Result<Result<CheckedAnswer, RejectedAnswer>>>,
    {
        let PriorAttempts { attempts, code, answer } = &self.prior;
        let Some((text, generation_time)) = answer else {
            let was_too_long = TOO_LONG.iter().any(|kind| code.as_deref() == Some(kind.code()));
            let write_prompt = if was_too_long { prompting::shorter_prompt } else { prompting::first_prompt };
            return Ok(Resumed::Next(write_prompt(&self.prompt, &self.settings)));
        };
        let usage = Usage::default();
        match self.check_answer(text, off_thread).await {
            Ok(CheckedAnswer { build, spec, warnings }) => Ok(Resumed::Done(GeneratedBuild {
                build,
                spec,
                warnings,
                attempts: *attempts,
                usage,
                generation_time: *generation_time,
            })),
            Err(error) => match self.next_prompt(*attempts, text, &error) {
                Some(prompt) => Ok(Resumed::Next(prompt)),
                None => Err(BuildFailure { reason: error.into(), attempts: *attempts, usage }),
            },
        }
    }

    async fn ask(
        &self,
        ChatPrompt { system, user }: ChatPrompt,
        number: u32,
        listener: &mut dyn AttemptListener,
    ) -> AttemptAnswer {
        let request = CompletionRequest {
            model: self.model.clone(),
            system,
            messages: vec![ChatMessage { role: ChatRole::User, text: user }],
            schema: self.schema.clone(),
            max_output_tokens: self.max_output_tokens,
            options: self.options,
        };
        let mut stopwatch = Stopwatch::start();
        let mut on_delta = |delta: Delta<'_>| {
            if let Delta::Sent = delta {
                stopwatch.sent();
            }
            listener.on_delta(number, delta);
        };
        let answer = self.provider.ask(&request, &mut on_delta).await;
        let times = stopwatch.stop();
        match answer {
            Ok(CompletionResponse { text, usage, notes }) => {
                AttemptAnswer { text: text.into(), result: Ok(()), usage, notes, times }
            }
            Err(GenerateError { kind, message, is_final, began, partial, usage, notes }) => {
                let error = AnswerError { kind, message, is_final, began };
                AttemptAnswer { text: partial.into(), result: Err(error), usage, notes, times }
            }
        }
    }

    async fn judge<R, F>(
        &self,
        answered: Result<(), AnswerError>,
        text: &Arc<str>,
        off_thread: &R,
    ) -> Result<CheckedAnswer, AttemptError>
    where
        R: Fn(Check) -> F,
        F: Future<Output = anyhow::Result<Result<CheckedAnswer, RejectedAnswer>>>,
    {
        let Err(error) = answered else { return self.check_answer(text, off_thread).await };
        if may_be_complete(error.kind)
            && let Ok(build) = self.check_answer(text, off_thread).await
            && ends_with(text, &build.spec)
        {
            return Ok(build);
        }
        Err(AttemptError::Failed(error))
    }

    async fn check_answer<R, F>(&self, text: &Arc<str>, off_thread: &R) -> Result<CheckedAnswer, AttemptError>
    where
        R: Fn(Check) -> F,
        F: Future<Output = anyhow::Result<Result<CheckedAnswer, RejectedAnswer>>>,
    {
        let (text, settings, max_bytes) = (Arc::clone(text), self.settings.clone(), self.max_bytes);
        let checked = off_thread(Box::new(move || check(&text, &settings, max_bytes))).await;
        checked.map_err(AttemptError::Unread)?.map_err(AttemptError::Rejected)
    }

    /// What to ask next; none where there is no sense in it, or no attempt left.
    fn next_prompt(&self, number: u32, text: &str, error: &AttemptError) -> Option<ChatPrompt> {
        if number >= self.attempts {
            return None;
        }
        match error {
            AttemptError::Rejected(rejected) => {
                Some(prompting::repair_prompt(&self.prompt, &self.settings, text, rejected))
            }
            AttemptError::Unread(_) => None,
            AttemptError::Failed(AnswerError { is_final: true, .. }) => None,
            AttemptError::Failed(AnswerError { kind, began, .. }) => match retry_strategy(*kind, *began) {
                RetryStrategy::GiveUp => None,
                RetryStrategy::SamePrompt => Some(prompting::first_prompt(&self.prompt, &self.settings)),
                RetryStrategy::ShorterPrompt => Some(prompting::shorter_prompt(&self.prompt, &self.settings)),
            },
        }
    }
}

enum Resumed {
    Done(GeneratedBuild),
    Next(ChatPrompt),
}

/// What came of a question.
struct AttemptAnswer {
    text: Arc<str>,
    result: Result<(), AnswerError>,
    usage: Usage,
    notes: Vec<Note>,
    times: stopwatch::AttemptTimes,
}

/// Why there is no answer, or not a whole one.
struct AnswerError {
    kind: GenerateErrorKind,
    message: String,
    is_final: bool,
    began: bool,
}

/// Why an attempt brought no build.
enum AttemptError {
    Rejected(RejectedAnswer),
    Failed(AnswerError),
    Unread(anyhow::Error),
}

enum RetryStrategy {
    GiveUp,
    SamePrompt,
    ShorterPrompt,
}

/// What asks for a shorter answer.
const TOO_LONG: [GenerateErrorKind; 2] = [GenerateErrorKind::Truncated, GenerateErrorKind::TooLarge];

/// Whether all that was to be said may have come before the end was lost.
fn may_be_complete(kind: GenerateErrorKind) -> bool {
    use GenerateErrorKind::*;
    matches!(kind, Truncated | CutOff | TimedOut | Stalled | Overloaded)
}

/// Whether a text ends with this spec, and nothing else was begun after it.
fn ends_with(text: &str, spec: &str) -> bool {
    let end = text.rfind('}').map_or(0, |at| at + 1);
    text[..end].ends_with(spec.trim_end()) && !text[end..].contains('{')
}

/// A provider has tried more than once itself before it says that it is busy or out of reach, unless an answer `began`:
/// that is not for now. What a model refuses, or nobody pays for, stays so.
fn retry_strategy(kind: GenerateErrorKind, began: bool) -> RetryStrategy {
    use GenerateErrorKind::*;
    match kind {
        Truncated | TooLarge => RetryStrategy::ShorterPrompt,
        Empty | Stalled | TimedOut | CutOff | BadAnswer => RetryStrategy::SamePrompt,
        BadKey | NoCredit | NoSuchModel | Refused | Filtered | BadRequest | Cancelled => {
            RetryStrategy::GiveUp
        }
        RateLimited | Overloaded | Unreachable if began => RetryStrategy::SamePrompt,
        RateLimited | Overloaded | Unreachable => RetryStrategy::GiveUp,
    }
}

fn outcome(result: &Result<CheckedAnswer, AttemptError>) -> Outcome {
    match result {
        Ok(_) => Outcome::Accepted,
        Err(AttemptError::Rejected(rejected)) => Outcome::Refused(rejected.rejection.clone()),
        Err(AttemptError::Failed(error)) => {
            Outcome::Failed { kind: error.kind, message: error.message.clone() }
        }
        Err(AttemptError::Unread(error)) => Outcome::Unread { message: format!("{error:#}") },
    }
}

impl Outcome {
    /// For programs; none for what was accepted.
    pub fn code(&self) -> Option<&'static str> {
        match self {
            Self::Accepted => None,
            Self::Refused(rejection) => Some(rejection.code.name()),
            Self::Failed { kind, .. } => Some(kind.code()),
            Self::Unread { .. } => Some("unread"),
        }
    }

    /// For people; none for what was accepted.
    pub fn message(&self) -> Option<&str> {
        match self {
            Self::Accepted => None,
            Self::Refused(rejection) => Some(&rejection.message),
            Self::Failed { message, .. } | Self::Unread { message } => Some(message),
        }
    }
}

impl FailureReason {
    pub fn code(&self) -> &'static str {
        match self {
            Self::Refused(rejection) => rejection.code.name(),
            Self::Failed { kind, .. } => kind.code(),
            Self::Unread(_) => "unread",
            Self::ListenerFailed(_) => "unheard",
        }
    }
}

impl From<AttemptError> for FailureReason {
    fn from(error: AttemptError) -> Self {
        match error {
            AttemptError::Rejected(rejected) => Self::Refused(rejected.rejection),
            AttemptError::Failed(AnswerError { kind, message, .. }) => Self::Failed { kind, message },
            AttemptError::Unread(error) => Self::Unread(error),
        }
    }
}

impl Usage {
    /// Both together. What neither knows stays unknown.
    pub fn plus(&self, other: &Self) -> Self {
        let sum = |a: Option<u64>, b: Option<u64>| match (a, b) {
            (None, None) => None,
            (a, b) => Some(a.unwrap_or(0).saturating_add(b.unwrap_or(0))),
        };
        Self {
            input: sum(self.input, other.input),
            output: sum(self.output, other.output),
            reasoning: sum(self.reasoning, other.reasoning),
        }
    }
}

#[cfg(test)]
mod tests;
