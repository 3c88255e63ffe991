//! Anthropic's Messages API.

mod batches;

use reqwest::Url;
use reqwest::header::HeaderName;
use serde::Deserialize;
use serde_json::{Value, json};

use self::batches::AnthropicBatches;
use super::batches::BatchProtocol;
use super::client::{
    Protocol, ReceivedAnswer, RequestOptions, SseEvent, StreamFlow, StreamParser, join_url, provider_error,
    set_field, unexpected_document,
};
use super::{
    ChatPrompt, CompletionRequest, EffortSet, GenerateError, GenerateErrorKind, Result, ThinkingEffort,
    Usage, schema,
};

/// The API requires a limit, and thinking counts towards it. A model with a lower maximum says so, and the request is
/// repeated with that.
const MAX_TOKENS: u32 = 128_000;

pub(super) struct AnthropicProtocol;

impl Protocol for AnthropicProtocol {
    fn name(&self) -> &'static str {
        "Anthropic"
    }

    fn url(&self, base: &Url, _model: &str) -> Url {
        join_url(base, Some("v1"), ["messages"])
    }

    fn key_header(&self) -> (HeaderName, &'static str) {
        (HeaderName::from_static("x-api-key"), "")
    }

    fn headers(&self) -> &'static [(&'static str, &'static str)] {
        &[("anthropic-version", "2023-06-01")]
    }

    fn efforts(&self) -> EffortSet {
        EffortSet::ALL.without(ThinkingEffort::Minimal)
    }

    fn options(&self, request: &CompletionRequest) -> RequestOptions {
        let mut options = RequestOptions::new(request);
        options.max_tokens.get_or_insert(MAX_TOKENS);
        options
    }

    fn body(&self, request: &CompletionRequest, options: &RequestOptions) -> serde_json::Result<Vec<u8>> {
        let (system, user) = options.texts(&request.prompt);
        let format = options.schema.as_deref().map(schema::without_bounds);
        let format = format.map(|schema| json!({ "type": "json_schema", "schema": schema }));
        let mut output = json!({});
        let effort = options.effort.filter(|effort| *effort != ThinkingEffort::None);
        set_field(&mut output, "effort", effort.map(|effort| json!(effort)));
        set_field(&mut output, "format", format);

        let mut body = json!({ "model": request.model, "stream": true });
        set_field(&mut body, "max_tokens", options.max_tokens);
        set_field(&mut body, "system", system);
        set_field(
            &mut body,
            "messages",
            Some(json!([{ "role": "user", "content": content(&request.prompt, &user) }])),
        );
        set_field(&mut body, "thinking", options.effort.map(|effort| thinking(effort, options.summary)));
        set_field(&mut body, "output_config", Some(output).filter(|output| *output != json!({})));
        set_field(&mut body, "temperature", options.temperature);
        serde_json::to_vec(&body)
    }

    fn parser(&self) -> Box<dyn StreamParser> {
        Box::new(AnthropicStreamParser::default())
    }

    fn batches(&self) -> Option<&'static dyn BatchProtocol> {
        Some(&AnthropicBatches)
    }
}

/// What the user says, in parts if there are pictures.
fn content(prompt: &ChatPrompt, user: &str) -> Value {
    if prompt.pictures.is_empty() {
        return json!(user);
    }
    let text = |text: &str| json!({ "type": "text", "text": text });
    let shown = prompt.pictures.iter().flat_map(|picture| {
        let source =
            json!({ "type": "base64", "media_type": picture.format.media_type(), "data": picture.base64() });
        [text(&picture.label), json!({ "type": "image", "source": source })]
    });
    shown.chain([text(user)]).collect()
}

/// Summaries are the only thing that streams in while a model thinks.
fn thinking(effort: ThinkingEffort, summary: bool) -> Value {
    match effort {
        ThinkingEffort::None => json!({ "type": "disabled" }),
        _ if summary => json!({ "type": "adaptive", "display": "summarized" }),
        _ => json!({ "type": "adaptive" }),
    }
}

/// Reads a message: it starts, its blocks start and end one after the other, it stops.
#[derive(Default)]
struct AnthropicStreamParser {
    started: bool,
    /// The block that is open, if any.
    open: Option<u64>,
    /// How many blocks have started.
    blocks: u64,
    stop: Option<AnthropicMessageDelta>,
    stopped: bool,
}

#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum AnthropicEvent {
    MessageStart {
        message: AnthropicMessageStart,
    },
    ContentBlockStart {
        index: u64,
        content_block: AnthropicContentBlock,
    },
    ContentBlockDelta {
        index: u64,
        delta: AnthropicDelta,
    },
    ContentBlockStop {
        index: u64,
    },
    MessageDelta {
        delta: AnthropicMessageDelta,
        usage: Option<AnthropicUsage>,
    },
    MessageStop,
    Error {
        error: Value,
    },
    /// `ping`, and events that are added to the API later.
    #[serde(other)]
    Other,
}

#[derive(Deserialize)]
struct AnthropicMessageStart {
    usage: Option<AnthropicUsage>,
}

#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum AnthropicContentBlock {
    Text {
        #[serde(default)]
        text: String,
    },
    #[serde(other)]
    Other,
}

#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum AnthropicDelta {
    TextDelta {
        text: String,
    },
    ThinkingDelta {
        thinking: String,
    },
    #[serde(other)]
    Other,
}

