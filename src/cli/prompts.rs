//! `buildoff prompts`: what models are asked to build.

use std::process::ExitCode;

use anyhow::{Context, bail};
use axum::http::Method;
use serde::Deserialize;
use serde_json::{Value, json};

use super::api::{AdminApi, ApiArgs};
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
    /// List them (the default).
    List,
    /// Bring prompts into the arena.
    Enable {
        #[arg(required = true)]
        slugs: Vec<PromptId>,
    },
    /// Take prompts out of the arena; their builds and votes stay.
    Disable {
        #[arg(required = true)]
        slugs: Vec<PromptId>,
    },
    /// Add a prompt.
    Add {
        slug: PromptId,
        /// Where there is one by this slug, make of it what is said here. Its text stays once there are builds for it.
        #[arg(long)]
        replace: bool,
        text: String,
        #[arg(long)]
        tag: Vec<String>,
    },
}

#[derive(Deserialize)]
struct CliPromptList {
    prompts: Vec<CliPrompt>,
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
        match arguments.command.as_ref().unwrap_or(&PromptsCommand::List) {
            PromptsCommand::List => list(api).await?,
            PromptsCommand::Enable { slugs } => patch_each(api, slugs, &json!({ "active": true })).await?,
            PromptsCommand::Disable { slugs } => patch_each(api, slugs, &json!({ "active": false })).await?,
            PromptsCommand::Add { slug, replace, text, tag } => {
                let existing = api.get::<CliPromptList>("/api/admin/prompts").await?.prompts;
                if !replace && existing.iter().any(|prompt| prompt.id == slug.as_str()) {
                    bail!("there is a prompt {slug} already; --replace makes of it what is said");
                }
                print_row(&api.send(Method::PUT, &path(slug), &json!({ "text": text, "tags": tag })).await?);
            }
        }
        Ok(ExitCode::SUCCESS)
    })
}

async fn list(api: &AdminApi) -> anyhow::Result<()> {
    let CliPromptList { prompts } = api.get("/api/admin/prompts").await?;
    prompts.iter().for_each(print_row);
    Ok(())
}

async fn patch_each(api: &AdminApi, slugs: &[PromptId], change: &Value) -> anyhow::Result<()> {
    for slug in slugs {
        let changed = api.send(Method::PATCH, &path(slug), change).await;
        print_row(&changed.with_context(|| slug.to_string())?);
    }
    Ok(())
}

fn path(slug: &PromptId) -> String {
    format!("/api/admin/prompts/{slug}")
}

fn print_row(prompt: &CliPrompt) {
    let CliPrompt { id, text, tags, active, builds } = prompt;
    let active = if *active { "active" } else { "inactive" };
    println!("{id:32} {active:9} {builds:5} builds  {text} [{}]", tags.join(", "));
}
