//! Replaying votes: the ratings that follow from those that count, compared with the stored ones.

mod stored;

pub(super) use self::stored::{correct, lock_ratings, replay_before};
pub use self::stored::{repair, verify};

use std::collections::BTreeMap;

use super::elo::{Standing, apply_vote};
use super::vote_log::LoggedVote;
use super::{ModelKey, TallyMismatch};

/// The standings of all models, by settings.
pub type Ladders = BTreeMap<String, BTreeMap<ModelKey, Standing>>;

/// The ladders after the votes so far.
#[derive(Debug, Default)]
pub struct Replay {
    pub ladders: Ladders,
    /// The votes that count, and those that do not.
    pub votes: u64,
    pub excluded: u64,
    latest: Option<i64>,
}

/// Both models' ratings before and after a vote: of A, then of B.
#[derive(Clone, Copy, Debug)]
pub struct RatingChange {
    pub before: [f64; 2],
    pub after: [f64; 2],
}

/// Why a vote cannot be the next one.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReplayError {
    #[error("vote {id} comes after vote {latest}, but votes must be in the order of their ids")]
    OutOfOrder { id: i64, latest: i64 },
    #[error("vote {id} compares {model} with itself")]
    SameModel { id: i64, model: ModelKey },
}

impl From<ReplayError> for sqlx::Error {
    fn from(wrong: ReplayError) -> Self {
        Self::Decode(wrong.into())
    }
}

/// A difference between what is stored and what follows from the votes.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Difference {
    #[error(
        "vote {vote} is stored with an Elo of {stored:?} for {model} {when} it; by the votes up to it, that is {replayed:?}"
    )]
    Vote { vote: i64, model: ModelKey, when: &'static str, stored: f64, replayed: f64 },
    #[error("{model} ({settings}) is stored with {column} {stored}; by its votes, that is {replayed}")]
    Standing { settings: String, model: ModelKey, column: &'static str, stored: String, replayed: String },
    #[error("{model} ({settings}) has votes, but no stored rating")]
    NoStanding { settings: String, model: ModelKey },
    #[error("{model} ({settings}) has a stored rating, but no votes")]
    NoVotes { settings: String, model: ModelKey },
    #[error(
        "the tally of builds {} and {} with {} votes does not match the {} votes on them",
        .0.build_a, .0.build_b, .0.stored, .0.counted
    )]
    Tally(TallyMismatch),
    #[error("the number of counted votes is stored wrongly for {0} voters")]
    VoterTotals(u64),
}

impl Replay {
    /// What the next vote changes, by the votes before it. Nothing if it does not count.
    pub fn next(&mut self, vote: &LoggedVote) -> Result<Option<RatingChange>, ReplayError> {
        let LoggedVote { id, model_a, model_b, .. } = vote;
        if let Some(latest) = self.latest.filter(|latest| id <= latest) {
            return Err(ReplayError::OutOfOrder { id: *id, latest });
        }
        if model_a == model_b {
            return Err(ReplayError::SameModel { id: *id, model: model_a.clone() });
        }
        self.latest = Some(*id);
        if vote.exclusion.is_some() {
            self.excluded += 1;
            return Ok(None);
        }
        let ladder = self.ladders.entry(vote.settings.clone()).or_default();
        let of = |model| ladder.get(model).copied().unwrap_or(Standing::NEW);
        let before = (of(model_a), of(model_b));
        let after = apply_vote(before.0, before.1, vote.choice);
        ladder.insert(model_a.clone(), after.0);
        ladder.insert(model_b.clone(), after.1);
        self.votes += 1;
        let change = RatingChange { before: [before.0.elo, before.1.elo], after: [after.0.elo, after.1.elo] };
        Ok(Some(change))
    }

    pub fn models(&self) -> usize {
        self.ladders.values().map(BTreeMap::len).sum()
    }

