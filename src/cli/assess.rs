//! `buildoff assess`: puts an agent through tasks of the block world and scores it, in memory.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, bail, ensure};
use buildoff_world::RunFilm;
use serde_json::{Value, json};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;
use world::Terrains;
use world::record::Recording;

use super::output::{self, OutputArgs};
use super::{runtime, until_stopped};
use crate::assess::WorldThreads;
use crate::assess::order::{AssessmentOrder, ConfigBody, NameList, OrderedTask, draw_seed};
use crate::assess::report::{
    AssessmentResult, ResultFile, ResultParticipants, ResultProvenance, ResultSource, ScoredRun,
};
use crate::assess::run::{RunExchange, RunListener, RunOutcome, RunSetup, RunTimes, run_task};
use crate::assess::scenario::{MAX_SCENARIO_BYTES, Scenario, ScenarioAgent};
use crate::generate::a2a::{agent_address, read_card};
use crate::generate::{
    AgentSecrets, ChatPrompt, CompletionRequest, Delta, Endpoint, ModelOptions, ProviderKind, RequestLimits,
    agent_provider,
};
use crate::judge::scores::VideoScore;

/// The film of a run: every step, 20 a second, as others of this family write it.
const FILM: RunFilm = RunFilm { size: [640, 360], every: 1, max_pictures: 12_000, max_bytes: usize::MAX };

/// Of the pictures of a film, of 100.
const FILM_QUALITY: f32 = 75.0;

/// How long another assessor may take.
const GREEN_AGENT_LIMIT: Duration = Duration::from_secs(24 * 60 * 60);

#[derive(clap::Args)]
pub(super) struct AssessArgs {
    /// Scenario file with the participants and the config.
    #[arg(required_unless_present = "agent")]
    scenario: Option<PathBuf>,
    /// File for the results, as JSON.
    results: Option<PathBuf>,
    /// Where the agent is, or its card, without a scenario.
    #[arg(long, value_name = "URL", conflicts_with = "scenario")]
    agent: Option<String>,
    /// Categories to assess in; all short tasks if none is named.
    #[arg(long, value_name = "NAME")]
    category: Vec<String>,
    /// Tasks to assess with.
    #[arg(long, value_name = "NAME")]
    task: Vec<String>,
    /// Steps of each run.
    #[arg(long, value_name = "N")]
    max_steps: Option<u64>,
    /// How scores are put together: mcu-1, mcu-0 or mcu-1-code.
    #[arg(long, value_name = "NAME")]
    revision: Option<String>,
    /// Seed of the worlds; drawn if it is not set.
    #[arg(long)]
    seed: Option<u64>,
    /// End a run as soon as everything in it has been paid.
    #[arg(long)]
    stop_when_done: bool,
    /// Environment variable that holds the agent's secret.
    #[arg(long, value_name = "NAME")]
    key_variable: Option<String>,
    /// Folder for the results, and for the film and the recording of each run.
    #[arg(long, value_name = "FOLDER")]
    output: Option<PathBuf>,
    #[command(flatten)]
    format: OutputArgs,
}

pub(super) fn run(arguments: &AssessArgs) -> anyhow::Result<ExitCode> {
    let scenario = arguments.scenario.as_deref().map(read_scenario).transpose()?;
    if let Some(folder) = &arguments.output {
        fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
    }
    runtime()?.block_on(until_stopped(async {
        let file = match scenario {
            Some(Scenario { green_endpoint: Some(endpoint), role, agent, config, .. }) => {
                let ScenarioAgent::Endpoint(agent) = agent else {
                    bail!("another assessor needs the endpoint of the agent, not an id");
                };
                order_elsewhere(&endpoint, &role, &agent, config).await?
            }
            Some(Scenario { agent, config, .. }) => {
                let ScenarioAgent::Endpoint(agent) = agent else {
                    bail!("an agentbeats_id stands for an agent of an installation; name the agent's endpoint here");
                };
                let config = if config.is_null() { json!({}) } else { config };
                let order = AssessmentOrder::read(&json!({ "participants": { "agent": agent }, "config": config }))?;
                assess(order, arguments).await?
            }
            None => {
                let agent = arguments.agent.clone().unwrap_or_default();
                assess(AssessmentOrder::new(agent, &arguments.config())?, arguments).await?
            }
        };
        let text = serde_json::to_string_pretty(&file)?;
        let in_folder = arguments.output.as_ref().map(|folder| folder.join("results.json"));
        for path in arguments.results.iter().chain(&in_folder) {
            fs::write(path, &text).with_context(|| format!("cannot write {}", path.display()))?;
        }
        if arguments.format.json {
            output::line(text)?;
        }
        Ok(ExitCode::SUCCESS)
    }))
}

impl AssessArgs {
    fn config(&self) -> ConfigBody {
        let names = |names: &Vec<String>| (!names.is_empty()).then(|| NameList::Many(names.clone()));
        ConfigBody {
            task_category: names(&self.category),
            tasks: names(&self.task),
            max_steps: self.max_steps,
            revision: self.revision.clone(),
            seed: self.seed,
            stop_when_done: self.stop_when_done,
            ..ConfigBody::default()
        }
    }

    /// Progress goes to standard error where standard output is JSON.
    fn say(&self, line: impl std::fmt::Display) -> anyhow::Result<()> {
        if self.format.json {
            output::note(line);
            return Ok(());
        }
        Ok(output::line(line)?)
    }
}

