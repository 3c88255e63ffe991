//! How good a judge is, measured against the voters' votes.
//!
//! A *verdict* on a pair of builds is one of three: the first is better, the second is better, or neither (a tie, or both
//! bad). This is measured of each judge, with intervals of 95 % that are rather too wide than too narrow:
//!
//! - **Agreement**: the chance that the judge and a voter have the same verdict on a pair, every pair weighing the same,
//!   and both orders in which the judge saw it weighing the same. Cohen's κ is the agreement beyond chance. Which build
//!   of a pair is called the first does not matter: a verdict for either is taken to be as likely, so chance agreement
//!   follows from how often judge and voters decide at all. The same is computed for two voters on one pair, which is
//!   the best that can be expected of a judge, and `beyond_voters` compares the two on pairs with two voters or more.
//! - **Consistency**: the share of pairs, of those shown in both orders, on which the verdict stays the same.
//! - **Left**: the share of verdicts for the build on the left among those for either, in pairs shown in both orders. It
//!   is one half without a bias, whatever the builds.
//! - **Larger build**, **own provider**: a [`Leaning`] towards the build of a pair with more blocks, and towards the
//!   build of the judge's own provider where the other one is not. `beyond_voters` is the judge's share of verdicts for
//!   it minus the voters' on the same pairs, ties being half. A judge that sees more sharply than the voters what is
//!   better also has more verdicts for larger builds than they have, where these are better. `when_voters_split` is free
//!   of that: a line is fitted to the judge's verdicts over the voters', and its value where voters are evenly split is
//!   the share that a judge without bias has at one half. A pair's few votes tell its voters' opinion only roughly, which
//!   would flatten the line; so the spread of opinions is estimated from products of different voters' votes, in which
//!   the errors cancel.
//! - **Rank correlation** (Spearman) between the means of its scores over each model's builds, and the models' skill.
//! - Where it **disagrees** most: builds, by the difference between its score and the voters' share, both standardised;
//!   and pairs on which it has the same verdict in both orders, and most voters the opposite one.
//!
//! Pairs that share a build are not independent. The intervals allow for that: they come from the variance of the sum
//! over pairs, with the covariances of all pairs that share a build, and never from less than if the pairs were
//! independent. They do not allow for voters with many votes. With too little data a measure is None.

mod correlation;
mod disagreements;
mod estimates;
mod leaning;
mod verdicts;

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use uuid::Uuid;

use self::estimates::PairSample;
use self::verdicts::{JudgedPairs, VerdictCounts, VotedPairs};
use super::{Judge, JudgeKind};
use crate::arena::{Choice, ChoiceCounts};

/// With fewer pairs nothing is measured.
const MIN_PAIRS: usize = 5;

/// A voter's vote. Build A of the choice is the first of the pair.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PersonVote {
    /// The smaller id first, as [`Self::new`] puts them.
    pub pair: (Uuid, Uuid),
    /// None where it is not known, as in the vote log. Of a voter's votes on a pair the last counts.
    pub voter: Option<Uuid>,
    pub choice: Choice,
}

/// How often voters made each choice on a pair. Build A of the choices is the first of the pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CountedVotes {
    /// The smaller id first, as [`Self::new`] puts them.
    pub pair: (Uuid, Uuid),
    pub counts: ChoiceCounts,
}

/// A judge's vote, as the judge saw the builds. Of its votes on a pair in one order the last counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JudgeVote {
    pub judge: Judge,
    pub left: Uuid,
    pub right: Uuid,
    pub choice: Choice,
}

/// A judge's overall score of a build. Of a model's scores of a build the last counts, and of people's the mean.
#[derive(Clone, Debug, PartialEq)]
pub struct JudgeScore {
    pub judge: Judge,
    pub build: Uuid,
    pub overall: f64,
}

/// What the statistics need to know about a build.
#[derive(Clone, Debug, PartialEq)]
pub struct BuildFacts {
    pub build: Uuid,
    pub model: String,
    pub provider: String,
    pub blocks: u64,
    /// The skill of its model on the ladder of its settings, if it has one.
    pub skill: Option<f64>,
}

/// All that the reports are made of.
#[derive(Clone, Debug, Default)]
pub struct AgreementData {
    /// Those that count.
    pub votes: Vec<PersonVote>,
    /// Votes beside those, of which only the numbers are known.
    pub counted_votes: Vec<CountedVotes>,
    pub judge_votes: Vec<JudgeVote>,
    pub scores: Vec<JudgeScore>,
    pub builds: Vec<BuildFacts>,
    /// The providers of the judges that are models.
    pub providers: BTreeMap<Judge, String>,
}

/// A value with its 95 % interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct MeasuredValue {
    #[schema(example = 0.62)]
    pub value: f64,
    #[schema(example = 0.55)]
    pub low: f64,
    #[schema(example = 0.69)]
    pub high: f64,
    /// How many pairs, or models, it is measured on.
    #[schema(example = 140)]
    pub count: usize,
}

