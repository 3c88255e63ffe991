//! Jobs: what models are to be asked for, as rows that outlive whoever works on them.
//!
//! A job has a kind, the model that is asked, and a subject. It is queued, then running, and then ready, failed or
//! cancelled for good; asking again takes another job. At most one job is under way for a kind, a model and a subject:
//! a unique index sees to that.
//!
//! What holds for every kind is in [`claims`], [`attempts`] and the modules beside them, which know no kind's tables.
//! What only one kind needs is in a module of its own, [`builds`] or [`judgements`]: adding its jobs, loading them when
//! they are claimed, and storing what they yield. [`listing`] lists jobs of every kind.
//!
//! **Fence.** A worker holds a job on a lease. Every claim raises the job's fence by one, and every write of a worker
//! locks the job's row and names the fence of its claim. A worker that lost its job, because its lease ran out and
//! another claimed the job or because an admin cancelled it, therefore stores nothing any more, however late it comes.
//!
//! **Order of locks.** Whatever changes a job locks the job first, then its attempts and their parts, then builds, then
//! the pause of its provider; the row of `installation` comes last, by triggers that are deferred to the commit. A claim
//! takes the advisory lock of all claims before any job, and skips jobs that are locked; a change of how a model is asked
//! takes that lock, too, then the model's row, and then goes on like any other. Whoever reserves a batch or begins to submit
//! one also takes that lock first; the rows of batches come after those of their jobs. An import cancels the job under way before
//! it stores its build: so it waits for a worker that is storing one, and that worker never waits for it.
//!
//! **Batches.** A job can be asked for in a batch instead. Then it stays queued and no worker claims it; see [`batches`].
//!
//! A general job queue would not do: that a subject is asked for once, that the limit of a provider holds over all
//! servers, and that a build and the end of its job are one transaction, are rules of these tables.

pub mod attempts;
pub mod batches;
mod builds;
mod cancellation;
pub mod claims;
pub mod judgements;
mod lease;
mod listing;
pub mod pauses;

pub use builds::{
    AttachBuildError, BatchedBuild, ClaimedBuild, EnqueueError, attach_build, average_costs,
    cancel_for_import, enqueue, enqueue_all,
};
pub(super) use cancellation::cancel_begun;
pub use cancellation::{cancel, cancel_all, cancel_queued, cancel_these};
pub use lease::{AnswerProgress, Claim, JobFailure, Lease, LeaseError};
pub(in crate::arena) use lease::{interval, without_nul};
pub use listing::{Job, JobFilter, JudgedInJob, find, list, of_slot, reparsable, under_way};

use serde::{Deserialize, Serialize};
use sqlx::{PgConnection, PgPool};
use uuid::Uuid;

use super::ModelKey;

/// What a job is to yield.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, sqlx::Type)]
#[sqlx(type_name = "text", rename_all = "snake_case")]
pub enum JobKind {
    /// A build of a prompt.
    Build,
    /// Scores for a build, or a choice between two.
    Judge,
}

impl JobKind {
    pub const ALL: [Self; 2] = [Self::Build, Self::Judge];

    pub fn name(self) -> &'static str {
        match self {
            Self::Build => "build",
            Self::Judge => "judge",
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, sqlx::Type)]
#[serde(rename_all = "snake_case")]
#[sqlx(type_name = "text", rename_all = "snake_case")]
pub enum JobState {
    Queued,
    Running,
    Ready,
    Failed,
    Cancelled,
}

impl JobState {
    pub const ALL: [Self; 5] = [Self::Queued, Self::Running, Self::Ready, Self::Failed, Self::Cancelled];

    pub fn name(self) -> &'static str {
        match self {
            Self::Queued => "queued",
            Self::Running => "running",
            Self::Ready => "ready",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
        }
    }
}

/// A job as somebody who waits for it needs to know it.
#[derive(Clone, Debug)]
pub struct JobProgress {
    pub id: Uuid,
    pub state: JobState,
    pub model: ModelKey,
    /// The provider that is asked; none before the first claim.
    pub provider: Option<String>,
}

/// How far these jobs are. What does not exist is left out.
pub async fn progress(pool: &PgPool, ids: &[Uuid]) -> sqlx::Result<Vec<JobProgress>> {
    sqlx::query_as!(
        JobProgress,
        r#"
        SELECT id, state AS "state: JobState", model_key AS "model: ModelKey", provider
        FROM jobs
        WHERE id = ANY ($1)
        ORDER BY id
        "#,
        ids,
    )
    .fetch_all(pool)
    .await
}

/// Whether one of these runs, or is queued for a model that is not paused.
pub async fn any_in_progress(
    connection: &mut PgConnection,
    ids: &[Uuid],
    paused_models: &[String],
) -> sqlx::Result<bool> {
    sqlx::query_scalar!(
        r#"
        SELECT EXISTS (
            SELECT FROM jobs
            WHERE id = ANY ($1) AND (state = 'running' OR (state = 'queued' AND model_key <> ALL ($2)))
        ) AS "any!"
        "#,
        ids,
        paused_models,
    )
    .fetch_one(connection)
    .await
}

/// Lets these failed and cancelled jobs be asked for again.
pub async fn allow_retry(connection: &mut PgConnection, jobs: &[Uuid]) -> sqlx::Result<()> {
    sqlx::query!(
        "UPDATE jobs SET forgiven = true WHERE id = ANY ($1) AND state IN ('failed', 'cancelled') AND NOT forgiven",
        jobs,
    )
    .execute(connection)
    .await?;
    Ok(())
}

/// What all attempts have cost, in millionths of a dollar as far as it is known, and of how many attempts it is not known,
/// or only what they cost at least. A trigger updates both in the transactions that price and end attempts.
pub async fn total_spent(pool: &PgPool) -> sqlx::Result<(i64, i64)> {
    let row = sqlx::query!("SELECT spent, unpriced_attempts FROM installation").fetch_one(pool).await?;
    Ok((row.spent, row.unpriced_attempts))
}
