//! `/api/admin/models` and `/api/admin/prompts`: adding, renaming, enabling.

use std::collections::BTreeMap;

use axum::Json;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use serde::{Deserialize, Serialize};
use serde_json::json;
use sqlx::Connection;
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
use crate::generate::Providers;
use crate::web::Error;
use crate::web::openapi::shapes;

pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(models))
        .routes(routes!(put_model, patch_model))
        .routes(routes!(prompts))
        .routes(routes!(put_prompt, patch_prompt))
}

/// A model, as admins see it.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = AdminModel)]
pub(in crate::web) struct AdminModelView {
    pub key: String,
    pub provider: String,
    pub model_id: String,
    pub display_name: String,
    pub about: String,
    pub enabled: bool,
    /// Whether somebody who answers for it can be asked.
    pub can_generate: bool,
    /// Who would be asked.
    pub asked_at: Option<String>,
    pub via: BTreeMap<String, String>,
    #[schema(value_type = Option<shapes::PricesSchema>)]
    pub prices: Option<Prices>,
    #[schema(value_type = shapes::OptionsSchema)]
    pub options: ModelOptions,
    pub builds: i64,
}

/// A prompt, as admins see it.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = AdminPrompt)]
pub(in crate::web) struct AdminPromptView {
    pub id: String,
    pub text: String,
    pub tags: Vec<String>,
    pub active: bool,
    pub builds: i64,
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

/// A whole model; what is left out is empty. `enabled` stays as it was, and is true for a new one.
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
}

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(as = PromptChange)]
struct PatchPromptRequest {
    active: Option<bool>,
    text: Option<String>,
    tags: Option<Vec<String>>,
}

/// All models
///
/// Enabled or not, and whether they can be asked from here.
#[utoipa::path(
    get, path = "/api/admin/models", tag = "Admin", operation_id = "adminModels",
    security(("adminToken" = [])),
    responses((status = OK, description = "All models, by name.", body = AdminModelsResponse)),
)]
async fn models(State(app): State<App>, _admin: RequireAdmin) -> Result<Json<AdminModelsResponse>, Error> {
    let listed = catalog::models(&app.pool).await?;
    let models = listed.iter().map(|listed| AdminModelView::of(listed, app.worker.providers())).collect();
    Ok(Json(AdminModelsResponse { models }))
}

/// All prompts
///
/// Active or not.
#[utoipa::path(
    get, path = "/api/admin/prompts", tag = "Admin", operation_id = "adminPrompts",
    security(("adminToken" = [])),
    responses((status = OK, description = "All prompts, by slug.", body = AdminPromptsResponse)),
)]
async fn prompts(State(app): State<App>, _admin: RequireAdmin) -> Result<Json<AdminPromptsResponse>, Error> {
    let prompts = catalog::prompts(&app.pool).await?.iter().map(AdminPromptView::of).collect();
    Ok(Json(AdminPromptsResponse { prompts }))
}

