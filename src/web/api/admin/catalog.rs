//! `/api/admin/models` and `/api/admin/prompts`: adding, editing and disabling.

use std::collections::BTreeMap;

use axum::Json;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use serde::{Deserialize, Serialize};
use serde_json::json;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::RequireAdmin;
use crate::app::App;
use crate::arena::catalog::{
    self, EditPromptError, ListedModel, ListedPrompt, ModelOptions, ModelPatch, Prices, PromptPatch,
};
use crate::arena::{ModelKey, PromptId};
use crate::arena::{audit, jobs};
use crate::web::openapi::{codes, shapes};
use crate::web::views::{AdminModelView, AdminPromptView};
use crate::web::{Error, ErrorCode};

pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(models))
        .routes(routes!(put_model, patch_model))
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
    enabled: Option<bool>,
}

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(as = ModelChange)]
struct PatchModelRequest {
    enabled: Option<bool>,
    display_name: Option<String>,
    about: Option<String>,
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
    let models = listed.iter().map(|listed| AdminModelView::of(listed, app.worker.providers())).collect();
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
/// Seeding does not overwrite it.
#[utoipa::path(
    put, path = "/api/admin/models/{key}", tag = "Admin", operation_id = "putModel",
    params(("key" = String, Path, description = "The model's key.", example = "openai_gpt_5_2_pro")),
    request_body = PutModelRequest,
    responses(
        (status = OK, description = "It was replaced.", body = AdminModelView),
        (status = CREATED, description = "It was added.", body = AdminModelView),
    ),
)]
async fn put_model(
    State(app): State<App>,
    RequireAdmin(admin): RequireAdmin,
    Path(key): Path<String>,
    Json(new): Json<PutModelRequest>,
) -> Result<(StatusCode, Json<AdminModelView>), Error> {
    let key: ModelKey = key.parse().map_err(Error::bad_request)?;
    let PutModelRequest { provider, model_id, display_name, about, via, prices, options, enabled } = new;
    let model = catalog::Model { key, provider, model_id, display_name, about, via, prices, options };
    Error::bad_request_if(model.problem())?;
    let mut transaction = app.pool.begin().await?;
    let is_new = catalog::put_model(&mut transaction, &model, enabled).await?;
    let detail = json!({
        "provider": model.provider, "modelId": model.model_id, "displayName": model.display_name,
        "about": model.about, "via": model.via, "prices": model.prices, "options": model.options,
        "enabled": enabled,
    });
    if enabled == Some(false) {
        jobs::cancel_queued(&mut transaction, Some(&model.key), None).await?;
    }
    let action = if is_new { "add model" } else { "change model" };
    audit::record(&mut transaction, admin, action, model.key.as_str(), detail).await?;
    transaction.commit().await?;
    Ok((put_status(is_new), Json(model_now(&app, &model.key).await?)))
}

/// Edit a model
///
/// Missing fields stay as they are. Seeding does not overwrite the changes.
#[utoipa::path(
    patch, path = "/api/admin/models/{key}", tag = "Admin", operation_id = "patchModel",
    params(("key" = String, Path, description = "The model's key.", example = "openai_gpt_5_2_pro")),
    request_body = PatchModelRequest,
    responses((status = OK, description = "The edited model.", body = AdminModelView)),
    extensions(("x-errors" = json!(codes([ErrorCode::NoModel])))),
)]
async fn patch_model(
    State(app): State<App>,
    RequireAdmin(admin): RequireAdmin,
    Path(key): Path<String>,
    Json(change): Json<PatchModelRequest>,
) -> Result<Json<AdminModelView>, Error> {
    let key: ModelKey = key.parse().map_err(|_| ErrorCode::NoModel)?;
    let PatchModelRequest { enabled, display_name, about } = change;
    let mut changed = model(&app, &key).await?.model;
    changed.display_name.clone_from(display_name.as_ref().unwrap_or(&changed.display_name.clone()));
    changed.about.clone_from(about.as_ref().unwrap_or(&changed.about.clone()));
    Error::bad_request_if(changed.problem())?;
    let detail = json!({ "enabled": enabled, "displayName": display_name, "about": about });
    let mut transaction = app.pool.begin().await?;
    catalog::patch_model(&mut transaction, &key, &ModelPatch { enabled, display_name, about }).await?;
    if enabled == Some(false) {
        jobs::cancel_queued(&mut transaction, Some(&key), None).await?;
    }
    audit::record(&mut transaction, admin, "change model", key.as_str(), detail).await?;
    transaction.commit().await?;
    Ok(Json(model_now(&app, &key).await?))
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

pub(super) async fn model(app: &App, key: &ModelKey) -> Result<ListedModel, Error> {
    let listed = catalog::models(&app.pool).await?;
    Ok(listed.into_iter().find(|listed| listed.model.key == *key).ok_or(ErrorCode::NoModel)?)
}

async fn prompt(app: &App, id: &PromptId) -> Result<ListedPrompt, Error> {
    let listed = catalog::prompts(&app.pool).await?;
    Ok(listed.into_iter().find(|listed| listed.prompt.id == *id).ok_or(ErrorCode::NoPrompt)?)
}

async fn model_now(app: &App, key: &ModelKey) -> Result<AdminModelView, Error> {
    Ok(AdminModelView::of(&model(app, key).await?, app.worker.providers()))
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

fn put_status(is_new: bool) -> StatusCode {
    if is_new { StatusCode::CREATED } else { StatusCode::OK }
}
