//! `/a2a` and the card: Buildoff as an agent, see [`crate::agent`].
//!
//! No deadline holds here, because clients may wait as long as they like. The work does not depend on them.

use std::convert::Infallible;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use ::a2a::{CARD_PATH, OLD_CARD_PATH, RpcAnswer, RpcError, RpcErrorCode, RpcId, VersionClaim, read_call};
use axum::Router;
use axum::extract::{Request, State};
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::{get, post};
use futures_util::StreamExt;

use super::body::{self, LargeBody};
use super::layers;
use super::order_rights::order_rights;
use super::voter::ClientAddress;
use super::{Error, ErrorCode, REQUEST_TIMEOUT};
use crate::agent::{AgentClient, INLINE_BYTES};
use crate::app::App;
use crate::arena::a2a_tasks::TaskOwner;
use crate::assessor::OrderRights;
use crate::limits::LimitedAction;

/// What the protocol adds to a build: names, and the escapes of a text within JSON.
const ENVELOPE_BYTES: usize = 1 << 20;

/// So often, a silent stream shows that it is alive.
const HEARTBEAT: Duration = Duration::from_secs(15);

/// The longest stream. Clients subscribe again.
const MAX_STREAM: Duration = Duration::from_secs(60 * 60);

pub(super) fn routes() -> Router<App> {
    let card = Router::new()
        .route(CARD_PATH, get(card))
        .route(OLD_CARD_PATH, get(card))
        .layer(layers::deadline(REQUEST_TIMEOUT));
    Router::new().route("/a2a", post(answer).get(explain)).merge(card)
}

/// The card is the health check of agents, so it asks nobody.
async fn card(State(app): State<App>) -> Response {
    let headers = [(CONTENT_TYPE, "application/json"), (CACHE_CONTROL, "public, max-age=60")];
    (headers, app.agent_card.clone()).into_response()
}

/// For people who open the address of the agent.
async fn explain() -> Redirect {
    Redirect::to("/agents/connect")
}

async fn answer(State(app): State<App>, address: ClientAddress, request: Request) -> Result<Response, Error> {
    if !is_json(request.headers()) {
        let error = RpcError::new(RpcErrorCode::ContentTypeNotSupported, "Send JSON, as application/json.");
        let response = document(RpcId::null().error(&error, ::a2a::ProtocolVersion::V1_0));
        return Ok((StatusCode::UNSUPPORTED_MEDIA_TYPE, response).into_response());
    }
    address.check_limit(&app, LimitedAction::Agent)?;
    let (parts, body) = request.into_parts();
    let rights = order_rights(&app, &address, &parts.headers).await?;
    let claim = version_claim(&parts);
    let work = address.client();
    let limit = app.config.check_max_bytes.saturating_add(ENVELOPE_BYTES);
    let request = Request::from_parts(parts, body);
    let Some(LargeBody { bytes, memory }) = body::read(app.memory.of_client(work), request, limit).await?
    else {
        let message = format!("A request can have at most {} MiB.", limit >> 20);
        return Err(Error::new(ErrorCode::TooLarge, message));
    };
    let owner = owner(&rights);
    let client =
        AgentClient { owner, rights, work, body_bytes: bytes.len(), memory: Arc::new(Mutex::new(memory)) };
    let call = if bytes.len() <= INLINE_BYTES {
        read_call(&bytes, claim)
    } else {
        app.work.run(work, move || read_call(&bytes, claim)).await?
    };
    if call.as_ref().is_ok_and(|call| call.request.is_message()) {
        address.check_limit(&app, LimitedAction::AgentMessage)?;
    }
    Ok(match app.agent.answer(call, client).await {
        RpcAnswer::Document(text) => document(text),
        RpcAnswer::Events(events) => {
            let shutdown = app.shutdown.clone().cancelled_owned();
            let end = async move {
                tokio::select! {
                    () = shutdown => {}
                    () = tokio::time::sleep(MAX_STREAM) => {}
                }
            };
            let events = events.map(|event| Ok::<_, Infallible>(Event::default().data(event)));
            let events = events.take_until(Box::pin(end));
            Sse::new(events).keep_alive(KeepAlive::new().interval(HEARTBEAT)).into_response()
        }
    })
}

fn document(text: String) -> Response {
    ([(CONTENT_TYPE, "application/json")], text).into_response()
}

/// Tasks belong to whoever sends a token.
fn owner(rights: &OrderRights) -> TaskOwner {
    match rights {
        OrderRights::Admin { .. } => TaskOwner::Admin,
        OrderRights::Owner { token, .. } => TaskOwner::Token(*token),
        OrderRights::ThisMachine | OrderRights::Anybody | OrderRights::Nobody => TaskOwner::Nobody,
    }
}

fn is_json(headers: &HeaderMap) -> bool {
    let value = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    value.split(';').next().unwrap_or_default().trim().eq_ignore_ascii_case("application/json")
}

/// From the header or, where a client can set none, the query.
fn version_claim(parts: &Parts) -> VersionClaim {
    let header = parts.headers.get("a2a-version").map(|value| value.to_str().unwrap_or("?"));
    let query = parts.uri.query().unwrap_or_default();
    let in_query = url::form_urlencoded::parse(query.as_bytes())
        .find(|(name, _)| name.eq_ignore_ascii_case("a2a-version"))
        .map(|(_, value)| value.into_owned());
    VersionClaim::parse(header.or(in_query.as_deref()))
}
