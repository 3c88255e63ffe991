//! Skill: ratings that are fitted to all votes of one ladder at once.
//!
//! This is Davidson's extension of a Bradley-Terry fit by ties. The odds that a model is preferred over another follow
//! from the difference of their ratings, on Elo's scale, and the ratings are those that make the votes most likely.
//! Unlike Elo, it does not depend on the order of votes. How often two models tie follows from the same difference and
//! from ν, one number for the whole field that is fitted with the ratings: between equals, the chance of a tie is
//! ν / (2 + ν). So ties tell that models are close, and a field that ties often is not drawn together, as it would be if
//! a tie were half a win for each. Where nobody ever tied, ν is zero and the fit is that of Bradley and Terry. "Both
//! bad" compares nobody and stays out.
//!
//! Every model also plays phantom games against the mean of the field and wins as many as it loses, so that a model
//! without a defeat, or without a win, has a finite rating. Phantom games are never tied and tell nothing about ν.
//! Without phantoms, only models that are connected both ways by wins are rated, since these have a finite rating.

mod equal_size;
mod fragility;
mod graph;
mod likelihood;
#[cfg(test)]
mod tests;
mod uncertainty;

use std::collections::{BTreeMap, BTreeSet};

use nalgebra::{DMatrix, DVector};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

pub use self::equal_size::{EqualSizeFit, SizeEffect};
use self::graph::{ComparisonGraph, SizeUse};
use self::likelihood::Likelihood;
use self::uncertainty::Uncertainty;
use super::{ChoiceCounts, ModelKey, PromptId};

/// Rating points per nat: a factor of ten in the odds is 400 points.
const POINTS_PER_NAT: f64 = 400.0 / std::f64::consts::LN_10;

/// The mean rating of the field.
const MEAN_RATING: f64 = 1500.0;

/// Differences of skill up to this, in nats, may come from rounding.
const ROUNDING: f64 = 1e-9;

/// How many phantom games each model wins, and loses, against the mean of the field.
pub const PRIOR: f64 = 1.0;

/// A model with fewer votes has no rating yet.
pub const MIN_VOTES_FOR_SKILL: u64 = 30;

/// Votes on two models' builds of one prompt; `a` was on the left.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PairTally {
    pub prompt: PromptId,
    pub a: ModelKey,
    pub b: ModelKey,
    /// Of the two builds; none if one of them is not known.
    pub sizes: Option<[BuildSize; 2]>,
    pub counts: ChoiceCounts,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BuildSize {
    pub blocks: u32,
    /// The number of different blocks.
    pub kinds: u32,
}

/// The votes of one voter, over all prompts. Of a heavy voter so many that they cannot be taken for those of different
/// people.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HeavyVoter {
    pub tallies: Vec<VoterTally>,
}

/// A voter's votes on builds of two models, and of these sizes; `a` was on the left.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VoterTally {
    pub a: ModelKey,
    pub b: ModelKey,
    /// As in [`PairTally`].
    pub sizes: Option<[BuildSize; 2]>,
    pub counts: ChoiceCounts,
}

/// The result of a fit.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Fit {
    /// All votes, including "both bad".
    pub votes: u64,
    /// The ranked models that have enough votes and are connected with the others.
    pub models: BTreeMap<ModelKey, Skill>,
    pub side: Option<SideAdvantage>,
    // Required, so that statistics are computed anew if a version of the program without it has stored them.
    #[serde(deserialize_with = "Option::deserialize")]
    pub ties: Option<TieFrequency>,
    pub fragility: Option<Fragility>,
    /// None if the votes do not tell what size is worth. Required for the same reason as `ties`.
    #[serde(deserialize_with = "Option::deserialize")]
    pub equal_size: Option<EqualSizeFit>,
}

/// A rating with its 95 % interval, and the ranks that are possible within it.
// Without enough prompts there is no interval, and any rank is possible.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Skill {
    #[schema(example = 1520.0)]
    pub rating: f64,
    /// Null with fewer than five prompts, like `high`.
    #[schema(required, example = 1470.0)]
    pub low: Option<f64>,
    #[schema(required, example = 1570.0)]
    pub high: Option<f64>,
    #[schema(example = 1)]
    pub rank_best: u32,
    #[schema(example = 2)]
    pub rank_worst: u32,
}

