//! Which server runs which assessment, and what it writes.

use std::time::Duration;

use a2a::{A2aTaskState, Message, MessageRole, Part, TaskChange};
use serde_json::Value;
use sqlx::types::Json;
use sqlx::{PgConnection, PgPool, Postgres, Transaction};
use uuid::Uuid;

use super::board::NewBoardEntry;
use super::reading::RunState;
use crate::arena::catalog::AgentSource;
use crate::arena::jobs::{LeaseError, interval, without_nul};
use crate::arena::{ModelKey, a2a_tasks};

/// Claims are made one after the other, so that no agent is assessed twice at a time.
const LOCK: i64 = 0x6173_7365_7373_0000;

/// An assessment has failed once it has outlived so many servers.
const MAX_BREAKS: i32 = 5;

/// A server's right to run an assessment.
#[derive(Clone, Copy, Debug)]
pub struct AssessmentLease {
    pub assessment: Uuid,
    fence: i64,
}

/// An assessment that a server has claimed.
#[derive(Debug)]
pub struct ClaimedAssessment {
    pub lease: AssessmentLease,
    pub agent: Option<ModelKey>,
    pub url: String,
    pub allows_private: bool,
    pub a2a_task: Option<Uuid>,
    pub config: Value,
    pub seed: i64,
    pub seed_is_drawn: bool,
    /// Whether somebody has begun it before.
    pub is_continued: bool,
    /// In order.
    pub runs: Vec<ClaimedRun>,
}

#[derive(Debug)]
pub struct ClaimedRun {
    pub id: Uuid,
    pub category: String,
    pub task: String,
    pub max_steps: i32,
    pub state: RunState,
}

/// How far a run is.
#[derive(Clone, Copy, Debug, Default)]
pub struct RunProgress {
    pub steps: i32,
    pub messages: i32,
    pub unanswered: i32,
    pub unreadable: i32,
    pub given: f64,
    pub answer_ms: i64,
}

/// How a run came to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunEndingKind {
    /// All steps were taken, or everything was done.
    Finished,
    Died,
    /// The agent would not begin.
    Refused,
    /// The agent did not answer.
    Silent,
    TimeUp,
    /// The world broke down, which is no fault of the agent's.
    Broken,
}

/// The end of a run.
#[derive(Clone, Debug)]
pub struct RunSummary {
    pub kind: RunEndingKind,
    /// Why it ended early.
    pub words: Option<String>,
    pub payable: f64,
    /// Whether actions were held for several steps.
    pub held: bool,
    /// Whether anything was crafted past the pointer.
    pub assisted: bool,
}

/// A run that has ended, with what is kept of it.
#[derive(Clone, Debug)]
pub struct EndedRun {
    pub progress: RunProgress,
    pub end: RunSummary,
    pub paid: Value,
    pub open: Value,
    pub recording: Option<Vec<u8>>,
}

impl RunEndingKind {
    const ALL: [Self; 6] =
        [Self::Finished, Self::Died, Self::Refused, Self::Silent, Self::TimeUp, Self::Broken];

    pub fn name(self) -> &'static str {
        match self {
            Self::Finished => "finished",
            Self::Died => "died",
            Self::Refused => "refused",
            Self::Silent => "silent",
            Self::TimeUp => "time_up",
            Self::Broken => "broken",
        }
    }

    pub(super) fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|ending| ending.name() == name)
    }
}

