//! Waiting for the jobs that were queued, until the last one has ended or somebody stops it.

use std::collections::{BTreeSet, HashMap};
use std::process::ExitCode;

use serde::Serialize;

use super::{BUILDS, PATH, SeedArgs, builds, print_left, print_totals};
use crate::cli::api::AdminApi;
use crate::cli::following::{FollowedJobs, JobsCost, exit_code, needed};
use crate::cli::output;
use crate::cli::selection::SelectionArgs;
use crate::web::{JobsProgressResponse, SeedJobView, SeedResponse};

/// What came of it, as JSON.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct SeedOutput {
    /// Its `jobs` are those that have ended.
    #[serde(flatten)]
    state: SeedResponse,
    /// Whether a signal ended it.
    stopped: bool,
    still_queued: usize,
    still_running: usize,
    #[serde(flatten)]
    cost: JobsCost,
}

pub(super) async fn follow(
    api: &AdminApi,
    arguments: &SeedArgs,
    seeded: SeedResponse,
) -> anyhow::Result<ExitCode> {
    // The prompts by the jobs, for those that do not end.
    let mut open: HashMap<String, String> =
        seeded.jobs.iter().map(|job| (job.id.clone(), job.prompt_id.clone())).collect();
    let ids = open.keys().cloned().collect();
    let followed = FollowedJobs::follow(api, BUILDS, arguments.output.json, ids).await?;
    for job in &followed.ended {
        open.remove(&job.id);
    }
    let state_path = arguments.selected().flag("dryRun", true).address(PATH);
    let state: SeedResponse = followed.retry(api, async || api.post(&state_path, "").await).await?;
    let FollowedJobs { ended, progress, stopped, .. } = followed;
    let result = SeedOutput::new(SeedResponse { left: seeded.left, ..state }, ended, &progress, stopped);
    match arguments.output.json {
        true => output::json(&result)?,
        false => print_summary(&result, &progress, arguments, &open.into_values().collect())?,
    }
    let is_complete = !progress.waits_for_admin && result.state.jobs.iter().all(|job| job.state == "ready");
    Ok(exit_code(api, is_complete))
}

impl SeedOutput {
    fn new(
        state: SeedResponse,
        ended: Vec<SeedJobView>,
        progress: &JobsProgressResponse,
        stopped: bool,
    ) -> Self {
        Self {
            stopped,
            still_queued: progress.under_way.iter().map(|provider| provider.queued).sum(),
            still_running: progress.under_way.iter().map(|provider| provider.running).sum(),
            cost: JobsCost::of(&ended),
            state: SeedResponse {
                next: Vec::new(),
                estimate: None,
                waits_for_admin: progress.waits_for_admin,
                jobs: ended,
                ..state
            },
        }
    }
}

fn print_summary(
    result: &SeedOutput,
    progress: &JobsProgressResponse,
    arguments: &SeedArgs,
    open_prompts: &BTreeSet<String>,
) -> anyhow::Result<()> {
    let SeedOutput { state, stopped, still_queued, still_running, cost } = result;
    print_totals(state)?;
    if !state.jobs.is_empty() {
        output::line(format_args!("{} ended, which cost {cost}", builds(state.jobs.len())))?;
    }
    if let Some(left) = &state.left {
        print_left(left, arguments)?;
    }
    for provider in progress.under_way.iter().filter(|provider| provider.queued > 0) {
        if let Some(reason) = &provider.waits_for {
            output::line(format_args!("{} at {}: {reason}", builds(provider.queued), provider.display_name))?;
        }
    }
    if progress.waits_for_admin && !stopped {
        let what = needed(&progress.pauses);
        output::line(format_args!("Nothing can be generated before {what}."))?;
    }
    if *stopped {
        print_stopped(*still_queued, *still_running, arguments, open_prompts)?;
    }
    Ok(())
}

/// What becomes of the builds that have not ended.
fn print_stopped(
    queued: usize,
    running: usize,
    arguments: &SeedArgs,
    open_prompts: &BTreeSet<String>,
) -> anyhow::Result<()> {
    let still = match (queued, running) {
        (0, 0) => return Ok(()),
        (1, 0) => "One build stays queued".to_owned(),
        (queued, 0) => format!("{queued} builds stay queued"),
        (queued, running) => format!("{} still queued or running", builds(queued + running)),
    };
    let SelectionArgs { models, prompts } = &arguments.selection;
    let mut cancel = "buildoff cancel --kind build".to_owned();
    models.iter().for_each(|key| cancel += &format!(" --model {key}"));
    prompts.iter().for_each(|id| cancel += &format!(" --prompt {id}"));
    if models.is_empty() && prompts.is_empty() && arguments.is_narrow() {
        open_prompts.iter().for_each(|id| cancel += &format!(" --prompt {id}"));
    }
    let who = match &arguments.connection.server {
        Some(server) => {
            cancel += &format!(" --server {server}");
            "The server goes on with them."
        }
        None => "A running Buildoff goes on with them, or else the next that starts.",
    };
    output::line(format_args!("Stopped. {still}. {who} To drop them: {cancel}"))?;
    Ok(())
}
