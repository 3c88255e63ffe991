//! Elo: how a vote changes two standings.

use super::Choice;

pub const START: f64 = 1500.0;
pub const K: f64 = 16.0;

/// Where both builds are bad, each model loses against this rating and not against the other model.
pub const BASELINE: f64 = 1500.0;

/// Where a model stands on the ladder.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Standing {
    pub elo: f64,
    pub wins: i64,
    /// Includes `both_bad`.
    pub losses: i64,
    pub ties: i64,
    pub both_bad: i64,
}

impl Standing {
    pub const NEW: Self = Self { elo: START, wins: 0, losses: 0, ties: 0, both_bad: 0 };

    pub fn votes(&self) -> i64 {
        self.wins + self.losses + self.ties
    }

    /// The share of votes won, from 0 to 1: ties count half, both bad not at all. Below 0 without such votes, so that
    /// they sort last.
    pub fn share(&self) -> f64 {
        let compared = self.votes() - self.both_bad;
        if compared == 0 { -1.0 } else { (self.wins as f64 + 0.5 * self.ties as f64) / compared as f64 }
    }

    fn won(self, elo: f64) -> Self {
        Self { elo, wins: self.wins + 1, ..self }
    }

    fn lost(self, elo: f64) -> Self {
        Self { elo, losses: self.losses + 1, ..self }
    }

    fn tied(self, elo: f64) -> Self {
        Self { elo, ties: self.ties + 1, ..self }
    }

    fn bad(self, elo: f64) -> Self {
        Self { both_bad: self.both_bad + 1, ..self.lost(elo) }
    }
}

/// The result is the same on every machine, to the last bit, so that a replay can be compared exactly.
pub fn apply_vote(a: Standing, b: Standing, choice: Choice) -> (Standing, Standing) {
    match choice {
        Choice::A => (a.won(updated(a.elo, b.elo, 1.0)), b.lost(updated(b.elo, a.elo, 0.0))),
        Choice::B => (a.lost(updated(a.elo, b.elo, 0.0)), b.won(updated(b.elo, a.elo, 1.0))),
        Choice::Tie => (a.tied(updated(a.elo, b.elo, 0.5)), b.tied(updated(b.elo, a.elo, 0.5))),
        Choice::BothBad => (a.bad(updated(a.elo, BASELINE, 0.0)), b.bad(updated(b.elo, BASELINE, 0.0))),
    }
}

/// The most that any choice could change each rating, up or down.
pub fn largest_shifts(a: Standing, b: Standing) -> [f64; 2] {
    Choice::ALL.into_iter().fold([0.0; 2], |[most_a, most_b]: [f64; 2], choice| {
        let after = apply_vote(a, b, choice);
        [most_a.max((after.0.elo - a.elo).abs()), most_b.max((after.1.elo - b.elo).abs())]
    })
}

fn updated(own: f64, other: f64, score: f64) -> f64 {
    own + K * (score - expected(own, other))
}

/// The expected score of a model against another. Uses libm, since the standard library's `powf` differs between platforms.
pub(super) fn expected(own: f64, other: f64) -> f64 {
    1.0 / (1.0 + libm::pow(10.0, (other - own) / 400.0))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn at(elo: f64) -> Standing {
        Standing { elo, ..Standing::NEW }
    }

    /// Worked out by hand: 16 × (score − expected).
    #[test]
    fn a_vote_moves_both_ratings_as_the_formula_says() {
        for (a, b, choice, a_after, b_after) in [
            (1500.0, 1500.0, Choice::A, 1508.0, 1492.0),
            (1500.0, 1500.0, Choice::B, 1492.0, 1508.0),
            (1500.0, 1500.0, Choice::Tie, 1500.0, 1500.0),
            // 400 points make ten to one.
            (1900.0, 1500.0, Choice::A, 1900.0 + 16.0 / 11.0, 1500.0 - 16.0 / 11.0),
            (1900.0, 1500.0, Choice::B, 1900.0 - 160.0 / 11.0, 1500.0 + 160.0 / 11.0),
            (1900.0, 1500.0, Choice::Tie, 1900.0 - 72.0 / 11.0, 1500.0 + 72.0 / 11.0),
            // Both against 1500, whatever the other has.
            (1500.0, 1500.0, Choice::BothBad, 1492.0, 1492.0),
            (1900.0, 1100.0, Choice::BothBad, 1900.0 - 160.0 / 11.0, 1100.0 - 16.0 / 11.0),
        ] {
            let (left, right) = apply_vote(at(a), at(b), choice);
            assert!((left.elo - a_after).abs() < 1e-9, "{a} {b} {choice}: {}", left.elo);
            assert!((right.elo - b_after).abs() < 1e-9, "{a} {b} {choice}: {}", right.elo);
        }
    }

    #[test]
    fn five_votes_in_a_row_agree_with_another_implementation() {
        let mut field = [Standing::NEW; 3];
        for (i, j, choice) in
            [(0, 1, Choice::A), (1, 2, Choice::Tie), (2, 0, Choice::B), (0, 1, Choice::B), (1, 2, Choice::A)]
        {
            (field[i], field[j]) = apply_vote(field[i], field[j], choice);
        }
        let expected = [1507.268383109, 1508.526562896, 1484.205053995];
        for (standing, expected) in field.iter().zip(expected) {
            assert!((standing.elo - expected).abs() < 1e-9, "{standing:?}, not {expected}");
        }
    }

    #[test]
    fn the_bits_are_these() {
        let (a, b) = apply_vote(at(1512.25), at(1487.5), Choice::A);
        assert_eq!([a.elo.to_bits(), b.elo.to_bits()], [4654398443484038976, 4654224227430348992]);
    }

    #[test]
    fn every_choice_is_counted_once_on_both_sides_and_both_bad_as_a_loss_too() {
        for (choice, a, b) in [
            (Choice::A, [1, 0, 0, 0], [0, 1, 0, 0]),
            (Choice::B, [0, 1, 0, 0], [1, 0, 0, 0]),
            (Choice::Tie, [0, 0, 1, 0], [0, 0, 1, 0]),
            (Choice::BothBad, [0, 1, 0, 1], [0, 1, 0, 1]),
        ] {
            let (left, right) = apply_vote(Standing::NEW, Standing::NEW, choice);
            for (standing, counts) in [(left, a), (right, b)] {
                assert_eq!([standing.wins, standing.losses, standing.ties, standing.both_bad], counts);
                assert_eq!(standing.votes(), 1);
            }
        }
    }

    proptest! {
        #[test]
        fn sides_do_not_matter(a in 0.0..3000.0, b in 0.0..3000.0, which in 0..4usize) {
            let choice = Choice::ALL[which];
            let (left, right) = apply_vote(at(a), at(b), choice);
            let (mirror_right, mirror_left) = apply_vote(at(b), at(a), choice.mirrored());
            prop_assert_eq!((left, right), (mirror_left, mirror_right));
        }

        #[test]
        fn what_one_wins_the_other_loses(a in 0.0..3000.0, b in 0.0..3000.0, which in 0..2usize) {
            let choice = [Choice::A, Choice::Tie][which];
            let (left, right) = apply_vote(at(a), at(b), choice);
            prop_assert!((left.elo + right.elo - a - b).abs() < 1e-9);
        }
    }
}
