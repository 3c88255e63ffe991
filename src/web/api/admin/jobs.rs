//! `/api/admin/jobs`: wanting one build, looking at what was answered, cancelling, reading again.

use axum::Json;
use axum::body::Body;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use sqlx::Connection;
use time::OffsetDateTime;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;
use uuid::Uuid;

use super::RequireAdmin;
use super::catalog::{no_model, no_prompt};
use crate::app::App;
use crate::arena::builds::BuildSlot;
use crate::arena::catalog;
use crate::arena::jobs::{self, EnqueueError, attempts};
use crate::arena::{ModelKey, PromptId, audit};
use crate::web::Error;

pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(enqueue, cancel_all))
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

/// A job, as admins see it.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Job)]
pub(in crate::web) struct JobView {
    pub id: Uuid,
    pub prompt_id: String,
    pub prompt_text: String,
    pub model_key: String,
    pub model_name: String,
    pub state: &'static str,
    pub provider: Option<String>,
    #[serde(with = "time::serde::rfc3339")]
    pub wanted_at: OffsetDateTime,
    pub ms: Option<i64>,
    pub chars: i64,
    pub note: Option<String>,
    pub build_id: Option<Uuid>,
    pub block_count: Option<i32>,
    pub code: Option<String>,
    pub error: Option<String>,
    /// In dollars, as far as it is known.
    pub cost: f64,
    pub attempts: Vec<AttemptView>,
}

/// A question and its answer.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Attempt)]
pub(in crate::web) struct AttemptView {
    pub number: i32,
    /// accepted, refused, failed, unread, interrupted or cancelled; null while it is under way.
    pub outcome: Option<String>,
    pub code: Option<String>,
    pub message: Option<String>,
    #[serde(with = "time::serde::rfc3339")]
    pub started_at: OffsetDateTime,
    pub ms: Option<i64>,
    pub answer_bytes: i64,
    pub answer_url: String,
    pub tokens_in: Option<i64>,
    pub tokens_out: Option<i64>,
    pub tokens_reasoning: Option<i64>,
    pub cost: Option<f64>,
    /// What the provider would not do, and how it was asked instead.
    pub notes: Value,
}

#[derive(Serialize, ToSchema)]
#[schema(as = Cancelled)]
struct CancelAllResponse {
    ok: bool,
    /// So many jobs.
    cancelled: usize,
}

#[derive(Serialize, ToSchema)]
#[schema(as = Unread)]
struct UnreadJobsResponse {
    /// The latest first.
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
    /// What is still wrong with the latest answer.
    error: Option<String>,
}

/// Want a build
///
/// It is asked for as soon as there is room at the model's provider.
#[utoipa::path(
    post, path = "/api/admin/jobs", tag = "Admin", operation_id = "wantBuild",
    security(("adminToken" = [])),
    request_body = EnqueueRequest,
    responses(
        (status = ACCEPTED, description = "It will be asked for.", body = JobView),
        (status = NOT_FOUND, description = "no_model, no_prompt"),
        (status = CONFLICT, description = "exists, under_way, no_key"),
    ),
)]
async fn enqueue(
    State(app): State<App>,
    RequireAdmin(admin): RequireAdmin,
    Json(EnqueueRequest { prompt_id, model_key }): Json<EnqueueRequest>,
) -> Result<(StatusCode, Json<JobView>), Error> {
    let prompt: PromptId = prompt_id.parse().map_err(|_| no_prompt())?;
    let key: ModelKey = model_key.parse().map_err(|_| no_model())?;
    let models = catalog::models(&app.pool).await?;
    let model = &models.iter().find(|listed| listed.model.key == key).ok_or_else(no_model)?.model;
    if !app.worker.providers().can_generate(model) {
        return Err(Error::new(
            StatusCode::CONFLICT,
            "no_key",
            format!("{} cannot be asked: there is no key for {}.", model.display_name, model.provider),
        ));
    }
    let slot = BuildSlot { prompt, model: key, settings: app.config.arena.clone() };
    let mut connection = app.pool.acquire().await?;
    let mut transaction = connection.begin().await?;
    let id = jobs::enqueue(&mut transaction, &slot).await?;
    let subject = format!("{} by {}", slot.prompt, slot.model);
    audit::record(&mut transaction, admin, "generate", &subject, json!({ "job": id })).await?;
    transaction.commit().await?;
    app.worker.wake();
    Ok((StatusCode::ACCEPTED, Json(JobView::read(&app, id).await?)))
}

