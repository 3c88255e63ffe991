//! Whatever speaks OpenAI's chat completions: OpenRouter, DeepSeek, xAI, Moonshot, Z.AI, Ollama, vLLM.
//!
//! They agree on the outline and differ in the details, so much is taken that the original never sends.

use std::fmt;

use reqwest::Url;
use reqwest::header::{AUTHORIZATION, HeaderName};
use serde::de::{SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::{Value, json};

use super::talk::{Complaint, Dialect, Ear, Event, Flow, Heard, Trouble, Wishes, add, join, no_answer, put};
use super::{FailureKind, Question, Speaker, Usage, schema};

pub(super) struct Compatible;

impl Dialect for Compatible {
    fn name(&self) -> &'static str {
        "The endpoint"
    }

    fn url(&self, base: &Url, _model: &str) -> Url {
        join(base, None, ["chat", "completions"])
    }

    fn key_header(&self) -> (HeaderName, &'static str) {
        (AUTHORIZATION, "Bearer ")
    }

    fn wishes(&self, question: &Question) -> Wishes {
        let mut wishes = Wishes::of(question);
        wishes.summary = false;
        wishes
    }

    fn body(&self, question: &Question, wishes: &Wishes) -> serde_json::Result<Vec<u8>> {
        let message = |role: &str, text: &str| json!({ "role": role, "content": text });
        let system = Some(question.system.as_str()).filter(|system| !system.is_empty());
        let turns = question.turns.iter().map(|turn| {
            let role = match turn.by {
                Speaker::User => "user",
                Speaker::Model => "assistant",
            };
            message(role, &turn.text)
        });
        let messages: Vec<Value> =
            system.map(|text| message("system", text)).into_iter().chain(turns).collect();
        let limit = if wishes.new_name_for_limit { "max_completion_tokens" } else { "max_tokens" };

        let mut body = json!({ "model": question.model, "messages": messages, "stream": true });
        put(&mut body, "stream_options", wishes.streamed_usage.then(|| json!({ "include_usage": true })));
        put(&mut body, limit, wishes.max_tokens);
        put(&mut body, "reasoning_effort", wishes.effort.map(|effort| json!(effort)));
        put(&mut body, "temperature", wishes.temperature);
        put(&mut body, "response_format", wishes.schema.as_deref().map(format));
        serde_json::to_vec(&body)
    }

    fn ear(&self) -> Box<dyn Ear> {
        Box::new(Completion::default())
    }
}

fn format(schema: &Value) -> Value {
    let schema = json!({ "name": "build", "strict": true, "schema": schema::plain(schema) });
    json!({ "type": "json_schema", "json_schema": schema })
}

/// One completion as it streams in. Nothing numbers the pieces, so they are taken as they come.
#[derive(Default)]
struct Completion {
    finish: Option<String>,
    done: bool,
    refusal: String,
}

#[derive(Deserialize)]
struct Chunk {
    choices: Option<Vec<Choice>>,
    usage: Option<Used>,
    error: Option<Value>,
}

#[derive(Deserialize)]
struct Choice {
    delta: Option<Piece>,
    /// All in one piece. Some say it at the end of a stream as well.
    message: Option<Piece>,
    finish_reason: Option<String>,
    index: Option<u64>,
}

#[derive(Deserialize)]
struct Piece {
    content: Option<Content>,
    reasoning_content: Option<String>,
    reasoning: Option<String>,
    refusal: Option<String>,
}

/// A text, or a list of its parts.
struct Content(String);

#[derive(Deserialize)]
struct Part {
    text: Option<String>,
}

#[derive(Deserialize)]
struct Used {
    prompt_tokens: Option<u64>,
    completion_tokens: Option<u64>,
    total_tokens: Option<u64>,
    completion_tokens_details: Option<UsedForOutput>,
}

#[derive(Deserialize)]
struct UsedForOutput {
    reasoning_tokens: Option<u64>,
}

impl Ear for Completion {
    fn hear(&mut self, event: &Event, heard: &mut Heard<'_>) -> Result<Flow, Trouble> {
        if event.data.trim() == "[DONE]" {
            self.done = true;
            return Ok(Flow::Over);
        }
        let chunk: Chunk = event.json()?;
        if chunk.choices.is_none()
            && let Some(complaint) = Complaint::read(&event.data)
        {
            return Err(complaint.into_trouble(None));
        }
        self.chunk(chunk, heard)?;
        Ok(Flow::More)
    }

