//! `GET /api/leaderboard`: the ladder for programs.

use axum::Json;
use axum::extract::{Query, State};
use serde::{Deserialize, Serialize};
use time::OffsetDateTime;
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::app::App;
use crate::arena;
use crate::arena::leaderboard::LadderEntry;
use crate::arena::skill::Skill;
use crate::web::Error;
use crate::web::openapi::shapes;
use crate::web::pages::leaderboard::board;

pub(in crate::web) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(leaderboard))
}

#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(default, deny_unknown_fields)]
struct LeaderboardQuery {
    /// Only models of this provider. Ranks stay what they are among all.
    #[param(example = "reference")]
    provider: String,
    /// Only votes on prompts with this tag, as if there were no others. Ranks go by skill then, or by the share of
    /// votes won where there are too few; `elo` stays that of all votes.
    #[param(example = "vehicle")]
    tag: String,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Leaderboard)]
struct LeaderboardResponse {
    settings: SettingsView,
    /// The ladder as of this moment.
    #[serde(with = "time::serde::rfc3339")]
    as_of: OffsetDateTime,
    models: Vec<RankedModelView>,
}

/// What is compared: a grid, a palette, and a way of asking.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Settings)]
pub(in crate::web) struct SettingsView {
    #[schema(example = 32)]
    grid_size: u32,
    #[schema(example = "simple")]
    palette: &'static str,
    #[schema(example = "precise")]
    mode: String,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = RankedModel)]
struct RankedModelView {
    #[schema(example = 1)]
    rank: usize,
    #[schema(example = "reference_architect")]
    key: String,
    #[schema(example = "reference")]
    provider: String,
    #[schema(example = "Architect")]
    display_name: String,
    #[serde(flatten)]
    standing: StandingView,
}

/// Where a model stands, wherever its name is known already.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Standing)]
pub(in crate::web) struct StandingView {
    #[schema(example = 1532.5)]
    elo: f64,
    #[schema(example = 40)]
    votes: i64,
    #[schema(example = 22)]
    wins: i64,
    /// Both bad counts here, too.
    #[schema(example = 14)]
    losses: i64,
    #[schema(example = 4)]
    ties: i64,
    #[schema(example = 3)]
    both_bad: i64,
    /// How often it was shown in a matchup that is closed.
    #[schema(example = 47)]
    shown: i64,
    /// Null while there are not enough votes.
    #[schema(required, value_type = Option<shapes::SkillSchema>)]
    skill: Option<Skill>,
}

/// The ladder
///
/// Who stands where, best first. Elo follows the votes one by one; skill is a Bradley-Terry fit over all of them, with
/// its 95 % interval.
#[utoipa::path(
    get, path = "/api/leaderboard", tag = "Results", operation_id = "leaderboard",
    params(LeaderboardQuery),
    responses(
        (status = OK, description = "The ladder.", body = LeaderboardResponse),
        (status = NOT_FOUND, description = "not_found"),
    ),
)]
async fn leaderboard(
    State(app): State<App>,
    Query(query): Query<LeaderboardQuery>,
) -> Result<Json<LeaderboardResponse>, Error> {
    let board = board(&app, &query.tag).await?;
    let rows = board.rows.iter();
    let rows = rows.filter(|row| query.provider.is_empty() || row.model.provider == query.provider);
    Ok(Json(LeaderboardResponse {
        settings: SettingsView::of(&app.arena.settings),
        as_of: board.as_of,
        models: rows.cloned().map(RankedModelView::of).collect(),
    }))
}

impl SettingsView {
    pub fn of(settings: &arena::Settings) -> Self {
        Self {
            grid_size: settings.grid.get() as u32,
            palette: settings.palette.name(),
            mode: settings.mode.as_str().to_owned(),
        }
    }
}

impl RankedModelView {
    fn of(row: LadderEntry) -> Self {
        let standing = StandingView::of(&row);
        let LadderEntry { rank, model, .. } = row;
        let key = model.key.to_string();
        Self { rank, key, provider: model.provider, display_name: model.display_name, standing }
    }
}

impl StandingView {
    pub fn of(row: &LadderEntry) -> Self {
        let standing = &row.standing;
        Self {
            elo: standing.elo,
            votes: standing.votes(),
            wins: standing.wins,
            losses: standing.losses,
            ties: standing.ties,
            both_bad: standing.both_bad,
            shown: row.shown,
            skill: row.skill.clone(),
        }
    }
}
