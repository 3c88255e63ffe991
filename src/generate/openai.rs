//! OpenAI's Responses API.
//!
//! The request is async-openai's own type. The stream is read by us: that crate's events are a closed list,
//! which an event it has not heard of ends (`keepalive` was one), and its client neither bounds what it reads
//! nor keeps what had come.

use async_openai::types::responses::{
    CreateResponse, EasyInputContent, EasyInputMessage, InputItem, InputParam, Reasoning, ReasoningEffort,
    ReasoningSummary, ResponseFormatJsonSchema, ResponseTextParam, Role, TextResponseFormatConfiguration,
};
use reqwest::Url;
use reqwest::header::{AUTHORIZATION, HeaderName};
use serde::Deserialize;
use serde_json::Value;

use super::client::{
    ApiError, Protocol, ReceivedAnswer, RequestError, RequestOptions, SseEvent, StreamFlow, StreamParser,
    join_url, push_refusal,
};
use super::{ChatMessage, ChatRole, CompletionRequest, GenerateErrorKind, ThinkingEffort, Usage, schema};

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

    fn options(&self, request: &CompletionRequest) -> RequestOptions {
        RequestOptions::new(request)
    }

    fn body(&self, request: &CompletionRequest, options: &RequestOptions) -> serde_json::Result<Vec<u8>> {
        let body = CreateResponse {
            model: Some(request.model.clone()),
            instructions: (!request.system.is_empty()).then(|| request.system.clone()),
            input: InputParam::Items(request.messages.iter().map(message).collect()),
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

/// Summaries are the only sign of life while a model thinks.
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

/// One response as it streams in.
///
/// Events are numbered: one that comes again is passed over, and when some are missing the whole text at the
/// end of a part, or of all, puts right what was heard.
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

/// The same once more, with its text.
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
    output_tokens: Option<u64>,
    output_tokens_details: Option<OpenAiOutputTokens>,
}

#[derive(Deserialize)]
struct OpenAiOutputTokens {
    reasoning_tokens: Option<u64>,
}

impl StreamParser for OpenAiStreamParser {
    fn on_event(
        &mut self,
        event: &SseEvent,
        received: &mut ReceivedAnswer<'_>,
    ) -> Result<StreamFlow, RequestError> {
        if event.data == "[DONE]" {
            return Ok(StreamFlow::Done);
        }
        let header: OpenAiEventHeader = event.json()?;
        if header
            .sequence_number
            .is_some_and(|number| self.last_sequence.is_some_and(|last_sequence| number <= last_sequence))
        {
            return Ok(StreamFlow::Continue);
        }
        self.has_gap |= header
            .sequence_number
            .is_some_and(|number| self.last_sequence.is_some_and(|last_sequence| number > last_sequence + 1));
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
                let is_complete = header.r#type == "response.completed";
                self.ending =
                    Some(if is_complete { OpenAiEnding::Complete } else { OpenAiEnding::Incomplete(reason) });
                return Ok(StreamFlow::Done);
            }
            "response.failed" => {
                let OpenAiFinalEvent { response } = event.json()?;
                received.update_usage(response.usage());
                return Err(api_error(response.error.as_ref()));
            }
            "error" => {
                let error: Value = event.json()?;
                return Err(api_error(Some(error.get("error").unwrap_or(&error))));
            }
            _ => {}
        }
        Ok(StreamFlow::Continue)
    }

    fn is_complete(&self) -> bool {
        self.ending.is_some()
    }

    fn finish(&mut self, _received: &mut ReceivedAnswer<'_>) -> Result<(), RequestError> {
        if !self.refusal.is_empty() {
            return Err(RequestError::new(
                GenerateErrorKind::Refused,
                format!("the model declined: {}", self.refusal),
            ));
        }
        match &self.ending {
            Some(OpenAiEnding::Complete) if self.has_gap => Err(RequestError::new(
                GenerateErrorKind::BadAnswer,
                "a part of the stream is missing or out of order",
            )),
            Some(OpenAiEnding::Complete) => Ok(()),
            Some(OpenAiEnding::Incomplete(reason)) => Err(incomplete(reason.as_deref())),
            None => Err(RequestError::cut_off()),
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
    /// Takes what was lost from the end, which may tell everything once more.
    fn recover_text(
        &mut self,
        event: &SseEvent,
        received: &mut ReceivedAnswer<'_>,
    ) -> Result<(), RequestError> {
        if !self.has_gap {
            return Ok(());
        }
        let OpenAiOutputEvent { response: OpenAiOutput { output } } = event.json()?;
        let parts = output.into_iter().filter_map(|item| item.content).flatten();
        let whole: String = parts.map(OpenAiOutputPart::text).collect();
        self.has_gap = whole.is_empty();
        if self.has_gap { Ok(()) } else { received.replace_from(0, &whole) }
    }

    /// Where a part starts in the text; one that has not been heard of starts now.
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
        Usage { input: used.input_tokens, output: used.output_tokens, reasoning }
    }
}

fn api_error(error: Option<&Value>) -> RequestError {
    match error {
        Some(error) if !error.is_null() => ApiError::from_value(error, None).into_request_error(None),
        _ => RequestError::new(GenerateErrorKind::Overloaded, "the response failed, for no stated reason"),
    }
}

fn incomplete(reason: Option<&str>) -> RequestError {
    match reason {
        Some("content_filter") => {
            RequestError::new(GenerateErrorKind::Filtered, "the answer was withheld by a filter")
        }
        Some("max_output_tokens") | None => RequestError::truncated(),
        Some(other) => {
            RequestError::new(GenerateErrorKind::Truncated, format!("the answer was cut short: {other}"))
        }
    }
}
