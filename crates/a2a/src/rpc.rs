//! Requests as a server reads them: JSON-RPC, by version and method.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use crate::error::{RpcError, RpcErrorCode};
use crate::types::{A2aTaskState, Json, Message, MessageRole};
use crate::version::{ProtocolVersion, VersionClaim};
use crate::wire::{WireMessage, json, parse};

/// How many parts a message may have.
pub const MAX_PARTS: usize = 1000;

/// The longest id of a message, a context or a task.
pub const MAX_ID_BYTES: usize = 256;

/// The largest page of a list of A2A tasks.
pub const MAX_PAGE: usize = 100;

const DEFAULT_PAGE: usize = 50;

/// A request that can be carried out.
#[derive(Debug)]
pub struct RpcCall {
    pub id: RpcId,
    pub version: ProtocolVersion,
    pub request: A2aRequest,
}

/// A request that is refused before anybody looks at what it asks for.
#[derive(Debug)]
pub struct RefusedCall {
    pub id: RpcId,
    pub version: ProtocolVersion,
    pub error: RpcError,
}

/// The id that a client gives to its request. It comes back with the answer.
#[derive(Clone, Debug)]
pub struct RpcId(Box<RawValue>);

#[derive(Debug)]
pub enum A2aRequest {
    SendMessage(Box<SendMessageParams>),
    StreamMessage(Box<SendMessageParams>),
    GetTask { id: String, history_length: Option<usize> },
    ListTasks(ListTasksQuery),
    CancelTask { id: String },
    SubscribeToTask { id: String },
}

impl A2aRequest {
    /// Whether it sends a message, from which a task may come.
    pub fn is_message(&self) -> bool {
        matches!(self, Self::SendMessage(_) | Self::StreamMessage(_))
    }
}

