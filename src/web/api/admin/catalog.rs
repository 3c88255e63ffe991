//! `/api/admin/models` and `/api/admin/prompts`: adding, editing and disabling.

use std::collections::BTreeMap;

use axum::Json;
use axum::extract::{Path, Query, State};
use axum::http::StatusCode;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::json;
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::RequireAdmin;
use crate::app::App;
use crate::arena::catalog::{
    self, AGENT, EditModelError, EditPromptError, ListedModel, ListedPrompt, ModelEdit, ModelOptions,
    ModelPatch, Prices, PromptPatch,
};
use crate::arena::{ModelKey, PromptId};
use crate::arena::{agents, audit, jobs};
use crate::web::openapi::{codes, shapes};
use crate::web::query::flag;
use crate::web::views::{AdminModelView, AdminPromptView};
use crate::web::{Error, ErrorCode};

pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(models))
        .routes(routes!(put_model, patch_model, delete_model))
        .routes(routes!(prompts))
        .routes(routes!(put_prompt, patch_prompt))
}

#[derive(Serialize, ToSchema)]
#[schema(as = AdminModels)]
struct AdminModelsResponse {
    models: Vec<AdminModelView>,
}

#[derive(Serialize, ToSchema)]
#[schema(as = AdminPrompts)]
struct AdminPromptsResponse {
    prompts: Vec<AdminPromptView>,
}

/// A whole model. Missing fields become empty; a missing `enabled` stays as it is, and is true for a new model.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(as = NewModel)]
struct PutModelRequest {
    provider: String,
    model_id: String,
    display_name: String,
    #[serde(default)]
    about: String,
    #[serde(default)]
    via: BTreeMap<String, String>,
    #[serde(default)]
    #[schema(value_type = Option<shapes::PricesSchema>)]
    prices: Option<Prices>,
    #[serde(default)]
    #[schema(value_type = shapes::OptionsSchema)]
    options: ModelOptions,
    /// Whether it sees pictures, so that it can judge builds.
    #[serde(default)]
    vision: bool,
    enabled: Option<bool>,
}

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(as = ModelChange)]
struct PatchModelRequest {
    enabled: Option<bool>,
    display_name: Option<String>,
    about: Option<String>,
    provider: Option<String>,
    model_id: Option<String>,
    via: Option<BTreeMap<String, String>>,
    /// Null removes them.
    #[serde(default, deserialize_with = "nullable")]
    #[schema(value_type = Option<shapes::PricesSchema>)]
    prices: Option<Option<Prices>>,
    /// All of them: a missing one is left to the provider.
    #[schema(value_type = Option<shapes::OptionsSchema>)]
    options: Option<ModelOptions>,
    vision: Option<bool>,
}

/// What happens to builds that were asked for differently.
#[derive(Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct EditModelQuery {
    /// 1 retires the builds of a model whose provider, ID or options change, and cancels its jobs that have begun.
    /// Otherwise such a change is refused as long as the model has builds or is being asked for one.
    #[serde(default, deserialize_with = "flag")]
    #[param(value_type = u8, minimum = 0, maximum = 1, default = 0)]
    retire_builds: bool,
}

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(as = NewPrompt)]
struct PutPromptRequest {
    text: String,
    #[serde(default)]
    tags: Vec<String>,
    active: Option<bool>,
    /// Whether its builds are only shown in matchups until enough votes on them are counted. Stays as it is if it is
    /// missing, and is false for a new prompt.
    held_out: Option<bool>,
}

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(as = PromptChange)]
struct PatchPromptRequest {
    active: Option<bool>,
    held_out: Option<bool>,
    text: Option<String>,
    tags: Option<Vec<String>>,
}

/// List models
///
/// All models, enabled or not, and whether they can generate builds.
#[utoipa::path(
    get, path = "/api/admin/models", tag = "Admin", operation_id = "adminModels",
    responses((status = OK, description = "All models, by name.", body = AdminModelsResponse)),
)]
async fn models(State(app): State<App>, _admin: RequireAdmin) -> Result<Json<AdminModelsResponse>, Error> {
    let listed = catalog::models(&app.pool).await?;
    let providers = app.worker.providers();
    let models = listed.iter().map(|listed| AdminModelView::of(listed, &providers)).collect();
    Ok(Json(AdminModelsResponse { models }))
}

