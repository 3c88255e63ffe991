//! The likelihood of the votes given ratings, and its maximum.
//!
//! This is Davidson's model. On a duel in which the left model leads by x, in nats, the chances of "left", "tie" and
//! "right" are as e^(x/2) to ν to e^(−x/2): with skills π = e^θ, a tie has the chance ν√(πᵢπⱼ) / (πᵢ + πⱼ + ν√(πᵢπⱼ)).
//! Both x and ln ν enter linearly, so the log-likelihood is concave and has one maximum.
//!
//! A point is a vector of one skill per model, in nats and with a sum of zero. If the votes tell how frequent ties are,
//! ln ν follows; then the advantage of the left side and what size is worth, where [`Likelihood::with_side`] and
//! [`Likelihood::with_sizes`] add them.

use nalgebra::{Cholesky, DMatrix, DVector, DVectorView, Dyn};

use super::equal_size::SizeAxis;
use super::graph::Duel;

#[derive(Clone, Copy)]
pub(super) struct Likelihood<'a> {
    pub models: usize,
    pub duels: &'a [Duel],
    /// The number of phantom games that each model wins, and loses, against the mean of all.
    prior: f64,
    ties: TieUse,
    with_side: bool,
    with_sizes: [bool; SizeAxis::COUNT],
}

/// How often the duels ended in a tie. Between never and always, ν is fitted. At the ends it has no finite maximum, and
/// its limits are used: at 0 only decided votes are possible, and at infinity votes tell nothing about skills.
#[derive(Clone, Copy, PartialEq, Eq)]
enum TieUse {
    Never,
    Sometimes,
    Always,
}

/// A value for each of the two quantities that the chances of a duel depend on.
#[derive(Clone, Copy)]
struct Predictors {
    lead: f64,
    ln_nu: f64,
}

const MAX_ROUNDS: usize = 50;
const MAX_HALVINGS: usize = 30;

/// Smaller steps, in nats, make no difference.
const MIN_STEP: f64 = 1e-12;

/// The relative rounding error of a log-likelihood.
const ROUNDING: f64 = 1e-13;

impl<'a> Likelihood<'a> {
    pub fn new(models: usize, duels: &'a [Duel], prior: f64) -> Self {
        let (votes, tied) = totals(duels);
        let ties = match tied {
            0 => TieUse::Never,
            tied if tied == votes => TieUse::Always,
            _ => TieUse::Sometimes,
        };
        Self { models, duels, prior, ties, with_side: false, with_sizes: [false; SizeAxis::COUNT] }
    }

