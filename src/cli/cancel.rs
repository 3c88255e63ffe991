//! `buildoff cancel`: ends jobs that are queued or running.

use std::process::ExitCode;

use anyhow::Context;
use axum::http::Method;
use serde::Deserialize;
use serde_json::{Value, json};
use uuid::Uuid;

use super::api::{AdminApi, ApiArgs, CommandWork};
use super::output::{self, OutputArgs};
use super::selection::{AddressQuery, SelectionArgs};

#[derive(clap::Args)]
#[command(group(
    clap::ArgGroup::new("what").args(["jobs", "kind", "models", "prompts", "all"]).required(true).multiple(true)
))]
pub(super) struct CancelArgs {
    /// Ids of jobs; `buildoff jobs` lists them.
    #[arg(value_name = "JOB", conflicts_with_all = ["kind", "models", "prompts", "all"])]
    jobs: Vec<Uuid>,
    /// Only jobs of this kind: builds, or what judges are asked about.
    #[arg(long, value_name = "KIND", value_parser = ["build", "judge"])]
    kind: Option<String>,
    #[command(flatten)]
    selection: SelectionArgs,
    /// Cancel all jobs, at all settings.
    #[arg(long, conflicts_with_all = ["models", "prompts"])]
    all: bool,
    #[command(flatten)]
    output: OutputArgs,
    #[command(flatten)]
    connection: ApiArgs,
}

#[derive(Deserialize)]
struct CliCancelled {
    cancelled: usize,
}

pub(super) fn run(arguments: &CancelArgs) -> anyhow::Result<ExitCode> {
    arguments.connection.run(CommandWork::Nothing, async |api| cancel(api, arguments).await)
}

async fn cancel(api: &AdminApi, arguments: &CancelArgs) -> anyhow::Result<ExitCode> {
    let cancelled = match arguments.jobs.as_slice() {
        [] => {
            let query = AddressQuery::of(&arguments.selection).value("kind", arguments.kind.as_ref());
            let path = query.address("/api/admin/jobs");
            api.send::<CliCancelled>(Method::DELETE, &path, &Value::Null).await?.cancelled
        }
        jobs => {
            for job in jobs {
                let path = format!("/api/admin/jobs/{job}");
                api.send::<()>(Method::DELETE, &path, &Value::Null).await.with_context(|| job.to_string())?;
            }
            jobs.len()
        }
    };
    if arguments.output.json {
        output::json(&json!({ "ok": true, "cancelled": cancelled }))?;
    } else {
        let jobs = if cancelled == 1 { "job" } else { "jobs" };
        output::line(format_args!("{cancelled} {jobs} cancelled. What was received is kept."))?;
    }
    Ok(ExitCode::SUCCESS)
}
