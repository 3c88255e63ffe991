//! A run: an agent at one task, step by step.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::{Instant, timeout_at};
use world::action::SentAction;
use world::task::OpenReward;
use world::{Action, Terrains};

use super::messages::{Acknowledgement, init_message, obs_message, read_action};
use super::order::OrderedTask;
use super::simulation::Simulation;
use super::world_threads::{WorldPanicked, WorldThreads};
use crate::generate::{ChatPrompt, CompletionRequest, Delta, ModelOptions, ModelProvider, RequestLimits};
use crate::judge::scores::TaskLength;

/// After so many messages in a row without any answer, an agent is gone.
const SILENT_STEPS: u32 = 10;

/// The longest answer of an agent, in bytes.
const MAX_ANSWER_BYTES: usize = 64 << 10;

/// How much time a run has.
#[derive(Clone, Copy, Debug)]
pub struct RunTimes {
    /// For each answer.
    pub answer: Duration,
    pub short_run: Duration,
    pub long_run: Duration,
}

impl Default for RunTimes {
    fn default() -> Self {
        Self {
            answer: Duration::from_secs(60),
            short_run: Duration::from_secs(30 * 60),
            long_run: Duration::from_secs(6 * 60 * 60),
        }
    }
}

impl RunTimes {
    /// How an agent is asked: each message is sent once. One that fails costs a step, and the next one follows at once.
    pub fn limits(&self) -> RequestLimits {
        RequestLimits {
            connect: self.answer.min(Duration::from_secs(10)),
            first_byte: self.answer,
            idle: self.answer,
            total: self.answer,
            max_bytes: MAX_ANSWER_BYTES,
            tries: 1,
            ..RequestLimits::default()
        }
    }

    fn of(&self, length: TaskLength) -> Duration {
        match length {
            TaskLength::Short => self.short_run,
            TaskLength::Long => self.long_run,
        }
    }
}

/// What is the same for all runs of an assessment.
#[derive(Clone)]
pub struct RunSetup {
    pub seed: u64,
    pub size: [usize; 2],
    pub stops_when_done: bool,
    pub times: RunTimes,
    pub terrains: Arc<Terrains>,
    pub threads: WorldThreads,
}

/// How a run came to its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RunEnding {
    /// All steps were taken, or everything was done.
    Finished,
    Died,
    /// The agent would not begin, in its own words.
    Refused(String),
    /// The agent did not answer, so often that it was given up.
    Silent(String),
    /// The time of the run was used up.
    TimeUp,
}

impl fmt::Display for RunEnding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Finished => f.write_str("finished"),
            Self::Died => f.write_str("the player died"),
            Self::Refused(why) if why.is_empty() => f.write_str("the agent would not begin"),
            Self::Refused(why) => write!(f, "the agent would not begin: {why}"),
            Self::Silent(why) => write!(f, "the agent did not answer: {why}"),
            Self::TimeUp => f.write_str("the time was up"),
        }
    }
}

/// What a run has come to.
#[derive(Clone, Debug)]
pub struct RunOutcome {
    pub ending: RunEnding,
    pub steps: u64,
    /// Messages that were sent, the first one included.
    pub messages: u32,
    /// Messages that were not answered in time, or not at all.
    pub unanswered: u32,
    /// Answers that were no action.
    pub unreadable: u32,
    /// Whether an action was held for several steps.
    pub held: bool,
    /// Whether anything was crafted past the pointer.
    pub assisted: bool,
    pub given: f64,
    pub payable: f64,
    pub open: Vec<OpenReward>,
    /// The steps in which a reward was paid, and how much.
    pub paid: Vec<(u64, f64)>,
    /// How long the agent took for its answers, in all.
    pub answer_time: Duration,
    pub recording: Vec<u8>,
}

impl RunOutcome {
    /// The steps that nobody decided about.
    pub fn no_ops(&self) -> u32 {
        self.unanswered + self.unreadable
    }
}

/// A message and what came of it.
#[derive(Debug)]
pub struct RunExchange<'a> {
    pub step: u64,
    /// The picture that was sent; none with the first message.
    pub jpeg: Option<&'a [u8]>,
    /// What the agent said.
    pub answer: &'a str,
    /// Whether it answered in time.
    pub is_answered: bool,
    /// Why nothing came of it.
    pub problem: Option<&'a str>,
    pub took: Duration,
    /// What was paid for what came of it.
    pub reward: f64,
    /// The score so far.
    pub score: f64,
}

/// Follows a run.
pub trait RunListener: Send {
    fn on_exchange(&mut self, exchange: &RunExchange<'_>);
}

/// The conversation with an agent within a run.
struct Conversation<'a> {
    agent: &'a dyn ModelProvider,
    context: Option<String>,
    messages: u32,
    answer_time: Duration,
}

/// An answer, or why none came.
struct Reply {
    text: String,
    problem: Option<String>,
    took: Duration,
}

impl Conversation<'_> {
    /// Sends a message and waits for the answer, until the deadline of the run at most.
    async fn send(&mut self, message: String, deadline: Instant) -> Reply {
        self.messages += 1;
        let request = CompletionRequest {
            model: String::new(),
            prompt: ChatPrompt::new("", message),
            schema: None,
            options: ModelOptions::default(),
            vision: false,
            data: None,
            context: self.context.clone(),
        };
        let began = Instant::now();
        let mut ignored = |_: Delta<'_>| {};
        let result = timeout_at(deadline, self.agent.ask(&request, &mut ignored)).await;
        let took = began.elapsed();
        self.answer_time += took;
        match result {
            Ok(Ok(response)) => {
                self.context = response.context.or(self.context.take());
                Reply { text: response.text, problem: None, took }
            }
            Ok(Err(error)) => Reply { text: error.partial.text, problem: Some(error.message), took },
            Err(_) => Reply { text: String::new(), problem: Some("the time was up".to_owned()), took },
        }
    }
}

