//! `GET /api/decisions`: what admins have decided about votes.

use axum::Json;
use axum::extract::{Query, State};
use serde::{Deserialize, Serialize};
use time::OffsetDateTime;
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::app::App;
use crate::arena::decisions::{self, Decision, VoteVerdict};
use crate::web::Error;

const PAGE_SIZE: i64 = 100;

pub(in crate::web) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(list))
}

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
struct DecisionsQuery {
    /// List only decisions older than the one with this ID.
    before: Option<i64>,
}

#[derive(Serialize, ToSchema)]
#[schema(as = Decisions)]
struct DecisionsResponse {
    decisions: Vec<DecisionView>,
}

/// A decision about votes.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Decision)]
pub(in crate::web) struct DecisionView {
    pub id: i64,
    #[serde(with = "time::serde::rfc3339")]
    pub decided_at: OffsetDateTime,
    pub verdict: VoteVerdict,
    /// How many votes it is about.
    #[schema(example = 159)]
    pub votes: i32,
    /// How many judgements of builds it is about.
    #[schema(example = 3)]
    pub judgements: i32,
    /// When the first of these votes was cast; null without votes.
    #[serde(with = "time::serde::rfc3339::option")]
    #[schema(required)]
    pub first_at: Option<OffsetDateTime>,
    #[schema(example = "Fifty networks voted for one model within ten minutes.")]
    pub reason: String,
}

/// List decisions about votes
///
/// The newest hundred decisions, newest first: votes that were withdrawn, set aside as suspect, or counted again, and
/// why. The votes themselves stay in the log.
#[utoipa::path(
    get, path = "/api/decisions", tag = "Results", operation_id = "decisions",
    params(DecisionsQuery),
    responses((status = OK, description = "The decisions.", body = DecisionsResponse)),
)]
async fn list(
    State(app): State<App>,
    Query(DecisionsQuery { before }): Query<DecisionsQuery>,
) -> Result<Json<DecisionsResponse>, Error> {
    let decisions = decisions::list(&app.pool, before, PAGE_SIZE).await?;
    Ok(Json(DecisionsResponse { decisions: decisions.into_iter().map(DecisionView::from).collect() }))
}

impl From<Decision> for DecisionView {
    fn from(decision: Decision) -> Self {
        let Decision { id, decided_at, decided_by: _, verdict, reason, votes, judgements, first_at } =
            decision;
        Self { id, decided_at, verdict, votes, judgements, first_at, reason }
    }
}
