//! `/api/admin/jobs`: generating a build, its attempts and answers, cancelling, and parsing answers again.

mod judged;
mod list;
mod progress;

use axum::Json;
use axum::body::Body;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use time::OffsetDateTime;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;
use uuid::Uuid;

pub use self::judged::JudgedView;
pub(in crate::web) use self::list::{JobListResponse, JobRowView};
pub use self::progress::{JobsProgressResponse, ProviderProgressView};
use super::RequireAdmin;
use super::queue::PausesView;
use crate::app::App;
use crate::arena::builds::BuildSlot;
use crate::arena::catalog::{self, ListedModel};
use crate::arena::jobs::attempts::{self, SentOptions};
use crate::arena::jobs::{self, EnqueueError, JobState};
use crate::arena::{ModelKey, PromptId, audit};
use crate::web::derived::NO_STORE;
use crate::web::openapi::{codes, shapes};
use crate::web::views::unavailable_reason;
use crate::web::{Error, ErrorCode};

pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(enqueue, list::list, list::cancel_all))
        .merge(progress::routes())
        .routes(routes!(list_unread))
        .routes(routes!(show, cancel))
        .routes(routes!(answer))
        .routes(routes!(reparse))
}

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(as = WantedBuild)]
struct EnqueueRequest {
    prompt_id: String,
    model_key: String,
}

/// A job: the generation of one build, or a judge's look at one or two.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Job)]
pub(in crate::web) struct JobView {
    pub id: Uuid,
    /// build or judge.
    pub kind: &'static str,
    /// Of what is to be built, or of the build that is judged.
    pub prompt_id: String,
    pub prompt_text: String,
    /// The model that is asked: the builder, or the judge.
    pub model_key: String,
    pub model_name: String,
    pub state: &'static str,
    pub provider: Option<String>,
    #[serde(with = "time::serde::rfc3339")]
    pub wanted_at: OffsetDateTime,
    pub ms: Option<i64>,
    pub chars: i64,
    pub note: Option<String>,
    /// Whether it is asked for in a batch.
    pub batched: bool,
    /// When the batch was submitted that the job is part of, while it is.
    #[serde(with = "time::serde::rfc3339::option")]
    #[schema(required, example = json!(null))]
    pub batch_submitted_at: Option<OffsetDateTime>,
    pub build_id: Option<Uuid>,
    pub block_count: Option<i32>,
    /// What a judge is asked about, and says; null for jobs that build.
    pub judged: Option<JudgedView>,
    pub code: Option<String>,
    pub error: Option<String>,
    /// In dollars. Null if nothing is known of it.
    pub cost: Option<f64>,
    /// Whether the job may have cost more, or still will.
    pub cost_is_minimum: bool,
    pub attempts: Vec<AttemptView>,
}

/// A request to a model, and its answer.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Attempt)]
pub(in crate::web) struct AttemptView {
    pub number: i32,
    /// accepted, refused, failed, unread, interrupted or cancelled; null while it is in progress.
    pub outcome: Option<String>,
    pub code: Option<String>,
    pub message: Option<String>,
    #[serde(with = "time::serde::rfc3339")]
    pub started_at: OffsetDateTime,
    pub ms: Option<i64>,
    pub answer_bytes: i64,
    pub answer_url: String,
    pub tokens_in: Option<i64>,
    /// The part of the input that the provider read from its cache.
    pub tokens_cached: Option<i64>,
    pub tokens_out: Option<i64>,
    pub tokens_reasoning: Option<i64>,
    /// In dollars, 0 if the provider refused the request, and null if nothing is known of it.
    pub cost: Option<f64>,
    /// Whether it may have cost more: the end of the answer was lost, and with it a part of the provider's report.
    pub cost_is_minimum: bool,
    /// The options that were sent last. Null while the attempt is in progress, and for attempts of older versions.
    #[schema(value_type = Option<shapes::SentOptionsSchema>)]
    pub sent: Option<SentOptions>,
    /// Options that the provider rejected, and what was sent instead.
    pub notes: Value,
}

