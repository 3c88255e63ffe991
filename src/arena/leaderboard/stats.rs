//! The statistics of a ladder, computed from its tallies: skill, duels and records, of all prompts or of some.
//! Pure; [`super::computation`] reads and stores.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::hash::Hash;

use serde::{Deserialize, Serialize};
use time::OffsetDateTime;

use super::super::skill::{self, Fit, HeavyVoter, PairTally};
use super::super::tallies::LadderTallies;
use super::super::{ChoiceCounts, ModelKey, PromptId};
use super::{BuildExpenses, RatingHistory};

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct LadderStats {
    /// The number of votes that were counted.
    pub votes: i64,
    /// The number of voters who cast them.
    pub voters: i64,
    #[serde(with = "time::serde::timestamp::milliseconds")]
    pub computed_at: OffsetDateTime,
    pub fit: Fit,
    pub expenses: BTreeMap<ModelKey, BuildExpenses>,
    pub duels: PairRecords,
    /// The record of each model on each prompt.
    pub prompts: PromptRecords,
    /// Empty for a ladder of some prompts.
    pub history: RatingHistory,
}

/// The record of the first model against the second. It contains each pair in both orders.
pub type PairRecords = BTreeMap<ModelKey, BTreeMap<ModelKey, Record>>;

/// A model's record: against another model, or on a prompt.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "[i64; 4]", into = "[i64; 4]")]
pub struct Record {
    pub won: i64,
    /// To the other model. Excludes `both_bad`.
    pub lost: i64,
    pub tied: i64,
    pub both_bad: i64,
}

impl LadderStats {
    /// Heavy work. Only the `ranked` models get a skill.
    pub(super) fn of(
        tallies: &LadderTallies,
        expenses: BTreeMap<ModelKey, BuildExpenses>,
        heavy_voters: &[HeavyVoter],
        ranked: &BTreeSet<ModelKey>,
        history: RatingHistory,
        computed_at: OffsetDateTime,
    ) -> Self {
        let votes = tallies.tallies.iter().map(|tally| tally.counts.sum()).sum();
        let (duels, prompts) = records(&tallies.tallies);
        let fit = skill::fit(&tallies.tallies, heavy_voters, skill::PRIOR, ranked);
        Self { votes, voters: tallies.voters, computed_at, fit, expenses, duels, prompts, history }
    }

    pub fn duel(&self, one: &ModelKey, other: &ModelKey) -> Option<Record> {
        self.duels.get(one)?.get(other).copied()
    }

    /// A model's record against all others together.
    pub(super) fn total(&self, model: &ModelKey) -> Record {
        let mut total = Record::default();
        self.duels.get(model).into_iter().flat_map(BTreeMap::values).for_each(|record| total.add(*record));
        total
    }
}

type PromptRecords = BTreeMap<ModelKey, BTreeMap<PromptId, Record>>;

/// The record of every model against every other, and on every prompt. There may be hundreds of thousands of tallies of
/// some dozens of models, so they are summed in arrays by index, and get their keys afterwards.
fn records(tallies: &[PairTally]) -> (PairRecords, PromptRecords) {
    let models = index_by_key(tallies.iter().flat_map(|tally| [&tally.a, &tally.b]));
    let prompts = index_by_key(tallies.iter().map(|tally| &tally.prompt));
    let mut against = vec![Record::default(); models.len() * models.len()];
    let mut on_prompt = vec![Record::default(); models.len() * prompts.len()];
    for tally in tallies {
        let (a, b, prompt) = (models[&tally.a], models[&tally.b], prompts[&tally.prompt]);
        let (of_a, of_b) = (Record::from(tally.counts), Record::from(tally.counts.mirrored()));
        against[a * models.len() + b].add(of_a);
        against[b * models.len() + a].add(of_b);
        on_prompt[a * prompts.len() + prompt].add(of_a);
        on_prompt[b * prompts.len() + prompt].add(of_b);
    }
    (by_key(&models, &models, &against), by_key(&models, &prompts, &on_prompt))
}

fn index_by_key<'a, K: Eq + Hash>(keys: impl Iterator<Item = &'a K>) -> HashMap<&'a K, usize> {
    let mut numbers = HashMap::new();
    for key in keys {
        let next = numbers.len();
        numbers.entry(key).or_insert(next);
    }
    numbers
}

/// The records with votes, by their keys.
fn by_key<K: Ord + Clone>(
    models: &HashMap<&ModelKey, usize>,
    keys: &HashMap<&K, usize>,
    records: &[Record],
) -> BTreeMap<ModelKey, BTreeMap<K, Record>> {
    let row = |model: usize| {
        let record = |(key, column): (&&K, &usize)| ((*key).clone(), records[model * keys.len() + column]);
        keys.iter().map(record).filter(|(_, record)| record.votes() > 0).collect()
    };
    models.iter().map(|(model, number)| ((*model).clone(), row(*number))).collect()
}

impl Record {
    pub fn votes(&self) -> i64 {
        self.won + self.lost + self.tied + self.both_bad
    }

    /// As ratings count them: both bad is a loss too.
    pub fn losses(&self) -> i64 {
        self.lost + self.both_bad
    }

    /// The share of votes won, from 0 to 1: ties count half, both bad not at all.
    pub fn share(&self) -> Option<f64> {
        let compared = self.won + self.lost + self.tied;
        (compared > 0).then(|| (self.won as f64 + 0.5 * self.tied as f64) / compared as f64)
    }

    fn add(&mut self, other: Self) {
        self.won += other.won;
        self.lost += other.lost;
        self.tied += other.tied;
        self.both_bad += other.both_bad;
    }
}

/// From the view of the model on side A.
impl From<ChoiceCounts> for Record {
    fn from(ChoiceCounts { a, b, tie, both_bad }: ChoiceCounts) -> Self {
        Self { won: a, lost: b, tied: tie, both_bad }
    }
}

impl From<[i64; 4]> for Record {
    fn from([won, lost, tied, both_bad]: [i64; 4]) -> Self {
        Self { won, lost, tied, both_bad }
    }
}

impl From<Record> for [i64; 4] {
    fn from(record: Record) -> Self {
        [record.won, record.lost, record.tied, record.both_bad]
    }
}
