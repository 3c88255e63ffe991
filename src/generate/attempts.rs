//! The attempt loop: ask, look at what comes, and ask again with what was wrong.
//!
//! Every attempt is told to a [`Listener`] as it ends, and the next one waits until the listener has put it
//! away: nothing that was paid for depends on what comes after. Dropping the future ends everything,
//! the request at the provider included.

mod clock;

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use serde_json::Value;

use self::clock::Clock;
use super::prompting::{self, Brief, RejectedAnswer};
use super::{
    Answer, Delta, Failure, FailureKind, Note, Options, Provider, Question, Speaker, Turn, Usage, schema,
};
use crate::arena::{Settings, catalog};
use voxel::{self, Rejection, ValidGrid, Verdict, Warning};

/// How often a model is asked, unless told otherwise.
pub const ATTEMPTS: u32 = 3;

/// No answer's text may be longer, unless told otherwise.
pub const ANSWER_MAX_BYTES: usize = 64 << 20;

/// What is wanted, and of whom.
#[derive(Clone)]
pub struct Commission {
    pub provider: Arc<dyn Provider>,
    /// The provider's id of the model.
    pub model: String,
    pub options: Options,
    pub max_output_tokens: Option<u32>,
    pub prompt: String,
    pub settings: Settings,
    /// The form of the answer, where the provider may hold the model to it.
    pub schema: Option<Arc<Value>>,
    pub attempts: u32,
    pub max_bytes: usize,
    pub earlier: Earlier,
}

/// Attempts at the same that somebody else has made. They count, and their last answer is looked at again
/// before anything new is asked.
#[derive(Clone, Debug, Default)]
pub struct Earlier {
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
        kind: FailureKind,
        message: String,
    },
    /// An answer that could not be looked at; it may be one.
    Unread {
        message: String,
    },
}

/// Follows an attempt loop.
pub trait Listener: Send {
    /// A question is about to go out. An error ends the loop.
    fn begins(&mut self, _attempt: u32) -> BoxFuture<'_, anyhow::Result<()>> {
        Box::pin(std::future::ready(Ok(())))
    }

    /// What streams in during an attempt. Told often.
    fn delta(&mut self, attempt: u32, delta: Delta<'_>);

    /// An attempt has ended. An error ends the loop, as when there is nobody left to work for.
    fn ended<'a>(&'a mut self, attempt: &'a Attempt) -> BoxFuture<'a, anyhow::Result<()>>;
}

/// A build, and what it took.
#[derive(Debug)]
pub struct Made {
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
pub struct NotMade {
    pub reason: Reason,
    pub attempts: u32,
    pub usage: Usage,
}

#[derive(Debug, thiserror::Error)]
pub enum Reason {
    /// The last answer was no build.
    #[error("{0}")]
    Refused(Rejection),
    #[error("{message}")]
    Failed { kind: FailureKind, message: String },
    #[error("the answer could not be looked at: {0}")]
    Unread(anyhow::Error),
    /// The listener wanted no more.
    #[error("the attempt could not be put away: {0}")]
    Unheard(anyhow::Error),
}

/// A look at an answer, to be run off the async threads.
pub type Look = Box<dyn FnOnce() -> Result<Build, RejectedAnswer> + Send>;

/// What an answer holds.
pub struct Build {
    pub build: ValidGrid,
    pub spec: String,
    pub warnings: Vec<Warning>,
}

/// Takes an answer as any import is taken. Heavy work.
pub fn look(text: &str, settings: &Settings, max_bytes: usize) -> Result<Build, RejectedAnswer> {
    match voxel::check(text.as_bytes(), settings.grid, settings.palette, max_bytes) {
        Verdict::Accepted { build, spec, warnings } => {
            // An answer can begin as a file of another tool does.
            let spec = spec.map_or_else(|| build.write_spec(max_bytes), Ok);
            let spec =
                spec.map_err(|rejection| RejectedAnswer { rejection, stats: None, warnings: Vec::new() })?;
            Ok(Build { build, spec, warnings })
        }
        Verdict::Rejected { stats, warnings, rejection, .. } => {
            Err(RejectedAnswer { rejection, stats: Some(stats), warnings })
        }
        Verdict::Unreadable(rejection) => {
            Err(RejectedAnswer { rejection, stats: None, warnings: Vec::new() })
        }
    }
}

impl Commission {
    /// With the usual number of attempts and bounds, and answers held to the form of a spec.
    pub fn new(
        provider: Arc<dyn Provider>,
        model: impl Into<String>,
        prompt: impl Into<String>,
        settings: Settings,
    ) -> Self {
        Self {
            provider,
            model: model.into(),
            options: Options::default(),
            max_output_tokens: None,
            prompt: prompt.into(),
            schema: Some(Arc::new(schema::with_plan(voxel::schema(settings.grid, settings.palette)))),
            settings,
            attempts: ATTEMPTS,
            max_bytes: ANSWER_MAX_BYTES,
            earlier: Earlier::default(),
        }
    }

