//! Changes of models, by admins and by the catalog's files. How a model is asked is a part of what its builds are: its
//! provider, model ID and options stay as long as it has builds in force, or is being asked for one.

use std::collections::BTreeMap;

use sqlx::PgConnection;
use sqlx::error::ErrorKind;
use sqlx::types::Json;

use super::agent_entries::follow_model;
use super::stored::find_model;
use super::{Model, ModelOptions, Prices};
use crate::arena::jobs::claims;
use crate::arena::{ModelKey, builds, jobs};

/// Changes of a model; fields that are none stay as they are.
#[derive(Clone, Debug, Default)]
pub struct ModelPatch {
    pub enabled: Option<bool>,
    pub display_name: Option<String>,
    pub about: Option<String>,
    pub provider: Option<String>,
    pub model_id: Option<String>,
    pub via: Option<BTreeMap<String, String>>,
    /// The inner none removes them.
    pub prices: Option<Option<Prices>>,
    pub options: Option<ModelOptions>,
    pub vision: Option<bool>,
}

/// What a change of a model has led to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ModelEdit {
    pub is_new: bool,
    /// Builds that were retired because the model is asked differently now.
    pub retired_builds: u64,
}

/// Why a model is not changed.
#[derive(Debug, thiserror::Error)]
pub enum EditModelError {
    #[error("this model does not exist")]
    NoModel,
    #[error("the model has builds or is being asked for one, so how it is asked cannot be changed")]
    IsFixed,
    #[error("the model has builds or jobs, so it cannot be deleted")]
    InUse,
    #[error("{0}")]
    Invalid(String),
    #[error(transparent)]
    Database(#[from] sqlx::Error),
}

impl ModelPatch {
    /// Whether the catalog's files no longer decide about the model. They never decide about its name and whether it is
    /// enabled.
    fn takes_over(&self) -> bool {
        let Self { enabled: _, display_name: _, about, provider, model_id, via, prices, options, vision } =
            self;
        about.is_some()
            || provider.is_some()
            || model_id.is_some()
            || via.is_some()
            || prices.is_some()
            || options.is_some()
            || vision.is_some()
    }

    fn apply(self, stored: &Model) -> Model {
        let stored = stored.clone();
        Model {
            key: stored.key,
            provider: self.provider.unwrap_or(stored.provider),
            model_id: self.model_id.unwrap_or(stored.model_id),
            display_name: self.display_name.unwrap_or(stored.display_name),
            about: self.about.unwrap_or(stored.about),
            via: self.via.unwrap_or(stored.via),
            prices: self.prices.unwrap_or(stored.prices),
            options: self.options.unwrap_or(stored.options),
            vision: self.vision.unwrap_or(stored.vision),
            budget: stored.budget,
        }
    }
}

/// Adds a model, or replaces the one with this key. With `retire_builds`, builds that were asked for differently are
/// retired.
pub async fn put_model(
    connection: &mut PgConnection,
    model: &Model,
    enabled: Option<bool>,
    retire_builds: bool,
) -> Result<ModelEdit, EditModelError> {
    let stored = lock_model(&mut *connection, &model.key).await?;
    let retired_builds = match &stored {
        Some(stored) => make_way(connection, stored, model, retire_builds).await?,
        None => 0,
    };
    sqlx::query!(
        "
        INSERT INTO models (
            key, provider, model_id, display_name, about, via, prices, options, enabled, vision, edited_at
        )
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, coalesce($9, true), $10, now())
        ON CONFLICT (key) DO UPDATE
        SET provider = $2, model_id = $3, display_name = $4, about = $5, via = $6, prices = $7, options = $8,
            enabled = coalesce($9, models.enabled), vision = $10, edited_at = now()
        ",
        model.key as _,
        model.provider,
        model.model_id,
        model.display_name,
        model.about,
        Json(&model.via) as _,
        model.prices.map(Json) as _,
        Json(&model.options) as _,
        enabled,
        model.vision,
    )
    .execute(&mut *connection)
    .await?;
    if let Some(enabled) = enabled.filter(|_| model.is_agent()) {
        follow_model(connection, &model.key, enabled).await?;
    }
    Ok(ModelEdit { is_new: stored.is_none(), retired_builds })
}

