//! The rules about a single voter or network, and the list of all alarms. Pure.
//!
//! Most rules compare a share with the share that is to be expected, and divide the difference by its standard error. A
//! standard error counts votes as independent, which they are not quite: the votes on one model's builds resemble each
//! other. So each rule allows a difference of [`UNEXPLAINED`] for no reason at all, and calls nothing unusual that is
//! nearer than [`THRESHOLD`] standard errors. Chance alone passes that once in 30,000 times.

use std::collections::HashSet;

use super::sources::{ModelVotes, SourceVotes, VoteSource, by_network, by_voter};
use super::thresholds::{THRESHOLD, UNEXPLAINED};
use super::window::{RecentVote, VoteWindow};
use super::{AlarmKind, AlarmSeverity, VoteAlarm, crowd, selection, win_rate};
use crate::arena::ModelKey;
use crate::arena::votes::network_keys::NetworkDigest;

/// The most alarms of a report.
const MAX_ALARMS: usize = 60;

/// Fewer votes of a voter or a network say nothing.
const MIN_VOTES: usize = 8;

/// How many choices of a side a voter or a network must have made.
const MIN_SIDED_VOTES: i64 = 20;

/// A vote is fast if it comes within this time after the earliest moment.
const FAST_MS: i64 = 300;
const MIN_FAST_VOTES: usize = 20;
const FAST_SHARE: f64 = 0.8;

const MIN_BUSY_VOTES: usize = 50;
const BUSY_SHARE: f64 = 0.2;

pub(super) fn alarms(window: &VoteWindow) -> Vec<VoteAlarm> {
    let votes: Vec<_> = window.votes.iter().filter(|vote| !vote.is_decided).collect();
    let mut alarms = crowd::alarms(window, &votes);
    alarms.extend(win_rate::alarms(window, &votes));
    alarms.extend(source_alarms(window, &votes));
    alarms.sort_by(|one, other| {
        other.severity.cmp(&one.severity).then(one.kind.cmp(&other.kind)).then(other.votes.cmp(&one.votes))
    });
    alarms.truncate(MAX_ALARMS);
    alarms
}

/// A voter is left out where its whole network has raised the same alarm.
fn source_alarms(window: &VoteWindow, votes: &[&RecentVote]) -> Vec<VoteAlarm> {
    let mut alarms = Vec::new();
    let mut alarmed = HashSet::<(AlarmKind, NetworkDigest)>::new();
    for source in by_network(votes).iter().chain(&by_voter(votes)) {
        if source.votes.len() < MIN_VOTES {
            continue;
        }
        let found = [one_model(window, source), one_side(source), fast(window, source), busy(window, source)];
        for alarm in found.into_iter().flatten() {
            match source.source {
                VoteSource::Network(digest) => {
                    alarmed.insert((alarm.kind, digest));
                }
                VoteSource::Voter(_) => {
                    let network = source.votes.first().and_then(|vote| vote.network);
                    if network.is_some_and(|network| alarmed.contains(&(alarm.kind, network))) {
                        continue;
                    }
                }
            }
            alarms.push(alarm);
        }
    }
    alarms
}

/// Compares how often a source prefers a model with how often everybody else ever has.
fn one_model(window: &VoteWindow, source: &SourceVotes<'_>) -> Option<VoteAlarm> {
    let models = source.models();
    let scored = models.iter().filter(|(_, counts)| counts.compared >= MIN_VOTES).map(|(model, counts)| {
        let usual = usual_share(window, source, model);
        (*model, *counts, usual, usual.errors_to(*counts))
    });
    let (model, counts, usual, errors) = scored.max_by(|one, other| one.3.total_cmp(&other.3))?;
    if errors < THRESHOLD {
        return None;
    }
    let votes: Vec<_> = source.votes.iter().copied().filter(|vote| vote.is_on(model)).collect();
    let sentence = format!(
        "{} prefers {} in {} of {} votes on it. Others prefer it in {:.0} % of theirs.",
        source.source,
        window.name(model),
        counts.preferred,
        counts.compared,
        usual.share * 100.0,
    );
    Some(alarm(AlarmKind::OneModel, AlarmSeverity::Warning, source, &votes, Some(model), sentence))
}

/// How often others prefer a model.
#[derive(Clone, Copy)]
struct UsualShare {
    share: f64,
    votes: f64,
}

