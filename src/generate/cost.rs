//! What an answer costs.

use std::fmt;

use super::{ProviderKind, Usage};
use crate::arena::budgets::{TYPICAL_INPUT_TOKENS, TYPICAL_OUTPUT_TOKENS};
use crate::arena::catalog::Prices;
use crate::arena::jobs::attempts::{Attempt, AttemptCost, Billing};

/// Millionths of a dollar.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct MicroDollars(pub u64);

/// What a build takes as long as nothing is known of its model.
pub const TYPICAL_USAGE: Usage = Usage {
    input: Some(TYPICAL_INPUT_TOKENS),
    cached: None,
    output: Some(TYPICAL_OUTPUT_TOKENS),
    reasoning: None,
    charged: None,
};

/// A token has fewer characters than this on average: about four in English, and two or three in the JSON of a build.
const MAX_CHARS_PER_TOKEN: usize = 5;

/// The cost of what was used: what the provider says that it charges, or else what follows from the prices, if the
/// provider reported all it takes. Reasoning is a part of the output, also where a provider reports only the reasoning.
pub fn cost(prices: Option<Prices>, usage: &Usage) -> Option<MicroDollars> {
    if let Some(charged) = usage.charged {
        return Some(MicroDollars(charged));
    }
    let prices = prices?;
    let (input, output) = (usage.input?, usage.output.max(usage.reasoning)?);
    let cached = usage.cached.unwrap_or(0).min(input);
    let cached_price = prices.cached_input.unwrap_or(prices.input);
    // Dollars for a million tokens are millionths of a dollar for one.
    let micros =
        prices.input * (input - cached) as f64 + cached_price * cached as f64 + prices.output * output as f64;
    Some(MicroDollars(micros.round() as u64))
}

/// What an attempt has cost, or has cost at least. None if that is not known.
pub fn attempt_cost(prices: Option<Prices>, attempt: &Attempt) -> Option<AttemptCost> {
    let (cost, is_minimum) = match attempt.billing {
        // Requests that are refused may have followed on one that was not.
        Billing::Nothing => (Some(cost(prices, &attempt.usage).unwrap_or_default()), false),
        Billing::Reported => (cost(prices, &attempt.usage), false),
        Billing::AtLeast(least) => (cost(prices, &least), least.charged.is_none()),
    };
    Some(AttemptCost { micros: i64::try_from(cost?.0).ok()?, is_minimum })
}

/// The least that an answer has used of which the end was lost: what was reported, or what the characters of the
/// request and of what has streamed in come to, whichever is more. All of the input may have been cached, unless that was
/// reported. Pictures are not counted, since what they take depends on the model.
pub fn least_usage(reported: &Usage, request_chars: usize, streamed_chars: usize) -> Usage {
    let tokens = |chars: usize| Some((chars / MAX_CHARS_PER_TOKEN) as u64);
    let input = reported.input.max(tokens(request_chars));
    let output = reported.output.max(tokens(streamed_chars));
    Usage { input, cached: reported.cached.or(input), output, ..*reported }
}

/// About how many tokens a picture of so many pixels is at a provider, for estimates before anything is sent; what is paid
/// for is in the usage that providers report. Where models of a provider differ, this is what the dearest of them take.
pub fn picture_tokens(provider: ProviderKind, width: u32, height: u32) -> u64 {
    let cover = |side: u32| u64::from(width.div_ceil(side)) * u64::from(height.div_ceil(side));
    match provider {
        // OpenAI's guide: at most 1,536 patches with 32 pixels on each side, and larger pictures are scaled down to that
        // many. A patch is from 1 to 1.62 tokens, except for models that are called nano.
        ProviderKind::OpenAi => (cover(32).min(1_536) * 162).div_ceil(100),
        // Anthropic's guide: a token for each patch with 28 pixels on each side. Larger pictures are scaled down.
        ProviderKind::Anthropic => cover(28).min(4_784),
        // Google's page on the resolution of media: 1,120 tokens for any picture at the default resolution of Gemini 3.
        ProviderKind::Google => 1_120,
        // xAI's guide: 256 tokens for each of at most six tiles with 448 pixels on each side, and 256 for the whole.
        // Moonshot's says 1,024 for any picture.
        ProviderKind::Compatible => ((cover(448).min(6) + 1) * 256).max(1_024),
        // Agents are not shown pictures.
        ProviderKind::A2a => 0,
    }
}

