//! The requests of a client, in the version of the agent.

use serde::Serialize;
use uuid::Uuid;

use crate::card::ChosenInterface;
use crate::types::{Json, Message};
use crate::version::ProtocolVersion;
use crate::wire::{WireMessage, json};

/// A request to an agent, as the transport sends it by POST.
#[derive(Clone, Debug)]
pub struct PeerRequest {
    pub url: String,
    /// For the header `A2A-Version`.
    pub version: ProtocolVersion,
    pub body: String,
    /// Whether a stream of server-sent events is asked for.
    pub streams: bool,
}

#[derive(Clone, Copy)]
enum RpcMethod {
    Send,
    Stream,
    Get,
    Cancel,
    Subscribe,
}

impl RpcMethod {
    fn name(self, version: ProtocolVersion) -> &'static str {
        match (self, version) {
            (Self::Send, ProtocolVersion::V0_3) => "message/send",
            (Self::Stream, ProtocolVersion::V0_3) => "message/stream",
            (Self::Get, ProtocolVersion::V0_3) => "tasks/get",
            (Self::Cancel, ProtocolVersion::V0_3) => "tasks/cancel",
            (Self::Subscribe, ProtocolVersion::V0_3) => "tasks/resubscribe",
            (Self::Send, ProtocolVersion::V1_0) => "SendMessage",
            (Self::Stream, ProtocolVersion::V1_0) => "SendStreamingMessage",
            (Self::Get, ProtocolVersion::V1_0) => "GetTask",
            (Self::Cancel, ProtocolVersion::V1_0) => "CancelTask",
            (Self::Subscribe, ProtocolVersion::V1_0) => "SubscribeToTask",
        }
    }
}

impl ChosenInterface {
    /// The request that sends a message. It is answered at once: the task is streamed or polled, so that no connection
    /// has to stay open for as long as the agent works.
    pub(super) fn send_request(&self, message: &Message, streams: bool) -> PeerRequest {
        const MODES: [&str; 2] = ["text/plain", "application/json"];
        let method = if streams { RpcMethod::Stream } else { RpcMethod::Send };
        let configuration = match self.version {
            ProtocolVersion::V0_3 => WireSendConfiguration {
                blocking: Some(false),
                return_immediately: None,
                accepted_output_modes: MODES,
            },
            ProtocolVersion::V1_0 => WireSendConfiguration {
                blocking: None,
                return_immediately: Some(true),
                accepted_output_modes: MODES,
            },
        };
        let message = WireMessage::write(message, self.version);
        self.request(method, &WireSend { message, configuration, tenant: self.tenant.as_deref() })
    }

    /// The request that takes up the stream of a task again.
    pub(super) fn subscribe_request(&self, task_id: &str) -> PeerRequest {
        self.request(RpcMethod::Subscribe, &WireTaskId::new(task_id, self))
    }

    /// The request that looks at a task.
    pub(super) fn get_request(&self, task_id: &str) -> PeerRequest {
        self.request(RpcMethod::Get, &WireTaskId::new(task_id, self))
    }

    /// The request that cancels a task.
    pub fn cancel_request(&self, task_id: &str) -> PeerRequest {
        self.request(RpcMethod::Cancel, &WireTaskId::new(task_id, self))
    }

    fn request(&self, method: RpcMethod, params: &impl Serialize) -> PeerRequest {
        let body = json(&WireRpcRequest {
            jsonrpc: "2.0",
            id: Uuid::new_v4().to_string(),
            method: method.name(self.version),
            params: json(params),
        });
        PeerRequest {
            url: self.url.clone(),
            version: self.version,
            body: body.get().to_owned(),
            streams: matches!(method, RpcMethod::Stream | RpcMethod::Subscribe),
        }
    }
}

#[derive(Serialize)]
struct WireRpcRequest {
    jsonrpc: &'static str,
    id: String,
    method: &'static str,
    params: Json,
}

#[derive(Serialize)]
struct WireSend<'a> {
    message: WireMessage,
    configuration: WireSendConfiguration,
    #[serde(skip_serializing_if = "Option::is_none")]
    tenant: Option<&'a str>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct WireSendConfiguration {
    #[serde(skip_serializing_if = "Option::is_none")]
    blocking: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    return_immediately: Option<bool>,
    accepted_output_modes: [&'static str; 2],
}

#[derive(Serialize)]
struct WireTaskId<'a> {
    id: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    tenant: Option<&'a str>,
}

impl<'a> WireTaskId<'a> {
    fn new(id: &'a str, interface: &'a ChosenInterface) -> Self {
        Self { id, tenant: interface.tenant.as_deref() }
    }
}
