//! `buildoff models`: who takes part, and who can be asked.

use std::process::ExitCode;

use anyhow::{Context, bail};
use axum::http::Method;
use serde::Deserialize;
use serde_json::{Value, json};

use super::api::{AdminApi, ApiArgs};
use crate::arena::ModelKey;

#[derive(clap::Args)]
pub(super) struct ModelsArgs {
    #[command(subcommand)]
    command: Option<ModelsCommand>,
    #[command(flatten)]
    connection: ApiArgs,
}

#[derive(clap::Subcommand)]
enum ModelsCommand {
    /// List them (the default).
    List,
    /// Let models take part.
    Enable {
        #[arg(required = true)]
        keys: Vec<ModelKey>,
    },
    /// Take models out of the arena; their builds and votes stay.
    Disable {
        #[arg(required = true)]
        keys: Vec<ModelKey>,
    },
    /// Show a model under another name.
    Rename { key: ModelKey, name: String },
    /// Add a model.
    Add {
        key: ModelKey,
        /// Where there is one by this key, make of it what is said here; its prices and other routes go.
        #[arg(long)]
        replace: bool,
        /// A provider of models.toml, by its key.
        #[arg(long)]
        provider: String,
        /// The provider's own name for the model.
        #[arg(long, value_name = "ID")]
        id: String,
        #[arg(long)]
        name: String,
    },
}

#[derive(Deserialize)]
struct CliModelList {
    models: Vec<CliModel>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct CliModel {
    key: String,
    provider: String,
    display_name: String,
    enabled: bool,
    asked_at: Option<String>,
    builds: i64,
}

pub(super) fn run(arguments: &ModelsArgs) -> anyhow::Result<ExitCode> {
    arguments.connection.run(false, async |api| {
        match arguments.command.as_ref().unwrap_or(&ModelsCommand::List) {
            ModelsCommand::List => list(api).await?,
            ModelsCommand::Enable { keys } => patch_each(api, keys, &json!({ "enabled": true })).await?,
            ModelsCommand::Disable { keys } => patch_each(api, keys, &json!({ "enabled": false })).await?,
            ModelsCommand::Rename { key, name } => {
                patch_each(api, std::slice::from_ref(key), &json!({ "displayName": name })).await?;
            }
            ModelsCommand::Add { key, replace, provider, id, name } => {
                let existing = api.get::<CliModelList>("/api/admin/models").await?.models;
                if !replace && existing.iter().any(|model| model.key == key.as_str()) {
                    bail!("there is a model {key} already; --replace makes of it what is said");
                }
                let model = json!({ "provider": provider, "modelId": id, "displayName": name });
                print_row(&api.send(Method::PUT, &path(key), &model).await?);
            }
        }
        Ok(ExitCode::SUCCESS)
    })
}

async fn list(api: &AdminApi) -> anyhow::Result<()> {
    let CliModelList { models } = api.get("/api/admin/models").await?;
    models.iter().for_each(print_row);
    Ok(())
}

async fn patch_each(api: &AdminApi, keys: &[ModelKey], change: &Value) -> anyhow::Result<()> {
    for key in keys {
        let changed = api.send(Method::PATCH, &path(key), change).await;
        print_row(&changed.with_context(|| key.to_string())?);
    }
    Ok(())
}

fn path(key: &ModelKey) -> String {
    format!("/api/admin/models/{key}")
}

fn print_row(model: &CliModel) {
    let CliModel { key, provider, display_name, enabled, asked_at, builds } = model;
    let enabled = if *enabled { "enabled" } else { "disabled" };
    let asked = asked_at.as_ref().map_or("no key".to_owned(), |provider| format!("asked at {provider}"));
    println!("{key:40} {enabled:9} {builds:5} builds  {display_name} ({provider}, {asked})");
}
