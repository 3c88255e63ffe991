//! What earlier workers have made of a job.

use std::sync::Arc;
use std::time::Duration;

use sqlx::PgPool;
use uuid::Uuid;

/// Attempts at the same task by earlier workers. Those that were interrupted do not count.
#[derive(Clone, Debug, Default)]
pub struct PastAttempts {
    pub count: u32,
    /// How many broke off because of the provider or the connection.
    pub interruptions: u32,
    /// What was wrong with the last of them.
    pub code: Option<String>,
    /// The provider's id of an answer that was interrupted and may go on in the background.
    pub resumable: Option<String>,
    /// The answer of the last of them, if it was whole, and how long it took.
    pub answer: Option<(Arc<str>, Duration)>,
}

pub async fn past_attempts(pool: &PgPool, job: Uuid) -> sqlx::Result<PastAttempts> {
    let counts = sqlx::query!(
        r#"
        SELECT
            count(*) FILTER (WHERE outcome IN ('accepted', 'refused', 'failed', 'unread')) AS "attempts!",
            count(*) FILTER (WHERE outcome = 'interrupted' AND code <> 'interrupted') AS "interruptions!"
        FROM attempts
        WHERE job_id = $1
        "#,
        job
    )
    .fetch_one(pool)
    .await?;
    let last = sqlx::query!(
        r#"
        SELECT outcome, code, answer AS "answer!", coalesce(answer_ms, 0) AS "answer_ms!"
        FROM attempts
        WHERE job_id = $1 AND outcome IN ('accepted', 'refused', 'failed', 'unread')
        ORDER BY number DESC
        LIMIT 1
        "#,
        job
    )
    .fetch_optional(pool)
    .await?;
    let resumable = sqlx::query_scalar!(
        "
        SELECT CASE WHEN outcome = 'interrupted' THEN remote_id END
        FROM attempts
        WHERE job_id = $1
        ORDER BY number DESC
        LIMIT 1
        ",
        job
    )
    .fetch_optional(pool)
    .await?;
    let code = last.as_ref().and_then(|last| last.code.clone());
    let answered = last.filter(|last| last.outcome.as_deref() != Some("failed"));
    let answer = answered.map(|last| {
        let answer_time = Duration::from_millis(last.answer_ms.unsigned_abs());
        (String::from_utf8_lossy(&last.answer).into(), answer_time)
    });
    let number = |count: i64| u32::try_from(count).unwrap_or(u32::MAX);
    let (count, interruptions) = (number(counts.attempts), number(counts.interruptions));
    Ok(PastAttempts { count, interruptions, code, resumable: resumable.flatten(), answer })
}
