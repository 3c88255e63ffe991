//! `/format`: the task format, for people.

use askama::Template;
use askama_web::WebTemplate;
use axum::Router;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::routing::get;

use super::blocks::palettes;
use crate::app::App;
use crate::web::page::host;
use crate::web::{Page, filters};
use voxel::{Block, GridSize, Palette, Rules};

pub(in crate::web) fn routes() -> Router<App> {
    Router::new().route("/format", get(page))
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
    FormatPage {
        page: Page::at("/format"),
        rules: GridSize::ALL.map(|size| (size, Rules::of(size))),
        palettes: palettes(),
        check_max_mib: app.config.check_max_bytes >> 20,
        host: host(&headers).to_owned(),
    }
}