/// How many rating points being on the left is worth, with a 95 % interval if there is one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SideAdvantage {
    pub points: f64,
    pub low: Option<f64>,
    pub high: Option<f64>,
}

/// How frequent ties are: Davidson's ν, with a 95 % interval if there is one. A tie is ν times as likely as that the
/// left one of two equal models wins.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TieFrequency {
    pub nu: f64,
    pub low: Option<f64>,
    pub high: Option<f64>,
}

/// How fragile the first rank is: removing this many votes, of those that help the first most, lets the second catch
/// up.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Fragility {
    pub first: ModelKey,
    pub second: ModelKey,
    pub votes: u64,
    /// The votes that the ratings are based on.
    pub of: u64,
}

/// Rates the models. `prior` is the number of phantom games that each model wins, and loses. Only the `ranked` models
/// get a skill and ranks; votes on others still inform the fit. The votes of `heavy_voters` are in the tallies too; that
/// they are of one voter each makes intervals wider. All other votes are taken for those of different voters.
///
/// The result depends only on the votes, to the last bit, and not on the order of the tallies or voters.
pub fn fit(
    tallies: &[PairTally],
    heavy_voters: &[HeavyVoter],
    prior: f64,
    ranked: &BTreeSet<ModelKey>,
) -> Fit {
    let votes = tallies
        .iter()
        .filter(|tally| tally.a != tally.b)
        .map(|tally| tally.counts.sum().unsigned_abs())
        .sum();
    let graph = ComparisonGraph::largest_component(tallies, heavy_voters, prior > 0.0, SizeUse::Ignored);
    let Some(graph) = graph else { return Fit { votes, ..Fit::default() } };
    let duels = graph.duels();
    let likelihood = Likelihood::new(graph.models.len(), &duels, prior);
    let peak = likelihood.maximum(DVector::zeros(graph.models.len()).as_view());
    let inverse = likelihood.inverse_curvature(&peak);
    let uncertainty =
        inverse.as_ref().and_then(|inverse| Uncertainty::new(&graph, &likelihood, &peak, inverse));

    let ranking = ranking(&graph, &peak, ranked);
    Fit {
        votes,
        models: rated(&graph, &ranking, &peak, uncertainty.as_ref()),
        side: side(&graph, &likelihood, &peak),
        ties: ties(&likelihood, &peak, uncertainty.as_ref()),
        fragility: inverse.and_then(|inverse| fragility(&graph, &likelihood, &peak, &inverse, &ranking)),
        equal_size: equal_size::fit(tallies, heavy_voters, prior, ranked),
    }
}

fn to_points(nats: f64) -> f64 {
    POINTS_PER_NAT * nats
}

/// Whether a parameter is known at least as well as from `MIN_VOTES_FOR_SKILL` decided votes between equals, each of
/// which carries a Fisher information of ¼.
fn is_known_well(inverse: &DMatrix<f64>, parameter: usize) -> bool {
    inverse[(parameter, parameter)] * MIN_VOTES_FOR_SKILL as f64 <= 4.0
}

/// The ranked models that have enough votes, best first.
fn ranking(graph: &ComparisonGraph, skills: &DVector<f64>, ranked: &BTreeSet<ModelKey>) -> Vec<usize> {
    let votes = graph.votes_per_model();
    let mut ranking: Vec<usize> = (0..graph.models.len())
        .filter(|&model| votes[model] >= MIN_VOTES_FOR_SKILL && ranked.contains(graph.models[model]))
        .collect();
    ranking.sort_by(|&a, &b| skills[b].total_cmp(&skills[a]));
    ranking
}

