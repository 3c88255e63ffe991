//! One assessment, from its claim to its result.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use a2a::{A2aTaskState, Artifact, Json, Message, MessageRole, Part, TaskChange, TaskStore};
use serde_json::{Value, json};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;
use tokio::time::{MissedTickBehavior, interval};
use uuid::Uuid;
use world::Terrains;

use super::{Assessor, LEASE};
use crate::arena::agents;
use crate::arena::assessments::board::NewBoardEntry;
use crate::arena::assessments::{
    self, ClaimedAssessment, ClaimedRun, EndedRun, RunEndingKind, RunProgress, RunState, RunSummary,
    StoredRun,
};
use crate::arena::catalog::AgentSource;
use crate::arena::jobs::LeaseError;
use crate::assess::order::{AssessmentOrder, OrderedTask};
use crate::assess::report::{AssessmentResult, ResultProvenance, ResultSource, ScoredRun};
use crate::assess::run::{RunEnding, RunExchange, RunListener, RunOutcome, RunSetup, run_task};
use crate::generate::a2a::read_card;
use crate::generate::{Endpoint, ModelProvider, ProviderKind, RequestLimits, agent_provider};
use crate::judge::scores::VideoScore;

/// How often the lease is renewed, and with it what is shown of a run.
const RENEWAL: Duration = Duration::from_secs(1);

const BROKEN: &str = "The world broke down, which is not the agent's fault.";

/// Why an assessment ends without a result, or leaves this server.
enum Interruption {
    /// It was cancelled, or another server has it.
    Lost,
    Database(sqlx::Error),
    /// What is wrong, in words for whoever ordered it.
    Problem(String),
}

impl From<LeaseError> for Interruption {
    fn from(error: LeaseError) -> Self {
        match error {
            LeaseError::Lost => Self::Lost,
            LeaseError::Database(error) => Self::Database(error),
        }
    }
}

impl From<sqlx::Error> for Interruption {
    fn from(error: sqlx::Error) -> Self {
        Self::Database(error)
    }
}

/// An agent that has shown its card.
struct Contestant {
    agent: Arc<dyn ModelProvider>,
    card: AgentSource,
}

/// A run that has ended, with its task.
struct DoneRun<'a> {
    task: &'a OrderedTask,
    given: f64,
    end: &'a RunSummary,
}

impl<'a> DoneRun<'a> {
    fn find(task: &'a OrderedTask, runs: &'a [StoredRun]) -> Option<Self> {
        let run = runs.iter().find(|run| is_same_task(task, &run.category, &run.task))?;
        Some(Self { task, given: run.progress.given, end: run.end.as_ref()? })
    }

    fn scored(&self) -> ScoredRun<'a> {
        scored(self.task, self.given, self.end)
    }
}

impl Assessor {
    pub(super) async fn assess(&self, claimed: &ClaimedAssessment) {
        let result = tokio::select! {
            result = self.run_all(claimed) => result,
            () = self.stopping.cancelled() => {
                if let Err(LeaseError::Database(error)) = claimed.lease.release(&self.pool).await {
                    tracing::warn!(%error, "an assessment could not be given back");
                }
                return;
            }
        };
        match result {
            Ok(()) => tracing::info!("assessed"),
            Err(Interruption::Lost) => tracing::info!("cancelled, or taken over by another server"),
            // Its lease expires, and then somebody goes on with it.
            Err(Interruption::Database(error)) => tracing::warn!(%error, "an assessment was interrupted"),
            Err(Interruption::Problem(problem)) => {
                tracing::info!(problem, "failed");
                let told = claimed.a2a_task.map(|task| (task, ended(A2aTaskState::Failed, &problem)));
                if let Err(LeaseError::Database(error)) = claimed.lease.fail(&self.pool, &problem, told).await
                {
                    tracing::warn!(%error, "the end of an assessment could not be stored");
                }
            }
        }
    }

    async fn run_all(&self, claimed: &ClaimedAssessment) -> Result<(), Interruption> {
        let ClaimedAssessment { lease, config, .. } = claimed;
        let body = json!({ "participants": { "agent": claimed.url }, "config": config });
        let order =
            AssessmentOrder::read(&body).map_err(|problem| Interruption::Problem(problem.to_string()))?;
        let contestant = self.meet(claimed).await?;
        lease.store_card(&self.pool, &contestant.card).await?;
        if !claimed.is_continued {
            let categories = order.categories.join(", ");
            let words =
                format!("Starting MCU evaluation with {} tasks from {categories}", claimed.runs.len());
            self.tell(claimed, words).await?;
        }
        let setup = RunSetup {
            seed: u64::try_from(claimed.seed).unwrap_or_default(),
            size: order.size,
            stops_when_done: order.stops_when_done,
            times: self.times,
            terrains: Arc::new(Terrains::default()),
            threads: self.threads.clone(),
        };
        for run in claimed.runs.iter().filter(|run| run.state != RunState::Ended) {
            let name = run.task.replace('_', " ");
            self.tell(claimed, format!("Running task: {name} (category: {})", run.category)).await?;
            lease.begin_run(&self.pool, run.id).await?;
            let task = ordered_task(&order, run);
            let ended = match task {
                Some(task) => self.run_one(claimed, run, task, &setup, &*contestant.agent).await?,
                None => broken("This version of Buildoff does not have the task.".to_owned()),
            };
            lease.end_run(&self.pool, run.id, &ended).await?;
            let score =
                task.map(|task| scored(task, ended.progress.given, &ended.end).scores(order.revision));
            let score = score.and_then(|scores| scores.total_score);
            let score = score.map_or("not scored".to_owned(), |score| format!("{score:?}"));
            self.tell(claimed, format!("Task '{}': {score}", run.task)).await?;
        }
        self.finish(claimed, &order, contestant.card).await
    }

