//! `/`: the arena. Opening the page stores nothing; its script or its form requests a matchup.

use std::time::Duration;

use askama::Template;
use askama_web::WebTemplate;
use axum::Router;
use axum::extract::State;
use axum::http::header::CONTENT_SECURITY_POLICY;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use serde::Deserialize;
use tokio::time::timeout;

use crate::app::App;
use crate::arena::{Choice, MatchupPrompt};
use crate::config::PersonCheckConfig;
use crate::web::layers;
use crate::web::pages::builds::formats_of_grid;
use crate::web::query::PageQuery;
use crate::web::{Page, filters};
use voxel::Format;

/// After this time, the page is shown without a choice of prompts.
const PROMPTS_TIMEOUT: Duration = Duration::from_millis(500);

/// Modules that the page needs at once, but that browsers would only find after loading others.
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

/// The choices in the order of their buttons: the choice, its label, and its key.
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
    /// Empty for any prompt.
    prompt: String,
}

#[derive(Template, WebTemplate)]
#[template(path = "arena.html")]
struct ArenaPage {
    page: Page,
    eligible: Vec<MatchupPrompt>,
    /// Prompts that need a build by another model.
    waiting: Vec<MatchupPrompt>,
    chosen: String,
    /// The formats in which builds can be downloaded after the vote.
    formats: Vec<Format>,
    /// Whether voters have to pass a check that needs a script.
    needs_script: bool,
}

async fn arena(
    State(app): State<App>,
    PageQuery(ArenaPageQuery { prompt: chosen }): PageQuery<ArenaPageQuery>,
) -> Response {
    let (eligible, waiting) = prompts(&app).await.into_iter().partition(|prompt| prompt.eligible);
    let formats = formats_of_grid(app.arena.settings.grid.get() as u16);
    let needs_script = app.person_checks.is_on();
    let page = ArenaPage { page: Page::at("/"), eligible, waiting, chosen, formats, needs_script };
    match &app.config.person_check {
        PersonCheckConfig::Captcha(account) => {
            ([(CONTENT_SECURITY_POLICY, layers::csp_with_captcha(account.service))], page).into_response()
        }
        PersonCheckConfig::Off | PersonCheckConfig::Work => page.into_response(),
    }
}

/// Empty if the database does not answer.
async fn prompts(app: &App) -> Vec<MatchupPrompt> {
    let prompts = timeout(PROMPTS_TIMEOUT, app.arena.prompts()).await;
    prompts.unwrap_or(Err(sqlx::Error::PoolTimedOut)).unwrap_or_else(|error| {
        if !app.database_health.note(&error) {
            tracing::warn!(%error, "the arena is shown without a choice of prompts");
        }
        Vec::new()
    })
}
