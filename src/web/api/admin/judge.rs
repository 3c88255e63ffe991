//! `POST /api/admin/judge`: has a vision model judge builds.

use std::fmt;

use axum::Json;
use axum::extract::{Query, State};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;
use uuid::Uuid;

use super::RequireAdmin;
use super::queue::PausesView;
use super::seed::{SeedEstimate, SeedJobView};
use crate::app::App;
use crate::arena::jobs;
use crate::arena::jobs::judgements::{JudgeTarget, JudgedBuilds};
use crate::arena::{ModelKey, PromptId};
use crate::web::openapi::codes;
use crate::web::query::{flag, names};
use crate::web::{Error, ErrorCode};
use crate::worker::judging::{JudgeError, JudgeRequest, JudgingEstimate, JudgingSummary};

/// More builds than any arena has.
const MAX_LIMIT: usize = 10_000;

pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(judge))
}

#[derive(Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct JudgeQuery {
    /// The judge: the key of a model that sees pictures.
    #[param(value_type = String, example = "openai_gpt_5_5")]
    model: ModelKey,
    /// 1 only reports what would be done, and what it may cost.
    #[serde(default, deserialize_with = "flag")]
    #[param(value_type = u8, minimum = 0, maximum = 1, default = 0)]
    dry_run: bool,
    /// 1 has pairs compared that voters have voted on, each in both orders, those with the most counted votes first.
    #[serde(default, deserialize_with = "flag")]
    #[param(value_type = u8, minimum = 0, maximum = 1, default = 0)]
    pairwise: bool,
    /// Only builds of these prompts: ids, separated by commas.
    #[serde(default, deserialize_with = "names")]
    #[param(value_type = Option<String>, example = "steam-locomotive")]
    prompt: Vec<PromptId>,
    /// Only builds by these models: keys, separated by commas. Of a pair, one build has to be by one of them.
    #[serde(default, deserialize_with = "names")]
    #[param(value_type = Option<String>, example = "anthropic_claude_opus_5")]
    of: Vec<ModelKey>,
    /// Only this build; of a pair, the one on the left.
    build: Option<Uuid>,
    /// Only the pair with this build on the right.
    right_build: Option<Uuid>,
    /// At most so many builds or pairs, those in progress included.
    #[param(minimum = 1, maximum = 10_000, example = 50)]
    limit: Option<usize>,
    /// 1 also asks again where a job has failed or was cancelled.
    #[serde(default, deserialize_with = "flag")]
    #[param(value_type = u8, minimum = 0, maximum = 1, default = 0)]
    retry_failed: bool,
}

#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = JudgingJobs)]
pub struct JudgeResponse {
    pub ok: bool,
    pub model_key: String,
    pub pairwise: bool,
    /// Builds that can be judged, or pairs that can be compared; each pair counts once for each order.
    pub targets: usize,
    /// How many of them this judge has judged by these criteria.
    pub judged: usize,
    /// How many have failed or were cancelled.
    pub failed: usize,
    /// How many the judge was not asked about, before this call.
    pub open: usize,
    /// The jobs that were queued, and those that were in progress already.
    pub jobs: Vec<SeedJobView>,
    /// With a dry run, what would be asked about.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub next: Vec<JudgeTargetView>,
    /// With a dry run, what that may cost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub estimate: Option<JudgeEstimateView>,
    pub pauses: PausesView,
}

#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = JudgeTarget)]
pub struct JudgeTargetView {
    /// The build, or the one on the left.
    pub build_id: Uuid,
    /// The build on the right; null unless this is a pair.
    pub right_build_id: Option<Uuid>,
    pub prompt_id: String,
    /// Who made the build.
    pub of: String,
    /// Who made the build on the right.
    pub right_of: Option<String>,
}

#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = JudgingCost)]
pub struct JudgeEstimateView {
    /// In each request.
    #[schema(example = 9)]
    pub pictures: usize,
    /// What the pictures of a request are at the provider, about.
    #[schema(example = 3249)]
    pub picture_tokens: u64,
    #[schema(example = 1500)]
    pub text_tokens: u64,
    /// What an answer is expected to have.
    #[schema(example = 1500)]
    pub answer_tokens: u64,
    /// Of all requests. If the model has judged before, from what that has cost.
    #[serde(flatten)]
    pub total: SeedEstimate,
}

