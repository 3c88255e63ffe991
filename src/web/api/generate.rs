//! `POST /api/generate`: two models side by side, told as it happens, one JSON a line.

pub(in crate::web) mod resolver;

use std::convert::Infallible;
use std::time::Duration;

use axum::Json;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::http::{HeaderMap, HeaderName, StatusCode};
use axum::response::{IntoResponse, Response};
use futures_util::stream;
use serde::Deserialize;
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until, timeout};
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use self::resolver::{ContestantResolver, lends_keys};
use crate::app::App;
use crate::arena::Settings;
use crate::arena::catalog;
use crate::config::ServerKeyAccess;
use crate::generate::Secret;
use crate::limits::{self, LimitedAction};
use crate::sandbox::{
    QueueFull, READER_TIMEOUT, RunEvent, SandboxContestant, SandboxRun, SandboxSlot, SandboxTask, Ticket,
};
use crate::web::Error;
use crate::web::voter::Visitor;
use crate::work::WorkClient;
use voxel::{GridSize, Palette};

/// A proxy that hears nothing for longer may hang up.
const HEARTBEAT: Duration = Duration::from_secs(15);

/// No field of a contestant is longer.
const MAX_FIELD_BYTES: usize = 400;

pub(in crate::web) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(generate))
}

/// What two models are to build.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(as = Wanted)]
struct GenerateRequest {
    /// At most 800 characters.
    #[schema(example = "a steam locomotive")]
    prompt: String,
    grid_size: GridSize,
    palette: Palette,
    /// Two models of the catalog, asked with this server's keys.
    #[serde(default)]
    model_keys: Option<Vec<String>>,
    /// Or two of anywhere.
    #[serde(default)]
    models: Option<Vec<RequestedModel>>,
    /// Only this side is asked, as for another try.
    #[serde(default)]
    #[schema(inline)]
    only: Option<SandboxSlot>,
}

/// A model: one of the catalog by its `key`, or `model` at a `provider` of the catalog or at a `baseUrl` that speaks
/// chat completions. `apiKey` is used for this request and kept nowhere.
#[derive(Clone, Default, Deserialize, ToSchema)]
#[serde(default, rename_all = "camelCase", deny_unknown_fields)]
#[schema(as = NamedModel)]
struct RequestedModel {
    key: Option<String>,
    provider: Option<String>,
    base_url: Option<String>,
    model: Option<String>,
    api_key: Option<String>,
}

/// Two models side by side
///
/// Streams NDJSON: `hello`, then for each side `start`, `progress` a few times a second, `retry` before another attempt,
/// and `result` or `error`; `queue` while others are before you, `ping` every 15 s, `done` at the end. One side's failure
/// leaves the other alone, and hanging up ends both at their providers. Nothing of it enters the arena.
#[utoipa::path(
    post, path = "/api/generate", tag = "Sandbox", operation_id = "generate",
    request_body = GenerateRequest,
    responses(
        (status = OK, description = "Events, one JSON a line.", body = String, content_type = "application/x-ndjson"),
        (status = BAD_REQUEST, description = "bad_request, equal_models, unknown_model"),
        (status = TOO_MANY_REQUESTS, description = "rate_limited, too_many_runs"),
        (status = SERVICE_UNAVAILABLE, description = "busy"),
    ),
)]
async fn generate(
    State(app): State<App>,
    visitor: Visitor,
    headers: HeaderMap,
    Json(request): Json<GenerateRequest>,
) -> Result<Response, Error> {
    let prompt = request.prompt.trim().to_owned();
    if let Some(problem) = catalog::prompt_problem(&prompt) {
        return Err(bad_request(problem));
    }
    let choices = request.choices()?;
    visitor.check_limit(&app, LimitedAction::Generate, None)?;
    let resolver = ContestantResolver { app: &app, lends_keys: lends_keys(&app, &headers) };
    if resolver.lends_keys
        && app.config.sandbox.server_keys == ServerKeyAccess::Everybody
        && choices.iter().any(ModelChoice::uses_server_key)
    {
        visitor.check_limit(&app, LimitedAction::UseServerKey, None)?;
    }
    let listed = catalog::models(&app.pool).await?;
    let sides = [SandboxSlot::A, SandboxSlot::B].into_iter().zip(choices);
    let mut contestants = Vec::new();
    for (slot, choice) in sides.filter(|(slot, _)| request.only.is_none_or(|only| only == *slot)) {
        contestants.push((slot, resolver.contestant(&listed, choice).await?));
    }
    let ticket = app.sandbox_queue.join(limits::network(visitor.address()))?;
    let settings =
        Settings { grid: request.grid_size, palette: request.palette, mode: app.config.arena.mode.clone() };
    let task = SandboxTask {
        prompt,
        settings,
        max_bytes: app.config.check_max_bytes.min(app.config.generation.answer_max_bytes),
        attempts: app.config.generation.attempts,
    };
    Ok(stream_response(RunStream {
        app,
        client: WorkClient::visitor(visitor.address()),
        ticket,
        stage: RunStage::Starting(Box::new((task, contestants))),
        last_ping: Instant::now(),
    }))
}