/// List all prompts
///
/// All prompts, active or not.
#[utoipa::path(
    get, path = "/api/admin/prompts", tag = "Admin", operation_id = "adminPrompts",
    responses((status = OK, description = "All prompts, by slug.", body = AdminPromptsResponse)),
)]
async fn prompts(State(app): State<App>, _admin: RequireAdmin) -> Result<Json<AdminPromptsResponse>, Error> {
    let prompts = catalog::prompts(&app.pool).await?.iter().map(AdminPromptView::of).collect();
    Ok(Json(AdminPromptsResponse { prompts }))
}

/// Add or replace a model
///
/// Seeding does not overwrite it. The provider, ID and options of a model with builds cannot be changed.
#[utoipa::path(
    put, path = "/api/admin/models/{key}", tag = "Admin", operation_id = "putModel",
    params(
        ("key" = String, Path, description = "The model's key.", example = "openai_gpt_5_2_pro"),
        EditModelQuery,
    ),
    request_body = PutModelRequest,
    responses(
        (status = OK, description = "It was replaced.", body = AdminModelView),
        (status = CREATED, description = "It was added.", body = AdminModelView),
    ),
    extensions(("x-errors" = json!(codes([ErrorCode::ModelIsFixed])))),
)]
async fn put_model(
    State(app): State<App>,
    RequireAdmin(admin): RequireAdmin,
    Path(key): Path<String>,
    Query(EditModelQuery { retire_builds }): Query<EditModelQuery>,
    Json(new): Json<PutModelRequest>,
) -> Result<(StatusCode, Json<AdminModelView>), Error> {
    let key: ModelKey = key.parse().map_err(Error::bad_request)?;
    let PutModelRequest { provider, model_id, display_name, about, via, prices, options, vision, enabled } =
        new;
    let mut model = catalog::Model {
        key,
        provider,
        model_id,
        display_name,
        about,
        via,
        prices,
        options,
        vision,
        budget: None,
    };
    Error::bad_request_if(model.problem())?;
    if let Some(id) = agent_id(&app, &model.key, &model.provider).await? {
        (model.provider, model.model_id) = (AGENT.to_owned(), id);
    }
    let mut transaction = app.pool.begin().await?;
    let ModelEdit { is_new, retired_builds } =
        catalog::put_model(&mut transaction, &model, enabled, retire_builds).await?;
    let detail = json!({
        "provider": model.provider, "modelId": model.model_id, "displayName": model.display_name,
        "about": model.about, "via": model.via, "prices": model.prices, "options": model.options,
        "vision": model.vision, "enabled": enabled, "retiredBuilds": retired_builds,
    });
    if enabled == Some(false) {
        jobs::cancel_queued(&mut transaction, Some(&model.key), None).await?;
    }
    let action = if is_new { "add model" } else { "change model" };
    audit::record(&mut transaction, admin, action, model.key.as_str(), detail).await?;
    transaction.commit().await?;
    app.worker.wake();
    Ok((put_status(is_new), Json(model_now(&app, &model.key).await?)))
}

/// Edit a model
///
/// Missing fields stay as they are. Seeding does not overwrite the changes. The provider, ID and options of a model with
/// builds cannot be changed.
#[utoipa::path(
    patch, path = "/api/admin/models/{key}", tag = "Admin", operation_id = "patchModel",
    params(
        ("key" = String, Path, description = "The model's key.", example = "openai_gpt_5_2_pro"),
        EditModelQuery,
    ),
    request_body = PatchModelRequest,
    responses((status = OK, description = "The edited model.", body = AdminModelView)),
    extensions(("x-errors" = json!(codes([ErrorCode::NoModel, ErrorCode::ModelIsFixed])))),
)]
async fn patch_model(
    State(app): State<App>,
    RequireAdmin(admin): RequireAdmin,
    Path(key): Path<String>,
    Query(EditModelQuery { retire_builds }): Query<EditModelQuery>,
    Json(change): Json<PatchModelRequest>,
) -> Result<Json<AdminModelView>, Error> {
    let key: ModelKey = key.parse().map_err(|_| ErrorCode::NoModel)?;
    let PatchModelRequest {
        enabled,
        display_name,
        about,
        mut provider,
        mut model_id,
        via,
        prices,
        options,
        vision,
    } = change;
    if let Some(named) = &provider
        && let Some(id) = agent_id(&app, &key, named).await?
    {
        (provider, model_id) = (Some(AGENT.to_owned()), Some(id));
    }
    let mut detail = json!({
        "enabled": enabled, "displayName": display_name, "about": about, "provider": provider, "modelId": model_id,
        "via": via, "options": options, "vision": vision,
    });
    if let Some(prices) = prices {
        detail["prices"] = json!(prices);
    }
    let patch = ModelPatch { enabled, display_name, about, provider, model_id, via, prices, options, vision };
    let mut transaction = app.pool.begin().await?;
    let edit = catalog::patch_model(&mut transaction, &key, patch, retire_builds).await?;
    detail["retiredBuilds"] = json!(edit.retired_builds);
    if enabled == Some(false) {
        jobs::cancel_queued(&mut transaction, Some(&key), None).await?;
    }
    audit::record(&mut transaction, admin, "change model", key.as_str(), detail).await?;
    transaction.commit().await?;
    app.worker.wake();
    Ok(Json(model_now(&app, &key).await?))
}

