//! Leases: a worker's right to write for a job, and what it writes: signs of life, and how the job ends.

use std::time::Duration;

use sqlx::postgres::types::PgInterval;
use sqlx::{PgConnection, PgPool, Postgres, Transaction};
use uuid::Uuid;

use super::JobState;
use crate::arena::ModelKey;

/// A worker's right to work on a job: the job, and the fence of the claim that the worker made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lease {
    pub job: Uuid,
    pub(super) fence: i64,
}

/// A job that a worker has claimed: the right to work on it, and who is asked.
#[derive(Clone, Debug)]
pub struct Claim {
    pub lease: Lease,
    pub model: ModelKey,
    pub provider: String,
}

/// What has streamed in and may not be stored yet.
#[derive(Clone, Debug, Default)]
pub struct AnswerProgress {
    pub attempt: i32,
    /// Where `text` begins in the answer, in bytes.
    pub offset: i32,
    pub text: String,
    /// Of the whole answer so far.
    pub chars: i64,
    pub note: Option<String>,
    /// The provider's id of an answer that it makes in the background.
    pub remote_id: Option<String>,
}

/// How a job ends without yielding anything.
#[derive(Clone, Copy, Debug)]
pub struct JobFailure<'a> {
    pub code: &'a str,
    pub message: &'a str,
}

/// Why nothing was written.
#[derive(Debug, thiserror::Error)]
pub enum LeaseError {
    #[error("another worker took the job over, or an admin cancelled it")]
    Lost,
    #[error(transparent)]
    Database(#[from] sqlx::Error),
}

impl Lease {
    /// Begins a transaction that has locked the job, if it is still this worker's. Whatever a worker writes begins with
    /// this: a claim or a cancellation that comes first has changed the fence or the state, so the row is not found;
    /// one that comes later waits for the transaction.
    pub(super) async fn begin(&self, pool: &PgPool) -> Result<Transaction<'static, Postgres>, LeaseError> {
        let mut transaction = pool.begin().await?;
        sqlx::query_scalar!(
            "SELECT id FROM jobs WHERE id = $1 AND fence = $2 AND state = 'running' FOR UPDATE",
            self.job,
            self.fence,
        )
        .fetch_optional(&mut *transaction)
        .await?
        .ok_or(LeaseError::Lost)?;
        Ok(transaction)
    }

    /// Prolongs the lease, and stores what has streamed in since the last time.
    pub async fn renew(
        &self,
        pool: &PgPool,
        lease: Duration,
        progress: &AnswerProgress,
    ) -> Result<(), LeaseError> {
        let mut transaction = self.begin(pool).await?;
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
        if let Some(remote_id) = &progress.remote_id {
            sqlx::query!(
                "
                UPDATE attempts
                SET remote_id = $3
                WHERE job_id = $1 AND number = $2 AND ended_at IS NULL AND remote_id IS DISTINCT FROM $3
                ",
                self.job,
                progress.attempt,
                remote_id,
            )
            .execute(&mut *transaction)
            .await?;
        }
        if !progress.text.is_empty() {
            store_part(&mut transaction, self.job, progress).await?;
        }
        transaction.commit().await?;
        Ok(())
    }

    pub async fn fail(&self, pool: &PgPool, failure: JobFailure<'_>) -> Result<(), LeaseError> {
        let mut transaction = self.begin(pool).await?;
        end(&mut transaction, self.job, JobState::Failed, Some(failure)).await?;
        transaction.commit().await?;
        Ok(())
    }
}

/// A part's key is its place in the answer, so that one that is stored twice is there once.
async fn store_part(connection: &mut PgConnection, job: Uuid, progress: &AnswerProgress) -> sqlx::Result<()> {
    sqlx::query!(
        "
        INSERT INTO answer_parts (job_id, number, part, text)
        SELECT job_id, number, $3, $4
        FROM attempts
        WHERE job_id = $1 AND number = $2 AND ended_at IS NULL
        ON CONFLICT (job_id, number, part) DO UPDATE SET text = excluded.text
        ",
        job,
        progress.attempt,
        i64::from(progress.offset),
        progress.text.as_bytes(),
    )
    .execute(connection)
    .await?;
    Ok(())
}

/// Ends a job that the caller has locked. A cancelled one may be asked for again when missing builds are seeded.
pub(super) async fn end(
    connection: &mut PgConnection,
    job: Uuid,
    state: JobState,
    failure: Option<JobFailure<'_>>,
) -> sqlx::Result<()> {
    sqlx::query!(
        "
        UPDATE jobs
        SET state = $2, ended_at = clock_timestamp(), leased_until = NULL, note = NULL, error_code = $3, error = $4,
            forgiven = $2 = 'cancelled'
        WHERE id = $1
        ",
        job,
        state as _,
        failure.map(|failure| failure.code),
        failure.map(|failure| without_nul(failure.message)),
    )
    .execute(connection)
    .await?;
    Ok(())
}

/// Postgres stores every character but NUL.
pub(in crate::arena) fn without_nul(text: &str) -> String {
    text.replace('\0', "\u{fffd}")
}

pub(in crate::arena) fn interval(duration: Duration) -> PgInterval {
    let microseconds = i64::try_from(duration.as_micros()).unwrap_or(i64::MAX);
    PgInterval { months: 0, days: 0, microseconds }
}
