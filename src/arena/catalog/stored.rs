//! The catalog in the database: what seeding added, and what admins changed.

use std::collections::BTreeMap;

use sqlx::types::Json;
use sqlx::{PgConnection, PgExecutor, PgPool};
use time::OffsetDateTime;

use super::{AGENT, Model, ModelOptions, Prices, Prompt};
use crate::arena::{ModelKey, PromptId};

/// A model with its state in the arena.
#[derive(Clone, Debug)]
pub struct ListedModel {
    pub model: Model,
    pub enabled: bool,
    pub builds: i64,
}

#[derive(Clone, Debug)]
pub struct ListedPrompt {
    pub prompt: Prompt,
    pub active: bool,
    pub builds: i64,
    pub created_at: OffsetDateTime,
}

/// Changes of a prompt; fields that are none stay as they are.
#[derive(Clone, Debug, Default)]
pub struct PromptPatch {
    pub active: Option<bool>,
    pub held_out: Option<bool>,
    pub text: Option<String>,
    pub tags: Option<Vec<String>>,
}

/// Why a prompt cannot be edited. Its builds were asked for with its text, so the text must not change.
#[derive(Debug, thiserror::Error)]
pub enum EditPromptError {
    #[error("the prompt has builds or jobs, so its text cannot be edited")]
    HasBuilds,
    #[error(transparent)]
    Database(#[from] sqlx::Error),
}

/// Every model, by name.
pub async fn models(executor: impl PgExecutor<'_>) -> sqlx::Result<Vec<ListedModel>> {
    listed_models(executor, None).await
}

pub async fn find_model(executor: impl PgExecutor<'_>, key: &ModelKey) -> sqlx::Result<Option<Model>> {
    Ok(listed_models(executor, Some(key)).await?.pop().map(|listed| listed.model))
}

/// All models, or only one.
async fn listed_models(
    executor: impl PgExecutor<'_>,
    only: Option<&ModelKey>,
) -> sqlx::Result<Vec<ListedModel>> {
    let rows = sqlx::query!(
        r#"
        SELECT
            key AS "key: ModelKey", provider, model_id, display_name, about, enabled, vision,
            via AS "via: Json<BTreeMap<String, String>>",
            (SELECT budget FROM model_budgets WHERE model_key = key) AS budget, prices AS "prices: Json<Prices>", options AS "options: Json<ModelOptions>",
            (SELECT count(*) FROM builds WHERE model_key = key AND retired_at IS NULL) AS "builds!"
        FROM models
        WHERE $1::text IS NULL OR key = $1
        ORDER BY display_name, key
        "#,
        only as _,
    )
    .fetch_all(executor)
    .await?;
    let listed = rows.into_iter().map(|row| {
        let model = Model {
            key: row.key,
            provider: row.provider,
            model_id: row.model_id,
            display_name: row.display_name,
            about: row.about,
            via: row.via.0,
            prices: row.prices.map(|prices| prices.0),
            options: row.options.0,
            vision: row.vision,
            budget: row.budget.map(|micros| micros as f64 / 1e6),
        };
        ListedModel { model, enabled: row.enabled, builds: row.builds }
    });
    Ok(listed.collect())
}

/// Every prompt, by its slug.
pub async fn prompts(executor: impl PgExecutor<'_>) -> sqlx::Result<Vec<ListedPrompt>> {
    let rows = sqlx::query!(
        r#"
        SELECT
            id AS "id: PromptId", text, tags, active, held_out, created_at,
            (SELECT count(*) FROM builds WHERE prompt_id = prompts.id AND retired_at IS NULL) AS "builds!"
        FROM prompts
        ORDER BY id
        "#
    )
    .fetch_all(executor)
    .await?;
    let listed = rows.into_iter().map(|row| {
        let prompt = Prompt { id: row.id, text: row.text, tags: row.tags, held_out: Some(row.held_out) };
        let (active, builds, created_at) = (row.active, row.builds, row.created_at);
        ListedPrompt { prompt, active, builds, created_at }
    });
    Ok(listed.collect())
}

/// Updates a prompt from the files, unless an admin has edited it. Its text stays once it has builds or jobs.
pub(super) async fn seed_prompt(
    connection: &mut PgConnection,
    prompt: &Prompt,
    held_out_percent: u32,
) -> sqlx::Result<()> {
    sqlx::query!(
        "
        INSERT INTO prompts (id, text, tags, held_out)
        VALUES ($1, $2, $3, coalesce($4, random() * 100 < $5))
        ON CONFLICT (id) DO UPDATE
        SET tags = $3, held_out = coalesce($4, prompts.held_out),
            text = CASE
                WHEN EXISTS (SELECT FROM builds WHERE prompt_id = $1) THEN prompts.text
                WHEN EXISTS (SELECT FROM build_jobs WHERE prompt_id = $1) THEN prompts.text
                ELSE $2
            END
        WHERE prompts.edited_at IS NULL
          AND (prompts.tags, prompts.text, prompts.held_out)
              IS DISTINCT FROM ($3, $2, coalesce($4, prompts.held_out))
        ",
        prompt.id as _,
        prompt.text,
        &prompt.tags,
        prompt.held_out,
        f64::from(held_out_percent),
    )
    .execute(connection)
    .await?;
    Ok(())
}

/// Adds a prompt, or replaces the one with this slug. Returns whether it is new.
pub async fn put_prompt(
    connection: &mut PgConnection,
    prompt: &Prompt,
    active: Option<bool>,
    held_out_percent: u32,
) -> Result<bool, EditPromptError> {
    let is_new = sqlx::query_scalar!(
        r#"
        INSERT INTO prompts (id, text, tags, active, held_out, edited_at)
        VALUES ($1, $2, $3, coalesce($4, true), coalesce($5, random() * 100 < $6), now())
        ON CONFLICT (id) DO UPDATE
        SET text = $2, tags = $3, active = coalesce($4, prompts.active),
            held_out = coalesce($5, prompts.held_out), edited_at = now()
        WHERE prompts.text = $2
           OR NOT EXISTS (SELECT FROM builds WHERE prompt_id = $1)
          AND NOT EXISTS (SELECT FROM build_jobs WHERE prompt_id = $1)
        RETURNING xmax = 0 AS "is_new!"
        "#,
        prompt.id as _,
        prompt.text,
        &prompt.tags,
        active,
        prompt.held_out,
        f64::from(held_out_percent),
    )
    .fetch_optional(connection)
    .await?;
    is_new.ok_or(EditPromptError::HasBuilds)
}

/// Returns whether the prompt exists.
pub async fn patch_prompt(
    connection: &mut PgConnection,
    id: &PromptId,
    patch: &PromptPatch,
) -> Result<bool, EditPromptError> {
    let is_fixed = sqlx::query_scalar!(
        r#"
        UPDATE prompts
        SET active = coalesce($2, active),
            text = CASE
                WHEN EXISTS (SELECT FROM builds WHERE prompt_id = $1) THEN text
                WHEN EXISTS (SELECT FROM build_jobs WHERE prompt_id = $1) THEN text
                ELSE coalesce($3, text)
            END,
            tags = coalesce($4, tags),
            held_out = coalesce($5, held_out),
            edited_at = CASE WHEN num_nonnulls($3, $4, $5) = 0 THEN edited_at ELSE now() END
        WHERE id = $1
        RETURNING coalesce(text <> $3, false) AS "is_fixed!"
        "#,
        id as _,
        patch.active,
        patch.text,
        patch.tags.as_deref(),
        patch.held_out,
    )
    .fetch_optional(connection)
    .await?;
    match is_fixed {
        Some(true) => Err(EditPromptError::HasBuilds),
        found => Ok(found.is_some()),
    }
}

/// A model or a prompt in a select element.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SelectOption {
    pub id: String,
    pub name: String,
}

