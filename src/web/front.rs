//! `/`: what Buildoff is.

use askama::Template;
use askama_web::WebTemplate;
use axum::Router;
use axum::http::HeaderMap;
use axum::http::header::HOST;
use axum::routing::get;

use super::Page;
use crate::app::App;

pub(super) fn routes() -> Router<App> {
    Router::new().route("/", get(front))
}

#[derive(Template, WebTemplate)]
#[template(path = "front.html")]
struct Front {
    page: Page,
    /// Where this visitor found us, so that the example works as it is pasted.
    host: String,
}

async fn front(headers: HeaderMap) -> Front {
    Front {
        page: Page::at("/"),
        host: host(&headers),
    }
}

/// Only what a host's name is made of: the example is meant for a shell.
fn host(headers: &HeaderMap) -> String {
    let harmless = |byte: u8| byte.is_ascii_alphanumeric() || b"-.:[]".contains(&byte);
    let named = headers.get(HOST).and_then(|value| value.to_str().ok());
    named
        .filter(|name| !name.is_empty() && name.bytes().all(harmless))
        .unwrap_or("localhost:3000")
        .to_owned()
}
