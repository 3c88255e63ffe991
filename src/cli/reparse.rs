//! `buildoff reparse`: reads again what models have answered, and paid for, in vain.

use std::process::ExitCode;

use serde::Deserialize;
use uuid::Uuid;

use super::api::{Api, Elsewhere, Refused};

#[derive(clap::Args)]
pub(super) struct Arguments {
    /// One job alone; without it, all that have failed.
    job: Option<Uuid>,
    #[command(flatten)]
    elsewhere: Elsewhere,
}

#[derive(Deserialize)]
struct Unread {
    jobs: Vec<Job>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Job {
    id: Uuid,
    prompt_id: String,
    model_key: String,
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
        Some(job) => vec![api.get(&format!("/api/admin/jobs/{job}")).await?],
        None => api.get::<Unread>("/api/admin/jobs/unread").await?.jobs,
    };
    let (mut found, mut filled) = (0, 0);
    for Job { id, prompt_id, model_key } in &jobs {
        let told = match api.post(&format!("/api/admin/jobs/{id}/reparse"), "").await {
            Ok(Reread { build_id: Some(build), .. }) => {
                found += 1;
                format!("build {build}")
            }
            Ok(Reread { error, .. }) => error.unwrap_or_else(|| "nothing was answered".to_owned()),
            Err(error) if job.is_none() && is_filled(&error) => {
                filled += 1;
                "another answer was a build".to_owned()
            }
            Err(error) => format!("{error:#}"),
        };
        println!("{prompt_id} by {model_key} ({id}): {told}");
    }
    println!("{found} of {} hold a build", jobs.len());
    Ok(if found + filled == jobs.len() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// There was nothing to read any more: an answer to the same place has been taken a moment ago.
fn is_filled(error: &anyhow::Error) -> bool {
    error.downcast_ref::<Refused>().is_some_and(|refused| refused.code == "nothing_to_read")
}
