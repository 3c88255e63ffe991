//! `/`: the arena. Opening it creates nothing; its script, or its form, asks for a matchup.

use std::time::Duration;

use askama::Template;
use askama_web::WebTemplate;
use axum::Router;
use axum::extract::State;
use axum::routing::get;
use serde::Deserialize;
use tokio::time::timeout;

use crate::app::App;
use crate::arena::{Arena, Choice, MatchupPrompt};
use crate::web::pages::builds::formats_of_grid;
use crate::web::query::PageQuery;
use crate::web::{Page, filters};
use voxel::Format;

/// A page that offers no choice of prompts is better than none.
const PROMPTS_TIMEOUT: Duration = Duration::from_millis(500);

/// Modules that are needed at once, but which other modules name late.
const PRELOADED_MODULES: [&str; 9] = [
    "viewer/viewer.js",
    "viewer/view.js",
    "viewer/renderer.js",
    "viewer/shaders.js",
    "viewer/build.js",
    "viewer/camera.js",
    "viewer/textures.js",
    "viewer/gl.js",
    "viewer/input.js",
];

/// What can be said, in reading order: the choice, in words, and its key.
pub(in crate::web) const CHOICES: [(Choice, &str, &str); 4] = [
    (Choice::A, "A is better", "1"),
    (Choice::Tie, "Tie", "3"),
    (Choice::BothBad, "Both bad", "0"),
    (Choice::B, "B is better", "2"),
];

pub(in crate::web) fn choice_label(choice: Choice) -> &'static str {
    CHOICES.into_iter().find(|(other, ..)| *other == choice).map_or("", |(_, label, _)| label)
}

pub(in crate::web) fn routes() -> Router<App> {
    Router::new().route("/", get(arena))
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct ArenaPageQuery {
    /// Empty where a form leaves it open.
    prompt: String,
}

#[derive(Template, WebTemplate)]
#[template(path = "arena.html")]
struct ArenaPage {
    page: Page,
    eligible: Vec<MatchupPrompt>,
    /// For their second build.
    waiting: Vec<MatchupPrompt>,
    chosen: String,
    /// A build can be taken away as these, once it is voted on.
    formats: Vec<Format>,
}

async fn arena(
    State(app): State<App>,
    PageQuery(ArenaPageQuery { prompt: chosen }): PageQuery<ArenaPageQuery>,
) -> ArenaPage {
    let (eligible, waiting) = prompts(&app.arena).await.into_iter().partition(|prompt| prompt.eligible);
    let formats = formats_of_grid(app.arena.settings.grid.get() as u16);
    ArenaPage { page: Page::at("/"), eligible, waiting, chosen, formats }
}

/// Without the database there is nothing to choose from, but still something to say.
async fn prompts(arena: &Arena) -> Vec<MatchupPrompt> {
    let prompts = timeout(PROMPTS_TIMEOUT, arena.prompts()).await;
    prompts.unwrap_or(Err(sqlx::Error::PoolTimedOut)).unwrap_or_else(|error| {
        tracing::warn!(%error, "the arena has no prompts to offer");
        Vec::new()
    })
}
