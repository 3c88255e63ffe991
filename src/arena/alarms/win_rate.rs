//! A model that suddenly wins much more, or much less, than its rating says. Pure.
//!
//! This also notices floods in which no network has two votes. It cannot tell anything about models that are new: their
//! ratings say nothing yet.

use std::collections::{BTreeMap, HashMap, HashSet};

use time::Duration;

use super::sources::{VoteSource, by_network};
use super::thresholds::THRESHOLD;
use super::window::{RecentVote, VoteWindow};
use super::{AlarmKind, AlarmSeverity, VoteAlarm, selection};
use crate::arena::decisions::MAX_SELECTED;
use crate::arena::{ModelKey, elo};

const PERIOD: Duration = Duration::HOUR;

const MIN_VOTES: f64 = 20.0;

/// From here on, an alarm is critical.
const CRITICAL: f64 = 6.0;

/// How far a rating is off however many votes a model has, in points: K lets it wander by this standard deviation.
const WANDERING: f64 = 37.0;

/// What a single vote tells about a rating, as a standard error in points; many votes tell more.
const ERROR_OF_ONE_VOTE: f64 = 347.0;

/// The expected score of a model, as it follows from ratings at the beginning.
#[derive(Clone, Copy, Default)]
struct ScoreSum {
    votes: f64,
    score: f64,
    expected: f64,
    variance: f64,
    /// The sum of the squared errors of the opponents' ratings.
    opponents: f64,
}

pub(super) fn alarms(window: &VoteWindow, votes: &[&RecentVote]) -> Vec<VoteAlarm> {
    let recent = votes.iter().copied().filter(|vote| vote.at >= window.now - PERIOD && vote.counts);
    let recent: Vec<_> = recent.collect();
    let ratings = ratings_before(window, &recent);
    let mut sums = BTreeMap::<&ModelKey, ScoreSum>::new();
    for vote in recent.iter().filter(|vote| vote.compares()) {
        for (side, model) in vote.models.iter().enumerate() {
            let (own, other) = (ratings[model], ratings[&vote.models[1 - side]]);
            let expected = elo::expected(own.elo, other.elo);
            let sum = sums.entry(model).or_default();
            sum.votes += 1.0;
            sum.score += vote.score(side);
            sum.expected += expected;
            sum.variance += expected * (1.0 - expected);
            sum.opponents += other.error * other.error;
        }
    }
    let unusual = sums.into_iter().filter_map(|(model, sum)| {
        let errors = sum.errors(ratings[model].error);
        (sum.votes >= MIN_VOTES && errors.abs() >= THRESHOLD)
            .then(|| alarm(window, &recent, model, sum, errors))
    });
    unusual.collect()
}

impl ScoreSum {
    /// By how many standard errors the score differs from the expected one.
    fn errors(self, own_error: f64) -> f64 {
        let per_point = self.variance * std::f64::consts::LN_10 / 400.0;
        let ratings = own_error * own_error + self.opponents / self.votes;
        (self.score - self.expected) / (self.variance + per_point * per_point * ratings).sqrt()
    }
}

#[derive(Clone, Copy)]
struct RatingBefore {
    elo: f64,
    error: f64,
}

/// The rating of each model before its first vote of the period.
fn ratings_before<'a>(window: &VoteWindow, recent: &[&'a RecentVote]) -> HashMap<&'a ModelKey, RatingBefore> {
    let mut counts = HashMap::<&ModelKey, (f64, i64)>::new();
    for vote in recent {
        for (model, elo) in vote.models.iter().zip(vote.elo) {
            counts.entry(model).or_insert((elo, 0)).1 += 1;
        }
    }
    let before = |(model, (elo, recent)): (&'a ModelKey, (f64, i64))| {
        let earlier = (window.standing(model).votes() - recent).max(0) as f64;
        let error = (WANDERING * WANDERING + ERROR_OF_ONE_VOTE * ERROR_OF_ONE_VOTE / (earlier + 1.0)).sqrt();
        (model, RatingBefore { elo, error })
    };
    counts.into_iter().map(before).collect()
}

/// Selects the networks all of whose votes on the model went the unusual way.
fn alarm(
    window: &VoteWindow,
    recent: &[&RecentVote],
    model: &ModelKey,
    sum: ScoreSum,
    errors: f64,
) -> VoteAlarm {
    let on_model: Vec<_> =
        recent.iter().copied().filter(|vote| vote.compares() && vote.is_on(model)).collect();
    let went_that_way =
        |vote: &&RecentVote| vote.preferred().is_some_and(|preferred| (preferred == model) == (errors > 0.0));
    let networks: HashSet<_> = by_network(&on_model)
        .into_iter()
        .filter(|network| network.votes.iter().all(went_that_way))
        .map(|network| network.source)
        .collect();
    let is_selected = |vote: &&RecentVote| {
        vote.network.is_some_and(|digest| networks.contains(&VoteSource::Network(digest)))
    };
    let votes: Vec<_> = on_model.into_iter().filter(is_selected).collect();
    let mut ids: Vec<_> = networks.iter().map(VoteSource::id).collect();
    ids.sort_unstable();
    ids.truncate(MAX_SELECTED);
    let sentence = format!(
        "{} scored {} points in {} votes of the last hour. Its rating predicts {:.0}.",
        window.name(model),
        sum.score,
        sum.votes,
        sum.expected,
    );
    VoteAlarm {
        kind: AlarmKind::WinRate,
        severity: if errors.abs() >= CRITICAL { AlarmSeverity::Critical } else { AlarmSeverity::Warning },
        subject: model.to_string(),
        sentence,
        votes: votes.len(),
        selection: selection(&votes, ids, Vec::new(), Some(model)),
    }
}
