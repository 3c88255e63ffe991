//! How sure skills are.
//!
//! A model has one build per prompt, and all votes on the prompt look at that build. So votes are not
//! independent draws, only prompts are: the spread of the pulls of whole prompts, seen through the curvature,
//! is the covariance. This "sandwich" trusts no assumption about the votes within a prompt.

use nalgebra::{DMatrix, DVector};
use statrs::distribution::{ContinuousCDF, StudentsT};

use super::{ROUNDING, field::Field, likelihood::Likelihood};

/// A spread of fewer prompts says too little. That goes for the prompts of each model: its skill is fitted to
/// them, so their pulls on it all but cancel, and it would look surest where it is known least.
const ENOUGH_PROMPTS: usize = 5;

pub(super) struct Doubt {
    pub covariance: DMatrix<f64>,
    /// How many standard errors make a 95 % interval.
    quantile: f64,
    /// Whether a parameter rests on enough prompts.
    founded: Vec<bool>,
}

impl Doubt {
    /// At the likelihood's maximum, with the inverse of the curvature there.
    pub fn new(
        field: &Field,
        likelihood: &Likelihood,
        peak: &DVector<f64>,
        inverse: &DMatrix<f64>,
    ) -> Option<Self> {
        let prompts = field.prompts.len();
        if prompts < ENOUGH_PROMPTS {
            return None;
        }
        let pulls: Vec<_> = field.prompts.iter().map(|duels| likelihood.pull(duels, peak)).collect();
        let moves = inverse * DMatrix::from_columns(&pulls);
        let (count, freedom) = (prompts as f64, prompts as f64 - 1.0);
        let covariance = &moves * moves.transpose() * (count / freedom);
        let quantile = StudentsT::new(0.0, 1.0, freedom).ok()?.inverse_cdf(0.975);
        let prompts_per_model =
            field.prompts_per_model().into_iter().map(|prompts| prompts >= ENOUGH_PROMPTS);
        // What being on the left adds, if asked for, rests on all prompts.
        let founded = prompts_per_model.chain([true]).collect();
        let finite = covariance.iter().all(|value| value.is_finite());
        finite.then_some(Self { covariance, quantile, founded })
    }

    /// Half the width of a parameter's 95 % interval.
    pub fn margin(&self, parameter: usize) -> Option<f64> {
        let variance = self.covariance[(parameter, parameter)];
        self.founded[parameter].then(|| self.quantile * variance.max(0.0).sqrt())
    }

    /// Whether one model is surely above another. Two intervals may overlap where the difference is sure.
    pub fn surely_above(&self, high: usize, low: usize, peak: &DVector<f64>) -> bool {
        let variance = |a, b| self.covariance[(a, b)];
        let variance = variance(high, high) + variance(low, low) - 2.0 * variance(high, low);
        let margin = self.quantile * variance.max(0.0).sqrt();
        self.founded[high] && self.founded[low] && peak[high] - peak[low] > margin + ROUNDING
    }
}