/// The skills of the ranked models.
fn rated(
    graph: &ComparisonGraph,
    ranking: &[usize],
    skills: &DVector<f64>,
    uncertainty: Option<&Uncertainty>,
) -> BTreeMap<ModelKey, Skill> {
    let rated = |&model: &usize| (graph.models[model].clone(), skill(model, ranking, skills, uncertainty));
    ranking.iter().map(rated).collect()
}

fn skill(model: usize, ranking: &[usize], skills: &DVector<f64>, uncertainty: Option<&Uncertainty>) -> Skill {
    let rating = MEAN_RATING + to_points(skills[model]);
    let margin = uncertainty.and_then(|uncertainty| uncertainty.margin(model)).map(to_points);
    let surely_above =
        |high, low| uncertainty.is_some_and(|uncertainty| uncertainty.surely_above(high, low, skills));
    let above = ranking.iter().filter(|&&other| surely_above(other, model)).count();
    let below = ranking.iter().filter(|&&other| surely_above(model, other)).count();
    Skill {
        rating,
        low: margin.map(|margin| rating - margin),
        high: margin.map(|margin| rating + margin),
        rank_best: (1 + above) as u32,
        rank_worst: (ranking.len() - below) as u32,
    }
}

/// The advantage of the left side. It is fitted separately: ratings ignore sides, since these are drawn at random. None
/// where the votes mix the sides too little to tell.
fn side(graph: &ComparisonGraph, likelihood: &Likelihood, peak: &DVector<f64>) -> Option<SideAdvantage> {
    let likelihood = likelihood.with_side();
    let side = likelihood.side_parameter()?;
    let peak = likelihood.maximum(peak.rows(0, likelihood.models));
    let inverse = likelihood.inverse_curvature(&peak)?;
    if !is_known_well(&inverse, side) {
        return None;
    }
    let points = to_points(peak[side]);
    let uncertainty = Uncertainty::new(graph, &likelihood, &peak, &inverse);
    let margin = uncertainty.and_then(|uncertainty| uncertainty.margin(side)).map(to_points);
    Some(SideAdvantage {
        points,
        low: margin.map(|margin| points - margin),
        high: margin.map(|margin| points + margin),
    })
}

/// None without ties, without decided votes, and with few votes.
fn ties(
    likelihood: &Likelihood,
    peak: &DVector<f64>,
    uncertainty: Option<&Uncertainty>,
) -> Option<TieFrequency> {
    let parameter = likelihood.tie_parameter()?;
    if likelihood.votes() < MIN_VOTES_FOR_SKILL {
        return None;
    }
    let ln_nu = peak[parameter];
    let margin = uncertainty.and_then(|uncertainty| uncertainty.margin(parameter));
    let interval = margin.map(|margin| ((ln_nu - margin).exp(), (ln_nu + margin).exp()));
    let (low, high) = interval.filter(|(_, high)| high.is_finite()).unzip();
    let nu = ln_nu.exp();
    nu.is_finite().then_some(TieFrequency { nu, low, high })
}

impl Fit {
    /// Drops the other models. The ranks of the rest stay.
    pub fn retain(&mut self, is_kept: impl Fn(&ModelKey) -> bool) {
        self.models.retain(|model, _| is_kept(model));
        if let Some(equal_size) = &mut self.equal_size {
            equal_size.models.retain(|model, _| is_kept(model));
        }
    }
}

impl TieFrequency {
    /// The share of votes on two equal models that are ties, with its 95 % interval if there is one.
    pub fn share_between_equals(&self) -> (f64, Option<(f64, f64)>) {
        let share = |nu: f64| nu / (2.0 + nu);
        (share(self.nu), self.low.map(share).zip(self.high.map(share)))
    }
}

fn fragility(
    graph: &ComparisonGraph,
    likelihood: &Likelihood,
    peak: &DVector<f64>,
    inverse: &DMatrix<f64>,
    ranking: &[usize],
) -> Option<Fragility> {
    let &[first, second, ..] = ranking else { return None };
    Some(Fragility {
        first: graph.models[first].clone(),
        second: graph.models[second].clone(),
        votes: fragility::votes_between(likelihood, peak, inverse, first, second)?,
        of: likelihood.votes(),
    })
}
