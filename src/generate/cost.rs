//! What an answer costs.

use std::fmt;

use super::Usage;
use crate::arena::catalog::Prices;

/// Millionths of a dollar.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct MicroDollars(pub u64);

/// What a build takes as long as nothing is known of its model. Models that think at length use several times as much.
pub const TYPICAL_USAGE: Usage = Usage { input: Some(4_000), output: Some(15_000), reasoning: None };

/// The cost of what was used, if the provider reported that. Reasoning is a part of the output, also where a provider
/// reports only the reasoning.
pub fn cost(prices: Prices, usage: &Usage) -> Option<MicroDollars> {
    let output = usage.output.max(usage.reasoning)?;
    // Dollars for a million tokens are millionths of a dollar for one.
    let micros = prices.input * usage.input? as f64 + prices.output * output as f64;
    Some(MicroDollars(micros.round() as u64))
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
        let prices = Prices { input: 2.5, output: 15.0 };
        let usage = |input, output, reasoning| Usage { input, output, reasoning };
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
            assert_eq!(cost(prices, &used), micros.map(MicroDollars), "{used:?}");
        }
        assert_eq!(
            cost(Prices { input: 0.0, output: 0.0 }, &usage(Some(9), Some(9), None)),
            Some(MicroDollars(0))
        );
    }

    #[test]
    fn costs_are_shown_in_dollars() {
        for (micros, shown) in [(0, "$0.0000"), (310_000, "$0.3100"), (17_500_099, "$17.5000")] {
            assert_eq!(MicroDollars(micros).to_string(), shown);
        }
    }
}
