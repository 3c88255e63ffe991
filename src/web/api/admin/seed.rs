//! `POST /api/admin/seed`: fills the arena, a few builds at a time.

use std::fmt::{self, Display};

use axum::Json;
use axum::extract::{Query, State};
use serde::{Deserialize, Serialize};
use time::OffsetDateTime;
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::RequireAdmin;
use crate::app::App;
use crate::arena::jobs::{Job, JobState};
use crate::web::Error;
use crate::web::query::flag;
use crate::worker::seeding::{self, SeedRequest, SeedScope};

const DEFAULT_BATCH: usize = 2;

pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(seed))
}

#[derive(Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct SeedQuery {
    /// 0 brings in prompts and models alone.
    #[serde(default = "default_true", deserialize_with = "flag")]
    #[param(value_type = u8, minimum = 0, maximum = 1, default = 1)]
    generate_builds: bool,
    /// 1 tells what would be done, and does nothing.
    #[serde(default, deserialize_with = "flag")]
    #[param(value_type = u8, minimum = 0, maximum = 1, default = 0)]
    dry_run: bool,
    /// 1 wants all that are missing and does not wait.
    #[serde(default, deserialize_with = "flag")]
    #[param(value_type = u8, minimum = 0, maximum = 1, default = 0)]
    background: bool,
    /// 1 counts what has failed or was cancelled among the missing again; said once, it holds for the calls that follow, and
    /// said with each of them, they never end while something fails.
    #[serde(default, deserialize_with = "flag")]
    #[param(value_type = u8, minimum = 0, maximum = 1, default = 0)]
    retry_failed: bool,
    /// How many builds the caller waits for, 1 to 3.
    #[param(minimum = 1, maximum = 3, default = 2)]
    batch_size: Option<usize>,
}

#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Seeded)]
pub struct SeedResponse {
    pub ok: bool,
    /// Nothing is left that could run.
    pub done: bool,
    pub prompt_count: usize,
    pub model_count: usize,
    pub total_expected_builds: usize,
    pub existing_builds: usize,
    pub remaining_builds: usize,
    pub failed_builds: usize,
    pub jobs: Vec<SeedJobView>,
    /// What a dry run would ask for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub next: Vec<MissingBuildView>,
    /// And what that may cost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub estimate: Option<SeedEstimate>,
}

#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[schema(as = EstimatedCost)]
pub struct SeedEstimate {
    /// Going by what builds of each model have cost, or by its prices and an answer of usual length.
    #[schema(example = 12.5)]
    pub dollars: f64,
    /// Builds whose price is not known, and which are not in it.
    #[schema(example = 0)]
    pub unknown: usize,
}

#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = SeededJob)]
pub struct SeedJobView {
    pub id: String,
    pub prompt_id: String,
    pub model_key: String,
    pub state: String,
    pub error: Option<String>,
    pub block_count: Option<i32>,
    pub attempts: i32,
    pub ms: Option<i64>,
}

#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = MissingBuild)]
pub struct MissingBuildView {
    pub prompt_id: String,
    pub model_key: String,
}

/// Fill the arena
///
/// Brings in prompts and models, then asks for the next missing builds and waits for them, up to two minutes. The work goes
/// on when the caller leaves, and the next call finds it again. Call it until `done`.
#[utoipa::path(
    post, path = "/api/admin/seed", tag = "Admin", operation_id = "seed",
    security(("adminToken" = [])),
    params(SeedQuery),
    responses((status = OK, description = "How it all stands now.", body = SeedResponse)),
)]
async fn seed(
    State(app): State<App>,
    RequireAdmin(admin): RequireAdmin,
    Query(parameters): Query<SeedQuery>,
) -> Result<Json<SeedResponse>, Error> {
    let SeedQuery { dry_run, retry_failed, .. } = parameters;
    let request = SeedRequest { scope: parameters.scope()?, dry_run, retry_failed };
    let worker = app.worker.clone();
    // Not left half done when the caller leaves.
    let started = tokio::spawn(async move { worker.seed(admin, request).await });
    let started = started.await.map_err(Error::internal)??;
    Ok(Json(app.worker.wait_for_jobs(started).await?.into()))
}

impl SeedQuery {
    fn scope(&self) -> Result<SeedScope, Error> {
        let batch = self.batch_size.unwrap_or(DEFAULT_BATCH);
        if !(1..=3).contains(&batch) {
            return Err(Error::bad_request("bad_request", "batchSize is 1, 2 or 3; background=1 wants all."));
        }
        Ok(match self {
            Self { generate_builds: false, .. } => SeedScope::Catalog,
            Self { background: true, .. } => SeedScope::Everything,
            _ => SeedScope::Batch(batch),
        })
    }
}

impl From<seeding::SeedSummary> for SeedResponse {
    fn from(seeded: seeding::SeedSummary) -> Self {
        let sum = &seeded.sum;
        let now = OffsetDateTime::now_utc();
        let next = |slot: &crate::arena::builds::BuildSlot| MissingBuildView {
            prompt_id: slot.prompt.to_string(),
            model_key: slot.model.to_string(),
        };
        Self {
            ok: true,
            done: sum.is_done(),
            prompt_count: sum.prompts,
            model_count: sum.models,
            total_expected_builds: sum.expected,
            existing_builds: sum.existing,
            remaining_builds: sum.remaining(),
            failed_builds: sum.failed,
            jobs: seeded.jobs.into_iter().map(|job| SeedJobView::of(job, now)).collect(),
            next: seeded.next.iter().map(next).collect(),
            estimate: seeded.estimate.map(|estimate| SeedEstimate {
                dollars: estimate.cost.0 as f64 / 1e6,
                unknown: estimate.unknown,
            }),
        }
    }
}

/// A line for people.
impl Display for SeedJobView {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} by {}: ", self.prompt_id, self.model_key)?;
        match (&self.error, self.block_count) {
            (Some(error), _) => write!(f, "{}: {error}", self.state)?,
            (None, Some(blocks)) => write!(f, "{blocks} blocks")?,
            (None, None) => f.write_str(&self.state)?,
        }
        let seconds = self.ms.unwrap_or_default() as f64 / 1000.0;
        let attempts = if self.attempts == 1 { "attempt" } else { "attempts" };
        write!(f, " ({} {attempts}, {seconds:.0} s)", self.attempts)
    }
}

impl SeedJobView {
    fn of(job: Job, now: OffsetDateTime) -> Self {
        Self {
            state: match job.state {
                JobState::Queued | JobState::Running => "running",
                JobState::Ready => "ready",
                JobState::Failed | JobState::Cancelled => "failed",
            }
            .to_owned(),
            ms: job.seconds(now).map(|seconds| (seconds * 1000.0) as i64),
            id: job.id.to_string(),
            prompt_id: job.prompt_id.to_string(),
            model_key: job.model_key.to_string(),
            error: job.error,
            block_count: job.block_count,
            attempts: job.attempts,
        }
    }
}

fn default_true() -> bool {
    true
}
