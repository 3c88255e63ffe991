//! Drawing matchups: a prompt, then two models, with a preference for those shown less often. The module comment of the
//! arena states the rules.

use std::collections::{HashMap, HashSet};
use std::sync::OnceLock;

use rand::{Rng, RngExt};
use sha2::{Digest, Sha256};
use uuid::Uuid;

use super::{ModelKey, PromptId};

/// A prompt of one ladder with the models that take part in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Contest {
    pub prompt: PromptId,
    pub text: String,
    pub entrants: Vec<Entrant>,
    /// The settings as the database spells them.
    ladder: String,
    /// Codes of all pairs of entrants, computed when the contest is first drawn.
    codes: OnceLock<Vec<i64>>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entrant {
    pub model: ModelKey,
    pub build: Uuid,
    pub is_reference: bool,
}

/// What a voter was served before, as [`pair_code`]s.
pub type SeenPairs = HashSet<i64>;

/// How often each model was shown.
pub type TimesShown = HashMap<ModelKey, i64>;

/// A number for a ladder, a prompt and two models in any order: the first eight bytes of a SHA-256. The database has a
/// function of the same name that agrees with this one. If two pairs had the same number, a voter would miss one of
/// them; with 64 bits that practically never happens.
pub fn pair_code(ladder: &str, prompt: &PromptId, one: &ModelKey, other: &ModelKey) -> i64 {
    let (low, high) = if one < other { (one, other) } else { (other, one) };
    let digest = Sha256::digest(format!("{ladder}/{prompt}/{low}/{high}"));
    digest.iter().take(8).fold(0, |code, byte| code << 8 | i64::from(*byte))
}

#[derive(Clone, Debug, PartialEq)]
pub struct DrawnMatchup<'a> {
    pub contest: &'a Contest,
    pub a: &'a Entrant,
    pub b: &'a Entrant,
    /// Of these two models in any order, given the prompt and what the voter has seen.
    pub probability: f64,
    /// Their [`pair_code`].
    pub pair: i64,
}

impl Contest {
    pub fn new(ladder: &str, prompt: PromptId, text: String, entrants: Vec<Entrant>) -> Self {
        Self { prompt, text, entrants, ladder: ladder.to_owned(), codes: OnceLock::new() }
    }

    /// The codes of the pairs (0, 1), (0, 2), … (1, 2), …
    fn codes(&self) -> &[i64] {
        self.codes.get_or_init(|| {
            let pairs = self.entrants.iter().enumerate().flat_map(|(index, one)| {
                self.entrants[index + 1..].iter().map(move |other| (&one.model, &other.model))
            });
            pairs.map(|(one, other)| pair_code(&self.ladder, &self.prompt, one, other)).collect()
        })
    }

    fn has_fresh_pair(&self, seen: &SeenPairs) -> bool {
        self.entrants.len() > 1 && (seen.is_empty() || self.codes().iter().any(|code| !seen.contains(code)))
    }

    pub fn only_references(&self) -> bool {
        self.entrants.iter().all(|entrant| entrant.is_reference)
    }
}

/// Draws a prompt, uniformly of those that still have a pair for this voter; then a model with weight
/// 1 / (shown + 1) and, likewise, one that the voter has not seen it with; then their sides. None if the voter has seen
/// every pair.
pub fn draw<'a, R: Rng + ?Sized>(
    rng: &mut R,
    contests: impl IntoIterator<Item = &'a Contest>,
    shown: &TimesShown,
    seen: &SeenPairs,
) -> Option<DrawnMatchup<'a>> {
    let pair_weights = PairWeights::of(draw_contest(rng, contests.into_iter().collect(), seen)?, shown, seen);
    let first = pick(rng, &pair_weights.first_weights())?;
    let second = pick(rng, &pair_weights.partner_weights(first))?;
    let (left, right) = if rng.random_bool(0.5) { (first, second) } else { (second, first) };
    let contest = pair_weights.contest;
    let (a, b) = (&contest.entrants[left], &contest.entrants[right]);
    Some(DrawnMatchup {
        contest,
        a,
        b,
        pair: pair_code(&contest.ladder, &contest.prompt, &a.model, &b.model),
        probability: pair_weights.probability(first, second),
    })
}

/// Draws uniformly among the contests with an unseen pair: one without is set aside, and another is drawn from the
/// rest. So only the drawn contests are searched for unseen pairs.
fn draw_contest<'a, R: Rng + ?Sized>(
    rng: &mut R,
    mut contests: Vec<&'a Contest>,
    seen: &SeenPairs,
) -> Option<&'a Contest> {
    while !contests.is_empty() {
        let contest = contests.swap_remove(rng.random_range(0..contests.len()));
        if contest.has_fresh_pair(seen) {
            return Some(contest);
        }
    }
    None
}

/// The weights in a contest for one voter.
struct PairWeights<'a> {
    contest: &'a Contest,
    weights: Vec<f64>,
    /// Whether two entrants may still meet, row by row.
    unseen: Vec<bool>,
}

impl<'a> PairWeights<'a> {
    fn of(contest: &'a Contest, shown: &TimesShown, seen: &SeenPairs) -> Self {
        let entrants = &contest.entrants;
        let count = entrants.len();
        let mut unseen = vec![false; count * count];
        let pairs = (0..count).flat_map(|one| (one + 1..count).map(move |other| (one, other)));
        for ((one, other), code) in pairs.zip(contest.codes()) {
            let fresh = !seen.contains(code);
            unseen[one * count + other] = fresh;
            unseen[other * count + one] = fresh;
        }
        let weight = |entrant: &Entrant| 1.0 / (shown.get(&entrant.model).copied().unwrap_or(0) + 1) as f64;
        Self { contest, weights: entrants.iter().map(weight).collect(), unseen }
    }

    /// Weights by entrant; 0 for those whose pairs were all seen.
    fn first_weights(&self) -> Vec<f64> {
        let has_partner = |one: usize| self.partner_weights(one).iter().any(|&weight| weight > 0.0);
        let weight = |(one, &weight)| if has_partner(one) { weight } else { 0.0 };
        self.weights.iter().enumerate().map(weight).collect()
    }

    fn partner_weights(&self, one: usize) -> Vec<f64> {
        let row = &self.unseen[one * self.weights.len()..][..self.weights.len()];
        row.iter().zip(&self.weights).map(|(&unseen, &weight)| if unseen { weight } else { 0.0 }).collect()
    }

    /// Either may have been drawn first. Rounding may exceed 1 where only one pair is left.
    fn probability(&self, one: usize, other: usize) -> f64 {
        let first_weights = self.first_weights();
        let share = |weights: &[f64], index: usize| weights[index] / weights.iter().sum::<f64>();
        let in_turn =
            |first, second| share(&first_weights, first) * share(&self.partner_weights(first), second);
        (in_turn(one, other) + in_turn(other, one)).min(1.0)
    }
}

/// Draws an index by weight.
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
