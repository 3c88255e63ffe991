//! The audit log of admins: every change adds a line, in the transaction that makes the change.

use std::net::IpAddr;

use serde::Serialize;
use serde_json::Value;
use sqlx::types::Json;
use sqlx::{PgConnection, PgPool};
use time::OffsetDateTime;
use utoipa::ToSchema;

/// How an admin made a change, and from which address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Admin {
    pub via: AdminChannel,
    pub address: Option<IpAddr>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, sqlx::Type)]
#[sqlx(type_name = "text", rename_all = "snake_case")]
pub enum AdminChannel {
    Api,
    Console,
    #[sqlx(rename = "cli")]
    CommandLine,
}

/// A change made by an admin.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(as = AuditEntry)]
pub struct AuditLogEntry {
    pub id: i64,
    #[serde(with = "time::serde::rfc3339")]
    pub at: OffsetDateTime,
    /// api, console or cli.
    pub via: String,
    pub address: Option<String>,
    pub action: String,
    pub subject: String,
    #[schema(value_type = Value)]
    pub detail: Json<Value>,
}

impl Admin {
    /// Whoever has a shell on the machine counts as an admin.
    pub const COMMAND_LINE: Self = Self { via: AdminChannel::CommandLine, address: None };
}

/// `action` is a verb, and `subject` names what was changed.
pub async fn record(
    connection: &mut PgConnection,
    admin: Admin,
    action: &str,
    subject: &str,
    detail: Value,
) -> sqlx::Result<()> {
    sqlx::query!(
        "INSERT INTO audit (via, address, action, subject, detail) VALUES ($1, $2, $3, $4, $5)",
        admin.via as _,
        admin.address.map(|address| address.to_string()),
        action,
        subject,
        Json(detail) as _,
    )
    .execute(connection)
    .await?;
    Ok(())
}

/// The latest first; with `before`, only those before the entry with that id.
pub async fn entries(pool: &PgPool, before: Option<i64>, limit: i64) -> sqlx::Result<Vec<AuditLogEntry>> {
    sqlx::query_as!(
        AuditLogEntry,
        r#"
        SELECT id, at, via, address, action, subject, detail AS "detail: Json<Value>"
        FROM audit
        WHERE $1::bigint IS NULL OR id < $1
        ORDER BY id DESC
        LIMIT $2
        "#,
        before,
        limit,
    )
    .fetch_all(pool)
    .await
}