    /// What the catalog says of how this model is asked.
    pub fn with(mut self, options: catalog::ModelOptions) -> Self {
        let catalog::ModelOptions { effort, temperature, max_output_tokens } = options;
        self.options = Options { effort, temperature };
        self.max_output_tokens = max_output_tokens;
        self
    }

    /// Asks until there is a build, the attempts are used up, or asking again would not help. `off_thread`
    /// runs heavy work.
    pub async fn carry_out<R, F>(&self, off_thread: R, listener: &mut dyn Listener) -> Result<Made, NotMade>
    where
        R: Fn(Look) -> F + Send + Sync,
        F: Future<Output = anyhow::Result<Result<Build, RejectedAnswer>>> + Send,
    {
        let mut spent = Usage::default();
        let mut number = self.earlier.attempts;
        let mut brief = match self.take_up(&off_thread).await? {
            TakenUp::Made(made) => return Ok(made),
            TakenUp::Next(brief) => brief,
        };
        loop {
            number += 1;
            let unheard =
                |error| NotMade { reason: Reason::Unheard(error), attempts: number - 1, usage: spent };
            listener.begins(number).await.map_err(unheard)?;
            let asked = self.ask(brief, number, listener).await;
            spent = spent.plus(&asked.usage);
            let result = self.judge(asked.result, &asked.text, &off_thread).await;
            if let Err(Trouble::Rejected(fault)) = &result {
                self.provider.log_refused(&asked.text, &fault.rejection.message);
            }
            let next = result.as_ref().err().and_then(|reason| self.next(number, &asked.text, reason));
            let attempt = Attempt {
                number,
                text: asked.text,
                outcome: outcome(&result),
                usage: asked.usage,
                duration: asked.clock.whole,
                answer_time: asked.clock.last_request,
                notes: asked.notes,
                again: next.is_some(),
            };
            let not_made = |reason| NotMade { reason, attempts: number, usage: spent };
            listener.ended(&attempt).await.map_err(|error| not_made(Reason::Unheard(error)))?;
            match (result, next) {
                (Ok(Build { build, spec, warnings }), _) => {
                    let generation_time = asked.clock.last_request;
                    return Ok(Made {
                        build,
                        spec,
                        warnings,
                        attempts: number,
                        usage: spent,
                        generation_time,
                    });
                }
                (Err(_), Some(next)) => brief = next,
                (Err(trouble), None) => return Err(not_made(trouble.into())),
            }
        }
    }

    /// Goes on where somebody else has stopped.
    async fn take_up<R, F>(&self, off_thread: &R) -> Result<TakenUp, NotMade>
    where
        R: Fn(Look) -> F,
        F: Future<Output = anyhow::Result<Result<Build, RejectedAnswer>>>,
    {
        let Earlier { attempts, code, answer } = &self.earlier;
        let Some((text, generation_time)) = answer else {
            let was_too_long = TOO_LONG.iter().any(|kind| code.as_deref() == Some(kind.code()));
            let told = if was_too_long { prompting::shorter } else { prompting::brief };
            return Ok(TakenUp::Next(told(&self.prompt, &self.settings)));
        };
        let usage = Usage::default();
        match self.look_at(text, off_thread).await {
            Ok(Build { build, spec, warnings }) => Ok(TakenUp::Made(Made {
                build,
                spec,
                warnings,
                attempts: *attempts,
                usage,
                generation_time: *generation_time,
            })),
            Err(trouble) => match self.next(*attempts, text, &trouble) {
                Some(brief) => Ok(TakenUp::Next(brief)),
                None => Err(NotMade { reason: trouble.into(), attempts: *attempts, usage }),
            },
        }
    }

    async fn ask(&self, Brief { system, user }: Brief, number: u32, listener: &mut dyn Listener) -> Asked {
        let question = Question {
            model: self.model.clone(),
            system,
            turns: vec![Turn { by: Speaker::User, text: user }],
            schema: self.schema.clone(),
            max_output_tokens: self.max_output_tokens,
            options: self.options,
        };
        let mut clock = Clock::start();
        let mut listen = |delta: Delta<'_>| {
            if let Delta::Sent = delta {
                clock.sent();
            }
            listener.delta(number, delta);
        };
        let answer = self.provider.ask(&question, &mut listen).await;
        let clock = clock.stop();
        match answer {
            Ok(Answer { text, usage, notes }) => {
                Asked { text: text.into(), result: Ok(()), usage, notes, clock }
            }
            Err(Failure { kind, message, is_final, began, partial, usage, notes }) => {
                let lack = Lack { kind, message, is_final, began };
                Asked { text: partial.into(), result: Err(lack), usage, notes, clock }
            }
        }
    }

