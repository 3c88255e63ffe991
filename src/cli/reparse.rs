//! `buildoff reparse`: reads stored answers again that were paid for and held no build.

use std::process::ExitCode;

use serde::Deserialize;
use uuid::Uuid;

use super::api::{AdminApi, AdminApiError, ApiArgs};

#[derive(clap::Args)]
pub(super) struct ReparseArgs {
    /// Id of one job [default: all failed jobs].
    job: Option<Uuid>,
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

/// Success if every job has a build now.
pub(super) fn run(arguments: &ReparseArgs) -> anyhow::Result<ExitCode> {
    arguments.connection.run(false, async |api| reparse(api, arguments.job).await)
}

async fn reparse(api: &AdminApi, job: Option<Uuid>) -> anyhow::Result<ExitCode> {
    let jobs = match job {
        Some(job) => vec![api.get(&format!("/api/admin/jobs/{job}")).await?],
        None => api.get::<CliUnreadJobs>("/api/admin/jobs/unread").await?.jobs,
    };
    let (mut found, mut filled) = (0, 0);
    for CliUnreadJob { id, prompt_id, model_key } in &jobs {
        let outcome = match api.post(&format!("/api/admin/jobs/{id}/reparse"), "").await {
            Ok(CliReparseResult { build_id: Some(build), .. }) => {
                found += 1;
                format!("build {build}")
            }
            Ok(CliReparseResult { error, .. }) => error.unwrap_or_else(|| "no answer is stored".to_owned()),
            Err(error) if job.is_none() && is_filled(&error) => {
                filled += 1;
                "another answer was a build already".to_owned()
            }
            Err(error) => format!("{error:#}"),
        };
        println!("{prompt_id} by {model_key} ({id}): {outcome}");
    }
    println!("{found} of {} jobs have a build now", jobs.len());
    Ok(if found + filled == jobs.len() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Whether another answer for the same prompt and model became a build a moment ago, which leaves nothing to read.
fn is_filled(error: &anyhow::Error) -> bool {
    error.downcast_ref::<AdminApiError>().is_some_and(|refused| refused.code == "nothing_to_read")
}
