//! `buildoff doctor`: compares every stored build with its digest.

use std::io::{self, Write};
use std::process::ExitCode;

use super::open_database;
use crate::arena::builds;
use crate::config::Config;
use crate::db::Database;

/// Success if no build is damaged.
pub(super) fn run() -> anyhow::Result<ExitCode> {
    let config = Config::load()?;
    crate::logging::start(&config.logging)?;
    open_database(&config, async |database| check_builds(database).await)
}

async fn check_builds(database: &Database) -> anyhow::Result<ExitCode> {
    let ids = builds::ids(database.pool()).await?;
    let mut out = io::stdout().lock();
    let mut damaged = 0;
    for id in &ids {
        // A build that was retired in the meantime is not damaged.
        let Some(grid) = builds::grid(database.pool(), *id).await? else { continue };
        let spec = builds::spec(database.pool(), *id).await?.unwrap_or_default();
        let problem = match (grid.open(), builds::unpack_spec(&spec)) {
            (Err(error), _) => format!("grid: {error}"),
            (_, Err(error)) => format!("spec: {error}"),
            _ => continue,
        };
        damaged += 1;
        writeln!(out, "build {id} is damaged: {problem}")?;
    }
    writeln!(out, "{} builds, {damaged} damaged", ids.len())?;
    Ok(if damaged == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
