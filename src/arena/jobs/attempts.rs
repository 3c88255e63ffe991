//! Attempts: every request of a job with its answer, stored whatever came of it.

mod past;
mod usage;

use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use sqlx::types::Json;
use sqlx::{PgConnection, PgPool};
use time::OffsetDateTime;
use uuid::Uuid;

pub use self::past::{PastAttempts, past_attempts};
pub use self::usage::{AttemptCost, Billing, SentOptions, Usage};
use super::lease::{AnswerProgress, Lease, LeaseError, without_nul};
use super::pauses;
use crate::arena::catalog::ModelOptions;
use voxel::codec::Digest;

/// How a model is asked for an answer, apart from the prompt.
#[derive(Clone, Debug)]
pub struct RequestSetup {
    pub provider: String,
    /// The provider's name for the model.
    pub model_id: String,
    pub options: ModelOptions,
    /// Of what the model is told beside the prompt.
    pub template: Digest,
}

/// An attempt that has ended by itself.
#[derive(Clone, Debug)]
pub struct Attempt {
    pub outcome: Outcome,
    /// What went wrong, for programs. Attempts that were accepted have neither code nor message.
    pub code: Option<&'static str>,
    /// What went wrong, for people.
    pub message: Option<String>,
    /// The answer, or as much of it as came.
    pub answer: Arc<str>,
    /// From sending the request that was answered to the end of the answer.
    pub answer_time: Duration,
    pub usage: Usage,
    pub billing: Billing,
    pub sent: SentOptions,
    /// How requests were changed because the provider did not take them as they were: a JSON array.
    pub notes: Value,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, sqlx::Type)]
#[sqlx(type_name = "text", rename_all = "snake_case")]
pub enum Outcome {
    Accepted,
    /// A whole answer, but not what was requested.
    Refused,
    /// No answer, or only a part of it.
    Failed,
    /// The answer broke off because of the provider or the connection. Like an attempt that was ended from outside, this
    /// counts for nobody.
    Interrupted,
    /// An answer that could not be checked. It may be what was requested.
    Unread,
}

/// Why an attempt was ended from outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AbortReason {
    Interrupted,
    Cancelled,
    /// A build was imported for the same slot.
    Unneeded,
}

/// A stored attempt without its answer.
#[derive(Clone, Debug)]
pub struct AttemptRow {
    pub number: i32,
    pub started_at: OffsetDateTime,
    pub ended_at: Option<OffsetDateTime>,
    /// None while it is under way.
    pub outcome: Option<String>,
    pub code: Option<String>,
    pub message: Option<String>,
    pub answer_ms: Option<i64>,
    pub answer_bytes: i64,
    pub input_tokens: Option<i64>,
    pub cached_tokens: Option<i64>,
    pub output_tokens: Option<i64>,
    pub reasoning_tokens: Option<i64>,
    pub cost: Option<i64>,
    /// Whether the attempt may have cost more.
    pub cost_is_minimum: bool,
    pub sent: Option<Json<SentOptions>>,
    pub notes: Json<Value>,
}

impl AbortReason {
    fn name(self) -> &'static str {
        match self {
            Self::Interrupted => "interrupted",
            Self::Cancelled | Self::Unneeded => "cancelled",
        }
    }

    fn message(self) -> &'static str {
        match self {
            Self::Interrupted => "Buildoff stopped before the answer was complete.",
            Self::Cancelled => "An admin cancelled the job.",
            Self::Unneeded => "A build was imported in the meantime.",
        }
    }
}

/// Begins the next attempt, and returns its number.
pub async fn begin(pool: &PgPool, lease: &Lease, setup: &RequestSetup) -> Result<i32, LeaseError> {
    let mut transaction = lease.begin(pool).await?;
    let number = sqlx::query_scalar!(
        "
        INSERT INTO attempts (job_id, number, provider, model_id, options, template)
        SELECT $1, coalesce(max(number), 0) + 1, $2, $3, $4, $5
        FROM attempts
        WHERE job_id = $1
        RETURNING number
        ",
        lease.job,
        setup.provider,
        setup.model_id,
        Json(setup.options.asked()) as _,
        &setup.template.0[..],
    )
    .fetch_one(&mut *transaction)
    .await?;
    transaction.commit().await?;
    Ok(number)
}

