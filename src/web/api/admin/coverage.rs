//! `GET /api/admin/coverage`: the state of every build, prompts by models.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};

use axum::Json;
use axum::extract::State;
use serde::Serialize;
use time::OffsetDateTime;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;
use uuid::Uuid;

use super::RequireAdmin;
use super::jobs::dollars;
use super::queue::PausesView;
use crate::app::App;
use crate::arena::catalog::{ListedModel, ListedPrompt};
use crate::arena::coverage::{self, Coverage, SlotSelection};
use crate::arena::jobs::{self, JobState};
use crate::arena::{ModelKey, WaitingModel};
use crate::web::views::{AdminModelView, AdminPromptView, SettingsView};
use crate::web::{Error, filters};

pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(coverage))
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Coverage)]
struct CoverageResponse {
    settings: SettingsView,
    prompts: Vec<AdminPromptView>,
    models: Vec<AdminModelView>,
    /// All cells with a build or a job.
    cells: Vec<CoverageCellView>,
    sum: CoverageSumView,
    /// Models whose builds are not voted on yet.
    waiting: Vec<WaitingModelView>,
}

/// A model that has built too few of the active prompts for its builds to be voted on.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = WaitingModel)]
pub(in crate::web) struct WaitingModelView {
    #[schema(example = "openai_gpt_5_2_pro")]
    pub key: String,
    pub display_name: String,
    /// Of active prompts.
    pub builds: usize,
    /// The builds with which it takes part.
    pub needed: usize,
}

/// The build of a prompt by a model, or its latest job.
#[derive(Clone, Debug, Default, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = CoverageCell)]
pub(in crate::web) struct CoverageCellView {
    pub prompt_id: String,
    pub model_key: String,
    /// missing, queued, running, failed, cancelled or ready.
    pub state: &'static str,
    pub job_id: Option<Uuid>,
    pub build_id: Option<Uuid>,
    pub block_count: Option<i32>,
    /// When the job started, in milliseconds since 1970.
    pub since: Option<i64>,
    pub attempts: i32,
    /// Characters of the current answer.
    pub chars: i64,
    /// What the job is waiting for.
    pub note: Option<String>,
    pub code: Option<String>,
    pub error: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = CoverageSum)]
pub(in crate::web) struct CoverageSumView {
    pub expected: usize,
    pub existing: usize,
    pub remaining: usize,
    pub failed: usize,
    pub cancelled: usize,
    pub under_way: usize,
    /// In dollars, as far as known.
    pub spent: f64,
    /// Attempts of unknown price or usage, and answers whose end was lost. They may have cost more than is known.
    pub unpriced: i64,
    /// Why the failed ones failed, the most frequent reason first.
    pub failures: Vec<FailureReasonView>,
}

/// Failed builds that have the reason in common.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
#[schema(as = FailureReason)]
pub(in crate::web) struct FailureReasonView {
    #[schema(example = "refused")]
    pub code: String,
    /// The same for people.
    #[schema(example = "The model declined")]
    pub sentence: &'static str,
    pub count: usize,
}

impl CoverageSumView {
    pub fn spent_text(&self) -> String {
        let is_minimum = self.unpriced > 0;
        filters::format_cost(Some(self.spent).filter(|spent| *spent > 0.0 || !is_minimum), is_minimum)
    }
}

impl FailureReasonView {
    fn all(failures: &BTreeMap<String, usize>) -> Vec<Self> {
        let view = |(code, count): (&String, &usize)| Self {
            sentence: failure_sentence(code),
            code: code.clone(),
            count: *count,
        };
        let mut views: Vec<_> = failures.iter().map(view).collect();
        views.sort_by_key(|view| Reverse(view.count));
        views
    }
}

impl WaitingModelView {
    fn of(WaitingModel { model, builds, needed }: &WaitingModel, coverage: &Coverage) -> Option<Self> {
        let listed = coverage.models.iter().find(|listed| listed.model.key == *model)?;
        let display_name = listed.model.display_name.clone();
        Some(Self { key: model.to_string(), display_name, builds: *builds, needed: *needed })
    }
}

impl CoverageCellView {
    fn empty(prompt: &str, model: &str) -> Self {
        Self {
            prompt_id: prompt.to_owned(),
            model_key: model.to_owned(),
            state: "missing",
            ..Self::default()
        }
    }

    /// The same cell without a build or a job.
    pub fn cleared(&self) -> Self {
        Self::empty(&self.prompt_id, &self.model_key)
    }
}

/// The state of all builds at one moment.
pub(in crate::web) struct CoverageMatrix {
    pub coverage: Coverage,
    pub sum: CoverageSumView,
    pub pauses: PausesView,
    pub waiting: Vec<WaitingModelView>,
    /// Why queued jobs of models are not started.
    wait_reasons: HashMap<ModelKey, String>,
    app: App,
}