/// Whether any model is an agent.
pub async fn has_agents(pool: &PgPool) -> sqlx::Result<bool> {
    sqlx::query_scalar!(r#"SELECT EXISTS (SELECT FROM models WHERE provider = $1) AS "has_any!""#, AGENT)
        .fetch_one(pool)
        .await
}

/// The models that have builds in the gallery, by name.
pub async fn models_with_builds(pool: &PgPool) -> sqlx::Result<Vec<SelectOption>> {
    sqlx::query_as!(
        SelectOption,
        "
        SELECT key AS id, display_name AS name
        FROM models
        WHERE EXISTS (SELECT FROM builds WHERE model_key = key AND retired_at IS NULL AND NOT withheld)
        ORDER BY display_name, key
        "
    )
    .fetch_all(pool)
    .await
}

/// The prompts that have builds in the gallery, by their text.
pub async fn prompts_with_builds(pool: &PgPool) -> sqlx::Result<Vec<SelectOption>> {
    sqlx::query_as!(
        SelectOption,
        "
        SELECT id, text AS name
        FROM prompts
        WHERE EXISTS (SELECT FROM builds WHERE prompt_id = prompts.id AND retired_at IS NULL AND NOT withheld)
        ORDER BY text, id
        "
    )
    .fetch_all(pool)
    .await
}
