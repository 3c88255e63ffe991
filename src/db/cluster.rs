//! The embedded database, shared among processes.
//!
//! The server is detached from the process that starts it: it outlives a Buildoff that is killed, and the next one
//! joins it. The last process that leaves stops it.

use std::{fs::File, path::Path, time::Duration};

use anyhow::Result;
use sqlx::postgres::{PgConnectOptions, PgSslMode};

use super::{
    binaries::{Binaries, PostgresSearch},
    data_dir::{DataDir, PORT},
    server::{Durability, PostgresServer},
};

/// Longer than another process may need to download Postgres over a slow connection.
const START_TIMEOUT: Duration = Duration::from_secs(600);
const STOP_TIMEOUT: Duration = Duration::from_secs(10);

/// A running server. Dropping the last value for it stops the server. Starting and
/// dropping block the thread, as long as the timeouts above allow.
#[derive(Debug)]
pub struct Cluster {
    server: PostgresServer,
    durability: Durability,
    /// Holds a shared lock while this process uses the server.
    users_lock: File,
}

impl Cluster {
    /// Starts the server of the data directory `dir`, or joins it if it is already running.
    pub fn start(dir: &Path, search: &PostgresSearch, durability: Durability) -> Result<Self> {
        let data_dir = DataDir::prepare(dir)?;
        let _starting = data_dir.lock_starting(START_TIMEOUT)?;
        let users_lock = data_dir.lock_users()?;
        let binaries = Binaries::find(search, &data_dir.cache, data_dir.data_version()?, data_dir.account)?;
        let server = PostgresServer { data_dir, binaries };
        server.ensure_running(durability)?;
        Ok(Self { server, durability, users_lock })
    }

    /// How to connect to the database `postgres`, which every cluster has.
    pub fn options(&self) -> PgConnectOptions {
        PgConnectOptions::new_without_pgpass()
            .socket(&self.server.data_dir.socket_dir)
            .port(PORT)
            .username("postgres")
            .database("postgres")
            .ssl_mode(PgSslMode::Disable)
    }

    /// Starts the server again if it is gone, and returns whether it was. A `quick` check only notices that its process
    /// has ended.
    pub fn revive(&self, quick: bool) -> Result<bool> {
        if quick && !self.server.has_died() || self.server.is_running() {
            return Ok(false);
        }
        let _starting = self.server.data_dir.lock_starting(STOP_TIMEOUT)?;
        self.server.ensure_running(self.durability)?;
        Ok(true)
    }

    /// Stops the server unless another process, or another part of this one,
    /// uses it.
    fn leave(&self) -> Result<()> {
        let _starting = self.server.data_dir.lock_starting(STOP_TIMEOUT)?;
        self.users_lock.unlock()?;
        if self.users_lock.try_lock().is_ok() && self.server.is_running() {
            self.server.stop()?;
        }
        Ok(())
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        if let Err(error) = self.leave() {
            tracing::warn!(
                error = format!("{error:#}"),
                "the database could not be stopped and keeps running"
            );
        }
    }
}