/// Stores what the attempt under way has used so far, and what that cost at least, so that both are known even if the
/// worker dies.
pub async fn record_usage(
    pool: &PgPool,
    lease: &Lease,
    number: i32,
    usage: &Usage,
    cost: Option<i64>,
) -> Result<(), LeaseError> {
    let [input, cached, output, reasoning] = usage.columns();
    let mut transaction = lease.begin(pool).await?;
    sqlx::query!(
        "
        UPDATE attempts
        SET input_tokens = $3, cached_tokens = $4, output_tokens = $5, reasoning_tokens = $6, cost = $7,
            cost_is_minimum = true
        WHERE job_id = $1 AND number = $2 AND ended_at IS NULL
        ",
        lease.job,
        number,
        input,
        cached,
        output,
        reasoning,
        cost,
    )
    .execute(&mut *transaction)
    .await?;
    transaction.commit().await?;
    Ok(())
}

/// Ends the attempt under way. `remote_id` is the provider's id of an answer in the background; an answer can end before
/// its id was stored.
pub async fn end(
    pool: &PgPool,
    lease: &Lease,
    attempt: &Attempt,
    cost: Option<AttemptCost>,
    remote_id: Option<&str>,
) -> Result<(), LeaseError> {
    let [input, cached, output, reasoning] = attempt.usage.columns();
    let mut transaction = lease.begin(pool).await?;
    let ended = sqlx::query!(
        "
        UPDATE attempts
        SET ended_at = clock_timestamp(), outcome = $2, code = $3, message = $4, answer = $5, answer_ms = $6,
            input_tokens = $7, cached_tokens = $8, output_tokens = $9, reasoning_tokens = $10, cost = $11,
            cost_is_minimum = $12, sent = $13, notes = $14, remote_id = coalesce($15, remote_id)
        WHERE job_id = $1 AND ended_at IS NULL
        RETURNING number, remote_id
        ",
        lease.job,
        attempt.outcome as _,
        attempt.code,
        attempt.message.as_deref().map(without_nul),
        attempt.answer.as_bytes(),
        i64::try_from(attempt.answer_time.as_millis()).unwrap_or(i64::MAX),
        input,
        cached,
        output,
        reasoning,
        cost.map(|cost| cost.micros),
        cost.is_some_and(|cost| cost.is_minimum),
        Json(&attempt.sent) as _,
        Json(json_without_nul(&attempt.notes)) as _,
        remote_id,
    )
    .fetch_optional(&mut *transaction)
    .await?;
    let Some(ended) = ended else { return Err(LeaseError::Lost) };
    delete_parts(&mut transaction, lease.job, ended.number).await?;
    if let Some(remote_id) = ended.remote_id {
        forget_costs_of_parts(&mut transaction, lease.job, ended.number, &remote_id).await?;
    }
    if matches!(attempt.outcome, Outcome::Accepted | Outcome::Refused | Outcome::Unread) {
        pauses::end_if_probe(&mut transaction, lease).await?;
    }
    transaction.commit().await?;
    Ok(())
}

/// An answer in the background that was read in several attempts is paid for once: by the last.
async fn forget_costs_of_parts(
    connection: &mut PgConnection,
    job: Uuid,
    last: i32,
    remote_id: &str,
) -> sqlx::Result<()> {
    sqlx::query!(
        "
        UPDATE attempts
        SET cost = 0, cost_is_minimum = false
        WHERE job_id = $1 AND number < $2 AND remote_id = $3 AND outcome = 'interrupted'
        ",
        job,
        last,
        remote_id,
    )
    .execute(connection)
    .await?;
    Ok(())
}

/// Stores an attempt of a job that the caller has locked, and whose answer came in a batch.
pub(super) async fn add_ended(
    connection: &mut PgConnection,
    job: Uuid,
    batch: Uuid,
    attempt: &Attempt,
    cost: Option<AttemptCost>,
) -> sqlx::Result<()> {
    let [input, cached, output, reasoning] = attempt.usage.columns();
    sqlx::query!(
        "
        INSERT INTO attempts (
            job_id, number, provider, model_id, options, template, price_part, started_at, ended_at, outcome, code,
            message, answer, input_tokens, cached_tokens, output_tokens, reasoning_tokens, cost, cost_is_minimum, sent,
            notes
        )
        SELECT
            $1, (SELECT coalesce(max(number), 0) + 1 FROM attempts WHERE job_id = $1),
            provider, model_id, options, templates[array_position(requests, $1)], price_part,
            coalesce(submitting_at, reserved_at), clock_timestamp(),
            $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14
        FROM batches
        WHERE id = $2
        ",
        job,
        batch,
        attempt.outcome as _,
        attempt.code,
        attempt.message.as_deref().map(without_nul),
        attempt.answer.as_bytes(),
        input,
        cached,
        output,
        reasoning,
        cost.map(|cost| cost.micros),
        cost.is_some_and(|cost| cost.is_minimum),
        Json(&attempt.sent) as _,
        Json(json_without_nul(&attempt.notes)) as _,
    )
    .execute(connection)
    .await?;
    Ok(())
}

