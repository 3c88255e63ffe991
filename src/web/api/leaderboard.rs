//! `GET /api/leaderboard`: the leaderboard, for programs.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Query, State};
use serde::{Deserialize, Serialize};
use time::OffsetDateTime;
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::app::App;
use crate::arena::PromptFilter;
use crate::arena::catalog::ContestantKind;
use crate::arena::leaderboard::{LadderEntry, Leaderboard};
use crate::web::openapi::codes;
use crate::web::views::{SettingsView, StandingView};
use crate::web::{Error, ErrorCode};

pub(in crate::web) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(leaderboard))
}

#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(default, deny_unknown_fields)]
struct LeaderboardQuery {
    /// List only models of this provider. Ranks are still those among all models.
    #[param(example = "reference")]
    provider: String,
    /// Count only votes on prompts with this tag. Ranks are then by skill, or by the share of votes won if there are
    /// too few votes; `elo` is still that of all votes.
    #[param(example = "vehicle")]
    tag: String,
    /// Count only votes on held-out prompts, whose builds nobody has seen outside of matchups, or only votes on the
    /// others. Ranks are as for a tag.
    #[param(inline)]
    prompts: PromptGroup,
    /// List only models, or only agents. Ranks are still those among all of them.
    #[param(inline)]
    kind: ContestantKind,
}

/// Prompts by whether they are held out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
#[schema(default = "all")]
pub(in crate::web) enum PromptGroup {
    #[default]
    All,
    HeldOut,
    Public,
}

impl PromptGroup {
    pub fn name(self) -> &'static str {
        match self {
            Self::All => "all",
            Self::HeldOut => "held-out",
            Self::Public => "public",
        }
    }

    /// Its name in the address of a page, which leaves out the default.
    pub fn in_address(self) -> &'static str {
        if self == Self::All { "" } else { self.name() }
    }

    /// These prompts, and of those the ones with a tag, unless it is empty.
    pub fn with_tag(self, tag: &str) -> PromptFilter {
        let held_out = match self {
            Self::All => None,
            Self::HeldOut => Some(true),
            Self::Public => Some(false),
        };
        PromptFilter { tag: (!tag.is_empty()).then(|| tag.to_owned()), held_out }
    }
}

/// The part of a sentence about votes that says on which prompts they are; empty for all.
pub(in crate::web) fn on_prompts(filter: &PromptFilter) -> String {
    let group = match filter.held_out {
        Some(true) => "held-out ",
        Some(false) => "public ",
        None => "",
    };
    match &filter.tag {
        Some(tag) => format!(" on {group}prompts tagged {tag}"),
        None if filter.is_all() => String::new(),
        None => format!(" on {group}prompts"),
    }
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Leaderboard)]
struct LeaderboardResponse {
    settings: SettingsView,
    /// When the leaderboard was computed.
    #[serde(with = "time::serde::rfc3339")]
    as_of: OffsetDateTime,
    models: Vec<RankedModelView>,
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
    /// Whether it is an agent: a program of somebody else, asked over the A2A protocol. Missing for models.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[schema(required = false)]
    agent: bool,
    #[serde(flatten)]
    standing: StandingView,
}

/// Get the leaderboard
///
/// All models, best first. Elo changes with every vote; skill is a fit over all votes, ties included, with a
/// 95 % interval.
#[utoipa::path(
    get, path = "/api/leaderboard", tag = "Results", operation_id = "leaderboard",
    params(LeaderboardQuery),
    responses((status = OK, description = "The leaderboard.", body = LeaderboardResponse)),
    extensions(("x-errors" = json!(codes([ErrorCode::NotFound])))),
)]
async fn leaderboard(
    State(app): State<App>,
    Query(query): Query<LeaderboardQuery>,
) -> Result<Json<LeaderboardResponse>, Error> {
    let board = board(&app, &query.prompts.with_tag(&query.tag)).await?;
    let rows = board.rows.iter();
    let rows = rows.filter(|row| {
        let provider = &row.model.provider;
        query.kind.includes(provider) && (query.provider.is_empty() || *provider == query.provider)
    });
    Ok(Json(LeaderboardResponse {
        settings: SettingsView::of(&app.arena.settings),
        as_of: board.as_of,
        models: rows.cloned().map(RankedModelView::of).collect(),
    }))
}

impl RankedModelView {
    fn of(row: LadderEntry) -> Self {
        let standing = StandingView::of(&row);
        let LadderEntry { rank, model, .. } = row;
        let key = model.key.to_string();
        let agent = model.is_agent();
        Self { rank, key, provider: model.provider, display_name: model.display_name, agent, standing }
    }
}

/// The whole leaderboard, or that of some prompts.
pub(in crate::web) async fn board(app: &App, filter: &PromptFilter) -> Result<Arc<Leaderboard>, Error> {
    match filter.is_all() {
        true => Ok(Arc::new(app.arena.leaderboard().await?)),
        false => Ok(app.arena.filtered_ladder(filter).await?),
    }
}
