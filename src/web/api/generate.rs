//! `POST /api/generate`: two models build side by side in the sandbox. The response is a stream of events.

mod request;
pub(in crate::web) mod resolver;
mod run_stream;

use axum::Json;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Response;
use tokio::time::Instant;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use self::request::{GenerateRequest, ModelChoice};
use self::resolver::{ContestantResolver, lends_keys};
use self::run_stream::{RunStage, RunStream};
use crate::app::App;
use crate::arena::Settings;
use crate::arena::catalog;
use crate::client_network::ClientNetwork;
use crate::config::ServerKeyAccess;
use crate::limits::{self, LimitedAction};
use crate::sandbox::{KeyLoan, QueueFull, SandboxSlot, SandboxTask};
use crate::web::openapi::codes;
use crate::web::this_machine::is_at_this_machine;
use crate::web::voter::Visitor;
use crate::web::{Error, ErrorCode};
use crate::work::WorkClient;

pub(in crate::web) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(generate))
}

/// Run two models side by side
///
/// Streams NDJSON: `hello`, then for each side `start`, `progress` a few times a second, `retry` before another attempt,
/// and `result` or `error`; `queue` while the run waits for a slot, `ping` every 15 s, and `done` at the end. If one side
/// fails, the other continues. Disconnecting ends both requests to the providers. Nothing enters the arena.
#[utoipa::path(
    post, path = "/api/generate", tag = "Sandbox", operation_id = "generate",
    request_body = GenerateRequest,
    responses(
        (status = OK, description = "Events, one JSON object per line.", body = String, content_type = "application/x-ndjson"),
    ),
    extensions(("x-errors" = json!(codes([
        ErrorCode::BadRequest, ErrorCode::EqualModels, ErrorCode::UnknownModel, ErrorCode::RateLimited,
        ErrorCode::TooManyRuns, ErrorCode::Busy,
    ])))),
)]
async fn generate(
    State(app): State<App>,
    visitor: Visitor,
    headers: HeaderMap,
    Json(request): Json<GenerateRequest>,
) -> Result<Response, Error> {
    let prompt = request.prompt.trim().to_owned();
    Error::bad_request_if(catalog::prompt_problem(&prompt))?;
    let choices = request.choices()?;
    visitor.check_limit(&app, LimitedAction::Generate, None)?;
    let loan = lends_keys(&app, &headers, visitor.address()).then(|| {
        let network = ClientNetwork::site(visitor.address());
        let config = &app.config;
        KeyLoan::new(app.pool.clone(), config.sandbox.loan_limits, config.budgets.limits, network)
    });
    let allows_private_agents =
        app.config.sandbox.local || is_at_this_machine(&app, &headers, visitor.address());
    let resolver = ContestantResolver { app: &app, loan, allows_private_agents };
    if resolver.loan.is_some()
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
        site: app.config.site_url().into(),
    };
    let stream = RunStream {
        app,
        client: WorkClient::visitor(visitor.address()),
        ticket,
        stage: RunStage::Starting(Box::new((task, contestants))),
        last_ping: Instant::now(),
    };
    Ok(stream.into_response())
}

impl From<QueueFull> for Error {
    fn from(reason: QueueFull) -> Self {
        match reason {
            QueueFull::PerAddress => ErrorCode::TooManyRuns.into(),
            QueueFull::Total => Self::new(ErrorCode::Busy, "The sandbox’s queue is full. Try again later."),
        }
    }
}
