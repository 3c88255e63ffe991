//! `/blocks`: every block of the palettes.

use askama::Template;
use askama_web::WebTemplate;
use axum::Router;
use axum::routing::get;

use crate::app::App;
use crate::web::Page;
use voxel::{Block, Palette};

pub(in crate::web) fn routes() -> Router<App> {
    Router::new().route("/blocks", get(page))
}

#[derive(Template, WebTemplate)]
#[template(path = "blocks.html")]
struct BlocksPage {
    page: Page,
    palettes: [(Palette, &'static [Block]); 2],
}

async fn page() -> BlocksPage {
    BlocksPage { page: Page::at("/blocks"), palettes: palettes() }
}

/// The simple palette, and what the advanced one adds to it.
pub(in crate::web) fn palettes() -> [(Palette, &'static [Block]); 2] {
    let simple = Palette::Simple.blocks();
    let added = &Palette::Advanced.blocks()[simple.len()..];
    [(Palette::Simple, simple), (Palette::Advanced, added)]
}
