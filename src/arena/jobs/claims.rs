//! Claims: who works on a job, for how long, and how that ends.

use std::time::Duration;

use sqlx::postgres::types::PgInterval;
use sqlx::{Connection, PgConnection, PgPool};
use uuid::Uuid;

use super::attempts::{self, AbortReason};
use super::lease::{AnswerProgress, Lease, LeaseError, without_nul};
use crate::arena::builds::{self, BuildSlot, GenerationInfo, PackedBuild, StoreError};
use crate::arena::{ModelKey, PromptId, Settings};

/// Claims are made one at a time, so that the bounds on providers hold over all servers.
const LOCK: i64 = 0x6a6f_6273_0000_0000;

/// A job that so many servers did not survive is not for anybody.
const MAX_INTERRUPTIONS: i32 = 5;

/// Whom a server can ask for whose builds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelRoute {
    pub model: ModelKey,
    pub provider: String,
}

#[derive(Clone, Debug)]
pub struct ClaimedJob {
    pub lease: Lease,
    pub slot: BuildSlot,
    pub prompt_text: String,
    pub provider: String,
}

/// How a job ends without a build.
#[derive(Clone, Copy, Debug)]
pub struct JobFailure<'a> {
    pub code: &'a str,
    pub message: &'a str,
}

/// Whether somebody should try to claim.
pub async fn any_claimable(pool: &PgPool) -> sqlx::Result<bool> {
    sqlx::query_scalar!(
        r#"
        SELECT EXISTS (
            SELECT FROM jobs
            WHERE state IN ('queued', 'running') AND (leased_until IS NULL OR leased_until <= now())
        ) AS "any!"
        "#
    )
    .fetch_one(pool)
    .await
}

/// Takes the job that was wanted first, of those with room at their provider: one that is queued, or one
/// whose worker has let its lease run out.
pub async fn claim(
    pool: &PgPool,
    routes: &[ModelRoute],
    max_running: u32,
    lease: Duration,
) -> sqlx::Result<Option<ClaimedJob>> {
    loop {
        match claim_next(pool, routes, max_running, lease).await? {
            ClaimResult::Nothing => return Ok(None),
            ClaimResult::Ended => {}
            ClaimResult::Claimed(claim) => return Ok(Some(claim)),
        }
    }
}

enum ClaimResult {
    Nothing,
    /// There is nothing to do for it any more.
    Ended,
    Claimed(ClaimedJob),
}

async fn claim_next(
    pool: &PgPool,
    routes: &[ModelRoute],
    max_running: u32,
    lease: Duration,
) -> sqlx::Result<ClaimResult> {
    let models: Vec<_> = routes.iter().map(|route| route.model.as_str().to_owned()).collect();
    let providers: Vec<_> = routes.iter().map(|route| route.provider.clone()).collect();
    let mut connection = pool.acquire().await?;
    let mut transaction = connection.begin().await?;
    sqlx::query!("SELECT pg_advisory_xact_lock($1)", LOCK).execute(&mut *transaction).await?;
    let row = sqlx::query!(
        r#"
        WITH offers AS (
            SELECT * FROM unnest($1::text[], $2::text[]) AS offers (model_key, provider)
        ), busy AS (
            SELECT provider, count(*) AS jobs
            FROM jobs
            WHERE state = 'running' AND leased_until > clock_timestamp()
            GROUP BY provider
        ), next AS (
            SELECT jobs.id, offers.provider
            FROM jobs
            JOIN offers ON offers.model_key = jobs.model_key
            LEFT JOIN busy ON busy.provider = offers.provider
            WHERE state IN ('queued', 'running')
              AND (leased_until IS NULL OR leased_until <= clock_timestamp())
              AND coalesce(busy.jobs, 0) < $3
            ORDER BY wanted_at, jobs.id
            LIMIT 1
            FOR UPDATE OF jobs SKIP LOCKED
        )
        UPDATE jobs
        SET state = 'running', fence = fence + 1, leased_until = clock_timestamp() + $4, provider = next.provider,
            breaks = breaks + CASE WHEN state = 'running' THEN 1 ELSE 0 END,
            started_at = coalesce(started_at, clock_timestamp()), chars = 0, note = NULL
        FROM next, prompts
        WHERE jobs.id = next.id AND prompts.id = prompt_id
        RETURNING
            jobs.id, fence, breaks, prompt_id, text, model_key, grid_size, palette, mode, jobs.provider AS "provider!"
        "#,
        &models,
        &providers,
        i64::from(max_running),
        interval(lease),
    )
    .fetch_optional(&mut *transaction)
    .await?;
    let Some(row) = row else { return Ok(ClaimResult::Nothing) };
    attempts::abort_open(&mut transaction, row.id, AbortReason::Interrupted).await?;
    let wrong = |problem: String| sqlx::Error::Decode(problem.into());
    let settings = Settings {
        grid: row.grid_size.to_string().parse().map_err(wrong)?,
        palette: row.palette.parse().map_err(wrong)?,
        mode: row.mode.parse().map_err(wrong)?,
    };
    let prompt: PromptId = row.prompt_id.parse().map_err(wrong)?;
    let model: ModelKey = row.model_key.parse().map_err(wrong)?;
    let lease = Lease { job: row.id, fence: row.fence };
    let slot = BuildSlot { prompt, model, settings };
    let obsolete = if builds::exists(&mut transaction, &slot).await? {
        Some(("cancelled", "exists", "A build was brought in meanwhile, so nobody was asked.".to_owned()))
    } else if row.breaks > MAX_INTERRUPTIONS {
        let message = format!("Buildoff stopped in the middle of it {MAX_INTERRUPTIONS} times.");
        Some(("failed", "interrupted", message))
    } else {
        None
    };
    if let Some((state, code, message)) = &obsolete {
        mark_ended(&mut transaction, &lease, state, Some(code), Some(message)).await?;
    }
    transaction.commit().await?;
    Ok(match obsolete {
        Some(_) => ClaimResult::Ended,
        None => {
            ClaimResult::Claimed(ClaimedJob { lease, slot, prompt_text: row.text, provider: row.provider })
        }
    })
}

