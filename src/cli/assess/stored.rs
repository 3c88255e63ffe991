//! An assessment that is stored: in the installation of this machine, which this process carries out, or at a server.

use std::time::Duration;

use anyhow::{Context, ensure};
use axum::http::Method;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::time::sleep;
use uuid::Uuid;
use world::Terrains;

use super::files::OutputFolder;
use super::{AssessArgs, AssessEnding, WantedAssessment};
use crate::arena::ModelKey;
use crate::arena::assessments::{AssessmentState, RunState};
use crate::assess::report::ResultFile;
use crate::cli::api::{AdminApi, AdminApiError};
use crate::cli::following::retry;
use crate::cli::output;
use crate::generate::a2a::agent_address;

const ASSESSMENTS: &str = "/api/assessments";

/// How often it is looked at.
const POLL_INTERVAL: Duration = Duration::from_millis(500);

/// After how many looks somebody who waits is told why.
const PATIENT_LOOKS: usize = 10;

/// Codes of what is wrong with an order, and not with the server or the connection.
const REJECTIONS: [&str; 5] =
    ["bad_order", "may_not_assess", "no_agent", "address_refused", "too_many_assessments"];

#[derive(Deserialize)]
struct OrderedAssessment {
    id: Uuid,
    /// Its page.
    url: String,
}

/// An assessment as far as it is followed.
#[derive(Deserialize)]
struct FollowedAssessment {
    state: AssessmentState,
    problem: Option<String>,
    runs: Vec<FollowedRun>,
}

#[derive(Deserialize)]
struct FollowedRun {
    id: Uuid,
    category: String,
    task: String,
    state: RunState,
    score: Option<f64>,
    problem: Option<String>,
}

#[derive(Deserialize)]
struct AgentRegister {
    agents: Vec<RegisteredAddress>,
}

#[derive(Deserialize)]
struct RegisteredAddress {
    key: String,
    url: String,
}

/// What was said of the runs, which come one after the other. A run that begins anew after an interruption is not told
/// of again.
#[derive(Default)]
struct RunsTold {
    has_begun: bool,
    begun: usize,
    ended: usize,
}

pub(super) async fn assess(
    api: &AdminApi,
    wanted: &WantedAssessment,
    arguments: &AssessArgs,
    folder: Option<&OutputFolder>,
) -> anyhow::Result<AssessEnding> {
    let mut agent = wanted.agent.clone();
    if let Some(key) = &arguments.enter_as {
        enter_agent(api, key, &agent).await?;
        agent = key.to_string();
    }
    let order = json!({ "participants": { "agent": agent }, "config": wanted.config });
    let ordered: OrderedAssessment = match api.send(Method::POST, ASSESSMENTS, &order).await {
        Ok(ordered) => ordered,
        Err(error) => return rejection(error),
    };
    let page = api.page(&ordered.url);
    match &page {
        Some(page) => output::note(format_args!("Ordered: {page}")),
        None => output::note(format_args!("Assessment {} is stored.", ordered.id)),
    }
    let Some(ended) = follow(api, ordered.id, arguments).await? else {
        match page {
            Some(page) => output::note(format_args!("The server goes on with it: {page}")),
            None => output::note("It waits in the queue. A running Buildoff goes on with it."),
        }
        return Ok(AssessEnding::Stopped);
    };
    match ended.state {
        AssessmentState::Queued | AssessmentState::Running => Ok(AssessEnding::Stopped),
        AssessmentState::Cancelled => Ok(AssessEnding::Unsuccessful("Cancelled.".to_owned())),
        AssessmentState::Failed => {
            let problem = ended.problem.unwrap_or_default();
            Ok(AssessEnding::Unsuccessful(format!("Failed: {problem}")))
        }
        AssessmentState::Finished => {
            let path = format!("{ASSESSMENTS}/{}/results.json", ordered.id);
            let file: ResultFile =
                retry(api, |words| output::note(words), async || api.get(&path).await).await?;
            if let Some(folder) = folder {
                fetch_runs(api, &ended.runs, folder).await?;
            }
            Ok(AssessEnding::Finished(file))
        }
    }
}

