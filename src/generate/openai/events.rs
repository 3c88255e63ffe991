//! What a stream or a document consists of, as far as it is read.

use serde::Deserialize;
use serde_json::Value;

use super::super::Usage;
use super::OpenAiPartIndex;

#[derive(Deserialize)]
pub(super) struct OpenAiEventHeader {
    pub r#type: String,
    pub sequence_number: Option<u64>,
}

#[derive(Deserialize)]
pub(super) struct OpenAiCreatedEvent {
    pub response: OpenAiCreatedResponse,
}

#[derive(Deserialize)]
pub(super) struct OpenAiCreatedResponse {
    #[serde(default)]
    pub id: String,
}

#[derive(Deserialize)]
pub(super) struct OpenAiTextDelta {
    #[serde(flatten)]
    pub part: OpenAiPartIndex,
    pub delta: String,
}

#[derive(Deserialize)]
pub(super) struct OpenAiTextDone {
    #[serde(flatten)]
    pub part: OpenAiPartIndex,
    pub text: String,
}

#[derive(Deserialize)]
pub(super) struct OpenAiRefusalDone {
    pub refusal: String,
}

#[derive(Deserialize)]
pub(super) struct OpenAiDelta {
    pub delta: String,
}

#[derive(Deserialize)]
pub(super) struct OpenAiFinalEvent {
    pub response: OpenAiFinalResponse,
}

#[derive(Deserialize)]
pub(super) struct OpenAiFinalResponse {
    pub usage: Option<OpenAiUsage>,
    pub incomplete_details: Option<OpenAiIncompleteDetails>,
    pub error: Option<Value>,
}

/// The final event again, with the text. It is only read if events were missing, because it may be large.
#[derive(Deserialize)]
pub(super) struct OpenAiOutputEvent {
    pub response: OpenAiOutput,
}

#[derive(Deserialize)]
pub(super) struct OpenAiOutput {
    #[serde(default)]
    pub output: Vec<OpenAiOutputItem>,
}

#[derive(Deserialize)]
pub(super) struct OpenAiOutputItem {
    pub content: Option<Vec<OpenAiOutputPart>>,
}

#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum OpenAiOutputPart {
    OutputText {
        text: String,
    },
    Refusal {
        refusal: String,
    },
    #[serde(other)]
    Other,
}

/// A response in one piece.
#[derive(Deserialize)]
pub(super) struct OpenAiDocument {
    pub object: String,
    pub status: String,
    #[serde(flatten)]
    pub last: OpenAiFinalResponse,
    #[serde(flatten)]
    pub output: OpenAiOutput,
}

#[derive(Deserialize)]
pub(super) struct OpenAiIncompleteDetails {
    pub reason: Option<String>,
}

#[derive(Deserialize)]
pub(super) struct OpenAiUsage {
    pub input_tokens: Option<u64>,
    pub input_tokens_details: Option<OpenAiInputTokens>,
    pub output_tokens: Option<u64>,
    pub output_tokens_details: Option<OpenAiOutputTokens>,
}

#[derive(Deserialize)]
pub(super) struct OpenAiInputTokens {
    pub cached_tokens: Option<u64>,
}

#[derive(Deserialize)]
pub(super) struct OpenAiOutputTokens {
    pub reasoning_tokens: Option<u64>,
}

impl OpenAiOutputPart {
    pub fn text(self) -> String {
        match self {
            Self::OutputText { text } => text,
            Self::Refusal { .. } | Self::Other => String::new(),
        }
    }
}

impl OpenAiFinalResponse {
    pub fn usage(&self) -> Usage {
        let Some(used) = &self.usage else { return Usage::default() };
        let reasoning = used.output_tokens_details.as_ref().and_then(|details| details.reasoning_tokens);
        let cached = used.input_tokens_details.as_ref().and_then(|details| details.cached_tokens);
        Usage { input: used.input_tokens, cached, output: used.output_tokens, reasoning, charged: None }
    }
}
