//! How each version writes the objects as JSON, and how either version's JSON is read.
//!
//! The versions share most names. 0.3 marks each object with a `kind`, spells roles and states in small letters, and
//! nests a file; 1.0 has no `kind`, spells them as constants, and wraps what is sent or streamed in a field that names
//! it. One struct therefore serves both: it is written for one version and read from any.

use base64::Engine as _;
use base64::alphabet::{STANDARD as STANDARD_ALPHABET, URL_SAFE};
use base64::engine::general_purpose::{GeneralPurpose, GeneralPurposeConfig};
use base64::engine::{DecodePaddingMode, general_purpose};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use crate::types::{
    A2aTask, A2aTaskState, A2aTaskStatus, Artifact, ArtifactUpdate, Json, Message, MessageRole, Part,
    PartContent, StatusUpdate, StreamEvent,
};
use crate::version::ProtocolVersion;

/// Why JSON is not an object of the protocol.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct WireError(pub String);

type WireResult<T> = Result<T, WireError>;

const STATES: [(A2aTaskState, &str, &str); 9] = [
    (A2aTaskState::Submitted, "submitted", "TASK_STATE_SUBMITTED"),
    (A2aTaskState::Working, "working", "TASK_STATE_WORKING"),
    (A2aTaskState::InputRequired, "input-required", "TASK_STATE_INPUT_REQUIRED"),
    (A2aTaskState::AuthRequired, "auth-required", "TASK_STATE_AUTH_REQUIRED"),
    (A2aTaskState::Completed, "completed", "TASK_STATE_COMPLETED"),
    (A2aTaskState::Failed, "failed", "TASK_STATE_FAILED"),
    (A2aTaskState::Canceled, "canceled", "TASK_STATE_CANCELED"),
    (A2aTaskState::Rejected, "rejected", "TASK_STATE_REJECTED"),
    (A2aTaskState::Unknown, "unknown", "TASK_STATE_UNSPECIFIED"),
];

impl A2aTaskState {
    pub fn name(self, version: ProtocolVersion) -> &'static str {
        let spelled = STATES.iter().find(|(state, ..)| *state == self);
        spelled.map_or("unknown", |(_, old, new)| match version {
            ProtocolVersion::V0_3 => old,
            ProtocolVersion::V1_0 => new,
        })
    }

    /// Reads either version's name.
    pub fn parse(name: &str) -> Option<Self> {
        STATES.iter().find(|(_, old, new)| name == *old || name == *new).map(|(state, ..)| *state)
    }
}

impl MessageRole {
    fn name(self, version: ProtocolVersion) -> &'static str {
        match (self, version) {
            (Self::User, ProtocolVersion::V0_3) => "user",
            (Self::Agent, ProtocolVersion::V0_3) => "agent",
            (Self::User, ProtocolVersion::V1_0) => "ROLE_USER",
            (Self::Agent, ProtocolVersion::V1_0) => "ROLE_AGENT",
        }
    }

    fn parse(name: &str) -> WireResult<Self> {
        match name {
            "user" | "ROLE_USER" => Ok(Self::User),
            "agent" | "ROLE_AGENT" => Ok(Self::Agent),
            _ => Err(WireError(format!("role {name:?} is unknown; roles are \"user\" and \"agent\""))),
        }
    }
}

#[derive(Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct WirePart {
    #[serde(skip_serializing_if = "Option::is_none")]
    kind: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    data: Option<Box<RawValue>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<WireFile>,
    #[serde(skip_serializing_if = "Option::is_none")]
    raw: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    url: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    media_type: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    filename: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    metadata: Option<Box<RawValue>>,
}

/// A file as 0.3 nests it.
#[derive(Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct WireFile {
    #[serde(skip_serializing_if = "Option::is_none")]
    bytes: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    uri: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    mime_type: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
}

