//! The migrations, and whether a database has them.

use std::{collections::HashMap, time::Duration};

use anyhow::{Result, anyhow};
use sqlx::{
    PgConnection, PgPool,
    migrate::{Migrate, MigrateError, Migrator},
};
use tokio::time::timeout;

/// Every migration, in order.
pub static MIGRATOR: Migrator = sqlx::migrate!();

const READY_TIMEOUT: Duration = Duration::from_secs(2);

pub async fn migrate(connection: &mut PgConnection) -> Result<()> {
    // Postgres would otherwise log a notice for each table that exists already.
    sqlx::query!("SET client_min_messages = warning").execute(&mut *connection).await?;
    MIGRATOR.run_direct(None, connection, false).await.map_err(explain)
}

fn explain(error: MigrateError) -> anyhow::Error {
    match error {
        MigrateError::VersionMissing(version) => anyhow!(
            "The database is newer than this Buildoff: it has migration {version}, which this version does not know. Use the newer Buildoff."
        ),
        MigrateError::VersionMismatch(version) => anyhow!(
            "Migration {version} differs from the one that was applied to this database: its file was changed afterwards. Restore the file, or use another database."
        ),
        other => anyhow!("The database cannot be migrated: {other}."),
    }
}

/// Why the database cannot be used now.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReadinessError {
    #[error("The database does not answer.")]
    Unreachable,
    #[error("The database lacks migrations that this version of Buildoff needs.")]
    MissingMigrations,
    #[error("The database was migrated by another version of Buildoff.")]
    OtherMigrations,
    #[error("The last write to the database failed because its disk is full.")]
    DiskFull,
    #[error("The last write to the database failed because it is read-only.")]
    ReadOnly,
}

/// Whether the database answers in time and has exactly the migrations of this program.
pub async fn check_ready(pool: &PgPool) -> Result<(), ReadinessError> {
    timeout(READY_TIMEOUT, check(pool)).await.unwrap_or(Err(ReadinessError::Unreachable))
}

async fn check(pool: &PgPool) -> Result<(), ReadinessError> {
    let mut connection = pool.acquire().await.map_err(|_| ReadinessError::Unreachable)?;
    let applied = connection.list_applied_migrations("_sqlx_migrations").await;
    let applied = applied.map_err(|error| match error {
        MigrateError::Execute(sqlx::Error::Database(_)) => ReadinessError::MissingMigrations,
        _ => ReadinessError::Unreachable,
    })?;
    let mut applied: HashMap<_, _> = applied.into_iter().map(|it| (it.version, it.checksum)).collect();
    for migration in MIGRATOR.iter() {
        match applied.remove(&migration.version) {
            None => return Err(ReadinessError::MissingMigrations),
            Some(checksum) if checksum != migration.checksum => return Err(ReadinessError::OtherMigrations),
            Some(_) => {}
        }
    }
    if applied.is_empty() { Ok(()) } else { Err(ReadinessError::OtherMigrations) }
}
