//! `/agents/connect`: how to write an agent that builds, and how programs use Buildoff over the A2A protocol.

use askama::Template;
use askama_web::WebTemplate;
use axum::Router;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::http::header::CONTENT_TYPE;
use axum::response::IntoResponse;
use axum::routing::get;

use crate::app::App;
use crate::web::Page;
use crate::web::page::host;

/// A complete agent, which is tested as it stands.
const EXAMPLE: &str = include_str!("../../../examples/agents/builder.py");

/// What agents are sent as data.
const ORDER: &str = r#"{
  "type": "build", "prompt": "a steam locomotive",
  "gridSize": 32, "palette": "simple", "mode": "precise",
  "limits": { "minBlocks": …, "maxBlocks": …, "minFootprint": …, "minHeight": …, "maxBytes": … },
  "schemaUrl": "https://…", "checkUrl": "https://…"
}"#;

pub(in crate::web) fn routes() -> Router<App> {
    Router::new().route("/agents/connect", get(connect)).route("/agents/builder.py", get(example))
}

#[derive(Template, WebTemplate)]
#[template(path = "agents_connect.html")]
struct ConnectPage {
    page: Page,
    /// As in `https://example.org`.
    site: String,
    check_max_mib: usize,
}

async fn example() -> impl IntoResponse {
    ([(CONTENT_TYPE, "text/x-python; charset=utf-8")], EXAMPLE)
}

async fn connect(State(app): State<App>, headers: HeaderMap) -> ConnectPage {
    let site = app.config.public_url.clone().unwrap_or_else(|| format!("http://{}", host(&headers)));
    ConnectPage { page: Page::at("/agents/connect"), site, check_max_mib: app.config.check_max_bytes >> 20 }
}