/// Have builds judged
///
/// Queues a job for each build in force of an active prompt that the model has not judged by the current criteria. Builds
/// that are withheld are left out until they are released. With `pairwise=1`, for each pair that voters have voted on, and
/// each order of it. Nothing is judged twice, and no judgement changes a rating.
///
/// The jobs run in the background; `POST /api/admin/jobs/progress` follows them.
#[utoipa::path(
    post, path = "/api/admin/judge", tag = "Admin", operation_id = "queueJudging",
    params(JudgeQuery),
    responses((status = OK, description = "What is queued, or would be.", body = JudgeResponse)),
    extensions(("x-errors" = json!(codes([
        ErrorCode::NoModel, ErrorCode::NoPrompt, ErrorCode::NoKey, ErrorCode::NoVision,
    ])))),
)]
async fn judge(
    State(app): State<App>,
    RequireAdmin(admin): RequireAdmin,
    Query(query): Query<JudgeQuery>,
) -> Result<Json<JudgeResponse>, Error> {
    let request = query.read()?;
    let worker = app.worker.clone();
    // In a task of its own: a client that disconnects must not stop it halfway.
    let queued = tokio::spawn(async move { worker.judge(admin, request).await });
    let summary = queued.await.map_err(Error::internal)??;
    let jobs = jobs::find(&app.pool, &summary.jobs).await?;
    let jobs = jobs.into_iter().map(SeedJobView::of).collect();
    Ok(Json(JudgeResponse::new(summary, jobs, PausesView::read(&app).await?)))
}

impl JudgeQuery {
    fn read(self) -> Result<JudgeRequest, Error> {
        if self.limit.is_some_and(|limit| !(1..=MAX_LIMIT).contains(&limit)) {
            return Err(Error::bad_request("limit is a number from 1 to 10000."));
        }
        let only = match (self.build, self.right_build) {
            (None, None) => None,
            (Some(build), None) if !self.pairwise => Some(JudgedBuilds::One(build)),
            (Some(left), Some(right)) if self.pairwise => Some(JudgedBuilds::Pair { left, right }),
            _ => {
                return Err(Error::bad_request(
                    "A pair has a build and a rightBuild; anything else has only a build.",
                ));
            }
        };
        Ok(JudgeRequest {
            only,
            judge: self.model,
            pairwise: self.pairwise,
            prompts: self.prompt,
            makers: self.of,
            limit: self.limit,
            retry_failed: self.retry_failed,
            dry_run: self.dry_run,
        })
    }
}

impl From<JudgeError> for Error {
    fn from(error: JudgeError) -> Self {
        let code = match error {
            JudgeError::Unknown(unknown) => return unknown.into(),
            JudgeError::Database(error) => return error.into(),
            JudgeError::NoModel(_) => ErrorCode::NoModel,
            JudgeError::NoVision(_) => ErrorCode::NoVision,
            JudgeError::Disabled(_) | JudgeError::NoProvider(_) => ErrorCode::NoKey,
        };
        Self::new(code, error.to_string())
    }
}

impl JudgeResponse {
    fn new(summary: JudgingSummary, jobs: Vec<SeedJobView>, pauses: PausesView) -> Self {
        Self {
            ok: true,
            model_key: summary.judge.to_string(),
            pairwise: summary.pairwise,
            targets: summary.targets,
            judged: summary.judged,
            failed: summary.failed,
            open: summary.open,
            jobs,
            next: summary.next.into_iter().map(JudgeTargetView::from).collect(),
            estimate: summary.estimate.map(JudgeEstimateView::from),
            pauses,
        }
    }
}

impl From<JudgeTarget> for JudgeTargetView {
    fn from(target: JudgeTarget) -> Self {
        Self {
            build_id: target.builds.first(),
            right_build_id: target.builds.second(),
            prompt_id: target.prompt.to_string(),
            of: target.maker.to_string(),
            right_of: target.second_maker.map(|maker| maker.to_string()),
        }
    }
}

impl From<JudgingEstimate> for JudgeEstimateView {
    fn from(estimate: JudgingEstimate) -> Self {
        let JudgingEstimate { pictures, picture_tokens, text_tokens, answer_tokens, total } = estimate;
        Self { pictures, picture_tokens, text_tokens, answer_tokens, total: SeedEstimate::of(total) }
    }
}

impl fmt::Display for JudgeTargetView {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.right_of {
            Some(right) => write!(f, "{}: {} and {right}", self.prompt_id, self.of),
            None => write!(f, "{} by {}", self.prompt_id, self.of),
        }
    }
}