#[derive(Debug)]
pub struct SendMessageParams {
    pub message: Message,
    /// How much of the history the answer shall hold; all of it if nothing is said.
    pub history_length: Option<usize>,
    /// Whether the answer waits until the A2A task has stopped.
    pub waits: bool,
    pub metadata: Option<Json>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListTasksQuery {
    pub context_id: Option<String>,
    pub state: Option<A2aTaskState>,
    pub page_size: usize,
    pub page_token: Option<String>,
    pub history_length: Option<usize>,
    pub updated_after: Option<OffsetDateTime>,
    pub with_artifacts: bool,
}

/// The methods, without those that are refused because of what they are for.
#[derive(Clone, Copy)]
enum Method {
    Send,
    Stream,
    Get,
    List,
    Cancel,
    Subscribe,
}

const METHODS: [(&str, ProtocolVersion, Method); 11] = [
    ("message/send", ProtocolVersion::V0_3, Method::Send),
    ("message/stream", ProtocolVersion::V0_3, Method::Stream),
    ("tasks/get", ProtocolVersion::V0_3, Method::Get),
    ("tasks/cancel", ProtocolVersion::V0_3, Method::Cancel),
    ("tasks/resubscribe", ProtocolVersion::V0_3, Method::Subscribe),
    ("SendMessage", ProtocolVersion::V1_0, Method::Send),
    ("SendStreamingMessage", ProtocolVersion::V1_0, Method::Stream),
    ("GetTask", ProtocolVersion::V1_0, Method::Get),
    ("ListTasks", ProtocolVersion::V1_0, Method::List),
    ("CancelTask", ProtocolVersion::V1_0, Method::Cancel),
    ("SubscribeToTask", ProtocolVersion::V1_0, Method::Subscribe),
];

/// Methods of the protocol that this library does not offer.
const NOT_OFFERED: [(&str, ProtocolVersion, RpcErrorCode); 10] = [
    ("tasks/pushNotificationConfig/set", ProtocolVersion::V0_3, RpcErrorCode::PushNotificationsNotSupported),
    ("tasks/pushNotificationConfig/get", ProtocolVersion::V0_3, RpcErrorCode::PushNotificationsNotSupported),
    ("tasks/pushNotificationConfig/list", ProtocolVersion::V0_3, RpcErrorCode::PushNotificationsNotSupported),
    (
        "tasks/pushNotificationConfig/delete",
        ProtocolVersion::V0_3,
        RpcErrorCode::PushNotificationsNotSupported,
    ),
    ("agent/getAuthenticatedExtendedCard", ProtocolVersion::V0_3, RpcErrorCode::NoExtendedCard),
    ("CreateTaskPushNotificationConfig", ProtocolVersion::V1_0, RpcErrorCode::PushNotificationsNotSupported),
    ("GetTaskPushNotificationConfig", ProtocolVersion::V1_0, RpcErrorCode::PushNotificationsNotSupported),
    ("ListTaskPushNotificationConfigs", ProtocolVersion::V1_0, RpcErrorCode::PushNotificationsNotSupported),
    ("DeleteTaskPushNotificationConfig", ProtocolVersion::V1_0, RpcErrorCode::PushNotificationsNotSupported),
    ("GetExtendedAgentCard", ProtocolVersion::V1_0, RpcErrorCode::UnsupportedOperation),
];

#[derive(Deserialize)]
struct WireCall<'a> {
    jsonrpc: Option<String>,
    #[serde(borrow)]
    id: Option<&'a RawValue>,
    method: Option<String>,
    #[serde(borrow)]
    params: Option<&'a RawValue>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct WireSendParams {
    message: WireMessage,
    configuration: Option<WireConfiguration>,
    metadata: Option<Box<RawValue>>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct WireConfiguration {
    blocking: Option<bool>,
    return_immediately: Option<bool>,
    history_length: Option<i64>,
    push_notification_config: Option<Box<RawValue>>,
    task_push_notification_config: Option<Box<RawValue>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct WireTaskParams {
    id: String,
    history_length: Option<i64>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[derive(Default)]
struct WireListParams {
    context_id: Option<String>,
    status: Option<String>,
    page_size: Option<i64>,
    page_token: Option<String>,
    history_length: Option<i64>,
    status_timestamp_after: Option<String>,
    include_artifacts: Option<bool>,
}

/// Reads the body of a request. `claim` is what the header `A2A-Version` says.
///
/// # Errors
/// If there is nothing in it that could be carried out. The refusal is to be answered with.
pub fn read_call(body: &[u8], claim: VersionClaim) -> Result<RpcCall, Box<RefusedCall>> {
    let version = match claim {
        VersionClaim::Known(version) => version,
        VersionClaim::Absent | VersionClaim::Unknown => ProtocolVersion::V1_0,
    };
    let refuse = |id: RpcId, version, error| Box::new(RefusedCall { id, version, error });
    let call = read_wire_call(body).map_err(|error| refuse(RpcId::null(), version, error))?;
    let id = RpcId::read(call.id).map_err(|error| refuse(RpcId::null(), version, error))?;
    if call.jsonrpc.as_deref() != Some("2.0") {
        let error = RpcError::new(RpcErrorCode::InvalidRequest, "\"jsonrpc\" must be \"2.0\".");
        return Err(refuse(id, version, error));
    }
    let Some(method) = call.method else {
        let error = RpcError::new(RpcErrorCode::InvalidRequest, "\"method\" is missing.");
        return Err(refuse(id, version, error));
    };
    // From here on, the method's name decides the shape of the answer.
    let (version, method) =
        find_method(&method, claim).map_err(|(version, error)| refuse(id.clone(), version, error))?;
    let params = call.params.map_or("{}", RawValue::get);
    match read_request(method, version, params) {
        Ok(request) => Ok(RpcCall { id, version, request }),
        Err(error) => Err(refuse(id, version, error)),
    }
}

fn read_wire_call(body: &[u8]) -> Result<WireCall<'_>, RpcError> {
    let text = std::str::from_utf8(body)
        .map_err(|_| RpcError::new(RpcErrorCode::Parse, "The body is not UTF-8."))?;
    if text.trim_start().starts_with('[') {
        let message = "Batches of requests are not supported; send one request at a time.";
        return Err(RpcError::new(RpcErrorCode::InvalidRequest, message));
    }
    serde_json::from_str(text).map_err(|error| {
        if error.is_data() {
            RpcError::new(RpcErrorCode::InvalidRequest, format!("This is not a JSON-RPC request: {error}."))
        } else {
            RpcError::new(RpcErrorCode::Parse, format!("The body is not JSON: {error}."))
        }
    })
}

fn find_method(
    name: &str,
    claim: VersionClaim,
) -> Result<(ProtocolVersion, Method), (ProtocolVersion, RpcError)> {
    let offered =
        METHODS.iter().find(|(known, ..)| *known == name).map(|(_, version, method)| (*version, Ok(*method)));
    let not_offered = || {
        let known = NOT_OFFERED.iter().find(|(known, ..)| *known == name);
        known.map(|(_, version, code)| (*version, Err(*code)))
    };
    let found = offered.or_else(not_offered);
    let own = found.map(|(version, _)| version);
    let shape = own.unwrap_or(match claim {
        VersionClaim::Known(version) => version,
        _ if name.contains('/') => ProtocolVersion::V0_3,
        _ => ProtocolVersion::V1_0,
    });
    if claim == VersionClaim::Unknown {
        let [newer, older] = ProtocolVersion::ALL;
        let message = format!("This version of A2A is not supported; {newer} and {older} are.");
        return Err((shape, RpcError::new(RpcErrorCode::VersionNotSupported, message)));
    }
    let is_other = |version| matches!(claim, VersionClaim::Known(claimed) if claimed != version);
    match found {
        Some((version, _)) if is_other(version) => {
            let message =
                format!("{name} is a method of A2A {version}, but the request names another version.");
            Err((version, RpcError::new(RpcErrorCode::MethodNotFound, message)))
        }
        Some((version, Ok(method))) => Ok((version, method)),
        Some((version, Err(code))) => {
            let what = match code {
                RpcErrorCode::PushNotificationsNotSupported => "Push notifications are",
                _ => "An extended card is",
            };
            Err((version, RpcError::new(code, format!("{what} not offered."))))
        }
        None => {
            let message = format!("There is no method {:?}.", clip(name));
            Err((shape, RpcError::new(RpcErrorCode::MethodNotFound, message)))
        }
    }
}

fn read_request(method: Method, version: ProtocolVersion, params: &str) -> Result<A2aRequest, RpcError> {
    Ok(match method {
        Method::Send => A2aRequest::SendMessage(Box::new(read_send(version, params)?)),
        Method::Stream => A2aRequest::StreamMessage(Box::new(read_send(version, params)?)),
        Method::Get => {
            let WireTaskParams { id, history_length } = read_params(params)?;
            A2aRequest::GetTask { id, history_length: length(history_length)? }
        }
        Method::List => A2aRequest::ListTasks(read_list(params)?),
        Method::Cancel => A2aRequest::CancelTask { id: read_params::<WireTaskParams>(params)?.id },
        Method::Subscribe => A2aRequest::SubscribeToTask { id: read_params::<WireTaskParams>(params)?.id },
    })
}

fn read_send(version: ProtocolVersion, params: &str) -> Result<SendMessageParams, RpcError> {
    let WireSendParams { message, configuration, metadata } = read_params(params)?;
    let configuration = configuration.unwrap_or_default();
    if configuration.push_notification_config.is_some()
        || configuration.task_push_notification_config.is_some()
    {
        let message = "Push notifications are not offered; stream or poll instead.";
        return Err(RpcError::new(RpcErrorCode::PushNotificationsNotSupported, message));
    }
    let message = message.read().map_err(|error| RpcError::invalid_params(format!("message: {error}.")))?;
    check_message(&message)?;
    let waits = match version {
        ProtocolVersion::V0_3 => configuration.blocking == Some(true),
        ProtocolVersion::V1_0 => configuration.return_immediately != Some(true),
    };
    let history_length = length(configuration.history_length)?;
    Ok(SendMessageParams { message, history_length, waits, metadata: metadata.map(Json) })
}

fn check_message(message: &Message) -> Result<(), RpcError> {
    let refuse = |text: &str| Err(RpcError::invalid_params(text));
    if message.id.is_empty() {
        return refuse("message.messageId is missing.");
    }
    if message.role != MessageRole::User {
        return refuse("message.role must be that of a user.");
    }
    if message.parts.is_empty() {
        return refuse("message.parts is empty; a message needs at least one part.");
    }
    if message.parts.len() > MAX_PARTS {
        return refuse("message.parts is too long; a message may have 1000 parts.");
    }
    let ids = [Some(&message.id), message.context_id.as_ref(), message.task_id.as_ref()];
    if ids.into_iter().flatten().any(|id| id.len() > MAX_ID_BYTES) {
        return refuse("message: an id may have 256 bytes.");
    }
    Ok(())
}

fn read_list(params: &str) -> Result<ListTasksQuery, RpcError> {
    let wire: WireListParams = read_params(params)?;
    let state = match wire.status.as_deref() {
        None | Some("" | "TASK_STATE_UNSPECIFIED") => None,
        Some(name) => Some(
            A2aTaskState::parse(name)
                .ok_or_else(|| RpcError::invalid_params(format!("status {:?} is unknown.", clip(name))))?,
        ),
    };
    let updated_after = match wire.status_timestamp_after.as_deref() {
        None | Some("") => None,
        Some(text) => Some(OffsetDateTime::parse(text, &Rfc3339).map_err(|_| {
            RpcError::invalid_params("statusTimestampAfter is not a time like 2026-01-31T12:00:00Z.")
        })?),
    };
    let page_size = match wire.page_size {
        None | Some(0) => DEFAULT_PAGE,
        Some(size) => usize::try_from(size)
            .ok()
            .filter(|size| *size <= MAX_PAGE)
            .ok_or_else(|| RpcError::invalid_params("pageSize must be from 1 to 100."))?,
    };
    Ok(ListTasksQuery {
        context_id: wire.context_id.filter(|id| !id.is_empty()),
        state,
        page_size,
        page_token: wire.page_token.filter(|token| !token.is_empty()),
        history_length: length(wire.history_length)?,
        updated_after,
        with_artifacts: wire.include_artifacts.unwrap_or(false),
    })
}

fn read_params<'a, T: Deserialize<'a>>(params: &'a str) -> Result<T, RpcError> {
    parse(params).map_err(|error| RpcError::invalid_params(format!("params: {error}.")))
}

fn length(length: Option<i64>) -> Result<Option<usize>, RpcError> {
    let Some(length) = length else { return Ok(None) };
    let length = usize::try_from(length)
        .map_err(|_| RpcError::invalid_params("historyLength must not be negative."))?;
    Ok(Some(length))
}

/// The beginning of what a client has sent, for an error.
fn clip(text: &str) -> String {
    text.chars().take(100).collect()
}

impl RpcId {
    pub fn null() -> Self {
        Self(RawValue::NULL.to_owned())
    }

    fn read(id: Option<&RawValue>) -> Result<Self, RpcError> {
        let Some(id) = id else { return Ok(Self::null()) };
        let text = id.get();
        let is_number = text.parse::<i64>().is_ok() || text.parse::<u64>().is_ok();
        if text.len() <= MAX_ID_BYTES && (text.starts_with('"') || is_number || text == "null") {
            return Ok(Self(id.to_owned()));
        }
        let message = "\"id\" must be a short string, a whole number or null.";
        Err(RpcError::new(RpcErrorCode::InvalidRequest, message))
    }

    /// Writes an answer.
    pub fn result(&self, result: &Json) -> String {
        json(&WireResponse { jsonrpc: "2.0", id: &self.0, result: Some(&result.0), error: None })
            .get()
            .to_owned()
    }

    /// Writes a refusal.
    pub fn error(&self, error: &RpcError, version: ProtocolVersion) -> String {
        let error = error.write(version);
        json(&WireResponse { jsonrpc: "2.0", id: &self.0, result: None, error: Some(&error.0) })
            .get()
            .to_owned()
    }
}

impl RefusedCall {
    pub fn response(&self) -> String {
        self.id.error(&self.error, self.version)
    }
}

#[derive(Serialize)]
struct WireResponse<'a> {
    jsonrpc: &'static str,
    id: &'a RawValue,
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<&'a RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'a RawValue>,
}
