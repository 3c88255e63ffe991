//! Where a judge and the voters differ most.

use std::collections::BTreeMap;

use uuid::Uuid;

use super::verdicts::{BuildVotes, JudgedPairs, VotedPairs};
use super::{BuildDisagreement, PairDisagreement};

/// How many of each are listed.
const MAX_LISTED: usize = 12;

/// A build with fewer votes is not compared.
const MIN_BUILD_VOTES: u64 = 3;

/// Standard deviations of fewer builds say little.
const MIN_BUILDS: usize = 5;

/// Fewer votes for the other build are not listed.
const MIN_OPPOSING_VOTES: f64 = 2.0;

pub(super) fn of_builds(scores: &BTreeMap<Uuid, f64>, voted: &VotedPairs) -> Vec<BuildDisagreement> {
    let scored = scores.iter().filter_map(|(build, overall)| {
        let votes = voted.builds.get(build).filter(|votes| votes.count >= MIN_BUILD_VOTES)?;
        Some((*build, *overall, *votes))
    });
    let scored: Vec<(Uuid, f64, BuildVotes)> = scored.collect();
    if scored.len() < MIN_BUILDS {
        return Vec::new();
    }
    let overall = standardised(scored.iter().map(|(_, overall, _)| *overall));
    // A draw more, so that builds with few votes are not the most extreme.
    let share = |votes: &BuildVotes| (votes.won + 1.0) / (votes.count as f64 + 2.0);
    let shares = standardised(scored.iter().map(|(_, _, votes)| share(votes)));
    let (Some(overall), Some(shares)) = (overall, shares) else { return Vec::new() };
    let compared = scored.iter().zip(overall.iter().zip(&shares));
    let mut builds: Vec<BuildDisagreement> = compared
        .map(|((build, overall, votes), (by_judge, by_voters))| BuildDisagreement {
            build: *build,
            overall: *overall,
            voters_share: votes.won / votes.count as f64,
            votes: votes.count,
            difference: by_judge - by_voters,
        })
        .collect();
    builds.sort_by(|a, b| b.difference.abs().total_cmp(&a.difference.abs()).then(a.build.cmp(&b.build)));
    builds.truncate(MAX_LISTED);
    builds
}

pub(super) fn of_pairs(judged: &JudgedPairs, voted: &VotedPairs) -> Vec<PairDisagreement> {
    let opposed = judged.decided_twice().filter_map(|(pair, is_first)| {
        let votes = voted.get(pair)?;
        let (preferred, other, votes) = match is_first {
            true => (pair.0, pair.1, votes),
            false => (pair.1, pair.0, votes.mirrored()),
        };
        let most_oppose = votes.second >= MIN_OPPOSING_VOTES && votes.second > votes.first + votes.neither;
        most_oppose.then_some(PairDisagreement {
            preferred,
            other,
            votes_for_preferred: votes.first as u64,
            votes_for_other: votes.second as u64,
            votes: votes.total() as u64,
        })
    });
    let mut pairs: Vec<PairDisagreement> = opposed.collect();
    let lead = |pair: &PairDisagreement| pair.votes_for_other.saturating_sub(pair.votes_for_preferred);
    pairs.sort_by_key(|pair| (std::cmp::Reverse(lead(pair)), pair.preferred, pair.other));
    pairs.truncate(MAX_LISTED);
    pairs
}

/// Minus the mean, in standard deviations. None if all are equal.
fn standardised(values: impl Iterator<Item = f64> + Clone) -> Option<Vec<f64>> {
    let count = values.clone().count() as f64;
    let mean = values.clone().sum::<f64>() / count;
    let deviation = (values.clone().map(|value| (value - mean).powi(2)).sum::<f64>() / count).sqrt();
    (deviation > 1e-9).then(|| values.map(|value| (value - mean) / deviation).collect())
}
