//! Votes as verdicts on pairs.

use std::collections::BTreeMap;

use uuid::Uuid;

use super::estimates::{PairSample, wilson};
use super::{JudgeVote, MeasuredValue, PersonVote, SharedPair};
use crate::arena::Choice;

/// How many verdicts there are of each kind on a pair.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct VerdictCounts {
    pub first: f64,
    pub second: f64,
    pub neither: f64,
}

/// All voters' votes, by pair.
pub(super) struct VotedPairs {
    pairs: BTreeMap<(Uuid, Uuid), VerdictCounts>,
    /// By build, how many votes there are, and how many it won; a tie is half.
    pub builds: BTreeMap<Uuid, BuildVotes>,
}

#[derive(Clone, Copy, Default)]
pub(super) struct BuildVotes {
    pub count: u64,
    pub won: f64,
}

/// One judge's votes, by pair: the choice when the first build was on the left, and when it was on the right. Build A of
/// a choice is the one on the left.
pub(super) struct JudgedPairs(BTreeMap<(Uuid, Uuid), [Option<Choice>; 2]>);

impl VerdictCounts {
    fn add(&mut self, choice: Choice) {
        match choice {
            Choice::A => self.first += 1.0,
            Choice::B => self.second += 1.0,
            Choice::Tie | Choice::BothBad => self.neither += 1.0,
        }
    }

    pub fn total(self) -> f64 {
        self.first + self.second + self.neither
    }

    pub fn decided_share(self) -> f64 {
        (self.first + self.second) / self.total()
    }

    /// From −1, if all are for the second, to 1.
    pub fn margin(self) -> f64 {
        (self.first - self.second) / self.total()
    }

    /// The square of the margin of an endless number of such verdicts, estimated from products of different ones; the
    /// square of [`Self::margin`] would be too large. None for a single verdict.
    pub fn squared_margin(self) -> Option<f64> {
        let total = self.total();
        let sum = self.first - self.second;
        (total >= 2.0).then(|| (sum * sum - self.first - self.second) / (total * (total - 1.0)))
    }

    /// The chance that one of these and one of those are the same.
    pub fn agreement_with(self, other: Self) -> f64 {
        (self.first * other.first + self.second * other.second + self.neither * other.neither)
            / (self.total() * other.total())
    }

    /// The chance that two different ones of these are the same. None for a single verdict.
    pub fn agreement_among(self) -> Option<f64> {
        let total = self.total();
        let same =
            [self.first, self.second, self.neither].map(|count| count * (count - 1.0)).iter().sum::<f64>();
        (total >= 2.0).then(|| same / (total * (total - 1.0)))
    }

    /// The same with the builds exchanged.
    pub fn mirrored(self) -> Self {
        Self { first: self.second, second: self.first, ..self }
    }
}

impl VotedPairs {
    pub fn new(votes: &[PersonVote]) -> Self {
        let of_voters: BTreeMap<(Uuid, (Uuid, Uuid)), Choice> =
            votes.iter().filter_map(|vote| Some(((vote.voter?, vote.pair), vote.choice))).collect();
        let of_unknown =
            votes.iter().filter(|vote| vote.voter.is_none()).map(|vote| (vote.pair, vote.choice));
        let mut voted = Self { pairs: BTreeMap::new(), builds: BTreeMap::new() };
        for (pair, choice) in
            of_voters.into_iter().map(|((_, pair), choice)| (pair, choice)).chain(of_unknown)
        {
            if pair.0 == pair.1 {
                continue;
            }
            voted.pairs.entry(pair).or_default().add(choice);
            let (first, second) = match choice {
                Choice::A => (1.0, 0.0),
                Choice::B => (0.0, 1.0),
                Choice::Tie => (0.5, 0.5),
                Choice::BothBad => (0.0, 0.0),
            };
            for (build, won) in [(pair.0, first), (pair.1, second)] {
                let votes = voted.builds.entry(build).or_default();
                votes.count += 1;
                votes.won += won;
            }
        }
        voted
    }

    pub fn get(&self, pair: (Uuid, Uuid)) -> Option<VerdictCounts> {
        self.pairs.get(&pair).copied()
    }
}

impl JudgedPairs {
    pub fn new(votes: &[&JudgeVote]) -> Self {
        let mut pairs: BTreeMap<(Uuid, Uuid), [Option<Choice>; 2]> = BTreeMap::new();
        for vote in votes.iter().filter(|vote| vote.left != vote.right) {
            match vote.left < vote.right {
                true => pairs.entry((vote.left, vote.right)).or_default()[0] = Some(vote.choice),
                false => pairs.entry((vote.right, vote.left)).or_default()[1] = Some(vote.choice),
            }
        }
        Self(pairs)
    }

    pub fn len(&self) -> usize {
        self.0.len()
    }

    pub fn shared_with(&self, voted: &VotedPairs) -> Vec<SharedPair> {
        let shared = self.0.iter().filter_map(|(pair, choices)| {
            let mut judge = VerdictCounts::default();
            let [straight, swapped] = *choices;
            for choice in straight.into_iter().chain(swapped.map(Choice::mirrored)) {
                judge.add(choice);
            }
            Some(SharedPair { pair: *pair, judge, voters: voted.get(*pair)? })
        });
        shared.collect()
    }

    pub fn consistency(&self) -> Option<MeasuredValue> {
        let kept = self.in_both_orders().filter(|(_, straight, swapped)| same(*straight, swapped.mirrored()));
        wilson(kept.count(), self.in_both_orders().count())
    }

    pub fn left_share(&self) -> Option<MeasuredValue> {
        let count = |is: fn(&Choice) -> bool| {
            self.in_both_orders().map(move |(pair, straight, swapped)| {
                (*pair, [straight, swapped].iter().filter(|choice| is(choice)).count() as f64)
            })
        };
        let left: Vec<_> = count(|choice| *choice == Choice::A).collect();
        let decided: Vec<_> = count(|choice| matches!(choice, Choice::A | Choice::B)).collect();
        let sum = |counts: &[((Uuid, Uuid), f64)]| counts.iter().map(|(_, count)| count).sum::<f64>();
        let share = sum(&left) / sum(&decided);
        if !share.is_finite() {
            return None;
        }
        // The effect of a pair on the share; a pair with one decided verdict has half the weight of one with two.
        let weight = left.len() as f64 / sum(&decided);
        let effects = left
            .iter()
            .zip(&decided)
            .filter(|(_, (_, decided))| *decided > 0.0)
            .map(|((pair, left), (_, decided))| (*pair, weight * (left - share * decided)));
        PairSample::new(effects).around(share, [-share, 1.0 - share], [0.0, 1.0])
    }

    /// The pairs whose verdict is for the same build in both orders, with whether it is the first.
    pub fn decided_twice(&self) -> impl Iterator<Item = ((Uuid, Uuid), bool)> {
        self.in_both_orders().filter_map(|(pair, straight, swapped)| match (straight, swapped) {
            (Choice::A, Choice::B) => Some((*pair, true)),
            (Choice::B, Choice::A) => Some((*pair, false)),
            _ => None,
        })
    }

    fn in_both_orders(&self) -> impl Iterator<Item = (&(Uuid, Uuid), Choice, Choice)> {
        self.0.iter().filter_map(|(pair, [straight, swapped])| Some((pair, (*straight)?, (*swapped)?)))
    }
}

/// Whether both are the same verdict: ties and "both bad" are.
fn same(one: Choice, other: Choice) -> bool {
    let decided = |choice| matches!(choice, Choice::A | Choice::B);
    one == other || !decided(one) && !decided(other)
}