    fn is_complete(&self) -> bool {
        self.done || self.finish.is_some()
    }

    fn end(&mut self, _heard: &mut Heard<'_>) -> Result<(), Trouble> {
        if !self.refusal.is_empty() {
            return Err(Trouble::new(FailureKind::Refused, format!("the model declined: {}", self.refusal)));
        }
        match self.finish.as_deref() {
            None if !self.done => Err(Trouble::cut_off()),
            Some("length" | "max_tokens" | "model_context_window_exceeded") => Err(Trouble::truncated()),
            Some("content_filter" | "sensitive") => {
                Err(Trouble::new(FailureKind::Filtered, "the answer was withheld by a filter"))
            }
            Some(reason @ ("error" | "network_error" | "insufficient_system_resource" | "abort")) => {
                Err(Trouble::new(FailureKind::Overloaded, format!("the answer ended with {reason}")))
            }
            _ => Ok(()),
        }
    }

    fn whole(&mut self, body: String, heard: &mut Heard<'_>) -> Result<(), Trouble> {
        match serde_json::from_str::<Chunk>(&body) {
            Ok(chunk) if chunk.choices.is_some() => {
                drop(body);
                self.done = true;
                self.chunk(chunk, heard)
            }
            _ => Err(no_answer(&body, heard)),
        }
    }
}

impl Completion {
    fn chunk(&mut self, chunk: Chunk, heard: &mut Heard<'_>) -> Result<(), Trouble> {
        heard.usage(chunk.usage.map(Usage::from).unwrap_or_default());
        for choice in chunk.choices.unwrap_or_default() {
            if choice.index.unwrap_or(0) != 0 {
                continue;
            }
            if let Some(piece) = choice.delta {
                self.piece(piece, heard)?;
            }
            if let Some(piece) = choice.message.filter(|_| heard.len() == 0) {
                self.piece(piece, heard)?;
            }
            let reason = choice.finish_reason.filter(|reason| !reason.is_empty());
            self.finish = reason.or(self.finish.take());
        }
        match chunk.error {
            Some(Value::String(message)) => {
                Err(Complaint::of(&Value::Null, Some(&message)).into_trouble(None))
            }
            Some(error) if !error.is_null() => Err(Complaint::of(&error, None).into_trouble(None)),
            _ => Ok(()),
        }
    }

    fn piece(&mut self, piece: Piece, heard: &mut Heard<'_>) -> Result<(), Trouble> {
        heard.thinking(piece.reasoning_content.or(piece.reasoning).as_deref().unwrap_or_default());
        add(&mut self.refusal, piece.refusal.as_deref().unwrap_or_default());
        piece.content.map_or(Ok(()), |Content(text)| heard.text(&text))
    }
}

impl<'de> Deserialize<'de> for Content {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ContentVisitor)
    }
}

struct ContentVisitor;

impl<'de> Visitor<'de> for ContentVisitor {
    type Value = Content;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a text or a list of its parts")
    }

    fn visit_str<E>(self, text: &str) -> Result<Content, E> {
        Ok(Content(text.to_owned()))
    }

    fn visit_string<E>(self, text: String) -> Result<Content, E> {
        Ok(Content(text))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut parts: A) -> Result<Content, A::Error> {
        let mut whole = String::new();
        while let Some(Part { text }) = parts.next_element()? {
            whole.push_str(text.as_deref().unwrap_or_default());
        }
        Ok(Content(whole))
    }
}

impl From<Used> for Usage {
    /// Some leave the reasoning out of the completion, but not out of the total.
    fn from(used: Used) -> Self {
        let beyond_input =
            used.total_tokens.zip(used.prompt_tokens).map(|(all, input)| all.saturating_sub(input));
        Self {
            input: used.prompt_tokens,
            output: used.completion_tokens.max(beyond_input),
            reasoning: used.completion_tokens_details.and_then(|details| details.reasoning_tokens),
        }
    }
}
