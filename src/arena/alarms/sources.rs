//! Where votes come from: voters and networks.

use std::collections::{BTreeMap, HashSet};
use std::fmt;

use time::OffsetDateTime;
use uuid::Uuid;

use super::window::{RecentVote, VoteWindow};
use crate::arena::votes::network_keys::NetworkDigest;
use crate::arena::{ChoiceCounts, ModelKey};

/// A voter, or a network on one day.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum VoteSource {
    Voter(Uuid),
    Network(NetworkDigest),
}

/// A source with its votes.
pub(super) struct SourceVotes<'a> {
    pub source: VoteSource,
    pub votes: Vec<&'a RecentVote>,
}

/// What a source has voted.
#[derive(Clone, Debug)]
pub struct SourceSummary {
    pub source: VoteSource,
    pub choices: ChoiceCounts,
    /// The share of all votes of this time, from 0 to 1.
    pub share: f64,
    /// How many of the votes do not count.
    pub excluded: i64,
    pub voters: usize,
    /// The model that was preferred most often.
    pub favourite: Option<FavouriteModel>,
    pub median_dwell_ms: Option<i64>,
    pub first_at: OffsetDateTime,
    pub last_at: OffsetDateTime,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FavouriteModel {
    pub name: String,
    pub preferred: i64,
    /// The votes in which it was compared.
    pub of: i64,
}

impl VoteSource {
    /// As a selection of votes names it.
    pub fn id(&self) -> String {
        match self {
            Self::Voter(id) => id.to_string(),
            Self::Network(digest) => hex::encode(digest.0),
        }
    }

    /// Enough of the id to tell sources apart.
    pub fn short_id(&self) -> String {
        self.id().chars().take(8).collect()
    }
}

/// At the beginning of a sentence.
impl fmt::Display for VoteSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = match self {
            Self::Voter(_) => "Voter",
            Self::Network(_) => "Network",
        };
        write!(f, "{word} {}", self.short_id())
    }
}

pub(super) fn by_network<'a>(votes: &[&'a RecentVote]) -> Vec<SourceVotes<'a>> {
    grouped(votes, |vote| vote.network.map(VoteSource::Network))
}

pub(super) fn by_voter<'a>(votes: &[&'a RecentVote]) -> Vec<SourceVotes<'a>> {
    grouped(votes, |vote| Some(VoteSource::Voter(vote.voter)))
}

fn grouped<'a>(
    votes: &[&'a RecentVote],
    source: impl Fn(&RecentVote) -> Option<VoteSource>,
) -> Vec<SourceVotes<'a>> {
    let mut groups = BTreeMap::<VoteSource, Vec<_>>::new();
    for vote in votes {
        if let Some(source) = source(vote) {
            groups.entry(source).or_default().push(*vote);
        }
    }
    groups.into_iter().map(|(source, votes)| SourceVotes { source, votes }).collect()
}

/// How often a model was compared, and how often it was preferred.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct ModelVotes {
    pub compared: usize,
    pub preferred: usize,
}

impl<'a> SourceVotes<'a> {
    pub fn models(&self) -> BTreeMap<&'a ModelKey, ModelVotes> {
        let mut models = BTreeMap::<_, ModelVotes>::new();
        for vote in self.votes.iter().filter(|vote| vote.compares()) {
            for model in &vote.models {
                let counts = models.entry(model).or_default();
                counts.compared += 1;
                counts.preferred += usize::from(vote.preferred() == Some(model));
            }
        }
        models
    }

    pub fn choices(&self) -> ChoiceCounts {
        self.votes.iter().fold(ChoiceCounts::default(), |counts, vote| counts.with(vote.choice))
    }

    pub fn voters(&self) -> usize {
        self.votes.iter().map(|vote| vote.voter).collect::<HashSet<_>>().len()
    }
}

impl SourceSummary {
    pub(super) fn of(source: &SourceVotes<'_>, window: &VoteWindow) -> Self {
        let votes = &source.votes;
        let models = source.models();
        let favourite = models.into_iter().max_by_key(|(_, counts)| counts.preferred);
        let mut dwells: Vec<_> = votes.iter().filter_map(|vote| vote.dwell_ms).collect();
        dwells.sort_unstable();
        let times = || votes.iter().map(|vote| vote.at);
        Self {
            source: source.source,
            choices: source.choices(),
            share: votes.len() as f64 / window.votes.len().max(1) as f64,
            excluded: votes.iter().filter(|vote| !vote.counts).count() as i64,
            voters: source.voters(),
            favourite: favourite.filter(|(_, counts)| counts.preferred > 0).map(|(model, counts)| {
                FavouriteModel {
                    name: window.name(model).to_owned(),
                    preferred: counts.preferred as i64,
                    of: counts.compared as i64,
                }
            }),
            median_dwell_ms: dwells.get(dwells.len() / 2).copied(),
            first_at: times().min().unwrap_or(window.now),
            last_at: times().max().unwrap_or(window.now),
        }
    }
}
