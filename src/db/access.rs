//! Connections to a database. Its URL may hold a password, so no error message repeats it.

use std::{fmt, io, sync::Arc, time::Duration};

use anyhow::{Result, anyhow, ensure};
use sqlx::{
    Connection, Executor, PgConnection, PgPool,
    error::DatabaseError,
    postgres::{PgConnectOptions, PgPoolOptions},
};
use tokio::{
    sync::Notify,
    time::{Instant, sleep, timeout},
};
use tracing::subscriber::{NoSubscriber, with_default};

use super::cluster::Cluster;

const MAX_CONNECTIONS: u32 = 16;
const ACQUIRE_TIMEOUT: Duration = Duration::from_secs(5);
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// Settings of every session, most of which limit how long it may hold something up.
const SESSION_SETTINGS: [(&str, &str); 4] = [
    // Compiling takes tens of milliseconds, more than it saves any statement here.
    ("jit", "off"),
    ("statement_timeout", "30s"),
    // A server that vanished in the middle of a vote must not keep others from voting.
    ("idle_in_transaction_session_timeout", "15s"),
    ("lock_timeout", "10s"),
];

/// A connection that answered this recently is handed out without another reset.
const RESET_AFTER_IDLE: Duration = Duration::from_millis(100);

/// Longer than any statement may take, so a server that has not answered by then is gone.
const RESET_TIMEOUT: Duration = Duration::from_secs(35);

/// An external server may be starting at the same time as this program.
const UNREACHABLE_TIMEOUT: Duration = Duration::from_secs(10);
/// A server that answers may be recovering from a crash.
const RECOVERY_TIMEOUT: Duration = Duration::from_secs(120);

#[derive(Clone)]
pub struct Access {
    /// Names the database at the beginning of an error message.
    name: String,
    options: PgConnectOptions,
}

/// Hides the options, which may hold a password.
impl fmt::Debug for Access {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Access").field("name", &self.name).finish_non_exhaustive()
    }
}

impl Access {
    /// `variable` is the environment variable that holds the URL.
    pub fn by_url(variable: &str, url: &str) -> Result<Self> {
        let not_a_url = || {
            format!(
                "{variable} is not the URL of a Postgres database: it should look like postgres://user:password@host:5432/buildoff, with special characters in the password percent-encoded."
            )
        };
        ensure!(url.starts_with("postgres://") || url.starts_with("postgresql://"), not_a_url());
        // Errors of sqlx repeat parts of the URL, in its log as well.
        let parsed = with_default(NoSubscriber::new(), || url.parse());
        Ok(Self {
            name: format!("The database of {variable}"),
            options: parsed.map_err(|_| anyhow!(not_a_url()))?,
        })
    }

    pub fn embedded(cluster: &Cluster, database: &str) -> Self {
        Self { name: "The embedded database".into(), options: cluster.options().database(database) }
    }

    /// Adds [`SESSION_SETTINGS`], except for those that the URL sets. Not for a pooler: it shares sessions among
    /// clients, and refuses settings that come with a connection.
    pub fn with_session_settings(mut self) -> Self {
        let set = self.options.get_options().unwrap_or_default().to_owned();
        let missing = SESSION_SETTINGS.into_iter().filter(|(name, _)| !set.contains(name));
        self.options = self.options.options(missing);
        self
    }

    /// A pool that tells `lost_connection` about each connection that turns out to be lost.
    pub fn pool(&self, lost_connection: &Arc<Notify>) -> PgPool {
        pool_options_with(lost_connection).connect_lazy_with(self.options.clone())
    }

    /// Connects, and waits for a server that is still starting.
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

    /// Turns an error into a sentence for people.
    pub fn explain(&self, error: &sqlx::Error) -> anyhow::Error {
        let (name, reason) = (&self.name, reason(error));
        match error {
            sqlx::Error::Io(_) => anyhow!("{name} cannot be reached: {reason}. Is it running?"),
            sqlx::Error::Database(_) => anyhow!("{name} says: {reason}."),
            _ => anyhow!("{name} does not work: {reason}."),
        }
    }
}

/// The options of every pool in the program.
///
/// A future may be dropped at any await, as when a visitor leaves. sqlx rolls back the transactions that it knows of,
/// but it learns of one only from the answer to `BEGIN`: when that future is dropped, the transaction stays open, and
/// the connection's next user writes into it without ever committing (sqlx issue 4393). Therefore a connection is reset
/// before it returns to the pool, and once more before it is handed out, unless it was in use a moment ago. The second
/// reset also tests whether the server is still there, in place of sqlx's own test. A connection that cannot be reset
/// is closed.
pub fn pool_options() -> PgPoolOptions {
    pool_options_with(&Arc::default())
}

fn pool_options_with(lost_connection: &Arc<Notify>) -> PgPoolOptions {
    let (released, acquired) = (Arc::clone(lost_connection), Arc::clone(lost_connection));
    PgPoolOptions::new()
        .max_connections(MAX_CONNECTIONS)
        .acquire_timeout(ACQUIRE_TIMEOUT)
        .test_before_acquire(false)
        // Returning the error closes the connection without a goodbye message, which a server that is gone would never
        // accept.
        .after_release(move |connection, _| {
            let lost_connection = Arc::clone(&released);
            Box::pin(async move {
                reset(connection).await.inspect_err(|_| lost_connection.notify_one()).map(|()| true)
            })
        })
        .before_acquire(move |connection, state| {
            let lost_connection = Arc::clone(&acquired);
            Box::pin(async move {
                let is_usable = state.idle_for < RESET_AFTER_IDLE || reset(connection).await.is_ok();
                if !is_usable {
                    lost_connection.notify_one();
                }
                Ok(is_usable)
            })
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

/// Whether the server reported one of these SQLSTATE codes.
pub fn has_sqlstate(error: &sqlx::Error, codes: &[&str]) -> bool {
    let code = error.as_database_error().and_then(DatabaseError::code);
    code.is_some_and(|code| codes.contains(&&*code))
}
