//! `/sandbox`: running two models side by side, importing a build, and kept runs.

mod compare;

use askama::Template;
use askama_web::WebTemplate;
use axum::Router;
use axum::extract::{Path, State};
use axum::http::HeaderMap;
use axum::response::{IntoResponse, Redirect};
use axum::routing::{get, post};
use serde::Deserialize;

use crate::app::App;
use crate::arena::Settings;
use crate::arena::catalog::{self, MAX_PROMPT_CHARS, REFERENCE};
use crate::arena::drafts::Draft;
use crate::arena::gallery::{self, PromptCard};
use crate::arena::kept_runs::{self, KeptRun, KeptRunSummary};
use crate::arena::lent_keys;
use crate::web::api::generate::resolver::{lent_route, offers_keys, route_for_visitors, takes_visitors};
use crate::web::api::sandbox::runs::{delete, find_run, parse_run_id};
use crate::web::derived::NO_STORE;
use crate::web::query::PageQuery;
use crate::web::this_machine::is_at_this_machine;
use crate::web::voter::Visitor;
use crate::web::{Error, Page, filters};
use voxel::{Format, GridSize, Palette};

/// The keys and the names of the two sides.
const SIDES: [(&str, &str); 2] = [("a", "A"), ("b", "B")];

pub(in crate::web) fn routes() -> Router<App> {
    Router::new()
        .route("/sandbox", get(live))
        .route("/sandbox/compare", get(compare::page))
        .route("/sandbox/paste", get(paste))
        .route("/sandbox/runs/{id}", get(run))
        .route("/sandbox/runs/{id}/delete", post(forget))
}

/// The initial values of the forms. The defaults are the arena's settings.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
struct SandboxQuery {
    prompt: String,
    words: String,
    grid: Option<GridSize>,
    palette: Option<Palette>,
}

#[derive(Template, WebTemplate)]
#[template(path = "sandbox/live.html")]
struct LivePage {
    page: Page,
    prompts: Vec<PromptCard>,
    words: String,
    settings: Settings,
    model_groups: Vec<ModelGroupView>,
    providers: Vec<SandboxProviderView>,
    local: bool,
    /// Whether agents may be at private addresses.
    local_agents: bool,
    /// What is left of the budget of the day for this server's keys, in dollars.
    left_today: Option<f64>,
    kept: Vec<KeptRunSummary>,
}

/// The models of a provider.
struct ModelGroupView {
    name: String,
    models: Vec<SandboxModelView>,
}

struct SandboxModelView {
    key: String,
    name: String,
    /// The provider whose API key it needs.
    provider: String,
    /// Whether it can be used without an API key of the visitor.
    open: bool,
}

/// A provider at which any model can be used by its id there, with a key of the visitor.
struct SandboxProviderView {
    key: String,
    name: String,
}

#[derive(Template, WebTemplate)]
#[template(path = "sandbox/paste.html")]
struct PastePage {
    page: Page,
    words: String,
    settings: Settings,
}

#[derive(Template, WebTemplate)]
#[template(path = "sandbox/run.html")]
struct RunPage {
    page: Page,
    run: KeptRun,
    own: bool,
}

async fn live(
    State(app): State<App>,
    visitor: Visitor,
    headers: HeaderMap,
    PageQuery(query): PageQuery<SandboxQuery>,
) -> Result<impl IntoResponse, Error> {
    let lends_keys = offers_keys(&app, &headers, visitor.address());
    let settings = app.config.arena.with(query.grid, query.palette);
    let words = query.words(&app).await?;
    let listed = catalog::models(&app.pool).await?;
    let kept = match visitor.voter().await? {
        Some(voter) => kept_runs::list(&app.pool, voter).await?,
        None => Vec::new(),
    };
    let left_today = if lends_keys {
        let budget = app.config.budgets.limits.sandbox_day.unwrap_or(i64::MAX);
        Some(lent_keys::left_today(&app.pool, budget).await? as f64 / 1e6)
    } else {
        None
    };
    let page = LivePage {
        page: Page::at("/sandbox"),
        prompts: gallery::prompts(&app.pool).await?,
        words,
        settings,
        model_groups: group_models(&app, &listed, lends_keys),
        providers: providers(&app),
        local: app.config.sandbox.local,
        local_agents: app.config.sandbox.local || is_at_this_machine(&app, &headers, visitor.address()),
        left_today,
        kept,
    };
    Ok(([NO_STORE], page))
}

