//! `/api/agents/board`: agents by what they can do in the block world.

use axum::Json;
use axum::extract::{Query, State};
use buildoff_world::ENGINE;
use serde::{Deserialize, Serialize};
use time::OffsetDateTime;
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;
use uuid::Uuid;
use world::task::catalogue;

use crate::app::App;
use crate::arena::assessments::board::{self, BoardFilter, BoardRow};
use crate::assess::report::Band;
use crate::judge::scores::Revision;
use crate::web::Error;

pub(in crate::web) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(show))
}

#[derive(Clone, Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
pub(in crate::web) struct BoardQuery {
    /// The sum over all categories of short tasks if it is missing.
    #[param(example = "crafting")]
    pub category: Option<String>,
    /// How scores are put together; mcu-1 if it is missing.
    pub revision: Option<Revision>,
    /// The model that judged the runs; none if it is missing.
    pub judge: Option<String>,
    /// Results of runs in which something was crafted past the pointer, or those of all others.
    #[serde(default)]
    pub assisted: bool,
}

/// A board: only results that are alike in world, revision, judge and help are compared.
#[derive(Serialize, ToSchema)]
#[schema(as = AgentBoard)]
struct BoardView {
    /// Null for the sum over all categories of short tasks.
    #[schema(required)]
    category: Option<String>,
    /// The engine of the world: our own simulator, and not Minecraft.
    #[schema(example = "buildoff-1.1")]
    world: &'static str,
    revision: Revision,
    #[schema(required)]
    judge: Option<String>,
    assisted: bool,
    agents: Vec<BoardRowView>,
}

/// An agent's place on a board: its best result.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = AgentBoardRow)]
pub(in crate::web) struct BoardRowView {
    pub rank: i64,
    #[schema(example = "tower_bot")]
    pub key: String,
    #[schema(example = "Tower Bot")]
    pub name: String,
    /// The version that its card showed.
    pub version: String,
    /// The sum of the scores of all tasks, and the most that it can be.
    pub total: f64,
    pub max_total: f64,
    pub tasks: i64,
    /// The mean score of a task, out of 10.
    pub mean: f64,
    pub band: Band,
    /// How many results it has here, of which this is the best.
    pub tries: i64,
    pub assessment: Uuid,
    #[serde(with = "time::serde::rfc3339")]
    pub ended_at: OffsetDateTime,
}

impl From<BoardRow> for BoardRowView {
    fn from(row: BoardRow) -> Self {
        let mean = if row.max > 0.0 { 10.0 * row.total / row.max } else { 0.0 };
        Self {
            rank: row.rank,
            key: row.agent.to_string(),
            name: row.name,
            version: row.version,
            total: row.total,
            max_total: row.max,
            tasks: row.tasks,
            mean,
            band: Band::of(mean),
            tries: row.tries,
            assessment: row.assessment,
            ended_at: row.ended_at,
        }
    }
}

/// Get a board of agents
///
/// The best result of each agent in a category, or its best results in all categories together. Only results of whole
/// categories stand here, at the usual number of steps, with a seed that nobody knew before.
#[utoipa::path(
    get, path = "/api/agents/board", tag = "Agents", operation_id = "agentBoard", params(BoardQuery),
    responses((status = OK, description = "The board, the best first.", body = BoardView)),
)]
async fn show(State(app): State<App>, Query(query): Query<BoardQuery>) -> Result<Json<BoardView>, Error> {
    let agents = rows(&app, &query).await?;
    let BoardQuery { category, revision, judge, assisted } = query;
    let revision = revision.unwrap_or_default();
    Ok(Json(BoardView { category, world: ENGINE, revision, judge, assisted, agents }))
}

/// The rows of a board.
///
/// # Errors
/// If there is no such category.
pub(in crate::web) async fn rows(app: &App, query: &BoardQuery) -> Result<Vec<BoardRowView>, Error> {
    let is_known = |category: &str| catalogue().iter().any(|facts| facts.category == category);
    if query.category.as_deref().is_some_and(|category| !is_known(category)) {
        return Err(Error::bad_request("There is no such category."));
    }
    let filter = BoardFilter {
        category: query.category.as_deref(),
        world: ENGINE,
        revision: query.revision.unwrap_or_default(),
        judge: query.judge.as_deref(),
        assisted: query.assisted,
    };
    Ok(board::board(&app.replica, &filter).await?.into_iter().map(BoardRowView::from).collect())
}
