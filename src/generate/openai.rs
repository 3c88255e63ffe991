//! OpenAI's Responses API.
//!
//! The request is async-openai's own type. The stream is read here, because that crate fails at every event it does
//! not know (`keepalive` was one), and its client neither bounds what it reads nor keeps what came before an error.

use async_openai::types::responses::{
    CreateResponse, EasyInputContent, EasyInputMessage, InputItem, InputParam, Reasoning, ReasoningEffort,
    ReasoningSummary, ResponseFormatJsonSchema, ResponseTextParam, Role, TextResponseFormatConfiguration,
};
use reqwest::Url;
use reqwest::header::{AUTHORIZATION, HeaderName};
use serde::Deserialize;
use serde_json::Value;

use super::client::{
    Protocol, ReceivedAnswer, RequestOptions, SseEvent, StreamFlow, StreamParser, join_url, provider_error,
    push_refusal,
};
use super::{
    ChatMessage, ChatRole, CompletionRequest, GenerateError, GenerateErrorKind, Result, ThinkingEffort,
    Usage, schema,
};

pub(super) struct OpenAiProtocol;

impl Protocol for OpenAiProtocol {
    fn name(&self) -> &'static str {
        "OpenAI"
    }

    fn url(&self, base: &Url, _model: &str) -> Url {
        join_url(base, None, ["responses"])
    }

    fn key_header(&self) -> (HeaderName, &'static str) {
        (AUTHORIZATION, "Bearer ")
    }

    fn repeats_text(&self) -> bool {
        true
    }

    fn body(&self, request: &CompletionRequest, options: &RequestOptions) -> serde_json::Result<Vec<u8>> {
        let (system, turns) = options.conversation(request);
        let body = CreateResponse {
            model: Some(request.model.clone()),
            instructions: system.map(str::to_owned),
            input: InputParam::Items(turns.iter().map(message).collect()),
            max_output_tokens: options.max_tokens,
            reasoning: options.effort.map(|how| reasoning(how, options.summary)),
            temperature: options.temperature.map(|temperature| temperature as f32),
            text: options.schema.as_deref().map(format),
            store: Some(false),
            stream: Some(true),
            ..CreateResponse::default()
        };
        serde_json::to_vec(&body)
    }

    fn parser(&self) -> Box<dyn StreamParser> {
        Box::new(OpenAiStreamParser::default())
    }
}

fn message(turn: &ChatMessage) -> InputItem {
    let role = match turn.role {
        ChatRole::User => Role::User,
        ChatRole::Assistant => Role::Assistant,
    };
    let content = EasyInputContent::Text(turn.text.clone());
    InputItem::EasyMessage(EasyInputMessage { role, content, ..EasyInputMessage::default() })
}

/// Summaries are the only thing that streams in while a model thinks.
fn reasoning(effort: ThinkingEffort, summary: bool) -> Reasoning {
    let effort = match effort {
        ThinkingEffort::None => ReasoningEffort::None,
        ThinkingEffort::Minimal => ReasoningEffort::Minimal,
        ThinkingEffort::Low => ReasoningEffort::Low,
        ThinkingEffort::Medium => ReasoningEffort::Medium,
        ThinkingEffort::High => ReasoningEffort::High,
        ThinkingEffort::Xhigh => ReasoningEffort::Xhigh,
        ThinkingEffort::Max => ReasoningEffort::Max,
    };
    let summary = summary.then_some(ReasoningSummary::Auto);
    Reasoning { effort: Some(effort), summary, ..Reasoning::default() }
}

fn format(schema: &Value) -> ResponseTextParam {
    let format = TextResponseFormatConfiguration::JsonSchema(ResponseFormatJsonSchema {
        description: None,
        name: "build".to_owned(),
        schema: schema::plain(schema),
        strict: Some(true),
    });
    ResponseTextParam { format, verbosity: None }
}

