//! Who meets whom: a prompt, then one model after the other, those shown less often first.

use std::collections::{HashMap, HashSet};

use rand::seq::IndexedRandom;
use rand::{Rng, RngExt};
use uuid::Uuid;

use super::{ModelKey, PromptId};

/// A prompt, and those who take part in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Contest {
    pub prompt: PromptId,
    pub text: String,
    pub entrants: Vec<Entrant>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entrant {
    pub model: ModelKey,
    pub build: Uuid,
    pub is_reference: bool,
}

/// Two models, whichever way around.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Pair(ModelKey, ModelKey);

/// What a voter was served before.
pub type Seen = HashMap<PromptId, HashSet<Pair>>;

/// How often each model was served.
pub type Shown = HashMap<ModelKey, i64>;

#[derive(Clone, Debug, PartialEq)]
pub struct Drawn<'a> {
    pub contest: &'a Contest,
    pub a: &'a Entrant,
    pub b: &'a Entrant,
    /// Of these two, whichever way around, given the prompt and what was seen.
    pub probability: f64,
}

impl Contest {
    pub fn only_references(&self) -> bool {
        self.entrants.iter().all(|entrant| entrant.is_reference)
    }
}

impl Pair {
    pub fn of(one: &ModelKey, other: &ModelKey) -> Self {
        if one < other { Self(one.clone(), other.clone()) } else { Self(other.clone(), one.clone()) }
    }
}

/// Draws a prompt, uniformly of those that still have a pair for this voter; then a model with weight
/// 1 / (shown + 1) and, the same way, one it was not seen with; then their sides. None if all was seen.
pub fn draw<'a, R: Rng + ?Sized>(
    rng: &mut R,
    contests: impl IntoIterator<Item = &'a Contest>,
    shown: &Shown,
    seen: &Seen,
) -> Option<Drawn<'a>> {
    let open: Vec<_> = contests.into_iter().filter(|contest| has_fresh_pair(contest, seen)).collect();
    let lots = Lots::of(open.choose(rng)?, shown, seen);
    let first = pick(rng, &lots.firsts())?;
    let second = pick(rng, &lots.partners(first))?;
    let (left, right) = if rng.random_bool(0.5) { (first, second) } else { (second, first) };
    let entrants = &lots.contest.entrants;
    Some(Drawn {
        contest: lots.contest,
        a: &entrants[left],
        b: &entrants[right],
        probability: lots.probability(first, second),
    })
}

fn has_fresh_pair(contest: &Contest, seen: &Seen) -> bool {
    let entrants = contest.entrants.len();
    let takes_part = |model: &ModelKey| contest.entrants.iter().any(|entrant| entrant.model == *model);
    let met = |pairs: &HashSet<Pair>| {
        pairs.iter().filter(|pair| takes_part(&pair.0) && takes_part(&pair.1)).count()
    };
    seen.get(&contest.prompt).map_or(0, met) < entrants * entrants.saturating_sub(1) / 2
}

/// A contest as one voter finds it.
struct Lots<'a> {
    contest: &'a Contest,
    weights: Vec<f64>,
    /// Whether two entrants may still meet, row by row.
    unseen: Vec<bool>,
}

impl<'a> Lots<'a> {
    fn of(contest: &'a Contest, shown: &Shown, seen: &Seen) -> Self {
        let entrants = &contest.entrants;
        let seen = seen.get(&contest.prompt);
        let fresh = |one: &Entrant, other: &Entrant| {
            one.model != other.model
                && seen.is_none_or(|seen| !seen.contains(&Pair::of(&one.model, &other.model)))
        };
        let unseen = entrants.iter().flat_map(|one| entrants.iter().map(move |other| fresh(one, other)));
        let weight = |entrant: &Entrant| 1.0 / (shown.get(&entrant.model).copied().unwrap_or(0) + 1) as f64;
        Self { contest, weights: entrants.iter().map(weight).collect(), unseen: unseen.collect() }
    }

    /// Weights by entrant; nothing for those who have met all others.
    fn firsts(&self) -> Vec<f64> {
        let has_partner = |one: usize| self.partners(one).iter().any(|&weight| weight > 0.0);
        let weight = |(one, &weight)| if has_partner(one) { weight } else { 0.0 };
        self.weights.iter().enumerate().map(weight).collect()
    }

    fn partners(&self, one: usize) -> Vec<f64> {
        let row = &self.unseen[one * self.weights.len()..][..self.weights.len()];
        row.iter().zip(&self.weights).map(|(&unseen, &weight)| if unseen { weight } else { 0.0 }).collect()
    }

    /// Either may have come first. Where they are the last two, rounding would make it more than certain.
    fn probability(&self, one: usize, other: usize) -> f64 {
        let firsts = self.firsts();
        let share = |weights: &[f64], index: usize| weights[index] / weights.iter().sum::<f64>();
        let in_turn = |first, second| share(&firsts, first) * share(&self.partners(first), second);
        (in_turn(one, other) + in_turn(other, one)).min(1.0)
    }
}

/// An index, by weight.
fn pick<R: Rng + ?Sized>(rng: &mut R, weights: &[f64]) -> Option<usize> {
    let mut left = rng.random::<f64>() * weights.iter().sum::<f64>();
    let mut last = None;
    for (index, &weight) in weights.iter().enumerate().filter(|&(_, &weight)| weight > 0.0) {
        last = Some(index);
        if left < weight {
            break;
        }
        left -= weight;
    }
    last
}

#[cfg(test)]
mod tests;
