//! Whether the ladder of held-out prompts has the order of the ladder of the others. Whoever wants to push a model with
//! votes on builds that they know can do so on the public ones alone, and then the two ladders disagree.

use super::super::{Arena, ModelKey, PromptFilter};
use super::Leaderboard;

/// The order of fewer models may well be the same by chance.
pub const MIN_AGREEING_MODELS: usize = 5;

/// How the orders of two ladders compare, by pairs of models that have a skill on both.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LadderAgreement {
    pub models: usize,
    /// Pairs of models.
    pub pairs: usize,
    /// Pairs in the same order on both ladders.
    pub same_order: usize,
    pub held_out_votes: i64,
    pub public_votes: i64,
}

impl LadderAgreement {
    /// None with too few models that have a skill on both ladders, which takes enough votes on each.
    fn of(held_out: &Leaderboard, public: &Leaderboard) -> Option<Self> {
        let on_both = held_out.rows.iter().filter_map(|row| {
            let skill = |board: &Leaderboard, key: &ModelKey| Some(board.row(key)?.skill.as_ref()?.rating);
            Some([skill(held_out, &row.model.key)?, skill(public, &row.model.key)?])
        });
        let skills: Vec<[f64; 2]> = on_both.collect();
        (skills.len() >= MIN_AGREEING_MODELS).then(|| {
            let (pairs, same_order) = count_pairs(&skills);
            Self {
                models: skills.len(),
                pairs,
                same_order,
                held_out_votes: held_out.votes,
                public_votes: public.votes,
            }
        })
    }

    /// Kendall's τ: 1 for the same order, 0 for orders that have nothing to do with each other, −1 for the reverse.
    pub fn tau(&self) -> f64 {
        2.0 * self.same_order as f64 / self.pairs as f64 - 1.0
    }
}

/// The number of pairs, and of those that both values put in the same order. Skills are real numbers of a fit, so equal
/// ones are no matter.
fn count_pairs(values: &[[f64; 2]]) -> (usize, usize) {
    let pairs = || {
        let later = |index: usize| values[index + 1..].iter().map(move |other| (values[index], *other));
        (0..values.len()).flat_map(later)
    };
    let same = pairs().filter(|(one, other)| (one[0] < other[0]) == (one[1] < other[1])).count();
    (pairs().count(), same)
}

impl Arena {
    /// None if there are no held-out prompts, or not enough votes to tell.
    pub async fn ladder_agreement(&self) -> sqlx::Result<Option<LadderAgreement>> {
        if !self.lineup().await?.has_held_out {
            return Ok(None);
        }
        let held_out = self.filtered_ladder(&PromptFilter::held_out()).await?;
        let public = self.filtered_ladder(&PromptFilter::public()).await?;
        Ok(LadderAgreement::of(&held_out, &public))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agreement_is_one_for_the_same_order_and_minus_one_for_the_reverse() {
        for (second, same_order, tau) in
            [([1.0, 2.0, 3.0], 3, 1.0), ([3.0, 2.0, 1.0], 0, -1.0), ([2.0, 1.0, 3.0], 2, 1.0 / 3.0)]
        {
            let values: Vec<_> = [10.0, 20.0, 30.0].into_iter().zip(second).map(|(a, b)| [a, b]).collect();
            let (pairs, found) = count_pairs(&values);
            assert_eq!((pairs, found), (3, same_order), "{second:?}");
            let agreement =
                LadderAgreement { models: 3, pairs, same_order, held_out_votes: 0, public_votes: 0 };
            assert!((agreement.tau() - tau).abs() < 1e-12, "{second:?}");
        }
    }
}
