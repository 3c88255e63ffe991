//! Votes as verdicts on pairs.

use std::collections::BTreeMap;

use uuid::Uuid;

use super::estimates::PairSample;
use super::{CountedVotes, JudgeVote, MeasuredValue, PersonVote, SharedPair};
use crate::arena::{Choice, ChoiceCounts};

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
    fn add(&mut self, counts: ChoiceCounts) {
        self.first += counts.a as f64;
        self.second += counts.b as f64;
        self.neither += (counts.tie + counts.both_bad) as f64;
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
    pub fn new(votes: &[PersonVote], counted: &[CountedVotes]) -> Self {
        let of_voters: BTreeMap<(Uuid, (Uuid, Uuid)), Choice> =
            votes.iter().filter_map(|vote| Some(((vote.voter?, vote.pair), vote.choice))).collect();
        let of_voters = of_voters.into_iter().map(|((_, pair), choice)| (pair, choice));
        let of_unknown =
            votes.iter().filter(|vote| vote.voter.is_none()).map(|vote| (vote.pair, vote.choice));
        let mut voted = Self { pairs: BTreeMap::new(), builds: BTreeMap::new() };
        for (pair, choice) in of_voters.chain(of_unknown) {
            voted.add(pair, ChoiceCounts::of(choice, 1));
        }
        for CountedVotes { pair, counts } in counted {
            voted.add(*pair, *counts);
        }
        voted
    }

    fn add(&mut self, pair: (Uuid, Uuid), counts: ChoiceCounts) {
        if pair.0 == pair.1 || counts.sum() <= 0 {
            return;
        }
        self.pairs.entry(pair).or_default().add(counts);
        for (build, won) in [(pair.0, counts.a), (pair.1, counts.b)] {
            let votes = self.builds.entry(build).or_default();
            votes.count += counts.sum().unsigned_abs();
            votes.won += won as f64 + 0.5 * counts.tie as f64;
        }
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
                judge.add(ChoiceCounts::of(choice, 1));
            }
            Some(SharedPair { pair: *pair, judge, voters: voted.get(*pair)? })
        });
        shared.collect()
    }

    pub fn consistency(&self) -> Option<MeasuredValue> {
        let kept = self.in_both_orders().map(|(pair, straight, swapped)| {
            let is_kept = same(straight, swapped.mirrored());
            (*pair, f64::from(u8::from(is_kept)))
        });
        PairSample::new(kept).mean(0.0, 1.0)
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
