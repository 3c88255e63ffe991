//! OpenAI's chat completions, as OpenRouter, DeepSeek, xAI, Moonshot, Z.AI, Ollama, vLLM and others implement them.
//!
//! They agree on the outline and differ in the details, so this accepts much that OpenAI itself never sends.

use reqwest::Url;
use reqwest::header::{AUTHORIZATION, HeaderName};
use serde::Deserialize;
use serde_json::{Value, json};

use super::client::{
    Protocol, ReceivedAnswer, RequestOptions, SseEvent, StreamFlow, StreamParser, join_url, parse_error,
    provider_error, push_refusal, set_field, unexpected_document,
};
use super::{ChatPrompt, CompletionRequest, GenerateError, GenerateErrorKind, Result, Usage, schema};

/// A larger charge for one answer, in dollars, is a mistake.
const MAX_CHARGE: f64 = 1e5;

pub(super) struct CompatibleProtocol;

impl Protocol for CompatibleProtocol {
    fn name(&self) -> &'static str {
        "The endpoint"
    }

    fn url(&self, base: &Url, _model: &str) -> Url {
        join_url(base, None, ["chat", "completions"])
    }

    fn key_header(&self) -> (HeaderName, &'static str) {
        (AUTHORIZATION, "Bearer ")
    }

    fn options(&self, request: &CompletionRequest) -> RequestOptions {
        let mut options = RequestOptions::new(request);
        options.summary = false;
        options.limit_has_other_name = true;
        options.split_reasoning = leaks_thoughts(&request.model);
        options
    }

    fn body(&self, request: &CompletionRequest, options: &RequestOptions) -> serde_json::Result<Vec<u8>> {
        let (system, user) = options.texts(&request.prompt);
        let system = system.map(|text| json!({ "role": "system", "content": text }));
        let user = json!({ "role": "user", "content": content(&request.prompt, &user) });
        let messages: Vec<Value> = system.into_iter().chain([user]).collect();
        let limit = if options.use_max_completion_tokens { "max_completion_tokens" } else { "max_tokens" };

        let mut body = json!({ "model": request.model, "messages": messages, "stream": true });
        let stream_options = options.streamed_usage.then(|| json!({ "include_usage": true }));
        set_field(&mut body, "stream_options", stream_options);
        set_field(&mut body, limit, options.max_tokens);
        set_field(&mut body, "reasoning_effort", options.effort.map(|effort| json!(effort)));
        set_field(&mut body, "reasoning_split", options.split_reasoning.then_some(true));
        set_field(&mut body, "temperature", options.temperature);
        set_field(&mut body, "response_format", options.schema.as_deref().map(format));
        serde_json::to_vec(&body)
    }

    fn parser(&self) -> Box<dyn StreamParser> {
        Box::new(CompatibleStreamParser::default())
    }
}

/// What the user says, in parts if there are pictures.
fn content(prompt: &ChatPrompt, user: &str) -> Value {
    if prompt.pictures.is_empty() {
        return json!(user);
    }
    let text = |text: &str| json!({ "type": "text", "text": text });
    let shown = prompt.pictures.iter().flat_map(|picture| {
        let url = json!({ "url": picture.data_url() });
        [text(&picture.label), json!({ "type": "image_url", "image_url": url })]
    });
    shown.chain([text(user)]).collect()
}

/// Whether a model writes its thoughts into the answer unless it is told to keep them apart. MiniMax's own endpoint does;
/// elsewhere its models have other names.
fn leaks_thoughts(model: &str) -> bool {
    model.get(..8).is_some_and(|begin| begin.eq_ignore_ascii_case("minimax-"))
}

fn format(schema: &Value) -> Value {
    let schema = json!({ "name": "build", "strict": true, "schema": schema::plain(schema) });
    json!({ "type": "json_schema", "json_schema": schema })
}

/// Reads a completion. The pieces are not numbered, so they are taken in the order they come.
#[derive(Default)]
struct CompatibleStreamParser {
    finish: Option<String>,
    done: bool,
    refusal: String,
}

#[derive(Deserialize)]
struct CompatibleChunk {
    choices: Option<Vec<CompatibleChoice>>,
    usage: Option<CompatibleUsage>,
    error: Option<Value>,
}

#[derive(Deserialize)]
struct CompatibleChoice {
    delta: Option<CompatibleDelta>,
    /// The whole message. Some endpoints also send it at the end of a stream.
    message: Option<CompatibleDelta>,
    finish_reason: Option<String>,
    index: Option<u64>,
}

#[derive(Deserialize)]
struct CompatibleDelta {
    content: Option<CompatibleContent>,
    reasoning_content: Option<String>,
    reasoning: Option<String>,
    reasoning_details: Option<Value>,
    refusal: Option<String>,
}

/// A text, or a list of its parts.
#[derive(Deserialize)]
#[serde(untagged)]
enum CompatibleContent {
    Text(String),
    Parts(Vec<CompatiblePart>),
}

#[derive(Deserialize)]
struct CompatiblePart {
    text: Option<String>,
}

#[derive(Deserialize)]
struct CompatibleUsage {
    prompt_tokens: Option<u64>,
    completion_tokens: Option<u64>,
    total_tokens: Option<u64>,
    prompt_tokens_details: Option<CompatibleInputTokens>,
    completion_tokens_details: Option<CompatibleOutputTokens>,
    /// DeepSeek's name for cached input.
    prompt_cache_hit_tokens: Option<u64>,
    /// Moonshot's.
    cached_tokens: Option<u64>,
    /// OpenRouter's charge in dollars. Others use the name for other things.
    cost: Option<Value>,
    /// Whether OpenRouter used a key that its customer has with the provider, who then charges for the answer.
    is_byok: Option<bool>,
    cost_details: Option<Value>,
}

