//! `/prompts/chat`: what to paste into a chat window, so that any model can build.

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

/// Where nobody has chosen anything and there is nothing to choose from.
const EXAMPLE_PROMPT: &str = "a garden shed";

pub(in crate::web) fn routes() -> Router<App> {
    Router::new().route("/prompts/chat", get(page))
}

/// The query; a form sends empty fields for what is not chosen.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
struct ChatQuery {
    prompt: String,
    /// In the visitor's own words, which count before the chosen prompt.
    words: String,
    grid: Option<GridSize>,
    palette: Option<Palette>,
}

#[derive(Template, WebTemplate)]
#[template(path = "chat.html")]
struct ChatPage {
    page: Page,
    prompts: Vec<PromptCard>,
    /// None for the visitor's own words.
    prompt: Option<PromptCard>,
    words: String,
    settings: Settings,
    text: String,
}

async fn page(State(app): State<App>, PageQuery(chosen): PageQuery<ChatQuery>) -> Result<ChatPage, Error> {
    let settings = chosen.settings(&app.config.arena);
    let words: String = chosen.words.trim().chars().take(MAX_PROMPT_CHARS).collect();
    let prompts = gallery::prompts(&app.pool).await?;
    let prompt = match chosen.prompt.as_str() {
        _ if !words.is_empty() => None,
        "" => prompts.first().cloned(),
        id => gallery::prompt(&app.pool, id).await?.or_else(|| prompts.first().cloned()),
    };
    let asked = prompt.as_ref().map_or(words.as_str(), |prompt| &prompt.text);
    let asked = if asked.is_empty() { EXAMPLE_PROMPT } else { asked };
    let text = prompting::chat_text(asked, &settings);
    Ok(ChatPage { page: Page::at("/prompts"), prompts, prompt, words, settings, text })
}

impl ChatQuery {
    fn settings(&self, arena: &Settings) -> Settings {
        Settings {
            grid: self.grid.unwrap_or(arena.grid),
            palette: self.palette.unwrap_or(arena.palette),
            mode: arena.mode.clone(),
        }
    }
}

impl ChatPage {
    fn is_chosen(&self, prompt: &PromptCard) -> bool {
        self.prompt.as_ref().is_some_and(|chosen| chosen.id == prompt.id)
    }

    /// A retired one can still be linked to.
    fn is_listed(&self) -> bool {
        self.prompt.is_none() || self.prompts.iter().any(|prompt| self.is_chosen(prompt))
    }
}
