//! The catalog: which models there are, and which prompts.

mod providers;

use std::collections::{BTreeMap, HashSet};
use std::path::Path;

use anyhow::{Context, bail, ensure};
use serde::Deserialize;
use sqlx::{PgConnection, PgPool};

pub use self::providers::{Effort, Options, Prices, Provider, ProviderKind};
use super::{ModelKey, PromptId};

/// The provider of models that are shipped with the program, and asked nowhere.
pub const REFERENCE: &str = "reference";

/// No prompt is longer, in characters.
pub const LONGEST_PROMPT: usize = 800;

/// A contestant.
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
    /// Other providers that answer for it, and their names for it.
    #[serde(default)]
    pub via: BTreeMap<String, String>,
    #[serde(default)]
    pub prices: Option<Prices>,
    #[serde(default)]
    pub options: Options,
}

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Prompt {
    #[serde(rename = "slug")]
    pub id: PromptId,
    pub text: String,
    #[serde(default)]
    pub tags: Vec<String>,
}

/// What a catalog holds when it comes from files.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Catalog {
    pub providers: Vec<Provider>,
    pub models: Vec<Model>,
    pub prompts: Vec<Prompt>,
}

const MODELS: &str = include_str!("../../models.toml");
const PROMPTS: &str = include_str!("../../prompts/curated.toml");

impl Catalog {
    /// The one that is built in, where `dir` holds no `models.toml` or `prompts.toml` in its stead. A
    /// provider that is built in need not be written down again.
    pub fn load(dir: Option<&Path>) -> anyhow::Result<Self> {
        let own = text(dir, "models.toml")?;
        let (mut providers, mut models) = read_models(MODELS).context("the built-in models.toml is wrong")?;
        if let Some(own) = own {
            let read = read_models(&own).context("models.toml cannot be used")?;
            providers.retain(|built_in| read.0.iter().all(|own| own.key != built_in.key));
            providers.extend(read.0);
            models = read.1;
        }
        let own = text(dir, "prompts.toml")?;
        let prompts =
            read_prompts(own.as_deref().unwrap_or(PROMPTS)).context("prompts.toml cannot be used")?;
        let catalog = Self { providers, models, prompts };
        catalog.check_routes().context("models.toml cannot be used")?;
        Ok(catalog)
    }

    pub fn provider(&self, key: &str) -> Option<&Provider> {
        self.providers.iter().find(|provider| provider.key == key)
    }

    pub fn model(&self, key: &ModelKey) -> Option<&Model> {
        self.models.iter().find(|model| &model.key == key)
    }

    /// Where a model may be asked, and by which name: its own provider first.
    pub fn routes<'a>(&'a self, model: &'a Model) -> impl Iterator<Item = (&'a Provider, &'a str)> {
        let own = (&model.provider, &model.model_id);
        std::iter::once(own)
            .chain(&model.via)
            .filter_map(|(provider, id)| Some((self.provider(provider)?, id.as_str())))
    }

    /// A model may be of a provider that is not asked: its builds are then imported.
    fn check_routes(&self) -> anyhow::Result<()> {
        for model in &self.models {
            for provider in model.via.keys() {
                ensure!(
                    self.provider(provider).is_some(),
                    "{}: via {provider}: there is no such provider",
                    model.key
                );
            }
            if model.provider != REFERENCE && self.routes(model).next().is_none() {
                tracing::warn!(model = %model.key, provider = model.provider, "there is no such provider; the model cannot be asked");
            }
        }
        Ok(())
    }

    /// Adds what is missing and brings the rest up to date. What admins decide is left alone, and so is
    /// the text of a prompt that has builds.
    pub async fn seed(&self, connection: &mut PgConnection) -> sqlx::Result<()> {
        for model in &self.models {
            seed_model(connection, model).await?;
        }
        for prompt in &self.prompts {
            seed_prompt(connection, prompt).await?;
        }
        Ok(())
    }
}

/// A file in the directory, if it is there.
fn text(dir: Option<&Path>, name: &str) -> anyhow::Result<Option<String>> {
    let Some(path) = dir.map(|dir| dir.join(name)).filter(|path| path.exists()) else {
        return Ok(None);
    };
    let text = std::fs::read_to_string(&path);
    Ok(Some(text.with_context(|| format!("{} cannot be read", path.display()))?))
}

