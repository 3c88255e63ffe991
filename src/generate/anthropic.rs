//! Anthropic's Messages API.

use reqwest::Url;
use reqwest::header::HeaderName;
use serde::Deserialize;
use serde_json::{Value, json};

use super::talk::{Complaint, Dialect, Ear, Event, Flow, Heard, Trouble, Wishes, join, put};
use super::{FailureKind, Question, Speaker, ThinkingEffort, Usage, schema};

/// The API wants a limit, and thinking counts into it. A model with a lower one says so, and is asked again.
const MAX_TOKENS: u32 = 128_000;

pub(super) struct Anthropic;

impl Dialect for Anthropic {
    fn name(&self) -> &'static str {
        "Anthropic"
    }

    fn url(&self, base: &Url, _model: &str) -> Url {
        join(base, Some("v1"), ["messages"])
    }

    fn key_header(&self) -> (HeaderName, &'static str) {
        (HeaderName::from_static("x-api-key"), "")
    }

    fn headers(&self) -> &'static [(&'static str, &'static str)] {
        &[("anthropic-version", "2023-06-01")]
    }

    fn wishes(&self, question: &Question) -> Wishes {
        let mut wishes = Wishes::of(question);
        wishes.max_tokens.get_or_insert(MAX_TOKENS);
        wishes.limit_is_optional = false;
        wishes
    }

    fn body(&self, question: &Question, wishes: &Wishes) -> serde_json::Result<Vec<u8>> {
        let message = |speaker, text: &str| {
            let role = match speaker {
                Speaker::User => "user",
                Speaker::Model => "assistant",
            };
            json!({ "role": role, "content": text })
        };
        let messages: Vec<Value> = question.turns.iter().map(|turn| message(turn.by, &turn.text)).collect();
        let format = wishes.schema.as_deref().map(schema::without_bounds);
        let format = format.map(|schema| json!({ "type": "json_schema", "schema": schema }));
        let mut output = json!({});
        put(&mut output, "effort", wishes.effort.and_then(effort));
        put(&mut output, "format", format);

        let mut body = json!({ "model": question.model, "stream": true });
        put(&mut body, "max_tokens", wishes.max_tokens);
        put(&mut body, "system", Some(question.system.as_str()).filter(|system| !system.is_empty()));
        put(&mut body, "messages", Some(messages));
        put(&mut body, "thinking", wishes.effort.map(|effort| thinking(effort, wishes.summary)));
        put(&mut body, "output_config", Some(output).filter(|output| *output != json!({})));
        put(&mut body, "temperature", wishes.temperature);
        serde_json::to_vec(&body)
    }

    fn ear(&self) -> Box<dyn Ear> {
        Box::new(Message::default())
    }
}

fn effort(effort: ThinkingEffort) -> Option<Value> {
    match effort {
        ThinkingEffort::None => None,
        ThinkingEffort::Minimal => Some(json!(ThinkingEffort::Low)),
        other => Some(json!(other)),
    }
}

/// Summaries are the only sign of life while a model thinks.
fn thinking(effort: ThinkingEffort, summary: bool) -> Value {
    match effort {
        ThinkingEffort::None => json!({ "type": "disabled" }),
        _ if summary => json!({ "type": "adaptive", "display": "summarized" }),
        _ => json!({ "type": "adaptive" }),
    }
}

/// One message as it streams in: it starts, its blocks start and end in turn, it stops.
#[derive(Default)]
struct Message {
    started: bool,
    /// The block that is open, and how many there were before it.
    open: Option<u64>,
    blocks: u64,
    stop: Option<Stop>,
    stopped: bool,
}

#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Said {
    MessageStart {
        message: Opening,
    },
    ContentBlockStart {
        index: u64,
        content_block: Block,
    },
    ContentBlockDelta {
        index: u64,
        delta: Piece,
    },
    ContentBlockStop {
        index: u64,
    },
    MessageDelta {
        delta: Stop,
        usage: Option<Used>,
    },
    MessageStop,
    Error {
        error: Value,
    },
    /// `ping`, and whatever comes to be.
    #[serde(other)]
    Other,
}

#[derive(Deserialize)]
struct Opening {
    usage: Option<Used>,
}

