//! Batches: jobs that are sent to a provider together, answered within a day, and cheaper for that.
//!
//! A batch and its jobs are rows before anything is sent. It goes through the states of [`BatchState`], one step at a
//! time, and each step ends by writing down what it has done. The server that takes a step holds the batch on a lease,
//! with a fence as for jobs, so that no two servers submit or collect the same batch.
//!
//! A job of a batch stays queued, and no worker claims it. It leaves its batch in the transaction that stores its answer,
//! or that says why it has none. So whatever comes for it a second time, or after it was cancelled, finds that it is not
//! part of the batch any more.

mod steps;

use std::time::Duration;

use serde_json::Value;
use sqlx::types::Json;
use sqlx::{PgConnection, PgPool};
use time::OffsetDateTime;
use uuid::Uuid;

use voxel::codec::Digest;

use super::attempts::SentOptions;
use super::claims;
use super::lease::{JobFailure, interval};
use crate::arena::ModelKey;
use crate::arena::budgets::{Budgets, SpendingLimits};
use crate::arena::catalog::ModelOptions;

/// How many jobs a batch has at most.
const MAX_JOBS: i64 = 200;

#[derive(Clone, Copy, Debug, PartialEq, Eq, sqlx::Type)]
#[sqlx(type_name = "text", rename_all = "snake_case")]
pub enum BatchState {
    /// Nothing was sent.
    Reserved,
    /// It may have been submitted.
    Submitting,
    /// The provider works on it.
    Submitted,
    /// The provider is done, and the answers are being read.
    Collecting,
    Ended,
}

/// A model that a server can ask in batches.
#[derive(Clone, Debug, PartialEq)]
pub struct BatchRoute {
    pub model: ModelKey,
    pub provider: String,
    /// The provider's name for the model.
    pub model_id: String,
    /// Which part of the list price requests in batches cost there.
    pub price_part: f64,
}

/// A batch on whose next step a server works.
#[derive(Clone, Debug)]
pub struct ClaimedBatch {
    pub id: Uuid,
    fence: i64,
    pub state: BatchState,
    pub model: ModelKey,
    pub provider: String,
    pub model_id: String,
    pub price_part: f64,
    pub reserved_at: OffsetDateTime,
    pub submitting_at: Option<OffsetDateTime>,
    /// The jobs that were submitted, in their order.
    pub requests: Vec<Uuid>,
    /// How the requests were sent.
    pub sent: Option<Json<SentOptions>>,
    pub notes: Json<Value>,
    pub remote_id: Option<String>,
    pub is_guess: bool,
    /// How many jobs are still part of it.
    pub jobs: i64,
}

/// What is about to be submitted.
#[derive(Clone, Debug)]
pub struct Submission {
    /// The jobs, each with the digest of what the model is told beside its prompt.
    pub requests: Vec<(Uuid, Digest)>,
    pub options: ModelOptions,
    pub sent: SentOptions,
    pub notes: Value,
}

/// Whether a batch may be submitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SubmissionPermit {
    Given,
    /// The model is asked differently than when the requests were made.
    ModelChanged,
    /// A budget that pays for it is used up.
    OverBudget,
}