/// Changes some fields of a model. With `retire_builds`, builds that were asked for differently are retired.
pub async fn patch_model(
    connection: &mut PgConnection,
    key: &ModelKey,
    patch: ModelPatch,
    retire_builds: bool,
) -> Result<ModelEdit, EditModelError> {
    let stored = lock_model(&mut *connection, key).await?.ok_or(EditModelError::NoModel)?;
    let (enabled, takes_over) = (patch.enabled, patch.takes_over());
    let model = patch.apply(&stored);
    if let Some(problem) = model.problem() {
        return Err(EditModelError::Invalid(problem));
    }
    let retired_builds = make_way(connection, &stored, &model, retire_builds).await?;
    sqlx::query!(
        "
        UPDATE models
        SET provider = $2, model_id = $3, display_name = $4, about = $5, via = $6, prices = $7, options = $8,
            enabled = coalesce($9, enabled), vision = $11, edited_at = CASE WHEN $10 THEN now() ELSE edited_at END
        WHERE key = $1
        ",
        key as _,
        model.provider,
        model.model_id,
        model.display_name,
        model.about,
        Json(&model.via) as _,
        model.prices.map(Json) as _,
        Json(&model.options) as _,
        enabled,
        takes_over,
        model.vision,
    )
    .execute(&mut *connection)
    .await?;
    if let Some(enabled) = enabled.filter(|_| model.is_agent()) {
        follow_model(connection, key, enabled).await?;
    }
    Ok(ModelEdit { is_new: false, retired_builds })
}

/// Deletes a model that has neither builds nor jobs: others refer to the rows of those.
pub async fn delete_model(connection: &mut PgConnection, key: &ModelKey) -> Result<(), EditModelError> {
    let deleted = sqlx::query!("DELETE FROM models WHERE key = $1", key as _).execute(&mut *connection).await;
    match deleted {
        Ok(deleted) if deleted.rows_affected() == 0 => Err(EditModelError::NoModel),
        Ok(_) => Ok(follow_model(connection, key, false).await?),
        Err(sqlx::Error::Database(error)) if error.kind() == ErrorKind::ForeignKeyViolation => {
            Err(EditModelError::InUse)
        }
        Err(error) => Err(error.into()),
    }
}

/// Locks what a change of a model needs, in the order in which those who queue jobs take it: all claims, the model, and
/// then its jobs.
async fn lock_model(connection: &mut PgConnection, key: &ModelKey) -> sqlx::Result<Option<Model>> {
    claims::hold(&mut *connection).await?;
    sqlx::query!("SELECT key FROM models WHERE key = $1 FOR NO KEY UPDATE", key as _)
        .fetch_optional(&mut *connection)
        .await?;
    find_model(connection, key).await
}

/// Makes sure that no build in force was asked for differently than the model is asked from now on. Returns how many
/// builds were retired.
///
/// The caller holds the claims, so no job of the model begins to run before the change is committed, and one that begins
/// later reads the changed model. A job that has begun counts like a build even if it is queued again, since the next
/// attempt would repair an answer that was asked for differently. It is cancelled before builds are retired: if its
/// worker is just storing the build, this waits for the worker and then retires that build, too.
async fn make_way(
    connection: &mut PgConnection,
    stored: &Model,
    wanted: &Model,
    retire_builds: bool,
) -> Result<u64, EditModelError> {
    if stored.is_asked_like(wanted) && !has_builds_of_another_id(&mut *connection, wanted).await? {
        return Ok(0);
    }
    if retire_builds {
        jobs::cancel_begun(&mut *connection, &stored.key).await?;
        return Ok(builds::retire_all(connection, &stored.key).await?);
    }
    // One statement, so that a job that is ending is seen, or else its build.
    let is_fixed = sqlx::query_scalar!(
        r#"
        SELECT EXISTS (SELECT FROM builds WHERE model_key = $1 AND retired_at IS NULL)
            OR EXISTS (
                SELECT FROM jobs
                WHERE model_key = $1 AND state IN ('queued', 'running') AND started_at IS NOT NULL
            ) AS "is_fixed!"
        "#,
        stored.key as _,
    )
    .fetch_one(connection)
    .await?;
    if is_fixed { Err(EditModelError::IsFixed) } else { Ok(0) }
}

