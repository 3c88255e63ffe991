//! Google's Gemini API.

mod batches;

use reqwest::Url;
use reqwest::header::HeaderName;
use serde::Deserialize;
use serde_json::{Value, json};

use self::batches::GoogleBatches;
use super::batches::BatchProtocol;
use super::client::{
    Protocol, ReceivedAnswer, RequestOptions, SseEvent, StreamFlow, StreamParser, join_url, provider_error,
    set_field, unexpected_document,
};
use super::{
    CompletionRequest, EffortSet, GenerateError, GenerateErrorKind, Result, ThinkingEffort, Usage, schema,
};

pub(super) struct GoogleProtocol;

impl Protocol for GoogleProtocol {
    fn name(&self) -> &'static str {
        "Google"
    }

    fn url(&self, base: &Url, model: &str) -> Url {
        let method = format!("{}:streamGenerateContent", resource(model));
        let mut url = join_url(base, Some("v1beta"), method.split('/'));
        url.set_query(Some("alt=sse"));
        url
    }

    fn key_header(&self) -> (HeaderName, &'static str) {
        (HeaderName::from_static("x-goog-api-key"), "")
    }

    fn efforts(&self) -> EffortSet {
        EffortSet::ALL.without(ThinkingEffort::Xhigh).without(ThinkingEffort::Max)
    }

    fn options(&self, request: &CompletionRequest) -> RequestOptions {
        let mut options = RequestOptions::new(request);
        options.summary = true;
        options
    }

    fn body(&self, request: &CompletionRequest, options: &RequestOptions) -> serde_json::Result<Vec<u8>> {
        let (system, user) = options.texts(&request.prompt);
        let mut generation_config = json!({});
        set_field(&mut generation_config, "maxOutputTokens", options.max_tokens);
        set_field(&mut generation_config, "temperature", options.temperature);
        set_field(&mut generation_config, "thinkingConfig", thinking(options.effort, options.summary));
        if let Some(schema) = &options.schema {
            set_field(&mut generation_config, "responseMimeType", Some("application/json"));
            set_field(&mut generation_config, "responseJsonSchema", Some(schema::plain(schema)));
        }

        let shown = request.prompt.pictures.iter().flat_map(|picture| {
            let data = json!({ "mimeType": picture.format.media_type(), "data": picture.base64() });
            [json!({ "text": picture.label }), json!({ "inlineData": data })]
        });
        let parts: Vec<Value> = shown.chain([json!({ "text": user })]).collect();
        let mut body = json!({ "contents": [{ "role": "user", "parts": parts }] });
        let system = system.map(|text| json!({ "parts": [{ "text": text }] }));
        set_field(&mut body, "systemInstruction", system);
        set_field(
            &mut body,
            "generationConfig",
            Some(generation_config).filter(|config| *config != json!({})),
        );
        serde_json::to_vec(&body)
    }

    fn parser(&self) -> Box<dyn StreamParser> {
        Box::new(GoogleStreamParser::default())
    }

    fn batches(&self) -> Option<&'static dyn BatchProtocol> {
        Some(&GoogleBatches)
    }
}

/// The name of a model in addresses.
fn resource(model: &str) -> String {
    if model.contains('/') { model.to_owned() } else { format!("models/{model}") }
}

/// Thoughts are the only thing that streams in while a model thinks.
fn thinking(effort: Option<ThinkingEffort>, thoughts: bool) -> Option<Value> {
    let Some(effort) = effort else { return thoughts.then(|| json!({ "includeThoughts": true })) };
    if effort == ThinkingEffort::None {
        return Some(json!({ "thinkingBudget": 0 }));
    }
    let level = effort.name().to_uppercase();
    Some(json!({ "thinkingLevel": level, "includeThoughts": thoughts }))
}