/// What is known about a judge. What is null cannot be told yet.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct JudgeReport {
    pub judge: Judge,
    pub provider: Option<String>,
    /// The builds that it has scored.
    pub scored_builds: usize,
    /// The pairs that it has compared, in one order or both.
    pub compared_pairs: usize,
    /// Those on which people have voted as well.
    pub shared_pairs: usize,
    pub agreement: VoterAgreement,
    /// The share of pairs on which it keeps its verdict when the sides are swapped.
    pub consistency: Option<MeasuredValue>,
    /// The share of the left among its verdicts for either side; one half without a bias.
    pub left: Option<MeasuredValue>,
    pub larger_build: Leaning,
    pub own_provider: Leaning,
    /// Between its scores and skill, over models.
    pub rank_correlation: Option<MeasuredValue>,
    /// The builds on which it and the voters differ most, the greatest difference first.
    pub build_disagreements: Vec<BuildDisagreement>,
    /// The pairs on which most voters are against its verdict, the most against it first.
    pub pair_disagreements: Vec<PairDisagreement>,
}

/// How often a judge agrees with voters, and voters with each other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct VoterAgreement {
    pub share: Option<MeasuredValue>,
    pub kappa: Option<MeasuredValue>,
    /// Of two voters, on the pairs that the judge compared as well.
    pub voters_share: Option<MeasuredValue>,
    pub voters_kappa: Option<MeasuredValue>,
    /// The judge's share minus the voters' among themselves, on the pairs with two voters or more.
    pub beyond_voters: Option<MeasuredValue>,
}

/// How often verdicts are for one kind of build, where the other build of the pair is not of that kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Leaning {
    pub judge: Option<MeasuredValue>,
    pub voters: Option<MeasuredValue>,
    /// The judge's share minus the voters'.
    pub beyond_voters: Option<MeasuredValue>,
    /// The judge's share where voters are evenly split; one half without a bias.
    pub when_voters_split: Option<MeasuredValue>,
}

/// A build that a judge and the voters see differently.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct BuildDisagreement {
    /// Its id in the vote log.
    pub build: Uuid,
    pub overall: f64,
    /// The share of its votes that it has won; ties are half, and "both bad" is lost.
    pub voters_share: f64,
    pub votes: u64,
    /// By how many standard deviations the judge puts it higher among the builds than the voters do.
    pub difference: f64,
}

/// A pair on which a judge has the same verdict in both orders, and most voters the opposite one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PairDisagreement {
    /// The judge's, by its id in the vote log.
    pub preferred: Uuid,
    pub other: Uuid,
    pub votes_for_preferred: u64,
    pub votes_for_other: u64,
    /// Including those for neither.
    pub votes: u64,
}

impl PersonVote {
    pub fn new(left: Uuid, right: Uuid, voter: Option<Uuid>, choice: Choice) -> Self {
        match left <= right {
            true => Self { pair: (left, right), voter, choice },
            false => Self { pair: (right, left), voter, choice: choice.mirrored() },
        }
    }
}

impl CountedVotes {
    pub fn new(left: Uuid, right: Uuid, counts: ChoiceCounts) -> Self {
        match left <= right {
            true => Self { pair: (left, right), counts },
            false => Self { pair: (right, left), counts: counts.mirrored() },
        }
    }
}

/// Reports on all judges that have judged something, in the order of their names.
pub fn judge_reports(data: &AgreementData) -> Vec<JudgeReport> {
    let voted = VotedPairs::new(&data.votes, &data.counted_votes);
    let builds: BTreeMap<Uuid, &BuildFacts> = data.builds.iter().map(|facts| (facts.build, facts)).collect();
    let of_votes = data.judge_votes.iter().map(|vote| &vote.judge);
    let judges: BTreeSet<&Judge> = of_votes.chain(data.scores.iter().map(|score| &score.judge)).collect();

    let mut votes: BTreeMap<&Judge, Vec<&JudgeVote>> = BTreeMap::new();
    for vote in &data.judge_votes {
        votes.entry(&vote.judge).or_default().push(vote);
    }
    let mut scores = scores_of_judges(&data.scores);
    let of_judge = judges.into_iter().map(|judge| {
        let judged = JudgedPairs::new(votes.get(judge).map_or(&[], Vec::as_slice));
        let scores = scores.remove(judge).unwrap_or_default();
        report(judge, data.providers.get(judge), &judged, &scores, &voted, &builds)
    });
    of_judge.collect()
}

/// The score of each judge for each build.
fn scores_of_judges(scores: &[JudgeScore]) -> BTreeMap<&Judge, BTreeMap<Uuid, f64>> {
    let mut sums: BTreeMap<&Judge, BTreeMap<Uuid, (f64, u32)>> = BTreeMap::new();
    for JudgeScore { judge, build, overall } in scores.iter().filter(|score| score.overall.is_finite()) {
        let (sum, count) = sums.entry(judge).or_default().entry(*build).or_default();
        match judge.kind {
            JudgeKind::Model => (*sum, *count) = (*overall, 1),
            JudgeKind::People => (*sum, *count) = (*sum + overall, *count + 1),
        }
    }
    let means = sums.into_iter().map(|(judge, builds)| {
        let mean = |(build, (sum, count)): (Uuid, (f64, u32))| (build, sum / f64::from(count));
        (judge, builds.into_iter().map(mean).collect())
    });
    means.collect()
}

