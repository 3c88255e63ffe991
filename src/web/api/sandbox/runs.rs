//! `/api/sandbox/runs`: runs that somebody keeps.

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
use crate::web::Error;
use crate::web::filters::capitalised;
use crate::web::openapi::shapes;
use crate::web::voter::Visitor;
use voxel::Warning;

pub(in crate::web) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(keep)).routes(routes!(run, forget))
}

/// What came of each side, by `draftId`; at least one.
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
    /// The page to share.
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
    /// As its maker named it.
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
/// Both builds for thirty days, under a link that nobody can guess. Only this session can delete it before. Kept runs
/// never enter the arena.
#[utoipa::path(
    post, path = "/api/sandbox/runs", tag = "Sandbox", operation_id = "keepRun",
    request_body = KeepRunRequest,
    responses(
        (status = OK, description = "It is kept.", body = KeptRunResponse),
        (status = BAD_REQUEST, description = "not_one_run"),
        (status = NOT_FOUND, description = "gone"),
        (status = FORBIDDEN, description = "not_yours"),
        (status = CONFLICT, description = "too_many_kept"),
        (status = TOO_MANY_REQUESTS, description = "rate_limited"),
    ),
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

/// A run that somebody keeps
///
/// What was asked, what came of each side, and until when it is there.
#[utoipa::path(
    get, path = "/api/sandbox/runs/{id}", tag = "Sandbox", operation_id = "keptRun",
    params(("id" = Uuid, Path, description = "The run’s id.")),
    responses((status = OK, description = "The run.", body = KeptRunResponse), (status = NOT_FOUND, description = "no_run")),
)]
async fn run(State(app): State<App>, Path(id): Path<String>) -> Result<Json<KeptRunResponse>, Error> {
    Ok(Json(find_run(&app, parse_run_id(&id)?).await?.into()))
}

/// Delete a run that you keep
///
/// With its builds, at once.
#[utoipa::path(
    delete, path = "/api/sandbox/runs/{id}", tag = "Sandbox", operation_id = "forgetRun",
    params(("id" = Uuid, Path, description = "The run’s id.")),
    responses(
        (status = NO_CONTENT, description = "It is gone."),
        (status = FORBIDDEN, description = "not_yours"),
        (status = NOT_FOUND, description = "no_run"),
    ),
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
    match visitor.voter().await? {
        Some(voter) if voter == run.owner => {
            kept_runs::delete(&app.pool, voter, id).await?;
            Ok(())
        }
        _ => Err(Error::new(
            StatusCode::FORBIDDEN,
            "not_yours",
            "Only the browser that keeps a run can delete it.",
        )),
    }
}

pub(in crate::web) async fn find_run(app: &App, id: Uuid) -> Result<KeptRun, Error> {
    kept_runs::find(&app.pool, id).await?.ok_or_else(no_run)
}

pub(in crate::web) fn parse_run_id(text: &str) -> Result<Uuid, Error> {
    Uuid::try_parse(text).map_err(|_| no_run())
}

fn no_run() -> Error {
    Error::from_code("no_run")
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
        let (status, code) = match reason {
            KeepRunError::Gone => (StatusCode::NOT_FOUND, "gone"),
            KeepRunError::DifferentRuns => (StatusCode::BAD_REQUEST, "not_one_run"),
            KeepRunError::KeptByAnother => (StatusCode::FORBIDDEN, "not_yours"),
            KeepRunError::TooMany => (StatusCode::CONFLICT, "too_many_kept"),
            KeepRunError::Full => (StatusCode::SERVICE_UNAVAILABLE, "busy"),
            KeepRunError::Database(error) => return error.into(),
        };
        Self::new(status, code, capitalised(&reason.to_string()) + ".")
    }
}