    async fn judge<R, F>(
        &self,
        answered: Result<(), Lack>,
        text: &Arc<str>,
        off_thread: &R,
    ) -> Result<Build, Trouble>
    where
        R: Fn(Look) -> F,
        F: Future<Output = anyhow::Result<Result<Build, RejectedAnswer>>>,
    {
        let Err(lack) = answered else { return self.look_at(text, off_thread).await };
        if may_be_whole(lack.kind)
            && let Ok(build) = self.look_at(text, off_thread).await
            && ends_with(text, &build.spec)
        {
            return Ok(build);
        }
        Err(Trouble::Failed(lack))
    }

    async fn look_at<R, F>(&self, text: &Arc<str>, off_thread: &R) -> Result<Build, Trouble>
    where
        R: Fn(Look) -> F,
        F: Future<Output = anyhow::Result<Result<Build, RejectedAnswer>>>,
    {
        let (text, settings, max_bytes) = (Arc::clone(text), self.settings.clone(), self.max_bytes);
        let looked = off_thread(Box::new(move || look(&text, &settings, max_bytes))).await;
        looked.map_err(Trouble::Unread)?.map_err(Trouble::Rejected)
    }

    /// What to ask next; none where there is no sense in it, or no attempt left.
    fn next(&self, number: u32, text: &str, trouble: &Trouble) -> Option<Brief> {
        if number >= self.attempts {
            return None;
        }
        match trouble {
            Trouble::Rejected(fault) => Some(prompting::repair(&self.prompt, &self.settings, text, fault)),
            Trouble::Unread(_) => None,
            Trouble::Failed(Lack { is_final: true, .. }) => None,
            Trouble::Failed(Lack { kind, began, .. }) => match remedy(*kind, *began) {
                Remedy::None => None,
                Remedy::Again => Some(prompting::brief(&self.prompt, &self.settings)),
                Remedy::Shorter => Some(prompting::shorter(&self.prompt, &self.settings)),
            },
        }
    }
}

enum TakenUp {
    Made(Made),
    Next(Brief),
}

/// What came of a question.
struct Asked {
    text: Arc<str>,
    result: Result<(), Lack>,
    usage: Usage,
    notes: Vec<Note>,
    clock: clock::Times,
}

/// Why there is no answer, or not a whole one.
struct Lack {
    kind: FailureKind,
    message: String,
    is_final: bool,
    began: bool,
}

/// Why an attempt brought no build.
enum Trouble {
    Rejected(RejectedAnswer),
    Failed(Lack),
    Unread(anyhow::Error),
}

enum Remedy {
    None,
    Again,
    Shorter,
}

/// What asks for a shorter answer.
const TOO_LONG: [FailureKind; 2] = [FailureKind::Truncated, FailureKind::TooLarge];

/// Whether all that was to be said may have come before the end was lost.
fn may_be_whole(kind: FailureKind) -> bool {
    use FailureKind::*;
    matches!(kind, Truncated | CutOff | TimedOut | Stalled | Overloaded)
}

/// Whether a text ends with this spec, and nothing else was begun after it.
fn ends_with(text: &str, spec: &str) -> bool {
    let end = text.rfind('}').map_or(0, |at| at + 1);
    text[..end].ends_with(spec.trim_end()) && !text[end..].contains('{')
}

/// A provider has tried more than once itself before it says that it is busy or out of reach, unless an answer `began`:
/// that is not for now. What a model refuses, or nobody pays for, stays so.
fn remedy(kind: FailureKind, began: bool) -> Remedy {
    use FailureKind::*;
    match kind {
        Truncated | TooLarge => Remedy::Shorter,
        Empty | Stalled | TimedOut | CutOff | BadAnswer => Remedy::Again,
        BadKey | NoCredit | NoSuchModel | Refused | Filtered | BadRequest | Cancelled => Remedy::None,
        RateLimited | Overloaded | Unreachable if began => Remedy::Again,
        RateLimited | Overloaded | Unreachable => Remedy::None,
    }
}

fn outcome(result: &Result<Build, Trouble>) -> Outcome {
    match result {
        Ok(_) => Outcome::Accepted,
        Err(Trouble::Rejected(fault)) => Outcome::Refused(fault.rejection.clone()),
        Err(Trouble::Failed(lack)) => Outcome::Failed { kind: lack.kind, message: lack.message.clone() },
        Err(Trouble::Unread(error)) => Outcome::Unread { message: format!("{error:#}") },
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

impl Reason {
    pub fn code(&self) -> &'static str {
        match self {
            Self::Refused(rejection) => rejection.code.name(),
            Self::Failed { kind, .. } => kind.code(),
            Self::Unread(_) => "unread",
            Self::Unheard(_) => "unheard",
        }
    }
}

impl From<Trouble> for Reason {
    fn from(trouble: Trouble) -> Self {
        match trouble {
            Trouble::Rejected(fault) => Self::Refused(fault.rejection),
            Trouble::Failed(Lack { kind, message, .. }) => Self::Failed { kind, message },
            Trouble::Unread(error) => Self::Unread(error),
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
