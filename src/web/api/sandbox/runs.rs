//! `/api/sandbox/runs`: runs that visitors keep.

use axum::Json;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use serde::{Deserialize, Serialize};
use time::OffsetDateTime;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;
use uuid::Uuid;

use crate::app::App;
use crate::arena::drafts::Draft;
use crate::arena::kept_runs::{self, KeepRunError, KeptRun};
use crate::limits::LimitedAction;
use crate::web::openapi::{codes, shapes};
use crate::web::voter::Visitor;
use crate::web::{Error, ErrorCode};
use voxel::Warning;

pub(in crate::web) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(keep)).routes(routes!(run, forget))
}

/// The `draftId` of each side’s result; at least one.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = RunToKeep)]
struct KeepRunRequest {
    #[serde(default)]
    a: Option<Uuid>,
    #[serde(default)]
    b: Option<Uuid>,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = KeptRun)]
struct KeptRunResponse {
    id: Uuid,
    /// The page of the run, for sharing.
    #[schema(example = "/sandbox/runs/018f…")]
    url: String,
    #[schema(example = "a steam locomotive")]
    prompt: String,
    #[schema(example = 32)]
    grid_size: i16,
    #[schema(example = "simple")]
    palette: String,
    #[schema(required)]
    a: Option<KeptSideView>,
    #[schema(required)]
    b: Option<KeptSideView>,
    #[serde(with = "time::serde::rfc3339")]
    expires_at: OffsetDateTime,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = KeptSide)]
struct KeptSideView {
    draft_id: Uuid,
    /// The model, as the request named it.
    model_key: String,
    block_count: i32,
    #[schema(value_type = Vec<shapes::WarningSchema>)]
    warnings: Vec<Warning>,
    #[schema(required)]
    attempts: Option<i32>,
    #[schema(required)]
    generation_time_ms: Option<i64>,
    grid_url: String,
}

/// Keep a run
///
/// Keeps both builds for 30 days, at a link that cannot be guessed. Only this session can delete them earlier. Kept
/// runs never enter the arena.
#[utoipa::path(
    post, path = "/api/sandbox/runs", tag = "Sandbox", operation_id = "keepRun",
    request_body = KeepRunRequest,
    responses((status = OK, description = "The kept run.", body = KeptRunResponse)),
    extensions(("x-errors" = json!(codes([
        ErrorCode::NotOneRun, ErrorCode::Gone, ErrorCode::NotYours, ErrorCode::TooManyKept,
        ErrorCode::RateLimited,
    ])))),
)]
async fn keep(
    State(app): State<App>,
    visitor: Visitor,
    Json(request): Json<KeepRunRequest>,
) -> Result<Json<KeptRunResponse>, Error> {
    visitor.check_limit(&app, LimitedAction::Generate, None)?;
    let owner = visitor.voter_or_new(&app).await?;
    let id = kept_runs::keep(&app.pool, owner, [request.a, request.b]).await?;
    Ok(Json(find_run(&app, id).await?.into()))
}

/// Get a kept run
///
/// The prompt, the result of each side, and when the run expires.
#[utoipa::path(
    get, path = "/api/sandbox/runs/{id}", tag = "Sandbox", operation_id = "keptRun",
    params(("id" = Uuid, Path, description = "The run’s id.")),
    responses((status = OK, description = "The run.", body = KeptRunResponse)),
    extensions(("x-errors" = json!(codes([ErrorCode::NoRun])))),
)]
async fn run(State(app): State<App>, Path(id): Path<String>) -> Result<Json<KeptRunResponse>, Error> {
    Ok(Json(find_run(&app, parse_run_id(&id)?).await?.into()))
}

/// Delete a kept run
///
/// Deletes the run and its builds immediately.
#[utoipa::path(
    delete, path = "/api/sandbox/runs/{id}", tag = "Sandbox", operation_id = "forgetRun",
    params(("id" = Uuid, Path, description = "The run’s id.")),
    responses((status = NO_CONTENT, description = "The run is deleted.")),
    extensions(("x-errors" = json!(codes([ErrorCode::NotYours, ErrorCode::NoRun])))),
)]
async fn forget(
    State(app): State<App>,
    visitor: Visitor,
    Path(id): Path<String>,
) -> Result<StatusCode, Error> {
    delete(&app, &visitor, parse_run_id(&id)?).await?;
    Ok(StatusCode::NO_CONTENT)
}

pub(in crate::web) async fn delete(app: &App, visitor: &Visitor, id: Uuid) -> Result<(), Error> {
    let run = find_run(app, id).await?;
    if visitor.voter().await? != Some(run.owner) {
        return Err(Error::new(ErrorCode::NotYours, "Only the browser that keeps this run can delete it."));
    }
    kept_runs::delete(&app.pool, run.owner, id).await?;
    Ok(())
}

pub(in crate::web) async fn find_run(app: &App, id: Uuid) -> Result<KeptRun, Error> {
    kept_runs::find(&app.pool, id).await?.ok_or(ErrorCode::NoRun.into())
}

pub(in crate::web) fn parse_run_id(text: &str) -> Result<Uuid, Error> {
    Uuid::try_parse(text).map_err(|_| ErrorCode::NoRun.into())
}

impl From<KeptRun> for KeptRunResponse {
    fn from(run: KeptRun) -> Self {
        let KeptRun { id, prompt, settings, sides, expires_at, .. } = run;
        let (grid_size, palette) = (settings.grid.get() as i16, settings.palette.name().to_owned());
        let [a, b] = sides.map(|side| side.map(KeptSideView::from));
        Self { id, url: format!("/sandbox/runs/{id}"), prompt, grid_size, palette, a, b, expires_at }
    }
}

impl From<Draft> for KeptSideView {
    fn from(draft: Draft) -> Self {
        Self {
            draft_id: draft.id,
            model_key: draft.model,
            block_count: draft.block_count,
            warnings: draft.warnings.0,
            attempts: draft.attempts,
            generation_time_ms: draft.generation_time_ms,
            grid_url: format!("/api/sandbox/drafts/{}/grid", draft.id),
        }
    }
}

impl From<KeepRunError> for Error {
    fn from(reason: KeepRunError) -> Self {
        match reason {
            KeepRunError::Gone => ErrorCode::Gone.into(),
            KeepRunError::DifferentRuns => ErrorCode::NotOneRun.into(),
            KeepRunError::KeptByAnother => ErrorCode::NotYours.into(),
            KeepRunError::TooMany => ErrorCode::TooManyKept.into(),
            KeepRunError::Full => {
                Self::new(ErrorCode::Busy, "The storage for kept runs is full. Try again later.")
            }
            KeepRunError::Database(error) => error.into(),
        }
    }
}
