mod coverage;
mod equal_size;
mod heavy_voters;
mod oracle;
mod simulation;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

use super::super::Choice::{self, A, B, BothBad, Tie};
use super::*;

fn key(name: &str) -> ModelKey {
    name.parse().unwrap()
}

fn votes(prompt: &str, a: &str, b: &str, choice: Choice, count: u32) -> PairTally {
    let counts = ChoiceCounts::of(choice, count.into());
    PairTally { prompt: prompt.parse().unwrap(), a: key(a), b: key(b), sizes: None, counts }
}

fn everybody(tallies: &[PairTally]) -> BTreeSet<ModelKey> {
    tallies.iter().flat_map(|tally| [&tally.a, &tally.b]).cloned().collect()
}

fn fit_all(tallies: &[PairTally], prior: f64) -> Fit {
    fit(tallies, &[], prior, &everybody(tallies))
}

fn names(fit: &Fit) -> Vec<&str> {
    fit.models.keys().map(ModelKey::as_str).collect()
}

#[track_caller]
fn assert_near(found: f64, expected: f64, tolerance: f64) {
    assert!((found - expected).abs() <= tolerance, "{found} is not within {tolerance} of {expected}");
}

#[test]
fn ratings_places_and_the_frequency_of_ties_agree_with_the_oracle() {
    let fit = fit_all(&oracle::votes(), 0.0);
    assert_eq!((fit.votes, names(&fit)), (129, oracle::MODELS.to_vec()));
    for (skill, (rating, ranks)) in fit.models.values().zip(oracle::RATINGS.into_iter().zip(oracle::RANKS)) {
        assert_near(skill.rating, rating + 500.0, 1e-5);
        assert_eq!((skill.rank_best, skill.rank_worst), ranks);
    }
    let ties = fit.ties.unwrap();
    assert_near(ties.nu, oracle::NU, 1e-8);
    // Student's t with 128 degrees of freedom; the oracle does not correct for the number of prompts.
    let factor = (1.978_671 * (oracle::VARIANCE_OF_LN_NU * 129.0 / 128.0).sqrt()).exp();
    assert_near(ties.low.unwrap(), oracle::NU / factor, 1e-6);
    assert_near(ties.high.unwrap(), oracle::NU * factor, 1e-6);
}

#[test]
fn without_ties_the_fit_is_that_of_bradley_and_terry() {
    let mut tallies = oracle::votes();
    tallies.retain(|tally| tally.counts.tie == 0);
    let fit = fit_all(&tallies, 0.0);
    for (skill, rating) in fit.models.values().zip(oracle::RATINGS_WITHOUT_TIES) {
        assert_near(skill.rating, rating + 500.0, 1e-5);
    }
    assert_eq!(fit.ties, None);
}

#[test]
fn the_covariance_agrees_with_the_oracle() {
    let tallies = oracle::votes();
    let graph = ComparisonGraph::largest_component(&tallies, &[], false, SizeUse::Ignored).unwrap();
    let duels = graph.duels();
    let likelihood = Likelihood::new(4, &duels, 0.0);
    let peak = likelihood.maximum(DVector::zeros(4).as_view());
    let inverse = likelihood.inverse_curvature(&peak).unwrap();
    let uncertainty = Uncertainty::new(&graph, &likelihood, &peak, &inverse).unwrap();
    let scale = POINTS_PER_NAT * POINTS_PER_NAT * (tallies.len() - 1) as f64 / tallies.len() as f64;
    for (row, expected) in oracle::COVARIANCE.iter().enumerate() {
        for (column, expected) in expected.iter().enumerate() {
            assert_near(uncertainty.by_prompt[(row, column)] * scale, *expected, 1e-3);
        }
        assert_near(uncertainty.margin(row).unwrap() * scale.sqrt(), 1.978_671 * expected[row].sqrt(), 1e-3);
    }
}