/// Add or replace a model
///
/// Seeding leaves alone what was put here.
#[utoipa::path(
    put, path = "/api/admin/models/{key}", tag = "Admin", operation_id = "putModel",
    security(("adminToken" = [])),
    params(("key" = String, Path, description = "The model's key.", example = "openai_gpt_5_2_pro")),
    request_body = PutModelRequest,
    responses(
        (status = OK, description = "It was there, and is this now.", body = AdminModelView),
        (status = CREATED, description = "It is new.", body = AdminModelView),
    ),
)]
async fn put_model(
    State(app): State<App>,
    RequireAdmin(admin): RequireAdmin,
    Path(key): Path<String>,
    Json(new): Json<PutModelRequest>,
) -> Result<(StatusCode, Json<AdminModelView>), Error> {
    let key: ModelKey = key.parse().map_err(bad_request)?;
    let PutModelRequest { provider, model_id, display_name, about, via, prices, options, enabled } = new;
    let model = catalog::Model { key, provider, model_id, display_name, about, via, prices, options };
    if let Some(problem) = model.problem() {
        return Err(bad_request(problem));
    }
    let mut connection = app.pool.acquire().await?;
    let mut transaction = connection.begin().await?;
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

/// Enable, disable or rename a model
///
/// What is left out stays. Seeding does not undo it.
#[utoipa::path(
    patch, path = "/api/admin/models/{key}", tag = "Admin", operation_id = "patchModel",
    security(("adminToken" = [])),
    params(("key" = String, Path, description = "The model's key.", example = "openai_gpt_5_2_pro")),
    request_body = PatchModelRequest,
    responses(
        (status = OK, description = "The model as it is now.", body = AdminModelView),
        (status = NOT_FOUND, description = "no_model"),
    ),
)]
async fn patch_model(
    State(app): State<App>,
    RequireAdmin(admin): RequireAdmin,
    Path(key): Path<String>,
    Json(change): Json<PatchModelRequest>,
) -> Result<Json<AdminModelView>, Error> {
    let key: ModelKey = key.parse().map_err(|_| no_model())?;
    let PatchModelRequest { enabled, display_name, about } = change;
    let mut changed = model(&app, &key).await?.model;
    changed.display_name.clone_from(display_name.as_ref().unwrap_or(&changed.display_name.clone()));
    changed.about.clone_from(about.as_ref().unwrap_or(&changed.about.clone()));
    if let Some(problem) = changed.problem() {
        return Err(bad_request(problem));
    }
    let detail = json!({ "enabled": enabled, "displayName": display_name, "about": about });
    let mut connection = app.pool.acquire().await?;
    let mut transaction = connection.begin().await?;
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
/// Its text stays as it is once there are builds for it.
#[utoipa::path(
    put, path = "/api/admin/prompts/{id}", tag = "Admin", operation_id = "putPrompt",
    security(("adminToken" = [])),
    params(("id" = String, Path, description = "The prompt's slug.", example = "steam-locomotive")),
    request_body = PutPromptRequest,
    responses(
        (status = OK, description = "It was there, and is this now.", body = AdminPromptView),
        (status = CREATED, description = "It is new.", body = AdminPromptView),
        (status = CONFLICT, description = "text_is_fixed"),
    ),
)]
async fn put_prompt(
    State(app): State<App>,
    RequireAdmin(admin): RequireAdmin,
    Path(id): Path<String>,
    Json(PutPromptRequest { text, tags, active }): Json<PutPromptRequest>,
) -> Result<(StatusCode, Json<AdminPromptView>), Error> {
    let prompt = catalog::Prompt { id: id.parse().map_err(bad_request)?, text: text.trim().to_owned(), tags };
    if let Some(problem) = prompt.problem() {
        return Err(bad_request(problem));
    }
    let mut connection = app.pool.acquire().await?;
    let mut transaction = connection.begin().await?;
    let is_new = catalog::put_prompt(&mut transaction, &prompt, active).await?;
    let detail = json!({ "text": prompt.text, "tags": prompt.tags, "active": active });
    if active == Some(false) {
        jobs::cancel_queued(&mut transaction, None, Some(&prompt.id)).await?;
    }
    let action = if is_new { "add prompt" } else { "change prompt" };
    audit::record(&mut transaction, admin, action, prompt.id.as_str(), detail).await?;
    transaction.commit().await?;
    Ok((put_status(is_new), Json(prompt_now(&app, &prompt.id).await?)))
}

