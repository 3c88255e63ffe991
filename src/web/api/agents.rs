//! `/api/agents`: the register of agents as everybody may see it, and what an owner may change with a token.

use axum::Json;
use axum::extract::{Path, State};
use axum::http::HeaderMap;
use serde::{Deserialize, Serialize};
use serde_json::json;
use time::OffsetDateTime;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::app::App;
use crate::arena::ModelKey;
use crate::arena::agents::tokens::{self, TokenOwner};
use crate::arena::agents::{self, AgentPatch, EditAgentError, RegisteredAgent};
use crate::arena::audit::{self, Admin, AdminChannel};
use crate::arena::catalog::AgentSource;
use crate::generate::a2a::{agent_address, read_card};
use crate::generate::{Endpoint, ProviderKind, RequestLimits};
use crate::limits::LimitedAction;
use crate::outbound::{self, OutboundRefused};
use crate::web::bearer::bearer_token;
use crate::web::filters::capitalised;
use crate::web::openapi::codes;
use crate::web::voter::ClientAddress;
use crate::web::{Error, ErrorCode};

pub(in crate::web) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(list)).routes(routes!(show, change))
}

/// An agent, as everybody may see it.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Agent)]
struct AgentView {
    #[schema(example = "tower_bot")]
    key: String,
    #[schema(example = "Tower Bot")]
    name: String,
    /// What its owner says about it.
    note: String,
    /// Where it is reached.
    #[schema(example = "agents.example")]
    host: String,
    /// A disabled agent is not asked for anything.
    enabled: bool,
    /// Whether it takes part in the arena, as the model of the same key.
    builds: bool,
    /// What its card said when it was read last.
    #[schema(required)]
    card: Option<AgentCardView>,
}

/// What an agent's card says.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = AgentCard)]
pub(in crate::web) struct AgentCardView {
    pub name: String,
    pub version: String,
    /// The version of the A2A protocol in which it is asked.
    #[schema(example = "1.0")]
    pub protocol: String,
    /// The SHA-256 of the card, in hexadecimal.
    pub digest: String,
    #[serde(with = "time::serde::rfc3339")]
    pub read_at: OffsetDateTime,
}

#[derive(Serialize, ToSchema)]
#[schema(as = Agents)]
struct AgentsResponse {
    agents: Vec<AgentView>,
}

/// Missing fields stay as they are.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(as = OwnAgentChange)]
struct OwnAgentChange {
    /// Where its card is now: an https address on the public internet.
    url: Option<String>,
    note: Option<String>,
}

/// An agent after a change by its owner.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = OwnAgent)]
struct OwnAgentView {
    #[serde(flatten)]
    agent: AgentView,
    url: String,
    /// Why the agent cannot be asked at its address.
    #[schema(required)]
    card_problem: Option<String>,
}

/// List agents
///
/// Programs that are asked over the A2A protocol, by name.
#[utoipa::path(
    get, path = "/api/agents", tag = "Agents", operation_id = "listAgents",
    responses((status = OK, description = "All agents.", body = AgentsResponse)),
)]
async fn list(State(app): State<App>) -> Result<Json<AgentsResponse>, Error> {
    let agents = agents::all(&app.replica).await?.iter().map(AgentView::of).collect();
    Ok(Json(AgentsResponse { agents }))
}

/// Get an agent
///
/// As everybody may see it; its address is known to its owner and to admins.
#[utoipa::path(
    get, path = "/api/agents/{key}", tag = "Agents", operation_id = "agent",
    params(("key" = String, Path, description = "The agent's key.", example = "tower_bot")),
    responses((status = OK, description = "The agent.", body = AgentView)),
    extensions(("x-errors" = json!(codes([ErrorCode::NoAgent])))),
)]
async fn show(State(app): State<App>, Path(key): Path<String>) -> Result<Json<AgentView>, Error> {
    Ok(Json(AgentView::of(&find(&app, &key).await?)))
}

