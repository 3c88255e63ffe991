//! Waiting for the jobs that were queued, until the last one has ended or somebody stops it.

use std::collections::HashSet;
use std::process::ExitCode;
use std::time::Duration;

use axum::http::Method;
use serde::Serialize;
use serde_json::json;
use tokio::time::sleep;

use super::progress::ProgressDisplay;
use super::{PATH, SeedArgs, builds, print_left, print_totals};
use crate::cli::api::AdminApi;
use crate::cli::output;
use crate::cli::selection::SelectionArgs;
use crate::web::{JobsProgressResponse, PausesView, SeedJobView, SeedResponse};

const POLL_INTERVAL: Duration = Duration::from_secs(1);

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
    /// In dollars, as far as known.
    cost: f64,
    cost_is_minimum: bool,
}

pub(super) async fn follow(
    api: &AdminApi,
    arguments: &SeedArgs,
    seeded: SeedResponse,
) -> anyhow::Result<ExitCode> {
    let mut display = ProgressDisplay::new(arguments.output.json);
    let mut open: HashSet<String> = seeded.jobs.iter().map(|job| job.id.clone()).collect();
    let mut ended = Vec::new();
    let progress = loop {
        // After this, one more look is enough.
        let is_settled = api.stop.settled.is_cancelled();
        let request = json!({ "jobs": open });
        let mut progress: JobsProgressResponse =
            api.send(Method::POST, "/api/admin/jobs/progress", &request).await?;
        for job in &progress.ended {
            open.remove(&job.id);
        }
        display.show(&progress)?;
        ended.append(&mut progress.ended);
        let is_stopping = api.stop.requested.is_cancelled();
        if is_settled || progress.under_way.is_empty() || (progress.waits_for_admin && !is_stopping) {
            break progress;
        }
        tokio::select! {
            () = sleep(POLL_INTERVAL) => {}
            () = api.stop.requested.cancelled(), if !is_stopping => display.clear(),
            () = api.stop.settled.cancelled() => {}
        }
    };
    display.clear();
    let state: SeedResponse = api.post(&arguments.selected().flag("dryRun", true).address(PATH), "").await?;
    let stopped = api.stop.requested.is_cancelled() && !progress.under_way.is_empty();
    let result = SeedOutput::new(SeedResponse { left: seeded.left, ..state }, ended, &progress, stopped);
    match arguments.output.json {
        true => output::json(&result)?,
        false => print_summary(&result, &progress, arguments)?,
    }
    let is_complete = !progress.waits_for_admin && result.state.failed_builds == 0;
    Ok(match (api.stop.requested.is_cancelled(), is_complete) {
        (true, _) => ExitCode::from(130),
        (false, true) => ExitCode::SUCCESS,
        (false, false) => ExitCode::FAILURE,
    })
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
            // The sum of no floats would be -0.
            cost: ended.iter().filter_map(|job| job.cost).fold(0.0, |sum, cost| sum + cost),
            cost_is_minimum: ended.iter().any(|job| job.cost_is_minimum),
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
) -> anyhow::Result<()> {
    let SeedOutput { state, stopped, still_queued, still_running, cost, cost_is_minimum } = result;
    print_totals(state)?;
    if !state.jobs.is_empty() {
        let least = if *cost_is_minimum { "at least " } else { "" };
        output::line(format_args!("{} ended, which cost {least}${cost:.2}", builds(state.jobs.len())))?;
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
        print_stopped(*still_queued, *still_running, arguments)?;
    }
    Ok(())
}

/// Without which nothing goes on.
fn needed(pauses: &PausesView) -> &'static str {
    if pauses.queue_paused_at.is_some() || !pauses.providers.is_empty() {
        "you resume what is paused"
    } else if pauses.budgets.iter().any(|budget| budget.percent >= 100) {
        "a budget allows it"
    } else {
        "you set the key that is missing"
    }
}

/// What becomes of the builds that have not ended.
fn print_stopped(queued: usize, running: usize, arguments: &SeedArgs) -> anyhow::Result<()> {
    let still = match (queued, running) {
        (0, 0) => return Ok(()),
        (1, 0) => "One build stays queued".to_owned(),
        (queued, 0) => format!("{queued} builds stay queued"),
        (queued, running) => format!("{} still queued or running", builds(queued + running)),
    };
    let SelectionArgs { models, prompts } = &arguments.selection;
    let mut cancel = "buildoff cancel".to_owned();
    models.iter().for_each(|key| cancel += &format!(" --model {key}"));
    prompts.iter().for_each(|id| cancel += &format!(" --prompt {id}"));
    if models.is_empty() && prompts.is_empty() {
        cancel += " --all";
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
