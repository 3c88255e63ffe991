//! What a provider means when it objects to an effort.

use super::super::{EffortSet, ThinkingEffort};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EffortComplaint {
    /// The effort that was sent is not supported; these are.
    ValueOf(EffortSet),
    /// The effort that was sent is not supported. Others may be.
    Value,
    /// The model takes no efforts, but may well think.
    TakesNone,
    NeverThinks,
}

impl EffortComplaint {
    /// Reads a message in lower case, which is about the effort `sent`.
    pub fn parse(message: &str, sent: ThinkingEffort) -> Self {
        let named: Vec<ThinkingEffort> = words(message).filter_map(effort).collect();
        let listed = EffortSet::of(&named).without(sent);
        if !listed.is_empty() {
            return Self::ValueOf(listed);
        }
        let is_off = sent == ThinkingEffort::None;
        if named.contains(&sent) || (is_off && MUST_THINK.iter().any(|phrase| message.contains(phrase))) {
            return Self::Value;
        }
        if NEVER_THINKS.iter().any(|phrase| message.contains(phrase)) {
            return Self::NeverThinks;
        }
        Self::TakesNone
    }
}

fn words(message: &str) -> impl Iterator<Item = &str> {
    message.split(|c: char| !c.is_alphanumeric() && c != '_' && c != '-')
}

fn effort(word: &str) -> Option<ThinkingEffort> {
    ThinkingEffort::ALL.into_iter().find(|effort| effort.name() == word)
}

/// How providers refuse to switch thinking off.
const MUST_THINK: &[&str] = &[
    "disabled",
    "budget 0",
    "thinking budget",
    "only works in thinking mode",
    "must be enabled",
    "is mandatory",
    "is required",
];

const NEVER_THINKS: &[&str] = &[
    "thinking is not enabled for this model",
    "thinking is not supported",
    "does not support thinking",
    "doesn't support thinking",
    "does not support reasoning.",
    "reasoning is not supported",
    "not a reasoning model",
    "not a thinking model",
    "non-reasoning model",
];

#[cfg(test)]
mod tests {
    use super::EffortComplaint::*;
    use super::*;

    #[test]
    fn complaints_about_efforts_are_understood_in_the_words_of_providers() {
        use ThinkingEffort::*;
        for (sent, message, meaning) in [
            (
                None,
                "Unsupported value: 'none' is not supported with the '' model. Supported values are: 'minimal', 'low', \
                 'medium', and 'high'.",
                ValueOf(EffortSet::of(&[Minimal, Low, Medium, High])),
            ),
            (
                Xhigh,
                "This model does not support effort level 'xhigh'. Supported levels: high, low, max, medium.",
                ValueOf(EffortSet::of(&[Low, Medium, High, Max])),
            ),
            (
                Xhigh,
                "output_config.effort 'xhigh' is not supported when thinking is disabled on this model. Use effort \
                 'high' or below, or enable thinking.",
                ValueOf(EffortSet::of(&[High])),
            ),
            (
                Medium,
                "`reasoning_effort` must be one of `none` or `default`",
                ValueOf(EffortSet::of(&[None])),
            ),
            (
                Max,
                "body.reasoning_effort: Input should be 'none' or 'high'",
                ValueOf(EffortSet::of(&[None, High])),
            ),
            (
                Minimal,
                "Thinking level MINIMAL is not supported for this model. Please retry with other thinking level.",
                Value,
            ),
            (None, "Budget 0 is invalid. This model only works in thinking mode.", Value),
            (None, "thinking.type: disabled is not supported for this model", Value),
            (High, "Thinking level is not supported for this model.", TakesNone),
            (High, "output_config.effort: this model does not support the effort parameter", TakesNone),
            (None, "Argument not supported on this model: reasoning_effort", TakesNone),
            (None, "Thinking is not enabled for this model.", NeverThinks),
            (High, "adaptive thinking is not supported on this model", NeverThinks),
        ] {
            assert_eq!(EffortComplaint::parse(&message.to_lowercase(), sent), meaning, "{message}");
        }
    }
}