/// Reads a response.
///
/// Events are numbered. One that comes twice is skipped. If some are missing, the text is corrected from the events
/// that repeat it as a whole: at the end of each part, and at the end of the response.
#[derive(Default)]
struct OpenAiStreamParser {
    last_sequence: Option<u64>,
    has_gap: bool,
    /// The part of the output that is being written, and where it starts in the text.
    part: Option<(OpenAiPartIndex, usize)>,
    refusal: String,
    ending: Option<OpenAiEnding>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
struct OpenAiPartIndex {
    #[serde(default)]
    output_index: u64,
    #[serde(default)]
    content_index: u64,
}

enum OpenAiEnding {
    Complete,
    Incomplete(Option<String>),
}

#[derive(Deserialize)]
struct OpenAiEventHeader {
    r#type: String,
    sequence_number: Option<u64>,
}

#[derive(Deserialize)]
struct OpenAiTextDelta {
    #[serde(flatten)]
    part: OpenAiPartIndex,
    delta: String,
}

#[derive(Deserialize)]
struct OpenAiTextDone {
    #[serde(flatten)]
    part: OpenAiPartIndex,
    text: String,
}

#[derive(Deserialize)]
struct OpenAiRefusalDone {
    refusal: String,
}

#[derive(Deserialize)]
struct OpenAiDelta {
    delta: String,
}

#[derive(Deserialize)]
struct OpenAiFinalEvent {
    response: OpenAiFinalResponse,
}

#[derive(Deserialize)]
struct OpenAiFinalResponse {
    usage: Option<OpenAiUsage>,
    incomplete_details: Option<OpenAiIncompleteDetails>,
    error: Option<Value>,
}

/// The final event again, with the text. It is only read if events were missing, because it may be large.
#[derive(Deserialize)]
struct OpenAiOutputEvent {
    response: OpenAiOutput,
}

#[derive(Deserialize)]
struct OpenAiOutput {
    #[serde(default)]
    output: Vec<OpenAiOutputItem>,
}

#[derive(Deserialize)]
struct OpenAiOutputItem {
    content: Option<Vec<OpenAiOutputPart>>,
}

#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum OpenAiOutputPart {
    OutputText {
        text: String,
    },
    #[serde(other)]
    Other,
}

#[derive(Deserialize)]
struct OpenAiIncompleteDetails {
    reason: Option<String>,
}

#[derive(Deserialize)]
struct OpenAiUsage {
    input_tokens: Option<u64>,
    input_tokens_details: Option<OpenAiInputTokens>,
    output_tokens: Option<u64>,
    output_tokens_details: Option<OpenAiOutputTokens>,
}

#[derive(Deserialize)]
struct OpenAiInputTokens {
    cached_tokens: Option<u64>,
}

#[derive(Deserialize)]
struct OpenAiOutputTokens {
    reasoning_tokens: Option<u64>,
}