impl Lease {
    /// Prolongs the lease, and keeps what has streamed in since the last time.
    pub async fn renew(
        &self,
        pool: &PgPool,
        lease: Duration,
        progress: &AnswerProgress,
    ) -> Result<(), LeaseError> {
        let mut connection = pool.acquire().await?;
        let mut transaction = connection.begin().await?;
        self.lock(&mut transaction).await?;
        sqlx::query!(
            "
            UPDATE jobs
            SET leased_until = clock_timestamp() + $2, chars = $3, note = $4
            WHERE id = $1
            ",
            self.job,
            interval(lease),
            progress.chars,
            progress.note.as_deref().map(without_nul),
        )
        .execute(&mut *transaction)
        .await?;
        if !progress.text.is_empty() {
            sqlx::query!(
                "
                INSERT INTO answer_parts (job_id, number, part, text)
                SELECT job_id, number, $3, $4
                FROM attempts
                WHERE job_id = $1 AND number = $2 AND ended_at IS NULL
                ON CONFLICT (job_id, number, part) DO UPDATE SET text = excluded.text
                ",
                self.job,
                progress.attempt,
                i64::from(progress.offset),
                progress.text.as_bytes(),
            )
            .execute(&mut *transaction)
            .await?;
        }
        transaction.commit().await?;
        Ok(())
    }

    /// Stores the build and ends the job, both or neither. A build that somebody has imported meanwhile stays,
    /// and the job has failed.
    pub async fn finish(
        &self,
        pool: &PgPool,
        slot: &BuildSlot,
        build: &PackedBuild,
        generation: GenerationInfo,
    ) -> Result<(), LeaseError> {
        let mut connection = pool.acquire().await?;
        let mut transaction = connection.begin().await?;
        self.lock(&mut transaction).await?;
        match builds::store(&mut transaction, slot, build, generation, false).await {
            Ok(stored) => {
                mark_ready(&mut transaction, self.job, stored.id).await?;
                transaction.commit().await?;
                Ok(())
            }
            Err(StoreError::Database(error)) => Err(error.into()),
            Err(reason) => {
                transaction.rollback().await?;
                let message = format!("The answer is a build, but {reason}.");
                self.fail(pool, JobFailure { code: "exists", message: &message }).await
            }
        }
    }

    pub async fn fail(&self, pool: &PgPool, failed: JobFailure<'_>) -> Result<(), LeaseError> {
        let mut connection = pool.acquire().await?;
        let mut transaction = connection.begin().await?;
        self.lock(&mut transaction).await?;
        let message = without_nul(failed.message);
        mark_ended(&mut transaction, self, "failed", Some(failed.code), Some(&message)).await?;
        transaction.commit().await?;
        Ok(())
    }

    /// Leaves the job to others, as when the server is going down.
    pub async fn release(&self, pool: &PgPool) -> Result<(), LeaseError> {
        let mut connection = pool.acquire().await?;
        let mut transaction = connection.begin().await?;
        self.lock(&mut transaction).await?;
        attempts::abort_open(&mut transaction, self.job, AbortReason::Interrupted).await?;
        sqlx::query!(
            "UPDATE jobs SET state = 'queued', leased_until = NULL, note = NULL WHERE id = $1",
            self.job
        )
        .execute(&mut *transaction)
        .await?;
        transaction.commit().await?;
        Ok(())
    }
}

async fn mark_ended(
    connection: &mut PgConnection,
    lease: &Lease,
    state: &str,
    code: Option<&str>,
    message: Option<&str>,
) -> sqlx::Result<()> {
    sqlx::query!(
        "
        UPDATE jobs
        SET state = $2, ended_at = clock_timestamp(), leased_until = NULL, note = NULL, error_code = $3, error = $4,
            forgiven = $2 = 'cancelled'
        WHERE id = $1
        ",
        lease.job,
        state,
        code,
        message,
    )
    .execute(connection)
    .await?;
    Ok(())
}

async fn mark_ready(connection: &mut PgConnection, job: Uuid, build: Uuid) -> sqlx::Result<()> {
    sqlx::query!(
        "
        UPDATE jobs
        SET state = 'ready', build_id = $2, ended_at = clock_timestamp(), leased_until = NULL, note = NULL,
            error_code = NULL, error = NULL
        WHERE id = $1
        ",
        job,
        build,
    )
    .execute(connection)
    .await?;
    Ok(())
}

/// Gives a failed job the build that its answer turned out to hold. Whoever was asked once more is not needed.
pub async fn attach_build(
    connection: &mut PgConnection,
    job: Uuid,
    slot: &BuildSlot,
    build: &PackedBuild,
    generation: GenerationInfo,
) -> Result<Uuid, StoreError> {
    super::cancel_for_import(connection, slot).await?;
    let stored = builds::store(connection, slot, build, generation, false).await?;
    mark_ready(connection, job, stored.id).await?;
    Ok(stored.id)
}

fn interval(duration: Duration) -> PgInterval {
    let microseconds = i64::try_from(duration.as_micros()).unwrap_or(i64::MAX);
    PgInterval { months: 0, days: 0, microseconds }
}
