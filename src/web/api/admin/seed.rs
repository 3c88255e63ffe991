//! `POST /api/admin/seed`: imports the catalog and generates missing builds, a few at a time.

use std::fmt::{self, Display};

use axum::Json;
use axum::extract::{Query, State};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::RequireAdmin;
use super::jobs::{JudgedView, dollars, elapsed_ms};
use super::queue::PausesView;
use crate::app::App;
use crate::arena::builds::BuildSlot;
use crate::arena::coverage::{SlotSelection, UnknownInSelection};
use crate::arena::jobs::{Job, JobState};
use crate::arena::{ModelKey, PromptId};
use crate::generate::cost::MicroDollars;
use crate::web::openapi::codes;
use crate::web::query::{flag, names};
use crate::web::{Error, ErrorCode};
use crate::worker::estimate::Estimate;
use crate::worker::seeding::{self, SeedError, SeedRequest, SeedRetry, SeedScope};

const DEFAULT_BATCH: usize = 2;

/// In dollars. More is a typing error.
const MAX_COST: f64 = 1e6;

pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(seed))
}

#[derive(Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct SeedQuery {
    /// 0 only imports prompts and models.
    #[serde(default = "default_true", deserialize_with = "flag")]
    #[param(value_type = u8, minimum = 0, maximum = 1, default = 1)]
    generate_builds: bool,
    /// 1 only reports what would be done.
    #[serde(default, deserialize_with = "flag")]
    #[param(value_type = u8, minimum = 0, maximum = 1, default = 0)]
    dry_run: bool,
    /// 1 queues all missing builds and does not wait for them.
    #[serde(default, deserialize_with = "flag")]
    #[param(value_type = u8, minimum = 0, maximum = 1, default = 0)]
    background: bool,
    /// 1 counts failed and cancelled builds as missing again. Send it with the first call only: sent with every call, it
    /// never ends while a build fails.
    #[serde(default, deserialize_with = "flag")]
    #[param(value_type = u8, minimum = 0, maximum = 1, default = 0)]
    retry_failed: bool,
    /// 1 queues all missing builds for the batch APIs of their providers, which answer within a day at a lower price, and
    /// does not wait for them.
    #[serde(default, deserialize_with = "flag")]
    #[param(value_type = u8, minimum = 0, maximum = 1, default = 0)]
    batch_api: bool,
    /// The number of builds to wait for, 1 to 3.
    #[param(minimum = 1, maximum = 3, default = 2)]
    batch_size: Option<usize>,
    /// Only builds by these models: keys, separated by commas.
    #[serde(default, deserialize_with = "names")]
    #[param(value_type = Option<String>, example = "openai_gpt_5_2_pro,anthropic_claude_opus_5")]
    model: Vec<ModelKey>,
    /// Only builds of these prompts: ids, separated by commas.
    #[serde(default, deserialize_with = "names")]
    #[param(value_type = Option<String>, example = "steam-locomotive")]
    prompt: Vec<PromptId>,
    /// Only builds of prompts with one of these tags, separated by commas.
    #[serde(default, deserialize_with = "names")]
    #[param(value_type = Option<String>, example = "vehicles")]
    tag: Vec<String>,
    /// 1 leaves out builds that were never tried; only failed and cancelled ones are generated again.
    #[serde(default, deserialize_with = "flag")]
    #[param(value_type = u8, minimum = 0, maximum = 1, default = 0)]
    only_failed: bool,
    /// Only builds that ended for these reasons: codes, separated by commas. Implies `onlyFailed`.
    #[serde(default, deserialize_with = "names")]
    #[param(value_type = Option<String>, example = "refused")]
    reason: Vec<String>,
    /// Dollars that the queued builds may cost by the estimate, together with those of the selection that are in
    /// progress. Builds are queued prompt by prompt up to the first that does not fit; builds of unknown price are left out.
    /// Needs `background`, `batchApi` or `dryRun`.
    #[param(minimum = 0, maximum = 1e6, example = 25.0)]
    max_cost: Option<f64>,
}