impl GenerateRequest {
    fn choices(&self) -> Result<[ModelChoice; 2], Error> {
        let by_key = |key: &String| RequestedModel { key: Some(key.clone()), ..RequestedModel::default() };
        let named: Vec<RequestedModel> = match (&self.model_keys, &self.models) {
            (Some(keys), None) => keys.iter().map(by_key).collect(),
            (None, Some(models)) => models.clone(),
            _ => return Err(bad_request("Either modelKeys or models names the two.".to_owned())),
        };
        let two: [RequestedModel; 2] = named
            .try_into()
            .map_err(|_| bad_request("There are two sides, so name two models.".to_owned()))?;
        let [a, b] = two.map(RequestedModel::read);
        let (a, b) = (a?, b?);
        match a.source == b.source {
            true => {
                Err(Error::bad_request("equal_models", "Both sides name the same model; choose another."))
            }
            false => Ok([a, b]),
        }
    }
}

/// What a side names.
struct ModelChoice {
    source: ModelSource,
    /// The visitor's own.
    secret: Option<Secret>,
}

#[derive(PartialEq, Eq)]
enum ModelSource {
    Catalog(String),
    Provider { provider: String, model: String },
    Endpoint { address: String, model: String },
}

impl ModelChoice {
    /// Whether it takes a key of this server's, if any.
    fn uses_server_key(&self) -> bool {
        self.secret.is_none() && !matches!(self.source, ModelSource::Endpoint { .. })
    }
}

impl RequestedModel {
    fn read(self) -> Result<ModelChoice, Error> {
        let fields = [&self.key, &self.provider, &self.base_url, &self.model];
        let sound = |field: &String| {
            field.len() <= MAX_FIELD_BYTES
                && !field.trim().is_empty()
                && !field.trim().contains(char::is_control)
        };
        let key_fits = self.api_key.as_ref().is_none_or(|key| key.len() <= MAX_FIELD_BYTES);
        if !key_fits || !fields.into_iter().flatten().all(sound) {
            return Err(bad_request(format!(
                "What names a model has 1 to {MAX_FIELD_BYTES} characters, and no control characters."
            )));
        }
        // A field that was left empty is none.
        let secret = self.api_key.as_deref().map(str::trim).filter(|key| !key.is_empty()).map(Secret::new);
        let [key, provider, base_url, model] =
            fields.map(|field| field.as_deref().map(|text| text.trim().to_owned()));
        let source = match (key, provider, base_url, model) {
            (Some(key), None, None, None) => ModelSource::Catalog(key),
            (None, Some(provider), None, Some(model)) => ModelSource::Provider { provider, model },
            (None, None, Some(address), Some(model)) => ModelSource::Endpoint { address, model },
            _ => {
                return Err(bad_request(
                    "A model is named by its key, or by model and provider, or by model and baseUrl."
                        .to_owned(),
                ));
            }
        };
        Ok(ModelChoice { source, secret })
    }
}

/// A run, told as it happens. Dropping it frees everything.
struct RunStream {
    app: App,
    client: WorkClient,
    ticket: Ticket,
    stage: RunStage,
    last_ping: Instant,
}

type RunContestants = Vec<(SandboxSlot, SandboxContestant)>;