impl UsualShare {
    /// By how many standard errors a source prefers the model more often than others do.
    fn errors_to(self, counts: ModelVotes) -> f64 {
        let compared = counts.compared as f64;
        let variance = self.share * (1.0 - self.share) * (1.0 / compared + 1.0 / self.votes);
        (counts.preferred as f64 / compared - self.share) / UNEXPLAINED.mul_add(UNEXPLAINED, variance).sqrt()
    }
}

/// One imaginary vote for the model and one against it stand for knowing nothing.
fn usual_share(window: &VoteWindow, source: &SourceVotes<'_>, model: &ModelKey) -> UsualShare {
    let standing = window.standing(model);
    let own = source.votes.iter().filter(|vote| vote.counts && vote.compares() && vote.is_on(model));
    let own_preferred = own.clone().filter(|vote| vote.preferred() == Some(model)).count();
    let preferred = (standing.wins as f64 - own_preferred as f64).max(0.0);
    let compared = ((standing.votes() - standing.both_bad) as f64 - own.count() as f64).max(preferred);
    UsualShare { share: (preferred + 1.0) / (compared + 2.0), votes: compared + 2.0 }
}

/// Sides are drawn by a fair coin, so both are chosen about as often.
fn one_side(source: &SourceVotes<'_>) -> Option<VoteAlarm> {
    let choices = source.choices();
    let sided = choices.a + choices.b;
    let (side, count) = if choices.a > choices.b { ("left", choices.a) } else { ("right", choices.b) };
    let surplus = count as f64 / sided.max(1) as f64 - 0.5;
    let error = UNEXPLAINED.mul_add(UNEXPLAINED, 0.25 / sided.max(1) as f64).sqrt();
    if sided < MIN_SIDED_VOTES || surplus / error < THRESHOLD {
        return None;
    }
    let sentence = format!("{} chose the {side} side {count} times out of {sided}.", source.source);
    Some(alarm(AlarmKind::OneSide, AlarmSeverity::Warning, source, &source.votes, None, sentence))
}

fn fast(window: &VoteWindow, source: &SourceVotes<'_>) -> Option<VoteAlarm> {
    let limit = window.min_dwell_ms.saturating_add(FAST_MS);
    let timed = source.votes.iter().filter(|vote| vote.dwell_ms.is_some()).count();
    let is_fast = |vote: &&&RecentVote| vote.dwell_ms.is_some_and(|dwell| dwell <= limit);
    let fast: Vec<_> = source.votes.iter().filter(is_fast).copied().collect();
    if timed < MIN_FAST_VOTES || (fast.len() as f64) < FAST_SHARE * timed as f64 {
        return None;
    }
    let sentence = format!(
        "{} cast {} of {timed} votes within {:.1} s of seeing both builds; {:.1} s is the earliest.",
        source.source,
        fast.len(),
        limit as f64 / 1000.0,
        window.min_dwell_ms as f64 / 1000.0,
    );
    let mut alarm = alarm(AlarmKind::Fast, AlarmSeverity::Notice, source, &fast, None, sentence);
    alarm.selection.max_dwell_ms = Some(limit);
    Some(alarm)
}

fn busy(window: &VoteWindow, source: &SourceVotes<'_>) -> Option<VoteAlarm> {
    let share = source.votes.len() as f64 / window.votes.len() as f64;
    let is_network = matches!(source.source, VoteSource::Network(_));
    if !is_network || source.votes.len() < MIN_BUSY_VOTES || share < BUSY_SHARE {
        return None;
    }
    let voters = source.voters();
    let sentence = format!(
        "{} cast {} of the last day’s {} votes ({:.0} %), as {voters} {}.",
        source.source,
        source.votes.len(),
        window.votes.len(),
        share * 100.0,
        if voters == 1 { "voter" } else { "voters" },
    );
    Some(alarm(AlarmKind::Busy, AlarmSeverity::Notice, source, &source.votes, None, sentence))
}

fn alarm(
    kind: AlarmKind,
    severity: AlarmSeverity,
    source: &SourceVotes<'_>,
    votes: &[&RecentVote],
    model: Option<&ModelKey>,
    sentence: String,
) -> VoteAlarm {
    let (networks, voters) = match source.source {
        VoteSource::Network(_) => (vec![source.source.id()], Vec::new()),
        VoteSource::Voter(voter) => (Vec::new(), vec![voter]),
    };
    let selection = selection(votes, networks, voters, model);
    VoteAlarm { kind, severity, subject: source.source.id(), sentence, votes: votes.len(), selection }
}
