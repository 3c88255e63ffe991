//! The uncertainty of skills.
//!
//! A model has one build per prompt, and all votes on the prompt judge that build. So votes are not independent, only
//! prompts are: the covariance follows from how much the gradients of whole prompts vary, and from the curvature. This
//! "sandwich" estimator needs no assumption about the votes within a prompt.
//!
//! Nor are the votes of one voter independent, so the covariance is clustered both ways: that by prompts, plus that by
//! voters, minus that by single votes, which is in both. Voters with few votes count as if each of their votes were a
//! voter. Such a difference can fall below the covariance by prompts, and even below zero; the larger variance holds
//! then.

use nalgebra::{DMatrix, DVector};
use statrs::distribution::{ContinuousCDF, StudentsT};

use super::ROUNDING;
use super::graph::{ComparisonGraph, Duel};
use super::likelihood::Likelihood;

/// With fewer prompts there is no interval. That holds for the prompts of each model too: its skill is fitted to them,
/// so their gradients nearly cancel, and a model with few prompts would look most certain where it is least.
const MIN_PROMPTS: usize = 5;

pub(super) struct Uncertainty {
    pub by_prompt: DMatrix<f64>,
    pub by_prompt_and_voter: DMatrix<f64>,
    /// The number of standard errors in half a 95 % interval.
    quantile: f64,
    /// Whether a parameter is based on enough prompts.
    has_enough_prompts: Vec<bool>,
}

impl Uncertainty {
    /// At the likelihood's maximum, with the inverse of the curvature there.
    pub fn new(
        graph: &ComparisonGraph,
        likelihood: &Likelihood,
        peak: &DVector<f64>,
        inverse: &DMatrix<f64>,
    ) -> Option<Self> {
        let prompts = graph.prompts.len();
        if prompts < MIN_PROMPTS || !likelihood.has_decided_votes() {
            return None;
        }
        // The mean takes the freedom of one prompt, and so does each value that is fitted to the sizes of builds. In
        // simulations with few prompts, intervals would be too narrow without the latter.
        let freedom = prompts as f64 - 1.0 - likelihood.size_parameters().count() as f64;
        let by_prompt = clustered(&graph.prompts, likelihood, peak, inverse) * (prompts as f64 / freedom);
        let by_prompt_and_voter = &by_prompt + voters_beyond_votes(graph, likelihood, peak, inverse);
        let quantile = StudentsT::new(0.0, 1.0, freedom).ok()?.inverse_cdf(0.975);
        let mut has_enough_prompts: Vec<bool> =
            graph.prompts_per_model().into_iter().map(|prompts| prompts >= MIN_PROMPTS).collect();
        // The other parameters are based on all prompts.
        has_enough_prompts.resize(peak.len(), true);
        let finite = by_prompt_and_voter.iter().all(|value| value.is_finite());
        finite.then_some(Self { by_prompt, by_prompt_and_voter, quantile, has_enough_prompts })
    }

    /// Half the width of a parameter's 95 % interval.
    pub fn margin(&self, parameter: usize) -> Option<f64> {
        let margin = || self.quantile * self.variance(|covariance| covariance[(parameter, parameter)]).sqrt();
        self.has_enough_prompts[parameter].then(margin)
    }

    /// Whether one model is significantly above another. Two intervals may overlap where the difference is significant.
    pub fn surely_above(&self, high: usize, low: usize, peak: &DVector<f64>) -> bool {
        let of_difference = |covariance: &DMatrix<f64>| {
            covariance[(high, high)] + covariance[(low, low)] - 2.0 * covariance[(high, low)]
        };
        let margin = self.quantile * self.variance(of_difference).sqrt();
        self.has_enough_prompts[high]
            && self.has_enough_prompts[low]
            && peak[high] - peak[low] > margin + ROUNDING
    }

    fn variance(&self, of: impl Fn(&DMatrix<f64>) -> f64) -> f64 {
        of(&self.by_prompt).max(of(&self.by_prompt_and_voter)).max(0.0)
    }
}

/// The sandwich of the gradients of whole clusters of votes.
fn clustered(
    clusters: &[Vec<Duel>],
    likelihood: &Likelihood,
    peak: &DVector<f64>,
    inverse: &DMatrix<f64>,
) -> DMatrix<f64> {
    let gradients: Vec<_> =
        clusters.iter().map(|duels| likelihood.gradient_contribution(duels, peak)).collect();
    let moves = inverse * DMatrix::from_columns(&gradients);
    &moves * moves.transpose()
}

/// The covariance by voters minus that by single votes. The votes of light voters are in both and nearly cancel.
fn voters_beyond_votes(
    graph: &ComparisonGraph,
    likelihood: &Likelihood,
    peak: &DVector<f64>,
    inverse: &DMatrix<f64>,
) -> DMatrix<f64> {
    let of_heavy = || graph.heavy_voters.iter().flatten();
    let votes = graph.prompts.iter().flatten().map(Duel::count).sum::<u64>() as f64;
    let heavy_votes = of_heavy().map(Duel::count).sum::<u64>() as f64;
    let voters = graph.heavy_voters.len() as f64 + (votes - heavy_votes).max(0.0);
    // One voter tells nothing about others.
    if graph.heavy_voters.is_empty() || voters < 2.0 {
        return DMatrix::zeros(peak.len(), peak.len());
    }
    let sandwich = |scatter: DMatrix<f64>| inverse * scatter * inverse;
    let by_vote = sandwich(likelihood.scatter(likelihood.duels, peak));
    let light = &by_vote - sandwich(likelihood.scatter(of_heavy(), peak));
    let by_voter = clustered(&graph.heavy_voters, likelihood, peak, inverse) + light;
    by_voter * correction(voters) - by_vote * correction(votes)
}

/// A sum of squares is too small by this factor if the mean is taken from the same values.
fn correction(count: f64) -> f64 {
    count / (count - 1.0)
}