fn read_scenario(path: &Path) -> anyhow::Result<Scenario> {
    let name = path.display();
    let metadata = fs::metadata(path).with_context(|| format!("cannot read {name}"))?;
    ensure!(metadata.len() <= MAX_SCENARIO_BYTES as u64, "{name} is too large for a scenario");
    let text = fs::read_to_string(path).with_context(|| format!("cannot read {name}"))?;
    Scenario::parse(&text).map_err(|problem| anyhow::anyhow!("{name}, {problem}"))
}

async fn assess(order: AssessmentOrder, arguments: &AssessArgs) -> anyhow::Result<ResultFile> {
    ensure!(order.judge.is_none(), "judges need an installation; leave the judge out here");
    let times = RunTimes::default();
    let secrets = AgentSecrets::new(|name| std::env::var_os(name));
    let key = match &arguments.key_variable {
        None => None,
        Some(name) => Some(secrets.get(name).with_context(|| format!("{name} is not set"))?),
    };
    let base_url = agent_address(&order.agent)?;
    let endpoint = Endpoint { provider: ProviderKind::A2a, base_url, key, pinned: None };
    let card = read_card(&endpoint, true, RequestLimits::quick()).await;
    let card = card.map_err(|error| anyhow::anyhow!("{}", error.message_with_status()))?;
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
    arguments.say(format_args!(
        "Starting MCU evaluation with {} tasks from {}",
        order.tasks.len(),
        order.categories.join(", ")
    ))?;
    let mut outcomes: Vec<RunOutcome> = Vec::new();
    for task in &order.tasks {
        let (category, name) = (task.task.category(), task.task.name());
        arguments.say(format_args!("Running task: {} (category: {category})", name.replace('_', " ")))?;
        let outcome = run_task(task, &setup, &*agent, &mut Unheard).await?;
        let metrics = ScoredRun::new(task, &outcome, VideoScore::NoJudge).scores(order.revision);
        let score = metrics.total_score.map_or("not scored".to_owned(), |score| format!("{score:?}"));
        let error = metrics.error.map_or(String::new(), |error| format!(" ({error})"));
        arguments.say(format_args!("Task '{name}': {score}{error}"))?;
        if let Some(folder) = &arguments.output {
            write_run(&folder.join(name), task, &outcome, &setup.terrains)?;
        }
        outcomes.push(outcome);
    }
    let at = OffsetDateTime::now_utc().format(&Rfc3339)?;
    let provenance = ResultProvenance { version: card.source.version, card: card.source.digest, at };
    let runs = order.tasks.iter().zip(&outcomes);
    let runs = runs.map(|(task, outcome)| ScoredRun::new(task, outcome, VideoScore::NoJudge));
    let result = AssessmentResult::new(ResultSource { order: &order, seed, provenance }, runs);
    let text = result.text();
    if let Some(folder) = &arguments.output {
        fs::write(folder.join("result.txt"), &text)?;
    }
    arguments.say(format_args!("\n{text}"))?;
    arguments.say(format_args!("The world is {}, our own simulator, and not Minecraft.", result.world))?;
    Ok(ResultFile { participants: ResultParticipants { agent: order.agent }, results: vec![result] })
}

/// Nobody follows the steps.
struct Unheard;

impl RunListener for Unheard {
    fn on_exchange(&mut self, _: &RunExchange<'_>) {}
}

fn write_run(
    folder: &Path,
    task: &OrderedTask,
    outcome: &RunOutcome,
    terrains: &Terrains,
) -> anyhow::Result<()> {
    fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
    fs::write(folder.join("episode_1.run"), &outcome.recording)?;
    let recording = Recording::read(&outcome.recording)
        .with_context(|| format!("the recording of {} cannot be read", task.task.name()))?;
    let film = FILM.shoot(&recording, terrains, |picture| Ok(picture.lossy_webp(FILM_QUALITY)?))?;
    fs::write(folder.join("episode_1.webp"), film)?;
    Ok(())
}

/// Orders the assessment from another assessor, whoever wrote it.
async fn order_elsewhere(
    endpoint: &str,
    role: &str,
    agent: &str,
    config: Value,
) -> anyhow::Result<ResultFile> {
    let order = json!({ "participants": { role: agent }, "config": config });
    let endpoint =
        Endpoint { provider: ProviderKind::A2a, base_url: agent_address(endpoint)?, key: None, pinned: None };
    let limits = RequestLimits {
        total: GREEN_AGENT_LIMIT,
        first_byte: GREEN_AGENT_LIMIT,
        idle: GREEN_AGENT_LIMIT,
        ..RequestLimits::default()
    };
    let green = agent_provider(&endpoint, true, limits, false)?;
    let request = CompletionRequest {
        model: String::new(),
        prompt: ChatPrompt::new("", order.to_string()),
        schema: None,
        options: ModelOptions::default(),
        vision: false,
        data: None,
        context: None,
    };
    let mut told = |delta: Delta<'_>| {
        if let Delta::Progress(words) = delta {
            output::note(words);
        }
    };
    let answer = green
        .ask(&request, &mut told)
        .await
        .map_err(|error| anyhow::anyhow!("{}", error.message_with_status()))?;
    let result =
        answer.text.lines().rev().find_map(|line| serde_json::from_str::<AssessmentResult>(line.trim()).ok());
    let result =
        result.with_context(|| format!("the assessor answered without a result: {}", answer.text))?;
    output::note(format_args!("\n{}", result.text()));
    Ok(ResultFile { participants: ResultParticipants { agent: agent.to_owned() }, results: vec![result] })
}
