//! Spearman's rank correlation between scores and skill.

use std::collections::BTreeMap;

use uuid::Uuid;

use super::estimates::{interval, normal_quantile};
use super::{BuildFacts, MeasuredValue};

/// The order of fewer models may well be the same by chance.
const MIN_MODELS: usize = 5;

/// Over models that have a skill: the mean score of a model's builds against the mean skill of its ladders.
pub(super) fn of_scores_and_skill(
    scores: &BTreeMap<Uuid, f64>,
    builds: &BTreeMap<Uuid, &BuildFacts>,
) -> Option<MeasuredValue> {
    let mut models: BTreeMap<&str, (f64, f64, f64)> = BTreeMap::new();
    for (build, score) in scores {
        let Some(facts) = builds.get(build) else { continue };
        let Some(skill) = facts.skill.filter(|skill| skill.is_finite()) else { continue };
        let (count, score_sum, skill_sum) = models.entry(facts.model.as_str()).or_default();
        *count += 1.0;
        *score_sum += score;
        *skill_sum += skill;
    }
    let mean_scores: Vec<f64> = models.values().map(|(count, scores, _)| scores / count).collect();
    let mean_skills: Vec<f64> = models.values().map(|(count, _, skills)| skills / count).collect();
    spearman(&mean_scores, &mean_skills)
}

/// None with too few values, or if all of one side are equal. The interval is that of Bonett and Wright, of Fisher's
/// transform; values at the end of the scale are moved in by what one exchange of neighbours would make.
fn spearman(one: &[f64], other: &[f64]) -> Option<MeasuredValue> {
    let count = one.len();
    if count < MIN_MODELS {
        return None;
    }
    let correlation = pearson(&ranks(one), &ranks(other))?;
    let n = count as f64;
    let exchange = 12.0 / (n * (n * n - 1.0));
    let inner = correlation.clamp(exchange - 1.0, 1.0 - exchange);
    let margin = normal_quantile() * ((1.0 + inner * inner / 2.0) / (n - 3.0)).sqrt();
    let bounds = [(inner.atanh() - margin).tanh(), (inner.atanh() + margin).tanh()];
    interval(correlation, bounds, [-1.0, 1.0], count)
}

/// From 1; equal values share the mean of their ranks.
fn ranks(values: &[f64]) -> Vec<f64> {
    let below = |value: f64| values.iter().filter(|other| **other < value).count() as f64;
    let equal = |value: f64| values.iter().filter(|other| **other == value).count() as f64;
    values.iter().map(|value| below(*value) + f64::midpoint(1.0, equal(*value))).collect()
}

fn pearson(one: &[f64], other: &[f64]) -> Option<f64> {
    let centered = |values: &[f64]| {
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        values.iter().map(|value| value - mean).collect::<Vec<f64>>()
    };
    let product = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let (one, other) = (centered(one), centered(other));
    let scale = (product(&one, &one) * product(&other, &other)).sqrt();
    (scale > 0.0).then(|| (product(&one, &other) / scale).clamp(-1.0, 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_values_share_a_rank() {
        assert_eq!(ranks(&[3.0, 1.0, 3.0, 7.0]), [2.5, 1.0, 2.5, 4.0]);
    }

    #[test]
    fn the_correlation_is_that_of_ranks() {
        let of = |one: &[f64], other: &[f64]| spearman(one, other);
        let order = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
        let same = of(&order, &[1.0, 10.0, 100.0, 1e3, 1e4, 1e5]).unwrap();
        assert_eq!((same.value, same.high), (1.0, 1.0));
        assert!(same.low > 0.0 && same.low < 0.9, "{same:?}");
        let reverse = of(&order, &[6.0, 5.0, 4.0, 3.0, 2.0, 1.0]).unwrap();
        assert_eq!((reverse.value, reverse.low), (-1.0, -1.0));
        // By hand: 1 − 6 × (1 + 1 + 1 + 1) / (6 × 35).
        let close = of(&order, &[2.0, 1.0, 4.0, 3.0, 5.0, 6.0]).unwrap();
        assert!((close.value - (1.0 - 24.0 / 210.0)).abs() < 1e-12, "{close:?}");
        assert_eq!(of(&order, &[1.0; 6]), None);
        assert_eq!(of(&order[..4], &order[..4]), None);
    }
}
