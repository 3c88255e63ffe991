//! `/api/admin/agents`: entering agents, changing them, and making tokens for their owners.

use axum::Json;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode};
use serde::{Deserialize, Serialize};
use serde_json::json;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;
use uuid::Uuid;

use super::RequireAdmin;
use super::catalog::nullable;
use crate::app::App;
use crate::arena::agents::tokens::{
    self, AgentToken, DEFAULT_RUNS_PER_DAY, MAX_NAME_CHARS, MAX_RUNS_PER_DAY, NewAgentToken,
};
use crate::arena::agents::{self, AgentPatch, RegisteredAgent};
use crate::arena::audit::{self, Admin, AdminChannel};
use crate::arena::catalog::AgentEntry;
use crate::generate::AgentSecrets;
use crate::web::api::agents::{AgentCardView, change_agent, check_address, find, is_private, look_at_card};
use crate::web::openapi::codes;
use crate::web::this_machine::is_at_this_machine;
use crate::web::{Error, ErrorCode};

pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(list, add))
        .routes(routes!(patch, remove))
        .routes(routes!(card))
        .routes(routes!(list_tokens, make_token))
        .routes(routes!(revoke_token))
}

/// An agent, as admins see it.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = AdminAgent)]
pub(in crate::web) struct AdminAgentView {
    #[schema(example = "tower_bot")]
    pub key: String,
    #[schema(example = "Tower Bot")]
    pub name: String,
    #[schema(example = "https://agents.example/tower")]
    pub url: String,
    /// The environment variable that holds its secret.
    #[schema(required)]
    pub key_variable: Option<String>,
    pub note: String,
    /// A disabled agent is not asked for anything.
    pub enabled: bool,
    /// Whether it takes part in the arena, as the model of the same key.
    pub builds: bool,
    /// Whether its address may be in a private network.
    pub allows_private: bool,
    /// Whether it can be asked: it is enabled, and its secret is set if it has one.
    pub can_ask: bool,
    /// What its card said when it was read last.
    #[schema(required)]
    pub card: Option<AgentCardView>,
    /// Why its card could not be read since. The agent is kept as it was entered.
    #[schema(required)]
    pub card_problem: Option<String>,
}

#[derive(Serialize, ToSchema)]
#[schema(as = AdminAgents)]
struct AdminAgentsResponse {
    agents: Vec<AdminAgentView>,
}

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(as = NewAgent)]
struct AddAgentRequest {
    #[schema(example = "tower_bot")]
    key: String,
    /// Where its card is.
    #[schema(example = "https://agents.example/tower")]
    url: String,
    /// The name on its card if it is missing.
    name: Option<String>,
    /// The environment variable that holds its secret. Its name must contain AGENT.
    key_variable: Option<String>,
    #[serde(default)]
    note: String,
    #[serde(default)]
    builds: bool,
    enabled: Option<bool>,
}

/// Missing fields stay as they are.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(as = AgentChange)]
struct PatchAgentRequest {
    url: Option<String>,
    name: Option<String>,
    /// Null removes it. At a new address, it is removed unless it is named again.
    #[serde(default, deserialize_with = "nullable")]
    #[schema(value_type = Option<String>)]
    key_variable: Option<Option<String>>,
    note: Option<String>,
    builds: Option<bool>,
    enabled: Option<bool>,
}

#[derive(Serialize, ToSchema)]
#[schema(as = AgentTokens)]
struct AgentTokensResponse {
    tokens: Vec<AgentToken>,
}

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(as = NewAgentToken)]
struct MakeTokenRequest {
    /// For whom it is.
    #[schema(example = "Ada")]
    name: String,
    /// How many assessments it may order in a day; 20 if it is missing.
    runs_per_day: Option<i32>,
}

/// A token that was just made.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = MadeAgentToken)]
struct MadeTokenView {
    #[serde(flatten)]
    details: AgentToken,
    /// What its owner sends as bearer token. It is shown only now.
    token: String,
}

