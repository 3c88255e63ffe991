//! A flood from many networks, each of which casts few votes. Pure.
//!
//! No single network of such a flood is unusual. What is unusual is how many of them agree: a network *agrees* on a model
//! if it has at least two votes and at least nine tenths of them prefer this model. Among people, a few networks agree
//! by chance, and how many is known from how often people prefer the model.
//!
//! That rate must not come from the flood. So it is fitted to the networks that do not agree, as the rate at which
//! networks that fail to agree would prefer the model as often as these did. Leaving out those that agree without
//! correcting for it would make the rate too low, and honest networks suspicious.

use std::collections::BTreeMap;

use statrs::distribution::{Binomial, DiscreteCDF};
use time::{Duration, OffsetDateTime};

use super::sources::{ModelVotes, SourceVotes, by_network};
use super::thresholds::{THRESHOLD, UNEXPLAINED};
use super::window::{RecentVote, VoteWindow};
use super::{AlarmKind, AlarmSeverity, VoteAlarm, selection};
use crate::arena::ModelKey;
use crate::arena::decisions::MAX_SELECTED;

const MIN_NETWORKS: usize = 5;

/// A network with fewer votes cannot agree with itself.
const MIN_TRIES: usize = 2;

/// The share of its votes with which a network agrees on a model.
const AGREEMENT: f64 = 0.9;

const HALVINGS: usize = 30;

/// Which votes of a network have to prefer the model.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Signature {
    /// All of its votes: it votes on nothing else.
    AllVotes,
    /// Those on the model: it may cast any votes besides.
    VotesOnModel,
}

/// The votes of a network that could have preferred the model, and those that did.
#[derive(Clone, Copy)]
struct Attempts {
    tries: usize,
    hits: usize,
}

/// Networks with the same number of tries.
#[derive(Clone, Copy, Default)]
struct AttemptGroup {
    /// How many networks agree, and how many do not.
    agreeing: usize,
    others: usize,
    /// The hits of those that do not.
    hits: usize,
}

/// A network's votes, and how often it preferred each model.
struct NetworkTally<'a> {
    source: SourceVotes<'a>,
    models: BTreeMap<&'a ModelKey, ModelVotes>,
}

pub(super) fn alarms(window: &VoteWindow, votes: &[&RecentVote]) -> Vec<VoteAlarm> {
    let hour: Vec<_> = votes.iter().copied().filter(|vote| vote.at >= window.now - Duration::HOUR).collect();
    let periods =
        [(window.from(), "a day", tallies(votes)), (window.now - Duration::HOUR, "an hour", tallies(&hour))];
    let found = window.models.keys().filter_map(|model| {
        [Signature::AllVotes, Signature::VotesOnModel].into_iter().find_map(|signature| {
            let of_periods = periods.iter().filter_map(|(from, period, networks)| {
                Crowd { window, model, signature, from: *from, period }.alarm(networks)
            });
            of_periods.max_by_key(|alarm| alarm.votes)
        })
    });
    found.collect()
}

fn tallies<'a>(votes: &[&'a RecentVote]) -> Vec<NetworkTally<'a>> {
    let tally = |source: SourceVotes<'a>| NetworkTally { models: source.models(), source };
    by_network(votes).into_iter().map(tally).collect()
}

/// The search for a crowd in favour of one model.
struct Crowd<'w> {
    window: &'w VoteWindow,
    model: &'w ModelKey,
    signature: Signature,
    from: OffsetDateTime,
    period: &'static str,
}

