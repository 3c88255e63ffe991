//! How a database is spoken to. Its URL may hold a password, so whatever goes
//! wrong is told without it.

use std::{io, time::Duration};

use anyhow::{Result, anyhow, ensure};
use sqlx::{
    Connection, Executor, PgConnection, PgPool,
    error::DatabaseError,
    postgres::{PgConnectOptions, PgPoolOptions},
};
use tokio::time::{Instant, sleep, timeout};
use tracing::subscriber::{NoSubscriber, with_default};

use super::cluster::Cluster;

const MAX_CONNECTIONS: u32 = 16;
const ACQUIRE_TIMEOUT: Duration = Duration::from_secs(5);
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// What holds for every session, mostly how long the server lets it go on with one thing.
const SESSION_SETTINGS: [(&str, &str); 4] = [
    // It takes tens of milliseconds, and no statement here is long enough to win them back.
    ("jit", "off"),
    ("statement_timeout", "30s"),
    // A server that vanished in the middle of a vote must not keep others from voting.
    ("idle_in_transaction_session_timeout", "15s"),
    ("lock_timeout", "10s"),
];

/// A connection that answered this recently is handed out without being asked again.
const RESET_AFTER_IDLE: Duration = Duration::from_millis(100);

/// Longer than any statement may take. Who has not answered by then is gone.
const RESET_TIMEOUT: Duration = Duration::from_secs(35);

/// A server elsewhere may be starting at the same time as we are.
const UNREACHABLE_TIMEOUT: Duration = Duration::from_secs(10);
/// One that answers may have a crash to recover from.
const RECOVERY_TIMEOUT: Duration = Duration::from_secs(120);

#[derive(Clone)]
pub struct Access {
    /// What it is called in a sentence.
    name: String,
    options: PgConnectOptions,
}

impl Access {
    /// `variable` is where the URL comes from.
    pub fn by_url(variable: &str, url: &str) -> Result<Self> {
        let not_a_url = || {
            format!(
                "{variable} is not the URL of a Postgres database: it should look like postgres://user:password@host:5432/buildoff, with special characters in the password percent-encoded."
            )
        };
        ensure!(url.starts_with("postgres://") || url.starts_with("postgresql://"), not_a_url());
        // What sqlx says of a URL it does not like repeats parts of it, in its
        // log as well.
        let parsed = with_default(NoSubscriber::new(), || url.parse());
        Ok(Self {
            name: format!("The database of {variable}"),
            options: parsed.map_err(|_| anyhow!(not_a_url()))?,
        })
    }

    pub fn embedded(cluster: &Cluster, database: &str) -> Self {
        Self { name: "The embedded database".into(), options: cluster.options().database(database) }
    }

    /// Limits the time of statements, locks and idle transactions, and plans
    /// without compiling, except where the URL says otherwise. Not for a pooler: it shares sessions
    /// among clients, and refuses settings that come with a connection.
    pub fn with_session_settings(mut self) -> Self {
        let set = self.options.get_options().unwrap_or_default().to_owned();
        let missing = SESSION_SETTINGS.into_iter().filter(|(name, _)| !set.contains(name));
        self.options = self.options.options(missing);
        self
    }

    pub fn pool(&self) -> PgPool {
        pool_options().connect_lazy_with(self.options.clone())
    }

    /// Connects, and waits for a server that is still coming up.
    pub async fn connect(&self) -> sqlx::Result<PgConnection> {
        let begun = Instant::now();
        let mut next_notice = begun;
        loop {
            let attempt = timeout(CONNECT_TIMEOUT, PgConnection::connect_with(&self.options));
            let error = match attempt.await {
                Ok(Ok(connection)) => return Ok(connection),
                Ok(Err(error)) => error,
                Err(_) => io::Error::from(io::ErrorKind::TimedOut).into(),
            };
            if begun.elapsed() >= retry_timeout(&error) {
                return Err(error);
            }
            if Instant::now() >= next_notice {
                tracing::info!(reason = reason(&error), "waiting for the database");
                next_notice += Duration::from_secs(3);
            }
            sleep(Duration::from_millis(100)).await;
        }
    }

