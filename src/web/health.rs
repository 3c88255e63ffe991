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
use crate::db::{self, DatabaseOutage, ReadinessError};

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
/// The server is ready when its database answers, has the right version, and the last write to it did not fail, and
/// while the server is not about to stop.
#[utoipa::path(
    get, path = "/readyz", tag = "Service", operation_id = "readyz",
    responses((status = OK, description = "The server is ready.", body = Health)),
    extensions(("x-errors" = json!(codes([ErrorCode::NotReady])))),
)]
async fn readyz(State(app): State<App>) -> Result<impl IntoResponse, Error> {
    if app.worker.is_draining() {
        return Err(Error::new(ErrorCode::NotReady, "The server is about to stop.").with_retry_after(2));
    }
    match check_ready(&app).await {
        Ok(()) => Ok(health_response("ready")),
        Err(not_ready) => {
            app.database_health.log(not_ready);
            Err(Error::new(ErrorCode::NotReady, not_ready.to_string()).with_retry_after(2))
        }
    }
}

async fn check_ready(app: &App) -> Result<(), ReadinessError> {
    db::check_ready(&app.pool).await?;
    match app.database_health.write_failure(&app.pool).await {
        None => Ok(()),
        Some(DatabaseOutage::DiskFull) => Err(ReadinessError::DiskFull),
        Some(DatabaseOutage::ReadOnly) => Err(ReadinessError::ReadOnly),
        Some(DatabaseOutage::Busy | DatabaseOutage::Unavailable) => Err(ReadinessError::Unreachable),
    }
}

fn health_response(status: &'static str) -> impl IntoResponse {
    ([NO_STORE], Json(Health { status }))
}