/// List agents with their addresses
///
/// All agents, disabled ones too, with what went wrong when their cards were read.
#[utoipa::path(
    get, path = "/api/admin/agents", tag = "Admin", operation_id = "adminAgents",
    responses((status = OK, description = "All agents, by name.", body = AdminAgentsResponse)),
)]
async fn list(State(app): State<App>, _admin: RequireAdmin) -> Result<Json<AdminAgentsResponse>, Error> {
    let agents = agents::all(&app.pool).await?;
    let agents = agents.iter().map(|agent| AdminAgentView::of(&app, agent)).collect();
    Ok(Json(AdminAgentsResponse { agents }))
}

/// Add an agent
///
/// It is added even if its card cannot be read yet; the answer says why.
#[utoipa::path(
    post, path = "/api/admin/agents", tag = "Admin", operation_id = "addAgent",
    request_body = AddAgentRequest,
    responses((status = CREATED, description = "The agent.", body = AdminAgentView)),
    extensions(("x-errors" = json!(codes([ErrorCode::AddressRefused, ErrorCode::AgentExists])))),
)]
async fn add(
    State(app): State<App>,
    RequireAdmin(admin): RequireAdmin,
    headers: HeaderMap,
    Json(new): Json<AddAgentRequest>,
) -> Result<(StatusCode, Json<AdminAgentView>), Error> {
    let AddAgentRequest { key, url, name, key_variable, note, builds, enabled } = new;
    let url = check_address(&url)?;
    check_variable(admin, key_variable.as_deref())?;
    let entry = AgentEntry {
        key: key
            .parse()
            .map_err(|_| Error::bad_request("An agent’s key is 1 to 64 characters a-z, 0-9 and _."))?,
        name: name.clone().unwrap_or_else(|| key.clone()),
        key_variable,
        note,
        builds,
        url,
    };
    Error::bad_request_if(entry.problem())?;
    let is_provider = app.config.catalog.provider(entry.key.as_str()).is_some();
    if is_provider {
        return Err(ErrorCode::AgentExists.into());
    }
    let allows_private = is_private(&entry.url, allows_private(&app, admin, &headers)).await?;
    let agent = RegisteredAgent {
        entry,
        enabled: enabled.unwrap_or(true),
        allows_private,
        card: None,
        card_problem: None,
    };
    let mut transaction = app.pool.begin().await?;
    agents::add(&mut transaction, &agent).await?;
    let AgentEntry { key, name: stored_name, url, key_variable, note, builds } = &agent.entry;
    let detail = json!({
        "name": stored_name, "url": url, "keyVariable": key_variable, "note": note, "builds": builds, "enabled": enabled,
    });
    audit::record(&mut transaction, admin, "add agent", key.as_str(), detail).await?;
    transaction.commit().await?;
    app.worker.refresh_agents().await?;
    let mut agent = look_at_card(&app, agent).await?;
    if let (None, Some((card, _))) = (&name, &agent.card)
        && !card.name.trim().is_empty()
    {
        let patch = AgentPatch { name: Some(card.name.chars().take(80).collect()), ..AgentPatch::default() };
        let mut transaction = app.pool.begin().await?;
        agent = agents::patch(&mut transaction, &agent.entry.key, patch).await?;
        transaction.commit().await?;
        app.worker.refresh_agents().await?;
    }
    app.worker.wake();
    Ok((StatusCode::CREATED, Json(AdminAgentView::of(&app, &agent))))
}

/// Change an agent
///
/// At a new address its card is read at once. Its secret is not sent to another origin unless it is named again.
#[utoipa::path(
    patch, path = "/api/admin/agents/{key}", tag = "Admin", operation_id = "patchAgent",
    params(("key" = String, Path, description = "The agent's key.", example = "tower_bot")),
    request_body = PatchAgentRequest,
    responses((status = OK, description = "The changed agent.", body = AdminAgentView)),
    extensions(("x-errors" = json!(codes([
        ErrorCode::AddressRefused, ErrorCode::AgentExists, ErrorCode::NoAgent,
    ])))),
)]
async fn patch(
    State(app): State<App>,
    RequireAdmin(admin): RequireAdmin,
    headers: HeaderMap,
    Path(key): Path<String>,
    Json(change): Json<PatchAgentRequest>,
) -> Result<Json<AdminAgentView>, Error> {
    let stored = find(&app, &key).await?;
    let PatchAgentRequest { url, name, key_variable, note, builds, enabled } = change;
    check_variable(admin, key_variable.as_ref().and_then(Option::as_deref))?;
    let url = url.map(|url| check_address(&url)).transpose()?;
    let detail = json!({
        "name": name, "url": url, "keyVariable": key_variable, "note": note, "builds": builds, "enabled": enabled,
    });
    let address = match url {
        Some(url) => {
            let allows_private = is_private(&url, allows_private(&app, admin, &headers)).await?;
            Some((url, allows_private))
        }
        None => None,
    };
    let patch = AgentPatch { name, address, key_variable, note, enabled, builds };
    let agent = change_agent(&app, admin, &stored.entry.key, patch, detail).await?;
    let agent = match agent.card {
        Some(_) => agent,
        None => look_at_card(&app, agent).await?,
    };
    Ok(Json(AdminAgentView::of(&app, &agent)))
}

