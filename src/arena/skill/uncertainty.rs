//! How sure skills are.
//!
//! A model has one build per prompt, and all votes on the prompt look at that build. So votes are not
//! independent draws, only prompts are: the spread of the pulls of whole prompts, seen through the curvature,
//! is the covariance. This "sandwich" trusts no assumption about the votes within a prompt.

use nalgebra::{DMatrix, DVector};
use statrs::distribution::{ContinuousCDF, StudentsT};

use super::{ROUNDING, graph::ComparisonGraph, likelihood::Likelihood};

/// A spread of fewer prompts says too little. That goes for the prompts of each model: its skill is fitted to
/// them, so their pulls on it all but cancel, and it would look surest where it is known least.
const MIN_PROMPTS: usize = 5;

pub(super) struct Uncertainty {
    pub covariance: DMatrix<f64>,
    /// How many standard errors make a 95 % interval.
    quantile: f64,
    /// Whether a parameter rests on enough prompts.
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
        if prompts < MIN_PROMPTS {
            return None;
        }
        let contributions: Vec<_> =
            graph.prompts.iter().map(|duels| likelihood.gradient_contribution(duels, peak)).collect();
        let moves = inverse * DMatrix::from_columns(&contributions);
        let (count, freedom) = (prompts as f64, prompts as f64 - 1.0);
        let covariance = &moves * moves.transpose() * (count / freedom);
        let quantile = StudentsT::new(0.0, 1.0, freedom).ok()?.inverse_cdf(0.975);
        let prompts_per_model = graph.prompts_per_model().into_iter().map(|prompts| prompts >= MIN_PROMPTS);
        // What being on the left adds, if asked for, rests on all prompts.
        let has_enough_prompts = prompts_per_model.chain([true]).collect();
        let finite = covariance.iter().all(|value| value.is_finite());
        finite.then_some(Self { covariance, quantile, has_enough_prompts })
    }

    /// Half the width of a parameter's 95 % interval.
    pub fn margin(&self, parameter: usize) -> Option<f64> {
        let variance = self.covariance[(parameter, parameter)];
        self.has_enough_prompts[parameter].then(|| self.quantile * variance.max(0.0).sqrt())
    }

    /// Whether one model is surely above another. Two intervals may overlap where the difference is sure.
    pub fn surely_above(&self, high: usize, low: usize, peak: &DVector<f64>) -> bool {
        let variance = |a, b| self.covariance[(a, b)];
        let variance = variance(high, high) + variance(low, low) - 2.0 * variance(high, low);
        let margin = self.quantile * variance.max(0.0).sqrt();
        self.has_enough_prompts[high]
            && self.has_enough_prompts[low]
            && peak[high] - peak[low] > margin + ROUNDING
    }
}