#[derive(Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct WireMessage {
    #[serde(skip_serializing_if = "Option::is_none")]
    kind: Option<String>,
    #[serde(default)]
    message_id: String,
    #[serde(default)]
    role: String,
    #[serde(default)]
    parts: Vec<WirePart>,
    #[serde(skip_serializing_if = "Option::is_none")]
    context_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    task_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    reference_task_ids: Option<Vec<String>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    extensions: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    metadata: Option<Box<RawValue>>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct WireTask {
    #[serde(skip_serializing_if = "Option::is_none")]
    kind: Option<String>,
    #[serde(default)]
    id: String,
    #[serde(default)]
    context_id: String,
    #[serde(default)]
    status: WireStatus,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    artifacts: Option<Vec<WireArtifact>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    history: Option<Vec<WireMessage>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    metadata: Option<Box<RawValue>>,
}

#[derive(Default, Serialize, Deserialize)]
struct WireStatus {
    #[serde(default)]
    state: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<WireMessage>,
    #[serde(skip_serializing_if = "Option::is_none")]
    timestamp: Option<String>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct WireArtifact {
    #[serde(default)]
    artifact_id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<String>,
    #[serde(default)]
    parts: Vec<WirePart>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    extensions: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    metadata: Option<Box<RawValue>>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct WireStatusUpdate {
    #[serde(skip_serializing_if = "Option::is_none")]
    kind: Option<String>,
    #[serde(default)]
    task_id: String,
    #[serde(default)]
    context_id: String,
    #[serde(default)]
    status: WireStatus,
    /// Only of 0.3.
    #[serde(rename = "final", skip_serializing_if = "Option::is_none")]
    is_final: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    metadata: Option<Box<RawValue>>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct WireArtifactUpdate {
    #[serde(skip_serializing_if = "Option::is_none")]
    kind: Option<String>,
    #[serde(default)]
    task_id: String,
    #[serde(default)]
    context_id: String,
    artifact: WireArtifact,
    #[serde(skip_serializing_if = "Option::is_none")]
    append: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    last_chunk: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    metadata: Option<Box<RawValue>>,
}

/// What 1.0 wraps an event in.
#[derive(Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct WireWrapped {
    #[serde(skip_serializing_if = "Option::is_none")]
    task: Option<WireTask>,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<WireMessage>,
    #[serde(skip_serializing_if = "Option::is_none")]
    status_update: Option<WireStatusUpdate>,
    #[serde(skip_serializing_if = "Option::is_none")]
    artifact_update: Option<WireArtifactUpdate>,
}

/// As much of an object as tells what it is.
#[derive(Deserialize)]
struct WireKind {
    kind: Option<String>,
}

/// Writes an A2A task.
pub fn write_task(task: &A2aTask, version: ProtocolVersion) -> Json {
    json(&WireTask::write(task, version))
}

/// Reads an A2A task of either version.
///
/// # Errors
/// If it is not one.
pub fn read_task(text: &str) -> WireResult<A2aTask> {
    parse::<WireTask>(text)?.read()
}

/// Writes what a stream carries. An answer to a message is written in the same way.
pub fn write_event(event: &StreamEvent, version: ProtocolVersion) -> Json {
    match version {
        ProtocolVersion::V0_3 => match event {
            StreamEvent::Task(task) => json(&WireTask::write(task, version)),
            StreamEvent::Message(message) => json(&WireMessage::write(message, version)),
            StreamEvent::Status(update) => json(&WireStatusUpdate::write(update, version)),
            StreamEvent::Artifact(update) => json(&WireArtifactUpdate::write(update, version)),
        },
        ProtocolVersion::V1_0 => json(&match event {
            StreamEvent::Task(task) => {
                WireWrapped { task: Some(WireTask::write(task, version)), ..WireWrapped::default() }
            }
            StreamEvent::Message(message) => {
                WireWrapped { message: Some(WireMessage::write(message, version)), ..WireWrapped::default() }
            }
            StreamEvent::Status(update) => WireWrapped {
                status_update: Some(WireStatusUpdate::write(update, version)),
                ..WireWrapped::default()
            },
            StreamEvent::Artifact(update) => WireWrapped {
                artifact_update: Some(WireArtifactUpdate::write(update, version)),
                ..WireWrapped::default()
            },
        }),
    }
}

/// Reads what a stream carries or a message is answered with, of either version.
///
/// # Errors
/// If it is nothing that a stream can carry.
pub fn read_event(text: &str) -> WireResult<StreamEvent> {
    match parse::<WireKind>(text)?.kind.as_deref() {
        Some("task") => Ok(StreamEvent::Task(read_task(text)?)),
        Some("message") => Ok(StreamEvent::Message(read_message(text)?)),
        Some("status-update") => Ok(StreamEvent::Status(parse::<WireStatusUpdate>(text)?.read()?)),
        Some("artifact-update") => Ok(StreamEvent::Artifact(parse::<WireArtifactUpdate>(text)?.read()?)),
        Some(kind) => Err(WireError(format!("kind {kind:?} is unknown"))),
        None => match parse::<WireWrapped>(text)? {
            WireWrapped { task: Some(task), .. } => Ok(StreamEvent::Task(task.read()?)),
            WireWrapped { message: Some(message), .. } => Ok(StreamEvent::Message(message.read()?)),
            WireWrapped { status_update: Some(update), .. } => Ok(StreamEvent::Status(update.read()?)),
            WireWrapped { artifact_update: Some(update), .. } => Ok(StreamEvent::Artifact(update.read()?)),
            _ => Err(WireError("it is neither a task, a message nor an update of one".to_owned())),
        },
    }
}

/// Writes a message.
pub fn write_message(message: &Message, version: ProtocolVersion) -> Json {
    json(&WireMessage::write(message, version))
}

/// Reads a message of either version.
///
/// # Errors
/// If it is not one.
pub fn read_message(text: &str) -> WireResult<Message> {
    parse::<WireMessage>(text)?.read()
}

pub(crate) fn parse<'a, T: Deserialize<'a>>(text: &'a str) -> WireResult<T> {
    serde_json::from_str(text).map_err(|error| WireError(error.to_string()))
}

/// Writes a struct of this crate, none of which holds anything that JSON cannot.
pub(crate) fn json(value: &impl Serialize) -> Json {
    Json::of(value).unwrap_or_else(|_| Json(RawValue::NULL.to_owned()))
}

impl WirePart {
    fn write(part: &Part, version: ProtocolVersion) -> Self {
        let mut wire =
            Self { metadata: part.metadata.as_ref().map(|json| json.0.clone()), ..Self::default() };
        match version {
            ProtocolVersion::V1_0 => {
                wire.media_type.clone_from(&part.media_type);
                wire.filename.clone_from(&part.filename);
                match &part.content {
                    PartContent::Text(text) => wire.text = Some(text.clone()),
                    PartContent::Data(data) => wire.data = Some(data.0.clone()),
                    PartContent::Raw(bytes) => wire.raw = Some(general_purpose::STANDARD.encode(bytes)),
                    PartContent::Url(url) => wire.url = Some(url.clone()),
                }
            }
            ProtocolVersion::V0_3 => {
                let file = |bytes, uri| WireFile {
                    bytes,
                    uri,
                    mime_type: part.media_type.clone(),
                    name: part.filename.clone(),
                };
                let kind = match &part.content {
                    PartContent::Text(text) => {
                        wire.text = Some(text.clone());
                        "text"
                    }
                    PartContent::Data(data) => {
                        wire.write_data_of_0_3(data);
                        "data"
                    }
                    PartContent::Raw(bytes) => {
                        wire.file = Some(file(Some(general_purpose::STANDARD.encode(bytes)), None));
                        "file"
                    }
                    PartContent::Url(url) => {
                        wire.file = Some(file(None, Some(url.clone())));
                        "file"
                    }
                };
                wire.kind = Some(kind.to_owned());
            }
        }
        wire
    }

    /// Data of 0.3 is always an object. Other values are wrapped in one, as the official SDK wraps them.
    fn write_data_of_0_3(&mut self, data: &Json) {
        if data.is_object() {
            self.data = Some(data.0.clone());
            return;
        }
        self.data = RawValue::from_string(format!(r#"{{"value":{}}}"#, data.get())).ok();
        self.metadata = RawValue::from_string(r#"{"data_part_compat":true}"#.to_owned()).ok();
    }

    fn read(self) -> WireResult<Part> {
        let metadata = self.metadata.map(Json);
        let (media_type, filename) = (self.media_type, self.filename);
        let file = self.file.unwrap_or_default();
        let contents = [
            self.text.map(|text| Ok(PartContent::Text(text))),
            self.data.map(|data| Ok(PartContent::Data(Json(data)))),
            self.raw.or(file.bytes).map(|bytes| decode_base64(&bytes).map(PartContent::Raw)),
            self.url.or(file.uri).map(|url| Ok(PartContent::Url(url))),
        ];
        let mut contents = contents.into_iter().flatten();
        match (contents.next(), contents.next()) {
            (Some(content), None) => Ok(Part {
                content: content?,
                media_type: media_type.or(file.mime_type),
                filename: filename.or(file.name),
                metadata,
            }),
            (None, _) => Err(WireError("a part holds no text, data, or file".to_owned())),
            (Some(_), Some(_)) => Err(WireError("a part holds more than one content".to_owned())),
        }
    }
}

impl WireMessage {
    pub(crate) fn write(message: &Message, version: ProtocolVersion) -> Self {
        Self {
            kind: kind("message", version),
            message_id: message.id.clone(),
            role: message.role.name(version).to_owned(),
            parts: message.parts.iter().map(|part| WirePart::write(part, version)).collect(),
            context_id: message.context_id.clone(),
            task_id: message.task_id.clone(),
            reference_task_ids: list(&message.reference_task_ids),
            extensions: list(&message.extensions),
            metadata: message.metadata.as_ref().map(|json| json.0.clone()),
        }
    }

    pub(crate) fn read(self) -> WireResult<Message> {
        Ok(Message {
            id: self.message_id,
            role: MessageRole::parse(&self.role)?,
            parts: self.parts.into_iter().map(WirePart::read).collect::<WireResult<_>>()?,
            context_id: self.context_id.filter(|id| !id.is_empty()),
            task_id: self.task_id.filter(|id| !id.is_empty()),
            reference_task_ids: self.reference_task_ids.unwrap_or_default(),
            extensions: self.extensions.unwrap_or_default(),
            metadata: self.metadata.map(Json),
        })
    }
}

impl WireTask {
    pub(crate) fn write(task: &A2aTask, version: ProtocolVersion) -> Self {
        let artifacts = task.artifacts.iter().map(|artifact| WireArtifact::write(artifact, version));
        let history = task.history.iter().map(|message| WireMessage::write(message, version));
        Self {
            kind: kind("task", version),
            id: task.id.clone(),
            context_id: task.context_id.clone(),
            status: WireStatus::write(&task.status, version),
            artifacts: Some(artifacts.collect::<Vec<_>>()).filter(|artifacts| !artifacts.is_empty()),
            history: Some(history.collect::<Vec<_>>()).filter(|history| !history.is_empty()),
            metadata: task.metadata.as_ref().map(|json| json.0.clone()),
        }
    }

    fn read(self) -> WireResult<A2aTask> {
        if self.id.is_empty() {
            return Err(WireError("a task has no id".to_owned()));
        }
        let artifacts = self.artifacts.unwrap_or_default();
        let history = self.history.unwrap_or_default();
        Ok(A2aTask {
            id: self.id,
            context_id: self.context_id,
            status: self.status.read()?,
            artifacts: artifacts.into_iter().map(WireArtifact::read).collect::<WireResult<_>>()?,
            history: history.into_iter().map(WireMessage::read).collect::<WireResult<_>>()?,
            metadata: self.metadata.map(Json),
        })
    }
}

impl WireStatus {
    fn write(status: &A2aTaskStatus, version: ProtocolVersion) -> Self {
        Self {
            state: status.state.name(version).to_owned(),
            message: status.message.as_ref().map(|message| WireMessage::write(message, version)),
            timestamp: status.timestamp.and_then(|at| at.format(&Rfc3339).ok()),
        }
    }

    /// A state that is not known is kept as such, so that a later version's new state ends nothing.
    fn read(self) -> WireResult<A2aTaskStatus> {
        Ok(A2aTaskStatus {
            state: A2aTaskState::parse(&self.state).unwrap_or(A2aTaskState::Unknown),
            message: self.message.map(WireMessage::read).transpose()?,
            timestamp: self.timestamp.and_then(|at| OffsetDateTime::parse(&at, &Rfc3339).ok()),
        })
    }
}

impl WireArtifact {
    fn write(artifact: &Artifact, version: ProtocolVersion) -> Self {
        Self {
            artifact_id: artifact.id.clone(),
            name: artifact.name.clone(),
            description: artifact.description.clone(),
            parts: artifact.parts.iter().map(|part| WirePart::write(part, version)).collect(),
            extensions: list(&artifact.extensions),
            metadata: artifact.metadata.as_ref().map(|json| json.0.clone()),
        }
    }

    fn read(self) -> WireResult<Artifact> {
        Ok(Artifact {
            id: self.artifact_id,
            name: self.name,
            description: self.description,
            parts: self.parts.into_iter().map(WirePart::read).collect::<WireResult<_>>()?,
            extensions: self.extensions.unwrap_or_default(),
            metadata: self.metadata.map(Json),
        })
    }
}

impl WireStatusUpdate {
    fn write(update: &StatusUpdate, version: ProtocolVersion) -> Self {
        let is_final = (version == ProtocolVersion::V0_3).then(|| update.status.state.is_stopped());
        Self {
            kind: kind("status-update", version),
            task_id: update.task_id.clone(),
            context_id: update.context_id.clone(),
            status: WireStatus::write(&update.status, version),
            is_final,
            metadata: update.metadata.as_ref().map(|json| json.0.clone()),
        }
    }

    fn read(self) -> WireResult<StatusUpdate> {
        Ok(StatusUpdate {
            task_id: self.task_id,
            context_id: self.context_id,
            status: self.status.read()?,
            metadata: self.metadata.map(Json),
        })
    }
}

impl WireArtifactUpdate {
    fn write(update: &ArtifactUpdate, version: ProtocolVersion) -> Self {
        Self {
            kind: kind("artifact-update", version),
            task_id: update.task_id.clone(),
            context_id: update.context_id.clone(),
            artifact: WireArtifact::write(&update.artifact, version),
            append: Some(update.append),
            last_chunk: Some(update.last_chunk),
            metadata: update.metadata.as_ref().map(|json| json.0.clone()),
        }
    }

    fn read(self) -> WireResult<ArtifactUpdate> {
        Ok(ArtifactUpdate {
            task_id: self.task_id,
            context_id: self.context_id,
            artifact: self.artifact.read()?,
            append: self.append.unwrap_or(false),
            last_chunk: self.last_chunk.unwrap_or(false),
            metadata: self.metadata.map(Json),
        })
    }
}

fn kind(name: &str, version: ProtocolVersion) -> Option<String> {
    (version == ProtocolVersion::V0_3).then(|| name.to_owned())
}

fn list(items: &[String]) -> Option<Vec<String>> {
    (!items.is_empty()).then(|| items.to_vec())
}

/// Decodes either alphabet, with or without padding, as 1.0 asks of readers.
fn decode_base64(text: &str) -> WireResult<Vec<u8>> {
    let config = GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent);
    let alphabet = if text.contains(['-', '_']) { &URL_SAFE } else { &STANDARD_ALPHABET };
    let engine = GeneralPurpose::new(alphabet, config);
    engine.decode(text).map_err(|_| WireError("a file's bytes are not Base64".to_owned()))
}
