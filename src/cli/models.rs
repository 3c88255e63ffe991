//! `buildoff models`: the models of the arena.

mod budget;
mod probe;

use std::fmt;
use std::process::ExitCode;
use std::slice;

use anyhow::ensure;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::api::{ApiArgs, CommandWork};
use super::catalog::{self, CatalogEntry};
use super::output::OutputArgs;
use crate::arena::ModelKey;

#[derive(clap::Args)]
pub(super) struct ModelsArgs {
    #[command(subcommand)]
    command: Option<ModelsCommand>,
    #[command(flatten)]
    output: OutputArgs,
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
    /// Set what a model may cost in all; its jobs wait once that is spent.
    Budget {
        /// Key of the model.
        key: ModelKey,
        /// Dollars, or none for no limit.
        #[arg(value_parser = budget::parse_limit)]
        dollars: budget::DollarLimit,
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
        #[command(flatten)]
        details: ModelFlags,
    },
    /// Change how a model is asked, what it costs, or what is said about it. Everything else stays.
    Change {
        /// Key of the model.
        key: ModelKey,
        /// Key of another provider in models.toml.
        #[arg(long, value_name = "KEY")]
        provider: Option<String>,
        /// The provider's id for the model.
        #[arg(long, value_name = "ID")]
        id: Option<String>,
        #[command(flatten)]
        details: ModelFlags,
    },
    /// Delete models that have neither builds nor jobs.
    Delete {
        /// Keys of models.
        #[arg(required = true)]
        keys: Vec<ModelKey>,
    },
}

/// What is left out stays as it is.
#[derive(clap::Args)]
struct ModelFlags {
    /// A few sentences about the model.
    #[arg(long, value_name = "TEXT")]
    about: Option<String>,
    /// Another provider that offers the model, and its id for it, such as openrouter=vendor/model-1. Repeat for several.
    /// These replace all that are stored.
    #[arg(long, value_name = "PROVIDER=ID", value_parser = parse_via)]
    via: Vec<(String, String)>,
    /// Dollars for a million tokens of input.
    #[arg(long, value_name = "DOLLARS", value_parser = parse_price)]
    input_price: Option<f64>,
    /// Dollars for a million tokens of input that the provider read from its cache.
    #[arg(long, value_name = "DOLLARS", value_parser = parse_price)]
    cached_price: Option<f64>,
    /// Dollars for a million tokens of output.
    #[arg(long, value_name = "DOLLARS", value_parser = parse_price)]
    output_price: Option<f64>,
    /// Leave all options to the provider, except those that are named here.
    #[arg(long)]
    default_options: bool,
    /// How hard the model thinks: none, minimal, low, medium, high, xhigh or max.
    #[arg(long, value_name = "LEVEL")]
    effort: Option<String>,
    /// From 0 to 2.
    #[arg(long, value_name = "DEGREE", value_parser = parse_temperature)]
    temperature: Option<f64>,
    /// The most tokens of an answer, thoughts included.
    #[arg(long, value_name = "TOKENS")]
    max_output_tokens: Option<u32>,
    /// Whether the model sees pictures, so that it can judge builds.
    #[arg(long, value_name = "true|false")]
    vision: Option<bool>,
    /// Retire the builds that were asked for differently, and cancel the model's running jobs.
    #[arg(long)]
    retire_builds: bool,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct CliModel {
    key: String,
    provider: String,
    display_name: String,
    enabled: bool,
    asked_at: Option<String>,
    builds: i64,
    prices: Option<Map<String, Value>>,
    options: Map<String, Value>,
    #[serde(default)]
    vision: bool,
}

impl ModelFlags {
    /// Whatever is given, with the rest of prices and options as they are.
    fn fields(&self, model: &CliModel) -> Map<String, Value> {
        let prices = fields([
            ("input", self.input_price),
            ("cachedInput", self.cached_price),
            ("output", self.output_price),
        ]);
        let mut options = fields([("temperature", self.temperature)]);
        options.extend(fields([("maxOutputTokens", self.max_output_tokens)]));
        options.extend(fields([("effort", self.effort.as_ref())]));
        let mut given = fields([("about", self.about.as_ref())]);
        given.extend(fields([("vision", self.vision)]));
        if !self.via.is_empty() {
            let via = self.via.iter().map(|(provider, id)| (provider.clone(), json!(id)));
            given.insert("via".to_owned(), Value::Object(via.collect()));
        }
        if !prices.is_empty() {
            let now = model.prices.clone().unwrap_or_default();
            given.insert("prices".to_owned(), Value::Object(now.into_iter().chain(prices).collect()));
        }
        if self.default_options || !options.is_empty() {
            let mut now = model.options.clone();
            // What efforts the model takes is known of it, and not asked for.
            now.retain(|name, _| !self.default_options || name == "efforts");
            given.insert("options".to_owned(), Value::Object(now.into_iter().chain(options).collect()));
        }
        given
    }

