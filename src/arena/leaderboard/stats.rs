//! What all votes of a ladder say together, worked out of its tallies: the one engine behind skill, duels, records
//! and what a tag's prompts say. Pure; reading and keeping is done elsewhere.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use time::OffsetDateTime;

use super::super::skill::{self, Fit};
use super::super::tallies::Tallies;
use super::super::{ModelKey, PromptId, Verdicts};
use super::RatingHistory;

/// Phantom games that each model wins against the field's mean, and as many that it loses.
const PRIOR: f64 = 1.0;

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct LadderStats {
    /// So many votes were counted.
    pub votes: i64,
    /// Who cast them.
    pub voters: i64,
    #[serde(with = "time::serde::timestamp::milliseconds")]
    pub computed_at: OffsetDateTime,
    pub fit: Fit,
    pub duels: Duels,
    /// How each model fared on each prompt.
    pub prompts: BTreeMap<ModelKey, BTreeMap<PromptId, Record>>,
    /// Of a whole ladder: one of a tag's prompts has none.
    pub history: RatingHistory,
}

/// How the first fared against the second. Each pair is here both ways around.
pub type Duels = BTreeMap<ModelKey, BTreeMap<ModelKey, Record>>;

/// How one model fared: against another, or on a prompt.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "[i64; 4]", into = "[i64; 4]")]
pub struct Record {
    pub won: i64,
    /// To another; those of `both_bad` are not among them.
    pub lost: i64,
    pub tied: i64,
    pub both_bad: i64,
}

impl LadderStats {
    /// Heavy work. Only the `ranked` get a skill.
    pub(super) fn of(
        tallies: &Tallies,
        ranked: &BTreeSet<ModelKey>,
        history: RatingHistory,
        computed_at: OffsetDateTime,
    ) -> Self {
        let (mut duels, mut prompts) = (Duels::new(), BTreeMap::<_, BTreeMap<_, Record>>::new());
        let mut votes = 0;
        for tally in &tallies.tallies {
            votes += tally.verdicts.sum();
            for (model, other, record) in [
                (&tally.a, &tally.b, Record::from(tally.verdicts)),
                (&tally.b, &tally.a, Record::from(tally.verdicts.mirrored())),
            ] {
                add(&mut duels, model, other, record);
                add(&mut prompts, model, &tally.prompt, record);
            }
        }
        let fit = skill::fit(&tallies.tallies, PRIOR, ranked);
        Self { votes, voters: tallies.voters, computed_at, fit, duels, prompts, history }
    }

    pub fn duel(&self, one: &ModelKey, other: &ModelKey) -> Option<Record> {
        self.duels.get(one)?.get(other).copied()
    }

    /// All that a model did.
    pub(super) fn total(&self, model: &ModelKey) -> Record {
        let mut total = Record::default();
        self.duels.get(model).into_iter().flat_map(BTreeMap::values).for_each(|record| total.add(*record));
        total
    }
}

/// Most keys are there already, and need not be cloned.
fn add<K: Ord + Clone>(
    records: &mut BTreeMap<ModelKey, BTreeMap<K, Record>>,
    model: &ModelKey,
    key: &K,
    record: Record,
) {
    let of_model = match records.get_mut(model) {
        Some(of_model) => of_model,
        None => records.entry(model.clone()).or_default(),
    };
    match of_model.get_mut(key) {
        Some(sum) => sum.add(record),
        None => drop(of_model.insert(key.clone(), record)),
    }
}

impl Record {
    pub fn votes(&self) -> i64 {
        self.won + self.lost + self.tied + self.both_bad
    }

    /// As the ladder counts them: both bad is a loss, too.
    pub fn losses(&self) -> i64 {
        self.lost + self.both_bad
    }

    /// Of the votes that compare, ties counting half; from 0 to 1.
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
impl From<Verdicts> for Record {
    fn from(Verdicts { a, b, tie, both_bad }: Verdicts) -> Self {
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
