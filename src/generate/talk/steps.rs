//! What is wished for beyond the question itself, and how wishes are given up when a provider refuses them.

use std::mem;
use std::sync::Arc;

use reqwest::StatusCode;
use serde_json::Value;

use super::super::{FailureKind, Note, Question, Step, ThinkingEffort};
use super::Trouble;

/// A limit below this is no limit that a provider names, but some other number in what it says.
const FEWEST_TOKENS: u32 = 256;

/// What is asked for now. Giving up a wish is final, so that each is given up once.
#[derive(Clone, Debug)]
pub(in super::super) struct Wishes {
    pub schema: Option<Arc<Value>>,
    pub effort: Option<ThinkingEffort>,
    pub summary: bool,
    pub temperature: Option<f64>,
    pub max_tokens: Option<u32>,
    /// Whether the provider answers without a limit.
    pub limit_is_optional: bool,
    pub new_name_for_limit: bool,
    pub streamed_usage: bool,
    fewer_tokens: bool,
}

impl Wishes {
    pub fn of(question: &Question) -> Self {
        Self {
            schema: question.schema.clone(),
            effort: question.options.effort,
            summary: question.options.effort.is_some(),
            temperature: question.options.temperature,
            max_tokens: question.max_output_tokens,
            limit_is_optional: true,
            new_name_for_limit: false,
            streamed_usage: true,
            fewer_tokens: false,
        }
    }

    /// Gives up the wish that the provider complains of, if it is one.
    pub(super) fn step_down(&mut self, trouble: &Trouble, model: &str) -> Option<Note> {
        if !matches!(trouble.kind, FailureKind::BadRequest | FailureKind::NoSuchModel) {
            return None;
        }
        // The model's own name may hold a word such as "thinking".
        let said = format!("{} {}", trouble.param.as_deref().unwrap_or(""), trouble.message);
        let said = said.replace(model, "").to_lowercase();
        let step =
            self.tokens(&said).or_else(|| self.option(&said)).or_else(|| self.guess(trouble, &said))?;
        Some(Note { step, why: trouble.message.clone() })
    }

    fn tokens(&mut self, said: &str) -> Option<Step> {
        let from = self.max_tokens?;
        let of_limit =
            mentions(said, &["max_tokens", "max_output_tokens", "max_completion_tokens", "maxoutputtokens"]);
        let of_context = mentions(
            said,
            &["context length", "context limit", "context window", "output tokens", "completion tokens"],
        );
        if !of_limit && !of_context {
            return None;
        }
        if !self.new_name_for_limit && said.contains("use 'max_completion_tokens'") {
            self.new_name_for_limit = true;
            return Some(Step::NewNameForTokenLimit);
        }
        if !self.fewer_tokens
            && let Some(to) = limit_named(said, from)
        {
            self.fewer_tokens = true;
            self.max_tokens = Some(to);
            return Some(Step::FewerTokens { from, to });
        }
        (of_limit && self.limit_is_optional).then(|| {
            self.max_tokens = None;
            Step::NoTokenLimit
        })
    }

    fn option(&mut self, said: &str) -> Option<Step> {
        let of_schema = mentions(said, SCHEMA);
        if self.temperature.is_some() && said.contains("temperature") {
            self.temperature = None;
            return Some(Step::NoTemperature);
        }
        if self.streamed_usage && mentions(said, &["stream_options", "include_usage"]) {
            self.streamed_usage = false;
            return Some(Step::NoStreamedUsage);
        }
        let of_thinking = mentions(said, &["thinking", "thought"]);
        let of_summary = mentions(said, &["summary", "summaries"]) || (of_thinking && self.effort.is_none());
        if self.summary && !of_schema && of_summary {
            self.summary = false;
            return Some(Step::NoThinkingSummary);
        }
        if self.effort.is_some() && !of_schema && mentions(said, &["effort", "reasoning", "thinking"]) {
            self.effort = None;
            self.summary = false;
            return Some(Step::NoEffort);
        }
        if of_schema {
            return self.schema.take().map(|_| Step::NoSchema);
        }
        None
    }

