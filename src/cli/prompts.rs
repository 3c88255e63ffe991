//! `buildoff prompts`: what models are asked to build.

use std::process::ExitCode;

use anyhow::{Context, bail};
use axum::http::Method;
use serde::Deserialize;
use serde_json::{Value, json};

use super::api::{Api, Elsewhere};
use crate::arena::PromptId;

#[derive(clap::Args)]
pub(super) struct Arguments {
    #[command(subcommand)]
    change: Option<Change>,
    #[command(flatten)]
    elsewhere: Elsewhere,
}

#[derive(clap::Subcommand)]
enum Change {
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
struct Prompts {
    prompts: Vec<Prompt>,
}

#[derive(Deserialize)]
struct Prompt {
    id: String,
    text: String,
    tags: Vec<String>,
    active: bool,
    builds: i64,
}

pub(super) fn run(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    arguments.elsewhere.run(false, async |api| {
        match arguments.change.as_ref().unwrap_or(&Change::List) {
            Change::List => list(api).await?,
            Change::Enable { slugs } => each(api, slugs, &json!({ "active": true })).await?,
            Change::Disable { slugs } => each(api, slugs, &json!({ "active": false })).await?,
            Change::Add { slug, replace, text, tag } => {
                let there = api.get::<Prompts>("/api/admin/prompts").await?.prompts;
                if !replace && there.iter().any(|prompt| prompt.id == slug.as_str()) {
                    bail!("there is a prompt {slug} already; --replace makes of it what is said");
                }
                tell(&api.send(Method::PUT, &path(slug), &json!({ "text": text, "tags": tag })).await?);
            }
        }
        Ok(ExitCode::SUCCESS)
    })
}

async fn list(api: &Api) -> anyhow::Result<()> {
    let Prompts { prompts } = api.get("/api/admin/prompts").await?;
    prompts.iter().for_each(tell);
    Ok(())
}

async fn each(api: &Api, slugs: &[PromptId], change: &Value) -> anyhow::Result<()> {
    for slug in slugs {
        let changed = api.send(Method::PATCH, &path(slug), change).await;
        tell(&changed.with_context(|| slug.to_string())?);
    }
    Ok(())
}

fn path(slug: &PromptId) -> String {
    format!("/api/admin/prompts/{slug}")
}

fn tell(prompt: &Prompt) {
    let Prompt { id, text, tags, active, builds } = prompt;
    let active = if *active { "active" } else { "inactive" };
    println!("{id:32} {active:9} {builds:5} builds  {text} [{}]", tags.join(", "));
}
