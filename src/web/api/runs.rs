//! `/api/runs`: an agent at one task, and what it saw.

use axum::Json;
use axum::body::Body;
use axum::extract::{Path, State};
use axum::http::header::{CONTENT_DISPOSITION, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};
use buildoff_world::picture_of;
use serde::Serialize;
use serde_json::Value;
use time::OffsetDateTime;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;
use uuid::Uuid;
use world::record::Recording;
use world::{Frame, Terrains};

use crate::app::App;
use crate::arena::assessments::{self, Assessment, RunState, StoredRun};
use crate::assess::order::OrderedTask;
use crate::assess::report::ScoredRun;
use crate::judge::scores::VideoScore;
use crate::web::derived::{ContentRequest, IMMUTABLE, NO_STORE, Representation};
use crate::web::encoding::Encoding;
use crate::web::openapi::codes;
use crate::web::terrains::shared_terrains;
use crate::web::{Error, ErrorCode};

/// Width and height of the pictures of a run.
const FRAME_SIZE: [usize; 2] = [640, 360];

pub(in crate::web) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(show)).routes(routes!(recording)).routes(routes!(frame))
}

/// An agent at one task.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Run)]
pub(in crate::web) struct RunView {
    pub id: Uuid,
    pub assessment: Uuid,
    /// From 1, in the order in which they are run.
    pub number: i32,
    #[schema(example = "crafting")]
    pub category: String,
    #[schema(example = "craft_ladder")]
    pub task: String,
    pub state: RunState,
    pub steps: i32,
    pub max_steps: i32,
    /// What the world has paid, on the scale of the task. Null if the task pays nothing.
    #[schema(required)]
    pub sim_score: Option<f64>,
    /// Null as long as it is not known.
    #[schema(required)]
    pub score: Option<f64>,
    #[schema(example = 10)]
    pub max_score: f64,
    /// How many messages the agent was sent.
    pub messages: i32,
    /// Messages that were not answered in time.
    pub unanswered: i32,
    /// Answers that were no action.
    pub unreadable: i32,
    /// How long the agent took for an answer, on average, in milliseconds.
    #[schema(required)]
    pub answer_ms: Option<f64>,
    /// Whether actions were held for several steps.
    pub held: bool,
    /// Whether anything was crafted past the pointer.
    pub assisted: bool,
    /// How it came to its end: finished, died, refused, silent, time_up or broken.
    #[schema(required, value_type = Option<String>, example = "finished")]
    pub ending: Option<&'static str>,
    /// Why it ended early.
    #[schema(required)]
    pub problem: Option<String>,
    /// What was paid.
    pub paid: Vec<PaymentView>,
    /// What was not paid.
    #[schema(value_type = Vec<Object>)]
    pub open: Value,
    #[serde(with = "time::serde::rfc3339::option")]
    #[schema(required)]
    pub started_at: Option<OffsetDateTime>,
    #[serde(with = "time::serde::rfc3339::option")]
    #[schema(required)]
    pub ended_at: Option<OffsetDateTime>,
}

#[derive(Clone, Copy, Debug, Serialize, ToSchema)]
#[schema(as = RunPayment)]
pub(in crate::web) struct PaymentView {
    pub step: u64,
    pub points: f64,
}

impl RunView {
    pub fn of(run: &StoredRun, assessment: &Assessment) -> Self {
        let task = OrderedTask::named(&run.category, &run.task, u64::try_from(run.max_steps).unwrap_or(1));
        let end = run.end.as_ref();
        let payable = task.as_ref().map_or(0.0, |task| task.task.payable());
        let scores = task.as_ref().map(|task| {
            let scored = ScoredRun {
                task,
                given: run.progress.given,
                payable: end.map_or(payable, |end| end.payable),
                held: false,
                assisted: false,
                error: None,
                video: VideoScore::NoJudge,
            };
            scored.scores(assessment.revision)
        });
        let has_begun = run.state != RunState::Waiting;
        let scores = scores.filter(|_| has_begun);
        let messages = run.progress.messages;
        Self {
            id: run.id,
            assessment: run.assessment,
            number: run.number,
            category: run.category.clone(),
            task: run.task.clone(),
            state: run.state,
            steps: run.progress.steps,
            max_steps: run.max_steps,
            sim_score: scores.as_ref().and_then(|scores| scores.sim_score),
            score: scores.as_ref().and_then(|scores| scores.total_score),
            max_score: task.as_ref().map_or(0.0, |task| task.length.max_score()),
            messages,
            unanswered: run.progress.unanswered,
            unreadable: run.progress.unreadable,
            answer_ms: (messages > 0).then(|| run.progress.answer_ms as f64 / f64::from(messages)),
            held: end.is_some_and(|end| end.held),
            assisted: end.is_some_and(|end| end.assisted),
            ending: end.map(|end| end.kind.name()),
            problem: end.and_then(|end| end.words.clone()),
            paid: run.paid.iter().map(|&(step, points)| PaymentView { step, points }).collect(),
            open: run.open.clone(),
            started_at: run.started_at,
            ended_at: run.ended_at,
        }
    }