/// A job
///
/// How it stands, with every attempt.
#[utoipa::path(
    get, path = "/api/admin/jobs/{id}", tag = "Admin", operation_id = "job",
    security(("adminToken" = [])),
    params(("id" = Uuid, Path, description = "The job.")),
    responses(
        (status = OK, description = "The job.", body = JobView),
        (status = NOT_FOUND, description = "no_job"),
    ),
)]
async fn show(
    State(app): State<App>,
    _admin: RequireAdmin,
    Path(id): Path<String>,
) -> Result<Json<JobView>, Error> {
    Ok(Json(JobView::read(&app, self::id(&id)?).await?))
}

/// Cancel a job
///
/// The request at the provider ends, and what had streamed in is kept.
#[utoipa::path(
    delete, path = "/api/admin/jobs/{id}", tag = "Admin", operation_id = "cancelJob",
    security(("adminToken" = [])),
    params(("id" = Uuid, Path, description = "The job.")),
    responses(
        (status = NO_CONTENT, description = "It is cancelled."),
        (status = NOT_FOUND, description = "no_job"),
        (status = CONFLICT, description = "ended"),
    ),
)]
async fn cancel(
    State(app): State<App>,
    RequireAdmin(admin): RequireAdmin,
    Path(id): Path<String>,
) -> Result<StatusCode, Error> {
    let id = self::id(&id)?;
    let job = JobView::read(&app, id).await?;
    let mut connection = app.pool.acquire().await?;
    let mut transaction = connection.begin().await?;
    if !jobs::cancel(&mut transaction, id).await? {
        let ended = JobView::read(&app, id).await?.state;
        let message = format!("That job has ended already: it is {ended}.");
        return Err(Error::new(StatusCode::CONFLICT, "ended", message));
    }
    let subject = format!("{} by {}", job.prompt_id, job.model_key);
    audit::record(&mut transaction, admin, "cancel", &subject, json!({ "job": id })).await?;
    transaction.commit().await?;
    app.worker.wake();
    Ok(StatusCode::NO_CONTENT)
}

/// Cancel all jobs
///
/// Whatever is queued or running ends, on all servers, and what had streamed in is kept. What a provider has answered so
/// far may still be billed.
#[utoipa::path(
    delete, path = "/api/admin/jobs", tag = "Admin", operation_id = "cancelAllJobs",
    security(("adminToken" = [])),
    responses((status = OK, description = "They are cancelled.", body = CancelAllResponse)),
)]
async fn cancel_all(
    State(app): State<App>,
    RequireAdmin(admin): RequireAdmin,
) -> Result<Json<CancelAllResponse>, Error> {
    let mut connection = app.pool.acquire().await?;
    let mut transaction = connection.begin().await?;
    let cancelled = jobs::cancel_all(&mut transaction).await?;
    if cancelled > 0 {
        audit::record(&mut transaction, admin, "cancel", "all jobs", json!({ "jobs": cancelled })).await?;
    }
    transaction.commit().await?;
    app.worker.wake();
    Ok(Json(CancelAllResponse { ok: true, cancelled }))
}

/// What a model answered
///
/// As it came, or as far as it has come.
#[utoipa::path(
    get, path = "/api/admin/jobs/{id}/attempts/{number}", tag = "Admin", operation_id = "answer",
    security(("adminToken" = [])),
    params(("id" = Uuid, Path, description = "The job."), ("number" = i32, Path, description = "The attempt, from 1.")),
    responses(
        (status = OK, description = "The text.", body = String, content_type = "text/plain"),
        (status = NOT_FOUND, description = "no_job, not_found"),
    ),
)]
async fn answer(
    State(app): State<App>,
    _admin: RequireAdmin,
    Path((id, number)): Path<(String, i32)>,
) -> Result<Response, Error> {
    let answer = attempts::answer(&app.pool, self::id(&id)?, number).await?;
    let answer = answer.ok_or_else(|| Error::not_found("There is no such attempt."))?;
    let headers = [(CONTENT_TYPE, "text/plain; charset=utf-8"), (CACHE_CONTROL, "no-store")];
    Ok((headers, Body::from(answer)).into_response())
}

