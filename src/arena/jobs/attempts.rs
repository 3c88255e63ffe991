//! Attempts: every question of a job with its answer, kept whatever came of it.

use serde_json::Value;
use sqlx::types::Json;
use sqlx::{Connection, PgConnection, PgPool};
use time::OffsetDateTime;
use uuid::Uuid;

use super::lease::{AnswerProgress, Lease, LeaseError, without_nul};

/// What became of an attempt.
#[derive(Clone, Debug)]
pub struct FinishedAttempt<'a> {
    pub outcome: StoredOutcome,
    pub code: Option<&'a str>,
    pub message: Option<&'a str>,
    pub answer: &'a str,
    pub answer_ms: i64,
    pub tokens: Tokens,
    pub cost: Option<i64>,
    pub notes: Value,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StoredOutcome {
    Accepted,
    Refused,
    Failed,
    Unread,
}

/// How an attempt ends that nobody has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AbortReason {
    Interrupted,
    Cancelled,
    /// Somebody brought a build.
    Unneeded,
}

#[derive(Clone, Copy, Debug, Default)]
pub struct Tokens {
    pub input: Option<i64>,
    pub output: Option<i64>,
    pub reasoning: Option<i64>,
}

/// An attempt as it is shown, without its answer.
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
    pub output_tokens: Option<i64>,
    pub reasoning_tokens: Option<i64>,
    pub cost: Option<i64>,
    pub notes: Json<Value>,
}

impl StoredOutcome {
    fn name(self) -> &'static str {
        match self {
            Self::Accepted => "accepted",
            Self::Refused => "refused",
            Self::Failed => "failed",
            Self::Unread => "unread",
        }
    }
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
            Self::Interrupted => "Buildoff stopped before the answer was whole.",
            Self::Cancelled => "An admin cancelled it.",
            Self::Unneeded => "A build was brought in meanwhile.",
        }
    }
}

/// Begins the next attempt. Returns its number.
pub async fn begin(pool: &PgPool, lease: &Lease) -> Result<i32, LeaseError> {
    let mut connection = pool.acquire().await?;
    let mut transaction = connection.begin().await?;
    lease.lock(&mut transaction).await?;
    let number = sqlx::query_scalar!(
        "
        INSERT INTO attempts (job_id, number)
        SELECT $1, coalesce(max(number), 0) + 1
        FROM attempts
        WHERE job_id = $1
        RETURNING number
        ",
        lease.job
    )
    .fetch_one(&mut *transaction)
    .await?;
    transaction.commit().await?;
    Ok(number)
}

/// What the attempt under way has used so far, so that it is known however it ends.
pub async fn record_usage(
    pool: &PgPool,
    lease: &Lease,
    number: i32,
    tokens: Tokens,
    cost: Option<i64>,
) -> Result<(), LeaseError> {
    let mut connection = pool.acquire().await?;
    let mut transaction = connection.begin().await?;
    lease.lock(&mut transaction).await?;
    sqlx::query!(
        "
        UPDATE attempts
        SET input_tokens = $3, output_tokens = $4, reasoning_tokens = $5, cost = $6
        WHERE job_id = $1 AND number = $2 AND ended_at IS NULL
        ",
        lease.job,
        number,
        tokens.input,
        tokens.output,
        tokens.reasoning,
        cost,
    )
    .execute(&mut *transaction)
    .await?;
    transaction.commit().await?;
    Ok(())
}

/// Ends the attempt under way.
pub async fn end(pool: &PgPool, lease: &Lease, ended: &FinishedAttempt<'_>) -> Result<(), LeaseError> {
    let mut connection = pool.acquire().await?;
    let mut transaction = connection.begin().await?;
    lease.lock(&mut transaction).await?;
    let number = sqlx::query_scalar!(
        "
        UPDATE attempts
        SET ended_at = clock_timestamp(), outcome = $2, code = $3, message = $4, answer = $5, answer_ms = $6,
            input_tokens = $7, output_tokens = $8, reasoning_tokens = $9, cost = $10, notes = $11
        WHERE job_id = $1 AND ended_at IS NULL
        RETURNING number
        ",
        lease.job,
        ended.outcome.name(),
        ended.code,
        ended.message.map(without_nul),
        ended.answer.as_bytes(),
        ended.answer_ms,
        ended.tokens.input,
        ended.tokens.output,
        ended.tokens.reasoning,
        ended.cost,
        Json(json_without_nul(&ended.notes)) as _,
    )
    .fetch_optional(&mut *transaction)
    .await?;
    let Some(number) = number else { return Err(LeaseError::Lost) };
    delete_parts(&mut transaction, lease.job, number).await?;
    transaction.commit().await?;
    Ok(())
}

fn json_without_nul(notes: &Value) -> Value {
    match notes {
        Value::String(text) => without_nul(text).into(),
        Value::Array(all) => all.iter().map(json_without_nul).collect(),
        Value::Object(all) => {
            all.iter().map(|(name, value)| (name.clone(), json_without_nul(value))).collect()
        }
        other => other.clone(),
    }
}

/// Ends an attempt that its worker could not end, with as much of the answer as had come in.
pub(super) async fn abort_open(
    connection: &mut PgConnection,
    job: Uuid,
    how: AbortReason,
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
        how.name(),
        how.message(),
    )
    .fetch_optional(&mut *connection)
    .await?;
    match number {
        Some(number) => delete_parts(connection, job, number).await,
        None => Ok(()),
    }
}

/// Adds to an answer whose end its worker had not written down yet when the job was cancelled.
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

/// What a new worker on a job should know.
#[derive(Clone, Debug, Default)]
pub struct PastAttempts {
    /// That ended by themselves, and count.
    pub ended: u32,
    /// What was wrong with the last of those.
    pub code: Option<String>,
    /// The last of those, if it was an answer: what came and how long it took.
    pub answer: Option<(String, i64)>,
}

pub async fn past_attempts(pool: &PgPool, job: Uuid) -> sqlx::Result<PastAttempts> {
    let ended = sqlx::query_scalar!(
        r#"
        SELECT count(*) AS "count!"
        FROM attempts
        WHERE job_id = $1 AND outcome IN ('accepted', 'refused', 'failed', 'unread')
        "#,
        job
    )
    .fetch_one(pool)
    .await?;
    let last = sqlx::query!(
        r#"
        SELECT outcome, code, answer AS "answer!", answer_ms AS "answer_ms!"
        FROM attempts
        WHERE job_id = $1 AND outcome IN ('accepted', 'refused', 'failed', 'unread')
        ORDER BY number DESC
        LIMIT 1
        "#,
        job
    )
    .fetch_optional(pool)
    .await?;
    let code = last.as_ref().and_then(|last| last.code.clone());
    let answered = last.filter(|last| last.outcome.as_deref() != Some("failed"));
    let answer = answered.map(|last| (String::from_utf8_lossy(&last.answer).into_owned(), last.answer_ms));
    Ok(PastAttempts { ended: u32::try_from(ended).unwrap_or(u32::MAX), code, answer })
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
            input_tokens, output_tokens, reasoning_tokens, cost, notes AS "notes: Json<Value>"
        FROM attempts
        WHERE job_id = $1
        ORDER BY number
        "#,
        job
    )
    .fetch_all(pool)
    .await
}

/// An answer as it came, or as far as it has come.
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
