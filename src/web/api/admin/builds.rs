//! `DELETE /api/admin/builds/{id}`: retires a build; votes keep pointing at it.

use axum::extract::{Path, State};
use axum::http::StatusCode;
use serde_json::json;
use sqlx::Connection;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;
use uuid::Uuid;

use super::RequireAdmin;
use crate::app::App;
use crate::arena::{audit, builds};
use crate::web::Error;

pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(retire))
}

/// Retire a build
///
/// Takes a build out of the arena. It stays where it is, and so do the votes on it.
#[utoipa::path(
    delete, path = "/api/admin/builds/{id}", tag = "Admin", operation_id = "retireBuild",
    security(("adminToken" = [])),
    params(("id" = Uuid, Path, description = "The build.")),
    responses(
        (status = NO_CONTENT, description = "It is retired."),
        (status = NOT_FOUND, description = "no_build"),
        (status = CONFLICT, description = "retired"),
    ),
)]
async fn retire(
    State(app): State<App>,
    RequireAdmin(admin): RequireAdmin,
    Path(id): Path<String>,
) -> Result<StatusCode, Error> {
    let id = Uuid::try_parse(&id).map_err(|_| no_build())?;
    let mut connection = app.pool.acquire().await?;
    let mut transaction = connection.begin().await?;
    let Some((prompt, model)) = builds::retire(&mut transaction, id).await? else {
        drop(transaction);
        let known = builds::find(&app.pool, id).await?.is_some();
        return Err(if known { already_retired() } else { no_build() });
    };
    audit::record(&mut transaction, admin, "retire", &format!("{prompt} by {model}"), json!({ "build": id }))
        .await?;
    transaction.commit().await?;
    Ok(StatusCode::NO_CONTENT)
}

fn no_build() -> Error {
    Error::from_code("no_build")
}

fn already_retired() -> Error {
    Error::from_code("retired")
}