/// What may be read again
///
/// Jobs that have failed or were cancelled, at whatever settings, with an answer, whose place still has no build.
#[utoipa::path(
    get, path = "/api/admin/jobs/unread", tag = "Admin", operation_id = "unreadJobs",
    security(("adminToken" = [])),
    responses((status = OK, description = "All of them.", body = UnreadJobsResponse)),
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

/// Read a failed job's answers again
///
/// Nobody is asked. If one of them holds a build after all, it is stored.
#[utoipa::path(
    post, path = "/api/admin/jobs/{id}/reparse", tag = "Admin", operation_id = "reparse",
    security(("adminToken" = [])),
    params(("id" = Uuid, Path, description = "The job.")),
    responses(
        (status = OK, description = "Whether there was a build.", body = ReparseResponse),
        (status = NOT_FOUND, description = "no_job"),
        (status = CONFLICT, description = "nothing_to_read"),
    ),
)]
async fn reparse(
    State(app): State<App>,
    RequireAdmin(admin): RequireAdmin,
    Path(id): Path<String>,
) -> Result<Json<ReparseResponse>, Error> {
    let id = self::id(&id)?;
    let Some(reread) = app.worker.reparse(admin, id).await? else {
        JobView::read(&app, id).await?;
        let message = "Only a job that has failed, and whose place is still empty, is read again.";
        return Err(Error::new(StatusCode::CONFLICT, "nothing_to_read", message));
    };
    let (build_id, attempt) = reread.found.unzip();
    Ok(Json(ReparseResponse { ok: build_id.is_some(), build_id, attempt, error: reread.last_error }))
}

impl JobView {
    pub async fn read(app: &App, id: Uuid) -> Result<Self, Error> {
        let job = jobs::find(&app.pool, &[id]).await?.pop().ok_or_else(no_job)?;
        let attempts = attempts::list(&app.pool, id).await?;
        let ms = job.seconds(OffsetDateTime::now_utc()).map(|seconds| (seconds * 1000.0) as i64);
        Ok(Self {
            id,
            prompt_id: job.prompt_id.to_string(),
            prompt_text: job.prompt_text,
            model_key: job.model_key.to_string(),
            model_name: job.model_name,
            state: job.state.name(),
            provider: job.provider,
            wanted_at: job.wanted_at,
            ms,
            chars: job.chars,
            note: job.note,
            build_id: job.build_id,
            block_count: job.block_count,
            code: job.error_code,
            error: job.error,
            cost: dollars(job.cost),
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
            tokens_out: attempt.output_tokens,
            tokens_reasoning: attempt.reasoning_tokens,
            cost: attempt.cost.map(dollars),
            notes: attempt.notes.0,
        }
    }
}

impl From<EnqueueError> for Error {
    fn from(reason: EnqueueError) -> Self {
        let conflict = |code, message| Self::new(StatusCode::CONFLICT, code, message);
        match reason {
            EnqueueError::HasBuild => {
                conflict("exists", "There is a build already; retire it to have another made.")
            }
            EnqueueError::InProgress(_) => conflict("under_way", "That build is being made already."),
            EnqueueError::NoPrompt => no_prompt(),
            EnqueueError::NoModel => no_model(),
            EnqueueError::Database(error) => error.into(),
        }
    }
}

fn dollars(micros: i64) -> f64 {
    micros as f64 / 1e6
}

fn id(text: &str) -> Result<Uuid, Error> {
    Uuid::try_parse(text).map_err(|_| no_job())
}

fn no_job() -> Error {
    Error::from_code("no_job")
}