#[derive(Serialize, ToSchema)]
#[schema(as = Unread)]
struct UnreadJobsResponse {
    /// Newest first.
    jobs: Vec<UnreadJobView>,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = UnreadJob)]
struct UnreadJobView {
    id: Uuid,
    prompt_id: String,
    model_key: String,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Reread)]
struct ReparseResponse {
    ok: bool,
    build_id: Option<Uuid>,
    attempt: Option<i32>,
    /// What is still wrong with the newest answer.
    error: Option<String>,
}

/// Generate a build
///
/// Queues a job. It starts when a slot is free at the model's provider.
#[utoipa::path(
    post, path = "/api/admin/jobs", tag = "Admin", operation_id = "wantBuild",
    request_body = EnqueueRequest,
    responses((status = ACCEPTED, description = "The job is queued.", body = JobView)),
    extensions(("x-errors" = json!(codes([
        ErrorCode::NoModel, ErrorCode::NoPrompt, ErrorCode::Exists, ErrorCode::UnderWay, ErrorCode::NoKey,
    ])))),
)]
async fn enqueue(
    State(app): State<App>,
    RequireAdmin(admin): RequireAdmin,
    Json(EnqueueRequest { prompt_id, model_key }): Json<EnqueueRequest>,
) -> Result<(StatusCode, Json<JobView>), Error> {
    let prompt: PromptId = prompt_id.parse().map_err(|_| ErrorCode::NoPrompt)?;
    let key: ModelKey = model_key.parse().map_err(|_| ErrorCode::NoModel)?;
    let models = catalog::models(&app.pool).await?;
    let model = &models.iter().find(|listed| listed.model.key == key).ok_or(ErrorCode::NoModel)?.model;
    if let Some(reason) = unavailable_reason(model, &app.worker.providers()) {
        let message = format!("{} cannot generate builds. {reason}", model.display_name);
        return Err(Error::new(ErrorCode::NoKey, message));
    }
    let slot = BuildSlot { prompt, model: key, settings: app.config.arena.clone() };
    let mut transaction = app.pool.begin().await?;
    let id = jobs::enqueue(&mut transaction, &slot).await?;
    let subject = format!("{} by {}", slot.prompt, slot.model);
    audit::record(&mut transaction, admin, "generate", &subject, json!({ "job": id })).await?;
    transaction.commit().await?;
    app.worker.wake();
    Ok((StatusCode::ACCEPTED, Json(JobView::read(&app, id).await?)))
}

/// Get a job
///
/// Its state, and every attempt.
#[utoipa::path(
    get, path = "/api/admin/jobs/{id}", tag = "Admin", operation_id = "job",
    params(("id" = Uuid, Path, description = "The job.")),
    responses((status = OK, description = "The job.", body = JobView)),
    extensions(("x-errors" = json!(codes([ErrorCode::NoJob])))),
)]
async fn show(
    State(app): State<App>,
    _admin: RequireAdmin,
    Path(id): Path<String>,
) -> Result<Json<JobView>, Error> {
    Ok(Json(JobView::read(&app, parse_id(&id)?).await?))
}

/// Cancel a job
///
/// Ends the request to the provider. The part of the answer that has arrived is kept.
#[utoipa::path(
    delete, path = "/api/admin/jobs/{id}", tag = "Admin", operation_id = "cancelJob",
    params(("id" = Uuid, Path, description = "The job.")),
    responses((status = NO_CONTENT, description = "The job is cancelled.")),
    extensions(("x-errors" = json!(codes([ErrorCode::NoJob, ErrorCode::Ended])))),
)]
async fn cancel(
    State(app): State<App>,
    RequireAdmin(admin): RequireAdmin,
    Path(id): Path<String>,
) -> Result<StatusCode, Error> {
    let id = parse_id(&id)?;
    let job = JobView::read(&app, id).await?;
    let mut transaction = app.pool.begin().await?;
    if !jobs::cancel(&mut transaction, id).await? {
        let ended = JobView::read(&app, id).await?.state;
        return Err(Error::new(ErrorCode::Ended, format!("This job has already ended: it is {ended}.")));
    }
    let subject = job.about();
    audit::record(&mut transaction, admin, "cancel", &subject, json!({ "job": id })).await?;
    transaction.commit().await?;
    app.worker.wake();
    Ok(StatusCode::NO_CONTENT)
}

