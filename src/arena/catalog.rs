//! The catalog: models, prompts and providers.

mod agent_entries;
mod model_edits;
mod providers;
mod stored;

use std::collections::{BTreeMap, HashSet};
use std::ops::RangeInclusive;
use std::path::Path;

use anyhow::{Context, bail, ensure};
use serde::de::Error;
use serde::{Deserialize, Deserializer};
use sqlx::PgConnection;
use time::Date;
use time::format_description::well_known::Iso8601;

pub use self::agent_entries::{AgentEntry, AgentSource, ContestantKind};
pub use self::model_edits::{EditModelError, ModelEdit, ModelPatch, delete_model, patch_model, put_model};
pub use self::providers::{
    EffortSet, MIN_OUTPUT_TOKENS, ModelOptions, Prices, Provider, ProviderKind, ThinkingEffort, is_address,
};
pub use self::stored::{
    EditPromptError, ListedModel, ListedPrompt, PromptPatch, SelectOption, find_model, has_agents, models,
    models_with_builds, patch_prompt, prompts, prompts_with_builds, put_prompt,
};
use super::builds::BuildSlot;
use super::jobs::claims;
use super::{ModelKey, PromptId, budgets};

/// The provider of reference models, which ship with the program and generate nothing.
pub const REFERENCE: &str = "reference";

/// The provider of agents. The model's id is the agent's key.
pub const AGENT: &str = "agent";

/// The largest budget, in dollars.
const MAX_BUDGET_DOLLARS: f64 = 1_000_000.0;

/// The longest prompt, in characters.
pub const MAX_PROMPT_CHARS: usize = 800;

/// A model whose builds are compared.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Model {
    pub key: ModelKey,
    pub provider: String,
    /// The provider's own name for it.
    pub model_id: String,
    pub display_name: String,
    #[serde(default)]
    pub about: String,
    /// Other providers that offer it, with their names for it.
    #[serde(default)]
    pub via: BTreeMap<String, String>,
    #[serde(default)]
    pub prices: Option<Prices>,
    #[serde(default)]
    pub options: ModelOptions,
    /// Whether it sees pictures.
    #[serde(default)]
    pub vision: bool,
    /// What it may cost in all, in dollars.
    #[serde(default)]
    pub budget: Option<f64>,
}

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Prompt {
    #[serde(rename = "slug")]
    pub id: PromptId,
    pub text: String,
    #[serde(default)]
    pub tags: Vec<String>,
    /// Whether its builds are withheld from everything but matchups until enough votes on them are counted. None leaves
    /// it as it is; a new prompt is not held out.
    #[serde(default)]
    pub held_out: Option<bool>,
}

impl Model {
    pub fn is_agent(&self) -> bool {
        self.provider == AGENT
    }

    /// The providers that offer it with their names for it, its own provider first. Each agent is a provider of itself,
    /// so that one that fails holds up no other.
    pub fn routes(&self) -> impl Iterator<Item = (&str, &str)> {
        let own = if self.is_agent() { &self.model_id } else { &self.provider };
        let via = self.via.iter().map(|(provider, id)| (provider.as_str(), id.as_str()));
        std::iter::once((own.as_str(), self.model_id.as_str())).chain(via)
    }

    /// Whether builds of both are those of one contestant: they have the same provider, ID and options, and no other
    /// provider that both name has another ID. What is merely known of a model does not matter.
    pub fn is_asked_like(&self, other: &Self) -> bool {
        let has_same_id =
            |(provider, id): (&String, &String)| other.via.get(provider).is_none_or(|other| other == id);
        (&self.provider, &self.model_id) == (&other.provider, &other.model_id)
            && self.options.asked() == other.options.asked()
            && self.via.iter().all(has_same_id)
    }

    /// Whether it is asked at this provider, by this ID and with these options.
    pub fn is_asked_as(&self, provider: &str, model_id: &str, options: ModelOptions) -> bool {
        self.routes().any(|route| route == (provider, model_id)) && self.options.asked() == options.asked()
    }

    /// What is wrong with it, as a sentence.
    pub fn problem(&self) -> Option<String> {
        let provider = (!providers::is_key(&self.provider))
            .then(|| "a provider's key may only contain a-z, 0-9 and _".to_owned());
        provider
            .or_else(|| check_length("displayName", &self.display_name, 1..=80))
            .or_else(|| check_length("modelId", &self.model_id, 1..=200))
            .or_else(|| check_length("about", &self.about, 0..=1000))
            .or_else(|| self.via.values().find_map(|id| check_length("each name under via", id, 1..=200)))
            .or_else(|| (self.via.len() > 20).then(|| "via may name at most 20 providers".to_owned()))
            .or_else(|| self.options.problem())
            .or_else(|| self.prices.and_then(Prices::problem))
            .or_else(|| budget_problem(self.budget))
    }
}

