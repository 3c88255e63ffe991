//! The votes with models as indexes and in a canonical order, for the largest set of models that can be compared.

use std::cmp::Reverse;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::hash::Hash;

use super::equal_size::SizeGap;
use super::{BuildSize, ChoiceCounts, HeavyVoter, ModelKey, PairTally, VoterTally};

/// Models that can be compared with each other, and their duels.
pub(super) struct ComparisonGraph<'a> {
    pub models: Vec<&'a ModelKey>,
    /// The duels of every prompt that has any.
    pub prompts: Vec<Vec<Duel>>,
    /// The duels of every heavy voter who has any, over all prompts.
    pub heavy_voters: Vec<Vec<Duel>>,
}

/// Votes on two models, as indexes into [`ComparisonGraph::models`]: how often the left one won, tied and lost.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Duel {
    pub left: usize,
    pub right: usize,
    /// By how much the left builds are larger; no gap where sizes are not looked at.
    pub gap: SizeGap,
    pub outcomes: [u64; 3],
}

/// What a graph knows of the sizes of builds.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum SizeUse {
    Ignored,
    /// Votes on builds of unknown sizes are left out. The models of each duel are in the order of their indexes, since
    /// sides do not matter here and fewer duels are faster.
    Compared,
}

impl Duel {
    pub fn count(&self) -> u64 {
        self.outcomes.iter().sum()
    }

    /// None where sizes are compared and not known.
    fn of(
        [left, right]: [usize; 2],
        counts: &ChoiceCounts,
        sizes: Option<[BuildSize; 2]>,
        size_use: SizeUse,
    ) -> Option<Self> {
        let outcomes = outcomes(counts);
        if size_use == SizeUse::Ignored {
            return Some(Self { left, right, gap: SizeGap::NONE, outcomes });
        }
        let [one, other] = sizes?;
        if left < right {
            return Some(Self { left, right, gap: SizeGap::between(one, other), outcomes });
        }
        let [won, tied, lost] = outcomes;
        let gap = SizeGap::between(other, one);
        Some(Self { left: right, right: left, gap, outcomes: [lost, tied, won] })
    }

    fn add(&mut self, other: &Self) {
        self.outcomes.iter_mut().zip(other.outcomes).for_each(|(sum, count)| *sum += count);
    }
}

impl<'a> ComparisonGraph<'a> {
    /// The component with the most models; of several, the one with the most votes; of several, the first by key.
    pub fn largest_component(
        tallies: &'a [PairTally],
        heavy_voters: &[HeavyVoter],
        any_vote_connects: bool,
        size_use: SizeUse,
    ) -> Option<Self> {
        let whole = Self::whole(tallies, heavy_voters, size_use);
        let votes = whole.votes_per_model();
        let components = whole.components(any_vote_connects);
        let main = components.iter().max_by_key(|members| {
            let votes: u64 = members.iter().map(|&model| votes[model]).sum();
            (members.len(), votes, Reverse(members[0]))
        })?;
        (main.len() > 1).then(|| whole.subgraph(main))
    }

    /// Groups models that are connected. Unless any vote connects two models, each must have beaten the other, directly
    /// or by way of others. A tie does not connect them: with ties alone between a model and those below it, the votes
    /// are the more likely the higher it and ν rise together.
    fn components(&self, any_vote_connects: bool) -> Vec<Vec<usize>> {
        let count = self.models.len();
        let mut beat = vec![vec![false; count]; count];
        for Duel { left, right, outcomes: [won, _, lost], .. } in self.duels() {
            beat[left][right] |= any_vote_connects || won > 0;
            beat[right][left] |= any_vote_connects || lost > 0;
        }
        let mut components: Vec<Vec<usize>> = Vec::new();
        for model in 0..count {
            if !components.iter().any(|members| members.contains(&model)) {
                let below = reachable(model, count, |from, to| beat[from][to]);
                let above = reachable(model, count, |from, to| beat[to][from]);
                components.push((0..count).filter(|&other| below[other] && above[other]).collect());
            }
        }
        components
    }

