//! An assessment in this process, without a database.

use std::sync::Arc;

use anyhow::Context;
use serde_json::json;
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;
use world::Terrains;

use super::files::OutputFolder;
use super::{AssessArgs, AssessEnding, WantedAssessment};
use crate::assess::WorldThreads;
use crate::assess::order::{AssessmentOrder, draw_seed};
use crate::assess::report::{
    AssessmentResult, ResultFile, ResultParticipants, ResultProvenance, ResultSource, ScoredRun,
};
use crate::assess::run::{RunExchange, RunListener, RunOutcome, RunSetup, RunTimes, run_task};
use crate::generate::a2a::{agent_address, read_card};
use crate::generate::{AgentSecrets, Endpoint, ProviderKind, RequestLimits, agent_provider};
use crate::judge::scores::VideoScore;

pub(super) async fn assess(
    wanted: &WantedAssessment,
    arguments: &AssessArgs,
    folder: Option<&OutputFolder>,
) -> anyhow::Result<AssessEnding> {
    let body = json!({ "participants": { "agent": wanted.agent }, "config": wanted.config });
    let order = match AssessmentOrder::read(&body) {
        Ok(order) => order,
        Err(problem) => return Ok(AssessEnding::Unsuccessful(format!("Rejected: {problem}"))),
    };
    if order.judge.is_some() {
        let words = "Rejected: judges need an installation. Leave the judge out, or --no-store.";
        return Ok(AssessEnding::Unsuccessful(words.to_owned()));
    }
    let times = RunTimes::default();
    let secrets = AgentSecrets::new(|name| std::env::var_os(name));
    let key = match &arguments.key_variable {
        None => None,
        Some(name) => Some(secrets.get(name).with_context(|| format!("{name} is not set"))?),
    };
    let base_url = agent_address(&order.agent)?;
    let endpoint = Endpoint { provider: ProviderKind::A2a, base_url, key, pinned: None };
    let card = match read_card(&endpoint, true, RequestLimits::quick()).await {
        Ok(card) => card,
        Err(error) => {
            let words = format!("Failed: the agent cannot be asked: {}.", error.message_with_status());
            return Ok(AssessEnding::Unsuccessful(words));
        }
    };
    let agent = agent_provider(&endpoint, true, times.limits(), false)?;
    let seed = order.seed.unwrap_or_else(draw_seed);
    let setup = RunSetup {
        seed,
        size: order.size,
        stops_when_done: order.stops_when_done,
        times,
        terrains: Arc::new(Terrains::default()),
        threads: WorldThreads::new()?,
    };
    let categories: Vec<&str> = order.categories.iter().map(String::as_str).collect();
    arguments.say_begin(order.tasks.len(), &categories)?;
    let mut outcomes: Vec<RunOutcome> = Vec::new();
    for task in &order.tasks {
        let (category, name) = (task.task.category(), task.task.name());
        arguments.say_run_begins(category, name)?;
        let outcome = run_task(task, &setup, &*agent, &mut UnfollowedRun).await?;
        let scores = ScoredRun::new(task, &outcome, VideoScore::NoJudge).scores(order.revision);
        arguments.say_run_ends(name, scores.total_score, scores.error.as_deref())?;
        if let Some(folder) = folder {
            folder.write_run(name, &outcome.recording, &setup.terrains)?;
        }
        outcomes.push(outcome);
    }
    let at = OffsetDateTime::now_utc().format(&Rfc3339)?;
    let provenance = ResultProvenance { version: card.source.version, card: card.source.digest, at };
    let runs = order.tasks.iter().zip(&outcomes);
    let runs = runs.map(|(task, outcome)| ScoredRun::new(task, outcome, VideoScore::NoJudge));
    let result = AssessmentResult::new(ResultSource { order: &order, seed, provenance }, runs);
    let participants = ResultParticipants { agent: order.agent };
    Ok(AssessEnding::Finished(ResultFile { participants, results: vec![result] }))
}

/// Nobody follows the steps.
struct UnfollowedRun;

impl RunListener for UnfollowedRun {
    fn on_exchange(&mut self, _: &RunExchange<'_>) {}
}