impl fmt::Display for MicroDollars {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "${}.{:04}", self.0 / 1_000_000, self.0 % 1_000_000 / 100)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_cost_what_the_price_list_says() {
        let prices = Prices { input: 2.5, cached_input: None, output: 15.0 };
        let usage = |input, output, reasoning| Usage { input, output, reasoning, ..Usage::default() };
        for (used, micros) in [
            (usage(Some(1_000_000), Some(1_000_000), None), Some(17_500_000)),
            (usage(Some(4_000), Some(20_000), Some(15_000)), Some(310_000)),
            (usage(Some(0), Some(0), None), Some(0)),
            (usage(Some(1), Some(0), None), Some(3)),
            (usage(Some(10), None, Some(100)), Some(1_525)),
            (usage(None, Some(20_000), None), None),
            (usage(Some(4_000), None, None), None),
            (usage(Some(u64::MAX), Some(u64::MAX), None), Some(u64::MAX)),
        ] {
            assert_eq!(cost(Some(prices), &used), micros.map(MicroDollars), "{used:?}");
        }
        let free = Prices { input: 0.0, cached_input: None, output: 0.0 };
        assert_eq!(cost(Some(free), &usage(Some(9), Some(9), None)), Some(MicroDollars(0)));
        assert_eq!(cost(None, &usage(Some(9), Some(9), None)), None);
    }

    #[test]
    fn cached_input_has_its_own_price_or_that_of_other_input() {
        let used = |cached| Usage { input: Some(1000), cached, output: Some(0), ..Usage::default() };
        for (cached_input, cached, micros) in [
            (Some(0.25), Some(800), 700),
            (None, Some(800), 2500),
            (Some(0.25), None, 2500),
            (Some(0.0), Some(1_000_000), 0),
        ] {
            let prices = Prices { input: 2.5, cached_input, output: 15.0 };
            assert_eq!(cost(Some(prices), &used(cached)), Some(MicroDollars(micros)), "{cached:?}");
        }
    }

    #[test]
    fn what_a_provider_charges_counts_more_than_prices() {
        let prices = Prices { input: 2.5, cached_input: None, output: 15.0 };
        let used = Usage { input: Some(1000), output: Some(1000), charged: Some(42), ..Usage::default() };
        assert_eq!(cost(Some(prices), &used), Some(MicroDollars(42)));
        assert_eq!(cost(None, &used), Some(MicroDollars(42)));
    }

    #[test]
    fn an_answer_that_broke_off_has_used_at_least_what_was_seen_of_it() {
        let reported = Usage { input: Some(100), ..Usage::default() };
        let least = least_usage(&reported, 50, 1000);
        assert_eq!((least.input, least.cached, least.output), (Some(100), Some(100), Some(200)));
        let least = least_usage(&Usage::default(), 50, 0);
        assert_eq!((least.input, least.output), (Some(10), Some(0)));
    }

    #[test]
    fn pictures_take_the_tokens_that_providers_state() {
        use ProviderKind::{A2a, Anthropic, Compatible, Google, OpenAi};
        for (provider, of_512, of_1024_by_768, of_10_000) in [
            (OpenAi, 415, 1_245, 2_489),
            (Anthropic, 361, 1_036, 4_784),
            (Google, 1_120, 1_120, 1_120),
            (Compatible, 1_280, 1_792, 1_792),
            (A2a, 0, 0, 0),
        ] {
            let tokens = |width, height| picture_tokens(provider, width, height);
            assert_eq!(
                [tokens(512, 512), tokens(1_024, 768), tokens(10_000, 10_000)],
                [of_512, of_1024_by_768, of_10_000],
                "{provider:?}"
            );
            assert!(
                tokens(1, 1) <= tokens(512, 512) && tokens(u32::MAX, u32::MAX) == of_10_000,
                "{provider:?}"
            );
        }
    }

    #[test]
    fn costs_are_shown_in_dollars() {
        for (micros, shown) in [(0, "$0.0000"), (310_000, "$0.3100"), (17_500_099, "$17.5000")] {
            assert_eq!(MicroDollars(micros).to_string(), shown);
        }
    }
}