/// What becomes of a job that leaves its batch without a build.
#[derive(Clone, Copy, Debug)]
pub enum LeavingJob<'a> {
    /// It waits for the next batch.
    Next,
    /// It waits for the next batch, unless this has happened too often. Then it fails.
    SetBack(JobFailure<'a>),
    Fail(JobFailure<'a>),
    Cancel(JobFailure<'a>),
}

/// Why a step was not written down.
#[derive(Debug, thiserror::Error)]
pub enum BatchLeaseError {
    #[error("another server took the batch over")]
    Lost,
    #[error(transparent)]
    Database(#[from] sqlx::Error),
}

/// Makes jobs wait for a batch. They were queued in the same transaction, so that no worker has seen them.
pub async fn want(connection: &mut PgConnection, jobs: &[Uuid]) -> sqlx::Result<()> {
    sqlx::query!("UPDATE jobs SET batched = true WHERE id = ANY ($1)", jobs).execute(connection).await?;
    Ok(())
}

/// Whether a job waits for a batch.
pub async fn any_waiting(pool: &PgPool) -> sqlx::Result<bool> {
    sqlx::query_scalar!(
        r#"
        SELECT EXISTS (
            SELECT FROM jobs WHERE state = 'queued' AND batched AND batch_id IS NULL
        ) AS "any!"
        "#
    )
    .fetch_one(pool)
    .await
}

/// Reserves a batch for the model whose job has waited longest, with all its waiting jobs that fit and that the budgets pay
/// for. While answers for the model are being collected, its jobs wait: more may come back. Returns whether there was
/// one.
///
/// Batches are reserved one after the other, and while nothing is claimed, since both draw on the same budgets. Jobs of
/// a batch count as under way from here on.
pub async fn reserve(pool: &PgPool, routes: &[BatchRoute], limits: &SpendingLimits) -> sqlx::Result<bool> {
    let mut transaction = pool.begin().await?;
    claims::hold(&mut transaction).await?;
    let budgets = Budgets::read(&mut transaction, limits).await?;
    let room = |route: &BatchRoute| budgets.room_for(&route.model, route.price_part);
    let routes: Vec<_> = routes.iter().filter(|route| room(route) > 0).collect();
    let models: Vec<_> = routes.iter().map(|route| &route.model).collect();
    let providers: Vec<_> = routes.iter().map(|route| route.provider.as_str()).collect();
    let model_ids: Vec<_> = routes.iter().map(|route| route.model_id.as_str()).collect();
    let price_parts: Vec<_> = routes.iter().map(|route| route.price_part).collect();
    let batch = sqlx::query!(
        r#"
        INSERT INTO batches (id, provider, model_key, model_id, price_part)
        SELECT $1, offers.provider, offers.model_key, offers.model_id, offers.price_part
        FROM jobs
        JOIN unnest($2::text[], $3::text[], $4::text[], $5::float8[])
            AS offers (model_key, provider, model_id, price_part)
            ON offers.model_key = jobs.model_key
        WHERE state = 'queued' AND batched AND batch_id IS NULL
          AND NOT EXISTS (SELECT FROM installation WHERE queue_paused_at IS NOT NULL)
          AND NOT EXISTS (
              SELECT FROM provider_pauses
              WHERE provider_pauses.provider = offers.provider
                AND (until IS NULL OR until > clock_timestamp())
          )
          AND NOT EXISTS (
              SELECT FROM batches
              WHERE batches.model_key = jobs.model_key AND batches.state = 'collecting'
          )
        ORDER BY wanted_at, jobs.id
        LIMIT 1
        RETURNING id, model_key AS "model: ModelKey"
        "#,
        Uuid::now_v7(),
        models as _,
        providers as _,
        model_ids as _,
        &price_parts,
    )
    .fetch_optional(&mut *transaction)
    .await?;
    let Some(batch) = batch else { return Ok(false) };
    let room = routes.iter().find(|route| route.model == batch.model).map_or(0, |route| room(route));
    let added = sqlx::query!(
        "
        UPDATE jobs
        SET batch_id = $1, provider = batches.provider
        FROM batches
        WHERE batches.id = $1 AND jobs.id IN (
            SELECT id
            FROM jobs
            WHERE state = 'queued' AND batched AND batch_id IS NULL AND model_key = $2
            ORDER BY setbacks, wanted_at, id
            LIMIT $3
            FOR UPDATE SKIP LOCKED
        )
        ",
        batch.id,
        batch.model as _,
        room.min(MAX_JOBS),
    )
    .execute(&mut *transaction)
    .await?;
    if added.rows_affected() == 0 {
        transaction.rollback().await?;
        return Ok(false);
    }
    transaction.commit().await?;
    Ok(true)
}

/// Claims a batch whose next step is due, at one of these providers. Nothing is submitted while the queue is paused, and
/// no provider is asked while it is.
pub async fn claim(
    pool: &PgPool,
    providers: &[String],
    lease: Duration,
) -> sqlx::Result<Option<ClaimedBatch>> {
    sqlx::query_as!(
        ClaimedBatch,
        r#"
        UPDATE batches
        SET fence = fence + 1, leased_until = clock_timestamp() + $2
        WHERE id = (
            SELECT id
            FROM batches
            WHERE state <> 'ended' AND provider = ANY ($1) AND next_step_at <= clock_timestamp()
              AND (leased_until IS NULL OR leased_until <= clock_timestamp())
              AND (
                  state IN ('submitted', 'collecting')
                  OR NOT EXISTS (SELECT FROM installation WHERE queue_paused_at IS NOT NULL)
              )
              AND NOT EXISTS (
                  SELECT FROM provider_pauses
                  WHERE provider_pauses.provider = batches.provider
                    AND (until IS NULL OR until > clock_timestamp())
              )
            ORDER BY next_step_at, id
            LIMIT 1
            FOR UPDATE SKIP LOCKED
        )
        RETURNING
            id, fence, state AS "state: BatchState", model_key AS "model: ModelKey", provider, model_id, price_part, reserved_at,
            submitting_at, requests, sent AS "sent: Json<SentOptions>", notes AS "notes: Json<Value>", remote_id, is_guess,
            (SELECT count(*) FROM jobs WHERE batch_id = batches.id AND state = 'queued') AS "jobs!"
        "#,
        providers,
        interval(lease),
    )
    .fetch_optional(pool)
    .await
}

/// Makes the next step of batches due at once of which all jobs are cancelled.
pub(super) async fn hurry_abandoned(connection: &mut PgConnection) -> sqlx::Result<()> {
    sqlx::query!(
        "
        UPDATE batches
        SET next_step_at = clock_timestamp()
        WHERE state = 'submitted' AND next_step_at > clock_timestamp()
          AND NOT EXISTS (SELECT FROM jobs WHERE batch_id = batches.id AND state = 'queued')
        "
    )
    .execute(connection)
    .await?;
    Ok(())
}