    /// The same of other votes on the same models.
    pub fn of<'d>(&self, duels: &'d [Duel]) -> Likelihood<'d> {
        let plain = Likelihood::new(self.models, duels, self.prior);
        Likelihood { with_side: self.with_side, with_sizes: self.with_sizes, ..plain }
    }

    /// The same with the advantage of the left side as a parameter.
    pub fn with_side(&self) -> Self {
        Self { with_side: true, ..*self }
    }

    /// The same with what size is worth as parameters, for those axes that are true. Each also has phantom games: as many
    /// builds won, and lost, against one half as large of an equal model as each model won, and lost, against the mean.
    pub fn with_sizes(&self, with_sizes: [bool; SizeAxis::COUNT]) -> Self {
        Self { with_sizes, ..*self }
    }

    pub fn votes(&self) -> u64 {
        totals(self.duels).0
    }

    /// The index of ln ν in a point.
    pub fn tie_parameter(&self) -> Option<usize> {
        (self.ties == TieUse::Sometimes).then_some(self.models)
    }

    /// The index of the advantage of the left side in a point.
    pub fn side_parameter(&self) -> Option<usize> {
        self.with_side.then(|| self.models + usize::from(self.tie_parameter().is_some()))
    }

    /// The index of what a doubling along this axis is worth in a point.
    pub fn size_parameter(&self, axis: SizeAxis) -> Option<usize> {
        let before = self.models + usize::from(self.tie_parameter().is_some()) + usize::from(self.with_side);
        let earlier = self.with_sizes[..axis.index()].iter().filter(|&&is_used| is_used).count();
        self.with_sizes[axis.index()].then_some(before + earlier)
    }

    /// The axes that are parameters, with their indexes in a point.
    pub fn size_parameters(&self) -> impl Iterator<Item = (SizeAxis, usize)> {
        SizeAxis::ALL.into_iter().filter_map(|axis| Some((axis, self.size_parameter(axis)?)))
    }

    /// Whether any vote tells the models apart.
    pub fn has_decided_votes(&self) -> bool {
        self.ties != TieUse::Always
    }

    /// Newton's method from these skills, with at most `MAX_ROUNDS` steps. It returns a finite point whether or not
    /// there is a maximum.
    pub fn maximum(&self, skills: DVectorView<'_, f64>) -> DVector<f64> {
        let mut point = self.start(skills);
        let mut log_likelihood = self.log_likelihood(&point);
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

    /// Between equals, which most duels nearly are, a share of ν / (2 + ν) is tied.
    pub fn start(&self, skills: DVectorView<'_, f64>) -> DVector<f64> {
        let (votes, tied) = totals(self.duels);
        let ln_nu = self.tie_parameter().map(|_| (2.0 * tied as f64 / (votes - tied) as f64).ln());
        let side = self.with_side.then_some(0.0);
        let sizes = self.size_parameters().map(|_| 0.0);
        let elements: Vec<f64> = skills.iter().copied().chain(ln_nu).chain(side).chain(sizes).collect();
        DVector::from_vec(elements)
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
            let votes = duel.outcomes.map(|count| count as f64);
            let slopes = slopes(self.chances(duel, point));
            let sum = |slope: fn(Predictors) -> f64| weighted_sum(votes, slopes.map(slope));
            let slope = Predictors { lead: sum(|slope| slope.lead), ln_nu: sum(|slope| slope.ln_nu) };
            for (parameter, effect) in self.effects(duel) {
                gradient_contribution[parameter] += effect.dot(slope);
            }
        }
        gradient_contribution
    }

    /// The sum of the outer products of the gradients of single votes.
    pub fn scatter<'d>(
        &self,
        duels: impl IntoIterator<Item = &'d Duel>,
        point: &DVector<f64>,
    ) -> DMatrix<f64> {
        let mut scatter = DMatrix::zeros(point.len(), point.len());
        for duel in duels {
            let votes = duel.outcomes.map(|count| count as f64);
            self.add_scatter(&mut scatter, duel, votes, slopes(self.chances(duel, point)));
        }
        scatter
    }

    /// By how much a vote of each outcome raises the log-likelihood per unit of this direction.
    pub fn slopes_along(&self, direction: &DVector<f64>, duel: &Duel, point: &DVector<f64>) -> [f64; 3] {
        slopes(self.chances(duel, point)).map(|slope| {
            self.effects(duel).map(|(parameter, effect)| effect.dot(slope) * direction[parameter]).sum()
        })
    }

    /// The chances of the outcomes, in the order of [`Duel::outcomes`].
    fn chances(&self, duel: &Duel, point: &DVector<f64>) -> [f64; 3] {
        let (weights, highest) = self.log_weights(duel, point);
        let odds = weights.map(|weight| (weight - highest).exp());
        let sum: f64 = odds.iter().sum();
        odds.map(|odds| odds / sum)
    }

    /// The logarithms of what the chances are proportional to, and the highest of them.
    fn log_weights(&self, duel: &Duel, point: &DVector<f64>) -> ([f64; 3], f64) {
        let half = 0.5 * self.lead(duel, point);
        let ln_nu = match self.ties {
            // Unlike infinity, these can be multiplied by zero votes.
            TieUse::Never => -f64::MAX,
            TieUse::Always => f64::MAX,
            TieUse::Sometimes => point[self.models],
        };
        ([half, ln_nu, -half], half.abs().max(ln_nu))
    }

    pub fn log_likelihood(&self, point: &DVector<f64>) -> f64 {
        let votes = self.duels.iter().map(|duel| {
            let (weights, highest) = self.log_weights(duel, point);
            let below = weights.map(|weight| weight - highest);
            let sum: f64 = below.iter().map(|below| below.exp()).sum();
            let reached: f64 =
                duel.outcomes.iter().zip(below).map(|(&count, below)| count as f64 * below).sum();
            reached - duel.count() as f64 * sum.ln()
        });
        let sizes = self.size_parameters().map(|(_, parameter)| point[parameter]);
        let phantoms = self.leads_over_mean(point).chain(sizes).map(|lead| 2.0 * ln_sigmoid(lead) - lead);
        votes.sum::<f64>() + self.prior * phantoms.sum::<f64>()
    }

    pub fn gradient(&self, point: &DVector<f64>) -> DVector<f64> {
        let mut gradient = self.gradient_contribution(self.duels, point);
        let phantom_slope = |lead| self.prior * (1.0 - 2.0 * sigmoid(lead));
        for (_, parameter) in self.size_parameters() {
            gradient[parameter] += phantom_slope(point[parameter]);
        }
        let phantoms = DVector::from_iterator(self.models, self.leads_over_mean(point).map(phantom_slope));
        // Raising a model's skill also raises the mean that phantoms are compared with.
        let mut skills = gradient.rows_mut(0, self.models);
        skills += &phantoms;
        skills.add_scalar_mut(-phantoms.mean());
        gradient
    }

    /// The negative second derivatives: the scatter that the chances lead to expect, whatever the outcomes were. They
    /// vanish in the direction in which all skills rise together, so a constant is added there to make the matrix
    /// invertible. No gradient points in that direction, so its amount does not matter.
    pub fn curvature(&self, point: &DVector<f64>) -> Option<Cholesky<f64, Dyn>> {
        let mut curvature = DMatrix::zeros(point.len(), point.len());
        for duel in self.duels {
            let chances = self.chances(duel, point);
            let expected = chances.map(|chance| duel.count() as f64 * chance);
            self.add_scatter(&mut curvature, duel, expected, slopes(chances));
        }
        let count = self.models as f64;
        let phantom_curvature = |lead| 2.0 * self.prior * sigmoid_derivative(lead);
        let phantoms =
            DVector::from_iterator(self.models, self.leads_over_mean(point).map(phantom_curvature));
        let shared = phantoms.mean() + (curvature.trace() + phantoms.sum()) / count;
        for row in 0..self.models {
            curvature[(row, row)] += phantoms[row];
            for column in 0..self.models {
                curvature[(row, column)] += (shared - phantoms[row] - phantoms[column]) / count;
            }
        }
        for (_, parameter) in self.size_parameters() {
            curvature[(parameter, parameter)] += phantom_curvature(point[parameter]);
        }
        curvature.cholesky()
    }

    /// Adds the outer products of the gradients of this many votes of each outcome.
    fn add_scatter(&self, sum: &mut DMatrix<f64>, duel: &Duel, votes: [f64; 3], slopes: [Predictors; 3]) {
        let moment = |product: fn(Predictors) -> f64| weighted_sum(votes, slopes.map(product));
        let lead = moment(|slope| slope.lead * slope.lead);
        let mixed = moment(|slope| slope.lead * slope.ln_nu);
        let ln_nu = moment(|slope| slope.ln_nu * slope.ln_nu);
        let effects = self.effects(duel);
        for (row, effect) in effects.clone() {
            let slope = Predictors {
                lead: effect.lead * lead + effect.ln_nu * mixed,
                ln_nu: effect.lead * mixed + effect.ln_nu * ln_nu,
            };
            for (column, effect) in effects.clone() {
                sum[(row, column)] += effect.dot(slope);
            }
        }
    }

    /// The parameters that a duel depends on, and what each adds to the lead and to ln ν.
    fn effects(&self, duel: &Duel) -> impl Iterator<Item = (usize, Predictors)> + Clone + use<> {
        let on_lead = |amount| Predictors { lead: amount, ln_nu: 0.0 };
        let tie = self.tie_parameter().map(|parameter| (parameter, Predictors { lead: 0.0, ln_nu: 1.0 }));
        let side = self.side_parameter().map(|parameter| (parameter, on_lead(1.0)));
        let [blocks, kinds] =
            SizeAxis::ALL.map(|axis| Some((self.size_parameter(axis)?, on_lead(duel.gap.along(axis)))));
        let models = [(duel.left, on_lead(1.0)), (duel.right, on_lead(-1.0))].map(Some);
        [models[0], models[1], tie, side, blocks, kinds].into_iter().flatten()
    }

    /// By how much the left model is the favourite, in nats.
    fn lead(&self, duel: &Duel, point: &DVector<f64>) -> f64 {
        let side = self.side_parameter().map_or(0.0, |side| point[side]);
        let size: f64 =
            self.size_parameters().map(|(axis, parameter)| point[parameter] * duel.gap.along(axis)).sum();
        point[duel.left] - point[duel.right] + side + size
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

impl Predictors {
    fn dot(self, other: Self) -> f64 {
        self.lead * other.lead + self.ln_nu * other.ln_nu
    }
}

/// How the log-likelihood of one vote of each outcome changes with the predictors.
fn slopes([left, tie, right]: [f64; 3]) -> [Predictors; 3] {
    [
        Predictors { lead: right + 0.5 * tie, ln_nu: -tie },
        Predictors { lead: 0.5 * (right - left), ln_nu: left + right },
        Predictors { lead: -left - 0.5 * tie, ln_nu: -tie },
    ]
}

fn weighted_sum(weights: [f64; 3], values: [f64; 3]) -> f64 {
    weights.into_iter().zip(values).map(|(weight, value)| weight * value).sum()
}

/// The number of votes, and of ties among them.
fn totals(duels: &[Duel]) -> (u64, u64) {
    (duels.iter().map(Duel::count).sum(), duels.iter().map(|duel| duel.outcomes[1]).sum())
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