/// Remove an agent
///
/// Only an agent without builds and jobs can be removed.
#[utoipa::path(
    delete, path = "/api/admin/agents/{key}", tag = "Admin", operation_id = "removeAgent",
    params(("key" = String, Path, description = "The agent's key.", example = "tower_bot")),
    responses((status = NO_CONTENT, description = "The agent is removed.")),
    extensions(("x-errors" = json!(codes([ErrorCode::NoAgent, ErrorCode::AgentInUse])))),
)]
async fn remove(
    State(app): State<App>,
    RequireAdmin(admin): RequireAdmin,
    Path(key): Path<String>,
) -> Result<StatusCode, Error> {
    let key = find(&app, &key).await?.entry.key;
    let mut transaction = app.pool.begin().await?;
    agents::remove(&mut transaction, &key).await?;
    audit::record(&mut transaction, admin, "remove agent", key.as_str(), json!({})).await?;
    transaction.commit().await?;
    app.worker.refresh_agents().await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Read an agent's card again
///
/// Buildoff does so by itself before it asks the agent, if the card is older than ten minutes.
#[utoipa::path(
    post, path = "/api/admin/agents/{key}/card", tag = "Admin", operation_id = "readAgentCard",
    params(("key" = String, Path, description = "The agent's key.", example = "tower_bot")),
    responses((status = OK, description = "The agent with what its card says.", body = AdminAgentView)),
    extensions(("x-errors" = json!(codes([ErrorCode::NoAgent])))),
)]
async fn card(
    State(app): State<App>,
    _admin: RequireAdmin,
    Path(key): Path<String>,
) -> Result<Json<AdminAgentView>, Error> {
    let agent = look_at_card(&app, find(&app, &key).await?).await?;
    Ok(Json(AdminAgentView::of(&app, &agent)))
}

/// List the tokens of an agent’s owners
///
/// Without what makes them valid, which is shown only when they are made.
#[utoipa::path(
    get, path = "/api/admin/agents/{key}/tokens", tag = "Admin", operation_id = "agentTokens",
    params(("key" = String, Path, description = "The agent's key.", example = "tower_bot")),
    responses((status = OK, description = "All tokens, the latest first.", body = AgentTokensResponse)),
    extensions(("x-errors" = json!(codes([ErrorCode::NoAgent])))),
)]
async fn list_tokens(
    State(app): State<App>,
    _admin: RequireAdmin,
    Path(key): Path<String>,
) -> Result<Json<AgentTokensResponse>, Error> {
    let key = find(&app, &key).await?.entry.key;
    Ok(Json(AgentTokensResponse { tokens: tokens::of_agent(&app.pool, &key).await? }))
}

