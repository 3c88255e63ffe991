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

use super::talk::{Complaint, Dialect, Ear, Event, Flow, Heard, Trouble, Wishes, add, join};
use super::{FailureKind, Question, Speaker, ThinkingEffort, Turn, Usage, schema};

pub(super) struct OpenAi;

impl Dialect for OpenAi {
    fn name(&self) -> &'static str {
        "OpenAI"
    }

    fn url(&self, base: &Url, _model: &str) -> Url {
        join(base, None, ["responses"])
    }

    fn key_header(&self) -> (HeaderName, &'static str) {
        (AUTHORIZATION, "Bearer ")
    }

    fn repeats_text(&self) -> bool {
        true
    }

    fn wishes(&self, question: &Question) -> Wishes {
        Wishes::of(question)
    }

    fn body(&self, question: &Question, wishes: &Wishes) -> serde_json::Result<Vec<u8>> {
        let request = CreateResponse {
            model: Some(question.model.clone()),
            instructions: (!question.system.is_empty()).then(|| question.system.clone()),
            input: InputParam::Items(question.turns.iter().map(message).collect()),
            max_output_tokens: wishes.max_tokens,
            reasoning: wishes.effort.map(|how| reasoning(how, wishes.summary)),
            temperature: wishes.temperature.map(|temperature| temperature as f32),
            text: wishes.schema.as_deref().map(format),
            store: Some(false),
            stream: Some(true),
            ..CreateResponse::default()
        };
        serde_json::to_vec(&request)
    }

    fn ear(&self) -> Box<dyn Ear> {
        Box::new(Response::default())
    }
}

