//! Claims: which worker takes which job, for how long, and how it gives the job back.

use std::time::Duration;

use sqlx::{PgConnection, PgPool};

use super::attempts::{self, AbortReason};
use super::builds::{self, ClaimedBuild};
use super::judgements::{self, ClaimedJudging};
use super::lease::{self, Claim, JobFailure, Lease, LeaseError, interval};
use super::{JobKind, JobState, pauses};
use crate::arena::ModelKey;
use crate::arena::budgets::{Budgets, SpendingLimits};

/// Claims are made one after the other, so that the limits of providers and the budgets hold over all servers. Whoever lends
/// a key takes the same lock.
const LOCK: i64 = 0x6a6f_6273_0000_0000;

/// A job has failed once it has outlived so many servers and is interrupted again.
const MAX_INTERRUPTIONS: i32 = 5;

/// The provider that a server would ask for a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelRoute {
    pub model: ModelKey,
    pub provider: String,
}

/// A job that a worker has claimed, by its kind.
#[derive(Clone, Debug)]
pub enum ClaimedJob {
    Build(ClaimedBuild),
    Judge(ClaimedJudging),
}

/// Whether a worker should try to claim a job. Pauses of providers and budgets are left to [`claim`].
pub async fn any_claimable(pool: &PgPool) -> sqlx::Result<bool> {
    sqlx::query_scalar!(
        r#"
        SELECT EXISTS (
            SELECT FROM jobs
            WHERE state IN ('queued', 'running') AND (leased_until IS NULL OR leased_until <= now()) AND NOT batched
              AND NOT EXISTS (SELECT FROM installation WHERE queue_paused_at IS NOT NULL)
        ) AS "any!"
        "#
    )
    .fetch_one(pool)
    .await
}

/// Claims the oldest queued job whose provider has a free slot and is not paused. A provider whose pause is over has a
/// single slot, for the probe. Jobs that were set back come last. Models whose budget is used up are left out. Before,
/// all jobs whose worker has let its lease run out return to the queue, whether or not one of them can be claimed.
pub async fn claim(
    pool: &PgPool,
    routes: &[ModelRoute],
    max_running: u32,
    limits: &SpendingLimits,
    lease: Duration,
) -> sqlx::Result<Option<ClaimedJob>> {
    requeue_expired(pool).await?;
    loop {
        match claim_next(pool, routes, max_running, limits, lease).await? {
            ClaimResult::Nothing => return Ok(None),
            ClaimResult::Ended => {}
            ClaimResult::Claimed(job) => return Ok(Some(*job)),
        }
    }
}

/// Gives the jobs of dead servers back to the queue.
async fn requeue_expired(pool: &PgPool) -> sqlx::Result<()> {
    let expired = sqlx::query_scalar!(
        "SELECT id FROM jobs WHERE state = 'running' AND NOT batched AND leased_until <= clock_timestamp()"
    )
    .fetch_all(pool)
    .await?;
    for job in expired {
        let mut transaction = pool.begin().await?;
        let requeued = sqlx::query!(
            "
            UPDATE jobs
            SET state = 'queued', leased_until = NULL, note = NULL, breaks = breaks + 1
            WHERE id = $1 AND state = 'running' AND NOT batched AND leased_until <= clock_timestamp()
            ",
            job,
        )
        .execute(&mut *transaction)
        .await?;
        if requeued.rows_affected() > 0 {
            attempts::abort_open(&mut transaction, job, AbortReason::Interrupted).await?;
            transaction.commit().await?;
        }
    }
    Ok(())
}

enum ClaimResult {
    Nothing,
    /// The job was ended instead, since nothing is left to do for it.
    Ended,
    Claimed(Box<ClaimedJob>),
}