    fn query(&self) -> &'static str {
        if self.retire_builds { "?retireBuilds=1" } else { "" }
    }
}

/// Those that have a value.
fn fields<T: Serialize, const N: usize>(all: [(&str, Option<T>); N]) -> Map<String, Value> {
    let given = all.into_iter().filter_map(|(name, value)| Some((name.to_owned(), json!(value?))));
    given.collect()
}

fn parse_temperature(text: &str) -> Result<f64, String> {
    let degree = text.parse().ok().filter(|degree| (0.0..=2.0).contains(degree));
    degree.ok_or_else(|| "it is a number from 0 to 2".to_owned())
}

fn parse_price(text: &str) -> Result<f64, String> {
    let price = text.parse().ok().filter(|dollars: &f64| dollars.is_finite() && *dollars >= 0.0);
    price.ok_or_else(|| "it is an amount in dollars, such as 2.5".to_owned())
}

fn parse_via(text: &str) -> Result<(String, String), String> {
    let (provider, id) = text.split_once('=').ok_or("write it as PROVIDER=ID")?;
    Ok((provider.to_owned(), id.to_owned()))
}

pub(super) fn run(arguments: &ModelsArgs) -> anyhow::Result<ExitCode> {
    let json = arguments.output.json;
    arguments.connection.run(CommandWork::Nothing, async |api| {
        let patch =
            async |keys: &[ModelKey], change| catalog::patch_each::<CliModel>(api, keys, &change, json).await;
        match arguments.command.as_ref().unwrap_or(&ModelsCommand::List) {
            ModelsCommand::List => catalog::list::<CliModel>(api, json).await?,
            ModelsCommand::Enable { keys } => patch(keys, json!({ "enabled": true })).await?,
            ModelsCommand::Disable { keys } => patch(keys, json!({ "enabled": false })).await?,
            ModelsCommand::Rename { key, name } => {
                patch(slice::from_ref(key), json!({ "displayName": name })).await?;
            }
            ModelsCommand::Budget { key, dollars } => budget::run(api, key, *dollars, json).await?,
            ModelsCommand::Probe { keys, all } => return probe::run(api, keys, *all, json).await,
            ModelsCommand::Add { key, replace, provider, id, name, details } => {
                let mut model = details.fields(&CliModel::default());
                model.extend(fields([("provider", Some(provider)), ("modelId", Some(id))]));
                model.insert("displayName".to_owned(), json!(name));
                let query = details.query();
                catalog::add::<CliModel>(api, key, &model.into(), *replace, query, json).await?;
            }
            ModelsCommand::Change { key, provider, id, details } => {
                let model = catalog::find::<CliModel>(api, key).await?;
                let mut change = details.fields(&model);
                change.extend(fields([("provider", provider.as_ref()), ("modelId", id.as_ref())]));
                ensure!(!change.is_empty(), "nothing to change: name at least one option");
                catalog::patch::<CliModel>(api, key, &change.into(), details.query(), json).await?;
            }
            ModelsCommand::Delete { keys } => catalog::delete_each::<CliModel>(api, keys, json).await?,
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
        let Self { key, provider, display_name, enabled, asked_at, builds, vision, .. } = self;
        let enabled = if *enabled { "enabled" } else { "disabled" };
        let via = asked_at.as_ref().map_or("no key".to_owned(), |provider| format!("via {provider}"));
        let sees = if *vision { ", sees pictures" } else { "" };
        write!(f, "{key:40} {enabled:9} {builds:5} builds  {display_name} ({provider}, {via}{sees})")
    }
}
