//! The optional parts of a request, and how they are left out when a provider does not support them.

use std::mem;
use std::sync::Arc;

use reqwest::StatusCode;
use serde_json::Value;

use super::super::{
    Adjustment, CompletionRequest, GenerateError, GenerateErrorKind, ModelOptions, Note, SentOptions,
    ThinkingEffort,
};

/// A smaller number in a provider's message is not a token limit.
const MIN_TOKEN_LIMIT: u32 = 256;

/// What is still part of the request. Nothing that was left out comes back, so the number of repetitions is bounded.
#[derive(Clone, Debug)]
pub(in super::super) struct RequestOptions {
    pub schema: Option<Arc<Value>>,
    pub effort: Option<ThinkingEffort>,
    pub summary: bool,
    pub temperature: Option<f64>,
    pub max_tokens: Option<u32>,
    /// Whether the provider accepts requests without a limit.
    pub limit_is_optional: bool,
    pub use_max_completion_tokens: bool,
    pub streamed_usage: bool,
    pub limit_lowered: bool,
}

impl RequestOptions {
    pub fn new(request: &CompletionRequest) -> Self {
        let ModelOptions { effort, temperature, max_output_tokens } = request.options;
        Self {
            schema: request.schema.clone(),
            effort,
            summary: effort.is_some(),
            temperature,
            max_tokens: max_output_tokens,
            limit_is_optional: true,
            use_max_completion_tokens: false,
            streamed_usage: true,
            limit_lowered: false,
        }
    }

    pub(super) fn sent(&self) -> SentOptions {
        SentOptions {
            effort: self.effort,
            temperature: self.temperature,
            max_output_tokens: self.max_tokens,
            schema: self.schema.is_some(),
        }
    }

    /// Leaves out what the provider objects to, if the error says what.
    pub(super) fn drop_unsupported(&mut self, error: &GenerateError, model: &str) -> Option<Note> {
        if !matches!(error.kind, GenerateErrorKind::BadRequest | GenerateErrorKind::NoSuchModel) {
            return None;
        }
        // The model's name may contain a word such as "thinking".
        let message = format!("{} {}", error.param.as_deref().unwrap_or(""), error.message);
        let message = message.replace(model, "").to_lowercase();
        let step = self
            .drop_token_limit(&message)
            .or_else(|| self.drop_option(&message))
            .or_else(|| self.drop_best_guess(error, &message))?;
        Some(Note { step, why: error.message.clone() })
    }

    fn drop_token_limit(&mut self, message: &str) -> Option<Adjustment> {
        let from = self.max_tokens?;
        let of_limit = mentions(
            message,
            &["max_tokens", "max_output_tokens", "max_completion_tokens", "maxoutputtokens"],
        );
        let of_context = mentions(
            message,
            &["context length", "context limit", "context window", "output tokens", "completion tokens"],
        );
        if !of_limit && !of_context {
            return None;
        }
        if !self.use_max_completion_tokens && message.contains("use 'max_completion_tokens'") {
            self.use_max_completion_tokens = true;
            return Some(Adjustment::NewNameForTokenLimit);
        }
        if !self.limit_lowered
            && let Some(to) = parse_token_limit(message, from)
        {
            self.limit_lowered = true;
            self.max_tokens = Some(to);
            return Some(Adjustment::FewerTokens { from, to });
        }
        (of_limit && self.limit_is_optional).then(|| {
            self.max_tokens = None;
            Adjustment::NoTokenLimit
        })
    }

    fn drop_option(&mut self, message: &str) -> Option<Adjustment> {
        let of_schema = mentions(message, SCHEMA_PHRASES);
        if self.temperature.is_some() && message.contains("temperature") {
            self.temperature = None;
            return Some(Adjustment::NoTemperature);
        }
        if self.streamed_usage && mentions(message, &["stream_options", "include_usage"]) {
            self.streamed_usage = false;
            return Some(Adjustment::NoStreamedUsage);
        }
        let of_thinking = mentions(message, &["thinking", "thought"]);
        let of_summary =
            mentions(message, &["summary", "summaries"]) || (of_thinking && self.effort.is_none());
        if self.summary && !of_schema && of_summary {
            self.summary = false;
            return Some(Adjustment::NoThinkingSummary);
        }
        if self.effort.is_some() && !of_schema && mentions(message, &["effort", "reasoning", "thinking"]) {
            self.effort = None;
            self.summary = false;
            return Some(Adjustment::NoEffort);
        }
        if of_schema {
            return self.schema.take().map(|_| Adjustment::NoSchema);
        }
        None
    }

    /// A provider that only says that something is wrong most often means the schema.
    fn drop_best_guess(&mut self, error: &GenerateError, message: &str) -> Option<Adjustment> {
        let is_refusal =
            matches!(error.status, Some(StatusCode::BAD_REQUEST | StatusCode::UNPROCESSABLE_ENTITY));
        let is_unclear = is_refusal && error.kind == GenerateErrorKind::BadRequest;
        if !is_unclear && !mentions(message, VAGUE_PHRASES) {
            return None;
        }
        if self.schema.take().is_some() {
            return Some(Adjustment::NoSchema);
        }
        mem::take(&mut self.summary).then_some(Adjustment::NoThinkingSummary)
    }
}