/// Delete a model
///
/// Only a model without builds and jobs can be deleted. Seeding adds it again if it is in `models.toml`.
#[utoipa::path(
    delete, path = "/api/admin/models/{key}", tag = "Admin", operation_id = "deleteModel",
    params(("key" = String, Path, description = "The model's key.", example = "openai_gpt_5_2_pro")),
    responses((status = NO_CONTENT, description = "The model is deleted.")),
    extensions(("x-errors" = json!(codes([ErrorCode::NoModel, ErrorCode::ModelInUse])))),
)]
async fn delete_model(
    State(app): State<App>,
    RequireAdmin(admin): RequireAdmin,
    Path(key): Path<String>,
) -> Result<StatusCode, Error> {
    let key: ModelKey = key.parse().map_err(|_| ErrorCode::NoModel)?;
    let mut transaction = app.pool.begin().await?;
    catalog::delete_model(&mut transaction, &key).await?;
    audit::record(&mut transaction, admin, "delete model", key.as_str(), json!({})).await?;
    transaction.commit().await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Add or replace a prompt
///
/// The text of a prompt with builds cannot be changed.
#[utoipa::path(
    put, path = "/api/admin/prompts/{id}", tag = "Admin", operation_id = "putPrompt",
    params(("id" = String, Path, description = "The prompt's slug.", example = "steam-locomotive")),
    request_body = PutPromptRequest,
    responses(
        (status = OK, description = "It was replaced.", body = AdminPromptView),
        (status = CREATED, description = "It was added.", body = AdminPromptView),
    ),
    extensions(("x-errors" = json!(codes([ErrorCode::TextIsFixed])))),
)]
async fn put_prompt(
    State(app): State<App>,
    RequireAdmin(admin): RequireAdmin,
    Path(id): Path<String>,
    Json(PutPromptRequest { text, tags, active, held_out }): Json<PutPromptRequest>,
) -> Result<(StatusCode, Json<AdminPromptView>), Error> {
    let id = id.parse().map_err(Error::bad_request)?;
    let prompt = catalog::Prompt { id, text: text.trim().to_owned(), tags, held_out };
    Error::bad_request_if(prompt.problem())?;
    let mut transaction = app.pool.begin().await?;
    let held_out_percent = app.config.catalog.held_out_percent;
    let is_new = catalog::put_prompt(&mut transaction, &prompt, active, held_out_percent).await?;
    let detail = json!({ "text": prompt.text, "tags": prompt.tags, "active": active, "heldOut": held_out });
    if active == Some(false) {
        jobs::cancel_queued(&mut transaction, None, Some(&prompt.id)).await?;
    }
    let action = if is_new { "add prompt" } else { "change prompt" };
    audit::record(&mut transaction, admin, action, prompt.id.as_str(), detail).await?;
    transaction.commit().await?;
    Ok((put_status(is_new), Json(prompt_now(&app, &prompt.id).await?)))
}

