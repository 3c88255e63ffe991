//! When the database cannot do its work: which errors say so, and what one server remembers of it.

use std::borrow::Cow;
use std::error::Error as StdError;
use std::fmt::Display;
use std::io;
use std::mem;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use sqlx::error::{DatabaseError, ErrorKind};
use sqlx::{Connection, Executor, PgPool};
use tokio::time::timeout;

/// How often an outage is logged, and how often writing is tried again after it failed.
const INTERVAL: Duration = Duration::from_secs(1);

const WRITE_TIMEOUT: Duration = Duration::from_secs(2);

/// Why the database could not do its work, although nothing is wrong with the work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DatabaseOutage {
    /// No connection was free, another transaction was in the way, or the server was too slow.
    Busy,
    /// It cannot be reached, or it is starting or stopping.
    Unavailable,
    DiskFull,
    ReadOnly,
}

impl DatabaseOutage {
    pub fn of(error: &sqlx::Error) -> Option<Self> {
        let code = match error {
            sqlx::Error::PoolTimedOut => return Some(Self::Busy),
            sqlx::Error::Io(_) | sqlx::Error::PoolClosed => return Some(Self::Unavailable),
            sqlx::Error::Database(error) => error.code()?,
            _ => return None,
        };
        match &*code {
            "40001" | "40P01" | "55P03" | "57014" | "25P03" | "53200" | "53300" | "53400" => Some(Self::Busy),
            "57P01" | "57P02" | "57P03" => Some(Self::Unavailable),
            code if code.starts_with("08") => Some(Self::Unavailable),
            "53100" => Some(Self::DiskFull),
            "25006" => Some(Self::ReadOnly),
            _ => None,
        }
    }

    /// Whether the database answers and nothing can be saved.
    fn prevents_writing(self) -> bool {
        matches!(self, Self::DiskFull | Self::ReadOnly)
    }

    fn description(self) -> &'static str {
        match self {
            Self::Busy => "the database is too busy",
            Self::Unavailable => "the database is not available",
            Self::DiskFull => "the database's disk is full",
            Self::ReadOnly => "the database is read-only",
        }
    }
}

/// What one server remembers of outages. Clones share it.
#[derive(Clone, Debug, Default)]
pub struct DatabaseHealth(Arc<Mutex<OutageMemory>>);

#[derive(Debug, Default)]
struct OutageMemory {
    /// Set while the last write failed, and when to try another.
    failed_write: Option<(DatabaseOutage, Instant)>,
    last_logged: Option<Instant>,
    unlogged: u64,
}

impl DatabaseHealth {
    /// Remembers and logs an outage. False if the error is none.
    pub fn note(&self, error: &sqlx::Error) -> bool {
        let Some(outage) = DatabaseOutage::of(error) else { return false };
        if outage.prevents_writing() {
            self.memory().failed_write = Some((outage, Instant::now() + INTERVAL));
        }
        self.log(format_args!("{}: {error}", outage.description()));
        true
    }

    /// Logs one line a second at most, because every request may meet an outage.
    pub fn log(&self, reason: impl Display) {
        let now = Instant::now();
        let mut memory = self.memory();
        if memory.last_logged.is_some_and(|last| now - last < INTERVAL) {
            memory.unlogged += 1;
            return;
        }
        memory.last_logged = Some(now);
        let unlogged = mem::take(&mut memory.unlogged);
        drop(memory);
        tracing::error!(unlogged, "{reason}");
    }

    /// Why the last write failed. After a second, a write is tried that leaves nothing behind.
    pub async fn write_failure(&self, pool: &PgPool) -> Option<DatabaseOutage> {
        let now = Instant::now();
        let (outage, next_try) = self.memory().failed_write?;
        if now < next_try {
            return Some(outage);
        }
        // Others who ask meanwhile get the last answer.
        self.memory().failed_write = Some((outage, now + INTERVAL));
        let tried = timeout(WRITE_TIMEOUT, try_to_write(pool)).await;
        match tried.unwrap_or(Err(sqlx::Error::PoolTimedOut)) {
            Ok(()) => {
                self.memory().failed_write = None;
                tracing::info!("the database can write again");
                None
            }
            Err(error) => {
                Some(DatabaseOutage::of(&error).filter(|it| it.prevents_writing()).unwrap_or(outage))
            }
        }
    }