    /// How the stored ladders differ, model by model. A model none of whose votes count may have a rating all the same,
    /// that of a new one.
    pub fn differences(&self, stored: &Ladders) -> Vec<Difference> {
        let replayed = self.ladders.iter().flat_map(|(settings, ladder)| {
            let stored = stored.get(settings);
            ladder.iter().filter_map(move |(model, standing)| {
                let (settings, model) = (settings.clone(), model.clone());
                match stored.and_then(|ladder| ladder.get(&model)) {
                    Some(stored) => differing(stored, standing).map(|(column, stored, replayed)| {
                        Difference::Standing { settings, model, column, stored, replayed }
                    }),
                    None => Some(Difference::NoStanding { settings, model }),
                }
            })
        });
        let voteless = stored.iter().flat_map(|(settings, ladder)| {
            let replayed = self.ladders.get(settings);
            let has_no_votes =
                move |model: &ModelKey| !replayed.is_some_and(|ladder| ladder.contains_key(model));
            let voteless = ladder
                .iter()
                .filter(move |(model, standing)| has_no_votes(model) && **standing != Standing::NEW);
            voteless
                .map(|(model, _)| Difference::NoVotes { settings: settings.clone(), model: model.clone() })
        });
        replayed.chain(voteless).collect()
    }
}

impl RatingChange {
    /// As the log has it.
    pub fn logged(vote: &LoggedVote) -> Self {
        Self { before: [vote.elo_a_before, vote.elo_b_before], after: [vote.elo_a_after, vote.elo_b_after] }
    }

    /// How the log differs from this, if it does.
    pub fn difference(&self, vote: &LoggedVote) -> Option<Difference> {
        let logged = Self::logged(vote);
        let sides = |when, logged: [f64; 2], replayed: [f64; 2]| {
            let models = [&vote.model_a, &vote.model_b];
            (0..2).map(move |side| (when, models[side], logged[side], replayed[side]))
        };
        let (when, model, stored, replayed) = sides("before", logged.before, self.before)
            .chain(sides("after", logged.after, self.after))
            .find(|(_, _, stored, replayed)| stored.to_bits() != replayed.to_bits())?;
        Some(Difference::Vote { vote: vote.id, model: model.clone(), when, stored, replayed })
    }
}

/// The first column in which two standings differ, with both values.
fn differing(stored: &Standing, replayed: &Standing) -> Option<(&'static str, String, String)> {
    if stored.elo.to_bits() != replayed.elo.to_bits() {
        return Some(("Elo", format!("{:?}", stored.elo), format!("{:?}", replayed.elo)));
    }
    let counts =
        |s: &Standing| [("wins", s.wins), ("losses", s.losses), ("ties", s.ties), ("both bad", s.both_bad)];
    let mut pairs = counts(stored).into_iter().zip(counts(replayed));
    let ((column, stored), (_, replayed)) = pairs.find(|(stored, replayed)| stored != replayed)?;
    Some((column, stored.to_string(), replayed.to_string()))
}

/// The result of comparing everything that is stored with the votes.
#[derive(Debug, Default)]
pub struct ReplayReport {
    pub replay: Replay,
    pub differing_votes: u64,
    pub differing_ratings: u64,
    pub differing_tallies: u64,
    pub differing_voters: u64,
    pub first: Option<Difference>,
}

impl ReplayReport {
    pub fn is_clean(&self) -> bool {
        self.first.is_none()
    }

    /// Replays the next vote. Returns what it changes, if that is stored differently.
    pub fn next(&mut self, vote: &LoggedVote) -> Result<Option<RatingChange>, ReplayError> {
        let Some(change) = self.replay.next(vote)? else { return Ok(None) };
        let Some(difference) = change.difference(vote) else { return Ok(None) };
        self.differing_votes += 1;
        self.first.get_or_insert(difference);
        Ok(Some(change))
    }

    fn add_ratings(&mut self, stored: &Ladders) {
        let differences = self.replay.differences(stored);
        self.differing_ratings = differences.len() as u64;
        self.first = self.first.take().or_else(|| differences.into_iter().next());
    }

    fn add_voters(&mut self, mismatches: u64) {
        self.differing_voters = mismatches;
        let difference = (mismatches > 0).then_some(Difference::VoterTotals(mismatches));
        self.first = self.first.take().or(difference);
    }

    fn add_tallies(&mut self, mismatches: Vec<TallyMismatch>) {
        self.differing_tallies = mismatches.len() as u64;
        self.first = self.first.take().or_else(|| mismatches.into_iter().next().map(Difference::Tally));
    }
}

#[cfg(test)]
mod tests;