#[test]
fn between_two_models_the_fit_can_be_done_by_hand() {
    let prompts = ["one", "two", "three", "four", "five"];
    let sides = |prompt| [votes(prompt, "x", "y", A, 12), votes(prompt, "y", "x", A, 8)];
    let decided = prompts.map(sides).concat();
    let tied = prompts.map(|prompt| votes(prompt, "x", "y", Tie, 10)).to_vec();
    // Of 60 wins and 40 losses, 20 wins stand between the two, and ties, however many, say nothing about who is better.
    for (tallies, nu, of) in [(decided.clone(), None, 100), ([decided, tied].concat(), Some(50.0), 150)] {
        let fit = fit_all(&tallies, 0.0);
        let half = POINTS_PER_NAT * 1.5_f64.ln() / 2.0;
        assert_near(fit.models[&key("x")].rating, MEAN_RATING + half, 1e-9);
        assert_near(fit.models[&key("y")].rating, MEAN_RATING - half, 1e-9);
        let (first, second) = (key("x"), key("y"));
        assert_eq!(fit.fragility, Some(Fragility { first, second, votes: 20, of }));
        assert_eq!(fit.ties.is_some(), nu.is_some());
        for (ties, nu) in fit.ties.iter().zip(nu) {
            assert_near(ties.nu, nu / (60.0_f64 * 40.0).sqrt(), 1e-9);
        }
    }
}

#[test]
fn fields_without_a_plain_maximum_get_finite_answers_or_none() {
    let round = |a, b, choice, count| votes("castle", a, b, choice, count);
    let even = |a, b, votes: u32| vec![round(a, b, A, votes / 2), round(a, b, B, votes / 2)];
    for (why, tallies, with_prior, without) in [
        ("no vote", vec![], vec![], vec![]),
        ("one model", vec![round("x", "x", A, 99)], vec![], vec![]),
        ("two votes", even("x", "y", 2), vec![], vec![]),
        ("two short", even("x", "y", 28), vec![], vec![]),
        ("just enough", even("x", "y", 30), vec!["x", "y"], vec!["x", "y"]),
        ("undefeated", vec![round("x", "y", A, 50)], vec!["x", "y"], vec![]),
        (
            "undefeated but tied",
            vec![round("x", "y", A, 50), round("x", "y", Tie, 50)],
            vec!["x", "y"],
            vec![],
        ),
        ("only ties", vec![round("x", "y", Tie, 50)], vec!["x", "y"], vec![]),
        (
            "winless",
            [even("x", "y", 40), vec![round("x", "z", A, 40), round("z", "y", B, 40)]].concat(),
            vec!["x", "y", "z"],
            vec!["x", "y"],
        ),
        ("not connected", [even("a", "b", 40), even("x", "y", 50)].concat(), vec!["x", "y"], vec!["x", "y"]),
        (
            "not connected, as many votes",
            [even("x", "y", 40), even("a", "b", 40)].concat(),
            vec!["a", "b"],
            vec!["a", "b"],
        ),
        ("only bad ones", vec![round("x", "y", BothBad, 99)], vec![], vec![]),
    ] {
        assert_eq!(names(&fit_all(&tallies, 1.0)), with_prior, "{why}, with a prior");
        assert_eq!(names(&fit_all(&tallies, 0.0)), without, "{why}, without");
    }
}

#[test]
fn with_nothing_but_ties_all_are_equal_and_nothing_is_certain() {
    let prompts = ["one", "two", "three", "four", "five"];
    let fit = fit_all(&prompts.map(|prompt| votes(prompt, "x", "y", Tie, 50)), 1.0);
    for skill in fit.models.values() {
        let expected = Skill { rating: MEAN_RATING, low: None, high: None, rank_best: 1, rank_worst: 2 };
        assert_eq!(*skill, expected);
    }
    assert_eq!((fit.models.len(), fit.ties, fit.side), (2, None, None));
}

