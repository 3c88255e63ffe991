//! The optional parts of a request, and how they are changed or left out when a provider does not support them.

use std::borrow::Cow;
use std::mem;
use std::sync::Arc;

use reqwest::StatusCode;
use serde_json::Value;

use super::super::{
    Adjustment, ChatPrompt, CompletionRequest, EffortSet, GenerateError, GenerateErrorKind, ModelOptions,
    Note, SentOptions, ThinkingEffort,
};
use super::efforts::EffortComplaint;
use crate::arena::catalog::MIN_OUTPUT_TOKENS;

/// What is still part of the request. Nothing that was left out comes back, no effort is tried twice, and the token
/// limit is lowered once, so the number of repetitions is bounded.
#[derive(Clone, Debug)]
pub(in super::super) struct RequestOptions {
    pub schema: Option<Arc<Value>>,
    pub effort: Option<ThinkingEffort>,
    pub summary: bool,
    pub temperature: Option<f64>,
    /// A limit that was asked for can be lowered, but is never left out: it bounds what an answer costs.
    pub max_tokens: Option<u32>,
    pub use_max_completion_tokens: bool,
    /// Whether the limit may be sent by its other name.
    pub limit_has_other_name: bool,
    pub streamed_usage: bool,
    /// Whether thoughts are to be kept apart from the answer, where a provider does not do so by itself.
    pub split_reasoning: bool,
    /// Whether the provider is to go on without us.
    pub background: bool,
    /// Whether the system text stands in the first turn of the user.
    system_in_turn: bool,
    asked_effort: Option<ThinkingEffort>,
    /// The efforts that the provider has not refused.
    efforts: EffortSet,
    limit_lowered: bool,
    /// The limit before it was lowered, if that was because the prompt left no more room.
    limit_before_prompt: Option<u32>,
}

impl RequestOptions {
    pub fn new(request: &CompletionRequest) -> Self {
        let ModelOptions { effort, temperature, max_output_tokens, efforts, background } = request.options;
        Self {
            schema: request.schema.clone(),
            effort,
            summary: effort.is_some(),
            temperature,
            max_tokens: max_output_tokens,
            use_max_completion_tokens: false,
            limit_has_other_name: false,
            streamed_usage: true,
            split_reasoning: false,
            background,
            system_in_turn: false,
            asked_effort: effort,
            efforts: if efforts.is_empty() { EffortSet::ALL } else { efforts },
            limit_lowered: false,
            limit_before_prompt: None,
        }
    }

    pub(super) fn sent(&self) -> SentOptions {
        SentOptions {
            effort: self.effort,
            temperature: self.temperature,
            max_output_tokens: self.max_tokens,
            schema: self.schema.is_some(),
            agent: None,
        }
    }