/// Make a token for an agent’s owner
///
/// With it, the owner may change the agent’s address and note, and have the agent assessed.
#[utoipa::path(
    post, path = "/api/admin/agents/{key}/tokens", tag = "Admin", operation_id = "makeAgentToken",
    params(("key" = String, Path, description = "The agent's key.", example = "tower_bot")),
    request_body = MakeTokenRequest,
    responses((status = CREATED, description = "The token, which is shown only now.", body = MadeTokenView)),
    extensions(("x-errors" = json!(codes([ErrorCode::NoAgent])))),
)]
async fn make_token(
    State(app): State<App>,
    RequireAdmin(admin): RequireAdmin,
    Path(key): Path<String>,
    Json(MakeTokenRequest { name, runs_per_day }): Json<MakeTokenRequest>,
) -> Result<(StatusCode, Json<MadeTokenView>), Error> {
    let key = find(&app, &key).await?.entry.key;
    let name = name.trim();
    let runs_per_day = runs_per_day.unwrap_or(DEFAULT_RUNS_PER_DAY);
    let is_named = (1..=MAX_NAME_CHARS).contains(&name.chars().count()) && !name.contains(char::is_control);
    if !is_named {
        return Err(Error::bad_request(format!("Name the token with 1 to {MAX_NAME_CHARS} characters.")));
    }
    if !(0..=MAX_RUNS_PER_DAY).contains(&runs_per_day) {
        return Err(Error::bad_request(format!("runsPerDay must be from 0 to {MAX_RUNS_PER_DAY}.")));
    }
    let mut transaction = app.pool.begin().await?;
    let made = tokens::make(&mut transaction, &key, name, runs_per_day).await?;
    let NewAgentToken { token, text } = made.ok_or(ErrorCode::NoAgent)?;
    let detail = json!({ "id": token.id, "name": name, "runsPerDay": runs_per_day });
    audit::record(&mut transaction, admin, "make token", key.as_str(), detail).await?;
    transaction.commit().await?;
    Ok((StatusCode::CREATED, Json(MadeTokenView { details: token, token: text })))
}

/// Revoke a token
///
/// It is not valid any more from then on. It stays in the list.
#[utoipa::path(
    delete, path = "/api/admin/agents/{key}/tokens/{id}", tag = "Admin", operation_id = "revokeAgentToken",
    params(
        ("key" = String, Path, description = "The agent's key.", example = "tower_bot"),
        ("id" = Uuid, Path, description = "The token's id."),
    ),
    responses((status = NO_CONTENT, description = "The token is not valid any more.")),
    extensions(("x-errors" = json!(codes([ErrorCode::NoAgent, ErrorCode::NoSuchToken])))),
)]
async fn revoke_token(
    State(app): State<App>,
    RequireAdmin(admin): RequireAdmin,
    Path((key, id)): Path<(String, String)>,
) -> Result<StatusCode, Error> {
    let key = find(&app, &key).await?.entry.key;
    let id: Uuid = id.parse().map_err(|_| ErrorCode::NoSuchToken)?;
    let mut transaction = app.pool.begin().await?;
    if !tokens::revoke(&mut transaction, &key, id).await? {
        return Err(ErrorCode::NoSuchToken.into());
    }
    audit::record(&mut transaction, admin, "revoke token", key.as_str(), json!({ "id": id })).await?;
    transaction.commit().await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Whether an admin may name addresses in private networks: whoever sits at this machine may, and all where private
/// addresses are allowed in the sandbox.
fn allows_private(app: &App, admin: Admin, headers: &HeaderMap) -> bool {
    let is_here = admin.address.is_none_or(|peer| is_at_this_machine(app, headers, peer));
    is_here || app.config.sandbox.local
}

fn check_variable(admin: Admin, variable: Option<&str>) -> Result<(), Error> {
    let is_open = variable.is_none_or(AgentSecrets::is_open_to_admins);
    if is_open || admin.via == AdminChannel::CommandLine {
        return Ok(());
    }
    let message = "The name of an agent’s variable must contain AGENT, as in TOWER_AGENT_KEY, so that no other secret \
        can be sent away. Only models.toml and commands at this machine may name any variable.";
    Err(Error::bad_request(message))
}

impl AdminAgentView {
    pub fn of(app: &App, agent: &RegisteredAgent) -> Self {
        let RegisteredAgent { entry, enabled, allows_private, card, card_problem } = agent.clone();
        Self {
            can_ask: app.worker.providers().can_ask(entry.key.as_str()),
            key: entry.key.to_string(),
            name: entry.name,
            url: entry.url,
            key_variable: entry.key_variable,
            note: entry.note,
            enabled,
            builds: entry.builds,
            allows_private,
            card: card.map(AgentCardView::of),
            card_problem,
        }
    }
}
