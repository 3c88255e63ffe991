//! `GET /api/admin/audit`: the changes that admins made.

use axum::Json;
use axum::extract::{Query, State};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::RequireAdmin;
use crate::app::App;
use crate::arena::audit::{self, AuditLogEntry};
use crate::web::Error;

const PAGE_SIZE: i64 = 100;

pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(entries))
}

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
struct AuditQuery {
    /// List only entries older than the one with this ID.
    before: Option<i64>,
}

#[derive(Serialize, ToSchema)]
#[schema(as = Audit)]
struct AuditResponse {
    entries: Vec<AuditLogEntry>,
}

/// List changes
///
/// The newest hundred entries of the audit log, newest first. Every change made by an admin is logged.
#[utoipa::path(
    get, path = "/api/admin/audit", tag = "Admin", operation_id = "audit",
    params(AuditQuery),
    responses((status = OK, description = "The entries.", body = AuditResponse)),
)]
async fn entries(
    State(app): State<App>,
    _admin: RequireAdmin,
    Query(AuditQuery { before }): Query<AuditQuery>,
) -> Result<Json<AuditResponse>, Error> {
    Ok(Json(AuditResponse { entries: audit::entries(&app.pool, before, PAGE_SIZE).await? }))
}
