//! Lists of jobs, and cancelling several.

use std::collections::HashMap;

use axum::Json;
use axum::extract::{Query, State};
use serde::{Deserialize, Serialize};
use serde_json::json;
use time::OffsetDateTime;
use utoipa::{IntoParams, ToSchema};
use uuid::Uuid;

use super::{JudgedView, dollars, elapsed_ms};
use crate::app::App;
use crate::arena::catalog::ListedModel;
use crate::arena::coverage::{Coverage, SlotSelection};
use crate::arena::jobs::{self, Job, JobFilter, JobKind, JobState};
use crate::arena::{ModelKey, PromptId, audit, catalog};
use crate::web::api::admin::RequireAdmin;
use crate::web::api::admin::queue::PausesView;
use crate::web::openapi::codes;
use crate::web::query::names;
use crate::web::{Error, ErrorCode};

const DEFAULT_LIMIT: u16 = 100;
const MAX_LIMIT: u16 = 1000;

#[derive(Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct JobsQuery {
    /// build or judge.
    #[param(value_type = Option<String>, example = "judge")]
    kind: Option<JobKindName>,
    /// queued, running, ready, failed or cancelled; several are separated by commas.
    #[serde(default, deserialize_with = "names")]
    #[param(value_type = Option<String>, example = "queued,running")]
    state: Vec<JobStateName>,
    /// Keys of models, separated by commas.
    #[serde(default, deserialize_with = "names")]
    #[param(value_type = Option<String>, example = "openai_gpt_5_2_pro")]
    model: Vec<ModelKey>,
    /// Ids of prompts, separated by commas.
    #[serde(default, deserialize_with = "names")]
    #[param(value_type = Option<String>, example = "steam-locomotive")]
    prompt: Vec<PromptId>,
    /// The key of the provider that was asked, or that would be asked.
    #[param(example = "openai")]
    provider: Option<String>,
    /// The code of the reason for which a job failed or was cancelled.
    #[param(example = "refused")]
    reason: Option<String>,
    /// Only jobs before this one.
    before: Option<Uuid>,
    /// At most so many, 1 to 1000.
    #[param(minimum = 1, maximum = 1000, default = 100)]
    limit: Option<u16>,
}

/// The name of a kind of job.
#[derive(Deserialize)]
#[serde(try_from = "String")]
pub(super) struct JobKindName(JobKind);

/// The name of a job's state.
pub(super) struct JobStateName(JobState);

#[derive(Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct CancelQuery {
    /// Only jobs of this kind: build or judge.
    #[param(value_type = Option<String>, example = "judge")]
    kind: Option<JobKindName>,
    /// Only jobs of these models: keys, separated by commas.
    #[serde(default, deserialize_with = "names")]
    #[param(value_type = Option<String>, example = "openai_gpt_5_2_pro")]
    model: Vec<ModelKey>,
    /// Only jobs for these prompts: ids, separated by commas.
    #[serde(default, deserialize_with = "names")]
    #[param(value_type = Option<String>, example = "steam-locomotive")]
    prompt: Vec<PromptId>,
}

#[derive(Serialize, ToSchema)]
#[schema(as = JobList)]
pub(in crate::web) struct JobListResponse {
    /// Newest first.
    pub jobs: Vec<JobRowView>,
    /// Whether there are more; get them with `before`, the id of the last one here.
    pub more: bool,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ListedJob)]
pub(in crate::web) struct JobRowView {
    pub id: Uuid,
    /// build or judge.
    pub kind: &'static str,
    pub prompt_id: String,
    /// The model that is asked: the builder, or the judge.
    pub model_key: String,
    pub state: &'static str,
    /// The provider that is asked; null before the first request.
    pub provider: Option<String>,
    #[serde(with = "time::serde::rfc3339")]
    pub wanted_at: OffsetDateTime,
    pub ms: Option<i64>,
    pub attempts: i32,
    /// What the job is waiting for.
    pub note: Option<String>,
    pub build_id: Option<Uuid>,
    pub block_count: Option<i32>,
    /// What a judge is asked about, and says; null for jobs that build.
    pub judged: Option<JudgedView>,
    pub code: Option<String>,
    pub error: Option<String>,
    /// In dollars. Null if nothing is known of it.
    pub cost: Option<f64>,
    pub cost_is_minimum: bool,
}