#[derive(Deserialize)]
struct CompatibleInputTokens {
    cached_tokens: Option<u64>,
}

#[derive(Deserialize)]
struct CompatibleOutputTokens {
    reasoning_tokens: Option<u64>,
}

impl StreamParser for CompatibleStreamParser {
    fn on_event(&mut self, event: &SseEvent, received: &mut ReceivedAnswer<'_>) -> Result<StreamFlow> {
        if event.data.trim() == "[DONE]" {
            self.done = true;
            return Ok(StreamFlow::Done);
        }
        let chunk: CompatibleChunk = event.json()?;
        if chunk.choices.is_none()
            && let Some(error) = parse_error(&event.data, None)
        {
            return Err(error);
        }
        self.chunk(chunk, received)?;
        Ok(StreamFlow::Continue)
    }

    fn is_complete(&self) -> bool {
        self.done || self.finish.is_some()
    }

    fn finish(&self) -> Result<()> {
        if !self.refusal.is_empty() {
            return Err(GenerateError::refused(&self.refusal));
        }
        match self.finish.as_deref() {
            None if !self.done => Err(GenerateError::cut_off()),
            Some("length" | "max_tokens" | "model_context_window_exceeded") => {
                Err(GenerateError::truncated())
            }
            Some("content_filter" | "sensitive") => Err(GenerateError::filtered()),
            Some(reason @ ("error" | "network_error" | "insufficient_system_resource" | "abort")) => Err(
                GenerateError::new(GenerateErrorKind::Overloaded, format!("the answer ended with {reason}")),
            ),
            _ => Ok(()),
        }
    }

    fn on_document(&mut self, body: String, received: &mut ReceivedAnswer<'_>) -> Result<()> {
        match serde_json::from_str::<CompatibleChunk>(&body) {
            Ok(chunk) if chunk.choices.is_some() => {
                drop(body);
                self.done = true;
                self.chunk(chunk, received)
            }
            _ => Err(unexpected_document(&body, received)),
        }
    }
}

impl CompatibleStreamParser {
    fn chunk(&mut self, chunk: CompatibleChunk, received: &mut ReceivedAnswer<'_>) -> Result<()> {
        received.update_usage(chunk.usage.map(Usage::from).unwrap_or_default());
        for choice in chunk.choices.unwrap_or_default() {
            if choice.index.unwrap_or(0) != 0 {
                continue;
            }
            if let Some(piece) = choice.delta {
                self.piece(piece, received)?;
            }
            if let Some(piece) = choice.message.filter(|_| received.len() == 0) {
                self.piece(piece, received)?;
            }
            let reason = choice.finish_reason.filter(|reason| !reason.is_empty());
            self.finish = reason.or(self.finish.take());
        }
        match chunk.error {
            Some(error) if !error.is_null() => Err(provider_error(&error)),
            _ => Ok(()),
        }
    }

    fn piece(&mut self, piece: CompatibleDelta, received: &mut ReceivedAnswer<'_>) -> Result<()> {
        let details = piece.reasoning_details.as_ref().and_then(Value::as_array).into_iter().flatten();
        let details = details.filter_map(|detail| detail["text"].as_str());
        // Endpoints that send the details as well repeat the same text in them.
        let thought = piece.reasoning_content.or(piece.reasoning).filter(|thought| !thought.is_empty());
        received.thinking(&thought.unwrap_or_else(|| details.collect()));
        push_refusal(&mut self.refusal, piece.refusal.as_deref().unwrap_or_default());
        match piece.content {
            Some(CompatibleContent::Text(text)) => received.push_text(&text),
            Some(CompatibleContent::Parts(parts)) => {
                let texts = parts.into_iter().filter_map(|part| part.text);
                received.push_text(&texts.collect::<String>())
            }
            None => Ok(()),
        }
    }
}

impl CompatibleUsage {
    /// In millionths of a dollar.
    fn charged(&self) -> Option<u64> {
        let own = self.cost.as_ref()?.as_f64()?;
        let upstream =
            self.cost_details.as_ref().and_then(|details| details["upstream_inference_cost"].as_f64());
        let dollars = own + upstream.filter(|_| self.is_byok == Some(true)).unwrap_or(0.0);
        (0.0..MAX_CHARGE).contains(&dollars).then(|| (dollars * 1e6).round() as u64)
    }
}

impl From<CompatibleUsage> for Usage {
    /// Some endpoints leave the reasoning out of the completion, but not out of the total.
    fn from(used: CompatibleUsage) -> Self {
        let beyond_input =
            used.total_tokens.zip(used.prompt_tokens).map(|(all, input)| all.saturating_sub(input));
        let details = used.prompt_tokens_details.as_ref().and_then(|details| details.cached_tokens);
        Self {
            input: used.prompt_tokens,
            cached: details.or(used.prompt_cache_hit_tokens).or(used.cached_tokens),
            charged: used.charged(),
            output: used.completion_tokens.max(beyond_input),
            reasoning: used.completion_tokens_details.and_then(|details| details.reasoning_tokens),
        }
    }
}
