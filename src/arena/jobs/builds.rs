//! Jobs of the kind `build`: a model is to build a prompt at some settings.
//!
//! The subject of such a job is `prompt_id@settings`, so that one build is asked for once at a time. A job that is
//! ready has its build: both are written in one transaction.

mod batched;

pub use batched::BatchedBuild;

use std::collections::HashMap;

use sqlx::{PgConnection, PgPool};
use uuid::Uuid;

use super::attempts::{self, AbortReason};
use super::lease::{self, Claim, JobFailure, LeaseError};
use super::{JobKind, JobState, claims};
use crate::arena::builds::{self, BuildSlot, GenerationInfo, PackedBuild, StoreError};
use crate::arena::{ModelKey, PromptId, Settings, generations};

/// A job that a worker has claimed, with what the model is asked for.
#[derive(Clone, Debug)]
pub struct ClaimedBuild {
    pub claim: Claim,
    pub slot: BuildSlot,
    pub prompt_text: String,
}

/// Why no build is asked for.
#[derive(Debug, thiserror::Error)]
pub enum EnqueueError {
    #[error("this model has already built this prompt")]
    HasBuild,
    #[error("this build is already queued or running")]
    InProgress(Uuid),
    #[error("this prompt does not exist")]
    NoPrompt,
    #[error("this model does not exist")]
    NoModel,
    #[error(transparent)]
    Database(sqlx::Error),
}

fn subject(slot: &BuildSlot) -> String {
    format!("{}@{}", slot.prompt, slot.settings.slug())
}

/// Asks for a build, unless it exists or is already being made.
pub async fn enqueue(connection: &mut PgConnection, slot: &BuildSlot) -> Result<Uuid, EnqueueError> {
    if builds::exists(connection, slot).await? {
        return Err(EnqueueError::HasBuild);
    }
    let subject = subject(slot);
    let added = sqlx::query_scalar!(
        "
        WITH added AS (
            INSERT INTO jobs (id, kind, model_key, subject)
            VALUES ($1, $2, $3, $4)
            ON CONFLICT (kind, model_key, subject) WHERE state IN ('queued', 'running') DO NOTHING
            RETURNING id
        )
        INSERT INTO build_jobs (job_id, prompt_id, settings)
        SELECT id, $5, $6
        FROM added
        RETURNING job_id
        ",
        Uuid::now_v7(),
        JobKind::Build as _,
        slot.model as _,
        subject,
        slot.prompt as _,
        slot.settings as _,
    )
    .fetch_optional(&mut *connection)
    .await?;
    if let Some(id) = added {
        return Ok(id);
    }
    let under_way = sqlx::query_scalar!(
        "
        SELECT id
        FROM jobs
        WHERE kind = $1 AND model_key = $2 AND subject = $3
        ORDER BY wanted_at DESC
        LIMIT 1
        ",
        JobKind::Build as _,
        slot.model as _,
        subject,
    )
    .fetch_one(connection)
    .await?;
    Err(EnqueueError::InProgress(under_way))
}

impl From<sqlx::Error> for EnqueueError {
    fn from(error: sqlx::Error) -> Self {
        match error.as_database_error().and_then(sqlx::error::DatabaseError::constraint) {
            Some("build_jobs_prompt_id_fkey") => Self::NoPrompt,
            Some("jobs_model_key_fkey") => Self::NoModel,
            _ => Self::Database(error),
        }
    }
}

/// Asks for those of many builds that nobody has asked for or imported meanwhile, and returns their jobs. The share
/// locks make this and an admin who disables one of the models or prompts wait for each other, so that no job is added
/// for what is disabled.
pub async fn enqueue_all(connection: &mut PgConnection, slots: &[&BuildSlot]) -> sqlx::Result<Vec<Uuid>> {
    let ids: Vec<_> = slots.iter().map(|_| Uuid::now_v7()).collect();
    let prompts: Vec<_> = slots.iter().map(|slot| &slot.prompt).collect();
    let models: Vec<_> = slots.iter().map(|slot| &slot.model).collect();
    let settings: Vec<_> = slots.iter().map(|slot| &slot.settings).collect();
    let subjects: Vec<_> = slots.iter().map(|slot| subject(slot)).collect();
    sqlx::query_scalar!(
        "
        WITH missing AS (
            SELECT *
            FROM unnest($1::uuid[], $2::text[], $3::text[], $4::text[], $5::text[])
                AS missing (id, prompt_id, model_key, settings, subject)
        ),
        added AS (
            INSERT INTO jobs (id, kind, model_key, subject)
            SELECT missing.id, $6, missing.model_key, missing.subject
            FROM missing
            JOIN prompts ON prompts.id = missing.prompt_id AND prompts.active
            JOIN models ON models.key = missing.model_key AND models.enabled
            WHERE NOT EXISTS (
                SELECT FROM builds
                WHERE builds.prompt_id = missing.prompt_id AND builds.model_key = missing.model_key
                  AND builds.settings = missing.settings AND retired_at IS NULL
            )
            ORDER BY missing.id
            FOR SHARE OF prompts, models
            ON CONFLICT (kind, model_key, subject) WHERE state IN ('queued', 'running') DO NOTHING
            RETURNING id
        )
        INSERT INTO build_jobs (job_id, prompt_id, settings)
        SELECT id, prompt_id, settings
        FROM added
        JOIN missing USING (id)
        ORDER BY id
        RETURNING job_id
        ",
        &ids,
        prompts as _,
        models as _,
        settings as _,
        &subjects,
        JobKind::Build as _,
    )
    .fetch_all(connection)
    .await
}

