//! `GET /api/admin/audit`: the changes that admins made.

use axum::Json;
use axum::extract::{Query, State};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use time::OffsetDateTime;
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::RequireAdmin;
use crate::app::App;
use crate::arena::audit;
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
    entries: Vec<AuditEntryView>,
}

/// A change made by an admin.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = AuditEntry)]
pub(in crate::web) struct AuditEntryView {
    pub id: i64,
    #[serde(with = "time::serde::rfc3339")]
    pub at: OffsetDateTime,
    /// api, console or cli.
    pub via: String,
    pub address: Option<String>,
    pub action: String,
    pub subject: String,
    pub detail: Value,
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
    let entries = audit::entries(&app.pool, before, PAGE_SIZE).await?;
    Ok(Json(AuditResponse { entries: entries.into_iter().map(AuditEntryView::from).collect() }))
}

impl From<audit::AuditLogEntry> for AuditEntryView {
    fn from(entry: audit::AuditLogEntry) -> Self {
        let audit::AuditLogEntry { id, at, via, address, action, subject, detail } = entry;
        Self { id, at, via, address, action, subject, detail: detail.0 }
    }
}
