//! `buildoff doctor`: compares every stored build with its digest, and tells how old the catalog is.

use std::process::ExitCode;

use serde::Serialize;
use time::OffsetDateTime;
use uuid::Uuid;

use super::open_database;
use super::output::{self, OutputArgs};
use crate::arena::builds;
use crate::config::Config;
use crate::db::Database;

#[derive(clap::Args)]
pub(super) struct DoctorArgs {
    #[command(flatten)]
    output: OutputArgs,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct DoctorOutput {
    ok: bool,
    builds: usize,
    damaged: Vec<DamagedBuild>,
    /// What to know about the catalog, if anything.
    catalog_note: Option<String>,
}

#[derive(Serialize)]
struct DamagedBuild {
    id: Uuid,
    problem: String,
}

/// Success if no build is damaged.
pub(super) fn run(arguments: &DoctorArgs) -> anyhow::Result<ExitCode> {
    let config = Config::load()?;
    crate::logging::start(&config.logging)?;
    let catalog_note = config.catalog.age_note(OffsetDateTime::now_utc().date());
    let json = arguments.output.json;
    open_database(&config, async |database| check_builds(database, json, catalog_note).await)
}

async fn check_builds(
    database: &Database,
    json: bool,
    catalog_note: Option<String>,
) -> anyhow::Result<ExitCode> {
    let ids = builds::ids(database.pool()).await?;
    let mut damaged = Vec::new();
    for id in &ids {
        // A build that was retired in the meantime is not damaged.
        let Some(grid) = builds::grid(database.pool(), *id).await? else { continue };
        let spec = builds::spec(database.pool(), *id).await?.unwrap_or_default();
        let problem = match (grid.open(), builds::unpack_spec(&spec)) {
            (Err(error), _) => format!("grid: {error}"),
            (_, Err(error)) => format!("spec: {error}"),
            _ => continue,
        };
        if !json {
            output::line(format_args!("build {id} is damaged: {problem}"))?;
        }
        damaged.push(DamagedBuild { id: *id, problem });
    }
    let result = DoctorOutput { ok: damaged.is_empty(), builds: ids.len(), damaged, catalog_note };
    if json {
        output::json(&result)?;
    } else {
        output::line(format_args!("{} builds, {} damaged", result.builds, result.damaged.len()))?;
        if let Some(note) = &result.catalog_note {
            output::line(note)?;
        }
    }
    Ok(if result.ok { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
