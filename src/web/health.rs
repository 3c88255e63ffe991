//! `/healthz`: the process answers. `/readyz`: the database answers, too.

use axum::Json;
use axum::extract::State;
use axum::response::IntoResponse;
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::derived::NO_STORE;
use super::openapi::codes;
use super::{Error, ErrorCode};
use crate::app::App;
use crate::db;

pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(healthz)).routes(routes!(readyz))
}

#[derive(Serialize, ToSchema)]
struct Health {
    /// `ok` or `ready`.
    #[schema(example = "ok")]
    status: &'static str,
}

/// Check whether the process is alive
///
/// Does not use the database.
#[utoipa::path(
    get, path = "/healthz", tag = "Service", operation_id = "healthz",
    responses((status = OK, description = "The process is alive.", body = Health)),
)]
async fn healthz() -> impl IntoResponse {
    health_response("ok")
}

/// Check whether the server is ready
///
/// The server is ready when its database answers and has the right version.
#[utoipa::path(
    get, path = "/readyz", tag = "Service", operation_id = "readyz",
    responses((status = OK, description = "The server is ready.", body = Health)),
    extensions(("x-errors" = json!(codes([ErrorCode::NotReady])))),
)]
async fn readyz(State(app): State<App>) -> Result<impl IntoResponse, Error> {
    match db::check_ready(&app.pool).await {
        Ok(()) => Ok(health_response("ready")),
        Err(not_ready) => Err(Error::new(ErrorCode::NotReady, not_ready.to_string())),
    }
}

fn health_response(status: &'static str) -> impl IntoResponse {
    ([NO_STORE], Json(Health { status }))
}