/// Get an answer
///
/// The text of a model's answer, or the part of it that has arrived.
#[utoipa::path(
    get, path = "/api/admin/jobs/{id}/attempts/{number}", tag = "Admin", operation_id = "answer",
    params(("id" = Uuid, Path, description = "The job."), ("number" = i32, Path, description = "The number of the attempt, from 1.")),
    responses((status = OK, description = "The text.", body = String, content_type = "text/plain")),
    extensions(("x-errors" = json!(codes([ErrorCode::NoJob, ErrorCode::NotFound])))),
)]
async fn answer(
    State(app): State<App>,
    _admin: RequireAdmin,
    Path((id, number)): Path<(String, i32)>,
) -> Result<Response, Error> {
    let answer = attempts::answer(&app.pool, parse_id(&id)?, number).await?;
    let answer = answer.ok_or_else(|| Error::not_found("This attempt does not exist."))?;
    let headers = [(CONTENT_TYPE, "text/plain; charset=utf-8"), NO_STORE];
    Ok((headers, Body::from(answer)).into_response())
}

/// List jobs to parse again
///
/// Failed and cancelled jobs, at any settings, that have an answer and whose build is still missing.
#[utoipa::path(
    get, path = "/api/admin/jobs/unread", tag = "Admin", operation_id = "unreadJobs",
    responses((status = OK, description = "The jobs.", body = UnreadJobsResponse)),
)]
async fn list_unread(
    State(app): State<App>,
    _admin: RequireAdmin,
) -> Result<Json<UnreadJobsResponse>, Error> {
    let ids = jobs::reparsable(&app.pool, None).await?;
    let mut jobs = jobs::find(&app.pool, &ids).await?;
    jobs.reverse();
    let unread = |job: jobs::Job| UnreadJobView {
        id: job.id,
        prompt_id: job.prompt_id.to_string(),
        model_key: job.model_key.to_string(),
    };
    Ok(Json(UnreadJobsResponse { jobs: jobs.into_iter().map(unread).collect() }))
}

/// Parse a job's answers again
///
/// Sends no request to the model. If an answer contains a build after all, the build is stored.
#[utoipa::path(
    post, path = "/api/admin/jobs/{id}/reparse", tag = "Admin", operation_id = "reparse",
    params(("id" = Uuid, Path, description = "The job.")),
    responses((status = OK, description = "Whether a build was found.", body = ReparseResponse)),
    extensions(("x-errors" = json!(codes([ErrorCode::NoJob, ErrorCode::NothingToRead])))),
)]
async fn reparse(
    State(app): State<App>,
    RequireAdmin(admin): RequireAdmin,
    Path(id): Path<String>,
) -> Result<Json<ReparseResponse>, Error> {
    let id = parse_id(&id)?;
    let Some(reread) = app.worker.reparse(admin, id).await? else {
        JobView::read(&app, id).await?;
        return Err(ErrorCode::NothingToRead.into());
    };
    let (build_id, attempt) = reread.found.unzip();
    Ok(Json(ReparseResponse { ok: build_id.is_some(), build_id, attempt, error: reread.last_error }))
}

impl JobView {
    /// What it is about, for the log.
    fn about(&self) -> String {
        match self.judged {
            Some(_) => format!("{} judges {}", self.model_key, self.prompt_id),
            None => format!("{} by {}", self.prompt_id, self.model_key),
        }
    }

