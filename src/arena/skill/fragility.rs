//! How many votes decide a rank.

use nalgebra::{DMatrix, DVector};

use super::{ROUNDING, graph::Duel, likelihood::Likelihood};

/// Votes of one duel and outcome that help the leader, all by the same amount.
struct Support {
    duel: usize,
    outcome: usize,
    votes: u64,
    /// What one of them adds to the lead, approximately, in nats.
    influence: f64,
}

/// How many votes must be removed for the second to catch up with the first, beginning with those that help the first
/// most. None if removing all of these is not enough.
pub(super) fn votes_between(
    likelihood: &Likelihood,
    peak: &DVector<f64>,
    inverse: &DMatrix<f64>,
    first: usize,
    second: usize,
) -> Option<u64> {
    let lead = peak[first] - peak[second];
    if lead <= ROUNDING {
        return Some(0);
    }
    let supports = supports(likelihood, peak, &(inverse.column(first) - inverse.column(second)));
    let all = supports.iter().map(|support| support.votes).sum();
    let still_leads = |removed| {
        let duels = without_votes(likelihood.duels, &supports, removed);
        let skills = likelihood.of(&duels).maximum(peak.rows(0, likelihood.models));
        skills[first] - skills[second] > ROUNDING
    };
    // Influence is only valid for small changes, so it gives the first guess, and refits decide, some 64 at most.
    let (mut too_few, mut enough) = (0, all + 1);
    let mut probe = estimate(&supports, lead).min(all);
    let mut reach = 1 + probe / 16;
    while too_few < probe && probe < enough {
        if still_leads(probe) {
            too_few = probe;
        } else {
            enough = probe;
        }
        let middle = too_few.midpoint(enough);
        probe = middle.clamp(probe.saturating_sub(reach), probe.saturating_add(reach));
        reach = reach.saturating_mul(2);
    }
    (enough <= all).then_some(enough)
}

/// The votes that help the leader, the most helpful first. `toward` is the direction in which the lead grows.
fn supports(likelihood: &Likelihood, peak: &DVector<f64>, toward: &DVector<f64>) -> Vec<Support> {
    let mut supports = Vec::new();
    for (index, duel) in likelihood.duels.iter().enumerate() {
        let influences = likelihood.slopes_along(toward, duel, peak);
        for (outcome, (votes, influence)) in duel.outcomes.into_iter().zip(influences).enumerate() {
            if votes > 0 && influence > 0.0 {
                supports.push(Support { duel: index, outcome, votes, influence });
            }
        }
    }
    supports.sort_by(|a, b| b.influence.total_cmp(&a.influence));
    supports
}

fn estimate(supports: &[Support], mut lead: f64) -> u64 {
    let mut votes = 0;
    for support in supports {
        let needed = (lead / support.influence).ceil() as u64;
        votes += needed.min(support.votes);
        if needed <= support.votes {
            break;
        }
        lead -= support.votes as f64 * support.influence;
    }
    votes
}

fn without_votes(duels: &[Duel], supports: &[Support], mut removed: u64) -> Vec<Duel> {
    let mut duels = duels.to_vec();
    for support in supports {
        let votes = support.votes.min(removed);
        duels[support.duel].outcomes[support.outcome] -= votes;
        removed -= votes;
    }
    duels
}
