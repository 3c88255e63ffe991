//! What is known of assessments and runs.

use std::str::FromStr;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use sqlx::types::Json;
use sqlx::{PgExecutor, PgPool};
use time::OffsetDateTime;
use utoipa::ToSchema;
use uuid::Uuid;

use super::{Orderer, RunEndingKind, RunProgress, RunSummary};
use crate::arena::ModelKey;
use crate::arena::catalog::AgentSource;
use crate::judge::scores::Revision;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema, sqlx::Type)]
#[serde(rename_all = "camelCase")]
#[sqlx(type_name = "text", rename_all = "lowercase")]
pub enum AssessmentState {
    Queued,
    Running,
    Finished,
    Failed,
    Cancelled,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema, sqlx::Type)]
#[serde(rename_all = "camelCase")]
#[sqlx(type_name = "text", rename_all = "lowercase")]
pub enum RunState {
    Waiting,
    Running,
    Ended,
}

impl AssessmentState {
    /// Whether nothing changes any more.
    pub fn is_over(self) -> bool {
        !matches!(self, Self::Queued | Self::Running)
    }
}

/// An assessment, without its runs.
#[derive(Clone, Debug)]
pub struct Assessment {
    pub id: Uuid,
    pub agent: Option<ModelKey>,
    /// The agent's name now, if it is in the register.
    pub agent_name: Option<String>,
    pub url: String,
    pub ordered_by: Orderer,
    pub a2a_task: Option<Uuid>,
    pub config: Value,
    pub world: String,
    pub revision: Revision,
    pub seed: i64,
    pub seed_is_drawn: bool,
    pub state: AssessmentState,
    pub problem: Option<String>,
    pub card: Option<AgentSource>,
    pub wanted_at: OffsetDateTime,
    pub started_at: Option<OffsetDateTime>,
    pub ended_at: Option<OffsetDateTime>,
}

impl Assessment {
    /// The seed, which is shown if it was asked for, or else at the end.
    pub fn shown_seed(&self) -> Option<i64> {
        (!self.seed_is_drawn || self.state.is_over()).then_some(self.seed)
    }
}

/// A run, without its recording.
#[derive(Clone, Debug)]
pub struct StoredRun {
    pub id: Uuid,
    pub assessment: Uuid,
    pub number: i32,
    pub category: String,
    pub task: String,
    pub max_steps: i32,
    pub state: RunState,
    pub started_at: Option<OffsetDateTime>,
    pub ended_at: Option<OffsetDateTime>,
    pub progress: RunProgress,
    /// None before the run has ended.
    pub end: Option<RunSummary>,
    /// The steps in which something was paid, and how much.
    pub paid: Vec<(u64, f64)>,
    /// What was not paid.
    pub open: Value,
}

/// A result, as it is published.
#[derive(Clone, Debug)]
pub struct StoredResult {
    /// The model that judged the runs.
    pub judge: Option<String>,
    pub result: Value,
    pub made_at: OffsetDateTime,
}

struct AssessmentRow {
    id: Uuid,
    agent: Option<ModelKey>,
    agent_name: Option<String>,
    url: String,
    ordered_by: String,
    token_id: Option<Uuid>,
    a2a_task: Option<Uuid>,
    config: Json<Value>,
    world: String,
    revision: String,
    seed: i64,
    seed_is_drawn: bool,
    state: AssessmentState,
    problem: Option<String>,
    card: Option<Json<AgentSource>>,
    wanted_at: OffsetDateTime,
    started_at: Option<OffsetDateTime>,
    ended_at: Option<OffsetDateTime>,
}

impl AssessmentRow {
    fn read(self) -> Assessment {
        Assessment {
            id: self.id,
            agent: self.agent,
            agent_name: self.agent_name,
            url: self.url,
            ordered_by: match (self.ordered_by.as_str(), self.token_id) {
                ("admin", _) => Orderer::Admin,
                (_, Some(token)) => Orderer::Owner(token),
                _ => Orderer::Visitor,
            },
            a2a_task: self.a2a_task,
            config: self.config.0,
            world: self.world,
            revision: Revision::from_str(&self.revision).unwrap_or_default(),
            seed: self.seed,
            seed_is_drawn: self.seed_is_drawn,
            state: self.state,
            problem: self.problem,
            card: self.card.map(|card| card.0),
            wanted_at: self.wanted_at,
            started_at: self.started_at,
            ended_at: self.ended_at,
        }
    }
}

/// An assessment by its id.
pub async fn find(executor: impl PgExecutor<'_>, id: Uuid) -> sqlx::Result<Option<Assessment>> {
    Ok(read(executor, Some(id), None, None, None, 1).await?.pop())
}

/// The newest assessments: of an agent, with runs in a category, and before another one.
pub async fn list(
    executor: impl PgExecutor<'_>,
    agent: Option<&ModelKey>,
    category: Option<&str>,
    before: Option<Uuid>,
    limit: i64,
) -> sqlx::Result<Vec<Assessment>> {
    read(executor, None, agent, category, before, limit).await
}