/// Edit a prompt
///
/// Missing fields stay as they are. An inactive prompt is not in the arena.
#[utoipa::path(
    patch, path = "/api/admin/prompts/{id}", tag = "Admin", operation_id = "patchPrompt",
    params(("id" = String, Path, description = "The prompt's slug.", example = "steam-locomotive")),
    request_body = PatchPromptRequest,
    responses((status = OK, description = "The edited prompt.", body = AdminPromptView)),
    extensions(("x-errors" = json!(codes([ErrorCode::NoPrompt, ErrorCode::TextIsFixed])))),
)]
async fn patch_prompt(
    State(app): State<App>,
    RequireAdmin(admin): RequireAdmin,
    Path(id): Path<String>,
    Json(PatchPromptRequest { active, held_out, text, tags }): Json<PatchPromptRequest>,
) -> Result<Json<AdminPromptView>, Error> {
    let id: PromptId = id.parse().map_err(|_| ErrorCode::NoPrompt)?;
    let mut changed = prompt(&app, &id).await?.prompt;
    let text = text.map(|text| text.trim().to_owned());
    changed.text.clone_from(text.as_ref().unwrap_or(&changed.text.clone()));
    changed.tags.clone_from(tags.as_ref().unwrap_or(&changed.tags.clone()));
    Error::bad_request_if(changed.problem())?;
    let detail = json!({ "active": active, "heldOut": held_out, "text": text, "tags": tags });
    let mut transaction = app.pool.begin().await?;
    catalog::patch_prompt(&mut transaction, &id, &PromptPatch { active, held_out, text, tags }).await?;
    if active == Some(false) {
        jobs::cancel_queued(&mut transaction, None, Some(&id)).await?;
    }
    audit::record(&mut transaction, admin, "change prompt", id.as_str(), detail).await?;
    transaction.commit().await?;
    Ok(Json(prompt_now(&app, &id).await?))
}

/// The id of a model whose provider is an agent, which is named by its own key or as an agent. The model of an agent has
/// the agent's key.
async fn agent_id(app: &App, model: &ModelKey, provider: &str) -> Result<Option<String>, Error> {
    let is_named = match provider.parse() {
        Ok(key) if provider != AGENT => agents::find(&app.pool, &key).await?.is_some(),
        _ => provider == AGENT,
    };
    if !is_named {
        return Ok(None);
    }
    let is_own = provider == AGENT || provider == model.as_str();
    if !is_own || agents::find(&app.pool, model).await?.is_none() {
        return Err(Error::bad_request(
            "The model of an agent must have the key of an agent that is entered.",
        ));
    }
    Ok(Some(model.to_string()))
}

pub(super) async fn model(app: &App, key: &ModelKey) -> Result<ListedModel, Error> {
    let listed = catalog::models(&app.pool).await?;
    Ok(listed.into_iter().find(|listed| listed.model.key == *key).ok_or(ErrorCode::NoModel)?)
}

async fn prompt(app: &App, id: &PromptId) -> Result<ListedPrompt, Error> {
    let listed = catalog::prompts(&app.pool).await?;
    Ok(listed.into_iter().find(|listed| listed.prompt.id == *id).ok_or(ErrorCode::NoPrompt)?)
}

async fn model_now(app: &App, key: &ModelKey) -> Result<AdminModelView, Error> {
    Ok(AdminModelView::of(&model(app, key).await?, &app.worker.providers()))
}

async fn prompt_now(app: &App, id: &PromptId) -> Result<AdminPromptView, Error> {
    Ok(AdminPromptView::of(&prompt(app, id).await?))
}

impl From<EditPromptError> for Error {
    fn from(reason: EditPromptError) -> Self {
        match reason {
            EditPromptError::HasBuilds => ErrorCode::TextIsFixed.into(),
            EditPromptError::Database(error) => error.into(),
        }
    }
}

impl From<EditModelError> for Error {
    fn from(reason: EditModelError) -> Self {
        match reason {
            EditModelError::NoModel => ErrorCode::NoModel.into(),
            EditModelError::IsFixed => ErrorCode::ModelIsFixed.into(),
            EditModelError::InUse => ErrorCode::ModelInUse.into(),
            EditModelError::Invalid(problem) => Self::bad_request(problem),
            EditModelError::Database(error) => error.into(),
        }
    }
}

/// A field that is there but null, unlike one that is missing.
pub(super) fn nullable<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
    field: D,
) -> Result<Option<Option<T>>, D::Error> {
    Option::deserialize(field).map(Some)
}

fn put_status(is_new: bool) -> StatusCode {
    if is_new { StatusCode::CREATED } else { StatusCode::OK }
}