    /// Makes a sentence of an error.
    pub fn explain(&self, error: &sqlx::Error) -> anyhow::Error {
        let (name, reason) = (&self.name, reason(error));
        match error {
            sqlx::Error::Io(_) => anyhow!("{name} cannot be reached: {reason}. Is it running?"),
            sqlx::Error::Database(_) => anyhow!("{name} says: {reason}."),
            _ => anyhow!("{name} does not work: {reason}."),
        }
    }
}

/// How every pool of the program treats its connections.
///
/// A future may be dropped at any await, as when a visitor leaves. sqlx rolls
/// back the transactions it knows of, but it learns of one only from the
/// answer to `BEGIN`: when that future is dropped, the transaction stays open,
/// and whoever gets the connection next writes into it without ever
/// committing (sqlx issue 4393). So a connection is reset before it goes back
/// into the pool, and once more before it is handed out, unless it was in use
/// a moment ago; the second also finds out whether the server is still there,
/// in place of sqlx's own test. One that cannot be reset is closed.
pub fn pool_options() -> PgPoolOptions {
    PgPoolOptions::new()
        .max_connections(MAX_CONNECTIONS)
        .acquire_timeout(ACQUIRE_TIMEOUT)
        .test_before_acquire(false)
        // The error closes it without a farewell, which a server that has gone would never take.
        .after_release(|connection, _| Box::pin(async { reset(connection).await.map(|()| true) }))
        .before_acquire(|connection, state| {
            Box::pin(async move { Ok(state.idle_for < RESET_AFTER_IDLE || reset(connection).await.is_ok()) })
        })
}

/// Waits for the answers to abandoned statements, then ends any transaction.
///
/// `ROLLBACK` alone would have the server log a warning wherever there is no
/// transaction, which is nearly always. `BEGIN` in the same message opens one
/// first, silently; inside a transaction it changes nothing, and in a failed
/// one it is an error.
async fn reset(connection: &mut PgConnection) -> sqlx::Result<()> {
    match timeout(RESET_TIMEOUT, connection.execute("BEGIN; ROLLBACK")).await {
        Ok(done) => done.map(drop),
        Err(_) => Err(io::Error::from(io::ErrorKind::TimedOut).into()),
    }
}

fn retry_timeout(error: &sqlx::Error) -> Duration {
    const CANNOT_CONNECT_NOW: &str = "57P03";
    match error {
        sqlx::Error::Io(_) => UNREACHABLE_TIMEOUT,
        _ if has_sqlstate(error, &[CANNOT_CONNECT_NOW]) => RECOVERY_TIMEOUT,
        _ => Duration::ZERO,
    }
}

fn reason(error: &sqlx::Error) -> String {
    match error {
        sqlx::Error::Io(error) => error.to_string(),
        sqlx::Error::Database(error) => error.message().into(),
        other => other.to_string(),
    }
}

/// Whether the server refused with one of these SQLSTATE codes.
pub fn has_sqlstate(error: &sqlx::Error, codes: &[&str]) -> bool {
    let code = error.as_database_error().and_then(DatabaseError::code);
    code.is_some_and(|code| codes.contains(&&*code))
}

/// Whether another try may help: no connection was free, others were in the way, or the server was too slow.
pub fn is_transient(error: &sqlx::Error) -> bool {
    matches!(error, sqlx::Error::PoolTimedOut)
        || has_sqlstate(error, &["40001", "40P01", "55P03", "57014", "25P03"])
}

/// For everybody who waited for the same thing. Whether another try may help is all that is told apart.
pub fn duplicate_error(error: &sqlx::Error) -> sqlx::Error {
    match is_transient(error) {
        true => sqlx::Error::PoolTimedOut,
        false => sqlx::Error::Protocol(error.to_string()),
    }
}