    /// Reads the agent's card.
    async fn meet(&self, claimed: &ClaimedAssessment) -> Result<Contestant, Interruption> {
        let entry = match &claimed.agent {
            Some(key) => agents::find(&self.pool, key).await?.map(|agent| agent.entry),
            None => None,
        };
        // The secret goes only where the register says.
        let entry = entry.filter(|entry| entry.url == claimed.url);
        let variable = entry.as_ref().and_then(|entry| entry.key_variable.as_deref());
        let key = variable.and_then(|variable| self.secrets.get(variable));
        let endpoint =
            Endpoint { provider: ProviderKind::A2a, base_url: claimed.url.clone(), key, pinned: None };
        let card = read_card(&endpoint, claimed.allows_private, RequestLimits::quick()).await;
        let card = card.map_err(|error| {
            Interruption::Problem(format!("The agent cannot be asked: {}.", error.message_with_status()))
        })?;
        let agent = agent_provider(&endpoint, claimed.allows_private, self.times.limits(), false);
        let agent =
            agent.map_err(|error| Interruption::Problem(format!("The agent cannot be asked: {error}.")))?;
        if let Some(entry) = &entry {
            agents::saw_card(&self.pool, &entry.key, &card.source).await?;
        }
        Ok(Contestant { agent, card: card.source })
    }

    /// Puts the agent through a task, while the lease is renewed.
    async fn run_one(
        &self,
        claimed: &ClaimedAssessment,
        run: &ClaimedRun,
        task: &OrderedTask,
        setup: &RunSetup,
        agent: &dyn ModelProvider,
    ) -> Result<EndedRun, Interruption> {
        let progress = SharedProgress::default();
        let mut listener = progress.clone();
        let renewing = async {
            let mut ticks = interval(RENEWAL);
            ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
            loop {
                ticks.tick().await;
                let renewed = claimed.lease.renew(&self.pool, LEASE, run.id, &progress.get()).await;
                match renewed {
                    Ok(()) => {}
                    Err(LeaseError::Lost) => return,
                    // The lease is longer than that.
                    Err(LeaseError::Database(error)) => {
                        tracing::warn!(%error, "a lease could not be renewed");
                    }
                }
            }
        };
        tokio::select! {
            outcome = run_task(task, setup, agent, &mut listener) => Ok(match outcome {
                Ok(outcome) => ended_run(&outcome),
                Err(_) => broken(BROKEN.to_owned()),
            }),
            () = renewing => Err(Interruption::Lost),
        }
    }

    async fn finish(
        &self,
        claimed: &ClaimedAssessment,
        order: &AssessmentOrder,
        card: AgentSource,
    ) -> Result<(), Interruption> {
        let runs = assessments::runs(&self.pool, claimed.lease.assessment).await?;
        let done: Vec<DoneRun> = order.tasks.iter().filter_map(|task| DoneRun::find(task, &runs)).collect();
        let ended_at =
            runs.iter().filter_map(|run| run.ended_at).max().unwrap_or_else(OffsetDateTime::now_utc);
        let provenance = ResultProvenance {
            version: card.version.clone(),
            card: card.digest.clone(),
            at: ended_at.format(&Rfc3339).unwrap_or_default(),
        };
        let source =
            ResultSource { order, seed: u64::try_from(claimed.seed).unwrap_or_default(), provenance };
        let result = AssessmentResult::new(source, done.iter().map(DoneRun::scored));
        let entries =
            if claimed.seed_is_drawn { board_entries(claimed, order, &card, &done) } else { Vec::new() };
        let value = serde_json::to_value(&result).unwrap_or_default();
        let told = claimed.a2a_task.map(|task| (task, TaskChange::Complete(artifact(&result, &value))));
        claimed.lease.finish(&self.pool, &value, &entries, told).await?;
        Ok(())
    }

    /// Tells the A2A task in which it was ordered how it goes. If that was cancelled, so is the assessment.
    async fn tell(&self, claimed: &ClaimedAssessment, words: String) -> Result<(), Interruption> {
        let Some(task) = claimed.a2a_task else { return Ok(()) };
        let message = Message::new(MessageRole::Agent, vec![Part::text(words)]);
        let change = TaskChange::Status { state: A2aTaskState::Working, message: Some(message) };
        match self.a2a_tasks.change(&task.to_string(), change).await {
            Ok(Some(_)) => Ok(()),
            Ok(None) => {
                assessments::cancel(&self.pool, claimed.lease.assessment).await?;
                Err(Interruption::Lost)
            }
            // It was logged, and the assessment matters more.
            Err(_) => Ok(()),
        }
    }
}

