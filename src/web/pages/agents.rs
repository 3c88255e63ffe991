//! `/agents/connect`: how programs use Buildoff over the A2A protocol.

use askama::Template;
use askama_web::WebTemplate;
use axum::Router;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::routing::get;

use crate::app::App;
use crate::web::Page;
use crate::web::page::host;

pub(in crate::web) fn routes() -> Router<App> {
    Router::new().route("/agents/connect", get(connect))
}

#[derive(Template, WebTemplate)]
#[template(path = "agents_connect.html")]
struct ConnectPage {
    page: Page,
    /// As in `https://example.org`.
    site: String,
    check_max_mib: usize,
}

async fn connect(State(app): State<App>, headers: HeaderMap) -> ConnectPage {
    let site = app.config.public_url.clone().unwrap_or_else(|| format!("http://{}", host(&headers)));
    ConnectPage { page: Page::at("/agents"), site, check_max_mib: app.config.check_max_bytes >> 20 }
}