/// Claims the oldest assessment whose agent can be asked here and is not being assessed. Those whose server let its lease
/// run out are claimed like others.
pub async fn claim(
    pool: &PgPool,
    askable: &[ModelKey],
    lease: Duration,
) -> sqlx::Result<Option<ClaimedAssessment>> {
    let mut transaction = pool.begin().await?;
    sqlx::query!("SELECT pg_advisory_xact_lock($1)", LOCK).execute(&mut *transaction).await?;
    let row = sqlx::query!(
        r#"
        WITH next AS (
            SELECT id, state
            FROM assessments AS wanted
            WHERE (state = 'queued' OR (state = 'running' AND leased_until <= clock_timestamp()))
              AND (agent_key IS NULL OR agent_key = ANY($1))
              AND NOT EXISTS (
                SELECT FROM assessments AS other
                WHERE other.url = wanted.url AND other.id <> wanted.id AND other.state = 'running'
              )
            ORDER BY wanted_at, id
            LIMIT 1
            FOR UPDATE SKIP LOCKED
        )
        UPDATE assessments
        SET state = 'running', fence = fence + 1, leased_until = clock_timestamp() + $2,
            breaks = breaks + CASE WHEN next.state = 'running' THEN 1 ELSE 0 END,
            started_at = coalesce(started_at, clock_timestamp())
        FROM next
        WHERE assessments.id = next.id
        RETURNING
            assessments.id, agent_key AS "agent: ModelKey", url, allows_private, a2a_task,
            config AS "config: Json<Value>", seed, seed_is_drawn, fence, breaks
        "#,
        askable as _,
        interval(lease),
    )
    .fetch_optional(&mut *transaction)
    .await?;
    let Some(row) = row else { return Ok(None) };
    if row.breaks > MAX_BREAKS {
        let problem = format!("Buildoff stopped {MAX_BREAKS} times while it worked on this assessment.");
        end(&mut transaction, row.id, Some(&problem)).await?;
        let message = Message::new(MessageRole::Agent, vec![Part::text(&problem)]);
        let change = TaskChange::Status { state: A2aTaskState::Failed, message: Some(message) };
        tell(&mut transaction, row.a2a_task.map(|task| (task, change))).await?;
        transaction.commit().await?;
        return Box::pin(claim(pool, askable, lease)).await;
    }
    // A run that was interrupted begins anew: the agent's side of it is lost.
    sqlx::query!(
        "
        UPDATE runs
        SET state = 'waiting', started_at = NULL, steps = 0, messages = 0, unanswered = 0, unreadable = 0, given = 0,
            answer_ms = 0
        WHERE assessment_id = $1 AND state = 'running'
        ",
        row.id,
    )
    .execute(&mut *transaction)
    .await?;
    let runs = sqlx::query_as!(
        ClaimedRun,
        r#"
        SELECT id, category, task, max_steps, state AS "state: RunState"
        FROM runs
        WHERE assessment_id = $1
        ORDER BY number
        "#,
        row.id,
    )
    .fetch_all(&mut *transaction)
    .await?;
    transaction.commit().await?;
    Ok(Some(ClaimedAssessment {
        lease: AssessmentLease { assessment: row.id, fence: row.fence },
        agent: row.agent,
        url: row.url,
        allows_private: row.allows_private,
        a2a_task: row.a2a_task,
        config: row.config.0,
        seed: row.seed,
        seed_is_drawn: row.seed_is_drawn,
        is_continued: row.fence > 1,
        runs,
    }))
}

