//! OpenAI's Responses API.
//!
//! The request is async-openai's own type. The stream is read here, because that crate fails at every event it does
//! not know (`keepalive` was one), and its client neither bounds what it reads nor keeps what came before an error.

mod batches;
mod events;

use async_openai::types::responses::{
    CreateResponse, EasyInputContent, EasyInputMessage, ImageDetail, InputContent, InputImageContent,
    InputItem, InputParam, Reasoning, ReasoningEffort, ReasoningSummary, ResponseFormatJsonSchema,
    ResponseTextParam, Role, TextResponseFormatConfiguration,
};
use reqwest::Url;
use reqwest::header::{AUTHORIZATION, HeaderName};
use serde::Deserialize;
use serde_json::Value;

use self::batches::OpenAiBatches;
use self::events::{
    OpenAiCreatedEvent, OpenAiDelta, OpenAiDocument, OpenAiEventHeader, OpenAiFinalEvent, OpenAiOutput,
    OpenAiOutputEvent, OpenAiOutputPart, OpenAiRefusalDone, OpenAiTextDelta, OpenAiTextDone,
};
use super::batches::BatchProtocol;
use super::client::{
    Protocol, ReceivedAnswer, RequestOptions, SseEvent, StreamFlow, StreamParser, join_url, provider_error,
    push_refusal, unexpected_document,
};
use super::{
    ChatPrompt, CompletionRequest, GenerateError, GenerateErrorKind, Result, ThinkingEffort, schema,
};

pub(super) struct OpenAiProtocol;

impl Protocol for OpenAiProtocol {
    fn name(&self) -> &'static str {
        "OpenAI"
    }

    fn url(&self, base: &Url, _model: &str) -> Url {
        join_url(base, None, ["responses"])
    }

    /// Sends the stream once more from its beginning.
    fn resume_url(&self, base: &Url, id: &str) -> Option<Url> {
        let mut url = join_url(base, None, ["responses", id]);
        url.set_query(Some("stream=true"));
        Some(url)
    }

    fn cancel_url(&self, base: &Url, id: &str) -> Option<Url> {
        Some(join_url(base, None, ["responses", id, "cancel"]))
    }

    fn key_header(&self) -> (HeaderName, &'static str) {
        (AUTHORIZATION, "Bearer ")
    }

    fn repeats_text(&self) -> bool {
        true
    }

    fn body(&self, request: &CompletionRequest, options: &RequestOptions) -> serde_json::Result<Vec<u8>> {
        let (system, user) = options.texts(&request.prompt);
        let message = EasyInputMessage {
            role: Role::User,
            content: content(&request.prompt, user.into_owned()),
            ..EasyInputMessage::default()
        };
        let body = CreateResponse {
            model: Some(request.model.clone()),
            instructions: system.map(str::to_owned),
            input: InputParam::Items(vec![InputItem::EasyMessage(message)]),
            max_output_tokens: options.max_tokens,
            reasoning: options.effort.map(|how| reasoning(how, options.summary)),
            temperature: options.temperature.map(|temperature| temperature as f32),
            text: options.schema.as_deref().map(format),
            // Only what is stored can be fetched later.
            store: Some(options.background),
            background: options.background.then_some(true),
            stream: Some(true),
            ..CreateResponse::default()
        };
        serde_json::to_vec(&body)
    }

    fn parser(&self) -> Box<dyn StreamParser> {
        Box::new(OpenAiStreamParser::default())
    }

    fn batches(&self) -> Option<&'static dyn BatchProtocol> {
        Some(&OpenAiBatches)
    }
}

/// What the user says, in parts if there are pictures.
fn content(prompt: &ChatPrompt, user: String) -> EasyInputContent {
    if prompt.pictures.is_empty() {
        return EasyInputContent::Text(user);
    }
    let shown = prompt.pictures.iter().flat_map(|picture| {
        let image = InputImageContent {
            detail: ImageDetail::High,
            image_url: Some(picture.data_url()),
            ..InputImageContent::default()
        };
        [InputContent::from(picture.label.as_str()), image.into()]
    });
    EasyInputContent::ContentList(shown.chain([user.into()]).collect())
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
            "response.created" => received.set_remote_id(&event.json::<OpenAiCreatedEvent>()?.response.id),
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

    fn on_document(&mut self, body: String, received: &mut ReceivedAnswer<'_>) -> Result<()> {
        let document = serde_json::from_str::<OpenAiDocument>(&body);
        let Some(OpenAiDocument { status, last, output, .. }) =
            document.ok().filter(|document| document.object == "response")
        else {
            return Err(unexpected_document(&body, received));
        };
        received.update_usage(last.usage());
        if !output.output.is_empty() {
            received.mark_started();
        }
        for part in output.output.into_iter().filter_map(|item| item.content).flatten() {
            match part {
                OpenAiOutputPart::Refusal { refusal } => push_refusal(&mut self.refusal, &refusal),
                part => received.push_text(&part.text())?,
            }
        }
        self.ending = match status.as_str() {
            "completed" => Some(OpenAiEnding::Complete),
            "incomplete" => {
                let reason = last.incomplete_details.and_then(|details| details.reason);
                Some(OpenAiEnding::Incomplete(reason))
            }
            "failed" => return Err(response_error(last.error.as_ref())),
            _ => None,
        };
        Ok(())
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
