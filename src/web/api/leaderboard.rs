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
use crate::arena::leaderboard::{LadderEntry, Leaderboard, MeanExpense};
use crate::arena::skill::{EqualSizeFit, SizeEffect, Skill};
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
    /// Null if the votes do not tell what size is worth.
    #[schema(required)]
    equal_size: Option<EqualSizeView>,
    models: Vec<RankedModelView>,
}

/// What size is worth, in rating points on the scale of `skill`: the same fit, with the sizes of builds in it.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = EqualSize)]
struct EqualSizeView {
    /// The votes that the fit is based on: those on builds of known sizes, without both bad.
    #[schema(example = 1200)]
    votes: u64,
    /// What doubling the blocks of a build is worth, with a 95 % interval. Null if the votes do not tell.
    #[schema(required)]
    doubled_blocks: Option<SizeEffect>,
    /// What doubling the kinds of blocks is worth, with a 95 % interval. Null if the votes do not tell.
    #[schema(required)]
    doubled_kinds: Option<SizeEffect>,
}

/// A mean cost, in dollars.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = MeanCost)]
struct MeanCostView {
    #[schema(example = 0.24)]
    mean: f64,
    /// How many builds it is the mean of.
    #[schema(example = 15)]
    builds: i64,
}

/// A mean time, in milliseconds.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = MeanTime)]
struct MeanTimeView {
    #[schema(example = 48200.0)]
    mean_ms: f64,
    /// How many builds it is the mean of.
    #[schema(example = 15)]
    builds: i64,
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
    /// Skill if all builds had the same size. Null until there are enough votes, and while they do not tell what size is
    /// worth.
    #[schema(required)]
    skill_at_equal_size: Option<Skill>,
    /// Of the model’s builds in force, with all attempts at them. Missing if no cost is known completely.
    #[serde(skip_serializing_if = "Option::is_none")]
    cost: Option<MeanCostView>,
    /// Of the model’s builds in force. Missing if no time is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    generation_time: Option<MeanTimeView>,
}

/// Get the leaderboard
///
/// All models, best first. Elo changes with every vote; skill is a fit over all votes, ties included, with a
/// 95 % interval. `equalSize` says what doubling the size of a build is worth, and `skillAtEqualSize` what skills would be
/// if all builds had the same size.
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
        equal_size: board.stats.fit.equal_size.as_ref().map(EqualSizeView::of),
        models: rows.cloned().map(RankedModelView::of).collect(),
    }))
}

impl RankedModelView {
    fn of(row: LadderEntry) -> Self {
        let standing = StandingView::of(&row);
        let LadderEntry { rank, model, equal_size, expenses, .. } = row;
        let cost = |MeanExpense { mean, builds }| MeanCostView { mean: mean / 1e6, builds };
        let time = |MeanExpense { mean, builds }| MeanTimeView { mean_ms: mean, builds };
        Self {
            rank,
            key: model.key.to_string(),
            agent: model.is_agent(),
            provider: model.provider,
            display_name: model.display_name,
            standing,
            skill_at_equal_size: equal_size,
            cost: expenses.cost.map(cost),
            generation_time: expenses.generation_time_ms.map(time),
        }
    }
}

impl EqualSizeView {
    fn of(fit: &EqualSizeFit) -> Self {
        let EqualSizeFit { votes, blocks, kinds, .. } = fit.clone();
        Self { votes, doubled_blocks: blocks, doubled_kinds: kinds }
    }
}

/// The whole leaderboard, or that of some prompts.
pub(in crate::web) async fn board(app: &App, filter: &PromptFilter) -> Result<Arc<Leaderboard>, Error> {
    match filter.is_all() {
        true => Ok(Arc::new(app.arena.leaderboard().await?)),
        false => Ok(app.arena.filtered_ladder(filter).await?),
    }
}