impl Prompt {
    /// What is wrong with it, as a sentence.
    pub fn problem(&self) -> Option<String> {
        let is_tag = |tag: &String| {
            (1..=32).contains(&tag.len())
                && tag.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-')
        };
        let sound = self.tags.len() <= 12 && self.tags.iter().all(is_tag);
        prompt_problem(&self.text).or_else(|| {
            (!sound).then(|| {
                "a prompt may have at most 12 tags, each of 1 to 32 characters a-z, 0-9 and -".to_owned()
            })
        })
    }
}

/// What is wrong with a model's budget in dollars, as a sentence.
pub fn budget_problem(budget: Option<f64>) -> Option<String> {
    let is_sound = budget.is_none_or(|dollars| (0.0..=MAX_BUDGET_DOLLARS).contains(&dollars));
    (!is_sound).then(|| format!("a budget must be a number of dollars from 0 to {MAX_BUDGET_DOLLARS}"))
}

/// What is wrong with a prompt's text, as a sentence.
pub fn prompt_problem(text: &str) -> Option<String> {
    check_length("a prompt's text", text, 1..=MAX_PROMPT_CHARS)
}

fn check_length(what: &str, text: &str, allowed: RangeInclusive<usize>) -> Option<String> {
    let sound = allowed.contains(&text.chars().count())
        && (*allowed.start() == 0 || !text.trim().is_empty())
        && !text.chars().any(|c| c.is_control() && c != '\n');
    (!sound).then(|| {
        let (least, most) = (allowed.start(), allowed.end());
        format!("{what} must have {least} to {most} characters and no control characters")
    })
}

/// A catalog as it is read from files.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Catalog {
    pub providers: Vec<Provider>,
    pub agents: Vec<AgentEntry>,
    pub models: Vec<Model>,
    pub prompts: Vec<Prompt>,
    /// The day on which the list of models was last brought up to date, if it says so.
    pub updated: Option<Date>,
    /// How many of a hundred new prompts are held out if nothing says whether they are. Chance decides which.
    pub held_out_percent: u32,
}

/// A list of models that is older may be out of date.
const MAX_AGE_DAYS: i64 = 60;

const MODELS: &str = include_str!("../../models.toml");
const PROMPTS: &str = include_str!("../../prompts/curated.toml");

impl Catalog {
    /// The built-in catalog, with `models.toml` and `prompts.toml` of `dir` in place of its own where they exist.
    /// Built-in providers remain unless `models.toml` replaces them.
    pub fn load(dir: Option<&Path>) -> anyhow::Result<Self> {
        let own = read_file(dir, "models.toml")?;
        let mut list = read_models(MODELS).context("the built-in models.toml is wrong")?;
        if let Some(own) = own {
            let own = read_models(&own).context("models.toml cannot be used")?;
            let is_replaced = |built_in: &Provider| own.providers.iter().any(|own| own.key == built_in.key);
            let mut providers = list.providers;
            providers.retain(|built_in| !is_replaced(built_in));
            providers.extend(own.providers);
            list = ModelsFile { providers, ..own };
        }
        let ModelsFile { providers, mut models, updated } = list;
        let (agents, providers) =
            agent_entries::split(providers, &mut models).context("models.toml cannot be used")?;
        let own = read_file(dir, "prompts.toml")?;
        let prompts =
            read_prompts(own.as_deref().unwrap_or(PROMPTS)).context("prompts.toml cannot be used")?;
        let catalog = Self { providers, agents, models, prompts, updated, held_out_percent: 0 };
        catalog.check_routes().context("models.toml cannot be used")?;
        Ok(catalog)
    }

    /// A note that the list of models may be out of date, once it is old.
    pub fn age_note(&self, today: Date) -> Option<String> {
        let updated = self.updated?;
        let days = (today - updated).whole_days();
        (days > MAX_AGE_DAYS).then(|| {
            format!(
                "The list of models is from {updated}, {days} days ago. Ids and prices may have changed since: compare \
                 them with those of the providers."
            )
        })
    }

    pub fn provider(&self, key: &str) -> Option<&Provider> {
        self.providers.iter().find(|provider| provider.key == key)
    }

    pub fn model(&self, key: &ModelKey) -> Option<&Model> {
        self.models.iter().find(|model| &model.key == key)
    }

    pub fn contains_slot(&self, slot: &BuildSlot) -> bool {
        self.model(&slot.model).is_some() && self.prompts.iter().any(|prompt| prompt.id == slot.prompt)
    }

