//! How admins end jobs, by saying so or by what else they do, and let them be wanted again.

use sqlx::PgConnection;
use uuid::Uuid;

use super::attempts;
use crate::arena::builds::BuildSlot;
use crate::arena::{ModelKey, PromptId, Settings};

/// Ends a job that is under way, as an admin wishes. What had come in is kept. Returns whether it was.
pub async fn cancel(connection: &mut PgConnection, id: Uuid) -> sqlx::Result<bool> {
    let cancelled = sqlx::query!(
        "
        UPDATE jobs
        SET state = 'cancelled', ended_at = clock_timestamp(), leased_until = NULL, note = NULL,
            error_code = 'cancelled', error = 'An admin cancelled it.'
        WHERE id = $1 AND state IN ('queued', 'running')
        ",
        id
    )
    .execute(&mut *connection)
    .await?;
    attempts::abort_open(connection, id, attempts::AbortReason::Cancelled).await?;
    Ok(cancelled.rows_affected() > 0)
}

/// The same for all that are under way, at whatever settings. Returns how many there were.
pub async fn cancel_all(connection: &mut PgConnection) -> sqlx::Result<usize> {
    let cancelled = sqlx::query_scalar!(
        "
        UPDATE jobs
        SET state = 'cancelled', ended_at = clock_timestamp(), leased_until = NULL, note = NULL,
            error_code = 'cancelled', error = 'An admin cancelled it.'
        WHERE state IN ('queued', 'running')
        RETURNING id
        "
    )
    .fetch_all(&mut *connection)
    .await?;
    for job in &cancelled {
        attempts::abort_open(connection, *job, attempts::AbortReason::Cancelled).await?;
    }
    Ok(cancelled.len())
}

/// Ends whatever is under way for a place, since somebody brings a build for it.
pub async fn cancel_for_import(connection: &mut PgConnection, slot: &BuildSlot) -> sqlx::Result<()> {
    let Settings { grid, palette, mode } = &slot.settings;
    let ended = sqlx::query_scalar!(
        "
        UPDATE jobs
        SET state = 'cancelled', ended_at = clock_timestamp(), leased_until = NULL, note = NULL,
            error_code = 'exists', error = 'A build was brought in meanwhile.', forgiven = true
        WHERE prompt_id = $1 AND model_key = $2 AND grid_size = $3 AND palette = $4 AND mode = $5
          AND state IN ('queued', 'running')
        RETURNING id
        ",
        slot.prompt.as_str(),
        slot.model.as_str(),
        grid.get() as i16,
        palette.name(),
        mode.as_str(),
    )
    .fetch_all(&mut *connection)
    .await?;
    for job in ended {
        attempts::abort_open(connection, job, attempts::AbortReason::Unneeded).await?;
    }
    Ok(())
}

/// Ends what is queued for a model or a prompt that an admin has switched off. What is running goes on: it is
/// paid for. Returns how many that were.
pub async fn cancel_queued(
    connection: &mut PgConnection,
    model: Option<&ModelKey>,
    prompt: Option<&PromptId>,
) -> sqlx::Result<u64> {
    let ended = sqlx::query!(
        "
        UPDATE jobs
        SET state = 'cancelled', ended_at = clock_timestamp(), error_code = 'switched_off',
            error = 'An admin switched the model or the prompt off.', forgiven = true
        WHERE state = 'queued' AND (model_key = $1 OR prompt_id = $2)
        ",
        model.map(ModelKey::as_str),
        prompt.map(PromptId::as_str),
    )
    .execute(connection)
    .await?;
    Ok(ended.rows_affected())
}

/// Lets seeding try again whatever has failed or was cancelled at these settings.
pub async fn allow_retry(connection: &mut PgConnection, settings: &Settings) -> sqlx::Result<()> {
    sqlx::query!(
        "
        UPDATE jobs
        SET forgiven = true
        WHERE state IN ('failed', 'cancelled') AND NOT forgiven
          AND grid_size = $1 AND palette = $2 AND mode = $3
        ",
        settings.grid.get() as i16,
        settings.palette.name(),
        settings.mode.as_str(),
    )
    .execute(connection)
    .await?;
    Ok(())
}