#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Seeded)]
pub struct SeedResponse {
    pub ok: bool,
    /// Whether no missing build can be generated any more, except for those that wait for their batches.
    pub done: bool,
    pub prompt_count: usize,
    pub model_count: usize,
    pub total_expected_builds: usize,
    pub existing_builds: usize,
    pub remaining_builds: usize,
    pub failed_builds: usize,
    pub jobs: Vec<SeedJobView>,
    /// With a dry run, the builds that would be generated.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub next: Vec<MissingBuildView>,
    /// With a dry run, what they may cost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub estimate: Option<SeedEstimate>,
    /// With `maxCost`, what it left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub left: Option<LeftOutView>,
    /// Whether nothing can go on before an admin resumes what is paused, or a budget is raised or begins anew.
    pub waits_for_admin: bool,
    /// With batchApi, models that were left out because they cannot be asked in batches.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub without_batch_api: Vec<String>,
    pub pauses: PausesView,
}

#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[schema(as = EstimatedCost)]
pub struct SeedEstimate {
    /// Estimated from what builds of each model have cost, or from its prices and an answer of average length.
    #[schema(example = 12.5)]
    pub dollars: f64,
    /// Builds of unknown price, which are not included.
    #[schema(example = 0)]
    pub unknown: usize,
}

#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[schema(as = LeftOut)]
pub struct LeftOutView {
    /// Missing builds that were not queued.
    #[schema(example = 120)]
    pub builds: usize,
    pub estimate: SeedEstimate,
}

#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = SeededJob)]
pub struct SeedJobView {
    pub id: String,
    /// build or judge.
    #[schema(example = "build")]
    pub kind: String,
    pub prompt_id: String,
    /// The model that is asked.
    pub model_key: String,
    pub state: String,
    /// The key of the provider that was asked; null before the first request.
    pub provider: Option<String>,
    /// Why it failed, for programs.
    pub code: Option<String>,
    pub error: Option<String>,
    pub block_count: Option<i32>,
    /// What a judge is asked about, and says.
    pub judged: Option<JudgedView>,
    pub attempts: i32,
    pub ms: Option<i64>,
    /// In dollars. Null if nothing is known of it.
    pub cost: Option<f64>,
    /// Whether it may have cost more.
    pub cost_is_minimum: bool,
}

#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = MissingBuild)]
pub struct MissingBuildView {
    pub prompt_id: String,
    pub model_key: String,
}

/// Seed the arena
///
/// Imports prompts and models, then generates the next missing builds and waits for them, up to two minutes. The work
/// continues if the client disconnects, and the next call waits for it again. Repeat the call until `done` or
/// `waitsForAdmin` is true. What is paused is left out. With a selection, the numbers are those of the selection.
///
/// `background=1` queues everything that is missing at once and returns; `POST /api/admin/jobs/progress` follows it.
#[utoipa::path(
    post, path = "/api/admin/seed", tag = "Admin", operation_id = "seed",
    params(SeedQuery),
    responses((status = OK, description = "The progress.", body = SeedResponse)),
    extensions(("x-errors" = json!(codes([ErrorCode::NoModel, ErrorCode::NoPrompt])))),
)]
async fn seed(
    State(app): State<App>,
    RequireAdmin(admin): RequireAdmin,
    Query(query): Query<SeedQuery>,
) -> Result<Json<SeedResponse>, Error> {
    let request = query.read()?;
    let worker = app.worker.clone();
    // In a task of its own: a client that disconnects must not stop it halfway.
    let started = tokio::spawn(async move { worker.seed(admin, request).await });
    let started = started.await.map_err(Error::internal)??;
    let summary = app.worker.wait_for_jobs(started).await?;
    Ok(Json(SeedResponse::new(summary, PausesView::read(&app).await?)))
}

impl SeedQuery {
    fn read(self) -> Result<SeedRequest, Error> {
        let (scope, max_cost) = (self.scope()?, self.max_cost()?);
        let retries_some = self.only_failed || !self.reason.is_empty();
        if retries_some && self.waits() {
            return Err(Error::bad_request(
                "onlyFailed and reason need background=1, batchApi=1 or dryRun=1.",
            ));
        }
        let retry = match (retries_some, self.retry_failed) {
            (true, _) => SeedRetry::Only(self.reason),
            (false, true) => SeedRetry::WithMissing,
            (false, false) => SeedRetry::Never,
        };
        let selection = SlotSelection { models: self.model, prompts: self.prompt, tags: self.tag };
        Ok(SeedRequest { scope, selection, dry_run: self.dry_run, retry, max_cost })
    }

