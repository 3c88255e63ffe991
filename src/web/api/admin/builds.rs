//! `DELETE /api/admin/builds/{id}`: retires a build.

use axum::extract::{Path, State};
use axum::http::StatusCode;
use serde_json::json;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;
use uuid::Uuid;

use super::RequireAdmin;
use crate::app::App;
use crate::arena::{audit, builds};
use crate::web::openapi::codes;
use crate::web::{Error, ErrorCode};

pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(retire))
}

/// Retire a build
///
/// Removes a build from the arena. Its page and its votes remain.
#[utoipa::path(
    delete, path = "/api/admin/builds/{id}", tag = "Admin", operation_id = "retireBuild",
    params(("id" = Uuid, Path, description = "The build.")),
    responses((status = NO_CONTENT, description = "The build is retired.")),
    extensions(("x-errors" = json!(codes([ErrorCode::NoBuild, ErrorCode::Retired])))),
)]
async fn retire(
    State(app): State<App>,
    RequireAdmin(admin): RequireAdmin,
    Path(id): Path<String>,
) -> Result<StatusCode, Error> {
    let id = Uuid::try_parse(&id).map_err(|_| ErrorCode::NoBuild)?;
    let mut transaction = app.pool.begin().await?;
    let Some((prompt, model)) = builds::retire(&mut transaction, id).await? else {
        drop(transaction);
        let known = builds::find(&app.pool, id).await?.is_some();
        return Err(if known { ErrorCode::Retired } else { ErrorCode::NoBuild }.into());
    };
    audit::record(&mut transaction, admin, "retire", &format!("{prompt} by {model}"), json!({ "build": id }))
        .await?;
    transaction.commit().await?;
    Ok(StatusCode::NO_CONTENT)
}