const SCHEMA_PHRASES: &[&str] = &[
    "schema",
    "response_format",
    "text.format",
    "output_config.format",
    "output_format",
    "response_mime_type",
    "responsemimetype",
    "structured output",
    "json mode",
    "grammar",
    "too many states",
];

const VAGUE_PHRASES: &[&str] = &[
    "invalid argument",
    "invalid request data",
    "provider returned error",
    "requested parameters",
    "output_config",
];

fn mentions(message: &str, words: &[&str]) -> bool {
    words.iter().any(|word| message.contains(word))
}

/// The token limit that an error message names.
fn parse_token_limit(message: &str, requested: u32) -> Option<u32> {
    let requested = u64::from(requested);
    let mut named = numbers(message);
    named.sort_unstable();
    named.dedup();
    let others: Vec<u64> = named.iter().copied().filter(|number| *number != requested).collect();
    // Messages often name the sum of input and requested output as well.
    let is_sum = |number: &u64| others.iter().any(|other| other + requested == *number);
    let limits: Vec<u64> = others.iter().copied().filter(|number| !is_sum(number)).collect();
    let limit = match limits[..] {
        [input, context] if message.contains("context") => context - input,
        _ => limits.into_iter().rfind(|number| *number < requested)?,
    };
    u32::try_from(limit).ok().filter(|limit| *limit >= MIN_TOKEN_LIMIT && u64::from(*limit) < requested)
}

/// The whole numbers of a text that are not part of a name, also in the forms `8,192` and `8193 (exclusive)`.
fn numbers(text: &str) -> Vec<u64> {
    let mut numbers = Vec::new();
    let mut before = ' ';
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        if !c.is_ascii_digit() {
            before = c;
            rest = &rest[c.len_utf8()..];
            continue;
        }
        let (number, after) = number(rest);
        let is_part = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_');
        let decimal = after.starts_with('.') && after[1..].starts_with(|c: char| c.is_ascii_digit());
        if !is_part(before) && before != '.' && !after.starts_with(is_part) && !decimal {
            numbers.extend(number.map(|number| number - u64::from(after.starts_with(" (exclusive)"))));
        }
        before = '0';
        rest = after;
    }
    numbers
}

/// The number at the beginning of a text, with commas only between thousands.
fn number(text: &str) -> (Option<u64>, &str) {
    let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
    let mut end = digits(text);
    let mut number = text[..end].to_owned();
    if end <= 3 {
        while text[end..].starts_with(',') && digits(&text[end + 1..]) == 3 {
            number.push_str(&text[end + 1..end + 4]);
            end += 4;
        }
    }
    (number.parse().ok(), &text[end..])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The limit that was requested, the one that follows from the message, and the message of the provider.
    const MESSAGES: &str = "
128001 64000 max_tokens: 128001 > 64000, which is the maximum allowed number of output tokens for claude-opus-4-5-20251101
200000 128000 invalid 'max_output_tokens': integer above maximum value. expected a value <= 128000, but got 200000 instead.
6000 4096 max_tokens is too large: 6000. this model supports at most 4096 completion tokens, whereas you provided 6000.
65536 65535 unable to submit request because it has a maxoutputtokens value of 65536 but the supported range is from 1 (inclusive) to 65536 (exclusive).
64000 8192 invalid max_tokens value, the valid range of max_tokens is [1, 8192]
64000 8192 the valid range of max_tokens is [1,8192]
64000 32768 `max_tokens` must be at most 32,768
32000 31768 'max_tokens' is too large: 32000. this model's maximum context length is 32768 tokens and your request has 1000 input tokens (32000 > 32768 - 1000).
21333 10000 input length and `max_tokens` exceed context limit: 190000 + 21333 > 200000, decrease input length or `max_tokens`
132000 123072 this endpoint's maximum context length is 131072 tokens. however, you requested about 140000 tokens (8000 of text input, 132000 in the output).
8000 - your prompt has 300000 tokens, more than the context length of 131072
8000 - max_tokens is not something we like
8000 - max_tokens: at least 1
";

    #[test]
    fn the_limit_is_found_in_what_providers_say() {
        for line in MESSAGES.trim().lines() {
            let [requested, limit, message] = line.splitn(3, ' ').collect::<Vec<_>>()[..] else {
                panic!("{line}")
            };
            let found = parse_token_limit(message, requested.parse().unwrap());
            assert_eq!(found.map_or("-".to_owned(), |limit| limit.to_string()), limit, "{line}");
        }
    }

    #[test]
    fn numbers_are_not_taken_from_names() {
        assert_eq!(numbers("gpt-5.2-pro v3 0.7 8k a_9 12 34,567 1,23 [7]"), [12, 34_567, 1, 23, 7]);
    }
}