impl StreamParser for OpenAiStreamParser {
    fn on_event(&mut self, event: &SseEvent, received: &mut ReceivedAnswer<'_>) -> Result<StreamFlow> {
        if event.data == "[DONE]" {
            return Ok(StreamFlow::Done);
        }
        let header: OpenAiEventHeader = event.json()?;
        if let (Some(number), Some(last)) = (header.sequence_number, self.last_sequence) {
            if number <= last {
                return Ok(StreamFlow::Continue);
            }
            self.has_gap |= number > last + 1;
        }
        self.last_sequence = header.sequence_number.or(self.last_sequence);
        match header.r#type.as_str() {
            "response.output_item.added" => received.mark_started(),
            "response.output_text.delta" => {
                let OpenAiTextDelta { part, delta } = event.json()?;
                self.part_start(part, received);
                received.push_text(&delta)?;
            }
            "response.output_text.done" => {
                let OpenAiTextDone { part, text } = event.json()?;
                let start = self.part_start(part, received);
                received.replace_from(start, &text)?;
                self.has_gap = false;
            }
            "response.reasoning_summary_text.delta" | "response.reasoning_text.delta" => {
                received.thinking(&event.json::<OpenAiDelta>()?.delta);
            }
            "response.refusal.delta" => push_refusal(&mut self.refusal, &event.json::<OpenAiDelta>()?.delta),
            "response.refusal.done" => self.refusal = event.json::<OpenAiRefusalDone>()?.refusal,
            "response.completed" | "response.incomplete" => {
                let OpenAiFinalEvent { response } = event.json()?;
                received.update_usage(response.usage());
                self.recover_text(event, received)?;
                let reason = response.incomplete_details.and_then(|details| details.reason);
                self.ending = Some(match header.r#type.as_str() {
                    "response.completed" => OpenAiEnding::Complete,
                    _ => OpenAiEnding::Incomplete(reason),
                });
                return Ok(StreamFlow::Done);
            }
            "response.failed" => {
                let OpenAiFinalEvent { response } = event.json()?;
                received.update_usage(response.usage());
                return Err(response_error(response.error.as_ref()));
            }
            "error" => {
                let error: Value = event.json()?;
                return Err(response_error(Some(error.get("error").unwrap_or(&error))));
            }
            _ => {}
        }
        Ok(StreamFlow::Continue)
    }

    fn is_complete(&self) -> bool {
        self.ending.is_some()
    }

    fn finish(&self) -> Result<()> {
        if !self.refusal.is_empty() {
            return Err(GenerateError::refused(&self.refusal));
        }
        match &self.ending {
            Some(OpenAiEnding::Complete) if self.has_gap => Err(GenerateError::new(
                GenerateErrorKind::BadAnswer,
                "a part of the stream is missing or out of order",
            )),
            Some(OpenAiEnding::Complete) => Ok(()),
            Some(OpenAiEnding::Incomplete(reason)) => Err(incomplete(reason.as_deref())),
            None => Err(GenerateError::cut_off()),
        }
    }
}

impl OpenAiOutputPart {
    fn text(self) -> String {
        match self {
            Self::OutputText { text } => text,
            Self::Other => String::new(),
        }
    }
}

impl OpenAiStreamParser {
    /// Takes text that was lost from the final event, which may repeat everything.
    fn recover_text(&mut self, event: &SseEvent, received: &mut ReceivedAnswer<'_>) -> Result<()> {
        if !self.has_gap {
            return Ok(());
        }
        let OpenAiOutputEvent { response: OpenAiOutput { output } } = event.json()?;
        let parts = output.into_iter().filter_map(|item| item.content).flatten();
        let whole: String = parts.map(OpenAiOutputPart::text).collect();
        self.has_gap = whole.is_empty();
        if self.has_gap { Ok(()) } else { received.replace_from(0, &whole) }
    }

    /// Where a part starts in the text. A new part starts at the end.
    fn part_start(&mut self, part: OpenAiPartIndex, received: &ReceivedAnswer<'_>) -> usize {
        match self.part {
            Some((current, start)) if current == part => start,
            _ => self.part.insert((part, received.len())).1,
        }
    }
}

impl OpenAiFinalResponse {
    fn usage(&self) -> Usage {
        let Some(used) = &self.usage else { return Usage::default() };
        let reasoning = used.output_tokens_details.as_ref().and_then(|details| details.reasoning_tokens);
        let cached = used.input_tokens_details.as_ref().and_then(|details| details.cached_tokens);
        Usage { input: used.input_tokens, cached, output: used.output_tokens, reasoning, charged: None }
    }
}

fn response_error(error: Option<&Value>) -> GenerateError {
    match error {
        Some(error) if !error.is_null() => provider_error(error),
        _ => GenerateError::new(GenerateErrorKind::Overloaded, "the response failed without a reason"),
    }
}

fn incomplete(reason: Option<&str>) -> GenerateError {
    match reason {
        Some("content_filter") => GenerateError::filtered(),
        Some("max_output_tokens") | None => GenerateError::truncated(),
        Some(other) => {
            GenerateError::new(GenerateErrorKind::Truncated, format!("the answer was cut short: {other}"))
        }
    }
}