    /// # Errors
    /// If there is no such run.
    pub async fn find(app: &App, id: &str) -> Result<(Self, Assessment), Error> {
        let id: Uuid = id.parse().map_err(|_| ErrorCode::NoSuchRun)?;
        let run = assessments::find_run(&app.pool, id).await?.ok_or(ErrorCode::NoSuchRun)?;
        let assessment = assessments::find(&app.pool, run.assessment).await?.ok_or(ErrorCode::NoSuchRun)?;
        Ok((Self::of(&run, &assessment), assessment))
    }
}

/// Get a run
///
/// How it goes, or what came of it.
#[utoipa::path(
    get, path = "/api/runs/{id}", tag = "Agents", operation_id = "run",
    params(("id" = Uuid, Path, description = "The run's id.")),
    responses((status = OK, description = "The run.", body = RunView)),
    extensions(("x-errors" = json!(codes([ErrorCode::NoSuchRun])))),
)]
async fn show(State(app): State<App>, Path(id): Path<String>) -> Result<Response, Error> {
    let (view, _) = RunView::find(&app, &id).await?;
    Ok(([NO_STORE], Json(view)).into_response())
}

/// Download the recording of a run
///
/// All actions of the agent, with hashes of the world; `buildoff world replay` runs it again. Public once the assessment
/// has ended.
#[utoipa::path(
    get, path = "/api/runs/{id}/recording", tag = "Agents", operation_id = "runRecording",
    params(("id" = Uuid, Path, description = "The run's id.")),
    responses((status = OK, description = "A recording.", content((Vec<u8> = "application/gzip")))),
    extensions(("x-errors" = json!(codes([ErrorCode::NoSuchRun, ErrorCode::NotPublished])))),
)]
async fn recording(State(app): State<App>, Path(id): Path<String>) -> Result<Response, Error> {
    let (run, bytes) = published_recording(&app, &id).await?;
    let file = format!("attachment; filename=\"{}-{}.run\"", run.task, &run.id.to_string()[..8]);
    Ok(([(CONTENT_TYPE, "application/gzip".to_owned()), (CONTENT_DISPOSITION, file)], bytes).into_response())
}

/// Get what the agent saw
///
/// The view before this step; the step after the last one shows how it ended. Public once the assessment has ended.
#[utoipa::path(
    get, path = "/api/runs/{id}/frames/{step}", tag = "Agents", operation_id = "runFrame",
    params(
        ("id" = Uuid, Path, description = "The run's id."),
        ("step" = u64, Path, description = "From 0 to the number of steps.", example = 0),
    ),
    responses((status = OK, description = "A picture of 640 × 360 pixels.", content((Vec<u8> = "image/webp")))),
    extensions(("x-errors" = json!(codes([ErrorCode::NoSuchRun, ErrorCode::NotPublished])))),
)]
async fn frame(request: ContentRequest, Path((id, step)): Path<(String, u64)>) -> Result<Response, Error> {
    let ContentRequest { app, client, headers, .. } = request;
    let (run, bytes) = published_recording(&app, &id).await?;
    if i64::try_from(step).map_or(true, |step| step > i64::from(run.steps)) {
        return Err(Error::not_found("The run has no such step."));
    }
    let name = format!("run-{}-{step}", run.id);
    let representation = Representation {
        kind: "image/webp",
        name: &name,
        encoding: Encoding::Identity,
        cache_control: IMMUTABLE,
    };
    let terrains = shared_terrains();
    let load = async { Ok::<_, Error>(move || draw(&bytes, step, &terrains).map_err(Error::internal)) };
    let picture = async { app.pictures.get(client, name.as_str().into(), load).await.map(Body::from) };
    representation.respond(&headers, picture).await
}

/// The recording of a run whose assessment has ended.
async fn published_recording(app: &App, id: &str) -> Result<(RunView, Vec<u8>), Error> {
    let (run, assessment) = RunView::find(app, id).await?;
    if !assessment.state.is_over() {
        return Err(ErrorCode::NotPublished.into());
    }
    let bytes = assessments::recording(&app.pool, run.id).await?.ok_or(ErrorCode::NotPublished)?;
    Ok((run, bytes))
}

/// Heavy work.
fn draw(recording: &[u8], step: u64, terrains: &Terrains) -> anyhow::Result<Vec<u8>> {
    let recording = Recording::read(recording)?;
    let mut frame = Frame::new(FRAME_SIZE[0], FRAME_SIZE[1]);
    recording.replay(terrains, |episode| {
        if episode.world().tick() == step {
            episode.world().view(&mut frame);
        }
    })?;
    Ok(picture_of(&frame).lossy_webp(80.0)?)
}
