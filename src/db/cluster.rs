//! The embedded database among the processes that share it.
//!
//! The server is nobody's child: it outlives a killed Buildoff, and the next
//! one joins it. Whoever leaves last stops it.

use std::{fs::File, path::Path, time::Duration};

use anyhow::Result;
use sqlx::postgres::{PgConnectOptions, PgSslMode};

use super::{
    binaries::{Binaries, PostgresSearch},
    data_dir::{DataDir, PORT},
    server::{Durability, PostgresServer},
};

/// Longer than another process may need to fetch Postgres over a slow line.
const START_TIMEOUT: Duration = Duration::from_secs(600);
const STOP_TIMEOUT: Duration = Duration::from_secs(10);

/// A running server; the last one dropped stops it. Starting and dropping
/// block, for as long as a second or two.
#[derive(Debug)]
pub struct Cluster {
    server: PostgresServer,
    durability: Durability,
    /// Held shared as long as the server is used.
    users: File,
}

impl Cluster {
    /// Starts the server kept under `dir`, or joins it where it runs already.
    pub fn start(dir: &Path, search: &PostgresSearch, durability: Durability) -> Result<Self> {
        let data_dir = DataDir::prepare(dir)?;
        let _starting = data_dir.lock_starting(START_TIMEOUT)?;
        let users = data_dir.lock_users()?;
        let binaries = Binaries::find(search, &data_dir.cache, data_dir.data_version()?, data_dir.account)?;
        let server = PostgresServer { data_dir, binaries };
        server.ensure_running(durability)?;
        Ok(Self { server, durability, users })
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

    /// Starts the server again if it is gone; returns whether it was. A `quick`
    /// look sees only that its process has ended.
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
        self.users.unlock()?;
        if self.users.try_lock().is_ok() && self.server.is_running() {
            self.server.stop()?;
        }
        Ok(())
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        if let Err(error) = self.leave() {
            tracing::warn!(error = format!("{error:#}"), "the database was left running");
        }
    }
}
