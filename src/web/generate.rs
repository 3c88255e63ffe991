//! `POST /api/generate`: two models side by side, told as it happens, one JSON a line.

pub(super) mod house;

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

use self::house::{House, lends};
use super::Error;
use super::voter::Visitor;
use crate::app::App;
use crate::arena::Settings;
use crate::arena::catalog;
use crate::config::ServerKeyAccess;
use crate::generate::Secret;
use crate::limits::{self, LimitedAction};
use crate::sandbox::{Contestant, Event, Run, SLOWEST, Slot, Task, Ticket, TooMany};
use crate::work::WorkClient;
use voxel::{GridSize, Palette};

/// A proxy that hears nothing for longer may hang up.
const PING: Duration = Duration::from_secs(15);

/// No field of a contestant is longer.
const LONGEST_FIELD: usize = 400;

pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(generate))
}

/// What two models are to build.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Wanted {
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
    models: Option<Vec<Named>>,
    /// Only this side is asked, as for another try.
    #[serde(default)]
    #[schema(inline)]
    only: Option<Slot>,
}

/// A model: one of the catalog by its `key`, or `model` at a `provider` of the catalog or at a `baseUrl` that speaks
/// chat completions. `apiKey` is used for this request and kept nowhere.
#[derive(Clone, Default, Deserialize, ToSchema)]
#[serde(default, rename_all = "camelCase", deny_unknown_fields)]
#[schema(as = NamedModel)]
struct Named {
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
    request_body = Wanted,
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
    Json(wanted): Json<Wanted>,
) -> Result<Response, Error> {
    let prompt = wanted.prompt.trim().to_owned();
    if let Some(problem) = catalog::prompt_problem(&prompt) {
        return Err(wrong(problem));
    }
    let rivals = wanted.rivals()?;
    visitor.ask(&app, LimitedAction::Generate, None)?;
    let house = House { app: &app, lends: lends(&app, &headers) };
    if house.lends
        && app.config.sandbox.server_keys == ServerKeyAccess::Everybody
        && rivals.iter().any(Rival::borrows)
    {
        visitor.ask(&app, LimitedAction::UseServerKey, None)?;
    }
    let listed = catalog::models(&app.pool).await?;
    let sides = [Slot::A, Slot::B].into_iter().zip(rivals);
    let mut contestants = Vec::new();
    for (slot, rival) in sides.filter(|(slot, _)| wanted.only.is_none_or(|only| only == *slot)) {
        contestants.push((slot, house.contestant(&listed, rival).await?));
    }
    let ticket = app.line.join(limits::network(visitor.address()))?;
    let settings =
        Settings { grid: wanted.grid_size, palette: wanted.palette, mode: app.config.arena.mode.clone() };
    let task = Task {
        prompt,
        settings,
        max_bytes: app.config.check_max_bytes.min(app.config.generation.answer_max_bytes),
        attempts: app.config.generation.attempts,
    };
    Ok(told(Telling {
        app,
        client: WorkClient::visitor(visitor.address()),
        ticket,
        stage: Stage::Opening(Box::new((task, contestants))),
        pinged: Instant::now(),
    }))
}

impl Wanted {
    fn rivals(&self) -> Result<[Rival; 2], Error> {
        let by_key = |key: &String| Named { key: Some(key.clone()), ..Named::default() };
        let named: Vec<Named> = match (&self.model_keys, &self.models) {
            (Some(keys), None) => keys.iter().map(by_key).collect(),
            (None, Some(models)) => models.clone(),
            _ => return Err(wrong("Either modelKeys or models names the two.".to_owned())),
        };
        let two: [Named; 2] =
            named.try_into().map_err(|_| wrong("There are two sides, so name two models.".to_owned()))?;
        let [a, b] = two.map(Named::read);
        let (a, b) = (a?, b?);
        match a.who == b.who {
            true => {
                Err(Error::bad_request("equal_models", "Both sides name the same model; choose another."))
            }
            false => Ok([a, b]),
        }
    }
}

/// What a side names.
struct Rival {
    who: Who,
    /// The visitor's own.
    secret: Option<Secret>,
}

#[derive(PartialEq, Eq)]
enum Who {
    OfTheCatalog(String),
    AtAProvider { provider: String, model: String },
    Elsewhere { address: String, model: String },
}

impl Rival {
    /// Whether it takes a key of this server's, if any.
    fn borrows(&self) -> bool {
        self.secret.is_none() && !matches!(self.who, Who::Elsewhere { .. })
    }
}

