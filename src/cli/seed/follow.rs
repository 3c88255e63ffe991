//! Waiting for the jobs that were queued, until the last one has ended or somebody stops it.

use std::collections::{BTreeSet, HashMap};
use std::process::ExitCode;
use std::time::Duration;

use axum::http::Method;
use serde::Serialize;
use serde_json::json;
use tokio::time::{Instant, sleep};

use super::progress::ProgressDisplay;
use super::{PATH, SeedArgs, builds, print_left, print_totals};
use crate::cli::api::{AdminApi, is_temporary};
use crate::cli::output;
use crate::cli::selection::SelectionArgs;
use crate::web::{JobsProgressResponse, PausesView, SeedJobView, SeedResponse};

const POLL_INTERVAL: Duration = Duration::from_secs(1);

/// How often, and for how long, a server is asked again that does not answer.
const RETRY_INTERVAL: Duration = Duration::from_secs(2);
const RETRY_TIME: Duration = Duration::from_secs(600);

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
    // The prompts by the jobs that have not ended.
    let mut open: HashMap<String, String> =
        seeded.jobs.iter().map(|job| (job.id.clone(), job.prompt_id.clone())).collect();
    let mut ended = Vec::new();
    let progress = loop {
        // After this, one more look is enough.
        let is_settled = api.stop.settled.is_cancelled();
        let request = json!({ "jobs": open.keys().collect::<Vec<_>>() });
        let ask = async || api.send(Method::POST, "/api/admin/jobs/progress", &request).await;
        let mut progress: JobsProgressResponse = retry(api, &display, ask).await?;
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
    let state_path = arguments.selected().flag("dryRun", true).address(PATH);
    let state: SeedResponse = retry(api, &display, async || api.post(&state_path, "").await).await?;
    let stopped = api.stop.requested.is_cancelled() && !progress.under_way.is_empty();
    let result = SeedOutput::new(SeedResponse { left: seeded.left, ..state }, ended, &progress, stopped);
    match arguments.output.json {
        true => output::json(&result)?,
        false => print_summary(&result, &progress, arguments, &open.into_values().collect())?,
    }
    let is_complete = !progress.waits_for_admin && result.state.jobs.iter().all(|job| job.state == "ready");
    Ok(match (api.stop.requested.is_cancelled(), is_complete) {
        (true, _) => ExitCode::from(130),
        (false, true) => ExitCode::SUCCESS,
        (false, false) => ExitCode::FAILURE,
    })
}

/// Asks again if the server does not answer for a while, as when it restarts. It goes on with the jobs meanwhile, or
/// afterwards.
async fn retry<T>(
    api: &AdminApi,
    display: &ProgressDisplay,
    ask: impl AsyncFn() -> anyhow::Result<T>,
) -> anyhow::Result<T> {
    let since = Instant::now();
    let mut is_told = false;
    loop {
        let error = match ask().await {
            Err(error) if is_temporary(&error) && since.elapsed() < RETRY_TIME => error,
            result => return result,
        };
        if !is_told {
            is_told = true;
            display.note(&format!("{error:#}; asking again for up to {} minutes", RETRY_TIME.as_secs() / 60));
        }
        tokio::select! {
            () = sleep(RETRY_INTERVAL) => {}
            () = api.stop.requested.cancelled() => return Err(error),
        }
    }
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
    open_prompts: &BTreeSet<String>,
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
        print_stopped(*still_queued, *still_running, arguments, open_prompts)?;
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
    let mut cancel = "buildoff cancel".to_owned();
    models.iter().for_each(|key| cancel += &format!(" --model {key}"));
    prompts.iter().for_each(|id| cancel += &format!(" --prompt {id}"));
    match (models.is_empty() && prompts.is_empty(), arguments.is_narrow()) {
        (true, true) => open_prompts.iter().for_each(|id| cancel += &format!(" --prompt {id}")),
        (true, false) => cancel += " --all",
        (false, _) => {}
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
