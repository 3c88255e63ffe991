//! `/admin/prompts`: all prompts.

use askama::Template;
use askama_web::WebTemplate;
use axum::Router;
use axum::extract::State;
use axum::routing::get;

use super::session::SignedIn;
use crate::app::App;
use crate::arena::catalog::{self, MAX_PROMPT_CHARS};
use crate::web::views::AdminPromptView;
use crate::web::{Error, Page, filters};

pub(super) fn routes() -> Router<App> {
    Router::new().route("/admin/prompts", get(prompts))
}

#[derive(Template, WebTemplate)]
#[template(path = "admin/prompts.html")]
struct AdminPromptsPage {
    page: Page,
    prompts: Vec<AdminPromptView>,
    /// The votes after which a build of a held-out prompt is shown.
    held_out_votes: u32,
}

async fn prompts(State(app): State<App>, _: SignedIn) -> Result<AdminPromptsPage, Error> {
    let prompts = catalog::prompts(&app.pool).await?.iter().map(AdminPromptView::of).collect();
    let held_out_votes = app.config.held_out_votes;
    Ok(AdminPromptsPage { page: Page::at("/admin/prompts"), prompts, held_out_votes })
}