/// Puts an agent through a task.
///
/// # Errors
/// If the world broke down, which is no fault of the agent's.
pub async fn run_task(
    task: &OrderedTask,
    setup: &RunSetup,
    agent: &dyn ModelProvider,
    listener: &mut dyn RunListener,
) -> Result<RunOutcome, WorldPanicked> {
    let begin = {
        let (world_task, terrains) = (Arc::clone(&task.task), Arc::clone(&setup.terrains));
        let (seed, size, stops, max_steps) = (setup.seed, setup.size, setup.stops_when_done, task.max_steps);
        move || Simulation::new(&world_task, seed, max_steps, stops, size, terrains)
    };
    let simulation = setup.threads.run(begin).await?;
    let mut run = AgentRun {
        conversation: Conversation { agent, context: None, messages: 0, answer_time: Duration::ZERO },
        deadline: Instant::now() + setup.times.of(task.length),
        threads: &setup.threads,
        listener,
        unanswered: 0,
        unreadable: 0,
        unanswered_in_a_row: 0,
    };
    let (ending, simulation) = match run.begin(task.task.text()).await {
        Some(ending) => (ending, simulation),
        None => run.play(simulation).await?,
    };
    let state = setup.threads.run(move || simulation.finish()).await?;
    Ok(RunOutcome {
        // What the agent was not ready for is 0, whatever the world would pay for standing still.
        given: if matches!(ending, RunEnding::Refused(_)) { 0.0 } else { state.given },
        ending,
        steps: state.steps,
        messages: run.conversation.messages,
        unanswered: run.unanswered,
        unreadable: run.unreadable,
        held: state.help.is_held,
        assisted: state.help.is_assisted,
        payable: state.payable,
        open: state.open,
        paid: state.paid,
        answer_time: run.conversation.answer_time,
        recording: state.recording,
    })
}

struct AgentRun<'a> {
    conversation: Conversation<'a>,
    deadline: Instant,
    threads: &'a WorldThreads,
    listener: &'a mut dyn RunListener,
    unanswered: u32,
    unreadable: u32,
    unanswered_in_a_row: u32,
}

impl AgentRun<'_> {
    /// Tells the agent what is wanted. None if it is ready.
    async fn begin(&mut self, text: &str) -> Option<RunEnding> {
        let reply = self.conversation.send(init_message(text), self.deadline).await;
        let ending = match &reply.problem {
            Some(problem) => Some(RunEnding::Refused(problem.clone())),
            None => match Acknowledgement::read(&reply.text) {
                Ok(Acknowledgement { success: true, .. }) => None,
                Ok(Acknowledgement { message, .. }) => Some(RunEnding::Refused(message)),
                Err(problem) => Some(RunEnding::Refused(problem)),
            },
        };
        let problem = ending.as_ref().map(ToString::to_string);
        self.listener.on_exchange(&RunExchange {
            step: 0,
            jpeg: None,
            answer: &reply.text,
            is_answered: reply.problem.is_none(),
            problem: problem.as_deref(),
            took: reply.took,
            reward: 0.0,
            score: 0.0,
        });
        ending
    }

    /// Shows the agent picture after picture, and does what it says.
    async fn play(&mut self, simulation: Simulation) -> Result<(RunEnding, Simulation), WorldPanicked> {
        let mut seen = simulation.first();
        let mut simulation = simulation;
        loop {
            if seen.is_end {
                let ending = if seen.is_dead { RunEnding::Died } else { RunEnding::Finished };
                return Ok((ending, simulation));
            }
            if Instant::now() >= self.deadline {
                return Ok((RunEnding::TimeUp, simulation));
            }
            let reply = self.conversation.send(obs_message(seen.step, &seen.jpeg), self.deadline).await;
            let (sent, problem) = self.understand(&reply);
            if let Some(problem) = &problem
                && self.unanswered_in_a_row >= SILENT_STEPS
            {
                return Ok((RunEnding::Silent(problem.clone()), simulation));
            }
            let next;
            (simulation, next) = self
                .threads
                .run(move || {
                    let seen = simulation.act(sent);
                    (simulation, seen)
                })
                .await?;
            self.listener.on_exchange(&RunExchange {
                step: seen.step,
                jpeg: Some(&seen.jpeg),
                answer: &reply.text,
                is_answered: reply.problem.is_none(),
                problem: problem.as_deref(),
                took: reply.took,
                reward: next.reward,
                score: next.score,
            });
            seen = next;
        }
    }

    /// The action of a reply. Without one nothing is done in this step, and it is counted.
    fn understand(&mut self, reply: &Reply) -> (SentAction, Option<String>) {
        let no_op = || SentAction::from(Action::default());
        if let Some(problem) = &reply.problem {
            self.unanswered += 1;
            self.unanswered_in_a_row += 1;
            return (no_op(), Some(problem.clone()));
        }
        self.unanswered_in_a_row = 0;
        match read_action(&reply.text) {
            Ok(sent) => (sent, None),
            Err(problem) => {
                self.unreadable += 1;
                (no_op(), Some(problem))
            }
        }
    }
}
