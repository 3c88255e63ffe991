//! `buildoff prompts`: the prompts of the arena.

use std::fmt;
use std::process::ExitCode;

use serde::Deserialize;
use serde_json::json;

use super::api::ApiArgs;
use super::catalog::{self, CatalogEntry};
use crate::arena::PromptId;

#[derive(clap::Args)]
pub(super) struct PromptsArgs {
    #[command(subcommand)]
    command: Option<PromptsCommand>,
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
    },
}

#[derive(Deserialize)]
struct CliPrompt {
    id: String,
    text: String,
    tags: Vec<String>,
    active: bool,
    builds: i64,
}

pub(super) fn run(arguments: &PromptsArgs) -> anyhow::Result<ExitCode> {
    arguments.connection.run(false, async |api| {
        let patch =
            async |slugs: &[PromptId], change| catalog::patch_each::<CliPrompt>(api, slugs, &change).await;
        match arguments.command.as_ref().unwrap_or(&PromptsCommand::List) {
            PromptsCommand::List => catalog::list::<CliPrompt>(api).await?,
            PromptsCommand::Enable { slugs } => patch(slugs, json!({ "active": true })).await?,
            PromptsCommand::Disable { slugs } => patch(slugs, json!({ "active": false })).await?,
            PromptsCommand::Add { slug, replace, text, tag } => {
                let prompt = json!({ "text": text, "tags": tag });
                catalog::add::<CliPrompt>(api, slug, &prompt, *replace).await?;
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
        let Self { id, text, tags, active, builds } = self;
        let active = if *active { "active" } else { "inactive" };
        write!(f, "{id:32} {active:9} {builds:5} builds  {text} [{}]", tags.join(", "))
    }
}
