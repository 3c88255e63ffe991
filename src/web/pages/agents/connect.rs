//! `/agents/connect`: how to write an agent, and how programs use Buildoff over the A2A protocol.

use askama::Template;
use askama_web::WebTemplate;
use axum::Router;
use axum::extract::{Path, State};
use axum::http::HeaderMap;
use axum::http::header::CONTENT_TYPE;
use axum::response::IntoResponse;
use axum::routing::get;

use crate::app::App;
use crate::web::page::host;
use crate::web::{Error, Page};

/// Complete agents, which are tested as they stand, and what they need.
const EXAMPLES: [(&str, &str); 7] = [
    ("agent.py", include_str!("../../../../examples/agents/agent.py")),
    ("noop.py", include_str!("../../../../examples/agents/noop.py")),
    ("random_agent.py", include_str!("../../../../examples/agents/random_agent.py")),
    ("scripted.py", include_str!("../../../../examples/agents/scripted.py")),
    ("llm.py", include_str!("../../../../examples/agents/llm.py")),
    ("builder.py", include_str!("../../../../examples/agents/builder.py")),
    ("requirements.txt", include_str!("../../../../examples/agents/requirements.txt")),
];

/// What builders are sent as data.
const BUILD_ORDER: &str = r#"{
  "type": "build", "prompt": "a steam locomotive",
  "gridSize": 32, "palette": "simple", "mode": "precise",
  "limits": { "minBlocks": …, "maxBlocks": …, "minFootprint": …, "minHeight": …, "maxBytes": … },
  "schemaUrl": "https://…", "checkUrl": "https://…"
}"#;

/// The messages of a run, and their answers.
const RUN_MESSAGES: &str = r#"→ { "type": "init", "text": "craft oak planks from oak logs" }
← { "type": "ack", "success": true, "message": "ready" }

→ { "type": "obs", "step": 0, "obs": "/9j/4AAQ…" }
← { "type": "action", "keys": ["forward", "jump"], "turn": { "yaw": 10, "pitch": 0 } }"#;

pub(super) fn routes() -> Router<App> {
    let page = Router::new().route("/agents/connect", get(connect));
    page.route("/agents/examples/{file}", get(example)).route("/agents/builder.py", get(builder))
}

#[derive(Template, WebTemplate)]
#[template(path = "agents_connect.html")]
struct ConnectPage {
    page: Page,
    /// As in `https://example.org`.
    site: String,
    check_max_mib: usize,
}

async fn example(Path(file): Path<String>) -> Result<impl IntoResponse, Error> {
    let text = find_example(&file).ok_or_else(|| Error::not_found("There is no such example."))?;
    let is_python = file.ends_with(".py");
    let kind = if is_python { "text/x-python; charset=utf-8" } else { "text/plain; charset=utf-8" };
    Ok(([(CONTENT_TYPE, kind)], text))
}

/// Its address before there were other examples.
async fn builder() -> Result<impl IntoResponse, Error> {
    example(Path("builder.py".to_owned())).await
}

fn find_example(file: &str) -> Option<&'static str> {
    EXAMPLES.iter().find(|(name, _)| *name == file).map(|(_, text)| *text)
}

/// The text of an example, for the template.
fn example_text(file: &str) -> &'static str {
    find_example(file).unwrap_or_default()
}

async fn connect(State(app): State<App>, headers: HeaderMap) -> ConnectPage {
    let site = app.config.public_url.clone().unwrap_or_else(|| format!("http://{}", host(&headers)));
    ConnectPage { page: Page::at("/agents/connect"), site, check_max_mib: app.config.check_max_bytes >> 20 }
}