impl AssessmentLease {
    /// Begins a transaction that has locked the assessment, if it is still this server's.
    async fn begin(&self, pool: &PgPool) -> Result<Transaction<'static, Postgres>, LeaseError> {
        let mut transaction = pool.begin().await?;
        sqlx::query_scalar!(
            "SELECT id FROM assessments WHERE id = $1 AND fence = $2 AND state = 'running' FOR UPDATE",
            self.assessment,
            self.fence,
        )
        .fetch_optional(&mut *transaction)
        .await?
        .ok_or(LeaseError::Lost)?;
        Ok(transaction)
    }

    /// Keeps what the agent's card says.
    pub async fn store_card(&self, pool: &PgPool, card: &AgentSource) -> Result<(), LeaseError> {
        let mut transaction = self.begin(pool).await?;
        sqlx::query!("UPDATE assessments SET card = $2 WHERE id = $1", self.assessment, Json(card) as _)
            .execute(&mut *transaction)
            .await?;
        transaction.commit().await?;
        Ok(())
    }

    pub async fn begin_run(&self, pool: &PgPool, run: Uuid) -> Result<(), LeaseError> {
        let mut transaction = self.begin(pool).await?;
        sqlx::query!(
            "UPDATE runs SET state = 'running', started_at = clock_timestamp() WHERE id = $1 AND state = 'waiting'",
            run,
        )
        .execute(&mut *transaction)
        .await?;
        transaction.commit().await?;
        Ok(())
    }

    /// Prolongs the lease, and stores how far the run is.
    pub async fn renew(
        &self,
        pool: &PgPool,
        lease: Duration,
        run: Uuid,
        progress: &RunProgress,
    ) -> Result<(), LeaseError> {
        let mut transaction = self.begin(pool).await?;
        sqlx::query!(
            "UPDATE assessments SET leased_until = clock_timestamp() + $2 WHERE id = $1",
            self.assessment,
            interval(lease),
        )
        .execute(&mut *transaction)
        .await?;
        sqlx::query!(
            "
            UPDATE runs
            SET steps = $2, messages = $3, unanswered = $4, unreadable = $5, given = $6, answer_ms = $7
            WHERE id = $1 AND state = 'running'
            ",
            run,
            progress.steps,
            progress.messages,
            progress.unanswered,
            progress.unreadable,
            progress.given,
            progress.answer_ms,
        )
        .execute(&mut *transaction)
        .await?;
        transaction.commit().await?;
        Ok(())
    }

    pub async fn end_run(&self, pool: &PgPool, run: Uuid, ended: &EndedRun) -> Result<(), LeaseError> {
        let mut transaction = self.begin(pool).await?;
        let EndedRun { progress, end, paid, open, recording } = ended;
        sqlx::query!(
            "
            UPDATE runs
            SET state = 'ended', ended_at = clock_timestamp(), steps = $2, messages = $3, unanswered = $4,
                unreadable = $5, given = $6, answer_ms = $7, payable = $8, ending = $9, ending_words = $10, held = $11,
                assisted = $12, paid = $13, open = $14, recording = $15
            WHERE id = $1 AND state = 'running'
            ",
            run,
            progress.steps,
            progress.messages,
            progress.unanswered,
            progress.unreadable,
            progress.given,
            progress.answer_ms,
            end.payable,
            end.kind.name(),
            end.words.as_deref().map(without_nul),
            end.held,
            end.assisted,
            paid,
            open,
            recording.as_deref(),
        )
        .execute(&mut *transaction)
        .await?;
        transaction.commit().await?;
        Ok(())
    }

    /// Ends the assessment with its result, and with it the A2A task in which it was ordered.
    pub async fn finish(
        &self,
        pool: &PgPool,
        result: &Value,
        entries: &[NewBoardEntry],
        told: Option<(Uuid, TaskChange)>,
    ) -> Result<(), LeaseError> {
        let mut transaction = self.begin(pool).await?;
        let id = Uuid::now_v7();
        sqlx::query!(
            "INSERT INTO assessment_results (id, assessment_id, result) VALUES ($1, $2, $3)",
            id,
            self.assessment,
            result,
        )
        .execute(&mut *transaction)
        .await?;
        end(&mut transaction, self.assessment, None).await?;
        super::board::enter(&mut transaction, self.assessment, entries).await?;
        tell(&mut transaction, told).await?;
        transaction.commit().await?;
        Ok(())
    }

    /// Ends the assessment without a result, and with it the A2A task in which it was ordered.
    pub async fn fail(
        &self,
        pool: &PgPool,
        problem: &str,
        told: Option<(Uuid, TaskChange)>,
    ) -> Result<(), LeaseError> {
        let mut transaction = self.begin(pool).await?;
        end(&mut transaction, self.assessment, Some(problem)).await?;
        tell(&mut transaction, told).await?;
        transaction.commit().await?;
        Ok(())
    }

    /// Gives the assessment back to the queue, as when the server stops.
    pub async fn release(&self, pool: &PgPool) -> Result<(), LeaseError> {
        let mut transaction = self.begin(pool).await?;
        sqlx::query!(
            "UPDATE assessments SET state = 'queued', leased_until = NULL WHERE id = $1",
            self.assessment
        )
        .execute(&mut *transaction)
        .await?;
        transaction.commit().await?;
        Ok(())
    }
}

/// Changes an A2A task that is still there.
async fn tell(connection: &mut PgConnection, told: Option<(Uuid, TaskChange)>) -> sqlx::Result<()> {
    if let Some((task, change)) = told {
        a2a_tasks::change(connection, task, change).await?;
    }
    Ok(())
}

async fn end(connection: &mut PgConnection, assessment: Uuid, problem: Option<&str>) -> sqlx::Result<()> {
    sqlx::query!(
        "
        UPDATE assessments
        SET state = CASE WHEN $2::text IS NULL THEN 'finished' ELSE 'failed' END, problem = $2,
            ended_at = clock_timestamp(), leased_until = NULL
        WHERE id = $1
        ",
        assessment,
        problem.map(without_nul),
    )
    .execute(connection)
    .await?;
    Ok(())
}