enum RunStage {
    Starting(Box<(SandboxTask, RunContestants)>),
    Queued(Box<(SandboxTask, RunContestants)>, Option<usize>),
    Running(SandboxRun),
    Ended,
}

fn stream_response(run_stream: RunStream) -> Response {
    let (sender, events) = mpsc::channel(1);
    tokio::spawn(run_stream.forward(sender));
    let lines = stream::unfold(events, |mut events| async move {
        let event = events.recv().await?;
        let mut line = serde_json::to_vec(&event).unwrap_or_default();
        line.push(b'\n');
        Some((Ok::<_, Infallible>(Bytes::from(line)), events))
    });
    let headers = [
        (CONTENT_TYPE, "application/x-ndjson"),
        (CACHE_CONTROL, "no-store"),
        (HeaderName::from_static("x-accel-buffering"), "no"),
    ];
    (headers, Body::from_stream(lines)).into_response()
}

impl RunStream {
    /// Until it is over, or nobody listens. A body that nobody reads is not asked for more, so this must not wait
    /// to be asked: it would keep its place for ever.
    async fn forward(mut self, sender: mpsc::Sender<RunEvent>) {
        loop {
            let event = tokio::select! {
                event = self.next() => event,
                () = sender.closed() => return,
            };
            let Some(event) = event else { return };
            if !timeout(READER_TIMEOUT, sender.send(event)).await.is_ok_and(|sent| sent.is_ok()) {
                return;
            }
        }
    }

    async fn next(&mut self) -> Option<RunEvent> {
        loop {
            match std::mem::replace(&mut self.stage, RunStage::Ended) {
                RunStage::Starting(pending) => {
                    self.stage = RunStage::Queued(pending, None);
                    return Some(RunEvent::Hello);
                }
                RunStage::Queued(pending, last_position) => match self.ticket.position() {
                    None => {
                        let (task, contestants) = *pending;
                        let run = SandboxRun::start(
                            &self.app.pool,
                            &self.app.work,
                            self.client,
                            &task,
                            contestants,
                        );
                        self.stage = RunStage::Running(run);
                    }
                    Some(position) if last_position != Some(position) => {
                        self.stage = RunStage::Queued(pending, Some(position));
                        return Some(RunEvent::Queue { position });
                    }
                    Some(_) => {
                        self.stage = RunStage::Queued(pending, last_position);
                        let due = self.last_ping + HEARTBEAT;
                        tokio::select! {
                            () = self.ticket.changed() => {}
                            () = self.app.shutdown.cancelled() => {
                                self.stage = RunStage::Ended;
                                return Some(RunEvent::Done);
                            }
                            () = sleep_until(due) => return Some(self.ping()),
                        }
                    }
                },
                RunStage::Running(mut run) => {
                    let due = self.last_ping + HEARTBEAT;
                    let next = tokio::select! {
                        next = run.next() => next,
                        () = sleep_until(due) => Some(RunEvent::Ping),
                        () = self.app.shutdown.cancelled() => None,
                    };
                    match next {
                        Some(RunEvent::Ping) => {
                            self.stage = RunStage::Running(run);
                            return Some(self.ping());
                        }
                        Some(event) => {
                            self.stage = RunStage::Running(run);
                            return Some(event);
                        }
                        None => return Some(RunEvent::Done),
                    }
                }
                RunStage::Ended => return None,
            }
        }
    }

    fn ping(&mut self) -> RunEvent {
        self.last_ping = Instant::now();
        RunEvent::Ping
    }
}

impl From<QueueFull> for Error {
    fn from(reason: QueueFull) -> Self {
        match reason {
            QueueFull::PerAddress => Self::new(
                StatusCode::TOO_MANY_REQUESTS,
                "too_many_runs",
                "Several runs of yours are under way; wait for one to end, or stop it.",
            ),
            QueueFull::Total => Self::unavailable(
                "busy",
                "Too many people are waiting in line just now. Please try again in a while.",
            ),
        }
    }
}

fn unknown_model(message: String) -> Error {
    Error::bad_request("unknown_model", message)
}

fn bad_request(message: String) -> Error {
    Error::bad_request("bad_request", message)
}
