//! Intervals of means over pairs of builds, of shares, and of whatever changes like a mean.

use std::collections::BTreeMap;

use statrs::distribution::{ContinuousCDF, Normal, StudentsT};
use uuid::Uuid;

use super::{MIN_PAIRS, MeasuredValue};

/// The confidence at which intervals are computed. They are called intervals of 95 %, and are meant to hold that often
/// for every kind of judge and however few pairs there are, and not only on average: in simulated worlds they hold in
/// 98 or 99 of 100.
const CONFIDENCE: f64 = 0.985;

/// A value for each of some pairs.
pub(super) struct PairSample(Vec<((Uuid, Uuid), f64)>);

impl PairSample {
    pub fn new(values: impl IntoIterator<Item = ((Uuid, Uuid), f64)>) -> Self {
        Self(values.into_iter().collect())
    }

    /// The mean of values between two bounds.
    pub fn mean(&self, least: f64, most: f64) -> Option<MeasuredValue> {
        let mean = self.0.iter().map(|(_, value)| value).sum::<f64>() / self.0.len() as f64;
        let effects = self.0.iter().map(|(pair, value)| (*pair, value - mean));
        Self::new(effects).around(mean, [least - mean, most - mean], [least, most])
    }

    /// The interval of a value, from the effect of each pair on it: the sample's values, whose mean is zero. `extremes`
    /// are the least and the most that a pair's effect can be, and `bounds` those of the value.
    ///
    /// Where all pairs have the same effect, the variance would be zero, and the interval a point. So two pairs more
    /// are taken to be at each extreme, which also draws the interval towards the middle. For shares this is the
    /// interval of Agresti and Coull.
    pub fn around(&self, value: f64, extremes: [f64; 2], bounds: [f64; 2]) -> Option<MeasuredValue> {
        const EXTRA: f64 = 2.0;
        let count = self.0.len();
        if count < MIN_PAIRS {
            return None;
        }
        let total = count as f64 + 2.0 * EXTRA;
        let shift = EXTRA * (extremes[0] + extremes[1]) / total;
        let at_extremes = extremes.map(|extreme| EXTRA * (extreme - shift).powi(2)).iter().sum::<f64>();
        let variance = (self.variance_of_sum(shift) + at_extremes) / (total * (total - 1.0));
        let margin = quantile(count) * variance.sqrt();
        interval(value, [value + shift - margin, value + shift + margin], bounds, count)
    }

    /// The variance of the sum of effects, as if their mean was `center`: the squares, and the products of pairs that
    /// share a build. Those can be negative in sum, by chance; then the squares alone count.
    fn variance_of_sum(&self, center: f64) -> f64 {
        let mut of_builds: BTreeMap<Uuid, f64> = BTreeMap::new();
        let mut squares = 0.0;
        for ((first, second), effect) in &self.0 {
            let effect = effect - center;
            squares += effect * effect;
            *of_builds.entry(*first).or_default() += effect;
            *of_builds.entry(*second).or_default() += effect;
        }
        // Every square is in the sums of both of its builds.
        let with_shared = of_builds.values().map(|sum| sum * sum).sum::<f64>() - squares;
        squares.max(with_shared)
    }
}

/// None unless all of it is finite. The interval contains its value and stays within the bounds.
pub(super) fn interval(
    value: f64,
    [low, high]: [f64; 2],
    [least, most]: [f64; 2],
    count: usize,
) -> Option<MeasuredValue> {
    let finite = [value, low, high].iter().all(|value| value.is_finite());
    let measured = || MeasuredValue {
        value,
        low: low.min(value).max(least.min(value)),
        high: high.max(value).min(most.max(value)),
        count,
    };
    finite.then(measured)
}

/// Half the width of an interval, in standard errors, for a mean of so many.
fn quantile(count: usize) -> f64 {
    let students = StudentsT::new(0.0, 1.0, count as f64 - 1.0);
    students.map_or(f64::NAN, |students| students.inverse_cdf(f64::midpoint(1.0, CONFIDENCE)))
}

/// The same for very many.
pub(super) fn normal_quantile() -> f64 {
    Normal::standard().inverse_cdf(f64::midpoint(1.0, CONFIDENCE))
}
