//! `/`: what Buildoff is.

use std::time::Duration;

use askama::Template;
use askama_web::WebTemplate;
use axum::Router;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::http::header::HOST;
use axum::routing::get;
use tokio::time::timeout;

use super::Page;
use crate::app::App;
use crate::arena::gallery::{self, Card};

/// A front page without pictures is better than none.
const PATIENCE: Duration = Duration::from_millis(500);

pub(super) fn routes() -> Router<App> {
    Router::new().route("/", get(front))
}

#[derive(Template, WebTemplate)]
#[template(path = "front.html")]
struct Front {
    page: Page,
    /// Two answers to one prompt, if there are any.
    pair: Option<[Card; 2]>,
    /// Where this visitor found us, so that the example works as it is pasted.
    host: String,
}

/// Stays up without the database, which it needs only for something to show.
async fn front(State(app): State<App>, headers: HeaderMap) -> Front {
    let pair = timeout(PATIENCE, gallery::pair(&app.pool)).await;
    let pair = pair.unwrap_or(Err(sqlx::Error::PoolTimedOut)).unwrap_or_else(|error| {
        tracing::warn!(%error, "there is nothing to show on the front page");
        None
    });
    Front { page: Page::at("/"), pair, host: host(&headers) }
}

/// Only what a host's name is made of: the example is meant for a shell.
pub(super) fn host(headers: &HeaderMap) -> String {
    let harmless = |byte: u8| byte.is_ascii_alphanumeric() || b"-.:[]".contains(&byte);
    let named = headers.get(HOST).and_then(|value| value.to_str().ok());
    named.filter(|name| !name.is_empty() && name.bytes().all(harmless)).unwrap_or("localhost:3000").to_owned()
}