#[derive(Deserialize)]
struct AnthropicMessageDelta {
    stop_reason: Option<String>,
    stop_details: Option<AnthropicStopDetails>,
}

/// A message in one piece.
#[derive(Deserialize)]
struct AnthropicMessage {
    r#type: String,
    content: Vec<AnthropicContentBlock>,
    usage: Option<AnthropicUsage>,
    #[serde(flatten)]
    stop: AnthropicMessageDelta,
}

#[derive(Deserialize)]
struct AnthropicStopDetails {
    explanation: Option<String>,
    category: Option<String>,
}

#[derive(Deserialize)]
struct AnthropicUsage {
    input_tokens: Option<u64>,
    cache_creation_input_tokens: Option<u64>,
    cache_read_input_tokens: Option<u64>,
    output_tokens: Option<u64>,
    output_tokens_details: Option<AnthropicOutputTokens>,
}

#[derive(Deserialize)]
struct AnthropicOutputTokens {
    thinking_tokens: Option<u64>,
}

impl StreamParser for AnthropicStreamParser {
    fn on_event(&mut self, event: &SseEvent, received: &mut ReceivedAnswer<'_>) -> Result<StreamFlow> {
        match event.json()? {
            AnthropicEvent::MessageStart { message } => {
                self.expect(!self.started)?;
                self.started = true;
                let used = message.usage.map(Usage::from).unwrap_or_default();
                // The count of output tokens is not final yet.
                received.update_usage(Usage { output: None, reasoning: None, ..used });
            }
            AnthropicEvent::ContentBlockStart { index, content_block } => {
                self.expect(self.started && self.open.is_none() && index == self.blocks)?;
                self.open = Some(index);
                self.blocks += 1;
                received.mark_started();
                if let AnthropicContentBlock::Text { text } = content_block {
                    received.push_text(&text)?;
                }
            }
            AnthropicEvent::ContentBlockDelta { index, delta } => {
                self.expect(self.open == Some(index))?;
                match delta {
                    AnthropicDelta::TextDelta { text } => received.push_text(&text)?,
                    AnthropicDelta::ThinkingDelta { thinking } => received.thinking(&thinking),
                    AnthropicDelta::Other => {}
                }
            }
            AnthropicEvent::ContentBlockStop { index } => {
                self.expect(self.open == Some(index))?;
                self.open = None;
            }
            AnthropicEvent::MessageDelta { delta, usage } => {
                self.expect(self.started && self.open.is_none())?;
                received.update_usage(usage.map(Usage::from).unwrap_or_default());
                if delta.stop_reason.is_some() {
                    self.stop = Some(delta);
                }
            }
            AnthropicEvent::MessageStop => {
                self.expect(self.started && self.open.is_none())?;
                self.stopped = true;
                return Ok(StreamFlow::Done);
            }
            AnthropicEvent::Error { error } => return Err(provider_error(&error)),
            AnthropicEvent::Other => {}
        }
        Ok(StreamFlow::Continue)
    }

    fn is_complete(&self) -> bool {
        self.stop.is_some()
    }

    fn finish(&self) -> Result<()> {
        let Some(stop) = &self.stop else {
            self.expect(!self.stopped)?;
            return Err(GenerateError::cut_off());
        };
        match stop.stop_reason.as_deref().unwrap_or_default() {
            "max_tokens" | "model_context_window_exceeded" => Err(GenerateError::truncated()),
            "refusal" => Err(GenerateError::refused(stop.reason())),
            "pause_turn" => {
                Err(GenerateError::new(GenerateErrorKind::Truncated, "the model paused before it was done"))
            }
            _ => Ok(()),
        }
    }

    fn on_document(&mut self, body: String, received: &mut ReceivedAnswer<'_>) -> Result<()> {
        let message = serde_json::from_str::<AnthropicMessage>(&body);
        let Some(message) = message.ok().filter(|message| message.r#type == "message") else {
            return Err(unexpected_document(&body, received));
        };
        received.update_usage(message.usage.map(Usage::from).unwrap_or_default());
        for block in message.content {
            received.mark_started();
            if let AnthropicContentBlock::Text { text } = block {
                received.push_text(&text)?;
            }
        }
        self.stop = Some(message.stop).filter(|stop| stop.stop_reason.is_some());
        Ok(())
    }
}

impl AnthropicStreamParser {
    fn expect(&self, in_order: bool) -> Result<()> {
        if in_order {
            return Ok(());
        }
        Err(GenerateError::new(GenerateErrorKind::BadAnswer, "the events of the stream are out of order"))
    }
}

impl AnthropicMessageDelta {
    fn reason(&self) -> &str {
        let details = self.stop_details.as_ref();
        let reason =
            details.and_then(|details| details.explanation.as_deref().or(details.category.as_deref()));
        reason.unwrap_or_default()
    }
}

impl From<AnthropicUsage> for Usage {
    fn from(used: AnthropicUsage) -> Self {
        let cached =
            used.cache_creation_input_tokens.unwrap_or(0) + used.cache_read_input_tokens.unwrap_or(0);
        Self {
            input: used.input_tokens.map(|input| input + cached),
            cached: used.cache_read_input_tokens,
            output: used.output_tokens,
            reasoning: used.output_tokens_details.and_then(|details| details.thinking_tokens),
            charged: None,
        }
    }
}