#[derive(Serialize, ToSchema)]
#[schema(as = Cancelled)]
pub(super) struct CancelAllResponse {
    ok: bool,
    /// The number of jobs.
    cancelled: usize,
}

/// List jobs
///
/// Jobs at any settings, the newest first.
#[utoipa::path(
    get, path = "/api/admin/jobs", tag = "Admin", operation_id = "jobs",
    params(JobsQuery),
    responses((status = OK, description = "The jobs.", body = JobListResponse)),
)]
pub(super) async fn list(
    State(app): State<App>,
    _admin: RequireAdmin,
    Query(query): Query<JobsQuery>,
) -> Result<Json<JobListResponse>, Error> {
    let limit = query.limit()?;
    let models = catalog::models(&app.pool).await?;
    let filter = query.filter(&app, &models)?;
    Ok(Json(JobListResponse::read(&app, &filter, limit, &models).await?))
}

/// Cancel jobs
///
/// Cancels all queued and running jobs, on all servers, or those of some models and prompts. The parts of answers that
/// have arrived are kept, and providers may still bill them.
#[utoipa::path(
    delete, path = "/api/admin/jobs", tag = "Admin", operation_id = "cancelAllJobs",
    params(CancelQuery),
    responses((status = OK, description = "The jobs are cancelled.", body = CancelAllResponse)),
    extensions(("x-errors" = json!(codes([ErrorCode::NoModel, ErrorCode::NoPrompt])))),
)]
pub(super) async fn cancel_all(
    State(app): State<App>,
    RequireAdmin(admin): RequireAdmin,
    Query(CancelQuery { kind, model, prompt }): Query<CancelQuery>,
) -> Result<Json<CancelAllResponse>, Error> {
    let kind = kind.map(|JobKindName(kind)| kind);
    let selection = SlotSelection { models: model, prompts: prompt, tags: Vec::new() };
    let mut transaction = app.pool.begin().await?;
    selection.check(&Coverage::read(&mut transaction, &app.config.arena).await?)?;
    let SlotSelection { models, prompts, .. } = &selection;
    let ids = jobs::under_way(&mut *transaction, kind, models, prompts).await?;
    let cancelled = jobs::cancel_these(&mut transaction, &ids).await?;
    if cancelled > 0 {
        let detail = json!({ "jobs": cancelled, "kind": kind.map(JobKind::name) });
        audit::record(&mut transaction, admin, "cancel", &subject(&selection), detail).await?;
    }
    transaction.commit().await?;
    app.worker.wake();
    Ok(Json(CancelAllResponse { ok: true, cancelled }))
}

/// What was cancelled, for the log.
fn subject(SlotSelection { models, prompts, .. }: &SlotSelection) -> String {
    let joined = |names: Vec<&str>| names.join(", ");
    let models = joined(models.iter().map(ModelKey::as_str).collect());
    let prompts = joined(prompts.iter().map(PromptId::as_str).collect());
    match (prompts.is_empty(), models.is_empty()) {
        (true, true) => "all jobs".to_owned(),
        (true, false) => format!("jobs of {models}"),
        (false, true) => format!("jobs for {prompts}"),
        (false, false) => format!("{prompts} by {models}"),
    }
}