fn report(
    judge: &Judge,
    provider: Option<&String>,
    judged: &JudgedPairs,
    scores: &BTreeMap<Uuid, f64>,
    voted: &VotedPairs,
    builds: &BTreeMap<Uuid, &BuildFacts>,
) -> JudgeReport {
    let shared = judged.shared_with(voted);
    let provider_of = |build: Uuid| builds.get(&build).map(|facts| facts.provider.as_str());
    let blocks_of = |build: Uuid| builds.get(&build).map(|facts| facts.blocks);
    let larger = |(first, second): (Uuid, Uuid)| match (blocks_of(first)?, blocks_of(second)?) {
        (first, second) if first == second => None,
        (first, second) => Some(first > second),
    };
    let own = |(first, second): (Uuid, Uuid)| {
        let own = provider?.as_str();
        match (provider_of(first)? == own, provider_of(second)? == own) {
            (first, second) if first == second => None,
            (first, _) => Some(first),
        }
    };
    JudgeReport {
        judge: judge.clone(),
        provider: provider.cloned(),
        scored_builds: scores.len(),
        compared_pairs: judged.len(),
        shared_pairs: shared.len(),
        agreement: agreement(&shared),
        consistency: judged.consistency(),
        left: judged.left_share(),
        larger_build: leaning::measure(&shared, larger),
        own_provider: leaning::measure(&shared, own),
        rank_correlation: correlation::of_scores_and_skill(scores, builds),
        build_disagreements: disagreements::of_builds(scores, voted),
        pair_disagreements: disagreements::of_pairs(judged, voted),
    }
}

/// A pair on which both a judge and people have voted.
struct SharedPair {
    pair: (Uuid, Uuid),
    judge: VerdictCounts,
    voters: VerdictCounts,
}

fn agreement(shared: &[SharedPair]) -> VoterAgreement {
    let with_judge = shared.iter().map(|pair| PairAgreement {
        pair: pair.pair,
        same: pair.judge.agreement_with(pair.voters),
        decided: [pair.judge.decided_share(), pair.voters.decided_share()],
    });
    let among_voters = shared.iter().filter_map(|pair| {
        let decided = pair.voters.decided_share();
        Some(PairAgreement { pair: pair.pair, same: pair.voters.agreement_among()?, decided: [decided; 2] })
    });
    let differences = shared.iter().filter_map(|pair| {
        Some((pair.pair, pair.judge.agreement_with(pair.voters) - pair.voters.agreement_among()?))
    });
    let with_judge: Vec<PairAgreement> = with_judge.collect();
    let among_voters: Vec<PairAgreement> = among_voters.collect();
    VoterAgreement {
        share: share(&with_judge),
        kappa: kappa(&with_judge),
        voters_share: share(&among_voters),
        voters_kappa: kappa(&among_voters),
        beyond_voters: PairSample::new(differences).mean(-1.0, 1.0),
    }
}

/// How often two sides have the same verdict on a pair, and how often each decides.
struct PairAgreement {
    pair: (Uuid, Uuid),
    same: f64,
    decided: [f64; 2],
}

fn share(pairs: &[PairAgreement]) -> Option<MeasuredValue> {
    PairSample::new(pairs.iter().map(|pair| (pair.pair, pair.same))).mean(0.0, 1.0)
}

/// Cohen's κ. With d the share of decided verdicts of each side, chance agreement is d₁d₂/2 + (1 − d₁)(1 − d₂).
fn kappa(pairs: &[PairAgreement]) -> Option<MeasuredValue> {
    let mean = |of: &dyn Fn(&PairAgreement) -> f64| pairs.iter().map(of).sum::<f64>() / pairs.len() as f64;
    let observed = mean(&|pair| pair.same);
    let decided = [0, 1].map(|side| mean(&|pair| pair.decided[side]));
    let chance = decided[0] * decided[1] / 2.0 + (1.0 - decided[0]) * (1.0 - decided[1]);
    let beyond_chance = 1.0 - chance;
    if pairs.is_empty() || beyond_chance < 1e-9 {
        return None;
    }
    // The first-order effect of each pair on κ.
    let influence = pairs.iter().map(|pair| {
        let shift = (0..2)
            .map(|side| (1.5 * decided[1 - side] - 1.0) * (pair.decided[side] - decided[side]))
            .sum::<f64>();
        let effect =
            (pair.same - observed) / beyond_chance - (1.0 - observed) * shift / beyond_chance.powi(2);
        (pair.pair, effect)
    });
    let value = (observed - chance) / beyond_chance;
    PairSample::new(influence).around(value, [-chance / beyond_chance - value, 1.0 - value], [-1.0, 1.0])
}

#[cfg(test)]
mod tests;
