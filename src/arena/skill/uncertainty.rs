//! The uncertainty of skills.
//!
//! A model has one build per prompt, and all votes on the prompt judge that build. So votes are not independent, only
//! prompts are: the covariance follows from how much the gradients of whole prompts vary, and from the curvature. This
//! "sandwich" estimator needs no assumption about the votes within a prompt.

use nalgebra::{DMatrix, DVector};
use statrs::distribution::{ContinuousCDF, StudentsT};

use super::{ROUNDING, graph::ComparisonGraph, likelihood::Likelihood};

/// With fewer prompts there is no interval. That holds for the prompts of each model too: its skill is fitted to them,
/// so their gradients nearly cancel, and a model with few prompts would look most certain where it is least.
const MIN_PROMPTS: usize = 5;

pub(super) struct Uncertainty {
    pub covariance: DMatrix<f64>,
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
        // The advantage of the left side is based on all prompts.
        let has_enough_prompts = prompts_per_model.chain([true]).collect();
        let finite = covariance.iter().all(|value| value.is_finite());
        finite.then_some(Self { covariance, quantile, has_enough_prompts })
    }

    /// Half the width of a parameter's 95 % interval.
    pub fn margin(&self, parameter: usize) -> Option<f64> {
        let variance = self.covariance[(parameter, parameter)];
        self.has_enough_prompts[parameter].then(|| self.quantile * variance.max(0.0).sqrt())
    }

    /// Whether one model is significantly above another. Two intervals may overlap where the difference is significant.
    pub fn surely_above(&self, high: usize, low: usize, peak: &DVector<f64>) -> bool {
        let variance = |a, b| self.covariance[(a, b)];
        let variance = variance(high, high) + variance(low, low) - 2.0 * variance(high, low);
        let margin = self.quantile * variance.max(0.0).sqrt();
        self.has_enough_prompts[high]
            && self.has_enough_prompts[low]
            && peak[high] - peak[low] > margin + ROUNDING
    }
}