    /// Who only says that something is wrong most often means the schema.
    fn guess(&mut self, trouble: &Trouble, said: &str) -> Option<Step> {
        let is_refusal =
            matches!(trouble.status, Some(StatusCode::BAD_REQUEST | StatusCode::UNPROCESSABLE_ENTITY));
        let is_unclear = is_refusal && trouble.kind == FailureKind::BadRequest;
        if !is_unclear && !mentions(said, VAGUE) {
            return None;
        }
        if self.schema.take().is_some() {
            return Some(Step::NoSchema);
        }
        mem::take(&mut self.summary).then_some(Step::NoThinkingSummary)
    }
}

const SCHEMA: &[&str] = &[
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

const VAGUE: &[&str] = &[
    "invalid argument",
    "invalid request data",
    "provider returned error",
    "requested parameters",
    "output_config",
];

fn mentions(said: &str, words: &[&str]) -> bool {
    words.iter().any(|word| said.contains(word))
}

/// The number of tokens that a provider would give, as far as its complaint tells.
fn limit_named(said: &str, asked: u32) -> Option<u32> {
    let asked = u64::from(asked);
    let mut named = numbers(said);
    named.sort_unstable();
    named.dedup();
    let others: Vec<u64> = named.iter().copied().filter(|number| *number != asked).collect();
    // The sum of what was put in and what was asked for is often told as well.
    let is_sum = |number: &u64| others.iter().any(|other| other + asked == *number);
    let limits: Vec<u64> = others.iter().copied().filter(|number| !is_sum(number)).collect();
    let limit = match limits[..] {
        [input, context] if said.contains("context") => context - input,
        _ => limits.into_iter().rfind(|number| *number < asked)?,
    };
    u32::try_from(limit).ok().filter(|limit| *limit >= FEWEST_TOKENS && u64::from(*limit) < asked)
}

/// The whole numbers of a text that are no part of a name, `8,192` and `8193 (exclusive)` among them.
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

/// The number at the beginning of a text, with commas only where thousands have them.
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

    #[test]
    fn the_limit_is_found_in_what_providers_say() {
        for (asked, said, limit) in [
            (
                128_001,
                "max_tokens: 128001 > 64000, which is the maximum allowed number of output tokens for claude-opus-4-5-20251101",
                Some(64_000),
            ),
            (
                200_000,
                "invalid 'max_output_tokens': integer above maximum value. expected a value <= 128000, but got 200000 instead.",
                Some(128_000),
            ),
            (
                6000,
                "max_tokens is too large: 6000. this model supports at most 4096 completion tokens, whereas you provided 6000.",
                Some(4096),
            ),
            (
                65_536,
                "unable to submit request because it has a maxoutputtokens value of 65536 but the supported range is from 1 (inclusive) to 65536 (exclusive).",
                Some(65_535),
            ),
            (64_000, "invalid max_tokens value, the valid range of max_tokens is [1, 8192]", Some(8192)),
            (64_000, "the valid range of max_tokens is [1,8192]", Some(8192)),
            (64_000, "`max_tokens` must be at most 32,768", Some(32_768)),
            (
                32_000,
                "'max_tokens' is too large: 32000. this model's maximum context length is 32768 tokens and your request has 1000 input tokens (32000 > 32768 - 1000).",
                Some(31_768),
            ),
            (
                21_333,
                "input length and `max_tokens` exceed context limit: 190000 + 21333 > 200000, decrease input length or `max_tokens`",
                Some(10_000),
            ),
            (
                132_000,
                "this endpoint's maximum context length is 131072 tokens. however, you requested about 140000 tokens (8000 of text input, 132000 in the output).",
                Some(123_072),
            ),
            (8000, "your prompt has 300000 tokens, more than the context length of 131072", None),
            (8000, "max_tokens is not something we like", None),
            (8000, "max_tokens: at least 1", None),
        ] {
            assert_eq!(limit_named(said, asked), limit, "{said}");
        }
    }

    #[test]
    fn numbers_are_not_taken_from_names() {
        assert_eq!(numbers("gpt-5.2-pro v3 0.7 8k a_9 12 34,567 1,23 [7]"), [12, 34_567, 1, 23, 7]);
    }
}
