//! `buildoff models`: the models of the arena.

mod probe;

use std::fmt;
use std::process::ExitCode;
use std::slice;

use serde::Deserialize;
use serde_json::json;

use super::api::ApiArgs;
use super::catalog::{self, CatalogEntry};
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
    /// List models (default).
    List,
    /// Enable models.
    Enable {
        /// Keys of models.
        #[arg(required = true)]
        keys: Vec<ModelKey>,
    },
    /// Disable models; their builds and votes stay.
    Disable {
        /// Keys of models.
        #[arg(required = true)]
        keys: Vec<ModelKey>,
    },
    /// Change the displayed name of a model.
    Rename {
        /// Key of the model.
        key: ModelKey,
        /// New name.
        name: String,
    },
    /// Send each model one tiny request, to see whether its key, id and options are accepted. The exit code is 1 if those
    /// of any model are not.
    Probe {
        /// Keys of models.
        #[arg(required_unless_present = "all", conflicts_with = "all")]
        keys: Vec<ModelKey>,
        /// Probe all enabled models whose provider has a key.
        #[arg(long)]
        all: bool,
    },
    /// Add a model.
    Add {
        /// Key of the new model, such as vendor_model_1.
        key: ModelKey,
        /// Overwrite the model if it exists; its prices and other routes are removed.
        #[arg(long)]
        replace: bool,
        /// Key of a provider in models.toml.
        #[arg(long, value_name = "KEY")]
        provider: String,
        /// The provider's id for the model.
        #[arg(long, value_name = "ID")]
        id: String,
        /// Displayed name.
        #[arg(long)]
        name: String,
    },
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
        let patch =
            async |keys: &[ModelKey], change| catalog::patch_each::<CliModel>(api, keys, &change).await;
        match arguments.command.as_ref().unwrap_or(&ModelsCommand::List) {
            ModelsCommand::List => catalog::list::<CliModel>(api).await?,
            ModelsCommand::Enable { keys } => patch(keys, json!({ "enabled": true })).await?,
            ModelsCommand::Disable { keys } => patch(keys, json!({ "enabled": false })).await?,
            ModelsCommand::Rename { key, name } => {
                patch(slice::from_ref(key), json!({ "displayName": name })).await?;
            }
            ModelsCommand::Probe { keys, all } => return probe::run(api, keys, *all).await,
            ModelsCommand::Add { key, replace, provider, id, name } => {
                let model = json!({ "provider": provider, "modelId": id, "displayName": name });
                catalog::add::<CliModel>(api, key, &model, *replace).await?;
            }
        }
        Ok(ExitCode::SUCCESS)
    })
}

impl CatalogEntry for CliModel {
    const KIND: &'static str = "model";

    fn key(&self) -> &str {
        &self.key
    }
}

impl fmt::Display for CliModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { key, provider, display_name, enabled, asked_at, builds } = self;
        let enabled = if *enabled { "enabled" } else { "disabled" };
        let via = asked_at.as_ref().map_or("no key".to_owned(), |provider| format!("via {provider}"));
        write!(f, "{key:40} {enabled:9} {builds:5} builds  {display_name} ({provider}, {via})")
    }
}