/// Loads what a claimed job needs; where the build exists by now, the reason why nobody is asked.
pub(super) async fn load_claimed(
    connection: &mut PgConnection,
    claim: Claim,
) -> sqlx::Result<Result<ClaimedBuild, JobFailure<'static>>> {
    let row = sqlx::query!(
        r#"
        SELECT prompt_id AS "prompt: PromptId", settings AS "settings: Settings", text
        FROM build_jobs
        JOIN prompts ON prompts.id = prompt_id
        WHERE job_id = $1
        "#,
        claim.lease.job
    )
    .fetch_one(&mut *connection)
    .await?;
    let slot = BuildSlot { prompt: row.prompt, model: claim.model.clone(), settings: row.settings };
    if builds::exists(connection, &slot).await? {
        let message = "A build was imported while the job was queued, so the model was not asked.";
        return Ok(Err(JobFailure { code: "exists", message }));
    }
    Ok(Ok(ClaimedBuild { claim, slot, prompt_text: row.text }))
}

impl ClaimedBuild {
    /// Stores the build and ends the job, both or neither. Where another build was imported meanwhile, that one stays
    /// and the job has failed.
    pub async fn finish(
        &self,
        pool: &PgPool,
        build: &PackedBuild,
        generation: GenerationInfo,
    ) -> Result<(), LeaseError> {
        let mut transaction = self.claim.lease.begin(pool).await?;
        match builds::store(&mut transaction, &self.slot, build, generation, false).await {
            Ok(stored) => {
                set_build(&mut transaction, self.claim.lease.job, stored.id, None).await?;
                transaction.commit().await?;
                Ok(())
            }
            Err(StoreError::Database(error)) => Err(error.into()),
            Err(reason) => {
                transaction.rollback().await?;
                let message = format!("The answer is a build, but {reason}.");
                self.claim.lease.fail(pool, JobFailure { code: "exists", message: &message }).await
            }
        }
    }
}

/// Why a build that was found in an old answer is not stored.
#[derive(Debug, thiserror::Error)]
pub enum AttachBuildError {
    #[error("the model is asked differently now")]
    AskedDifferently,
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl From<sqlx::Error> for AttachBuildError {
    fn from(error: sqlx::Error) -> Self {
        Self::Store(error.into())
    }
}

/// Gives a failed job the build that the answer of an attempt turned out to hold. A job under way for the same build is
/// cancelled. Nobody changes meanwhile how the model is asked, because that takes the claims, too.
pub async fn attach_build(
    connection: &mut PgConnection,
    job: Uuid,
    slot: &BuildSlot,
    build: &PackedBuild,
    generation: GenerationInfo,
    attempt: i32,
) -> Result<Uuid, AttachBuildError> {
    claims::hold(connection).await?;
    if !generations::is_current(connection, job, attempt).await? {
        return Err(AttachBuildError::AskedDifferently);
    }
    cancel_for_import(connection, slot).await?;
    let stored = builds::store(connection, slot, build, generation, false).await?;
    set_build(connection, job, stored.id, Some(attempt)).await?;
    Ok(stored.id)
}

/// The build is that of an attempt, or else of the last one that counts.
async fn set_build(
    connection: &mut PgConnection,
    job: Uuid,
    build: Uuid,
    attempt: Option<i32>,
) -> sqlx::Result<()> {
    lease::end(connection, job, JobState::Ready, None).await?;
    sqlx::query!("UPDATE build_jobs SET build_id = $2 WHERE job_id = $1", job, build)
        .execute(&mut *connection)
        .await?;
    generations::store(connection, build, job, attempt).await
}

/// Cancels the job under way for a build that is imported.
pub async fn cancel_for_import(connection: &mut PgConnection, slot: &BuildSlot) -> sqlx::Result<()> {
    let cancelled = sqlx::query_scalar!(
        "
        UPDATE jobs
        SET state = 'cancelled', ended_at = clock_timestamp(), leased_until = NULL, note = NULL,
            error_code = 'exists', error = 'A build was imported meanwhile.', forgiven = true
        WHERE kind = $1 AND model_key = $2 AND subject = $3 AND state IN ('queued', 'running')
        RETURNING id
        ",
        JobKind::Build as _,
        slot.model as _,
        subject(slot),
    )
    .fetch_all(&mut *connection)
    .await?;
    for job in cancelled {
        attempts::abort_open(connection, job, AbortReason::Unneeded).await?;
    }
    Ok(())
}

/// What a build of each model has cost on average, in millionths of a dollar, over the jobs whose cost is fully known.
pub async fn average_costs(connection: &mut PgConnection) -> sqlx::Result<HashMap<ModelKey, u64>> {
    let rows = sqlx::query!(
        r#"
        WITH priced AS (
            SELECT model_key, sum(cost / price_part) AS cost
            FROM jobs
            JOIN attempts ON job_id = id
            WHERE kind = $1 AND state IN ('ready', 'failed')
            GROUP BY id
            HAVING count(*) = count(cost) AND NOT bool_or(cost_is_minimum)
                AND (state = 'ready' OR sum(cost) > 0)
        )
        SELECT model_key AS "model_key: ModelKey", round(avg(cost))::bigint AS "cost!"
        FROM priced
        GROUP BY model_key
        "#,
        JobKind::Build as _,
    )
    .fetch_all(connection)
    .await?;
    Ok(rows.into_iter().map(|row| (row.model_key, row.cost.unsigned_abs())).collect())
}
