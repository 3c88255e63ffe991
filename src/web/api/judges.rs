//! `/api/judges`: how good judges are.

use std::collections::BTreeMap;

use axum::Json;
use axum::extract::State;
use serde::Serialize;
use time::OffsetDateTime;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;
use uuid::Uuid;

use crate::app::App;
use crate::arena::judges::{JudgeStats, MeasuredJudge, ReportedBuild};
use crate::judge::agreement::JudgeReport;
use crate::web::Error;

pub(in crate::web) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(show))
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Judges)]
struct JudgesResponse {
    #[serde(with = "time::serde::rfc3339")]
    computed_at: OffsetDateTime,
    /// In the order of their keys, models first.
    judges: Vec<JudgeView>,
    /// The builds that the reports name, by their IDs in the vote log.
    builds: BTreeMap<Uuid, ReportedBuild>,
}

/// A judge, and how good it is. What is null cannot be told yet.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = JudgeMeasures)]
struct JudgeView {
    #[schema(example = "GPT-5.5")]
    name: String,
    /// How many times it has scored a build.
    #[schema(example = 400)]
    judgements: i64,
    /// How many times it has chosen between two builds.
    #[schema(example = 800)]
    votes: i64,
    #[serde(flatten)]
    report: JudgeReport,
}

/// Show how good the judges are
///
/// For each judge, a model or people together: how often it agrees with the voters, and voters with each other; whether
/// it keeps its verdict when the sides are swapped; whether it leans to one side, to larger builds or to its own
/// provider; and whether its scores rank the models as the voters do. Intervals are of 95 %. The numbers follow from
/// `/api/judgements.jsonl` and `/api/votes.jsonl` alone.
#[utoipa::path(
    get, path = "/api/judges", tag = "Results", operation_id = "judges",
    responses((status = OK, description = "The judges.", body = JudgesResponse)),
)]
async fn show(State(app): State<App>) -> Result<Json<JudgesResponse>, Error> {
    let stats = app.arena.judges().await?;
    let JudgeStats { computed_at, judges, builds, .. } = &*stats;
    let judges = judges.iter().cloned().map(JudgeView::from).collect();
    Ok(Json(JudgesResponse { computed_at: *computed_at, judges, builds: builds.clone() }))
}

impl From<MeasuredJudge> for JudgeView {
    fn from(MeasuredJudge { name, judgements, votes, report }: MeasuredJudge) -> Self {
        Self { name, judgements, votes, report }
    }
}