fn message(turn: &Turn) -> InputItem {
    let role = match turn.by {
        Speaker::User => Role::User,
        Speaker::Model => Role::Assistant,
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
struct Response {
    last: Option<u64>,
    lost_some: bool,
    /// The part of the output that is being written, and where it starts in the text.
    part: Option<(Part, usize)>,
    refusal: String,
    ending: Option<Ending>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
struct Part {
    #[serde(default)]
    output_index: u64,
    #[serde(default)]
    content_index: u64,
}

enum Ending {
    Complete,
    Incomplete(Option<String>),
}

#[derive(Deserialize)]
struct Kind {
    r#type: String,
    sequence_number: Option<u64>,
}

#[derive(Deserialize)]
struct Piece {
    #[serde(flatten)]
    part: Part,
    delta: String,
}

#[derive(Deserialize)]
struct Whole {
    #[serde(flatten)]
    part: Part,
    text: String,
}

#[derive(Deserialize)]
struct Refused {
    refusal: String,
}

#[derive(Deserialize)]
struct Thought {
    delta: String,
}

#[derive(Deserialize)]
struct Finished {
    response: Final,
}

#[derive(Deserialize)]
struct Final {
    usage: Option<Used>,
    incomplete_details: Option<Incomplete>,
    error: Option<Value>,
}

/// The same once more, with its text.
#[derive(Deserialize)]
struct All {
    response: Output,
}

#[derive(Deserialize)]
struct Output {
    #[serde(default)]
    output: Vec<Item>,
}

#[derive(Deserialize)]
struct Item {
    content: Option<Vec<ItemPart>>,
}

#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum ItemPart {
    OutputText {
        text: String,
    },
    #[serde(other)]
    Other,
}

#[derive(Deserialize)]
struct Incomplete {
    reason: Option<String>,
}

#[derive(Deserialize)]
struct Used {
    input_tokens: Option<u64>,
    output_tokens: Option<u64>,
    output_tokens_details: Option<UsedForOutput>,
}

#[derive(Deserialize)]
struct UsedForOutput {
    reasoning_tokens: Option<u64>,
}

impl Ear for Response {
    fn hear(&mut self, event: &Event, heard: &mut Heard<'_>) -> Result<Flow, Trouble> {
        if event.data == "[DONE]" {
            return Ok(Flow::Over);
        }
        let kind: Kind = event.json()?;
        if kind.sequence_number.is_some_and(|number| self.last.is_some_and(|last| number <= last)) {
            return Ok(Flow::More);
        }
        self.lost_some |=
            kind.sequence_number.is_some_and(|number| self.last.is_some_and(|last| number > last + 1));
        self.last = kind.sequence_number.or(self.last);
        match kind.r#type.as_str() {
            "response.output_item.added" => heard.begins(),
            "response.output_text.delta" => {
                let Piece { part, delta } = event.json()?;
                self.start_of(part, heard);
                heard.text(&delta)?;
            }
            "response.output_text.done" => {
                let Whole { part, text } = event.json()?;
                let start = self.start_of(part, heard);
                heard.correct(start, &text)?;
                self.lost_some = false;
            }
            "response.reasoning_summary_text.delta" | "response.reasoning_text.delta" => {
                heard.thinking(&event.json::<Thought>()?.delta);
            }
            "response.refusal.delta" => add(&mut self.refusal, &event.json::<Thought>()?.delta),
            "response.refusal.done" => self.refusal = event.json::<Refused>()?.refusal,
            "response.completed" | "response.incomplete" => {
                let Finished { response } = event.json()?;
                heard.usage(response.usage());
                self.make_good(event, heard)?;
                let reason = response.incomplete_details.and_then(|details| details.reason);
                let is_complete = kind.r#type == "response.completed";
                self.ending = Some(if is_complete { Ending::Complete } else { Ending::Incomplete(reason) });
                return Ok(Flow::Over);
            }
            "response.failed" => {
                let Finished { response } = event.json()?;
                heard.usage(response.usage());
                return Err(complaint(response.error.as_ref()));
            }
            "error" => {
                let error: Value = event.json()?;
                return Err(complaint(Some(error.get("error").unwrap_or(&error))));
            }
            _ => {}
        }
        Ok(Flow::More)
    }

    fn is_complete(&self) -> bool {
        self.ending.is_some()
    }

    fn end(&mut self, _heard: &mut Heard<'_>) -> Result<(), Trouble> {
        if !self.refusal.is_empty() {
            return Err(Trouble::new(FailureKind::Refused, format!("the model declined: {}", self.refusal)));
        }
        match &self.ending {
            Some(Ending::Complete) if self.lost_some => {
                Err(Trouble::new(FailureKind::BadAnswer, "a part of the stream is missing or out of order"))
            }
            Some(Ending::Complete) => Ok(()),
            Some(Ending::Incomplete(reason)) => Err(incomplete(reason.as_deref())),
            None => Err(Trouble::cut_off()),
        }
    }
}

impl ItemPart {
    fn text(self) -> String {
        match self {
            Self::OutputText { text } => text,
            Self::Other => String::new(),
        }
    }
}

impl Response {
    /// Takes what was lost from the end, which may tell everything once more.
    fn make_good(&mut self, event: &Event, heard: &mut Heard<'_>) -> Result<(), Trouble> {
        if !self.lost_some {
            return Ok(());
        }
        let All { response: Output { output } } = event.json()?;
        let parts = output.into_iter().filter_map(|item| item.content).flatten();
        let whole: String = parts.map(ItemPart::text).collect();
        self.lost_some = whole.is_empty();
        if self.lost_some { Ok(()) } else { heard.correct(0, &whole) }
    }

    /// Where a part starts in the text; one that has not been heard of starts now.
    fn start_of(&mut self, part: Part, heard: &Heard<'_>) -> usize {
        match self.part {
            Some((current, start)) if current == part => start,
            _ => self.part.insert((part, heard.len())).1,
        }
    }
}

impl Final {
    fn usage(&self) -> Usage {
        let Some(used) = &self.usage else { return Usage::default() };
        let reasoning = used.output_tokens_details.as_ref().and_then(|details| details.reasoning_tokens);
        Usage { input: used.input_tokens, output: used.output_tokens, reasoning }
    }
}

fn complaint(error: Option<&Value>) -> Trouble {
    match error {
        Some(error) if !error.is_null() => Complaint::of(error, None).into_trouble(None),
        _ => Trouble::new(FailureKind::Overloaded, "the response failed, for no stated reason"),
    }
}

fn incomplete(reason: Option<&str>) -> Trouble {
    match reason {
        Some("content_filter") => Trouble::new(FailureKind::Filtered, "the answer was withheld by a filter"),
        Some("max_output_tokens") | None => Trouble::truncated(),
        Some(other) => Trouble::new(FailureKind::Truncated, format!("the answer was cut short: {other}")),
    }
}
