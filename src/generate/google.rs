//! Google's Gemini API.

use reqwest::Url;
use reqwest::header::HeaderName;
use serde::Deserialize;
use serde_json::{Value, json};

use super::talk::{Complaint, Dialect, Ear, Event, Flow, Heard, Trouble, Wishes, join, put};
use super::{FailureKind, Question, Speaker, ThinkingEffort, Usage, schema};

pub(super) struct Google;

impl Dialect for Google {
    fn name(&self) -> &'static str {
        "Google"
    }

    fn url(&self, base: &Url, model: &str) -> Url {
        let model = if model.contains('/') { model.to_owned() } else { format!("models/{model}") };
        let mut url = join(base, Some("v1beta"), format!("{model}:streamGenerateContent").split('/'));
        url.set_query(Some("alt=sse"));
        url
    }

    fn key_header(&self) -> (HeaderName, &'static str) {
        (HeaderName::from_static("x-goog-api-key"), "")
    }

    fn wishes(&self, question: &Question) -> Wishes {
        let mut wishes = Wishes::of(question);
        wishes.summary = true;
        wishes
    }

    fn body(&self, question: &Question, wishes: &Wishes) -> serde_json::Result<Vec<u8>> {
        let content = |speaker, text: &str| {
            let role = match speaker {
                Speaker::User => "user",
                Speaker::Model => "model",
            };
            json!({ "role": role, "parts": [{ "text": text }] })
        };
        let contents: Vec<Value> = question.turns.iter().map(|turn| content(turn.by, &turn.text)).collect();
        let mut how = json!({});
        put(&mut how, "maxOutputTokens", wishes.max_tokens);
        put(&mut how, "temperature", wishes.temperature);
        put(&mut how, "thinkingConfig", thinking(wishes.effort, wishes.summary));
        if let Some(schema) = &wishes.schema {
            put(&mut how, "responseMimeType", Some("application/json"));
            put(&mut how, "responseJsonSchema", Some(schema::plain(schema)));
        }

        let mut body = json!({ "contents": contents });
        let system = (!question.system.is_empty()).then(|| json!({ "parts": [{ "text": question.system }] }));
        put(&mut body, "systemInstruction", system);
        put(&mut body, "generationConfig", Some(how).filter(|how| *how != json!({})));
        serde_json::to_vec(&body)
    }

    fn ear(&self) -> Box<dyn Ear> {
        Box::new(Candidate::default())
    }
}

/// Thoughts are the only sign of life while a model thinks.
fn thinking(effort: Option<ThinkingEffort>, thoughts: bool) -> Option<Value> {
    let Some(effort) = effort else { return thoughts.then(|| json!({ "includeThoughts": true })) };
    let level = match effort {
        ThinkingEffort::None => return Some(json!({ "thinkingBudget": 0 })),
        ThinkingEffort::Minimal => "MINIMAL",
        ThinkingEffort::Low => "LOW",
        ThinkingEffort::Medium => "MEDIUM",
        ThinkingEffort::High => "HIGH",
        ThinkingEffort::Xhigh | ThinkingEffort::Max => "XHIGH",
    };
    Some(json!({ "thinkingLevel": level, "includeThoughts": thoughts }))
}

/// The first candidate as it streams in. Nothing numbers the pieces, so they are taken as they come.
#[derive(Default)]
struct Candidate {
    finish: Option<String>,
    blocked: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Chunk {
    #[serde(default)]
    candidates: Vec<Piece>,
    prompt_feedback: Option<Feedback>,
    usage_metadata: Option<Used>,
    error: Option<Value>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Piece {
    content: Option<Content>,
    finish_reason: Option<String>,
    #[serde(default)]
    index: u64,
}

#[derive(Deserialize)]
struct Content {
    #[serde(default)]
    parts: Vec<Part>,
}

#[derive(Deserialize)]
struct Part {
    text: Option<String>,
    #[serde(default)]
    thought: bool,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Feedback {
    block_reason: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Used {
    prompt_token_count: Option<u64>,
    candidates_token_count: Option<u64>,
    thoughts_token_count: Option<u64>,
}

impl Ear for Candidate {
    fn hear(&mut self, event: &Event, heard: &mut Heard<'_>) -> Result<Flow, Trouble> {
        let chunk: Chunk = event.json()?;
        if let Some(error) = chunk.error {
            return Err(Complaint::of(&error, None).into_trouble(None));
        }
        heard.usage(chunk.usage_metadata.map(Usage::from).unwrap_or_default());
        self.blocked =
            chunk.prompt_feedback.and_then(|feedback| feedback.block_reason).or(self.blocked.take());
        for piece in chunk.candidates.into_iter().filter(|piece| piece.index == 0) {
            for part in piece.content.map(|content| content.parts).unwrap_or_default() {
                match part.text {
                    Some(text) if part.thought => heard.thinking(&text),
                    Some(text) => heard.text(&text)?,
                    None => {}
                }
            }
            self.finish = piece.finish_reason.or(self.finish.take());
        }
        Ok(Flow::More)
    }

    fn is_complete(&self) -> bool {
        self.finish.is_some() || self.blocked.is_some()
    }

    fn end(&mut self, _heard: &mut Heard<'_>) -> Result<(), Trouble> {
        if let Some(reason) = &self.blocked {
            let message = format!("the question was withheld from the model: {reason}");
            return Err(Trouble::new(FailureKind::Filtered, message));
        }
        let Some(reason) = self.finish.as_deref() else { return Err(Trouble::cut_off()) };
        let kind = match reason {
            "STOP" => return Ok(()),
            "MAX_TOKENS" | "CONTINUATION" => return Err(Trouble::truncated()),
            "SAFETY"
            | "RECITATION"
            | "LANGUAGE"
            | "BLOCKLIST"
            | "PROHIBITED_CONTENT"
            | "SPII"
            | "ESCALATION"
            | "MODEL_ARMOR"
            | "PUP_LIMITED_DISABLED" => FailureKind::Filtered,
            _ => FailureKind::BadAnswer,
        };
        Err(Trouble::new(kind, format!("the answer ended with {reason}")))
    }
}

impl From<Used> for Usage {
    fn from(used: Used) -> Self {
        let (text, thoughts) = (used.candidates_token_count, used.thoughts_token_count);
        let output = text.or(thoughts).map(|_| text.unwrap_or(0) + thoughts.unwrap_or(0));
        Self { input: used.prompt_token_count, output, reasoning: thoughts }
    }
}