fn read_models(text: &str) -> anyhow::Result<(Vec<Provider>, Vec<Model>)> {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct File {
        #[serde(default)]
        provider: Vec<Provider>,
        #[serde(default)]
        model: Vec<Model>,
    }
    let File { provider: mut providers, model: models } = toml::from_str(text)?;
    unique(providers.iter().map(|provider| provider.key.as_str()), "providers")?;
    unique(models.iter().map(|model| model.key.as_str()), "models")?;
    for provider in &mut providers {
        provider.base_url.truncate(provider.base_url.trim_end_matches('/').len());
        ensure!(provider.key != REFERENCE, "{REFERENCE} is not to be asked, and needs no [[provider]]");
        if let Some(problem) = provider.problem() {
            bail!(problem);
        }
    }
    for model in &models {
        let problem = model.options.problem().or(model.prices.and_then(Prices::problem));
        if let Some(problem) = problem {
            bail!("{}: {problem}", model.key);
        }
    }
    Ok((providers, models))
}

fn read_prompts(text: &str) -> anyhow::Result<Vec<Prompt>> {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct File {
        #[serde(default)]
        prompt: Vec<Prompt>,
    }
    let prompts = toml::from_str::<File>(text)?.prompt;
    unique(prompts.iter().map(|prompt| prompt.id.as_str()), "prompts")?;
    for prompt in &prompts {
        let fits = !prompt.text.trim().is_empty() && prompt.text.chars().count() <= LONGEST_PROMPT;
        ensure!(fits, "{}: a prompt's text has 1 to {LONGEST_PROMPT} characters", prompt.id);
    }
    Ok(prompts)
}

fn unique<'a>(names: impl Iterator<Item = &'a str>, what: &str) -> anyhow::Result<()> {
    let mut seen = HashSet::new();
    for name in names {
        ensure!(seen.insert(name), "two {what} are called {name}");
    }
    Ok(())
}

async fn seed_model(connection: &mut PgConnection, model: &Model) -> sqlx::Result<()> {
    sqlx::query!(
        "
        INSERT INTO models (key, provider, model_id, display_name, about)
        VALUES ($1, $2, $3, $4, $5)
        ON CONFLICT (key) DO UPDATE
        SET provider = $2, model_id = $3, about = $5
        ",
        model.key.as_str(),
        model.provider,
        model.model_id,
        model.display_name,
        model.about,
    )
    .execute(connection)
    .await?;
    Ok(())
}

async fn seed_prompt(connection: &mut PgConnection, prompt: &Prompt) -> sqlx::Result<()> {
    sqlx::query!(
        "
        INSERT INTO prompts (id, text, tags)
        VALUES ($1, $2, $3)
        ON CONFLICT (id) DO UPDATE
        SET tags = $3,
            text = CASE
                WHEN EXISTS (SELECT FROM builds WHERE prompt_id = $1) THEN prompts.text
                ELSE $2
            END
        ",
        prompt.id.as_str(),
        prompt.text,
        &prompt.tags,
    )
    .execute(connection)
    .await?;
    Ok(())
}

/// A model or a prompt in a list to choose from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    pub id: String,
    pub name: String,
}

/// The models that have builds, by name.
pub async fn models_with_builds(pool: &PgPool) -> sqlx::Result<Vec<Choice>> {
    sqlx::query_as!(
        Choice,
        "
        SELECT key AS id, display_name AS name
        FROM models
        WHERE EXISTS (SELECT FROM builds WHERE model_key = key AND retired_at IS NULL)
        ORDER BY display_name, key
        "
    )
    .fetch_all(pool)
    .await
}

/// The prompts that have builds, by their text.
pub async fn prompts_with_builds(pool: &PgPool) -> sqlx::Result<Vec<Choice>> {
    sqlx::query_as!(
        Choice,
        "
        SELECT id, text AS name
        FROM prompts
        WHERE EXISTS (SELECT FROM builds WHERE prompt_id = prompts.id AND retired_at IS NULL)
        ORDER BY text, id
        "
    )
    .fetch_all(pool)
    .await
}

#[cfg(test)]
mod tests;
