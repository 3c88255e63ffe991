//! The list of assessments.

use axum::Json;
use axum::extract::{Query, State};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use time::OffsetDateTime;
use utoipa::{IntoParams, ToSchema};
use uuid::Uuid;

use super::AssessedAgentView;
use crate::app::App;
use crate::arena::ModelKey;
use crate::arena::assessments::{self, Assessment, AssessmentState, ResultTotal};
use crate::judge::scores::Revision;
use crate::outbound;
use crate::web::openapi::codes;
use crate::web::{Error, ErrorCode};

/// Assessments on a page of the list.
const PAGE: usize = 50;

/// An assessment in a list.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ListedAssessment)]
pub(in crate::web) struct ListedAssessmentView {
    pub id: Uuid,
    pub state: AssessmentState,
    #[schema(required)]
    pub agent: Option<AssessedAgentView>,
    pub host: String,
    /// As it was ordered.
    #[schema(value_type = Object)]
    pub config: Value,
    pub world: String,
    pub revision: Revision,
    /// The sum of the scores of all runs, and the most that it can be. Null if there is no result.
    #[schema(required)]
    pub score: Option<f64>,
    #[schema(required)]
    pub max_score: Option<f64>,
    #[serde(with = "time::serde::rfc3339")]
    pub wanted_at: OffsetDateTime,
    #[serde(with = "time::serde::rfc3339::option")]
    #[schema(required)]
    pub ended_at: Option<OffsetDateTime>,
}

#[derive(Serialize, ToSchema)]
#[schema(as = Assessments)]
pub(super) struct AssessmentsResponse {
    assessments: Vec<ListedAssessmentView>,
    /// Where the next page begins: the value of `before`. Null on the last page.
    #[schema(required)]
    next: Option<Uuid>,
}

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
pub(super) struct ListQuery {
    /// Only assessments of this agent.
    #[param(example = "tower_bot")]
    agent: Option<String>,
    /// Only assessments with tasks of this category.
    #[param(example = "crafting")]
    category: Option<String>,
    /// Only assessments that were ordered before this one.
    before: Option<Uuid>,
}

/// List assessments
///
/// The newest first, 50 on a page.
#[utoipa::path(
    get, path = "/api/assessments", tag = "Agents", operation_id = "listAssessments", params(ListQuery),
    responses((status = OK, description = "Assessments, without their runs.", body = AssessmentsResponse)),
    extensions(("x-errors" = json!(codes([ErrorCode::NoAgent])))),
)]
pub(super) async fn list(
    State(app): State<App>,
    Query(ListQuery { agent, category, before }): Query<ListQuery>,
) -> Result<Json<AssessmentsResponse>, Error> {
    let agent = agent.map(|key| key.parse::<ModelKey>().map_err(|_| ErrorCode::NoAgent)).transpose()?;
    let (assessments, next) =
        ListedAssessmentView::page(&app, agent.as_ref(), category.as_deref(), before, PAGE).await?;
    Ok(Json(AssessmentsResponse { assessments, next }))
}

impl ListedAssessmentView {
    /// A page of the list, the newest first, and where the next page begins.
    pub async fn page(
        app: &App,
        agent: Option<&ModelKey>,
        category: Option<&str>,
        before: Option<Uuid>,
        size: usize,
    ) -> sqlx::Result<(Vec<Self>, Option<Uuid>)> {
        let mut found = assessments::list(&app.replica, agent, category, before, size as i64 + 1).await?;
        let has_more = found.len() > size;
        found.truncate(size);
        let next = found.last().filter(|_| has_more).map(|last| last.id);
        let ids: Vec<Uuid> = found.iter().map(|assessment| assessment.id).collect();
        let totals = assessments::totals(&app.replica, &ids).await?;
        let total = |id| totals.iter().find(|total| total.assessment == id).copied();
        Ok((found.into_iter().map(|found| Self::of(total(found.id), found)).collect(), next))
    }

    fn of(total: Option<ResultTotal>, assessment: Assessment) -> Self {
        Self {
            id: assessment.id,
            state: assessment.state,
            agent: AssessedAgentView::of(assessment.agent.as_ref(), assessment.agent_name.as_deref()),
            host: outbound::host_and_port(&assessment.url).unwrap_or_default(),
            config: assessment.config,
            world: assessment.world,
            revision: assessment.revision,
            score: total.map(|total| total.total),
            max_score: total.map(|total| total.max),
            wanted_at: assessment.wanted_at,
            ended_at: assessment.ended_at,
        }
    }
}
