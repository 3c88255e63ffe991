//! `/models/{key}` and `/api/models/{key}`: all that is known of one model.

use askama::Template;
use askama_web::WebTemplate;
use axum::Json;
use axum::extract::{Path, State};
use axum::routing::get;
use serde::Serialize;
use time::OffsetDateTime;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::app::App;
use crate::arena::ReferencePolicy;
use crate::arena::gallery::BuildCard;
use crate::arena::leaderboard::{
    LadderEntry, Leaderboard, ModelProfile, ModelRecord, PromptRecord, Record, StandingChange,
};
use crate::web::api::leaderboard::{SettingsView, StandingView};
use crate::web::charts::{HistoryChart, IntervalBar, RatingAxis};
use crate::web::pages::about;
use crate::web::{Error, Page, ShareCard, filters};

/// Strongest and weakest prompts, so many each.
const MAX_PROMPTS: usize = 3;

/// From so many votes on, a prompt says something.
const MIN_VOTES: i64 = 3;

/// Builds on the page; the gallery has the others.
const MAX_BUILDS: usize = 8;

pub(in crate::web) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().route("/models/{key}", get(page)).routes(routes!(show))
}

/// A model with all that belongs to it.
struct ModelPageData {
    board: Leaderboard,
    facts: ModelProfile,
    /// None if it is not on the ladder.
    row: Option<LadderEntry>,
    record: ModelRecord,
    builds: Vec<BuildCard>,
}

async fn find(app: &App, key: &str) -> Result<ModelPageData, Error> {
    let missing = || Error::not_found("There is no such model.");
    let key = key.parse().map_err(|_| missing())?;
    let facts = app.arena.model(&key).await?.ok_or_else(missing)?;
    let board = app.arena.leaderboard().await?;
    Ok(ModelPageData {
        row: board.row(&key).cloned(),
        record: app.arena.record(&key, &board.stats).await?,
        builds: app.arena.builds_of(&key).await?,
        board,
        facts,
    })
}

#[derive(Template, WebTemplate)]
#[template(path = "model.html")]
struct ModelPage {
    page: Page,
    settings: String,
    /// What references do here.
    references: &'static str,
    /// Whether it is one of those, and they are switched off.
    is_off: bool,
    facts: ModelProfile,
    /// Of so many on the ladder.
    field: usize,
    row: Option<LadderEntry>,
    change: Option<StandingChange>,
    axis: Option<RatingAxis>,
    interval: Option<IntervalBar>,
    history: Option<HistoryChart>,
    record: ModelRecord,
    cards: Vec<BuildCard>,
    builds: usize,
}

async fn page(State(app): State<App>, Path(key): Path<String>) -> Result<ModelPage, Error> {
    let ModelPageData { board, facts, row, record, mut builds } = find(&app, &key).await?;
    let changes = board.changes();
    let axis = RatingAxis::over(&board.rows);
    let skill = row.as_ref().and_then(|row| row.skill.as_ref());
    let total = builds.len();
    builds.truncate(MAX_BUILDS);
    let alt = format!("{}, its place on the ladder and one of its builds.", facts.display_name);
    Ok(ModelPage {
        page: Page::at("/leaderboard").with_card(ShareCard::of(
            "models",
            &facts.key,
            facts.display_name.clone(),
            alt,
        )),
        settings: app.arena.settings.to_string(),
        references: about::reference_policy(app.config.references),
        is_off: facts.is_reference() && app.config.references == ReferencePolicy::Off,
        field: board.rows.len(),
        change: row.as_ref().and_then(|row| changes.get(row.rank - 1).copied()),
        interval: axis.as_ref().zip(skill).map(|(axis, skill)| axis.interval(skill)),
        history: HistoryChart::of(
            &board.stats.history.lines,
            [(&facts.key, facts.display_name.as_str())].into_iter(),
        ),
        cards: builds,
        builds: total,
        facts,
        row,
        axis,
        record,
    })
}

impl ModelPage {
    /// Why it is not on the ladder.
    fn absence(&self) -> String {
        match (self.facts.enabled, self.is_off) {
            (true, false) => {
                format!("Not on the ladder yet: it has neither a build at {} nor a vote.", self.settings)
            }
            _ => "Not on the ladder: it takes no part.".to_owned(),
        }
    }

    fn strongest(&self) -> Vec<&PromptRecord> {
        let mut judged = self.judged();
        judged.truncate(MAX_PROMPTS.min(judged.len() / 2));
        judged
    }

    /// The weakest first.
    fn weakest(&self) -> Vec<&PromptRecord> {
        let judged = self.judged();
        judged.iter().rev().take(MAX_PROMPTS.min(judged.len() / 2)).copied().collect()
    }

