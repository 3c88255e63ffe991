//! Voters with many votes.

use super::simulation::{CastVote, TestRng, VoterCrowd, draw_pair, heavy_voter, name, tallies};
use super::*;

const TARGET: usize = 0;

/// 200 voters with ten votes each, who have the first model last.
fn honest_votes() -> Vec<CastVote> {
    let crowd = VoterCrowd { voters: 200, votes_each: 10, ties: 0.1, ..VoterCrowd::STRANGERS };
    crowd.votes(&mut TestRng(1)).concat()
}

/// 800 votes, each for the first model.
fn one_sided_votes() -> Vec<CastVote> {
    let mut rng = TestRng(2);
    let pairs = std::iter::repeat_with(|| draw_pair(&mut rng));
    let with_target = pairs.filter(|(_, left, right)| [*left, *right].contains(&TARGET));
    let for_target = with_target.map(|(prompt, left, right)| {
        let choice = if left == TARGET { A } else { B };
        CastVote { prompt, left, right, choice }
    });
    for_target.take(800).collect()
}

fn target(tallies: &[PairTally], heavy_voters: &[HeavyVoter]) -> (f64, Skill) {
    let skill = fit(tallies, heavy_voters, 1.0, &everybody(tallies)).models.remove(&name(TARGET)).unwrap();
    (skill.high.unwrap() - skill.low.unwrap(), skill)
}

#[test]
fn the_votes_of_one_cookie_are_not_so_many_witnesses() {
    let (honest, bought) = (honest_votes(), one_sided_votes());
    let all = tallies(honest.iter().chain(&bought));
    let (honest_width, honest) = target(&tallies(&honest), &[]);
    let (width_as_witnesses, as_witnesses) = target(&all, &[]);
    let (width, skill) = target(&all, &[heavy_voter(&bought)]);

    assert!(honest.rank_best > 4, "{honest:?}");
    assert_eq!((as_witnesses.rank_best, as_witnesses.rank_worst), (1, 1), "{as_witnesses:?}");
    assert!(width > 3.0 * width_as_witnesses && width > 3.0 * honest_width, "{width} {skill:?}");
    assert_eq!((skill.rank_best, skill.rank_worst), (1, 8), "{skill:?}");
    assert_eq!(skill.rating, as_witnesses.rating);
}

#[test]
fn knowing_who_voted_never_makes_an_interval_narrower() {
    let crowd =
        VoterCrowd { voters: 60, votes_each: 40, ties: 0.1, build_effect: 80.0, ..VoterCrowd::STRANGERS };
    let voters = crowd.votes(&mut TestRng(3));
    let tallies = tallies(voters.iter().flatten());
    let heavy: Vec<_> = voters.iter().map(|votes| heavy_voter(votes)).collect();
    let (by_prompt, by_both) = (fit_all(&tallies, 1.0), fit(&tallies, &heavy, 1.0, &everybody(&tallies)));
    for (one, other) in by_prompt.models.values().zip(by_both.models.values()) {
        assert_eq!(one.rating, other.rating);
        assert!(other.low <= one.low && one.high <= other.high, "{one:?} {other:?}");
        assert!(other.rank_best <= one.rank_best && one.rank_worst <= other.rank_worst, "{one:?} {other:?}");
    }
    assert_eq!((by_prompt.fragility, by_prompt.votes), (by_both.fragility, by_both.votes));
}

#[test]
fn a_single_voter_leaves_the_intervals_to_the_prompts() {
    let votes =
        VoterCrowd { voters: 1, votes_each: 800, ..VoterCrowd::STRANGERS }.votes(&mut TestRng(4)).concat();
    let tallies = tallies(&votes);
    assert_eq!(fit(&tallies, &[heavy_voter(&votes)], 1.0, &everybody(&tallies)), fit_all(&tallies, 1.0));
}

#[test]
fn the_order_of_heavy_voters_and_of_their_votes_does_not_matter_to_the_last_bit() {
    let crowd = VoterCrowd { voters: 30, votes_each: 40, ties: 0.2, taste: 100.0, ..VoterCrowd::STRANGERS };
    let voters = crowd.votes(&mut TestRng(5));
    let tallies = tallies(voters.iter().flatten());
    let mut heavy: Vec<_> = voters.iter().map(|votes| heavy_voter(votes)).collect();
    let here = fit(&tallies, &heavy, 1.0, &everybody(&tallies));
    heavy.reverse();
    heavy.iter_mut().for_each(|voter| voter.tallies.reverse());
    let there = fit(&tallies, &heavy, 1.0, &everybody(&tallies));
    assert_eq!(format!("{here:?}"), format!("{there:?}"));
}

#[test]
fn heavy_voters_on_models_nobody_knows_change_nothing() {
    let tallies = tallies(&honest_votes());
    let counts = ChoiceCounts::of(A, 900);
    let tally = |a, b| VoterTally { a, b, sizes: None, counts };
    let strangers = HeavyVoter { tallies: vec![tally(key("p"), key("q")), tally(name(1), name(1))] };
    assert_eq!(fit(&tallies, &[strangers], 1.0, &everybody(&tallies)), fit_all(&tallies, 1.0));
}
