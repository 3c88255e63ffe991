//! Waiting for jobs that a command has queued, until the last one has ended or somebody stops it.

use std::collections::HashSet;
use std::fmt;
use std::process::ExitCode;
use std::time::Duration;

use axum::http::Method;
use serde::Serialize;
use serde_json::json;
use tokio::time::{Instant, sleep};

use super::api::{AdminApi, is_temporary};
use super::job_progress::{JobWords, ProgressDisplay};
use crate::web::{JobsProgressResponse, PausesView, SeedJobView};

const POLL_INTERVAL: Duration = Duration::from_secs(1);

/// How often, and for how long, a server is asked again that does not answer.
const RETRY_INTERVAL: Duration = Duration::from_secs(2);
const RETRY_TIME: Duration = Duration::from_secs(600);

/// What came of jobs.
pub(super) struct FollowedJobs {
    pub ended: Vec<SeedJobView>,
    /// Of those that have not.
    pub progress: JobsProgressResponse,
    /// Whether a signal ended the waiting.
    pub stopped: bool,
    display: ProgressDisplay,
}

/// What jobs have cost, in dollars, as far as known.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct JobsCost {
    cost: f64,
    cost_is_minimum: bool,
}

impl FollowedJobs {
    /// Shows the progress of the jobs with these ids until the last has ended, or nothing can go on without an admin.
    pub async fn follow(
        api: &AdminApi,
        words: JobWords,
        json: bool,
        mut open: HashSet<String>,
    ) -> anyhow::Result<Self> {
        let mut display = ProgressDisplay::new(words, json);
        let mut ended = Vec::new();
        let progress = loop {
            // After this, one more look is enough.
            let is_settled = api.stop.settled.is_cancelled();
            let request = json!({ "jobs": open.iter().collect::<Vec<_>>() });
            let ask = async || api.send(Method::POST, "/api/admin/jobs/progress", &request).await;
            let mut progress: JobsProgressResponse = retry(api, |words| display.note(words), ask).await?;
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
        let stopped = api.stop.requested.is_cancelled() && !progress.under_way.is_empty();
        Ok(Self { ended, progress, stopped, display })
    }

    /// Asks the server something else, and again if it does not answer for a while.
    pub async fn retry<T>(
        &self,
        api: &AdminApi,
        ask: impl AsyncFn() -> anyhow::Result<T>,
    ) -> anyhow::Result<T> {
        retry(api, |words| self.display.note(words), ask).await
    }
}

/// Asks again if the server does not answer for a while, as when it restarts. It goes on with the work meanwhile, or
/// afterwards. `note` tells so once.
pub(super) async fn retry<T>(
    api: &AdminApi,
    note: impl Fn(&str),
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
            note(&format!("{error:#}; asking again for up to {} minutes", RETRY_TIME.as_secs() / 60));
        }
        tokio::select! {
            () = sleep(RETRY_INTERVAL) => {}
            () = api.stop.requested.cancelled() => return Err(error),
        }
    }
}

/// The exit code of a command that has followed jobs.
pub(super) fn exit_code(api: &AdminApi, is_complete: bool) -> ExitCode {
    match (api.stop.requested.is_cancelled(), is_complete) {
        (true, _) => ExitCode::from(130),
        (false, true) => ExitCode::SUCCESS,
        (false, false) => ExitCode::FAILURE,
    }
}

/// Without which nothing goes on.
pub(super) fn needed(pauses: &PausesView) -> &'static str {
    if pauses.queue_paused_at.is_some() || !pauses.providers.is_empty() {
        "you resume what is paused"
    } else if pauses.budgets.iter().any(|budget| budget.percent >= 100) {
        "a budget allows it"
    } else {
        "you set the key that is missing"
    }
}

impl JobsCost {
    pub fn of(ended: &[SeedJobView]) -> Self {
        Self {
            // The sum of no floats would be -0.
            cost: ended.iter().filter_map(|job| job.cost).fold(0.0, |sum, cost| sum + cost),
            cost_is_minimum: ended.iter().any(|job| job.cost_is_minimum),
        }
    }
}

impl fmt::Display for JobsCost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let least = if self.cost_is_minimum { "at least " } else { "" };
        write!(f, "{least}${:.2}", self.cost)
    }
}
