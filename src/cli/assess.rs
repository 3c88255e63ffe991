//! `buildoff assess`: puts an agent through tasks of the block world and scores it.
//!
//! An assessment is ordered in the installation of this machine, or at a server, and followed until its end. With
//! `--no-store` it happens in memory. A scenario may name another assessor, whoever wrote it.

mod elsewhere;
mod files;
mod in_memory;
mod stored;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, bail, ensure};
use serde_json::{Value, json};

use self::files::OutputFolder;
use super::api::{ApiArgs, CommandWork};
use super::output::{self, OutputArgs};
use super::{runtime, until_stopped};
use crate::arena::ModelKey;
use crate::assess::order::{ConfigBody, NameList};
use crate::assess::report::ResultFile;
use crate::assess::scenario::{MAX_SCENARIO_BYTES, Scenario, ScenarioAgent};

#[derive(clap::Args)]
pub(super) struct AssessArgs {
    /// Scenario file with the participants and the config.
    #[arg(required_unless_present = "agent")]
    scenario: Option<PathBuf>,
    /// File for the results, as JSON.
    results: Option<PathBuf>,
    /// Where the agent is, or its key, without a scenario.
    #[arg(long, value_name = "URL|KEY", conflicts_with = "scenario")]
    agent: Option<String>,
    /// Categories to assess in; all short tasks if none is named.
    #[arg(long, value_name = "NAME", conflicts_with = "scenario")]
    category: Vec<String>,
    /// Tasks to assess with.
    #[arg(long, value_name = "NAME", conflicts_with = "scenario")]
    task: Vec<String>,
    /// Steps of each run.
    #[arg(long, value_name = "N", conflicts_with = "scenario")]
    max_steps: Option<u64>,
    /// How scores are put together: mcu-1, mcu-0 or mcu-1-code.
    #[arg(long, value_name = "NAME", conflicts_with = "scenario")]
    revision: Option<String>,
    /// Seed of the worlds; drawn if it is not set, as ranked results want it.
    #[arg(long, conflicts_with = "scenario")]
    seed: Option<u64>,
    /// The model that judges the runs.
    #[arg(long, value_name = "KEY", conflicts_with = "scenario")]
    judge: Option<String>,
    /// End a run as soon as everything in it has been paid.
    #[arg(long, conflicts_with = "scenario")]
    stop_when_done: bool,
    /// Enter the agent's address in the register under this key, so that the result can be ranked. For admins.
    #[arg(long = "as", value_name = "KEY", conflicts_with = "no_store")]
    enter_as: Option<ModelKey>,
    /// Assess in memory, without a database: nothing is stored but the files that are named.
    #[arg(long, conflicts_with = "server")]
    no_store: bool,
    /// Environment variable that holds the agent's secret. The register has those of agents that are stored.
    #[arg(long, value_name = "NAME", requires = "no_store")]
    key_variable: Option<String>,
    /// Token of the agent's owner, or the admin's, for the server; the one in ADMIN_TOKEN if it is not set.
    #[arg(long, value_name = "TOKEN", requires = "server")]
    token: Option<String>,
    /// Folder for the results, and for the film and the recording of each run.
    #[arg(long, value_name = "FOLDER")]
    output: Option<PathBuf>,
    #[command(flatten)]
    format: OutputArgs,
    #[command(flatten)]
    connection: ApiArgs,
}

/// What is ordered, before anybody has checked it.
struct WantedAssessment {
    agent: String,
    config: Value,
}

/// How an assessment ended.
enum AssessEnding {
    Finished(ResultFile),
    /// Nothing came of it: it was rejected, cancelled, or failed. In words.
    Unsuccessful(String),
    /// A signal ended the waiting.
    Stopped,
}

