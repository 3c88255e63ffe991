//! Errors by their codes: those that a server answers with, and those that a client receives.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::types::Json;
use crate::version::ProtocolVersion;
use crate::wire::json;

/// What a request can be refused for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RpcErrorCode {
    /// The body is not JSON.
    Parse,
    /// The JSON is not a request.
    InvalidRequest,
    MethodNotFound,
    InvalidParams,
    Internal,
    TaskNotFound,
    TaskNotCancelable,
    PushNotificationsNotSupported,
    UnsupportedOperation,
    ContentTypeNotSupported,
    InvalidAgentResponse,
    NoExtendedCard,
    ExtensionRequired,
    VersionNotSupported,
}

/// The codes with their numbers and the reasons by which 1.0 names them.
const CODES: [(RpcErrorCode, i32, &str); 14] = [
    (RpcErrorCode::Parse, -32700, "PARSE_ERROR"),
    (RpcErrorCode::InvalidRequest, -32600, "INVALID_REQUEST"),
    (RpcErrorCode::MethodNotFound, -32601, "METHOD_NOT_FOUND"),
    (RpcErrorCode::InvalidParams, -32602, "INVALID_PARAMS"),
    (RpcErrorCode::Internal, -32603, "INTERNAL_ERROR"),
    (RpcErrorCode::TaskNotFound, -32001, "TASK_NOT_FOUND"),
    (RpcErrorCode::TaskNotCancelable, -32002, "TASK_NOT_CANCELABLE"),
    (RpcErrorCode::PushNotificationsNotSupported, -32003, "PUSH_NOTIFICATION_NOT_SUPPORTED"),
    (RpcErrorCode::UnsupportedOperation, -32004, "UNSUPPORTED_OPERATION"),
    (RpcErrorCode::ContentTypeNotSupported, -32005, "CONTENT_TYPE_NOT_SUPPORTED"),
    (RpcErrorCode::InvalidAgentResponse, -32006, "INVALID_AGENT_RESPONSE"),
    (RpcErrorCode::NoExtendedCard, -32007, "EXTENDED_AGENT_CARD_NOT_CONFIGURED"),
    (RpcErrorCode::ExtensionRequired, -32008, "EXTENSION_SUPPORT_REQUIRED"),
    (RpcErrorCode::VersionNotSupported, -32009, "VERSION_NOT_SUPPORTED"),
];

impl RpcErrorCode {
    pub fn number(self) -> i32 {
        self.facts().0
    }

    pub fn reason(self) -> &'static str {
        self.facts().1
    }

    fn facts(self) -> (i32, &'static str) {
        let known = CODES.iter().find(|(code, ..)| *code == self);
        known.map_or((-32603, "INTERNAL_ERROR"), |(_, number, reason)| (*number, *reason))
    }
}

/// Why a request is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct RpcError {
    pub code: RpcErrorCode,
    /// For people: what is wrong, and what would be right.
    pub message: String,
}

impl RpcError {
    pub fn new(code: RpcErrorCode, message: impl Into<String>) -> Self {
        Self { code, message: message.into() }
    }

    pub fn invalid_params(message: impl Into<String>) -> Self {
        Self::new(RpcErrorCode::InvalidParams, message)
    }

    pub fn internal() -> Self {
        Self::new(RpcErrorCode::Internal, "Something went wrong on the server. Try again later.")
    }

    pub(crate) fn write(&self, version: ProtocolVersion) -> Json {
        json(&WireRpcError {
            code: self.code.number(),
            message: &self.message,
            data: self.data(version).map(|json| json.0),
        })
    }

    /// In 1.0 a list of typed objects. In 0.3 only the versions that would have been understood.
    fn data(&self, version: ProtocolVersion) -> Option<Json> {
        let supported = (self.code == RpcErrorCode::VersionNotSupported)
            .then(|| ProtocolVersion::ALL.map(ProtocolVersion::as_str));
        match version {
            ProtocolVersion::V0_3 => supported.map(|versions| json(&SupportedVersions { versions })),
            ProtocolVersion::V1_0 => Some(json(&[ErrorInfo {
                kind: "type.googleapis.com/google.rpc.ErrorInfo",
                reason: self.code.reason(),
                domain: "a2a-protocol.org",
                metadata: supported.map(|versions| ErrorMetadata { supported_versions: versions.join(", ") }),
            }])),
        }
    }
}

#[derive(Serialize)]
struct WireRpcError<'a> {
    code: i32,
    message: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    data: Option<Box<RawValue>>,
}

#[derive(Serialize)]
struct SupportedVersions {
    #[serde(rename = "supportedVersions")]
    versions: [&'static str; 2],
}

#[derive(Serialize)]
struct ErrorInfo {
    #[serde(rename = "@type")]
    kind: &'static str,
    reason: &'static str,
    domain: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    metadata: Option<ErrorMetadata>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ErrorMetadata {
    supported_versions: String,
}

/// An error that a server has answered with.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct PeerRpcError {
    #[serde(default)]
    pub code: i64,
    #[serde(default)]
    pub message: String,
}

impl fmt::Display for PeerRpcError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "error {}: {}", self.code, self.message)
    }
}

impl PeerRpcError {
    pub fn is(&self, code: RpcErrorCode) -> bool {
        self.code == i64::from(code.number())
    }
}
