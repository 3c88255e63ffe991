//! `POST /api/generate`: two models side by side, told as it happens, one JSON a line.

use std::convert::Infallible;
use std::time::Duration;

use axum::Json;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::http::{HeaderName, StatusCode};
use axum::response::{IntoResponse, Response};
use futures_util::stream;
use serde::Deserialize;
use tokio::time::{Instant, sleep_until};
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::Error;
use super::voter::Visitor;
use crate::app::App;
use crate::arena::catalog::{self, ListedModel, REFERENCE};
use crate::arena::{ModelKey, Settings};
use crate::generate::{Endpoint, Patience, Pinned, ProviderKind, Secret, provider};
use crate::limits::Asked as Limited;
use crate::sandbox::{Asked, Contestant, Event, Problem, Run, Slot, Task, Ticket, TooMany, doors};
use crate::voxel::{GridSize, Palette};

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
    Json(wanted): Json<Wanted>,
) -> Result<Response, Error> {
    let prompt = wanted.prompt.trim().to_owned();
    if let Some(problem) = catalog::prompt_problem(&prompt) {
        return Err(wrong(problem));
    }
    let named = wanted.contestants()?;
    visitor.ask(&app, Limited::Generate, None)?;
    let listed = catalog::models(&app.pool).await?;
    let sides = [Slot::A, Slot::B].into_iter().zip(named);
    let mut contestants = Vec::new();
    for (slot, named) in sides.filter(|(slot, _)| wanted.only.is_none_or(|only| only == *slot)) {
        contestants.push((slot, contestant(&app, &listed, named).await?));
    }
    let ticket = app.line.join(visitor.address())?;
    let settings =
        Settings { grid: wanted.grid_size, palette: wanted.palette, mode: app.config.arena.mode.clone() };
    let task = Task {
        prompt,
        settings,
        max_bytes: app.config.check_max_bytes.min(app.config.asking.answer_max_bytes),
        attempts: app.config.asking.attempts,
    };
    Ok(told(Telling {
        app,
        ticket,
        stage: Stage::Opening(Box::new((task, contestants))),
        pinged: Instant::now(),
    }))
}

impl Wanted {
    fn contestants(&self) -> Result<[Named; 2], Error> {
        let by_key = |key: &String| Named { key: Some(key.clone()), ..Named::default() };
        let named: Vec<Named> = match (&self.model_keys, &self.models) {
            (Some(keys), None) => keys.iter().map(by_key).collect(),
            (None, Some(models)) => models.clone(),
            _ => return Err(wrong("Either modelKeys or models names the two.".to_owned())),
        };
        let two: [Named; 2] =
            named.try_into().map_err(|_| wrong("There are two sides, so name two models.".to_owned()))?;
        for named in &two {
            named.check()?;
        }
        match two[0].who() == two[1].who() {
            true => {
                Err(Error::bad_request("equal_models", "Both sides name the same model; choose another."))
            }
            false => Ok(two),
        }
    }
}

impl Named {
    fn check(&self) -> Result<(), Error> {
        let fields = [&self.key, &self.provider, &self.base_url, &self.model, &self.api_key];
        if fields.into_iter().flatten().any(|field| field.len() > LONGEST_FIELD || field.trim().is_empty()) {
            return Err(wrong(format!("What names a model has 1 to {LONGEST_FIELD} characters.")));
        }
        match (&self.key, &self.provider, &self.base_url, &self.model) {
            (Some(_), None, None, None) | (None, Some(_), None, Some(_)) | (None, None, Some(_), Some(_)) => {
                Ok(())
            }
            _ => Err(wrong(
                "A model is named by its key, or by model and provider, or by model and baseUrl.".to_owned(),
            )),
        }
    }

    /// The key to its provider aside.
    fn who(&self) -> [Option<&str>; 4] {
        [&self.key, &self.provider, &self.base_url, &self.model].map(|field| field.as_deref().map(str::trim))
    }

    fn secret(&self) -> Option<Secret> {
        self.api_key.as_deref().map(Secret::new)
    }
}

/// Whom a side is to ask. What is named wrongly is refused; what cannot be asked is that side's own failure.
async fn contestant(app: &App, listed: &[ListedModel], named: Named) -> Result<Contestant, Error> {
    let [key, provider, base_url, model] = named.who().map(|field| field.map(str::to_owned));
    match (key, provider, base_url, model) {
        (Some(key), ..) => of_the_catalog(app, listed, &key, named.secret()),
        (_, Some(provider), _, Some(model)) => {
            let known = app.workshop.providers().known().iter().find(|known| known.key == provider);
            let known = known.ok_or_else(|| unknown(format!("There is no provider {provider} here.")))?;
            let name = format!("{provider}:{model}");
            Ok(Contestant { name, asked: at_a_provider(app, known, model, named.secret()) })
        }
        (_, _, Some(address), Some(model)) => Ok(elsewhere(app, &address, model, named.secret()).await),
        _ => Err(wrong("A model is named by its key, or where it is asked.".to_owned())),
    }
}

