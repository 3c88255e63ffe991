//! What an attempt was sent with, what it used, and what it cost.

use serde::{Deserialize, Serialize};

use crate::arena::catalog::{AgentSource, ThinkingEffort};

/// The options of the last request of an attempt as they were sent, after those that the provider does not support were
/// changed. What is none was left to the provider.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SentOptions {
    pub effort: Option<ThinkingEffort>,
    pub temperature: Option<f64>,
    pub max_output_tokens: Option<u32>,
    /// Whether the provider was told the form of the answer.
    pub schema: bool,
    /// Which agent it was sent to, as that said itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<AgentSource>,
}

/// Tokens, as far as the provider reports them. The output includes the reasoning, and the input what was cached.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    pub input: Option<u64>,
    /// Input that the provider read from its cache.
    pub cached: Option<u64>,
    pub output: Option<u64>,
    pub reasoning: Option<u64>,
    /// What the provider itself says that it charges, in millionths of a dollar.
    pub charged: Option<u64>,
}

/// What a provider can charge for an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Billing {
    /// The provider refused the request before the model began to answer.
    Nothing,
    /// What the provider has reported.
    Reported,
    /// The end of the answer was lost, and with it a part of the report. At least this was used.
    AtLeast(Usage),
}

/// What an attempt has cost, in millionths of a dollar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AttemptCost {
    pub micros: i64,
    /// Whether it may have been more.
    pub is_minimum: bool,
}

impl Usage {
    /// Takes over what is reported anew, and keeps the rest.
    pub fn update(&mut self, newer: Self) {
        self.input = newer.input.or(self.input);
        self.cached = newer.cached.or(self.cached);
        self.output = newer.output.or(self.output);
        self.reasoning = newer.reasoning.or(self.reasoning);
        self.charged = newer.charged.or(self.charged);
    }

    /// The sum of both. A count that neither knows stays unknown.
    pub fn plus(&self, other: &Self) -> Self {
        let sum = |a: Option<u64>, b: Option<u64>| match (a, b) {
            (None, None) => None,
            (a, b) => Some(a.unwrap_or(0).saturating_add(b.unwrap_or(0))),
        };
        Self {
            input: sum(self.input, other.input),
            cached: sum(self.cached, other.cached),
            output: sum(self.output, other.output),
            reasoning: sum(self.reasoning, other.reasoning),
            charged: sum(self.charged, other.charged),
        }
    }

    /// Input, cached input, output and reasoning as the database counts.
    pub(super) fn columns(&self) -> [Option<i64>; 4] {
        [self.input, self.cached, self.output, self.reasoning].map(|tokens| i64::try_from(tokens?).ok())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn usage_adds_up_and_what_nobody_knows_stays_unknown() {
        let usage = |input, output, reasoning| Usage { input, output, reasoning, ..Usage::default() };
        let sum = usage(Some(1), None, None).plus(&usage(Some(2), Some(3), None));
        assert_eq!(sum, usage(Some(3), Some(3), None));
        assert_eq!(usage(Some(u64::MAX), None, None).plus(&usage(Some(1), None, None)).input, Some(u64::MAX));
    }
}