/// Whether a build in force was asked for at a provider where the model now has another ID. The stored model need not
/// name that provider any more.
async fn has_builds_of_another_id(connection: &mut PgConnection, model: &Model) -> sqlx::Result<bool> {
    sqlx::query_scalar!(
        r#"
        SELECT EXISTS (
            SELECT
            FROM builds
            JOIN generations ON build_id = id
            JOIN jsonb_each_text($2) AS via (provider, model_id) ON via.provider = generations.provider
            WHERE model_key = $1 AND retired_at IS NULL AND via.model_id <> generations.model_id
        ) AS "has_any!"
        "#,
        model.key as _,
        Json(&model.via) as _,
    )
    .fetch_one(connection)
    .await
}

/// Models of the catalog's files that would be asked differently than those in the database, although these have builds
/// or jobs that have begun. They are returned with what may change from the files, and the rest as it is stored. Models
/// that admins have edited are left out: the files do not decide about them.
pub(super) async fn fixed_models(
    connection: &mut PgConnection,
    models: &[Model],
) -> sqlx::Result<Vec<Model>> {
    let rows = sqlx::query!(
        r#"
        SELECT
            key AS "key: ModelKey", provider, model_id, via AS "via: Json<BTreeMap<String, String>>",
            options AS "options: Json<ModelOptions>"
        FROM models
        WHERE edited_at IS NULL
          AND (
              EXISTS (SELECT FROM builds WHERE model_key = key AND retired_at IS NULL)
              OR EXISTS (
                  SELECT FROM jobs
                  WHERE model_key = key AND state IN ('queued', 'running') AND started_at IS NOT NULL
              )
          )
        "#
    )
    .fetch_all(connection)
    .await?;
    let fixed = rows.into_iter().filter_map(|row| {
        let model = models.iter().find(|model| model.key == row.key)?;
        let kept = Model {
            provider: row.provider,
            model_id: row.model_id,
            via: row.via.0,
            options: ModelOptions {
                efforts: model.options.efforts,
                background: model.options.background,
                ..row.options.0
            },
            ..model.clone()
        };
        (!kept.is_asked_like(model)).then_some(kept)
    });
    Ok(fixed.collect())
}

/// Adds models from the files, and updates those that no admin has edited. How a model is asked stays as long as it has
/// builds; the caller holds the claims, so that no job begins meanwhile.
pub(super) async fn seed_models(connection: &mut PgConnection, models: &[Model]) -> sqlx::Result<()> {
    let fixed = fixed_models(connection, models).await?;
    for model in models {
        let model = fixed.iter().find(|fixed| fixed.key == model.key).unwrap_or(model);
        seed_model(connection, model).await?;
    }
    Ok(())
}

async fn seed_model(connection: &mut PgConnection, model: &Model) -> sqlx::Result<()> {
    sqlx::query!(
        "
        INSERT INTO models (key, provider, model_id, display_name, about, via, prices, options, vision)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
        ON CONFLICT (key) DO UPDATE
        SET provider = $2, model_id = $3, about = $5, via = $6, prices = $7, options = $8, vision = $9
        WHERE models.edited_at IS NULL
          AND (
              models.provider, models.model_id, models.about, models.via, models.prices, models.options,
              models.vision
          ) IS DISTINCT FROM ($2, $3, $5, $6::jsonb, $7::jsonb, $8::jsonb, $9)
        ",
        model.key as _,
        model.provider,
        model.model_id,
        model.display_name,
        model.about,
        Json(&model.via) as _,
        model.prices.map(Json) as _,
        Json(&model.options) as _,
        model.vision,
    )
    .execute(connection)
    .await?;
    Ok(())
}
