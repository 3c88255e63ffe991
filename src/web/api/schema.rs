//! `/api/schema`: the task format, for programs.

use axum::Json;
use axum::extract::{Query, State};
use serde::Deserialize;
use serde_json::Value;
use utoipa::IntoParams;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::app::App;
use voxel::{GridSize, Palette};

pub(in crate::web) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(schema))
}

#[derive(Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct SchemaQuery {
    /// The grid to build in. Default: the arena’s.
    #[param(inline, example = 32)]
    grid_size: Option<GridSize>,
    /// The blocks to build with. Default: the arena’s.
    #[param(inline, example = "simple")]
    palette: Option<Palette>,
}

/// Get the task format as a JSON Schema
///
/// For structured outputs. A spec that matches the schema is read without a warning.
#[utoipa::path(
    get, path = "/api/schema", tag = "Task format", operation_id = "schema",
    params(SchemaQuery),
    responses((status = OK, description = "A JSON Schema, draft 2020-12.", body = Object)),
)]
async fn schema(
    State(app): State<App>,
    Query(SchemaQuery { grid_size, palette }): Query<SchemaQuery>,
) -> Json<Value> {
    let settings = app.config.arena.with(grid_size, palette);
    Json(voxel::schema(settings.grid, settings.palette))
}
