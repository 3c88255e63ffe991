//! The protocol's objects, as both versions mean them. How each version spells them is in [`crate::wire`].

use serde_json::value::RawValue;
use time::OffsetDateTime;
use uuid::Uuid;

/// Who wrote a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MessageRole {
    User,
    Agent,
}

/// One turn of a conversation.
#[derive(Clone, Debug, PartialEq)]
pub struct Message {
    pub id: String,
    pub role: MessageRole,
    pub parts: Vec<Part>,
    pub context_id: Option<String>,
    pub task_id: Option<String>,
    pub reference_task_ids: Vec<String>,
    pub extensions: Vec<String>,
    pub metadata: Option<Json>,
}

/// A piece of a message or an artifact.
#[derive(Clone, Debug, PartialEq)]
pub struct Part {
    pub content: PartContent,
    pub media_type: Option<String>,
    pub filename: Option<String>,
    pub metadata: Option<Json>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum PartContent {
    Text(String),
    Data(Json),
    /// A file's bytes.
    Raw(Vec<u8>),
    /// Where a file can be read.
    Url(String),
}

/// JSON as it was written. It is parsed by whoever knows what is in it, so that a large document costs no more memory
/// than its text until then.
#[derive(Clone, Debug)]
pub struct Json(pub Box<RawValue>);

/// The protocol's unit of work.
#[derive(Clone, Debug, PartialEq)]
pub struct A2aTask {
    pub id: String,
    pub context_id: String,
    pub status: A2aTaskStatus,
    pub artifacts: Vec<Artifact>,
    pub history: Vec<Message>,
    pub metadata: Option<Json>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct A2aTaskStatus {
    pub state: A2aTaskState,
    pub message: Option<Message>,
    pub timestamp: Option<OffsetDateTime>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum A2aTaskState {
    Submitted,
    Working,
    InputRequired,
    AuthRequired,
    Completed,
    Failed,
    Canceled,
    Rejected,
    /// A state of a version that this library does not know, or one that the peer did not name.
    Unknown,
}

/// What came of an A2A task.
#[derive(Clone, Debug, PartialEq)]
pub struct Artifact {
    pub id: String,
    pub name: Option<String>,
    pub description: Option<String>,
    pub parts: Vec<Part>,
    pub extensions: Vec<String>,
    pub metadata: Option<Json>,
}

/// What a stream carries, and what a request to send a message is answered with.
#[derive(Clone, Debug, PartialEq)]
pub enum StreamEvent {
    Task(A2aTask),
    Message(Message),
    Status(StatusUpdate),
    Artifact(ArtifactUpdate),
}

#[derive(Clone, Debug, PartialEq)]
pub struct StatusUpdate {
    pub task_id: String,
    pub context_id: String,
    pub status: A2aTaskStatus,
    pub metadata: Option<Json>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct ArtifactUpdate {
    pub task_id: String,
    pub context_id: String,
    pub artifact: Artifact,
    /// Whether the parts follow those that the artifact has already.
    pub append: bool,
    pub last_chunk: bool,
    pub metadata: Option<Json>,
}

impl Message {
    pub fn new(role: MessageRole, parts: Vec<Part>) -> Self {
        Self {
            id: Uuid::new_v4().to_string(),
            role,
            parts,
            context_id: None,
            task_id: None,
            reference_task_ids: Vec::new(),
            extensions: Vec::new(),
            metadata: None,
        }
    }
}

impl Part {
    pub fn text(text: impl Into<String>) -> Self {
        Self::new(PartContent::Text(text.into()))
    }

    pub fn data(data: Json) -> Self {
        Self::new(PartContent::Data(data))
    }

    pub fn raw(bytes: Vec<u8>, media_type: impl Into<String>, filename: impl Into<String>) -> Self {
        Self {
            media_type: Some(media_type.into()),
            filename: Some(filename.into()),
            ..Self::new(PartContent::Raw(bytes))
        }
    }

    fn new(content: PartContent) -> Self {
        Self { content, media_type: None, filename: None, metadata: None }
    }
}

/// The texts of parts, each on lines of its own.
pub fn joined_text<'a>(parts: impl IntoIterator<Item = &'a Part>) -> String {
    let mut joined = String::new();
    for part in parts {
        if let PartContent::Text(text) = &part.content {
            if !joined.is_empty() {
                joined.push('\n');
            }
            joined.push_str(text);
        }
    }
    joined
}

impl Json {
    /// Writes a value as JSON.
    ///
    /// # Errors
    /// If the value cannot be written as JSON, for example because a key is no string.
    pub fn of(value: &impl serde::Serialize) -> serde_json::Result<Self> {
        serde_json::value::to_raw_value(value).map(Self)
    }

    /// Reads it as a value of a type.
    ///
    /// # Errors
    /// If it is not one.
    pub fn parse<'a, T: serde::Deserialize<'a>>(&'a self) -> serde_json::Result<T> {
        serde_json::from_str(self.0.get())
    }

    pub fn get(&self) -> &str {
        self.0.get()
    }

    pub(crate) fn is_object(&self) -> bool {
        self.get().trim_start().starts_with('{')
    }
}

impl serde::Serialize for Json {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl PartialEq for Json {
    fn eq(&self, other: &Self) -> bool {
        self.get() == other.get()
    }
}

impl A2aTask {
    /// A new A2A task for a message. The message joins the history and gets the ids.
    pub fn submitted(mut message: Message, now: OffsetDateTime) -> Self {
        let id = Uuid::now_v7().to_string();
        let context_id = message.context_id.clone().unwrap_or_else(|| Uuid::new_v4().to_string());
        message.task_id = Some(id.clone());
        message.context_id = Some(context_id.clone());
        let status = A2aTaskStatus { state: A2aTaskState::Submitted, message: None, timestamp: Some(now) };
        Self { id, context_id, status, artifacts: Vec::new(), history: vec![message], metadata: None }
    }

    /// Changes the status. A message that was in the status before joins the history.
    pub fn set_status(&mut self, state: A2aTaskState, message: Option<Message>, now: OffsetDateTime) {
        let message = message.map(|message| Message {
            task_id: Some(self.id.clone()),
            context_id: Some(self.context_id.clone()),
            ..message
        });
        let status = A2aTaskStatus { state, message, timestamp: Some(now) };
        let earlier = std::mem::replace(&mut self.status, status);
        self.history.extend(earlier.message);
    }
}

impl A2aTaskState {
    /// Whether nothing can change any more.
    pub fn is_terminal(self) -> bool {
        matches!(self, Self::Completed | Self::Failed | Self::Canceled | Self::Rejected)
    }

    /// Whether the agent waits for something that its client does not give.
    pub fn is_interrupted(self) -> bool {
        matches!(self, Self::InputRequired | Self::AuthRequired)
    }
}

impl StreamEvent {
    /// Whether no event follows this one in a stream.
    pub fn is_last(&self) -> bool {
        match self {
            Self::Message(_) => true,
            Self::Task(task) => task.status.state.is_stopped(),
            Self::Status(update) => update.status.state.is_stopped(),
            Self::Artifact(_) => false,
        }
    }
}

impl A2aTaskState {
    /// Whether the agent does nothing more until it gets another message, or at all.
    pub fn is_stopped(self) -> bool {
        self.is_terminal() || self.is_interrupted()
    }
}
