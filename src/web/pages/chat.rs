//! `/prompts/chat`: a text to paste into a chat, so that any model can build.

use askama::Template;
use askama_web::WebTemplate;
use axum::Router;
use axum::extract::State;
use axum::routing::get;
use serde::Deserialize;

use crate::app::App;
use crate::arena::Settings;
use crate::arena::catalog::MAX_PROMPT_CHARS;
use crate::arena::gallery::{self, PromptCard};
use crate::generate::prompting;
use crate::web::query::PageQuery;
use crate::web::{Error, Page, filters};
use voxel::{GridSize, Palette};

/// Used if no prompt exists.
const EXAMPLE_PROMPT: &str = "a garden shed";

pub(in crate::web) fn routes() -> Router<App> {
    Router::new().route("/prompts/chat", get(page))
}

/// The query. A form sends an empty field for what is not chosen.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
struct ChatQuery {
    prompt: String,
    /// The visitor's own prompt, which has precedence over the chosen one.
    words: String,
    grid: Option<GridSize>,
    palette: Option<Palette>,
}

#[derive(Template, WebTemplate)]
#[template(path = "chat.html")]
struct ChatPage {
    page: Page,
    prompts: Vec<PromptCard>,
    /// None if the visitor wrote the prompt.
    prompt: Option<PromptCard>,
    words: String,
    settings: Settings,
    text: String,
}

async fn page(State(app): State<App>, PageQuery(chosen): PageQuery<ChatQuery>) -> Result<ChatPage, Error> {
    let settings = app.config.arena.with(chosen.grid, chosen.palette);
    let words: String = chosen.words.trim().chars().take(MAX_PROMPT_CHARS).collect();
    let prompts = gallery::prompts(&app.pool).await?;
    let prompt = match chosen.prompt.as_str() {
        _ if !words.is_empty() => None,
        "" => prompts.first().cloned(),
        id => gallery::prompt(&app.pool, id).await?.or_else(|| prompts.first().cloned()),
    };
    let task = prompt.as_ref().map_or(words.as_str(), |prompt| &prompt.text);
    let task = if task.is_empty() { EXAMPLE_PROMPT } else { task };
    let text = prompting::chat_text(task, &settings);
    Ok(ChatPage { page: Page::at("/prompts"), prompts, prompt, words, settings, text })
}

impl ChatPage {
    fn is_chosen(&self, prompt: &PromptCard) -> bool {
        self.prompt.as_ref().is_some_and(|chosen| chosen.id == prompt.id)
    }

    /// False for a link to an inactive prompt.
    fn is_listed(&self) -> bool {
        self.prompt.is_none() || self.prompts.iter().any(|prompt| self.is_chosen(prompt))
    }
}