/// Enters an address in the register, unless it stands there under this key.
async fn enter_agent(api: &AdminApi, key: &ModelKey, url: &str) -> anyhow::Result<()> {
    let url = agent_address(url)?;
    let register: AgentRegister = api.get("/api/admin/agents").await.context("--as is for admins")?;
    let Some(known) = register.agents.iter().find(|known| known.key == key.as_str()) else {
        let new = json!({ "key": key, "url": url });
        return api.send::<Value>(Method::POST, "/api/admin/agents", &new).await.map(drop);
    };
    ensure!(
        known.url == url,
        "{key} is the agent at {}; `buildoff agents change {key} --url {url}` moves it",
        known.url
    );
    Ok(())
}

fn rejection(error: anyhow::Error) -> anyhow::Result<AssessEnding> {
    match error.downcast_ref::<AdminApiError>() {
        Some(refused) if REJECTIONS.contains(&refused.code.as_str()) => {
            Ok(AssessEnding::Unsuccessful(format!("Rejected: {refused}")))
        }
        _ => Err(error),
    }
}

/// Says how it goes, until it has ended. None if a signal ended the waiting.
async fn follow(
    api: &AdminApi,
    id: Uuid,
    arguments: &AssessArgs,
) -> anyhow::Result<Option<FollowedAssessment>> {
    let path = format!("{ASSESSMENTS}/{id}");
    let mut told = RunsTold::default();
    for looks in 1.. {
        let look = async || api.get::<FollowedAssessment>(&path).await;
        let looked = tokio::select! {
            looked = retry(api, |words| output::note(words), look) => looked?,
            () = api.stop.requested.cancelled() => return Ok(None),
        };
        told.say(&looked, arguments)?;
        if looked.state.is_over() {
            return Ok(Some(looked));
        }
        if looks == PATIENT_LOOKS && looked.state == AssessmentState::Queued {
            output::note(
                "It waits until no other assessment of the agent runs, and somebody has room for it and the agent's secret.",
            );
        }
        tokio::select! {
            () = sleep(POLL_INTERVAL) => {}
            () = api.stop.requested.cancelled() => break,
        }
    }
    Ok(None)
}

impl RunsTold {
    fn say(&mut self, assessment: &FollowedAssessment, arguments: &AssessArgs) -> anyhow::Result<()> {
        let runs = &assessment.runs;
        if !self.has_begun && runs.iter().any(|run| run.state != RunState::Waiting) {
            self.has_begun = true;
            let mut categories: Vec<&str> = runs.iter().map(|run| run.category.as_str()).collect();
            categories.dedup();
            arguments.say_begin(runs.len(), &categories)?;
        }
        for (number, run) in runs.iter().enumerate() {
            if run.state != RunState::Waiting && number >= self.begun {
                self.begun = number + 1;
                arguments.say_run_begins(&run.category, &run.task)?;
            }
            if run.state == RunState::Ended && number >= self.ended {
                self.ended = number + 1;
                arguments.say_run_ends(&run.task, run.score, run.problem.as_deref())?;
            }
        }
        Ok(())
    }
}

/// Fetches the recordings of runs. What this program cannot film is kept as a recording.
async fn fetch_runs(api: &AdminApi, runs: &[FollowedRun], folder: &OutputFolder) -> anyhow::Result<()> {
    let terrains = Terrains::default();
    for run in runs {
        let path = format!("/api/runs/{}/recording", run.id);
        let fetch = async || api.download(&path).await;
        let recording = match retry(api, |words| output::note(words), fetch).await {
            Ok(recording) => recording,
            Err(error) if error.is::<AdminApiError>() => {
                output::note(format_args!("There is no recording of {}: {error}", run.task));
                continue;
            }
            Err(error) => return Err(error),
        };
        if let Err(error) = folder.write_run(&run.task, &recording, &terrains) {
            output::note(format_args!("{error:#}"));
        }
    }
    Ok(())
}
