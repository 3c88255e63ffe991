//! `/api/models/{key}`: a model, its standing, and its record.

use axum::Json;
use axum::extract::{Path, State};
use serde::Serialize;
use time::OffsetDateTime;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;
use uuid::Uuid;

use crate::app::App;
use crate::arena::gallery::BuildCard;
use crate::arena::leaderboard::{
    LadderEntry, Leaderboard, ModelProfile, ModelRecord, OpponentRecord, PromptRecord, Record,
};
use crate::web::openapi::codes;
use crate::web::views::{SettingsView, StandingView};
use crate::web::{Error, ErrorCode};

pub(in crate::web) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(show))
}

/// A model, and everything that its page and the API show.
pub(in crate::web) struct ModelDetails {
    pub board: Leaderboard,
    pub facts: ModelProfile,
    /// None if the model is not on the leaderboard.
    pub row: Option<LadderEntry>,
    pub record: ModelRecord,
    pub builds: Vec<BuildCard>,
}

/// None if there is no such model.
pub(in crate::web) async fn find_profile(app: &App, key: &str) -> Result<Option<ModelProfile>, Error> {
    let Ok(key) = key.parse() else { return Ok(None) };
    Ok(app.arena.model(&key).await?)
}

pub(in crate::web) fn no_model() -> Error {
    Error::not_found("This model does not exist.")
}

pub(in crate::web) async fn find(app: &App, key: &str) -> Result<ModelDetails, Error> {
    let facts = find_profile(app, key).await?.ok_or_else(no_model)?;
    let board = app.arena.leaderboard().await?;
    Ok(ModelDetails {
        row: board.row(&facts.key).cloned(),
        record: app.arena.record(&facts.key, &board.stats).await?,
        builds: app.arena.builds_of(&facts.key).await?,
        board,
        facts,
    })
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Model)]
struct ModelApiResponse {
    #[schema(example = "reference_architect")]
    key: String,
    #[schema(example = "reference")]
    provider: String,
    /// The provider’s ID for the model.
    #[schema(example = "architect")]
    model_id: String,
    #[schema(example = "Architect")]
    display_name: String,
    about: String,
    /// Whether the model can appear in matchups.
    enabled: bool,
    /// Whether it is a reference model, made for Buildoff.
    reference: bool,
    /// Whether it is an agent: a program of somebody else, asked over the A2A protocol. Missing for models.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[schema(required = false)]
    agent: bool,
    #[serde(with = "time::serde::rfc3339")]
    created_at: OffsetDateTime,
    settings: SettingsView,
    /// Null if the model is not on the leaderboard.
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

/// As in a standing, losses include both bad.
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
    /// The share of votes it won. A tie counts half, both bad is left out. Null without such votes.
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
    /// The build in the arena; null if the model no longer has a build of this prompt there.
    #[schema(required)]
    build_id: Option<Uuid>,
    #[serde(flatten)]
    score: ScoreView,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = BuildOfModel)]
struct ModelBuildView {
    id: Uuid,
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

/// Get a model
///
/// Its standing, and its record against every opponent and on every prompt.
#[utoipa::path(
    get, path = "/api/models/{key}", tag = "Results", operation_id = "model",
    params(("key" = String, Path, description = "The model’s key.", example = "reference_architect")),
    responses((status = OK, description = "The model.", body = ModelApiResponse)),
    extensions(("x-errors" = json!(codes([ErrorCode::NotFound])))),
)]
async fn show(State(app): State<App>, Path(key): Path<String>) -> Result<Json<ModelApiResponse>, Error> {
    let ModelDetails { facts, row, record, builds, .. } = find(&app, &key).await?;
    let opponent = |opponent: &OpponentRecord| OpponentView {
        key: opponent.key.to_string(),
        display_name: opponent.display_name.clone(),
        score: ScoreView::of(opponent.record),
    };
    let prompt = |prompt: &PromptRecord| PromptScoreView {
        id: prompt.id.to_string(),
        text: prompt.text.clone(),
        build_id: prompt.build,
        score: ScoreView::of(prompt.record),
    };
    Ok(Json(ModelApiResponse {
        reference: facts.is_reference(),
        agent: facts.is_agent(),
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
        builds: builds.iter().map(ModelBuildView::of).collect(),
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
    fn of(card: &BuildCard) -> Self {
        Self {
            id: card.id,
            prompt_id: card.prompt_id.to_string(),
            grid_size: card.settings.grid.get() as i16,
            palette: card.settings.palette.name().to_owned(),
            mode: card.settings.mode.as_str().to_owned(),
            block_count: card.block_count,
        }
    }
}