    /// Whether the last write failed, without trying another.
    pub fn is_writable(&self) -> bool {
        self.memory().failed_write.is_none()
    }

    fn memory(&self) -> MutexGuard<'_, OutageMemory> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Writes a row and rolls it back, which shows that the database is not read-only; and makes Postgres write a few
/// hundred kilobytes to a temporary file, which needs free blocks on the disk, whereas the row may fit where another
/// one was deleted.
async fn try_to_write(pool: &PgPool) -> sqlx::Result<()> {
    let mut connection = pool.acquire().await?;
    let mut transaction = connection.begin().await?;
    sqlx::query!(
        "INSERT INTO sessions (id, data, expires_at) VALUES (sha256(gen_random_uuid()::text::bytea), '{}', now())"
    )
    .execute(&mut *transaction)
    .await?;
    transaction.execute("SET LOCAL work_mem = '64kB'").await?;
    transaction.execute("SELECT count(*) FROM generate_series(1, 20000)").await?;
    transaction.rollback().await
}

/// A copy of an error for each of several waiters, of which the same outage can be told.
pub fn duplicate_error(error: &sqlx::Error) -> sqlx::Error {
    match error {
        sqlx::Error::PoolTimedOut => sqlx::Error::PoolTimedOut,
        sqlx::Error::PoolClosed => sqlx::Error::PoolClosed,
        sqlx::Error::Io(error) => io::Error::new(error.kind(), error.to_string()).into(),
        sqlx::Error::Database(error) => sqlx::Error::Database(Box::new(DuplicatedError {
            message: error.message().to_owned(),
            code: error.code().map(Cow::into_owned),
        })),
        other => sqlx::Error::Protocol(other.to_string()),
    }
}

#[derive(Debug, thiserror::Error)]
#[error("{message}")]
struct DuplicatedError {
    message: String,
    code: Option<String>,
}

impl DatabaseError for DuplicatedError {
    fn message(&self) -> &str {
        &self.message
    }

    fn code(&self) -> Option<Cow<'_, str>> {
        self.code.as_deref().map(Cow::Borrowed)
    }

    fn as_error(&self) -> &(dyn StdError + Send + Sync + 'static) {
        self
    }

    fn as_error_mut(&mut self) -> &mut (dyn StdError + Send + Sync + 'static) {
        self
    }

    fn into_error(self: Box<Self>) -> Box<dyn StdError + Send + Sync + 'static> {
        self
    }

    fn kind(&self) -> ErrorKind {
        ErrorKind::Other
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn database_error(code: &str) -> sqlx::Error {
        let error = DuplicatedError { message: "it failed".to_owned(), code: Some(code.to_owned()) };
        sqlx::Error::Database(Box::new(error))
    }

    #[test]
    fn outages_are_told_by_the_kind_of_error_and_so_are_those_of_its_copies() {
        for (error, expected) in [
            (sqlx::Error::PoolTimedOut, Some(DatabaseOutage::Busy)),
            (sqlx::Error::PoolClosed, Some(DatabaseOutage::Unavailable)),
            (io::Error::from(io::ErrorKind::ConnectionReset).into(), Some(DatabaseOutage::Unavailable)),
            (database_error("57P01"), Some(DatabaseOutage::Unavailable)),
            (database_error("08006"), Some(DatabaseOutage::Unavailable)),
            (database_error("53100"), Some(DatabaseOutage::DiskFull)),
            (database_error("25006"), Some(DatabaseOutage::ReadOnly)),
            (database_error("40P01"), Some(DatabaseOutage::Busy)),
            (database_error("23505"), None),
            (sqlx::Error::WorkerCrashed, None),
        ] {
            assert_eq!(DatabaseOutage::of(&error), expected, "{error}");
            assert_eq!(DatabaseOutage::of(&duplicate_error(&error)), expected, "a copy of {error}");
        }
    }
}