/// Reads the first candidate. The pieces are not numbered, so they are taken in the order they come.
#[derive(Default)]
struct GoogleStreamParser {
    finish: Option<String>,
    blocked: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct GoogleChunk {
    #[serde(default)]
    candidates: Vec<GoogleCandidate>,
    prompt_feedback: Option<GooglePromptFeedback>,
    usage_metadata: Option<GoogleUsage>,
    error: Option<Value>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct GoogleCandidate {
    content: Option<GoogleContent>,
    finish_reason: Option<String>,
    #[serde(default)]
    index: u64,
}

#[derive(Deserialize)]
struct GoogleContent {
    #[serde(default)]
    parts: Vec<GooglePart>,
}

#[derive(Deserialize)]
struct GooglePart {
    text: Option<String>,
    #[serde(default)]
    thought: bool,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct GooglePromptFeedback {
    block_reason: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct GoogleUsage {
    prompt_token_count: Option<u64>,
    cached_content_token_count: Option<u64>,
    candidates_token_count: Option<u64>,
    thoughts_token_count: Option<u64>,
}

impl StreamParser for GoogleStreamParser {
    fn on_event(&mut self, event: &SseEvent, received: &mut ReceivedAnswer<'_>) -> Result<StreamFlow> {
        self.take(event.json()?, received)?;
        Ok(StreamFlow::Continue)
    }

    fn on_document(&mut self, body: String, received: &mut ReceivedAnswer<'_>) -> Result<()> {
        match serde_json::from_str::<GoogleChunk>(&body) {
            Ok(chunk) if !chunk.candidates.is_empty() || chunk.prompt_feedback.is_some() => {
                self.take(chunk, received)
            }
            _ => Err(unexpected_document(&body, received)),
        }
    }

    fn is_complete(&self) -> bool {
        self.finish.is_some() || self.blocked.is_some()
    }

    fn finish(&self) -> Result<()> {
        if let Some(reason) = &self.blocked {
            let message = format!("the provider blocked the prompt: {reason}");
            return Err(GenerateError::new(GenerateErrorKind::Filtered, message));
        }
        let Some(reason) = self.finish.as_deref() else { return Err(GenerateError::cut_off()) };
        let kind = match reason {
            "STOP" => return Ok(()),
            "MAX_TOKENS" | "CONTINUATION" => return Err(GenerateError::truncated()),
            "SAFETY"
            | "RECITATION"
            | "LANGUAGE"
            | "BLOCKLIST"
            | "PROHIBITED_CONTENT"
            | "SPII"
            | "ESCALATION"
            | "MODEL_ARMOR"
            | "PUP_LIMITED_DISABLED" => GenerateErrorKind::Filtered,
            _ => GenerateErrorKind::BadAnswer,
        };
        Err(GenerateError::new(kind, format!("the answer ended with {reason}")))
    }
}

impl GoogleStreamParser {
    fn take(&mut self, chunk: GoogleChunk, received: &mut ReceivedAnswer<'_>) -> Result<()> {
        if let Some(error) = chunk.error {
            return Err(provider_error(&error));
        }
        received.update_usage(chunk.usage_metadata.map(Usage::from).unwrap_or_default());
        self.blocked =
            chunk.prompt_feedback.and_then(|feedback| feedback.block_reason).or(self.blocked.take());
        for candidate in chunk.candidates.into_iter().filter(|candidate| candidate.index == 0) {
            for part in candidate.content.map(|content| content.parts).unwrap_or_default() {
                match part.text {
                    Some(text) if part.thought => received.thinking(&text),
                    Some(text) => received.push_text(&text)?,
                    None => {}
                }
            }
            self.finish = candidate.finish_reason.or(self.finish.take());
        }
        Ok(())
    }
}

impl From<GoogleUsage> for Usage {
    fn from(used: GoogleUsage) -> Self {
        let (text, thoughts) = (used.candidates_token_count, used.thoughts_token_count);
        let output = text.or(thoughts).map(|_| text.unwrap_or(0) + thoughts.unwrap_or(0));
        Self {
            input: used.prompt_token_count,
            cached: used.cached_content_token_count,
            output,
            reasoning: thoughts,
            charged: None,
        }
    }
}