#[test]
fn the_frequency_of_ties_needs_votes_ties_and_votes_that_are_none() {
    let nu = |wins, ties| {
        let tallies = [votes("castle", "x", "y", A, wins), votes("castle", "y", "x", A, wins)];
        let tied = votes("castle", "x", "y", Tie, ties);
        fit_all(&[&tallies[..], &[tied]].concat(), 1.0).ties.map(|ties| ties.nu)
    };
    assert_eq!([(14, 1), (50, 0), (0, 100)].map(|(wins, ties)| nu(wins, ties)), [None; 3]);
    assert_near(nu(14, 2).unwrap(), 2.0 / 14.0, 1e-9);
    let ties = TieFrequency { nu: 0.5, low: Some(0.0), high: Some(2.0) };
    assert_eq!(ties.share_between_equals(), (0.2, Some((0.0, 0.5))));
}

#[test]
fn an_undefeated_model_is_first_by_a_finite_lead() {
    for ties in [0, 50] {
        let tallies = [votes("castle", "x", "y", A, 50), votes("castle", "x", "y", Tie, ties)];
        let fit = fit_all(&tallies, 1.0);
        let (x, y) = (&fit.models[&key("x")], &fit.models[&key("y")]);
        assert!(x.rating > 1800.0 && x.rating < 2500.0, "{}", x.rating);
        assert_near((x.rating + y.rating) / 2.0, MEAN_RATING, 1e-9);
    }
}

#[test]
fn fewer_than_five_prompts_show_no_interval_and_allow_any_place() {
    let prompts = ["one", "two", "three", "four", "five"];
    let duels = |count: usize, a, b| -> Vec<PairTally> {
        let (wins, losses) = (|prompt| votes(prompt, a, b, A, 900), |prompt| votes(prompt, b, a, A, 9));
        prompts[..count].iter().flat_map(|&prompt| [wins(prompt), losses(prompt)]).collect()
    };
    let places = |tallies: &[PairTally]| -> Vec<_> {
        let fit = fit_all(tallies, 1.0);
        fit.models.values().map(|skill| (skill.low.is_some(), skill.rank_best, skill.rank_worst)).collect()
    };
    assert_eq!(places(&duels(4, "x", "y")), [(false, 1, 2); 2]);
    assert_eq!(places(&duels(5, "x", "y")), [(true, 1, 1), (true, 2, 2)]);
    // A newcomer with builds for two prompts does not take the others' intervals away.
    let newcomer = [duels(5, "x", "y"), duels(2, "y", "z")].concat();
    assert_eq!(places(&newcomer), [(true, 1, 2), (true, 2, 3), (false, 1, 3)]);
}

#[test]
fn places_are_counted_among_the_ranked_and_the_others_inform_them() {
    let tallies = oracle::votes();
    let all = fit_all(&tallies, 1.0);
    let some = fit(&tallies, &[], 1.0, &["b", "d"].map(key).into());
    assert_eq!(names(&some), ["b", "d"]);
    for (key, skill) in &some.models {
        assert_eq!(skill.rating, all.models[key].rating);
    }
    assert_eq!(some.models.values().map(|skill| skill.rank_best).collect::<Vec<_>>(), [1, 2]);
    assert_eq!(
        some.fragility.map(|fragility| (fragility.first, fragility.second)),
        Some((key("b"), key("d")))
    );
}

#[test]
fn first_place_hangs_on_the_votes_that_help_it_most() {
    // Both do the same against z, so only what x won against y, and y did not win back, stands between them.
    for (won, lost, z) in [(22, 18, 30), (41, 18, 30), (19, 18, 0), (18, 18, 30)] {
        let duel = |a, b, won, lost| [votes("castle", a, b, A, won), votes("castle", a, b, B, lost)];
        let tallies = [duel("x", "y", won, lost), duel("x", "z", z, 10), duel("y", "z", z, 10)].concat();
        let fragility = fit_all(&tallies, 1.0).fragility.unwrap();
        assert_eq!(fragility.votes, u64::from(won - lost), "{won}:{lost}");
        assert_eq!(fragility.of, u64::from(won + lost + 2 * (z + 10)));
    }
}