/// Change a prompt
///
/// What is left out stays. An inactive prompt is not in the arena.
#[utoipa::path(
    patch, path = "/api/admin/prompts/{id}", tag = "Admin", operation_id = "patchPrompt",
    security(("adminToken" = [])),
    params(("id" = String, Path, description = "The prompt's slug.", example = "steam-locomotive")),
    request_body = PatchPromptRequest,
    responses(
        (status = OK, description = "The prompt as it is now.", body = AdminPromptView),
        (status = NOT_FOUND, description = "no_prompt"),
        (status = CONFLICT, description = "text_is_fixed"),
    ),
)]
async fn patch_prompt(
    State(app): State<App>,
    RequireAdmin(admin): RequireAdmin,
    Path(id): Path<String>,
    Json(PatchPromptRequest { active, text, tags }): Json<PatchPromptRequest>,
) -> Result<Json<AdminPromptView>, Error> {
    let id: PromptId = id.parse().map_err(|_| no_prompt())?;
    let mut changed = prompt(&app, &id).await?.prompt;
    let text = text.map(|text| text.trim().to_owned());
    changed.text.clone_from(text.as_ref().unwrap_or(&changed.text.clone()));
    changed.tags.clone_from(tags.as_ref().unwrap_or(&changed.tags.clone()));
    if let Some(problem) = changed.problem() {
        return Err(bad_request(problem));
    }
    let detail = json!({ "active": active, "text": text, "tags": tags });
    let mut connection = app.pool.acquire().await?;
    let mut transaction = connection.begin().await?;
    catalog::patch_prompt(&mut transaction, &id, &PromptPatch { active, text, tags }).await?;
    if active == Some(false) {
        jobs::cancel_queued(&mut transaction, None, Some(&id)).await?;
    }
    audit::record(&mut transaction, admin, "change prompt", id.as_str(), detail).await?;
    transaction.commit().await?;
    Ok(Json(prompt_now(&app, &id).await?))
}

async fn model(app: &App, key: &ModelKey) -> Result<ListedModel, Error> {
    let listed = catalog::models(&app.pool).await?;
    listed.into_iter().find(|listed| listed.model.key == *key).ok_or_else(no_model)
}

async fn prompt(app: &App, id: &PromptId) -> Result<ListedPrompt, Error> {
    let listed = catalog::prompts(&app.pool).await?;
    listed.into_iter().find(|listed| listed.prompt.id == *id).ok_or_else(no_prompt)
}

async fn model_now(app: &App, key: &ModelKey) -> Result<AdminModelView, Error> {
    Ok(AdminModelView::of(&model(app, key).await?, app.worker.providers()))
}

async fn prompt_now(app: &App, id: &PromptId) -> Result<AdminPromptView, Error> {
    Ok(AdminPromptView::of(&prompt(app, id).await?))
}

impl AdminModelView {
    pub fn of(listed: &ListedModel, providers: &Providers) -> Self {
        let ListedModel { model, enabled, builds } = listed.clone();
        let asked_at = providers.route(&model).map(|(provider, _)| provider.to_owned());
        Self {
            key: model.key.to_string(),
            provider: model.provider,
            model_id: model.model_id,
            display_name: model.display_name,
            about: model.about,
            enabled,
            can_generate: asked_at.is_some(),
            asked_at,
            via: model.via,
            prices: model.prices,
            options: model.options,
            builds,
        }
    }
}

impl AdminPromptView {
    pub fn of(listed: &ListedPrompt) -> Self {
        let ListedPrompt { prompt, active, builds, .. } = listed.clone();
        Self { id: prompt.id.to_string(), text: prompt.text, tags: prompt.tags, active, builds }
    }
}

impl From<EditPromptError> for Error {
    fn from(reason: EditPromptError) -> Self {
        match reason {
            EditPromptError::HasBuilds => Self::new(
                StatusCode::CONFLICT,
                "text_is_fixed",
                "Models were asked for this very text, and builds are judged by it; make another prompt.",
            ),
            EditPromptError::Database(error) => error.into(),
        }
    }
}

fn put_status(is_new: bool) -> StatusCode {
    if is_new { StatusCode::CREATED } else { StatusCode::OK }
}

pub(super) fn no_model() -> Error {
    Error::from_code("no_model")
}

pub(super) fn no_prompt() -> Error {
    Error::from_code("no_prompt")
}

fn bad_request(message: String) -> Error {
    Error::bad_request("bad_request", message)
}