impl JobListResponse {
    /// The latest jobs that match.
    pub async fn read(
        app: &App,
        filter: &JobFilter,
        limit: u16,
        models: &[ListedModel],
    ) -> Result<Self, Error> {
        let ids = jobs::list(&app.pool, filter, i64::from(limit) + 1).await?;
        let more = ids.len() > usize::from(limit);
        let mut found = jobs::find(&app.pool, &ids[..ids.len().min(limit.into())]).await?;
        found.sort_unstable_by_key(|job| std::cmp::Reverse(job.id));
        let pauses = PausesView::read(app).await?;
        let wait_reasons: HashMap<_, _> = models
            .iter()
            .filter_map(|listed| Some((&listed.model.key, pauses.wait_reason(&listed.model, app)?)))
            .collect();
        let row = |job: Job| {
            let wait_reason = match job.state {
                JobState::Queued if job.batched => {
                    let listed = models.iter().find(|listed| listed.model.key == job.model_key);
                    listed.map(|listed| pauses.batch_wait(&listed.model, job.batch_submitted_at, app))
                }
                JobState::Queued => wait_reasons.get(&job.model_key).cloned(),
                _ => None,
            };
            JobRowView::of(wait_reason, job)
        };
        Ok(Self { jobs: found.into_iter().map(row).collect(), more })
    }
}

impl JobsQuery {
    fn limit(&self) -> Result<u16, Error> {
        match self.limit.unwrap_or(DEFAULT_LIMIT) {
            limit @ 1..=MAX_LIMIT => Ok(limit),
            _ => Err(Error::bad_request("limit is a number from 1 to 1000.")),
        }
    }

    fn filter(self, app: &App, models: &[ListedModel]) -> Result<JobFilter, Error> {
        for (name, value) in [("provider", &self.provider), ("reason", &self.reason)] {
            let is_key =
                |text: &String| text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
            if !value.as_ref().is_none_or(is_key) {
                return Err(Error::bad_request(format!("{name} may only contain a-z, 0-9 and _.")));
            }
        }
        let providers = app.worker.providers();
        let is_routed = |listed: &&ListedModel| {
            let route = providers.route(&listed.model).map_or(listed.model.provider.as_str(), |(key, _)| key);
            self.provider.as_deref() == Some(route)
        };
        let routed_models = models.iter().filter(is_routed).map(|listed| listed.model.key.clone()).collect();
        Ok(JobFilter {
            routed_models,
            kind: self.kind.map(|JobKindName(kind)| kind),
            states: named(self.state.into_iter().map(|JobStateName(state)| state).collect()),
            models: named(self.model),
            prompts: named(self.prompt),
            provider: self.provider,
            reason: self.reason,
            before: self.before,
        })
    }
}

fn named<T>(names: Vec<T>) -> Option<Vec<T>> {
    (!names.is_empty()).then_some(names)
}

impl TryFrom<String> for JobKindName {
    type Error = String;

    fn try_from(name: String) -> Result<Self, String> {
        let kind = JobKind::ALL.into_iter().find(|kind| kind.name() == name);
        kind.map(Self).ok_or_else(|| format!("{name:?} is neither build nor judge"))
    }
}

impl TryFrom<String> for JobStateName {
    type Error = String;

    fn try_from(name: String) -> Result<Self, String> {
        let state = JobState::ALL.into_iter().find(|state| state.name() == name);
        state
            .map(Self)
            .ok_or_else(|| format!("{name:?} is none of queued, running, ready, failed and cancelled"))
    }
}

impl JobRowView {
    fn of(wait_reason: Option<String>, job: Job) -> Self {
        Self {
            ms: elapsed_ms(&job),
            id: job.id,
            kind: job.kind.name(),
            prompt_id: job.prompt_id.to_string(),
            model_key: job.model_key.to_string(),
            state: job.state.name(),
            provider: job.provider,
            wanted_at: job.wanted_at,
            attempts: job.attempts,
            note: wait_reason.or(job.note),
            build_id: job.build_id,
            block_count: job.block_count,
            judged: job.judged.map(JudgedView::from),
            code: job.error_code,
            error: job.error,
            cost: job.cost.map(dollars),
            cost_is_minimum: job.cost_is_minimum,
        }
    }
}
