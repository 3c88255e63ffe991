//! `/healthz`: the process answers. `/readyz`: and so does what it stands on.

use axum::Json;
use axum::extract::State;
use axum::http::header::CACHE_CONTROL;
use axum::response::IntoResponse;
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::Error;
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

/// Is the process alive?
///
/// It answers without asking the database.
#[utoipa::path(
    get, path = "/healthz", tag = "Service", operation_id = "healthz",
    responses((status = OK, description = "It is.", body = Health)),
)]
async fn healthz() -> impl IntoResponse {
    health_response("ok")
}

/// Is it ready for visitors?
///
/// That takes the database, too.
#[utoipa::path(
    get, path = "/readyz", tag = "Service", operation_id = "readyz",
    responses(
        (status = OK, description = "It is.", body = Health),
        (status = SERVICE_UNAVAILABLE, description = "not_ready"),
    ),
)]
async fn readyz(State(app): State<App>) -> Result<impl IntoResponse, Error> {
    match db::check_ready(&app.pool).await {
        Ok(()) => Ok(health_response("ready")),
        Err(not_ready) => Err(Error::unavailable("not_ready", not_ready.to_string())),
    }
}

fn health_response(status: &'static str) -> impl IntoResponse {
    ([(CACHE_CONTROL, "no-store")], Json(Health { status }))
}
