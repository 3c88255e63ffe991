//! `GET /api/admin/audit`: what admins did, the latest first.

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
    /// Only what came before the entry with this id.
    before: Option<i64>,
}

#[derive(Serialize, ToSchema)]
#[schema(as = Audit)]
struct AuditResponse {
    entries: Vec<AuditEntryView>,
}

/// Something that an admin did.
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

/// What admins did
///
/// The latest hundred, the latest first. Every change leaves an entry.
#[utoipa::path(
    get, path = "/api/admin/audit", tag = "Admin", operation_id = "audit",
    security(("adminToken" = [])),
    params(AuditQuery),
    responses((status = OK, description = "What was done.", body = AuditResponse)),
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