/// Get the coverage
///
/// Prompts by models at the arena's settings: builds, jobs in progress, and failures.
#[utoipa::path(
    get, path = "/api/admin/coverage", tag = "Admin", operation_id = "coverage",
    responses((status = OK, description = "The coverage.", body = CoverageResponse)),
)]
async fn coverage(State(app): State<App>, _admin: RequireAdmin) -> Result<Json<CoverageResponse>, Error> {
    let matrix = CoverageMatrix::read(&app).await?;
    let coverage = &matrix.coverage;
    Ok(Json(CoverageResponse {
        settings: SettingsView::of(&coverage.settings),
        prompts: coverage.prompts.iter().map(AdminPromptView::of).collect(),
        models: coverage
            .models
            .iter()
            .map(|model| AdminModelView::of(model, &app.worker.providers()))
            .collect(),
        cells: matrix.cells(),
        sum: matrix.sum,
        waiting: matrix.waiting,
    }))
}

impl CoverageMatrix {
    pub async fn read(app: &App) -> Result<Self, Error> {
        let mut connection = app.pool.acquire().await?;
        let coverage = Coverage::read(&mut connection, &app.config.arena).await?;
        drop(connection);
        let sum =
            coverage.summary(&SlotSelection::default(), |model| app.worker.providers().can_generate(model));
        let (micros, unpriced) = jobs::total_spent(&app.pool).await?;
        let sum = CoverageSumView {
            expected: sum.expected,
            existing: sum.existing,
            remaining: sum.remaining(),
            failed: sum.failed,
            cancelled: sum.cancelled,
            under_way: coverage.under_way(),
            spent: dollars(micros),
            unpriced,
            failures: FailureReasonView::all(&sum.failures),
        };
        let pauses = PausesView::read(app).await?;
        let wait_reason = |ListedModel { model, .. }: &ListedModel| {
            Some((model.key.clone(), pauses.wait_reason(model, app)?))
        };
        let wait_reasons = coverage.models.iter().filter_map(wait_reason).collect();
        let lineup = app.arena.lineup().await?;
        let waiting = lineup.waiting.iter().filter_map(|waiting| WaitingModelView::of(waiting, &coverage));
        let waiting = waiting.collect();
        Ok(Self { coverage, sum, pauses, waiting, wait_reasons, app: app.clone() })
    }

    /// All cells with a build or a job, prompt by prompt.
    pub fn cells(&self) -> Vec<CoverageCellView> {
        let Coverage { prompts, models, .. } = &self.coverage;
        let every = prompts.iter().flat_map(|prompt| models.iter().map(move |model| (prompt, model)));
        let cell = |(prompt, model): (&_, &_)| self.cell(prompt, model);
        every.map(cell).filter(|cell| cell.state != "missing" || cell.job_id.is_some()).collect()
    }

    pub fn cell(&self, prompt: &ListedPrompt, listed: &ListedModel) -> CoverageCellView {
        let (prompt, model) = (&prompt.prompt.id, &listed.model.key);
        let empty = CoverageCellView::empty(prompt.as_str(), model.as_str());
        match self.coverage.cell(prompt, model) {
            coverage::SlotStatus::Missing => empty,
            coverage::SlotStatus::Ready { build, block_count, job } => CoverageCellView {
                state: "ready",
                build_id: Some(*build),
                block_count: Some(*block_count),
                job_id: *job,
                ..empty
            },
            // The build has been retired since.
            coverage::SlotStatus::Job(latest) if latest.state == JobState::Ready => {
                CoverageCellView { job_id: Some(latest.id), ..empty }
            }
            coverage::SlotStatus::Job(latest) => CoverageCellView {
                state: latest.state.name(),
                job_id: Some(latest.id),
                since: latest.started_at.map(milliseconds),
                attempts: latest.attempts,
                chars: latest.chars,
                note: match latest.state {
                    JobState::Queued if latest.batched => {
                        let since = latest.batch_submitted_at;
                        Some(self.pauses.batch_wait(&listed.model, since, &self.app))
                    }
                    JobState::Queued => self.wait_reasons.get(model).cloned(),
                    _ => latest.note.clone(),
                },
                code: latest.error_code.clone(),
                error: latest.error.clone(),
                ..empty
            },
        }
    }
}

/// What a job's error code means, for people.
fn failure_sentence(code: &str) -> &'static str {
    match code {
        "bad_answer" => "The answer could not be read",
        "bad_json" | "bad_spec" => "The answer held no build",
        "bad_key" => "The API key is not accepted",
        "bad_request" => "The provider did not take the request",
        "cut_off" => "The answer broke off",
        "empty" => "The answer was empty",
        "exists" => "Another build came first",
        "filtered" => "The provider withheld the answer",
        "footprint_too_small" | "height_too_small" | "too_few_blocks" => "The build was too small",
        "interrupted" => "Buildoff stopped too often meanwhile",
        "no_blocks" => "The build had no blocks",
        "no_credit" => "The account has no credit left",
        "no_provider" => "This server could not ask the provider any more",
        "no_such_model" => "The provider does not know the model",
        "over_budget" => "The budget did not allow it",
        "overloaded" => "The provider was overloaded",
        "rate_limited" => "The provider got too many requests",
        "refused" => "The model declined",
        "stalled" => "Nothing came for too long",
        "timed_out" => "The answer took too long",
        "too_large" | "too_many_blocks" | "too_much_work" => "The build was too large",
        "truncated" => "The token limit ended the answer",
        "unreachable" => "The provider could not be reached",
        "unread" => "The answer could not be checked",
        _ => "Another reason",
    }
}

fn milliseconds(at: OffsetDateTime) -> i64 {
    (at.unix_timestamp_nanos() / 1_000_000) as i64
}
