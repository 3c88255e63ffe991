//! The likelihood of the votes given ratings, and its maximum.
//!
//! A point is a vector of one skill per model, in nats and with a sum of zero. With `with_side`, the advantage of the
//! left side is its last element.

use nalgebra::{Cholesky, DMatrix, DVector, Dyn};

use super::graph::Duel;

#[derive(Clone, Copy)]
pub(super) struct Likelihood<'a> {
    pub models: usize,
    pub duels: &'a [Duel],
    /// The number of phantom games that each model wins, and loses, against the mean of all.
    pub prior: f64,
    pub with_side: bool,
}

const MAX_ROUNDS: usize = 50;
const MAX_HALVINGS: usize = 30;

/// Smaller steps, in nats, make no difference.
const MIN_STEP: f64 = 1e-12;

/// The relative rounding error of a log-likelihood.
const ROUNDING: f64 = 1e-13;

impl Likelihood<'_> {
    /// Newton's method from `start`, with at most `MAX_ROUNDS` steps. It returns a finite point whether or not there is
    /// a maximum.
    pub fn maximum(&self, start: DVector<f64>) -> DVector<f64> {
        let mut log_likelihood = self.log_likelihood(&start);
        let mut point = start;
        for _ in 0..MAX_ROUNDS {
            let Some(curvature) = self.curvature(&point) else { break };
            let step = curvature.solve(&self.gradient(&point));
            let Some(higher) = self.line_search(&point, &step, log_likelihood) else { break };
            (point, log_likelihood) = higher;
            if step.amax() < MIN_STEP {
                break;
            }
        }
        point
    }

    /// Halves the step until it does not lead down. Returns the point and the log-likelihood there.
    fn line_search(
        &self,
        from: &DVector<f64>,
        step: &DVector<f64>,
        log_likelihood: f64,
    ) -> Option<(DVector<f64>, f64)> {
        let shares = std::iter::successors(Some(1.0), |share| Some(share / 2.0));
        let points = shares.take(MAX_HALVINGS).map(|share| self.centred(from + step * share));
        let mut heights = points.map(|point| (self.log_likelihood(&point), point));
        let (reached, point) =
            heights.find(|(reached, _)| *reached >= log_likelihood - ROUNDING * log_likelihood.abs())?;
        Some((point, reached))
    }

    /// The inverse of the curvature, if it exists. It is meaningless in the direction in which all skills rise
    /// together, which changes no chance.
    pub fn inverse_curvature(&self, point: &DVector<f64>) -> Option<DMatrix<f64>> {
        let inverse = self.curvature(point)?.inverse();
        inverse.iter().all(|value| value.is_finite()).then_some(inverse)
    }

    /// What these votes add to the gradient.
    pub fn gradient_contribution(&self, duels: &[Duel], point: &DVector<f64>) -> DVector<f64> {
        let mut gradient_contribution = DVector::zeros(point.len());
        for duel in duels {
            let residual = duel.score() - duel.count() as f64 * self.chance(duel, point);
            for (parameter, sign) in self.terms(duel) {
                gradient_contribution[parameter] += sign * residual;
            }
        }
        gradient_contribution
    }

    /// The chance that the left model is preferred.
    pub fn chance(&self, duel: &Duel, point: &DVector<f64>) -> f64 {
        sigmoid(self.lead(duel, point))
    }

    fn log_likelihood(&self, point: &DVector<f64>) -> f64 {
        let votes = self.duels.iter().map(|duel| {
            let (count, lead) = (duel.count() as f64, self.lead(duel, point));
            count * ln_sigmoid(lead) - (count - duel.score()) * lead
        });
        let phantoms = self.leads_over_mean(point).map(|lead| 2.0 * ln_sigmoid(lead) - lead);
        votes.sum::<f64>() + self.prior * phantoms.sum::<f64>()
    }

    fn gradient(&self, point: &DVector<f64>) -> DVector<f64> {
        let mut gradient = self.gradient_contribution(self.duels, point);
        let phantoms = self.leads_over_mean(point).map(|lead| self.prior * (1.0 - 2.0 * sigmoid(lead)));
        let phantoms = DVector::from_iterator(self.models, phantoms);
        // Raising a model's skill also raises the mean that phantoms are compared with.
        let mut skills = gradient.rows_mut(0, self.models);
        skills += &phantoms;
        skills.add_scalar_mut(-phantoms.mean());
        gradient
    }

    /// The negative second derivatives. They vanish in the direction in which all skills rise together, so a constant
    /// is added there to make the matrix invertible. No gradient points in that direction, so its amount does not
    /// matter.
    fn curvature(&self, point: &DVector<f64>) -> Option<Cholesky<f64, Dyn>> {
        let mut curvature = DMatrix::zeros(point.len(), point.len());
        for duel in self.duels {
            let weight = duel.count() as f64 * sigmoid_derivative(self.lead(duel, point));
            for (row, sign) in self.terms(duel) {
                for (column, other) in self.terms(duel) {
                    curvature[(row, column)] += sign * other * weight;
                }
            }
        }
        let count = self.models as f64;
        let phantoms = self.leads_over_mean(point).map(|lead| 2.0 * self.prior * sigmoid_derivative(lead));
        let phantoms = DVector::from_iterator(self.models, phantoms);
        let shared = phantoms.mean() + (curvature.trace() + phantoms.sum()) / count;
        for row in 0..self.models {
            curvature[(row, row)] += phantoms[row];
            for column in 0..self.models {
                curvature[(row, column)] += (shared - phantoms[row] - phantoms[column]) / count;
            }
        }
        curvature.cholesky()
    }

    /// The parameters whose sum is the left model's lead, with their signs.
    fn terms(&self, duel: &Duel) -> impl Iterator<Item = (usize, f64)> {
        let side = self.with_side.then_some((self.models, 1.0));
        [(duel.left, 1.0), (duel.right, -1.0)].into_iter().chain(side)
    }

    /// By how much the left model is the favourite, in nats.
    fn lead(&self, duel: &Duel, point: &DVector<f64>) -> f64 {
        let side = if self.with_side { point[self.models] } else { 0.0 };
        point[duel.left] - point[duel.right] + side
    }

    fn leads_over_mean(&self, point: &DVector<f64>) -> impl Iterator<Item = f64> {
        let skills = point.rows(0, self.models);
        let mean = skills.mean();
        (0..self.models).map(move |model| skills[model] - mean)
    }

    fn centred(&self, mut point: DVector<f64>) -> DVector<f64> {
        let mut skills = point.rows_mut(0, self.models);
        let mean = skills.mean();
        skills.add_scalar_mut(-mean);
        point
    }
}

fn sigmoid(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

/// The derivative of the sigmoid.
fn sigmoid_derivative(x: f64) -> f64 {
    let chance = sigmoid(x);
    chance * (1.0 - chance)
}

fn ln_sigmoid(x: f64) -> f64 {
    x.min(0.0) - (-x.abs()).exp().ln_1p()
}