    pub async fn read(app: &App, id: Uuid) -> Result<Self, Error> {
        let job = jobs::find(&app.pool, &[id]).await?.pop().ok_or(ErrorCode::NoJob)?;
        let attempts = attempts::list(&app.pool, id).await?;
        let note = match job.state {
            JobState::Queued => wait_reason(app, &job).await?,
            _ => job.note.clone(),
        };
        Ok(Self {
            id,
            kind: job.kind.name(),
            ms: elapsed_ms(&job),
            prompt_id: job.prompt_id.to_string(),
            prompt_text: job.prompt_text,
            model_key: job.model_key.to_string(),
            model_name: job.model_name,
            state: job.state.name(),
            provider: job.provider,
            wanted_at: job.wanted_at,
            chars: job.chars,
            note,
            batched: job.batched,
            batch_submitted_at: job.batch_submitted_at,
            build_id: job.build_id,
            block_count: job.block_count,
            judged: job.judged.map(JudgedView::from),
            code: job.error_code,
            error: job.error,
            cost: job.cost.map(dollars),
            cost_is_minimum: job.cost_is_minimum,
            attempts: attempts.into_iter().map(|attempt| AttemptView::of(id, attempt)).collect(),
        })
    }
}

impl AttemptView {
    fn of(job: Uuid, attempt: attempts::AttemptRow) -> Self {
        Self {
            answer_url: format!("/api/admin/jobs/{job}/attempts/{}", attempt.number),
            number: attempt.number,
            outcome: attempt.outcome,
            code: attempt.code,
            message: attempt.message,
            started_at: attempt.started_at,
            ms: attempt.ended_at.map(|ended| (ended - attempt.started_at).whole_milliseconds() as i64),
            answer_bytes: attempt.answer_bytes,
            tokens_in: attempt.input_tokens,
            tokens_cached: attempt.cached_tokens,
            tokens_out: attempt.output_tokens,
            tokens_reasoning: attempt.reasoning_tokens,
            cost: attempt.cost.map(dollars),
            cost_is_minimum: attempt.cost_is_minimum,
            sent: attempt.sent.map(|sent| sent.0),
            notes: attempt.notes.0,
        }
    }
}

impl From<EnqueueError> for Error {
    fn from(reason: EnqueueError) -> Self {
        match reason {
            EnqueueError::HasBuild => {
                let message = "This model already has a build of this prompt. Retire it to generate another.";
                Self::new(ErrorCode::Exists, message)
            }
            EnqueueError::InProgress(_) => ErrorCode::UnderWay.into(),
            EnqueueError::NoPrompt => ErrorCode::NoPrompt.into(),
            EnqueueError::NoModel => ErrorCode::NoModel.into(),
            EnqueueError::Database(error) => error.into(),
        }
    }
}

async fn wait_reason(app: &App, job: &jobs::Job) -> Result<Option<String>, Error> {
    let pauses = PausesView::read(app).await?;
    let models = catalog::models(&app.pool).await?;
    let Some(ListedModel { model, .. }) = models.iter().find(|listed| listed.model.key == job.model_key)
    else {
        return Ok(None);
    };
    Ok(if job.batched {
        Some(pauses.batch_wait(model, job.batch_submitted_at, app))
    } else {
        pauses.wait_reason(model, app)
    })
}

/// From millionths of a dollar.
pub(in crate::web) fn dollars(micros: i64) -> f64 {
    micros as f64 / 1e6
}

/// How long a job took, or has been running.
pub(in crate::web) fn elapsed_ms(job: &jobs::Job) -> Option<i64> {
    job.seconds(OffsetDateTime::now_utc()).map(|seconds| (seconds * 1000.0) as i64)
}

fn parse_id(text: &str) -> Result<Uuid, ErrorCode> {
    Uuid::try_parse(text).map_err(|_| ErrorCode::NoJob)
}
