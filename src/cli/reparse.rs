//! `buildoff reparse`: reads stored answers again that were paid for and held no build.

use std::fmt;
use std::process::ExitCode;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::api::{AdminApi, AdminApiError, ApiArgs, CommandWork};
use super::output::{self, OutputArgs};

#[derive(clap::Args)]
pub(super) struct ReparseArgs {
    /// Id of one job [default: all failed jobs].
    job: Option<Uuid>,
    #[command(flatten)]
    output: OutputArgs,
    #[command(flatten)]
    connection: ApiArgs,
}

#[derive(Deserialize)]
struct CliUnreadJobs {
    jobs: Vec<CliUnreadJob>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct CliUnreadJob {
    id: Uuid,
    prompt_id: String,
    model_key: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct CliReparseResult {
    build_id: Option<Uuid>,
    error: Option<String>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ReparseOutput {
    /// Jobs that have a build now.
    found: usize,
    jobs: Vec<ReparseOutcome>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ReparseOutcome {
    id: Uuid,
    prompt_id: String,
    model_key: String,
    build_id: Option<Uuid>,
    /// Why it has no build.
    error: Option<String>,
}

/// Success if every job has a build now.
pub(super) fn run(arguments: &ReparseArgs) -> anyhow::Result<ExitCode> {
    arguments.connection.run(CommandWork::Nothing, async |api| reparse(api, arguments).await)
}

async fn reparse(api: &AdminApi, arguments: &ReparseArgs) -> anyhow::Result<ExitCode> {
    let jobs = match arguments.job {
        Some(job) => vec![api.get(&format!("/api/admin/jobs/{job}")).await?],
        None => api.get::<CliUnreadJobs>("/api/admin/jobs/unread").await?.jobs,
    };
    let json = arguments.output.json;
    let mut filled = 0;
    let mut result = ReparseOutput { found: 0, jobs: Vec::new() };
    for CliUnreadJob { id, prompt_id, model_key } in jobs {
        let (build_id, error) = match api.post(&format!("/api/admin/jobs/{id}/reparse"), "").await {
            Ok(CliReparseResult { build_id: Some(build), .. }) => (Some(build), None),
            Ok(CliReparseResult { error, .. }) => {
                (None, Some(error.unwrap_or_else(|| "no answer is stored".to_owned())))
            }
            Err(error) if arguments.job.is_none() && is_filled(&error) => {
                filled += 1;
                (None, Some("another answer was a build already".to_owned()))
            }
            Err(error) => (None, Some(format!("{error:#}"))),
        };
        let job = ReparseOutcome { id, prompt_id, model_key, build_id, error };
        if !json {
            output::line(&job)?;
        }
        result.found += usize::from(job.build_id.is_some());
        result.jobs.push(job);
    }
    let ReparseOutput { found, jobs } = &result;
    match json {
        true => output::json(&result)?,
        false => output::line(format_args!("{found} of {} jobs have a build now", jobs.len()))?,
    }
    Ok(if found + filled == jobs.len() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

impl fmt::Display for ReparseOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { id, prompt_id, model_key, build_id, error } = self;
        write!(f, "{prompt_id} by {model_key} ({id}): ")?;
        match build_id {
            Some(build) => write!(f, "build {build}"),
            None => f.write_str(error.as_deref().unwrap_or_default()),
        }
    }
}

/// Whether another answer for the same prompt and model became a build a moment ago, which leaves nothing to read.
fn is_filled(error: &anyhow::Error) -> bool {
    error.downcast_ref::<AdminApiError>().is_some_and(|refused| refused.code == "nothing_to_read")
}