    /// The system text, where it has a place of its own, and what the user says.
    pub fn texts<'a>(&self, prompt: &'a ChatPrompt) -> (Option<&'a str>, Cow<'a, str>) {
        let ChatPrompt { system, user, .. } = prompt;
        match Some(system.as_str()).filter(|system| !system.is_empty()) {
            Some(system) if self.system_in_turn => (None, format!("{system}\n\n{user}").into()),
            system => (system, user.as_str().into()),
        }
    }

    /// Rounds the effort to one that the protocol has and the catalog allows, before anything is sent.
    ///
    /// # Errors
    /// If there is none near it, with a sentence.
    pub(super) fn round_effort(&mut self, in_protocol: EffortSet) -> Result<Option<Note>, String> {
        let Some(asked) = self.effort else { return Ok(None) };
        self.efforts = self.efforts.and(in_protocol);
        if self.efforts.contains(asked) {
            return Ok(None);
        }
        let why = format!("this model can be asked for {}", self.efforts);
        let to = self.efforts.nearest(asked).ok_or_else(|| no_effort(asked, &why))?;
        self.effort = Some(to);
        Ok(Some(Note { step: Adjustment::Effort { from: asked, to }, why }))
    }

    /// Changes what the provider objects to, if the error says what.
    ///
    /// # Errors
    /// If that was asked for explicitly and nothing comes near it, with a sentence.
    pub(super) fn adjust(
        &mut self,
        error: &GenerateError,
        request: &CompletionRequest,
    ) -> Result<Option<Note>, String> {
        if !matches!(error.kind, GenerateErrorKind::BadRequest | GenerateErrorKind::NoSuchModel) {
            return Ok(None);
        }
        // The model's name may contain a word such as "thinking".
        let message = format!("{} {}", error.param.as_deref().unwrap_or(""), error.message);
        let message = message.replace(&request.model, "").to_lowercase();
        let step = self
            .change_token_limit(&message)
            .or_else(|| self.drop_option(&message, !request.prompt.system.is_empty()))
            .map(Ok)
            .or_else(|| self.change_effort(&message, &error.message))
            .or_else(|| mentions(&message, SCHEMA_PHRASES).then(|| self.drop_schema())?.map(Ok))
            .or_else(|| self.keep_token_limit(&message, &error.message).map(Err))
            .or_else(|| self.drop_best_guess(error, &message).map(Ok));
        Ok(step.transpose()?.map(|step| Note { step, why: error.message.clone() }))
    }

    /// Undoes a limit that was lowered because of the prompt's length. Returns whether there was one.
    pub(super) fn forget_limit_of_prompt(&mut self) -> bool {
        let asked = self.limit_before_prompt.take();
        if asked.is_some() {
            self.max_tokens = asked;
            self.limit_lowered = false;
        }
        asked.is_some()
    }

    /// Lowers the limit to what the provider allows. It is not left out, since that would lift a cap that was asked for.
    fn change_token_limit(&mut self, message: &str) -> Option<Adjustment> {
        let from = self.max_tokens?;
        let of_limit = mentions(message, LIMIT_PHRASES);
        if !of_limit && !mentions(message, CONTEXT_PHRASES) {
            return None;
        }
        if !self.limit_lowered
            && let Some(to) = parse_token_limit(message, from)
        {
            self.limit_lowered = true;
            self.limit_before_prompt = message.contains("context").then_some(from);
            self.max_tokens = Some(to);
            return Some(Adjustment::FewerTokens { from, to });
        }
        let has_other_name = of_limit && mem::take(&mut self.limit_has_other_name);
        self.use_max_completion_tokens |= has_other_name;
        has_other_name.then_some(Adjustment::NewNameForTokenLimit)
    }

    /// Why a request without its limit is not sent.
    fn keep_token_limit(&self, message: &str, said: &str) -> Option<String> {
        let limit = self.max_tokens.filter(|_| mentions(message, LIMIT_PHRASES))?;
        Some(format!(
            "the limit of {limit} output tokens is not supported, and a request without it could cost more. Choose another \
             limit for this model, or none: {said}"
        ))
    }

    fn drop_option(&mut self, message: &str, has_system: bool) -> Option<Adjustment> {
        if self.temperature.is_some() && message.contains("temperature") {
            self.temperature = None;
            return Some(Adjustment::NoTemperature);
        }
        if self.streamed_usage && mentions(message, &["stream_options", "include_usage"]) {
            self.streamed_usage = false;
            return Some(Adjustment::NoStreamedUsage);
        }
        if self.split_reasoning && message.contains("reasoning_split") {
            self.split_reasoning = false;
            return Some(Adjustment::NoReasoningSplit);
        }
        if self.background && message.contains("background") {
            self.background = false;
            return Some(Adjustment::NoBackground);
        }
        if has_system && !self.system_in_turn && mentions(message, SYSTEM_ROLE_PHRASES) {
            self.system_in_turn = true;
            return Some(Adjustment::SystemInFirstTurn);
        }
        let of_thinking = mentions(message, &["thinking", "thought"]);
        let of_summary =
            mentions(message, &["summary", "summaries"]) || (of_thinking && self.effort.is_none());
        if self.summary && of_summary && !mentions(message, SCHEMA_PHRASES) {
            self.summary = false;
            return Some(Adjustment::NoThinkingSummary);
        }
        None
    }

    /// Rounds the effort to one that the provider takes. Without it, the provider's default would be used, which may be
    /// the opposite of what was asked, so then the request is not sent.
    fn change_effort(&mut self, message: &str, said: &str) -> Option<Result<Adjustment, String>> {
        let (asked, sent) = self.asked_effort.zip(self.effort)?;
        if mentions(message, SCHEMA_PHRASES) || !mentions(message, &["effort", "reasoning", "thinking"]) {
            return None;
        }
        self.efforts = self.efforts.without(sent);
        let known = match EffortComplaint::parse(message, sent) {
            EffortComplaint::NeverThinks if sent == ThinkingEffort::None => {
                self.effort = None;
                self.summary = false;
                return Some(Ok(Adjustment::NoEffort));
            }
            EffortComplaint::NeverThinks | EffortComplaint::TakesNone => EffortSet::default(),
            EffortComplaint::Value => self.efforts,
            EffortComplaint::ValueOf(listed) => self.efforts.and(listed),
        };
        self.efforts = known;
        Some(match known.nearest(asked) {
            Some(to) => {
                self.effort = Some(to);
                Ok(Adjustment::Effort { from: asked, to })
            }
            None => Err(no_effort(asked, said)),
        })
    }

    fn drop_schema(&mut self) -> Option<Adjustment> {
        self.schema.take().map(|_| Adjustment::NoSchema)
    }

    /// A provider that only says that something is wrong most often means the schema.
    fn drop_best_guess(&mut self, error: &GenerateError, message: &str) -> Option<Adjustment> {
        let is_refusal =
            matches!(error.status, Some(StatusCode::BAD_REQUEST | StatusCode::UNPROCESSABLE_ENTITY));
        let is_unclear = is_refusal && error.kind == GenerateErrorKind::BadRequest;
        if !is_unclear && !mentions(message, VAGUE_PHRASES) {
            return None;
        }
        self.drop_schema().or_else(|| mem::take(&mut self.summary).then_some(Adjustment::NoThinkingSummary))
    }
}

fn no_effort(asked: ThinkingEffort, said: &str) -> String {
    let asked = asked.name();
    format!(
        "the effort {asked} is not supported, and no similar one is known. Choose another effort for this model, or leave \
         it to the provider: {said}"
    )
}

const LIMIT_PHRASES: &[&str] =
    &["max_tokens", "max_output_tokens", "max_completion_tokens", "maxoutputtokens"];

const CONTEXT_PHRASES: &[&str] =
    &["context length", "context limit", "context window", "output tokens", "completion tokens"];

const SYSTEM_ROLE_PHRASES: &[&str] = &[
    "system role",
    "role system",
    "role 'system'",
    "role \"system\"",
    "role `system`",
    "role: system",
    "system message",
    "system instruction",
    "developer instruction",
    "user and assistant roles",
];

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
    u32::try_from(limit).ok().filter(|limit| *limit >= MIN_OUTPUT_TOKENS && u64::from(*limit) < requested)
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
