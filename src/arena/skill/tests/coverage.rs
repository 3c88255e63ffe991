//! How often intervals hold the truth in simulations.

use super::simulation::{MODELS, TestRng, VoterCrowd, heavy_voter, name, rating, tallies};
use super::*;

/// In how many of all cases the intervals of skill held the true ratings, and that of ν the true ν.
#[derive(Debug, Default)]
struct CoverageRates {
    skill: f64,
    nu: f64,
}

#[derive(Clone, Copy)]
enum Clusters {
    Votes,
    Prompts,
    PromptsAndVoters,
}

fn coverage(crowd: VoterCrowd, clusters: Clusters, runs: u64) -> CoverageRates {
    let mut coverage = CoverageRates::default();
    for run in 0..runs {
        let voters = crowd.votes(&mut TestRng(run));
        let mut tallies = tallies(voters.iter().flatten());
        if matches!(clusters, Clusters::Votes) {
            tallies = each_on_a_prompt_of_its_own(&tallies);
        }
        let heavy_voters: Vec<_> = match clusters {
            Clusters::PromptsAndVoters => voters.iter().map(|votes| heavy_voter(votes)).collect(),
            Clusters::Votes | Clusters::Prompts => Vec::new(),
        };
        let fit = fit(&tallies, &heavy_voters, 1.0, &everybody(&tallies));
        let holds = |low: Option<f64>, truth, high| low <= Some(truth) && Some(truth) <= high;
        let held = (0..MODELS).filter(|&model| {
            let skill = &fit.models[&name(model)];
            holds(skill.low, rating(model), skill.high)
        });
        coverage.skill += held.count() as f64 / (runs as f64 * MODELS as f64);
        let nu = fit.ties.is_some_and(|ties| holds(ties.low, crowd.nu(), ties.high));
        coverage.nu += f64::from(u8::from(nu)) / runs as f64;
    }
    coverage
}

fn each_on_a_prompt_of_its_own(tallies: &[PairTally]) -> Vec<PairTally> {
    let single = tallies.iter().flat_map(|tally| {
        let ChoiceCounts { a, b, tie, .. } = tally.counts;
        let votes = [(A, a), (B, b), (Tie, tie)].into_iter();
        votes.flat_map(move |(choice, count)| {
            (0..count).map(move |_| PairTally { counts: ChoiceCounts::of(choice, 1), ..tally.clone() })
        })
    });
    let prompt = |vote: usize| format!("vote-{vote}").parse().unwrap();
    single.enumerate().map(|(vote, tally)| PairTally { prompt: prompt(vote), ..tally }).collect()
}

#[test]
fn intervals_hold_the_truth_however_many_ties_there_are() {
    for ties in [0.0, 0.1, 0.25] {
        for build_effect in [0.0, 80.0] {
            let crowd = VoterCrowd { ties, build_effect, ..VoterCrowd::STRANGERS };
            let coverage = coverage(crowd, Clusters::Prompts, 25);
            let case = format!("{ties} ties, build effects of {build_effect}: {coverage:?}");
            assert!((0.92..0.99).contains(&coverage.skill), "{case}");
            // Builds that differ tie less often than equal models would.
            assert!(ties == 0.0 || build_effect > 0.0 || coverage.nu >= 0.92, "{case}");
        }
    }
}

#[test]
fn votes_on_the_same_builds_are_not_independent() {
    let crowd = VoterCrowd { build_effect: 80.0, ..VoterCrowd::STRANGERS };
    let coverage = coverage(crowd, Clusters::Votes, 10);
    assert!(coverage.skill < 0.8, "{coverage:?}");
}

#[test]
fn votes_of_the_same_voter_are_not_independent() {
    let crowd = VoterCrowd { voters: 40, votes_each: 60, ties: 0.1, build_effect: 0.0, taste: 120.0 };
    let prompts = coverage(crowd, Clusters::Prompts, 15);
    assert!(prompts.skill < 0.87, "{prompts:?}");
    let both = coverage(crowd, Clusters::PromptsAndVoters, 25);
    assert!((0.92..0.99).contains(&both.skill), "{both:?}");
}
