//! `/prompts`: all prompts; `/prompts/{id}`: a prompt and its builds.

use askama::Template;
use askama_web::WebTemplate;
use axum::Router;
use axum::extract::{Path, State};
use axum::routing::get;

use crate::app::App;
use crate::arena::gallery::{self, BuildCard, PromptCard};
use crate::web::filters::capitalised;
use crate::web::{Error, Page, ShareCard, filters};

pub(in crate::web) fn routes() -> Router<App> {
    Router::new().route("/prompts", get(all)).route("/prompts/{id}", get(one))
}

#[derive(Template, WebTemplate)]
#[template(path = "prompts.html")]
struct PromptsPage {
    page: Page,
    prompts: Vec<PromptCard>,
}

#[derive(Template, WebTemplate)]
#[template(path = "prompt.html")]
struct PromptPage {
    page: Page,
    prompt: PromptCard,
    /// Whether the prompt has matchups.
    eligible: bool,
    builds: Vec<BuildCard>,
}

async fn all(State(app): State<App>) -> Result<PromptsPage, Error> {
    Ok(PromptsPage { page: Page::at("/prompts"), prompts: gallery::prompts(&app.replica).await? })
}

async fn one(State(app): State<App>, Path(id): Path<String>) -> Result<PromptPage, Error> {
    let prompt = gallery::prompt(&app.replica, &id).await?;
    let prompt = prompt.ok_or_else(|| Error::not_found("This prompt does not exist."))?;
    let builds = gallery::of_prompt(&app.replica, &id).await?;
    let eligible = app.arena.is_eligible(&id).await?;
    let title = capitalised(&prompt.text);
    let alt = format!("{title}, as models built it with blocks.");
    let page = Page::at("/prompts").with_card(ShareCard::of("prompts", &prompt.id, title, alt));
    Ok(PromptPage { page, prompt, eligible, builds })
}