    fn scope(&self) -> Result<SeedScope, Error> {
        let batch = self.batch_size.unwrap_or(DEFAULT_BATCH);
        if !(1..=3).contains(&batch) {
            return Err(Error::bad_request("batchSize can be 1, 2 or 3. Use background=1 for all builds."));
        }
        Ok(match self {
            Self { generate_builds: false, .. } => SeedScope::Catalog,
            Self { batch_api: true, .. } => SeedScope::BatchApi,
            Self { background: true, .. } => SeedScope::Everything,
            _ => SeedScope::Batch(batch),
        })
    }

    /// Whether the answer waits for builds. Callers repeat such a request until all is done, so it may not ask again for
    /// what has failed since, nor begin with the whole of an amount each time.
    fn waits(&self) -> bool {
        !self.background && !self.batch_api && !self.dry_run
    }

    fn max_cost(&self) -> Result<Option<MicroDollars>, Error> {
        let Some(dollars) = self.max_cost else { return Ok(None) };
        if !(0.0..=MAX_COST).contains(&dollars) {
            return Err(Error::bad_request("maxCost is an amount in dollars, from 0 to 1000000."));
        }
        if self.waits() {
            return Err(Error::bad_request("maxCost needs background=1, batchApi=1 or dryRun=1."));
        }
        Ok(Some(MicroDollars((dollars * 1e6).round() as u64)))
    }
}

impl From<SeedError> for Error {
    fn from(error: SeedError) -> Self {
        match error {
            SeedError::Unknown(unknown) => unknown.into(),
            SeedError::Database(error) => error.into(),
        }
    }
}

impl From<UnknownInSelection> for Error {
    fn from(unknown: UnknownInSelection) -> Self {
        let code = match unknown {
            UnknownInSelection::Model(_) => ErrorCode::NoModel,
            UnknownInSelection::Prompt(_) => ErrorCode::NoPrompt,
            UnknownInSelection::Tag(_) => ErrorCode::BadRequest,
        };
        Self::new(code, unknown.to_string())
    }
}

impl SeedEstimate {
    pub(super) fn of(estimate: Estimate) -> Self {
        Self { dollars: estimate.cost.0 as f64 / 1e6, unknown: estimate.unknown }
    }
}

impl SeedResponse {
    fn new(seeded: seeding::SeedSummary, pauses: PausesView) -> Self {
        let sum = &seeded.sum;
        let next = |slot: &BuildSlot| MissingBuildView {
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
            jobs: seeded.jobs.into_iter().map(SeedJobView::of).collect(),
            next: seeded.next.iter().map(next).collect(),
            estimate: seeded.estimate.map(SeedEstimate::of),
            left: seeded
                .left
                .map(|left| LeftOutView { builds: left.builds, estimate: SeedEstimate::of(left.estimate) }),
            waits_for_admin: seeded.waits_for_admin,
            without_batch_api: seeded.without_batch_api.iter().map(ToString::to_string).collect(),
            pauses,
        }
    }
}

impl Display for SeedJobView {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.judged {
            Some(judged) => write!(f, "{} judges {}, {}: ", self.model_key, self.prompt_id, judged.makers())?,
            None => write!(f, "{} by {}: ", self.prompt_id, self.model_key)?,
        }
        let verdict = self.judged.as_ref().and_then(JudgedView::verdict);
        match (&self.error, self.block_count, verdict) {
            (Some(error), ..) => write!(f, "{}: {error}", self.state)?,
            (None, Some(blocks), _) => write!(f, "{blocks} blocks")?,
            (None, None, Some(verdict)) => f.write_str(&verdict)?,
            (None, None, None) => f.write_str(&self.state)?,
        }
        let seconds = self.ms.unwrap_or_default() as f64 / 1000.0;
        let attempts = if self.attempts == 1 { "attempt" } else { "attempts" };
        write!(f, " ({} {attempts}, {seconds:.0} s)", self.attempts)
    }
}

impl SeedJobView {
    pub(in crate::web) fn of(job: Job) -> Self {
        let ms = elapsed_ms(&job);
        Self {
            cost: job.cost.map(dollars),
            cost_is_minimum: job.cost_is_minimum,
            code: job.error_code,
            provider: job.provider,
            state: match job.state {
                JobState::Queued | JobState::Running => "running",
                JobState::Ready => "ready",
                JobState::Failed | JobState::Cancelled => "failed",
            }
            .to_owned(),
            ms,
            id: job.id.to_string(),
            kind: job.kind.name().to_owned(),
            judged: job.judged.map(JudgedView::from),
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