/// The models that visitors can use, by provider. Providers whose API key visitors can use come first.
fn group_models(app: &App, listed: &[catalog::ListedModel], lends_keys: bool) -> Vec<ModelGroupView> {
    let known = app.worker.providers();
    let mut model_groups: Vec<ModelGroupView> = Vec::new();
    for listed in listed.iter().filter(|listed| listed.enabled && listed.model.provider != REFERENCE) {
        let model = &listed.model;
        let lent = lent_route(&known, model).filter(|_| lends_keys);
        let Some((provider, _)) = route_for_visitors(&known, model).or(lent) else { continue };
        let model_view = SandboxModelView {
            key: model.key.to_string(),
            name: model.display_name.clone(),
            provider: provider.key.clone(),
            open: lent.is_some(),
        };
        let name = if model.is_agent() { "Agents" } else { &provider.display_name };
        match model_groups.iter_mut().find(|group| group.name == name) {
            Some(group) => group.models.push(model_view),
            None => model_groups.push(ModelGroupView { name: name.to_owned(), models: vec![model_view] }),
        }
    }
    model_groups.sort_by_key(|group| !group.is_open());
    model_groups
}

fn providers(app: &App) -> Vec<SandboxProviderView> {
    let providers = app.worker.providers();
    let known = providers.known().iter().filter(|known| takes_visitors(known));
    let provider = |known: &catalog::Provider| SandboxProviderView {
        key: known.key.clone(),
        name: known.display_name.clone(),
    };
    let mut all: Vec<_> = known.map(provider).collect();
    all.sort_by_key(|provider| provider.key != "openrouter");
    all
}

async fn paste(
    State(app): State<App>,
    PageQuery(query): PageQuery<SandboxQuery>,
) -> Result<PastePage, Error> {
    let settings = app.config.arena.with(query.grid, query.palette);
    Ok(PastePage { page: Page::at("/sandbox"), words: query.words(&app).await?, settings })
}

async fn run(
    State(app): State<App>,
    visitor: Visitor,
    Path(id): Path<String>,
) -> Result<impl IntoResponse, Error> {
    let run = find_run(&app, parse_run_id(&id)?).await?;
    let own = visitor.voter().await? == Some(run.owner);
    Ok(([NO_STORE], RunPage { page: Page::at("/sandbox"), run, own }))
}

async fn forget(State(app): State<App>, visitor: Visitor, Path(id): Path<String>) -> Result<Redirect, Error> {
    delete(&app, &visitor, parse_run_id(&id)?).await?;
    Ok(Redirect::to("/sandbox"))
}

impl SandboxQuery {
    /// The text of the chosen prompt, or the visitor's own.
    async fn words(&self, app: &App) -> Result<String, Error> {
        if !self.prompt.is_empty()
            && let Some(prompt) = gallery::prompt(&app.pool, &self.prompt).await?
        {
            return Ok(prompt.text);
        }
        Ok(self.words.trim().chars().take(MAX_PROMPT_CHARS).collect())
    }
}

impl LivePage {
    /// Whether anything can be used without an API key of the visitor.
    fn lends_keys(&self) -> bool {
        self.model_groups.iter().any(ModelGroupView::is_open)
    }

    fn left_text(&self) -> Option<String> {
        self.left_today.map(|left| filters::format_cost(Some(left), false))
    }
}

impl ModelGroupView {
    fn is_open(&self) -> bool {
        self.models.iter().any(|model_view| model_view.open)
    }
}

impl RunPage {
    fn sides(&self) -> impl Iterator<Item = (&'static str, &Draft)> {
        SIDES.into_iter().zip(&self.run.sides).filter_map(|((_, name), side)| Some((name, side.as_ref()?)))
    }
}
