//! The catalog: which models there are, and which prompts.

use std::path::Path;

use anyhow::Context;
use serde::Deserialize;
use sqlx::{PgConnection, PgPool};

use super::{ModelKey, PromptId};

/// A contestant.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Model {
    pub key: ModelKey,
    pub provider: String,
    /// The provider's own name for it.
    pub model_id: String,
    pub display_name: String,
    #[serde(default)]
    pub about: String,
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
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Catalog {
    pub models: Vec<Model>,
    pub prompts: Vec<Prompt>,
}

impl Catalog {
    /// The one that is built in, where `dir` holds no `models.toml` or `prompts.toml` in its stead.
    pub fn load(dir: Option<&Path>) -> anyhow::Result<Self> {
        #[derive(Deserialize)]
        struct Models {
            model: Vec<Model>,
        }
        #[derive(Deserialize)]
        struct Prompts {
            prompt: Vec<Prompt>,
        }
        let models = text(dir, "models.toml", include_str!("../../models.toml"))?;
        let prompts = text(dir, "prompts.toml", include_str!("../../prompts/curated.toml"))?;
        Ok(Self {
            models: toml::from_str::<Models>(&models).context("models.toml cannot be read")?.model,
            prompts: toml::from_str::<Prompts>(&prompts).context("prompts.toml cannot be read")?.prompt,
        })
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

fn text(dir: Option<&Path>, name: &str, embedded: &str) -> anyhow::Result<String> {
    let Some(path) = dir.map(|dir| dir.join(name)).filter(|path| path.exists()) else {
        return Ok(embedded.to_owned());
    };
    std::fs::read_to_string(&path).with_context(|| format!("{} cannot be read", path.display()))
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
