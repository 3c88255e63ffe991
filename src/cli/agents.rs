//! `buildoff agents`: programs that are asked over the A2A protocol.

mod card;
mod token;
mod r#try;

use std::fmt;
use std::process::ExitCode;

use anyhow::ensure;
use axum::http::Method;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::api::{AdminApi, ApiArgs, CommandWork};
use super::catalog::{self, CatalogEntry};
use super::output::{self, OutputArgs};
use crate::arena::ModelKey;

#[derive(clap::Args)]
pub(super) struct AgentsArgs {
    #[command(subcommand)]
    command: Option<AgentsCommand>,
    #[command(flatten)]
    output: OutputArgs,
    #[command(flatten)]
    connection: ApiArgs,
}

#[derive(clap::Subcommand)]
enum AgentsCommand {
    /// List agents (default).
    List,
    /// Add an agent.
    Add {
        /// Key of the new agent, such as tower_bot.
        key: ModelKey,
        /// Where its card is, such as https://agents.example/tower.
        url: String,
        #[command(flatten)]
        details: AgentDetails,
        /// Have it build for the arena.
        #[arg(long)]
        builds: bool,
    },
    /// Change an agent. What is left out stays as it is.
    Change {
        /// Key of the agent.
        key: ModelKey,
        /// Where its card is now.
        #[arg(long)]
        url: Option<String>,
        #[command(flatten)]
        details: AgentDetails,
        /// Whether it builds for the arena: yes or no.
        #[arg(long, value_name = "YES|NO", value_parser = parse_yes)]
        builds: Option<bool>,
    },
    /// Fetch an agent's card, explain it, and check it against versions 1.0 and 0.3 of the protocol.
    ///
    /// Needs no database and no server. Exit codes: 0 if Buildoff can ask the agent, 1 if something is wrong with the
    /// card, 2 if there is none.
    Card {
        /// Where the agent is, or its card.
        url: String,
    },
    /// Put an agent to a task, print each message, and say why the score is what it is.
    ///
    /// Needs no database and no server. Exit codes: 0 if the agent took part, 1 if it would not begin or did not answer, 2
    /// if the run could not begin.
    Try(r#try::TryArgs),
    /// Enable agents.
    Enable {
        /// Keys of agents.
        #[arg(required = true)]
        keys: Vec<ModelKey>,
    },
    /// Disable agents: they are not asked for anything. Their builds and votes stay.
    Disable {
        /// Keys of agents.
        #[arg(required = true)]
        keys: Vec<ModelKey>,
    },
    /// Remove agents that have neither builds nor jobs.
    Remove {
        /// Keys of agents.
        #[arg(required = true)]
        keys: Vec<ModelKey>,
    },
    /// Make a token for an agent's owner, list the tokens, or revoke one.
    Token(token::TokenArgs),
}

#[derive(clap::Args)]
struct AgentDetails {
    /// Displayed name; the one on its card if a new agent has none.
    #[arg(long)]
    name: Option<String>,
    /// Environment variable that holds the agent's secret, or none.
    #[arg(long, value_name = "NAME")]
    key_variable: Option<String>,
    /// A few sentences about the agent.
    #[arg(long, value_name = "TEXT")]
    note: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct CliAgent {
    key: String,
    name: String,
    url: String,
    enabled: bool,
    builds: bool,
    can_ask: bool,
    card: Option<CliAgentCard>,
}

#[derive(Deserialize)]
struct CliAgentCard {
    version: String,
    protocol: String,
}

impl AgentDetails {
    fn fields(&self) -> Map<String, Value> {
        let variable = self.key_variable.as_ref().map(|name| match name.as_str() {
            "none" => Value::Null,
            name => json!(name),
        });
        let mut fields = Map::new();
        set(&mut fields, "name", self.name.as_ref());
        set(&mut fields, "keyVariable", variable);
        set(&mut fields, "note", self.note.as_ref());
        fields
    }
}

fn set(fields: &mut Map<String, Value>, name: &str, value: Option<impl Serialize>) {
    if let Some(value) = value {
        fields.insert(name.to_owned(), json!(value));
    }
}

fn parse_yes(text: &str) -> Result<bool, String> {
    match text {
        "yes" => Ok(true),
        "no" => Ok(false),
        _ => Err("it is yes or no".to_owned()),
    }
}

pub(super) fn run(arguments: &AgentsArgs) -> anyhow::Result<ExitCode> {
    let json = arguments.output.json;
    if let Some(AgentsCommand::Card { url }) = &arguments.command {
        return card::run(url, json);
    }
    if let Some(AgentsCommand::Try(arguments)) = &arguments.command {
        return r#try::run(arguments, json);
    }
    arguments.connection.run(CommandWork::Nothing, async |api| {
        let patch =
            async |keys: &[ModelKey], change| catalog::patch_each::<CliAgent>(api, keys, &change, json).await;
        match arguments.command.as_ref().unwrap_or(&AgentsCommand::List) {
            AgentsCommand::List | AgentsCommand::Card { .. } | AgentsCommand::Try(_) => {
                catalog::list::<CliAgent>(api, json).await?;
            }
            AgentsCommand::Enable { keys } => patch(keys, json!({ "enabled": true })).await?,
            AgentsCommand::Disable { keys } => patch(keys, json!({ "enabled": false })).await?,
            AgentsCommand::Remove { keys } => catalog::delete_each::<CliAgent>(api, keys, json).await?,
            AgentsCommand::Add { key, url, details, builds } => {
                let mut agent = details.fields();
                agent.insert("key".to_owned(), json!(key));
                agent.insert("url".to_owned(), json!(url));
                agent.insert("builds".to_owned(), json!(builds));
                send(api, Method::POST, "/api/admin/agents", &agent.into(), json).await?;
            }
            AgentsCommand::Change { key, url, details, builds } => {
                let mut change = details.fields();
                set(&mut change, "url", url.as_ref());
                set(&mut change, "builds", *builds);
                ensure!(!change.is_empty(), "nothing to change: name at least one option");
                let path = catalog::path::<CliAgent>(key);
                send(api, Method::PATCH, &path, &change.into(), json).await?;
            }
            AgentsCommand::Token(arguments) => token::run(api, arguments, json).await?,
        }
        Ok(ExitCode::SUCCESS)
    })
}

/// Adds or changes an agent, and says if its card cannot be read.
async fn send(api: &AdminApi, method: Method, path: &str, agent: &Value, json: bool) -> anyhow::Result<()> {
    let edited: Value = api.send(method, path, agent).await?;
    if json {
        return Ok(output::json(&edited)?);
    }
    if let Some(problem) = edited["cardProblem"].as_str() {
        output::note(format_args!("The agent is entered, and cannot be asked yet. {problem}"));
    }
    Ok(output::line(serde_json::from_value::<CliAgent>(edited)?)?)
}

impl CatalogEntry for CliAgent {
    const KIND: &'static str = "agent";

    fn key(&self) -> &str {
        &self.key
    }
}

impl fmt::Display for CliAgent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { key, name, url, enabled, builds, can_ask, card } = self;
        let state = match (enabled, can_ask) {
            (false, _) => "disabled",
            (true, false) => "no secret",
            (true, true) => "enabled",
        };
        let builds = if *builds { "builds" } else { "-" };
        let card = card.as_ref().map_or("card not read".to_owned(), |card| {
            format!("version {}, A2A {}", card.version, card.protocol)
        });
        write!(f, "{key:24} {state:9} {builds:6}  {name} at {url} ({card})")
    }
}
