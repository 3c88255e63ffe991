//! `buildoff prompts`: the prompts of the arena.

use std::fmt;
use std::process::ExitCode;

use serde::Deserialize;
use serde_json::json;

use super::api::{ApiArgs, CommandWork};
use super::catalog::{self, CatalogEntry};
use super::output::OutputArgs;
use crate::arena::PromptId;

#[derive(clap::Args)]
pub(super) struct PromptsArgs {
    #[command(subcommand)]
    command: Option<PromptsCommand>,
    #[command(flatten)]
    output: OutputArgs,
    #[command(flatten)]
    connection: ApiArgs,
}

#[derive(clap::Subcommand)]
enum PromptsCommand {
    /// List prompts (default).
    List,
    /// Enable prompts.
    Enable {
        /// Ids of prompts.
        #[arg(required = true)]
        slugs: Vec<PromptId>,
    },
    /// Disable prompts; their builds and votes stay.
    Disable {
        /// Ids of prompts.
        #[arg(required = true)]
        slugs: Vec<PromptId>,
    },
    /// Hold prompts out: their builds are only shown in matchups until enough votes on them are counted.
    HoldOut {
        /// Ids of prompts.
        #[arg(required = true)]
        slugs: Vec<PromptId>,
    },
    /// Show the builds of held-out prompts to everybody.
    Release {
        /// Ids of prompts.
        #[arg(required = true)]
        slugs: Vec<PromptId>,
    },
    /// Add a prompt.
    Add {
        /// Id of the prompt, such as garden-shed.
        slug: PromptId,
        /// Overwrite the prompt if it exists. The text cannot change once there are builds of it.
        #[arg(long)]
        replace: bool,
        /// What to build, such as "a garden shed".
        text: String,
        /// Tag of the prompt; can be repeated.
        #[arg(long)]
        tag: Vec<String>,
        /// Hold it out: its builds are only shown in matchups until enough votes on them are counted.
        #[arg(long)]
        held_out: bool,
    },
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct CliPrompt {
    id: String,
    text: String,
    tags: Vec<String>,
    active: bool,
    held_out: bool,
    builds: i64,
}

pub(super) fn run(arguments: &PromptsArgs) -> anyhow::Result<ExitCode> {
    let json = arguments.output.json;
    arguments.connection.run(CommandWork::Nothing, async |api| {
        let patch = async |slugs: &[PromptId], change| {
            catalog::patch_each::<CliPrompt>(api, slugs, &change, json).await
        };
        match arguments.command.as_ref().unwrap_or(&PromptsCommand::List) {
            PromptsCommand::List => catalog::list::<CliPrompt>(api, json).await?,
            PromptsCommand::Enable { slugs } => patch(slugs, json!({ "active": true })).await?,
            PromptsCommand::Disable { slugs } => patch(slugs, json!({ "active": false })).await?,
            PromptsCommand::HoldOut { slugs } => patch(slugs, json!({ "heldOut": true })).await?,
            PromptsCommand::Release { slugs } => patch(slugs, json!({ "heldOut": false })).await?,
            PromptsCommand::Add { slug, replace, text, tag, held_out } => {
                // Without the option, a prompt that is replaced stays held out.
                let prompt = json!({ "text": text, "tags": tag, "heldOut": held_out.then_some(true) });
                catalog::add::<CliPrompt>(api, slug, &prompt, *replace, "", json).await?;
            }
        }
        Ok(ExitCode::SUCCESS)
    })
}

impl CatalogEntry for CliPrompt {
    const KIND: &'static str = "prompt";

    fn key(&self) -> &str {
        &self.id
    }
}

impl fmt::Display for CliPrompt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { id, text, tags, active, held_out, builds } = self;
        let active = if *active { "active" } else { "inactive" };
        let held_out = if *held_out { "held out" } else { "" };
        write!(f, "{id:32} {active:9} {held_out:9} {builds:5} builds  {text} [{}]", tags.join(", "))
    }
}
