//! `/prompts/chat`: what to paste into a chat window, so that any model can build.

use askama::Template;
use askama_web::WebTemplate;
use axum::Router;
use axum::extract::{Query, State};
use axum::routing::get;
use serde::Deserialize;

use super::{Error, Page, filters};
use crate::app::App;
use crate::arena::Settings;
use crate::arena::catalog::LONGEST_PROMPT;
use crate::arena::gallery::{self, PromptCard};
use crate::generate::prompting;
use crate::voxel::{GridSize, Palette};

/// Where nobody has chosen anything and there is nothing to choose from.
const EXAMPLE: &str = "a garden shed";

pub(super) fn routes() -> Router<App> {
    Router::new().route("/prompts/chat", get(page))
}

/// The query; a form sends empty fields for what is not chosen.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Chosen {
    prompt: String,
    /// In the visitor's own words, which count before the chosen prompt.
    words: String,
    grid: String,
    palette: String,
}

#[derive(Template, WebTemplate)]
#[template(path = "chat.html")]
struct Chat {
    page: Page,
    prompts: Vec<PromptCard>,
    /// None for the visitor's own words.
    prompt: Option<PromptCard>,
    words: String,
    settings: Settings,
    text: String,
}

async fn page(State(app): State<App>, Query(chosen): Query<Chosen>) -> Result<Chat, Error> {
    let settings = chosen.settings(&app.config.arena)?;
    let words = chosen.words()?;
    let prompts = gallery::prompts(&app.pool).await?;
    let prompt = match (words.as_str(), chosen.prompt.as_str()) {
        ("", "") => prompts.first().cloned(),
        ("", id) => Some(gallery::prompt(&app.pool, id).await?.ok_or_else(no_prompt)?),
        _ => None,
    };
    let asked = prompt.as_ref().map_or(words.as_str(), |prompt| &prompt.text);
    let asked = if asked.is_empty() { EXAMPLE } else { asked };
    let text = prompting::chat(asked, &settings);
    Ok(Chat { page: Page::at("/prompts"), prompts, prompt, words, settings, text })
}

impl Chosen {
    fn settings(&self, arena: &Settings) -> Result<Settings, Error> {
        let grid = given(&self.grid).map_or(Ok(arena.grid), str::parse).map_err(wrong)?;
        let palette = given(&self.palette).map_or(Ok(arena.palette), str::parse).map_err(wrong)?;
        Ok(Settings { grid, palette, mode: arena.mode.clone() })
    }

    fn words(&self) -> Result<String, Error> {
        let words = self.words.trim();
        match words.chars().count() <= LONGEST_PROMPT {
            true => Ok(words.to_owned()),
            false => Err(wrong(format!("a prompt has at most {LONGEST_PROMPT} characters"))),
        }
    }
}

impl Chat {
    fn is_chosen(&self, prompt: &PromptCard) -> bool {
        self.prompt.as_ref().is_some_and(|chosen| chosen.id == prompt.id)
    }

    /// A retired one can still be linked to.
    fn is_listed(&self) -> bool {
        self.prompt.is_none() || self.prompts.iter().any(|prompt| self.is_chosen(prompt))
    }
}

fn given(field: &str) -> Option<&str> {
    (!field.is_empty()).then_some(field)
}

fn wrong(message: String) -> Error {
    Error::bad_request("bad_request", message)
}

fn no_prompt() -> Error {
    Error::not_found("There is no such prompt.")
}
