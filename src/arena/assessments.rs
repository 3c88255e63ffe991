//! Assessments: an agent is put through tasks of the block world, run by run, and gets a result.
//!
//! **An assessment** is ordered once and waits in a queue that all servers share. One of them claims it under a lease, as
//! it does with jobs, and runs it; if that server dies, another one goes on at the first run that has not ended. An agent
//! is assessed once at a time: each claim is made under a lock, and a unique index holds whatever happens.
//!
//! **A result** is made when all runs have ended, in the same transaction as the end of the assessment. Where it is of a
//! whole category it stands on that category's [`board`]. A seed that was drawn is shown to nobody before.

pub mod board;
mod claims;
mod reading;

pub use self::claims::{
    AssessmentLease, ClaimedAssessment, ClaimedRun, EndedRun, RunEndingKind, RunProgress, RunSummary, claim,
};
pub use self::reading::{
    Assessment, AssessmentState, ResultTotal, RunState, StoredResult, StoredRun, find, find_run, list,
    recording, results, runs, totals,
};

use a2a::{A2aTaskState, TaskChange};
use serde_json::Value;
use sqlx::{PgConnection, PgPool};
use uuid::Uuid;

use super::{ModelKey, a2a_tasks};
use crate::judge::scores::Revision;

/// The most assessments that wait or run. Admins may order more.
const MAX_UNDER_WAY: i64 = 200;

/// Who ordered an assessment, or wants to cancel one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Orderer {
    Admin,
    /// Whoever has this token of an agent.
    Owner(Uuid),
    Visitor,
}

/// An order that was checked.
pub struct NewAssessment {
    pub agent: Option<ModelKey>,
    pub url: String,
    pub allows_private: bool,
    pub ordered_by: Orderer,
    /// The A2A task in which it was ordered.
    pub a2a_task: Option<Uuid>,
    pub config: Value,
    pub world: &'static str,
    pub revision: Revision,
    pub seed: i64,
    pub seed_is_drawn: bool,
    pub runs: Vec<NewRun>,
}

pub struct NewRun {
    pub category: String,
    pub task: String,
    pub max_steps: i32,
}

/// Why an order is not taken.
#[derive(Debug, thiserror::Error)]
pub enum OrderRefused {
    #[error("this token has ordered {0} assessments in a day, which is all it may")]
    TokenUsedUp(i32),
    #[error("this token is unknown or revoked")]
    NoToken,
    #[error("{MAX_UNDER_WAY} assessments wait already")]
    QueueFull,
    #[error(transparent)]
    Database(#[from] sqlx::Error),
}

/// Puts an assessment into the queue, and returns its id.
pub async fn order(pool: &PgPool, new: NewAssessment) -> Result<Uuid, OrderRefused> {
    let mut transaction = pool.begin().await?;
    if let Orderer::Owner(token) = new.ordered_by {
        use_token(&mut transaction, token).await?;
    }
    if new.ordered_by != Orderer::Admin && count_under_way(&mut transaction).await? >= MAX_UNDER_WAY {
        return Err(OrderRefused::QueueFull);
    }
    let id = Uuid::now_v7();
    let (ordered_by, token) = match new.ordered_by {
        Orderer::Admin => ("admin", None),
        Orderer::Owner(token) => ("owner", Some(token)),
        Orderer::Visitor => ("visitor", None),
    };
    sqlx::query!(
        "
        INSERT INTO assessments (
            id, agent_key, url, allows_private, ordered_by, token_id, a2a_task, config, world, revision, seed,
            seed_is_drawn
        )
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
        ",
        id,
        new.agent as _,
        new.url,
        new.allows_private,
        ordered_by,
        token,
        new.a2a_task,
        new.config,
        new.world,
        new.revision.name(),
        new.seed,
        new.seed_is_drawn,
    )
    .execute(&mut *transaction)
    .await?;
    for (number, run) in (1..).zip(&new.runs) {
        sqlx::query!(
            "
            INSERT INTO runs (id, assessment_id, number, category, task, max_steps)
            VALUES ($1, $2, $3, $4, $5, $6)
            ",
            Uuid::now_v7(),
            id,
            number,
            run.category,
            run.task,
            run.max_steps,
        )
        .execute(&mut *transaction)
        .await?;
    }
    transaction.commit().await?;
    Ok(id)
}

/// Takes one of the day's assessments of a token. Orders with one token wait for each other.
async fn use_token(connection: &mut PgConnection, token: Uuid) -> Result<(), OrderRefused> {
    let limit = sqlx::query_scalar!(
        "SELECT runs_per_day FROM agent_tokens WHERE id = $1 AND revoked_at IS NULL FOR UPDATE",
        token,
    )
    .fetch_optional(&mut *connection)
    .await?
    .ok_or(OrderRefused::NoToken)?;
    let ordered = sqlx::query_scalar!(
        r#"
        SELECT count(*) AS "count!"
        FROM assessments
        WHERE token_id = $1 AND wanted_at > clock_timestamp() - interval '1 day'
        "#,
        token,
    )
    .fetch_one(&mut *connection)
    .await?;
    if ordered >= i64::from(limit) { Err(OrderRefused::TokenUsedUp(limit)) } else { Ok(()) }
}

async fn count_under_way(connection: &mut PgConnection) -> sqlx::Result<i64> {
    sqlx::query_scalar!(
        r#"SELECT count(*) AS "count!" FROM assessments WHERE state IN ('queued', 'running')"#
    )
    .fetch_one(connection)
    .await
}

/// Cancels an assessment that has not ended, with the A2A task in which it was ordered, and returns whether it did.
/// Whoever runs it learns so at its next write.
pub async fn cancel(pool: &PgPool, id: Uuid) -> sqlx::Result<bool> {
    let mut transaction = pool.begin().await?;
    let cancelled = sqlx::query!(
        "
        UPDATE assessments
        SET state = 'cancelled', ended_at = clock_timestamp(), leased_until = NULL
        WHERE id = $1 AND state IN ('queued', 'running')
        RETURNING a2a_task
        ",
        id,
    )
    .fetch_optional(&mut *transaction)
    .await?;
    let Some(cancelled) = cancelled else { return Ok(false) };
    if let Some(task) = cancelled.a2a_task {
        let change = TaskChange::Status { state: A2aTaskState::Canceled, message: None };
        a2a_tasks::change(&mut transaction, task, change).await?;
    }
    transaction.commit().await?;
    Ok(true)
}

/// The assessment that was ordered in an A2A task.
pub async fn of_a2a_task(pool: &PgPool, task: Uuid) -> sqlx::Result<Option<Uuid>> {
    sqlx::query_scalar!("SELECT id FROM assessments WHERE a2a_task = $1", task).fetch_optional(pool).await
}
