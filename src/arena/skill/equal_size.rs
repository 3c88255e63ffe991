//! Skill at equal size: the same fit with what size is worth.
//!
//! The lead of one build over another is the difference of their models' skills, plus what doubling the blocks is worth
//! for each doubling from one build to the other, plus the same of the kinds of blocks. A model's skill in this fit is
//! how good its builds would be if all builds had the same size.
//!
//! What size is worth follows from how a model does with its larger and with its smaller builds against the same
//! opponents. Where sizes hardly differ, or only between models and never within one, votes cannot tell. Then nothing is
//! said: a value that is not known as well as from thirty decided votes on builds of equal models, one twice as large as
//! the other, is left out of the fit.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

use nalgebra::{DMatrix, DVector};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::graph::{ComparisonGraph, SizeUse};
use super::likelihood::Likelihood;
use super::uncertainty::Uncertainty;
use super::{BuildSize, HeavyVoter, ModelKey, PairTally, Skill, is_known_well, ranking, rated, to_points};

/// Skill at equal size, and what size is worth.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct EqualSizeFit {
    /// The votes on builds of known sizes, without "both bad".
    pub votes: u64,
    /// What doubling the blocks is worth. None if the votes do not tell, like `kinds`; one of them they tell.
    pub blocks: Option<SizeEffect>,
    /// What doubling the kinds of blocks is worth.
    pub kinds: Option<SizeEffect>,
    pub models: BTreeMap<ModelKey, Skill>,
}

/// How many rating points a doubling is worth, with a 95 % interval.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SizeEffect {
    #[schema(example = 24.5)]
    pub points: f64,
    #[schema(example = 9.0)]
    pub low: f64,
    #[schema(example = 40.0)]
    pub high: f64,
}

/// In which way a build can be larger than another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SizeAxis {
    Blocks,
    Kinds,
}

/// By how many doublings one build is larger than another, along each axis.
#[derive(Clone, Copy, Debug)]
pub(super) struct SizeGap([f64; SizeAxis::COUNT]);

impl SizeAxis {
    pub const COUNT: usize = 2;
    pub const ALL: [Self; Self::COUNT] = [Self::Blocks, Self::Kinds];

    pub const fn index(self) -> usize {
        match self {
            Self::Blocks => 0,
            Self::Kinds => 1,
        }
    }
}

impl SizeGap {
    pub const NONE: Self = Self([0.0; SizeAxis::COUNT]);

    pub fn between(one: BuildSize, other: BuildSize) -> Self {
        let doublings = |from: u32, to: u32| f64::from(to.max(1)).log2() - f64::from(from.max(1)).log2();
        Self([doublings(other.blocks, one.blocks), doublings(other.kinds, one.kinds)])
    }

    pub fn along(self, axis: SizeAxis) -> f64 {
        self.0[axis.index()]
    }
}

impl Ord for SizeGap {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0[0].total_cmp(&other.0[0]).then_with(|| self.0[1].total_cmp(&other.0[1]))
    }
}

impl PartialOrd for SizeGap {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for SizeGap {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for SizeGap {}

/// None if the votes do not tell what size is worth.
pub(super) fn fit(
    tallies: &[PairTally],
    heavy_voters: &[HeavyVoter],
    prior: f64,
    ranked: &BTreeSet<ModelKey>,
) -> Option<EqualSizeFit> {
    let graph = ComparisonGraph::largest_component(tallies, heavy_voters, prior > 0.0, SizeUse::Compared)?;
    let duels = graph.duels();
    let plain = Likelihood::new(graph.models.len(), &duels, prior);
    let pairs = graph.pairs();
    let plain_peak = plain.of(&pairs).maximum(DVector::zeros(graph.models.len()).as_view());
    let skills = plain_peak.rows(0, graph.models.len());
    let mut used = SizeAxis::ALL.map(|axis| duels.iter().any(|duel| duel.gap.along(axis) != 0.0));
    // An axis that is left out does not come back, so there are two rounds beside the last one.
    while used.contains(&true) {
        let likelihood = plain.with_sizes(used);
        // Before size is worth anything: where the larger build always wins, votes tell much, and the curvature at the
        // maximum would tell nothing.
        let inverse = likelihood.inverse_curvature(&likelihood.start(skills))?;
        let told = SizeAxis::ALL.map(|axis| {
            likelihood.size_parameter(axis).is_some_and(|parameter| is_known_well(&inverse, parameter))
        });
        if told == used {
            let peak = likelihood.maximum(skills);
            let inverse = likelihood.inverse_curvature(&peak)?;
            return equal_size_fit(&graph, &likelihood, &peak, &inverse, ranked);
        }
        used = told;
    }
    None
}

/// None without enough prompts for intervals, and without models to compare.
fn equal_size_fit(
    graph: &ComparisonGraph,
    likelihood: &Likelihood,
    peak: &DVector<f64>,
    inverse: &DMatrix<f64>,
    ranked: &BTreeSet<ModelKey>,
) -> Option<EqualSizeFit> {
    let uncertainty = Uncertainty::new(graph, likelihood, peak, inverse)?;
    let effect = |axis| {
        let parameter = likelihood.size_parameter(axis)?;
        let (points, margin) = (to_points(peak[parameter]), to_points(uncertainty.margin(parameter)?));
        Some(SizeEffect { points, low: points - margin, high: points + margin })
    };
    let ranking = ranking(graph, peak, ranked);
    if ranking.is_empty() {
        return None;
    }
    Some(EqualSizeFit {
        votes: likelihood.votes(),
        blocks: effect(SizeAxis::Blocks),
        kinds: effect(SizeAxis::Kinds),
        models: rated(graph, &ranking, peak, Some(&uncertainty)),
    })
}