fn of_the_catalog(
    app: &App,
    listed: &[ListedModel],
    key: &str,
    secret: Option<Secret>,
) -> Result<Contestant, Error> {
    let known = key.parse::<ModelKey>().ok();
    let model = known.and_then(|key| listed.iter().find(|listed| listed.model.key == key));
    let model = &model.ok_or_else(|| unknown(format!("There is no model {key} here.")))?.model;
    if model.provider == REFERENCE {
        return Err(unknown(format!(
            "{} was made for this project, and cannot be asked.",
            model.display_name
        )));
    }
    let providers = app.workshop.providers();
    let asked = match (&secret, providers.route(model)) {
        (None, Some((provider, name))) if app.config.sandbox.server_keys => {
            let provider = providers.get(provider).ok_or_else(|| no_key(app));
            provider.map(|provider| Asked {
                provider: provider.clone(),
                model: name.to_owned(),
                options: model.options,
            })
        }
        (None, _) => Err(no_key(app)),
        (Some(_), _) => {
            let mut routes = model.routes();
            let open = routes.find_map(|(provider, name)| {
                let known = providers.known().iter().find(|known| known.key == provider)?;
                Some((known, name.to_owned()))
            });
            match open {
                Some((known, name)) => at_a_provider(app, known, name, secret)
                    .map(|asked| Asked { options: model.options, ..asked }),
                None => Err(no_key(app)),
            }
        }
    };
    Ok(Contestant { name: key.to_owned(), asked })
}

fn at_a_provider(
    app: &App,
    known: &catalog::Provider,
    model: String,
    secret: Option<Secret>,
) -> Result<Asked, Problem> {
    let options = catalog::Options::default();
    // One that wants no key is the operator's own machine, most likely.
    let is_lent = app.config.sandbox.server_keys;
    if known.key_variable.is_none() && !is_lent {
        return Err(no_key(app));
    }
    if secret.is_none() {
        let own = app.workshop.providers().get(&known.key).filter(|_| is_lent);
        return own
            .map(|provider| Asked { provider: provider.clone(), model, options })
            .ok_or_else(|| no_key(app));
    }
    let endpoint =
        Endpoint { provider: known.kind, base_url: known.base_url.clone(), key: secret, pinned: None };
    asked(app, &endpoint, model)
}

async fn elsewhere(app: &App, address: &str, model: String, secret: Option<Secret>) -> Contestant {
    let door = match doors::open(address, app.config.sandbox.local).await {
        Ok(door) => door,
        Err(closed) => {
            let asked = Err(Problem { code: "address_refused", message: format!("{closed}.") });
            return Contestant { name: model, asked };
        }
    };
    let name = format!("{}:{model}", door.host);
    let endpoint = Endpoint {
        provider: ProviderKind::Compatible,
        base_url: door.base_url,
        key: secret,
        pinned: Some(Pinned { host: door.host, places: door.places }),
    };
    Contestant { name, asked: asked(app, &endpoint, model) }
}

fn asked(app: &App, endpoint: &Endpoint, model: String) -> Result<Asked, Problem> {
    let max_bytes = app.config.check_max_bytes.min(app.config.asking.answer_max_bytes);
    let patience = Patience { max_bytes, ..Patience::for_people() };
    // What a stranger's endpoint says is not for our log.
    let provider = provider(endpoint, patience, false)
        .map_err(|error| Problem { code: "address_refused", message: error.to_string() })?;
    Ok(Asked { provider, model, options: catalog::Options::default() })
}

fn no_key(app: &App) -> Problem {
    let message = match app.config.sandbox.server_keys {
        true => "This server has no key for it; type your own.",
        false => "This server lends no keys; type your own.",
    };
    Problem { code: "no_key", message: message.to_owned() }
}

/// A run on its way to whoever asked. Dropping it frees everything.
struct Telling {
    app: App,
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
    let lines = stream::unfold(telling, |mut telling| async move {
        let event = telling.next().await?;
        let mut line = serde_json::to_vec(&event).unwrap_or_default();
        line.push(b'\n');
        Some((Ok::<_, Infallible>(Bytes::from(line)), telling))
    });
    let headers = [
        (CONTENT_TYPE, "application/x-ndjson"),
        (CACHE_CONTROL, "no-store"),
        (HeaderName::from_static("x-accel-buffering"), "no"),
    ];
    (headers, Body::from_stream(lines)).into_response()
}

impl Telling {
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
                        let run = Run::begin(&self.app.pool, &self.app.work, &task, contestants);
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