impl Crowd<'_> {
    fn alarm(&self, networks: &[NetworkTally<'_>]) -> Option<VoteAlarm> {
        let agreeing = || networks.iter().filter(|network| self.attempts(network).agree());
        let found = agreeing().count();
        if found < MIN_NETWORKS {
            return None;
        }
        let groups = self.groups(networks);
        let (usual, error) = usual_number(&groups, self.rate(&groups));
        if (found as f64 - usual) / error < THRESHOLD {
            return None;
        }
        let mut agreeing: Vec<_> = agreeing().collect();
        agreeing.sort_by_key(|network| std::cmp::Reverse(network.source.votes.len()));
        agreeing.truncate(MAX_SELECTED);
        let votes = agreeing.iter().flat_map(|network| network.source.votes.iter().copied());
        let votes: Vec<_> = votes.filter(|vote| vote.is_on(self.model)).collect();
        let ids = agreeing.iter().map(|network| network.source.source.id()).collect();
        Some(VoteAlarm {
            kind: AlarmKind::Crowd,
            severity: AlarmSeverity::Critical,
            subject: self.model.to_string(),
            sentence: self.sentence(found, usual, votes.len()),
            votes: votes.len(),
            selection: selection(&votes, ids, Vec::new(), Some(self.model)),
        })
    }

    fn sentence(&self, found: usize, usual: f64, votes: usize) -> String {
        let name = self.window.name(self.model);
        let did = match self.signature {
            Signature::AllVotes => format!("voted for {name} and for nothing else"),
            Signature::VotesOnModel => format!("preferred {name} whenever they voted on it"),
        };
        let period = self.period;
        format!(
            "{found} networks {did}, with {votes} votes within {period}. About {usual:.0} such networks are usual."
        )
    }

    fn attempts(&self, network: &NetworkTally<'_>) -> Attempts {
        let on_model = network.models.get(self.model).copied().unwrap_or_default();
        let tries = match self.signature {
            Signature::AllVotes => network.source.votes.len(),
            Signature::VotesOnModel => on_model.compared,
        };
        Attempts { tries, hits: on_model.preferred }
    }

    fn groups(&self, networks: &[NetworkTally<'_>]) -> BTreeMap<usize, AttemptGroup> {
        let mut groups = BTreeMap::<_, AttemptGroup>::new();
        for attempts in networks.iter().map(|network| self.attempts(network)) {
            let group = groups.entry(attempts.tries).or_default();
            match attempts.agree() {
                true => group.agreeing += 1,
                false => {
                    group.others += 1;
                    group.hits += attempts.hits;
                }
            }
        }
        groups
    }

    /// How often people prefer the model: all votes before this period, and the networks that do not agree.
    fn rate(&self, groups: &BTreeMap<usize, AttemptGroup>) -> f64 {
        let earlier = self.earlier();
        let hits = groups.values().map(|group| group.hits).sum::<usize>() as f64 + earlier.hits as f64 + 1.0;
        let expected_hits = |rate: f64| {
            let of_groups = groups.iter().map(|(&tries, group)| match group.others {
                0 => 0.0,
                others => others as f64 * hits_without_agreement(tries, rate),
            });
            of_groups.sum::<f64>() + rate * (earlier.tries as f64 + 2.0)
        };
        let (mut low, mut high) = (0.001, 0.999);
        for _ in 0..HALVINGS {
            let middle = f64::midpoint(low, high);
            if expected_hits(middle) < hits { low = middle } else { high = middle }
        }
        f64::midpoint(low, high)
    }

    /// The votes that count and are older than the period.
    fn earlier(&self) -> Attempts {
        let standing = self.window.standing(self.model);
        let recent = self.window.votes.iter().filter(|vote| vote.counts && vote.at >= self.from);
        let recent_hits = recent.clone().filter(|vote| vote.preferred() == Some(self.model)).count();
        let (all, recent) = match self.signature {
            Signature::AllVotes => {
                let votes: i64 = self.window.models.values().map(|rated| rated.standing.votes()).sum();
                (votes / 2, recent.count())
            }
            Signature::VotesOnModel => {
                let compared = standing.votes() - standing.both_bad;
                (compared, recent.filter(|vote| vote.compares() && vote.is_on(self.model)).count())
            }
        };
        let tries = usize::try_from(all).unwrap_or_default().saturating_sub(recent);
        let hits = usize::try_from(standing.wins).unwrap_or_default().saturating_sub(recent_hits);
        Attempts { tries, hits: hits.min(tries) }
    }
}

impl Attempts {
    fn agree(self) -> bool {
        self.tries >= MIN_TRIES && self.hits >= needed_hits(self.tries)
    }
}

fn needed_hits(tries: usize) -> usize {
    (AGREEMENT * tries as f64).ceil() as usize
}

/// How many networks agree by chance, and the standard error of that.
fn usual_number(groups: &BTreeMap<usize, AttemptGroup>, rate: f64) -> (f64, f64) {
    let rate = (rate + UNEXPLAINED).min(0.999);
    let agreeing = groups.range(MIN_TRIES..).map(|(&tries, group)| {
        let networks = (group.agreeing + group.others) as f64;
        let chance = chance_of_at_least(needed_hits(tries), tries, rate);
        (networks * chance, networks * chance * (1.0 - chance))
    });
    let (usual, variance) = agreeing.fold((0.0, 0.0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
    (usual, (variance + 1.0).sqrt())
}

/// The mean number of hits of a network that does not agree.
fn hits_without_agreement(tries: usize, rate: f64) -> f64 {
    if tries < MIN_TRIES {
        return tries as f64 * rate;
    }
    let needed = needed_hits(tries);
    let agree = chance_of_at_least(needed, tries, rate);
    let hits_if_agreeing = chance_of_at_least(needed - 1, tries - 1, rate);
    tries as f64 * rate * (1.0 - hits_if_agreeing) / (1.0 - agree).max(f64::MIN_POSITIVE)
}

fn chance_of_at_least(hits: usize, tries: usize, rate: f64) -> f64 {
    let Some(below) = hits.checked_sub(1) else { return 1.0 };
    Binomial::new(rate, tries as u64).map_or(0.0, |binomial| binomial.sf(below as u64))
}