    /// The known providers that offer a model, with their names for it, its own provider first.
    pub fn routes<'a>(&'a self, model: &'a Model) -> impl Iterator<Item = (&'a Provider, &'a str)> {
        model.routes().filter_map(|(provider, id)| Some((self.provider(provider)?, id)))
    }

    /// A model's own provider may be unknown: its builds are imported then.
    fn check_routes(&self) -> anyhow::Result<()> {
        for model in &self.models {
            for provider in model.via.keys() {
                ensure!(
                    self.provider(provider).is_some(),
                    "{}: via {provider}: this provider does not exist",
                    model.key
                );
            }
            let is_asked = model.provider != REFERENCE && !model.is_agent();
            if is_asked && self.routes(model).next().is_none() {
                tracing::warn!(model = %model.key, provider = model.provider, "the model's provider is not in the catalog; the model cannot generate builds");
            }
        }
        Ok(())
    }

    /// Models that would be asked differently than before, although they have builds. Seeding keeps how they are asked.
    pub async fn fixed_models(&self, connection: &mut PgConnection) -> sqlx::Result<Vec<ModelKey>> {
        let fixed = model_edits::fixed_models(connection, &self.models).await?;
        Ok(fixed.into_iter().map(|model| model.key).collect())
    }

    /// Adds what is missing and updates the rest. What admins have edited stays as it is, and so do the text of a prompt
    /// that has builds and how a model is asked that has builds.
    ///
    /// No job is claimed before the end of the transaction, so it should be a short one.
    pub async fn seed(&self, connection: &mut PgConnection) -> sqlx::Result<()> {
        claims::hold(&mut *connection).await?;
        self.preview_seed(connection).await
    }

    /// The same for a transaction that is rolled back, so that nobody has to wait for it.
    pub async fn preview_seed(&self, connection: &mut PgConnection) -> sqlx::Result<()> {
        agent_entries::seed_agents(connection, &self.agents).await?;
        model_edits::seed_models(connection, &self.models).await?;
        for model in &self.models {
            let budget = model.budget.map(|dollars| (dollars * 1e6).round() as i64);
            budgets::seed_model_budget(connection, &model.key, budget).await?;
        }
        for prompt in &self.prompts {
            stored::seed_prompt(connection, prompt, self.held_out_percent).await?;
        }
        Ok(())
    }
}

/// Reads a file of the directory, if it exists.
fn read_file(dir: Option<&Path>, name: &str) -> anyhow::Result<Option<String>> {
    let Some(path) = dir.map(|dir| dir.join(name)).filter(|path| path.exists()) else {
        return Ok(None);
    };
    let text = std::fs::read_to_string(&path);
    Ok(Some(text.with_context(|| format!("{} cannot be read", path.display()))?))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ModelsFile {
    #[serde(default, deserialize_with = "date")]
    updated: Option<Date>,
    #[serde(default, rename = "provider")]
    providers: Vec<Provider>,
    #[serde(default, rename = "model")]
    models: Vec<Model>,
}

fn date<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Date>, D::Error> {
    let text = String::deserialize(deserializer)?;
    let date = Date::parse(&text, &Iso8601::DATE);
    date.map(Some).map_err(|_| D::Error::custom(format!("{text:?} is not a date such as 2026-11-22")))
}

fn read_models(text: &str) -> anyhow::Result<ModelsFile> {
    let mut file: ModelsFile = toml::from_str(text)?;
    let ModelsFile { providers, models, .. } = &mut file;
    ensure_unique(providers.iter().map(|provider| provider.key.as_str()), "providers")?;
    ensure_unique(models.iter().map(|model| model.key.as_str()), "models")?;
    for provider in providers {
        provider.base_url.truncate(provider.base_url.trim_end_matches('/').len());
        ensure!(
            ![REFERENCE, AGENT].contains(&provider.key.as_str()),
            "{} is reserved and cannot be a [[provider]]",
            provider.key
        );
        if let Some(problem) = provider.problem() {
            bail!(problem);
        }
    }
    for model in models {
        if let Some(problem) = model.problem() {
            bail!("{}: {problem}", model.key);
        }
    }
    Ok(file)
}

fn read_prompts(text: &str) -> anyhow::Result<Vec<Prompt>> {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct PromptsFile {
        #[serde(default)]
        prompt: Vec<Prompt>,
    }
    let prompts = toml::from_str::<PromptsFile>(text)?.prompt;
    ensure_unique(prompts.iter().map(|prompt| prompt.id.as_str()), "prompts")?;
    for prompt in &prompts {
        if let Some(problem) = prompt.problem() {
            bail!("{}: {problem}", prompt.id);
        }
    }
    Ok(prompts)
}

fn ensure_unique<'a>(names: impl Iterator<Item = &'a str>, what: &str) -> anyhow::Result<()> {
    let mut seen = HashSet::new();
    for name in names {
        ensure!(seen.insert(name), "two {what} are called {name}");
    }
    Ok(())
}

#[cfg(test)]
mod tests;