fn json_without_nul(json: &Value) -> Value {
    match json {
        Value::String(text) => without_nul(text).into(),
        Value::Array(all) => all.iter().map(json_without_nul).collect(),
        Value::Object(all) => {
            all.iter().map(|(name, value)| (name.clone(), json_without_nul(value))).collect()
        }
        other => other.clone(),
    }
}

/// Ends an attempt that its worker could not end, with as much of the answer as was stored.
pub(super) async fn abort_open(
    connection: &mut PgConnection,
    job: Uuid,
    reason: AbortReason,
) -> sqlx::Result<()> {
    let number = sqlx::query_scalar!(
        "
        UPDATE attempts
        SET ended_at = clock_timestamp(), outcome = $2, code = $2, message = $3,
            answer = (
                SELECT string_agg(text, ''::bytea ORDER BY part)
                FROM answer_parts
                WHERE answer_parts.job_id = $1 AND answer_parts.number = attempts.number
            )
        WHERE job_id = $1 AND ended_at IS NULL
        RETURNING number
        ",
        job,
        reason.name(),
        reason.message(),
    )
    .fetch_optional(&mut *connection)
    .await?;
    match number {
        Some(number) => delete_parts(connection, job, number).await,
        None => Ok(()),
    }
}

/// Adds what its worker had received, but not stored yet, to the answer of a job that was cancelled. Nothing is added
/// twice, because the stored answer must end where `progress` begins.
pub async fn append_to_cancelled(pool: &PgPool, job: Uuid, progress: &AnswerProgress) -> sqlx::Result<()> {
    sqlx::query!(
        "
        UPDATE attempts
        SET answer = coalesce(answer, ''::bytea) || $4
        WHERE job_id = $1 AND number = $2 AND outcome = 'cancelled'
          AND coalesce(octet_length(answer), 0) = $3
        ",
        job,
        progress.attempt,
        progress.offset,
        progress.text.as_bytes(),
    )
    .execute(pool)
    .await?;
    Ok(())
}

async fn delete_parts(connection: &mut PgConnection, job: Uuid, number: i32) -> sqlx::Result<()> {
    sqlx::query!("DELETE FROM answer_parts WHERE job_id = $1 AND number = $2", job, number)
        .execute(connection)
        .await?;
    Ok(())
}

/// The attempts at a job, in order.
pub async fn list(pool: &PgPool, job: Uuid) -> sqlx::Result<Vec<AttemptRow>> {
    sqlx::query_as!(
        AttemptRow,
        r#"
        SELECT
            number, started_at, ended_at, outcome, code, message, answer_ms,
            coalesce(
                octet_length(answer),
                (
                    SELECT sum(octet_length(text))
                    FROM answer_parts
                    WHERE answer_parts.job_id = attempts.job_id AND answer_parts.number = attempts.number
                ),
                0
            )::bigint AS "answer_bytes!",
            input_tokens, cached_tokens, output_tokens, reasoning_tokens, cost, cost_is_minimum,
            sent AS "sent: Json<SentOptions>", notes AS "notes: Json<Value>"
        FROM attempts
        WHERE job_id = $1
        ORDER BY number
        "#,
        job
    )
    .fetch_all(pool)
    .await
}

/// An answer, or as much of it as has been stored.
pub async fn answer(pool: &PgPool, job: Uuid, number: i32) -> sqlx::Result<Option<Vec<u8>>> {
    sqlx::query_scalar!(
        r#"
        SELECT coalesce(
            answer,
            (
                SELECT string_agg(text, ''::bytea ORDER BY part)
                FROM answer_parts
                WHERE answer_parts.job_id = $1 AND answer_parts.number = $2
            ),
            ''::bytea
        ) AS "answer!"
        FROM attempts
        WHERE job_id = $1 AND number = $2
        "#,
        job,
        number,
    )
    .fetch_optional(pool)
    .await
}
