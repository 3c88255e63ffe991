//! Leases: somebody's right to write for a job.

use sqlx::PgConnection;
use uuid::Uuid;

/// Somebody's right to work on a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lease {
    pub job: Uuid,
    pub(super) fence: i64,
}

/// What has streamed in and is not known to be stored.
#[derive(Clone, Debug, Default)]
pub struct AnswerProgress {
    pub attempt: i32,
    /// Where in the answer it begins, in bytes.
    pub offset: i32,
    pub text: String,
    /// Of the whole answer so far.
    pub chars: i64,
    pub note: Option<String>,
}

/// Why nothing was written.
#[derive(Debug, thiserror::Error)]
pub enum LeaseError {
    /// Somebody else has taken the job over, or it was cancelled.
    #[error("the job is no longer this worker's")]
    Lost,
    #[error(transparent)]
    Database(#[from] sqlx::Error),
}

impl Lease {
    /// Keeps others away until the transaction ends, if the job is still this worker's.
    pub(super) async fn lock(&self, connection: &mut PgConnection) -> Result<(), LeaseError> {
        sqlx::query_scalar!(
            "SELECT id FROM jobs WHERE id = $1 AND fence = $2 AND state = 'running' FOR UPDATE",
            self.job,
            self.fence,
        )
        .fetch_optional(connection)
        .await?
        .map(|_| ())
        .ok_or(LeaseError::Lost)
    }
}

/// Postgres takes every character but one.
pub(super) fn without_nul(text: &str) -> String {
    text.replace('\0', "\u{fffd}")
}
