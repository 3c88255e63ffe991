//! `/api/sandbox/drafts/{id}`: what the sandbox made, for an hour.

use axum::extract::{Extension, Path, State};
use axum::http::HeaderMap;
use axum::response::Response;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;
use uuid::Uuid;

use super::Error;
use super::builds::stored_grid;
use super::encoding::Encoding;
use crate::app::App;
use crate::arena::drafts;

/// It is gone in an hour, here too.
const KEEP: &str = "private, max-age=3600, immutable";

pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(grid))
}

/// The grid of a sandbox build
///
/// As `/api/builds/{id}/grid` has it; for an hour.
#[utoipa::path(
    get, path = "/api/sandbox/drafts/{id}/grid", tag = "Sandbox", operation_id = "draftGrid",
    params(("id" = Uuid, Path, description = "As the run’s `result` names it.")),
    responses(
        (status = OK, description = "The encoded grid.", content_type = "application/octet-stream"),
        (status = NOT_FOUND, description = "no_draft"),
        (status = INTERNAL_SERVER_ERROR, description = "build_damaged"),
    ),
)]
async fn grid(
    State(app): State<App>,
    Path(id): Path<String>,
    Extension(encoding): Extension<Encoding>,
    headers: HeaderMap,
) -> Result<Response, Error> {
    let id = Uuid::try_parse(&id).map_err(|_| no_draft())?;
    let grid = drafts::grid(&app.pool, id).await?.ok_or_else(no_draft)?;
    stored_grid(&app, grid, encoding, KEEP, &headers).await
}

fn no_draft() -> Error {
    Error::not_found("There is no such build in the sandbox; one is there for an hour.").with_code("no_draft")
}
