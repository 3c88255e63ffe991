//! `buildoff reparse`: reads again what models have answered, and paid for, in vain.

use std::process::ExitCode;

use serde::Deserialize;
use uuid::Uuid;

use super::api::{Api, Elsewhere};

#[derive(clap::Args)]
pub(super) struct Arguments {
    /// One job alone; without it, all that have failed.
    job: Option<Uuid>,
    #[command(flatten)]
    elsewhere: Elsewhere,
}

#[derive(Deserialize)]
struct Coverage {
    cells: Vec<Cell>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Cell {
    state: String,
    job_id: Option<Uuid>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Reread {
    build_id: Option<Uuid>,
    error: Option<String>,
}

/// Success if no answer remains that is no build.
pub(super) fn run(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    arguments.elsewhere.run(false, async |api| reparse(api, arguments.job).await)
}

async fn reparse(api: &Api, job: Option<Uuid>) -> anyhow::Result<ExitCode> {
    let jobs = match job {
        Some(job) => vec![job],
        None => failed(api).await?,
    };
    let mut found = 0;
    for job in &jobs {
        let reread = match api.post(&format!("/api/admin/jobs/{job}/reparse"), "").await {
            Ok(Reread { build_id, error }) => (build_id, error),
            Err(error) => (None, Some(format!("{error:#}"))),
        };
        match reread {
            (Some(build), _) => {
                found += 1;
                println!("{job}: build {build}");
            }
            (None, Some(error)) => println!("{job}: {error}"),
            (None, None) => println!("{job}: nothing was answered"),
        }
    }
    println!("{found} of {} hold a build", jobs.len());
    Ok(if found == jobs.len() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

async fn failed(api: &Api) -> anyhow::Result<Vec<Uuid>> {
    let coverage: Coverage = api.get("/api/admin/coverage").await?;
    let failed =
        coverage.cells.into_iter().filter(|cell| matches!(cell.state.as_str(), "failed" | "cancelled"));
    Ok(failed.filter_map(|cell| cell.job_id).collect())
}