    /// The strongest first.
    fn judged(&self) -> Vec<&PromptRecord> {
        let tells =
            |prompt: &&PromptRecord| prompt.record.share().is_some() && prompt.record.votes() >= MIN_VOTES;
        self.record.prompts.iter().filter(tells).collect()
    }
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Model)]
struct ModelApiResponse {
    #[schema(example = "reference_architect")]
    key: String,
    #[schema(example = "reference")]
    provider: String,
    /// The provider’s own name for it.
    #[schema(example = "architect")]
    model_id: String,
    #[schema(example = "Architect")]
    display_name: String,
    about: String,
    /// Whether it may take part.
    enabled: bool,
    /// Whether it is one of those shipped with Buildoff.
    reference: bool,
    #[serde(with = "time::serde::rfc3339")]
    created_at: OffsetDateTime,
    settings: SettingsView,
    /// Null if it is not on the ladder.
    #[schema(required)]
    standing: Option<RankedStandingView>,
    opponents: Vec<OpponentView>,
    prompts: Vec<PromptScoreView>,
    builds: Vec<ModelBuildView>,
}

#[derive(Serialize, ToSchema)]
#[schema(as = Ranked)]
struct RankedStandingView {
    #[schema(example = 1)]
    rank: usize,
    #[serde(flatten)]
    standing: StandingView,
}

/// As in a standing, both bad counts as a loss, too.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Score)]
struct ScoreView {
    #[schema(example = 40)]
    votes: i64,
    #[schema(example = 22)]
    wins: i64,
    #[schema(example = 14)]
    losses: i64,
    #[schema(example = 4)]
    ties: i64,
    #[schema(example = 3)]
    both_bad: i64,
    /// Of the votes that compare, the share it won, a tie being half; null where there is none.
    #[schema(required, example = 0.65)]
    share: Option<f64>,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Opponent)]
struct OpponentView {
    #[schema(example = "reference_sculptor")]
    key: String,
    #[schema(example = "Sculptor")]
    display_name: String,
    #[serde(flatten)]
    score: ScoreView,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = PromptScore)]
struct PromptScoreView {
    #[schema(example = "steam-locomotive")]
    id: String,
    #[schema(example = "a steam locomotive")]
    text: String,
    /// The build that takes part; null if there is none any more.
    #[schema(required, format = Uuid)]
    build_id: Option<String>,
    #[serde(flatten)]
    score: ScoreView,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = BuildOfModel)]
struct ModelBuildView {
    #[schema(format = Uuid)]
    id: String,
    #[schema(example = "steam-locomotive")]
    prompt_id: String,
    #[schema(example = 32)]
    grid_size: i16,
    #[schema(example = "simple")]
    palette: String,
    #[schema(example = "precise")]
    mode: String,
    #[schema(example = 1320)]
    block_count: i32,
}

/// A model
///
/// Where it stands, and how it did against every opponent and on every prompt.
#[utoipa::path(
    get, path = "/api/models/{key}", tag = "Results", operation_id = "model",
    params(("key" = String, Path, description = "The model’s key.", example = "reference_architect")),
    responses(
        (status = OK, description = "The model.", body = ModelApiResponse),
        (status = NOT_FOUND, description = "not_found"),
    ),
)]
async fn show(State(app): State<App>, Path(key): Path<String>) -> Result<Json<ModelApiResponse>, Error> {
    let ModelPageData { facts, row, record, builds, .. } = find(&app, &key).await?;
    let opponent = |opponent: &crate::arena::leaderboard::OpponentRecord| OpponentView {
        key: opponent.key.to_string(),
        display_name: opponent.display_name.clone(),
        score: ScoreView::of(opponent.record),
    };
    let prompt = |prompt: &PromptRecord| PromptScoreView {
        id: prompt.id.to_string(),
        text: prompt.text.clone(),
        build_id: prompt.build.map(|build| build.to_string()),
        score: ScoreView::of(prompt.record),
    };
    Ok(Json(ModelApiResponse {
        reference: facts.is_reference(),
        key: facts.key.to_string(),
        provider: facts.provider,
        model_id: facts.model_id,
        display_name: facts.display_name,
        about: facts.about,
        enabled: facts.enabled,
        created_at: facts.created_at,
        settings: SettingsView::of(&app.arena.settings),
        standing: row
            .as_ref()
            .map(|row| RankedStandingView { rank: row.rank, standing: StandingView::of(row) }),
        opponents: record.opponents.iter().map(opponent).collect(),
        prompts: record.prompts.iter().map(prompt).collect(),
        builds: builds.into_iter().map(ModelBuildView::of).collect(),
    }))
}

impl ScoreView {
    fn of(record: Record) -> Self {
        Self {
            votes: record.votes(),
            wins: record.won,
            losses: record.losses(),
            ties: record.tied,
            both_bad: record.both_bad,
            share: record.share(),
        }
    }
}

impl ModelBuildView {
    fn of(card: BuildCard) -> Self {
        Self {
            id: card.id.to_string(),
            prompt_id: card.prompt_id.to_string(),
            grid_size: card.settings.grid.get() as i16,
            palette: card.settings.palette.name().to_owned(),
            mode: card.settings.mode.as_str().to_owned(),
            block_count: card.block_count,
        }
    }
}