fn ended(state: A2aTaskState, words: &str) -> TaskChange {
    TaskChange::Status { state, message: Some(Message::new(MessageRole::Agent, vec![Part::text(words)])) }
}

/// What comes of an order over the A2A protocol: the summary for people, and one element of a list of results.
fn artifact(result: &AssessmentResult, value: &Value) -> Artifact {
    let data = Json::of(value).ok().map(Part::data);
    Artifact {
        id: Uuid::new_v4().to_string(),
        name: Some("Result".to_owned()),
        description: None,
        parts: [Some(Part::text(result.text())), data].into_iter().flatten().collect(),
        extensions: Vec::new(),
        metadata: None,
    }
}

fn board_entries(
    claimed: &ClaimedAssessment,
    order: &AssessmentOrder,
    card: &AgentSource,
    done: &[DoneRun],
) -> Vec<NewBoardEntry> {
    let Some(agent) = &claimed.agent else { return Vec::new() };
    let mut entries = Vec::new();
    for category in order.whole_categories() {
        let of_category = || done.iter().filter(|run| run.task.task.category() == category);
        let scores = of_category().map(|run| run.scored().scores(order.revision).total_score);
        let scores = scores.collect::<Option<Vec<f64>>>();
        // What is not scored stands on no board.
        let Some(scores) = scores.filter(|scores| !scores.is_empty()) else { continue };
        entries.push(NewBoardEntry {
            category: category.to_owned(),
            agent: agent.clone(),
            url: claimed.url.clone(),
            version: card.version.clone(),
            world: buildoff_world::ENGINE,
            revision: order.revision,
            judge: None,
            assisted: of_category().any(|run| run.end.assisted),
            tasks: i32::try_from(scores.len()).unwrap_or(i32::MAX),
            total: scores.iter().sum(),
            max: of_category().map(|run| run.task.length.max_score()).sum(),
        });
    }
    entries
}

fn ordered_task<'o>(order: &'o AssessmentOrder, run: &ClaimedRun) -> Option<&'o OrderedTask> {
    order.tasks.iter().find(|task| is_same_task(task, &run.category, &run.task))
}

fn is_same_task(task: &OrderedTask, category: &str, name: &str) -> bool {
    (task.task.category(), task.task.name()) == (category, name)
}

fn scored<'t>(task: &'t OrderedTask, given: f64, end: &RunSummary) -> ScoredRun<'t> {
    let RunSummary { payable, held, assisted, .. } = *end;
    ScoredRun { task, given, payable, held, assisted, error: end.words.clone(), video: VideoScore::NoJudge }
}

fn ended_run(outcome: &RunOutcome) -> EndedRun {
    let kind = match &outcome.ending {
        RunEnding::Finished => RunEndingKind::Finished,
        RunEnding::Died => RunEndingKind::Died,
        RunEnding::Refused(_) => RunEndingKind::Refused,
        RunEnding::Silent(_) => RunEndingKind::Silent,
        RunEnding::TimeUp => RunEndingKind::TimeUp,
    };
    let is_early = !matches!(kind, RunEndingKind::Finished | RunEndingKind::Died);
    EndedRun {
        progress: RunProgress {
            steps: count(outcome.steps),
            messages: count(outcome.messages),
            unanswered: count(outcome.unanswered),
            unreadable: count(outcome.unreadable),
            given: outcome.given,
            answer_ms: i64::try_from(outcome.answer_time.as_millis()).unwrap_or(i64::MAX),
        },
        end: RunSummary {
            kind,
            words: is_early.then(|| outcome.ending.to_string()),
            payable: outcome.payable,
            held: outcome.held,
            assisted: outcome.assisted,
        },
        paid: json!(outcome.paid),
        open: json!(outcome.open),
        recording: Some(outcome.recording.clone()),
    }
}

fn broken(words: String) -> EndedRun {
    EndedRun {
        progress: RunProgress::default(),
        end: RunSummary {
            kind: RunEndingKind::Broken,
            words: Some(words),
            payable: 0.0,
            held: false,
            assisted: false,
        },
        paid: json!([]),
        open: json!([]),
        recording: None,
    }
}

fn count(number: impl TryInto<i32>) -> i32 {
    number.try_into().unwrap_or(i32::MAX)
}

/// How far a run is, which is written down every second.
#[derive(Clone, Default)]
struct SharedProgress(Arc<Mutex<RunProgress>>);

impl SharedProgress {
    fn get(&self) -> RunProgress {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl RunListener for SharedProgress {
    fn on_exchange(&mut self, exchange: &RunExchange<'_>) {
        let mut progress = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        progress.messages += 1;
        progress.steps = count(exchange.step);
        progress.answer_ms += i64::try_from(exchange.took.as_millis()).unwrap_or(i64::MAX);
        progress.given += exchange.reward;
        match (exchange.problem, exchange.is_answered) {
            (Some(_), true) => progress.unreadable += 1,
            (Some(_), false) => progress.unanswered += 1,
            (None, _) => {}
        }
    }
}