impl Named {
    fn read(self) -> Result<Rival, Error> {
        let fields = [&self.key, &self.provider, &self.base_url, &self.model];
        let sound = |field: &String| {
            field.len() <= LONGEST_FIELD
                && !field.trim().is_empty()
                && !field.trim().contains(char::is_control)
        };
        let key_fits = self.api_key.as_ref().is_none_or(|key| key.len() <= LONGEST_FIELD);
        if !key_fits || !fields.into_iter().flatten().all(sound) {
            return Err(wrong(format!(
                "What names a model has 1 to {LONGEST_FIELD} characters, and no control characters."
            )));
        }
        // A field that was left empty is none.
        let secret = self.api_key.as_deref().map(str::trim).filter(|key| !key.is_empty()).map(Secret::new);
        let [key, provider, base_url, model] =
            fields.map(|field| field.as_deref().map(|text| text.trim().to_owned()));
        let who = match (key, provider, base_url, model) {
            (Some(key), None, None, None) => Who::OfTheCatalog(key),
            (None, Some(provider), None, Some(model)) => Who::AtAProvider { provider, model },
            (None, None, Some(address), Some(model)) => Who::Elsewhere { address, model },
            _ => {
                return Err(wrong(
                    "A model is named by its key, or by model and provider, or by model and baseUrl."
                        .to_owned(),
                ));
            }
        };
        Ok(Rival { who, secret })
    }
}

/// A run, told as it happens. Dropping it frees everything.
struct Telling {
    app: App,
    client: WorkClient,
    ticket: Ticket,
    stage: Stage,
    pinged: Instant,
}

type Sides = Vec<(Slot, Contestant)>;

enum Stage {
    Opening(Box<(Task, Sides)>),
    InLine(Box<(Task, Sides)>, Option<usize>),
    Running(Run),
    Over,
}

fn told(telling: Telling) -> Response {
    let (tell, events) = mpsc::channel(1);
    tokio::spawn(telling.tell(tell));
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

impl Telling {
    /// Until it is over, or nobody listens. A body that nobody reads is not asked for more, so this must not wait
    /// to be asked: it would keep its place for ever.
    async fn tell(mut self, tell: mpsc::Sender<Event>) {
        loop {
            let event = tokio::select! {
                event = self.next() => event,
                () = tell.closed() => return,
            };
            let Some(event) = event else { return };
            if !timeout(SLOWEST, tell.send(event)).await.is_ok_and(|sent| sent.is_ok()) {
                return;
            }
        }
    }

    async fn next(&mut self) -> Option<Event> {
        loop {
            match std::mem::replace(&mut self.stage, Stage::Over) {
                Stage::Opening(wanted) => {
                    self.stage = Stage::InLine(wanted, None);
                    return Some(Event::Hello);
                }
                Stage::InLine(wanted, told) => match self.ticket.position() {
                    None => {
                        let (task, contestants) = *wanted;
                        let run = Run::begin(&self.app.pool, &self.app.work, self.client, &task, contestants);
                        self.stage = Stage::Running(run);
                    }
                    Some(position) if told != Some(position) => {
                        self.stage = Stage::InLine(wanted, Some(position));
                        return Some(Event::Queue { position });
                    }
                    Some(_) => {
                        self.stage = Stage::InLine(wanted, told);
                        let due = self.pinged + PING;
                        tokio::select! {
                            () = self.ticket.moves() => {}
                            () = self.app.closing.cancelled() => {
                                self.stage = Stage::Over;
                                return Some(Event::Done);
                            }
                            () = sleep_until(due) => return Some(self.ping()),
                        }
                    }
                },
                Stage::Running(mut run) => {
                    let due = self.pinged + PING;
                    let next = tokio::select! {
                        next = run.next() => next,
                        () = sleep_until(due) => Some(Event::Ping),
                        () = self.app.closing.cancelled() => None,
                    };
                    match next {
                        Some(Event::Ping) => {
                            self.stage = Stage::Running(run);
                            return Some(self.ping());
                        }
                        Some(event) => {
                            self.stage = Stage::Running(run);
                            return Some(event);
                        }
                        None => return Some(Event::Done),
                    }
                }
                Stage::Over => return None,
            }
        }
    }

    fn ping(&mut self) -> Event {
        self.pinged = Instant::now();
        Event::Ping
    }
}

impl From<TooMany> for Error {
    fn from(reason: TooMany) -> Self {
        match reason {
            TooMany::Yours => Self::new(
                StatusCode::TOO_MANY_REQUESTS,
                "too_many_runs",
                "Several runs of yours are under way; wait for one to end, or stop it.",
            ),
            TooMany::Everybodys => Self::unavailable(
                "busy",
                "Too many people are waiting in line just now. Please try again in a while.",
            ),
        }
    }
}

fn unknown(message: String) -> Error {
    Error::bad_request("unknown_model", message)
}

fn wrong(message: String) -> Error {
    Error::bad_request("bad_request", message)
}