async fn read(
    executor: impl PgExecutor<'_>,
    only: Option<Uuid>,
    agent: Option<&ModelKey>,
    category: Option<&str>,
    before: Option<Uuid>,
    limit: i64,
) -> sqlx::Result<Vec<Assessment>> {
    let rows = sqlx::query_as!(
        AssessmentRow,
        r#"
        SELECT
            id, agent_key AS "agent: ModelKey", agents.name AS "agent_name?", assessments.url, ordered_by, token_id,
            a2a_task, config AS "config: Json<Value>", world, revision, seed, seed_is_drawn,
            state AS "state: AssessmentState", problem, assessments.card AS "card: Json<AgentSource>", wanted_at,
            started_at, ended_at
        FROM assessments
        LEFT JOIN agents ON agents.key = agent_key
        WHERE ($1::uuid IS NULL OR id = $1)
          AND ($2::text IS NULL OR agent_key = $2)
          AND ($3::text IS NULL OR EXISTS (SELECT FROM runs WHERE assessment_id = assessments.id AND category = $3))
          AND ($4::uuid IS NULL OR id < $4)
        ORDER BY id DESC
        LIMIT $5
        "#,
        only,
        agent as _,
        category,
        before,
        limit,
    )
    .fetch_all(executor)
    .await?;
    Ok(rows.into_iter().map(AssessmentRow::read).collect())
}

struct RunRow {
    id: Uuid,
    assessment_id: Uuid,
    number: i32,
    category: String,
    task: String,
    max_steps: i32,
    state: RunState,
    started_at: Option<OffsetDateTime>,
    ended_at: Option<OffsetDateTime>,
    steps: i32,
    messages: i32,
    unanswered: i32,
    unreadable: i32,
    given: f64,
    answer_ms: i64,
    payable: Option<f64>,
    ending: Option<String>,
    ending_words: Option<String>,
    held: bool,
    assisted: bool,
    paid: Json<Vec<(u64, f64)>>,
    open: Value,
}

impl RunRow {
    fn read(self) -> StoredRun {
        StoredRun {
            id: self.id,
            assessment: self.assessment_id,
            number: self.number,
            category: self.category,
            task: self.task,
            max_steps: self.max_steps,
            state: self.state,
            started_at: self.started_at,
            ended_at: self.ended_at,
            progress: RunProgress {
                steps: self.steps,
                messages: self.messages,
                unanswered: self.unanswered,
                unreadable: self.unreadable,
                given: self.given,
                answer_ms: self.answer_ms,
            },
            end: self.ending.as_deref().and_then(RunEndingKind::parse).map(|kind| RunSummary {
                kind,
                words: self.ending_words,
                payable: self.payable.unwrap_or_default(),
                held: self.held,
                assisted: self.assisted,
            }),
            paid: self.paid.0,
            open: self.open,
        }
    }
}

/// The runs of an assessment, in order.
pub async fn runs(executor: impl PgExecutor<'_>, assessment: Uuid) -> sqlx::Result<Vec<StoredRun>> {
    read_runs(executor, Some(assessment), None).await
}

pub async fn find_run(executor: impl PgExecutor<'_>, id: Uuid) -> sqlx::Result<Option<StoredRun>> {
    Ok(read_runs(executor, None, Some(id)).await?.pop())
}

async fn read_runs(
    executor: impl PgExecutor<'_>,
    assessment: Option<Uuid>,
    only: Option<Uuid>,
) -> sqlx::Result<Vec<StoredRun>> {
    let rows = sqlx::query_as!(
        RunRow,
        r#"
        SELECT
            id, assessment_id, number, category, task, max_steps, state AS "state: RunState", started_at, ended_at,
            steps, messages, unanswered, unreadable, given, answer_ms, payable, ending, ending_words, held, assisted,
            paid AS "paid: Json<Vec<(u64, f64)>>", open
        FROM runs
        WHERE ($1::uuid IS NULL OR assessment_id = $1) AND ($2::uuid IS NULL OR id = $2)
        ORDER BY number
        "#,
        assessment,
        only,
    )
    .fetch_all(executor)
    .await?;
    Ok(rows.into_iter().map(RunRow::read).collect())
}

/// The recording of a run that has ended.
pub async fn recording(pool: &PgPool, run: Uuid) -> sqlx::Result<Option<Vec<u8>>> {
    let recording = sqlx::query_scalar!("SELECT recording FROM runs WHERE id = $1", run);
    Ok(recording.fetch_optional(pool).await?.flatten())
}

/// The results of an assessment: without a judge first, then as they were made.
pub async fn results(executor: impl PgExecutor<'_>, assessment: Uuid) -> sqlx::Result<Vec<StoredResult>> {
    sqlx::query_as!(
        StoredResult,
        r#"
        SELECT judge, result AS "result: Value", made_at
        FROM assessment_results
        WHERE assessment_id = $1
        ORDER BY judge NULLS FIRST, id
        "#,
        assessment,
    )
    .fetch_all(executor)
    .await
}

/// The sums of a result without a judge.
#[derive(Clone, Copy, Debug)]
pub struct ResultTotal {
    pub assessment: Uuid,
    pub total: f64,
    pub max: f64,
}

/// The sums of those of these assessments that have a result.
pub async fn totals(executor: impl PgExecutor<'_>, assessments: &[Uuid]) -> sqlx::Result<Vec<ResultTotal>> {
    sqlx::query_as!(
        ResultTotal,
        r#"
        SELECT
            assessment_id AS assessment, (result ->> 'total_score')::double precision AS "total!",
            (result ->> 'max_score')::double precision AS "max!"
        FROM assessment_results
        WHERE assessment_id = ANY($1) AND judge IS NULL
        "#,
        assessments,
    )
    .fetch_all(executor)
    .await
}
