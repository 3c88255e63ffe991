//! How admins cancel jobs of any kind.

use sqlx::PgConnection;
use uuid::Uuid;

use super::attempts::{self, AbortReason};
use super::batches;
use crate::arena::{ModelKey, PromptId};

/// Cancels a job that is under way, and keeps what has streamed in. Returns whether the job was under way.
pub async fn cancel(connection: &mut PgConnection, id: Uuid) -> sqlx::Result<bool> {
    Ok(cancel_these(connection, &[id]).await? > 0)
}

/// Cancels those of the jobs that are under way. Returns how many were.
pub async fn cancel_these(connection: &mut PgConnection, ids: &[Uuid]) -> sqlx::Result<usize> {
    cancel_under_way(connection, Some(ids)).await
}

/// Cancels all jobs that are under way. Returns how many.
pub async fn cancel_all(connection: &mut PgConnection) -> sqlx::Result<usize> {
    cancel_under_way(connection, None).await
}

/// Cancels the jobs of a model that have begun, because it is to be asked differently. Seeding may ask again.
pub(in crate::arena) async fn cancel_begun(
    connection: &mut PgConnection,
    model: &ModelKey,
) -> sqlx::Result<()> {
    let cancelled = sqlx::query_scalar!(
        "
        UPDATE jobs
        SET state = 'cancelled', ended_at = clock_timestamp(), leased_until = NULL, note = NULL,
            error_code = 'model_changed', error = 'An admin changed how the model is asked.', forgiven = true
        WHERE state IN ('queued', 'running') AND started_at IS NOT NULL AND model_key = $1
        RETURNING id
        ",
        model as _,
    )
    .fetch_all(&mut *connection)
    .await?;
    for job in cancelled {
        attempts::abort_open(&mut *connection, job, AbortReason::Cancelled).await?;
    }
    batches::hurry_abandoned(connection).await
}

/// Cancels what is queued for a model or a prompt that an admin has disabled: builds, and judging of builds of the prompt.
/// What is running or in a batch goes on, since it is being paid for. Returns the number of cancelled jobs.
pub async fn cancel_queued(
    connection: &mut PgConnection,
    model: Option<&ModelKey>,
    prompt: Option<&PromptId>,
) -> sqlx::Result<u64> {
    let cancelled = sqlx::query!(
        "
        UPDATE jobs
        SET state = 'cancelled', ended_at = clock_timestamp(), error_code = 'switched_off',
            error = 'An admin disabled the model or the prompt.', forgiven = true
        WHERE state = 'queued' AND batch_id IS NULL
          AND (
              model_key = $1
              OR EXISTS (SELECT FROM build_jobs WHERE job_id = jobs.id AND prompt_id = $2)
              OR EXISTS (
                  SELECT FROM judge_jobs
                  JOIN builds ON builds.id = judge_jobs.build_id
                  WHERE job_id = jobs.id AND prompt_id = $2
              )
          )
        ",
        model as _,
        prompt as _,
    )
    .execute(connection)
    .await?;
    Ok(cancelled.rows_affected())
}

async fn cancel_under_way(connection: &mut PgConnection, only: Option<&[Uuid]>) -> sqlx::Result<usize> {
    let cancelled = sqlx::query_scalar!(
        "
        UPDATE jobs
        SET state = 'cancelled', ended_at = clock_timestamp(), leased_until = NULL, note = NULL,
            error_code = 'cancelled', error = 'An admin cancelled it.'
        WHERE state IN ('queued', 'running') AND ($1::uuid[] IS NULL OR id = ANY ($1))
        RETURNING id
        ",
        only
    )
    .fetch_all(&mut *connection)
    .await?;
    for job in &cancelled {
        attempts::abort_open(&mut *connection, *job, AbortReason::Cancelled).await?;
    }
    batches::hurry_abandoned(connection).await?;
    Ok(cancelled.len())
}