/// The same votes, had the builds changed sides.
fn mirrored(tallies: &[PairTally]) -> Vec<PairTally> {
    let mirror = |tally: &PairTally| {
        let (counts, sizes) = (tally.counts.mirrored(), tally.sizes.map(|[a, b]| [b, a]));
        PairTally { a: tally.b.clone(), b: tally.a.clone(), sizes, counts, ..tally.clone() }
    };
    tallies.iter().map(mirror).collect()
}

#[test]
fn the_side_effect_is_found_and_turns_around_when_the_sides_do() {
    let prompts = [("one", 61), ("two", 59), ("three", 60), ("four", 62), ("five", 58)];
    let left_wins = |(prompt, wins)| {
        let duel = |a, b| [votes(prompt, a, b, A, wins), votes(prompt, a, b, B, 100 - wins)];
        [duel("x", "y"), duel("y", "x")].concat()
    };
    let tallies = prompts.map(left_wins).concat();
    let (here, there) = (fit_all(&tallies, 1.0), fit_all(&mirrored(&tallies), 1.0));
    let (left, right) = (here.side.unwrap(), there.side.unwrap());
    assert_near(left.points, POINTS_PER_NAT * 1.5_f64.ln(), 1e-9);
    // The prompts pull by 2, -2, 0, 4 and -4; 1000 votes of chance 0.6; t with 4 degrees of freedom.
    let standard_error = (40.0_f64 * 5.0 / 4.0).sqrt() / (1000.0 * 0.6 * 0.4);
    assert_near(left.high.unwrap() - left.points, POINTS_PER_NAT * 2.776_445 * standard_error, 1e-4);
    assert_near(right.points, -left.points, 1e-9);
    assert_near(right.low.unwrap(), -left.high.unwrap(), 1e-9);
    assert_near(here.models[&key("x")].rating, there.models[&key("x")].rating, 1e-9);
}

#[test]
fn a_model_that_was_always_on_the_left_tells_nothing_about_sides() {
    let prompts = ["one", "two", "three", "four", "five"];
    let tallies = prompts.map(|prompt| [A, B, Tie].map(|choice| votes(prompt, "x", "y", choice, 99)));
    assert_eq!(fit_all(tallies.as_flattened(), 1.0).side, None);
}

#[test]
fn both_bad_votes_are_counted_and_change_nothing_else() {
    let (tallies, bad) = (oracle::votes(), votes("castle", "a", "d", BothBad, 70));
    let (before, after) = (fit_all(&tallies, 1.0), fit_all(&[tallies, vec![bad]].concat(), 1.0));
    assert_eq!(after, Fit { votes: before.votes + 70, ..before });
}

#[test]
fn a_fit_survives_json_and_speaks_camel_case() {
    let fit = fit_all(&oracle::votes(), 1.0);
    let json = serde_json::to_value(&fit).unwrap();
    assert_eq!(json["models"]["a"]["rankWorst"], 1);
    assert_eq!(json["ties"]["nu"], fit.ties.as_ref().unwrap().nu);
    assert_eq!(serde_json::from_value::<Fit>(json).unwrap(), fit);
}

#[test]
fn a_stored_fit_that_knows_no_ties_or_no_sizes_is_not_read() {
    let json = serde_json::to_value(Fit::default()).unwrap();
    assert!(serde_json::from_value::<Fit>(json.clone()).is_ok());
    for field in ["ties", "equalSize"] {
        let mut json = json.clone();
        json.as_object_mut().unwrap().remove(field);
        assert!(serde_json::from_value::<Fit>(json).is_err(), "{field}");
    }
}

fn any_tally() -> impl Strategy<Value = PairTally> {
    let prompts = ["one", "two", "three", "four", "five", "six", "seven"];
    let counts = prop_oneof![0..4_u32, 0..90_u32, Just(u32::MAX)];
    let models = || select(vec!["a", "b", "c", "d", "e", "f"]);
    let votes = (select(prompts.to_vec()), models(), models(), select(vec![A, B, Tie, BothBad]), counts)
        .prop_map(|(prompt, a, b, choice, count)| votes(prompt, a, b, choice, count));
    (votes, proptest::option::of([any_size(), any_size()]))
        .prop_map(|(tally, sizes)| PairTally { sizes, ..tally })
}