#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Block {
    Text {
        #[serde(default)]
        text: String,
    },
    #[serde(other)]
    Other,
}

#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Piece {
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
struct Stop {
    stop_reason: Option<String>,
    stop_details: Option<Details>,
}

#[derive(Deserialize)]
struct Details {
    explanation: Option<String>,
    category: Option<String>,
}

#[derive(Deserialize)]
struct Used {
    input_tokens: Option<u64>,
    cache_creation_input_tokens: Option<u64>,
    cache_read_input_tokens: Option<u64>,
    output_tokens: Option<u64>,
    output_tokens_details: Option<UsedForOutput>,
}

#[derive(Deserialize)]
struct UsedForOutput {
    thinking_tokens: Option<u64>,
}

impl Ear for Message {
    fn hear(&mut self, event: &Event, heard: &mut Heard<'_>) -> Result<Flow, Trouble> {
        match event.json()? {
            Said::MessageStart { message } => {
                self.expect(!self.started)?;
                self.started = true;
                let used = message.usage.map(Usage::from).unwrap_or_default();
                // What it says of the output is not so yet.
                heard.usage(Usage { output: None, reasoning: None, ..used });
            }
            Said::ContentBlockStart { index, content_block } => {
                self.expect(self.started && self.open.is_none() && index == self.blocks)?;
                self.open = Some(index);
                self.blocks += 1;
                heard.begins();
                if let Block::Text { text } = content_block {
                    heard.text(&text)?;
                }
            }
            Said::ContentBlockDelta { index, delta } => {
                self.expect(self.open == Some(index))?;
                match delta {
                    Piece::TextDelta { text } => heard.text(&text)?,
                    Piece::ThinkingDelta { thinking } => heard.thinking(&thinking),
                    Piece::Other => {}
                }
            }
            Said::ContentBlockStop { index } => {
                self.expect(self.open == Some(index))?;
                self.open = None;
            }
            Said::MessageDelta { delta, usage } => {
                self.expect(self.started && self.open.is_none())?;
                heard.usage(usage.map(Usage::from).unwrap_or_default());
                if delta.stop_reason.is_some() {
                    self.stop = Some(delta);
                }
            }
            Said::MessageStop => {
                self.expect(self.started && self.open.is_none())?;
                self.stopped = true;
                return Ok(Flow::Over);
            }
            Said::Error { error } => return Err(Complaint::of(&error, None).into_trouble(None)),
            Said::Other => {}
        }
        Ok(Flow::More)
    }

    fn is_complete(&self) -> bool {
        self.stop.is_some()
    }

    fn end(&mut self, _heard: &mut Heard<'_>) -> Result<(), Trouble> {
        let Some(stop) = &self.stop else {
            self.expect(!self.stopped)?;
            return Err(Trouble::cut_off());
        };
        match stop.stop_reason.as_deref().unwrap_or_default() {
            "max_tokens" | "model_context_window_exceeded" => Err(Trouble::truncated()),
            "refusal" => Err(Trouble::new(FailureKind::Refused, stop.refusal())),
            "pause_turn" => Err(Trouble::new(FailureKind::Truncated, "the model paused before it was done")),
            _ => Ok(()),
        }
    }
}

impl Message {
    fn expect(&self, in_order: bool) -> Result<(), Trouble> {
        if in_order {
            return Ok(());
        }
        Err(Trouble::new(FailureKind::BadAnswer, "the events of the stream are out of order"))
    }
}

impl Stop {
    fn refusal(&self) -> String {
        let details = self.stop_details.as_ref();
        let why = details.and_then(|details| details.explanation.as_deref().or(details.category.as_deref()));
        format!("the model declined{}", why.map(|why| format!(": {why}")).unwrap_or_default())
    }
}

impl From<Used> for Usage {
    fn from(used: Used) -> Self {
        let cached =
            used.cache_creation_input_tokens.unwrap_or(0) + used.cache_read_input_tokens.unwrap_or(0);
        Self {
            input: used.input_tokens.map(|input| input + cached),
            output: used.output_tokens,
            reasoning: used.output_tokens_details.and_then(|details| details.thinking_tokens),
        }
    }
}