pub(super) fn run(arguments: &AssessArgs) -> anyhow::Result<ExitCode> {
    let folder = arguments.output.as_deref().map(OutputFolder::create).transpose()?;
    let scenario = arguments.scenario.as_deref().map(read_scenario).transpose()?;
    if let Some(Scenario { green_endpoint: Some(endpoint), role, agent, config, .. }) = scenario {
        ensure!(
            !arguments.no_store && arguments.connection.server.is_none() && arguments.enter_as.is_none(),
            "the scenario names another assessor; remove its [green_agent], or leave out --no-store, --server and --as"
        );
        let ScenarioAgent::Endpoint(agent) = agent else {
            bail!("another assessor needs the endpoint of the agent, not an id");
        };
        return runtime()?.block_on(until_stopped(async {
            let ending = elsewhere::order(&endpoint, &role, &agent, config).await?;
            arguments.end(ending, folder.as_ref())
        }));
    }
    let wanted = match scenario {
        Some(Scenario { agent: ScenarioAgent::AgentBeats(_), .. }) if arguments.no_store => {
            bail!("an agentbeats_id stands for an agent of an installation; name the agent's endpoint here");
        }
        Some(Scenario {
            agent: ScenarioAgent::Endpoint(agent) | ScenarioAgent::AgentBeats(agent),
            config,
            ..
        }) => WantedAssessment { agent, config: if config.is_null() { json!({}) } else { config } },
        None => WantedAssessment {
            agent: arguments.agent.clone().unwrap_or_default(),
            config: serde_json::to_value(arguments.config())?,
        },
    };
    if arguments.no_store {
        return runtime()?.block_on(until_stopped(async {
            let ending = in_memory::assess(&wanted, arguments, folder.as_ref()).await?;
            arguments.end(ending, folder.as_ref())
        }));
    }
    let token = arguments.token.as_deref();
    arguments.connection.run_with_token(token, CommandWork::Assessments, async |api| {
        let ending = stored::assess(api, &wanted, arguments, folder.as_ref()).await?;
        arguments.end(ending, folder.as_ref())
    })
}

impl AssessArgs {
    fn config(&self) -> ConfigBody {
        let names = |names: &Vec<String>| (!names.is_empty()).then(|| NameList::Many(names.clone()));
        ConfigBody {
            task_category: names(&self.category),
            tasks: names(&self.task),
            max_steps: self.max_steps,
            revision: self.revision.clone(),
            judge: self.judge.clone(),
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

    fn say_begin(&self, tasks: usize, categories: &[&str]) -> anyhow::Result<()> {
        let categories = categories.join(", ");
        self.say(format_args!("Starting MCU evaluation with {tasks} tasks from {categories}"))
    }

    fn say_run_begins(&self, category: &str, task: &str) -> anyhow::Result<()> {
        self.say(format_args!("Running task: {} (category: {category})", task.replace('_', " ")))
    }

    fn say_run_ends(&self, task: &str, score: Option<f64>, problem: Option<&str>) -> anyhow::Result<()> {
        let score = score.map_or("not scored".to_owned(), |score| format!("{score:?}"));
        let problem = problem.map_or(String::new(), |problem| format!(" ({})", output::printable(problem)));
        self.say(format_args!("Task '{task}': {score}{problem}"))
    }

    /// Says what came of it, and writes the results.
    fn end(&self, ending: AssessEnding, folder: Option<&OutputFolder>) -> anyhow::Result<ExitCode> {
        let file = match ending {
            AssessEnding::Finished(file) => file,
            AssessEnding::Unsuccessful(words) => {
                output::note(output::printable(&words));
                return Ok(ExitCode::FAILURE);
            }
            AssessEnding::Stopped => return Ok(ExitCode::from(130)),
        };
        for result in &file.results {
            self.say(format_args!("\n{}", result.text()))?;
            self.say(format_args!("The world is {}, our own simulator, and not Minecraft.", result.world))?;
        }
        if let Some(folder) = folder {
            folder.write_results(&file)?;
        }
        let text = serde_json::to_string_pretty(&file)?;
        if let Some(path) = &self.results {
            fs::write(path, &text).with_context(|| format!("cannot write {}", path.display()))?;
        }
        if self.format.json {
            output::line(text)?;
        }
        Ok(ExitCode::SUCCESS)
    }
}

fn read_scenario(path: &Path) -> anyhow::Result<Scenario> {
    let name = path.display();
    let metadata = fs::metadata(path).with_context(|| format!("cannot read {name}"))?;
    ensure!(metadata.len() <= MAX_SCENARIO_BYTES as u64, "{name} is too large for a scenario");
    let text = fs::read_to_string(path).with_context(|| format!("cannot read {name}"))?;
    Scenario::parse(&text).map_err(|problem| anyhow::anyhow!("{name}, {problem}"))
}