fn any_size() -> impl Strategy<Value = BuildSize> {
    let number = || prop_oneof![1..300_u32, Just(0), Just(u32::MAX)];
    (number(), number()).prop_map(|(blocks, kinds)| BuildSize { blocks, kinds })
}

fn in_two_orders() -> impl Strategy<Value = (Vec<PairTally>, Vec<PairTally>)> {
    vec(any_tally(), 0..40).prop_flat_map(|all| (Just(all.clone()), Just(all).prop_shuffle()))
}

fn any_prior() -> impl Strategy<Value = f64> {
    select(vec![1.0, 0.0, 1e-9, 1e9, f64::INFINITY, f64::NAN])
}

proptest! {
    #[test]
    fn every_number_is_finite_and_in_order(tallies in vec(any_tally(), 0..40), prior in any_prior()) {
        let of_one_voter = |some: &[PairTally]| {
            let of_one = |PairTally { a, b, sizes, counts, .. }| VoterTally { a, b, sizes, counts };
            HeavyVoter { tallies: some.iter().cloned().map(of_one).collect() }
        };
        let heavy_voters: Vec<_> = tallies.chunks(5).step_by(2).map(of_one_voter).collect();
        let fit = fit(&tallies, &heavy_voters, prior, &everybody(&tallies));
        let side = fit.side.iter().map(|side| (side.points, side.low, side.high));
        let ties = fit.ties.iter().map(|ties| (ties.nu, ties.low, ties.high));
        let ratings = fit.models.values().map(|skill| (skill.rating, skill.low, skill.high));
        let equal_size = || fit.equal_size.iter();
        let effects = equal_size().flat_map(|fit| fit.blocks.iter().chain(&fit.kinds));
        let effects = effects.map(|effect| (effect.points, Some(effect.low), Some(effect.high)));
        let at_equal_size = equal_size().flat_map(|fit| fit.models.values());
        let at_equal_size = at_equal_size.map(|skill| (skill.rating, skill.low, skill.high));
        for (value, low, high) in side.chain(ties).chain(ratings).chain(effects).chain(at_equal_size) {
            prop_assert!(value.is_finite(), "{fit:?}");
            prop_assert_eq!(low.is_some(), high.is_some());
            for (low, high) in low.into_iter().zip(high) {
                prop_assert!(low.is_finite() && low <= value && value <= high && high.is_finite(), "{fit:?}");
            }
        }
        let last = fit.models.len() as u32;
        for skill in fit.models.values() {
            prop_assert!(1 <= skill.rank_best && skill.rank_best <= skill.rank_worst, "{fit:?}");
            prop_assert!(skill.rank_worst <= last, "{fit:?}");
        }
        prop_assert!(fit.fragility.is_none_or(|fragility| fragility.votes <= fragility.of));
    }

    #[test]
    fn the_order_of_tallies_does_not_matter_to_the_last_bit((tallies, shuffled) in in_two_orders()) {
        let halves = shuffled.iter().flat_map(|tally| {
            let ChoiceCounts { a, b, tie, both_bad } = tally.counts;
            let half = ChoiceCounts { a: a / 2, b: b / 2, tie: tie / 2, both_bad: both_bad / 2 };
            let rest =
                ChoiceCounts { a: a - half.a, b: b - half.b, tie: tie - half.tie, both_bad: both_bad - half.both_bad };
            [half, rest].map(|counts| PairTally { counts, ..tally.clone() })
        });
        let (here, there) = (fit_all(&tallies, 1.0), fit_all(&halves.collect::<Vec<_>>(), 1.0));
        prop_assert_eq!(format!("{here:?}"), format!("{there:?}"));
    }
}