/// Change your own agent
///
/// With an owner's token as bearer token, which an admin makes for one agent. The agent's secret is not sent to a new
/// address before an admin has entered it for that.
#[utoipa::path(
    patch, path = "/api/agents/{key}", tag = "Agents", operation_id = "changeOwnAgent",
    params(("key" = String, Path, description = "The agent's key.", example = "tower_bot")),
    request_body = OwnAgentChange,
    responses((status = OK, description = "The changed agent.", body = OwnAgentView)),
    security(("agentToken" = [])),
    extensions(("x-errors" = json!(codes([
        ErrorCode::NoAgentToken, ErrorCode::BadAgentToken, ErrorCode::NotYourAgent, ErrorCode::AddressRefused,
    ])))),
)]
async fn change(
    State(app): State<App>,
    address: ClientAddress,
    headers: HeaderMap,
    Path(key): Path<String>,
    Json(OwnAgentChange { url, note }): Json<OwnAgentChange>,
) -> Result<Json<OwnAgentView>, Error> {
    address.check_limit(&app, LimitedAction::Agent)?;
    let token = bearer_token(&headers).ok_or(ErrorCode::NoAgentToken)?;
    let owner = tokens::owner_of(&app.pool, token).await?;
    let TokenOwner { agent: own, name, .. } = owner.ok_or(ErrorCode::BadAgentToken)?;
    if own.as_str() != key {
        return Err(ErrorCode::NotYourAgent.into());
    }
    let url = url.map(|url| check_address(&url)).transpose()?;
    if let Some(url) = &url {
        is_private(url, false).await?;
    }
    let detail = json!({ "url": url, "note": note, "token": name });
    let patch = AgentPatch { address: url.map(|url| (url, false)), note, ..AgentPatch::default() };
    let by = Admin { via: AdminChannel::Api, address: Some(address.0) };
    let agent = change_agent(&app, by, &own, patch, detail).await?;
    let agent = look_at_card(&app, agent).await?;
    let (url, card_problem) = (agent.entry.url.clone(), agent.card_problem.clone());
    Ok(Json(OwnAgentView { agent: AgentView::of(&agent), url, card_problem }))
}

/// Changes an agent in a transaction, and has the worker know it.
pub(super) async fn change_agent(
    app: &App,
    by: Admin,
    key: &ModelKey,
    patch: AgentPatch,
    detail: serde_json::Value,
) -> Result<RegisteredAgent, Error> {
    let mut transaction = app.pool.begin().await?;
    let agent = agents::patch(&mut transaction, key, patch).await?;
    audit::record(&mut transaction, by, "change agent", key.as_str(), detail).await?;
    transaction.commit().await?;
    app.worker.refresh_agents().await?;
    app.worker.wake();
    Ok(agent)
}

pub(super) async fn find(app: &App, key: &str) -> Result<RegisteredAgent, Error> {
    let key: ModelKey = key.parse().map_err(|_| ErrorCode::NoAgent)?;
    Ok(agents::find(&app.pool, &key).await?.ok_or(ErrorCode::NoAgent)?)
}

/// An agent's address, as it is stored.
pub(super) fn check_address(text: &str) -> Result<String, Error> {
    agent_address(text).map_err(refused_address)
}

/// Whether an address is in a private network, which is refused where it is not allowed. An address that cannot be found
/// now counts as private where that is allowed.
pub(super) async fn is_private(url: &str, allowed: bool) -> Result<bool, Error> {
    match outbound::resolve(url, false).await {
        Ok(_) => Ok(false),
        Err(_) if allowed => Ok(true),
        Err(OutboundRefused::UnknownHost) => Ok(false),
        Err(refused) => Err(refused_address(refused)),
    }
}

fn refused_address(refused: OutboundRefused) -> Error {
    Error::new(ErrorCode::AddressRefused, capitalised(&refused.to_string()) + ".")
}

/// Reads the agent's card, and keeps what it says or why it cannot be read.
pub(super) async fn look_at_card(app: &App, agent: RegisteredAgent) -> Result<RegisteredAgent, Error> {
    let RegisteredAgent { entry, allows_private, .. } = &agent;
    let endpoint =
        Endpoint { provider: ProviderKind::A2a, base_url: entry.url.clone(), key: None, pinned: None };
    let read = read_card(&endpoint, *allows_private, RequestLimits::quick()).await;
    let read = read.map(|card| card.source);
    let read = read.map_err(|error| capitalised(&error.message_with_status()) + ".");
    let kept = read.as_ref().map_err(String::as_str);
    agents::keep_card(&app.pool, &entry.key, &entry.url, kept).await?;
    Ok(match read {
        Ok(source) => {
            let card = Some((source, OffsetDateTime::now_utc()));
            RegisteredAgent { card, card_problem: None, ..agent }
        }
        Err(problem) => RegisteredAgent { card_problem: Some(problem), ..agent },
    })
}

impl AgentView {
    fn of(agent: &RegisteredAgent) -> Self {
        let RegisteredAgent { entry, enabled, card, .. } = agent.clone();
        Self {
            key: entry.key.to_string(),
            name: entry.name,
            note: entry.note,
            host: outbound::host_and_port(&entry.url).unwrap_or_default(),
            enabled,
            builds: entry.builds,
            card: card.map(AgentCardView::of),
        }
    }
}

impl AgentCardView {
    pub fn of((source, read_at): (AgentSource, OffsetDateTime)) -> Self {
        let AgentSource { host: _, name, version, protocol, digest } = source;
        Self { name, version, protocol, digest, read_at }
    }
}

impl From<EditAgentError> for Error {
    fn from(reason: EditAgentError) -> Self {
        match reason {
            EditAgentError::NoAgent => ErrorCode::NoAgent.into(),
            EditAgentError::Exists => ErrorCode::AgentExists.into(),
            EditAgentError::InUse => ErrorCode::AgentInUse.into(),
            EditAgentError::Invalid(problem) => Self::bad_request(problem),
            EditAgentError::Database(error) => error.into(),
        }
    }
}
