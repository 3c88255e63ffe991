//! `/admin/prompts`: what is asked.

use askama::Template;
use askama_web::WebTemplate;
use axum::Router;
use axum::extract::State;
use axum::routing::get;

use super::session::SignedIn;
use crate::app::App;
use crate::arena::catalog::{self, MAX_PROMPT_CHARS};
use crate::web::admin::catalog::Prompt;
use crate::web::{Error, Page, filters};

pub(super) fn routes() -> Router<App> {
    Router::new().route("/admin/prompts", get(prompts))
}

#[derive(Template, WebTemplate)]
#[template(path = "admin/prompts.html")]
struct Prompts {
    page: Page,
    prompts: Vec<Prompt>,
}

async fn prompts(State(app): State<App>, _: SignedIn) -> Result<Prompts, Error> {
    let prompts = catalog::prompts(&app.pool).await?.iter().map(Prompt::of).collect();
    Ok(Prompts { page: Page::at("/admin/prompts"), prompts })
}

impl Prompt {
    fn json(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }
}