async fn claim_next(
    pool: &PgPool,
    routes: &[ModelRoute],
    max_running: u32,
    limits: &SpendingLimits,
    lease: Duration,
) -> sqlx::Result<ClaimResult> {
    let mut transaction = pool.begin().await?;
    hold(&mut transaction).await?;
    let budgets = Budgets::read(&mut transaction, limits).await?;
    let routes = routes.iter().filter(|route| budgets.stop_of(&route.model).is_none());
    let (models, providers): (Vec<_>, Vec<_>) =
        routes.map(|route| (&route.model, route.provider.as_str())).unzip();
    let row = sqlx::query!(
        r#"
        WITH offers AS (
            SELECT * FROM unnest($1::text[], $2::text[]) AS offers (model_key, provider)
        ), busy AS (
            SELECT provider, count(*) AS jobs
            FROM jobs
            WHERE state = 'running' AND leased_until > clock_timestamp()
            GROUP BY provider
        ), pauses AS (
            SELECT
                provider,
                until <= clock_timestamp() AND NOT EXISTS (
                    SELECT FROM jobs
                    WHERE id = probe_job AND fence = probe_fence
                      AND state = 'running' AND leased_until > clock_timestamp()
                ) AS may_probe
            FROM provider_pauses
        ), next AS (
            SELECT jobs.id, offers.provider, pauses.provider IS NOT NULL AS probes
            FROM jobs
            JOIN offers ON offers.model_key = jobs.model_key
            LEFT JOIN busy ON busy.provider = offers.provider
            LEFT JOIN pauses ON pauses.provider = offers.provider
            WHERE state = 'queued' AND NOT batched AND coalesce(busy.jobs, 0) < $3
              AND (pauses.provider IS NULL OR pauses.may_probe)
              AND NOT EXISTS (SELECT FROM installation WHERE queue_paused_at IS NOT NULL)
            ORDER BY setbacks, wanted_at, jobs.id
            LIMIT 1
            FOR UPDATE OF jobs SKIP LOCKED
        )
        UPDATE jobs
        SET state = 'running', fence = fence + 1, leased_until = clock_timestamp() + $4, provider = next.provider,
            started_at = coalesce(started_at, clock_timestamp()), chars = 0, note = NULL
        FROM next
        WHERE jobs.id = next.id
        RETURNING
            jobs.id, kind AS "kind: JobKind", model_key AS "model_key: ModelKey", jobs.provider AS "provider!",
            fence, breaks, next.probes AS "probes!"
        "#,
        models as _,
        providers as _,
        i64::from(max_running),
        interval(lease),
    )
    .fetch_optional(&mut *transaction)
    .await?;
    let Some(row) = row else { return Ok(ClaimResult::Nothing) };
    let lease = Lease { job: row.id, fence: row.fence };
    if row.probes {
        pauses::begin_probe(&mut transaction, &row.provider, &lease).await?;
    }
    let claim = Claim { lease, model: row.model_key, provider: row.provider };
    let loaded = match row.kind {
        JobKind::Build => builds::load_claimed(&mut transaction, claim).await?.map(ClaimedJob::Build),
        JobKind::Judge => judgements::load_claimed(&mut transaction, claim).await?.map(ClaimedJob::Judge),
    };
    let interrupted = format!("Buildoff stopped {MAX_INTERRUPTIONS} times while it worked on this job.");
    let result = match loaded {
        Err(obsolete) => Err((JobState::Cancelled, obsolete)),
        Ok(_) if row.breaks > MAX_INTERRUPTIONS => {
            Err((JobState::Failed, JobFailure { code: "interrupted", message: &interrupted }))
        }
        Ok(job) => Ok(job),
    };
    if let Err((state, reason)) = &result {
        lease::end(&mut transaction, row.id, *state, Some(*reason)).await?;
    }
    transaction.commit().await?;
    Ok(result.map_or(ClaimResult::Ended, |job| ClaimResult::Claimed(Box::new(job))))
}

/// Makes all claims wait until the transaction ends.
pub(in crate::arena) async fn hold(connection: &mut PgConnection) -> sqlx::Result<()> {
    sqlx::query!("SELECT pg_advisory_xact_lock($1)", LOCK).execute(connection).await?;
    Ok(())
}

impl Lease {
    /// Gives the job back to the queue, as when the server is stopping.
    pub async fn release(&self, pool: &PgPool) -> Result<(), LeaseError> {
        let mut transaction = self.begin(pool).await?;
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