    /// All models and all votes that compare two of them.
    fn whole(tallies: &'a [PairTally], heavy_voters: &[HeavyVoter], size_use: SizeUse) -> Self {
        let compares = |tally: &PairTally| {
            let is_known = size_use == SizeUse::Ignored || tally.sizes.is_some();
            is_known && outcomes(&tally.counts) != [0; 3] && tally.a != tally.b
        };
        let votes = || tallies.iter().filter(|tally| compares(tally));
        let models = sorted(votes().flat_map(|tally| [&tally.a, &tally.b]));
        let prompts = sorted(votes().map(|tally| &tally.prompt));
        let (number, row) = (index_by_item(&models), index_by_item(&prompts));
        let mut duels: Vec<Vec<Duel>> = vec![Vec::new(); prompts.len()];
        for tally in votes() {
            let models = [number[&tally.a], number[&tally.b]];
            duels[row[&tally.prompt]].extend(Duel::of(models, &tally.counts, tally.sizes, size_use));
        }
        let known = |model: &ModelKey| number.get::<ModelKey>(model).copied();
        let duels_of = |voter: &HeavyVoter| {
            let duels = voter.tallies.iter().filter_map(|VoterTally { a, b, sizes, counts }| {
                Duel::of([known(a)?, known(b)?], counts, *sizes, size_use)
            });
            merged(duels.filter(|duel| duel.left != duel.right && duel.count() > 0).collect())
        };
        let heavy_voters = in_canonical_order(heavy_voters.iter().map(duels_of));
        Self { prompts: duels.into_iter().map(merged).collect(), heavy_voters, models }
    }

    /// The duels among some of the models, whose indexes are in ascending order.
    fn subgraph(self, members: &[usize]) -> Self {
        let index = |model: usize| members.binary_search(&model).ok();
        let kept = |duel: Duel| Some(Duel { left: index(duel.left)?, right: index(duel.right)?, ..duel });
        let inside = |duels: Vec<Duel>| -> Vec<Duel> { duels.into_iter().filter_map(kept).collect() };
        let prompts = self.prompts.into_iter().map(inside);
        Self {
            prompts: prompts.filter(|duels| !duels.is_empty()).collect(),
            heavy_voters: in_canonical_order(self.heavy_voters.into_iter().map(inside)),
            models: members.iter().map(|&model| self.models[model]).collect(),
        }
    }

    /// The duels, summed over all prompts. Where sizes are compared, few are alike.
    pub fn duels(&self) -> Vec<Duel> {
        merged(self.prompts.concat())
    }

    /// The duels, summed over all prompts and sizes.
    pub fn pairs(&self) -> Vec<Duel> {
        let mut duels = self.prompts.concat();
        duels.iter_mut().for_each(|duel| duel.gap = SizeGap::NONE);
        merged(duels)
    }

    pub fn votes_per_model(&self) -> Vec<u64> {
        let mut votes = vec![0; self.models.len()];
        for duel in self.prompts.iter().flatten() {
            votes[duel.left] += duel.count();
            votes[duel.right] += duel.count();
        }
        votes
    }

    /// The number of prompts on which each model was compared.
    pub fn prompts_per_model(&self) -> Vec<usize> {
        let mut prompts = vec![0; self.models.len()];
        for duels in &self.prompts {
            let seen: BTreeSet<usize> = duels.iter().flat_map(|duel| [duel.left, duel.right]).collect();
            seen.into_iter().for_each(|model| prompts[model] += 1);
        }
        prompts
    }
}

/// How often the left model won, tied and lost. Leaves out both bad.
fn outcomes(counts: &ChoiceCounts) -> [u64; 3] {
    [counts.a, counts.tie, counts.b].map(i64::unsigned_abs)
}

/// Those who have any duels. Voters have no names here: two with the same duels are alike.
fn in_canonical_order(voters: impl Iterator<Item = Vec<Duel>>) -> Vec<Vec<Duel>> {
    let mut voters: Vec<_> = voters.filter(|duels| !duels.is_empty()).collect();
    voters.sort_unstable();
    voters
}

/// The distinct items, sorted.
fn sorted<'a, T: Ord + Hash>(items: impl Iterator<Item = &'a T>) -> Vec<&'a T> {
    let mut items: Vec<&T> = items.collect::<HashSet<_>>().into_iter().collect();
    items.sort_unstable();
    items
}

fn index_by_item<'a, T: Eq + Hash>(sorted: &[&'a T]) -> HashMap<&'a T, usize> {
    sorted.iter().copied().zip(0..).collect()
}

/// Sums the duels of the same two models on the same sides and with the same gap, and sorts them.
fn merged(mut duels: Vec<Duel>) -> Vec<Duel> {
    duels.sort_unstable_by_key(|duel| (duel.left, duel.right, duel.gap));
    duels.dedup_by(|next, kept| {
        let same = (next.left, next.right, next.gap) == (kept.left, kept.right, kept.gap);
        if same {
            kept.add(next);
        }
        same
    });
    duels
}

fn reachable(start: usize, count: usize, linked: impl Fn(usize, usize) -> bool) -> Vec<bool> {
    let mut reached = vec![false; count];
    reached[start] = true;
    let mut open = vec![start];
    while let Some(from) = open.pop() {
        open.extend((0..count).filter(|&to| linked(from, to) && !std::mem::replace(&mut reached[to], true)));
    }
    reached
}
