//! `/format` and `/api/schema`: the task format, for people and for programs.

use askama::Template;
use askama_web::WebTemplate;
use axum::extract::{Query, State};
use axum::http::HeaderMap;
use axum::http::header::HOST;
use axum::routing::get;
use axum::{Json, Router};
use serde::Deserialize;
use serde_json::Value;

use super::{Page, filters};
use crate::app::App;
use crate::voxel::{self, Block, GridSize, Palette, Rules};

pub(super) fn routes() -> Router<App> {
    Router::new().route("/format", get(page)).route("/api/schema", get(schema))
}

#[derive(Template, WebTemplate)]
#[template(path = "format.html")]
struct Format {
    page: Page,
    rules: [(GridSize, Rules); 4],
    palettes: [(Palette, &'static [Block]); 2],
    check_max_mib: usize,
    host: String,
}

async fn page(State(app): State<App>, headers: HeaderMap) -> Format {
    let simple = Palette::Simple.blocks();
    let beyond = &Palette::Advanced.blocks()[simple.len()..];
    Format {
        page: Page::at("/format"),
        rules: GridSize::ALL.map(|size| (size, Rules::of(size))),
        palettes: [(Palette::Simple, simple), (Palette::Advanced, beyond)],
        check_max_mib: app.config.check_max_bytes >> 20,
        host: host(&headers),
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Parameters {
    grid_size: Option<GridSize>,
    palette: Option<Palette>,
}

async fn schema(State(app): State<App>, Query(parameters): Query<Parameters>) -> Json<Value> {
    let arena = &app.config.arena;
    Json(voxel::schema(
        parameters.grid_size.unwrap_or(arena.grid),
        parameters.palette.unwrap_or(arena.palette),
    ))
}

/// Where this visitor found us, so that examples work as they are pasted. Only what a host's name is made of:
/// they are meant for a shell.
pub(super) fn host(headers: &HeaderMap) -> String {
    let harmless = |byte: u8| byte.is_ascii_alphanumeric() || b"-.:[]".contains(&byte);
    let named = headers.get(HOST).and_then(|value| value.to_str().ok());
    named.filter(|name| !name.is_empty() && name.bytes().all(harmless)).unwrap_or("localhost:3000").to_owned()
}
