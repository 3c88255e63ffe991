//! `/format` and `/api/schema`: the task format, for people and for programs.

use askama::Template;
use askama_web::WebTemplate;
use axum::Json;
use axum::extract::{Query, State};
use axum::http::HeaderMap;
use axum::http::header::HOST;
use axum::routing::get;
use serde::Deserialize;
use serde_json::Value;
use utoipa::IntoParams;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::app::App;
use crate::web::{Page, filters};
use voxel::{self, Block, GridSize, Palette, Rules};

pub(in crate::web) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().route("/format", get(page)).routes(routes!(schema))
}

#[derive(Template, WebTemplate)]
#[template(path = "format.html")]
struct FormatPage {
    page: Page,
    rules: [(GridSize, Rules); 4],
    palettes: [(Palette, &'static [Block]); 2],
    check_max_mib: usize,
    host: String,
}

async fn page(State(app): State<App>, headers: HeaderMap) -> FormatPage {
    let simple = Palette::Simple.blocks();
    let advanced = &Palette::Advanced.blocks()[simple.len()..];
    FormatPage {
        page: Page::at("/format"),
        rules: GridSize::ALL.map(|size| (size, Rules::of(size))),
        palettes: [(Palette::Simple, simple), (Palette::Advanced, advanced)],
        check_max_mib: app.config.check_max_bytes >> 20,
        host: host(&headers),
    }
}

#[derive(Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct SchemaQuery {
    /// The grid to build in; the arena’s unless said.
    #[param(inline, example = 32)]
    grid_size: Option<GridSize>,
    /// The blocks there are; the arena’s unless said.
    #[param(inline, example = "simple")]
    palette: Option<Palette>,
}

/// The task format, as a JSON Schema
///
/// What a spec may hold, for structured outputs. A document that fits it is read without a warning.
#[utoipa::path(
    get, path = "/api/schema", tag = "Task format", operation_id = "schema",
    params(SchemaQuery),
    responses((status = OK, description = "A JSON Schema, draft 2020-12.", body = Object)),
)]
async fn schema(State(app): State<App>, Query(parameters): Query<SchemaQuery>) -> Json<Value> {
    let arena = &app.config.arena;
    Json(voxel::schema(
        parameters.grid_size.unwrap_or(arena.grid),
        parameters.palette.unwrap_or(arena.palette),
    ))
}

/// Where this visitor found us, so that examples work as they are pasted. Only what a host's name is made of:
/// they are meant for a shell.
pub(in crate::web) fn host(headers: &HeaderMap) -> String {
    let harmless = |byte: u8| byte.is_ascii_alphanumeric() || b"-.:[]".contains(&byte);
    let named = headers.get(HOST).and_then(|value| value.to_str().ok());
    named.filter(|name| !name.is_empty() && name.bytes().all(harmless)).unwrap_or("localhost:3000").to_owned()
}
