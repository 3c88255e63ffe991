//! Skill at equal size.

use super::super::equal_size::{SizeAxis, SizeGap};
use super::simulation::{MODELS, TestRng, name, rating};
use super::*;

/// What doublings are worth in a simulated world, and how many prompts and votes it has.
#[derive(Clone, Copy)]
struct SizedWorld {
    blocks: f64,
    kinds: f64,
    prompts: usize,
    votes: usize,
    /// By how many points builds are better or worse than their models at their sizes, as a standard deviation.
    build_effect: f64,
}

const WORLD: SizedWorld =
    SizedWorld { blocks: 40.0, kinds: -25.0, prompts: 16, votes: 3_000, build_effect: 0.0 };

impl SizedWorld {
    /// Every model has a build of every prompt. Some models build larger than others, and so do some prompts; builds
    /// with more blocks tend to have more kinds of them.
    fn tallies(&self, seed: u64) -> Vec<PairTally> {
        let mut rng = TestRng(seed);
        let scale = |doublings: f64, unit: f64| (unit * doublings.exp2()).round().max(1.0) as u32;
        let model_scales = [(); MODELS].map(|()| 0.7 * rng.normal());
        let mut builds: Vec<(BuildSize, f64)> = Vec::new();
        for _ in 0..self.prompts {
            let prompt_scale = rng.normal();
            for model_scale in model_scales {
                let blocks = prompt_scale + model_scale + 1.2 * rng.normal();
                let kinds = 0.4 * blocks + 0.6 * rng.normal();
                let size = BuildSize { blocks: scale(blocks, 900.0), kinds: scale(kinds, 12.0) };
                builds.push((size, self.build_effect * rng.normal()));
            }
        }
        let mut counts = BTreeMap::<(usize, usize, usize), ChoiceCounts>::new();
        for _ in 0..self.votes {
            let (prompt, left) = (rng.below(self.prompts), rng.below(MODELS));
            let right = (left + 1 + rng.below(MODELS - 1)) % MODELS;
            let value = |model: usize| {
                let (size, effect) = builds[prompt * MODELS + model];
                let (blocks, kinds) = (f64::from(size.blocks).log2(), f64::from(size.kinds).log2());
                rating(model) + effect + self.blocks * blocks + self.kinds * kinds
            };
            let odds = ((value(left) - value(right)) / POINTS_PER_NAT).exp();
            let (tie, drawn) = (0.4 * odds.sqrt(), rng.uniform() * (odds + 0.4 * odds.sqrt() + 1.0));
            let choice = if drawn < odds {
                A
            } else if drawn < odds + tie {
                Tie
            } else {
                B
            };
            let counts = counts.entry((prompt, left, right)).or_default();
            *counts = counts.with(choice);
        }
        let tally = |((prompt, left, right), counts): ((usize, usize, usize), ChoiceCounts)| {
            let sizes = [left, right].map(|model| builds[prompt * MODELS + model].0);
            let prompt = format!("prompt-{prompt}").parse().unwrap();
            PairTally { prompt, a: name(left), b: name(right), sizes: Some(sizes), counts }
        };
        counts.into_iter().map(tally).collect()
    }

    /// In how many of so many worlds the intervals hold what doublings are worth, and the models' skills.
    fn coverage(&self, worlds: u64) -> [f64; 3] {
        let mut held = [0.0; 3];
        for seed in 0..worlds {
            let Some(fit) = equal_size(&self.tallies(seed)) else { continue };
            let holds = |effect: Option<SizeEffect>, truth| {
                f64::from(u8::from(effect.is_some_and(|effect| effect.low <= truth && truth <= effect.high)))
            };
            held[0] += holds(fit.blocks, self.blocks);
            held[1] += holds(fit.kinds, self.kinds);
            for model in 0..MODELS {
                let skill = &fit.models[&name(model)];
                let is_held = skill.low <= Some(rating(model)) && Some(rating(model)) <= skill.high;
                held[2] += f64::from(u8::from(is_held)) / MODELS as f64;
            }
        }
        held
    }
}

fn equal_size(tallies: &[PairTally]) -> Option<EqualSizeFit> {
    fit_all(tallies, 1.0).equal_size
}

#[test]
fn what_size_is_worth_and_skill_at_equal_size_are_found() {
    for build_effect in [0.0, 60.0] {
        let [blocks, kinds, skill] = SizedWorld { build_effect, ..WORLD }.coverage(100);
        let case = format!("with builds that differ by {build_effect} points: {blocks}, {kinds}, {skill}");
        assert!(blocks >= 93.0 && kinds >= 93.0 && skill >= 93.0, "{case}");
    }
}

#[test]
fn with_few_prompts_intervals_are_wide_enough() {
    for prompts in [5, 8] {
        let [blocks, kinds, skill] = SizedWorld { prompts, votes: 1_000, ..WORLD }.coverage(100);
        assert!(blocks >= 93.0 && kinds >= 93.0 && skill >= 93.0, "{prompts}: {blocks}, {kinds}, {skill}");
    }
}

#[test]
fn without_differences_in_size_the_fit_is_the_plain_one() {
    let mut tallies = WORLD.tallies(1);
    let size = BuildSize { blocks: 700, kinds: 9 };
    tallies.iter_mut().for_each(|tally| tally.sizes = Some([size; 2]));
    assert_eq!(fit_all(&tallies, 1.0).equal_size, None, "there is nothing to tell");

    let graph = |size_use| ComparisonGraph::largest_component(&tallies, &[], true, size_use).unwrap();
    let (plain, sized) = (graph(SizeUse::Ignored), graph(SizeUse::Compared));
    let peak = |graph: &ComparisonGraph, with_sizes| {
        let duels = graph.duels();
        let likelihood = Likelihood::new(MODELS, &duels, 1.0).with_sizes(with_sizes);
        likelihood.maximum(DVector::zeros(MODELS).as_view())
    };
    let (plain, sized) = (peak(&plain, [false; 2]), peak(&sized, [true; 2]));
    for parameter in 0..=MODELS {
        assert_near(sized[parameter], plain[parameter], 1e-9);
    }
    assert_eq!(sized.rows(MODELS + 1, 2).iter().copied().collect::<Vec<f64>>(), [0.0, 0.0]);
}

#[test]
fn an_axis_along_which_builds_do_not_differ_is_left_out() {
    let mut tallies = WORLD.tallies(2);
    for size in tallies.iter_mut().flat_map(|tally| tally.sizes.as_mut().unwrap()) {
        size.kinds = 9;
    }
    let fit = equal_size(&tallies).unwrap();
    assert!(fit.blocks.is_some() && fit.kinds.is_none(), "{fit:?}");
}

#[test]
fn sizes_that_differ_between_models_alone_tell_nothing() {
    // Larger models may just be better ones.
    let mut tallies = WORLD.tallies(3);
    let size_of = |model: &ModelKey| {
        let number: u32 = model.as_str().rsplit('_').next().unwrap().parse().unwrap();
        BuildSize { blocks: 100 << number, kinds: 2 + 3 * number }
    };
    for tally in &mut tallies {
        tally.sizes = Some([size_of(&tally.a), size_of(&tally.b)]);
    }
    assert_eq!(equal_size(&tallies), None);
}

#[test]
fn too_little_is_told_by_few_votes_few_prompts_and_builds_of_unknown_sizes() {
    assert_eq!(equal_size(&SizedWorld { votes: 60, ..WORLD }.tallies(4)), None);
    assert_eq!(equal_size(&SizedWorld { prompts: 4, ..WORLD }.tallies(4)), None);
    let mut tallies = WORLD.tallies(4);
    let known = equal_size(&tallies).unwrap();
    for tally in tallies.iter_mut().filter(|tally| tally.prompt.as_str() == "prompt-3") {
        tally.sizes = None;
    }
    let fewer = equal_size(&tallies).unwrap();
    assert!(fewer.votes < known.votes, "{} {}", fewer.votes, known.votes);
    tallies.iter_mut().for_each(|tally| tally.sizes = None);
    assert_eq!(equal_size(&tallies), None);
}

#[test]
fn where_the_larger_build_always_wins_its_worth_is_large_and_finite() {
    let mut tallies = WORLD.tallies(5);
    for tally in &mut tallies {
        let [one, other] = tally.sizes.unwrap();
        let choice = if one.blocks > other.blocks { A } else { B };
        tally.counts = ChoiceCounts::of(choice, tally.counts.sum());
    }
    let blocks = equal_size(&tallies).unwrap().blocks.unwrap();
    assert!(blocks.points > 300.0 && blocks.high.is_finite(), "{blocks:?}");
}

#[test]
fn sides_make_no_difference() {
    let tallies = WORLD.tallies(6);
    assert_eq!(equal_size(&tallies), equal_size(&mirrored(&tallies)));
}

#[test]
fn many_votes_of_one_voter_widen_the_intervals() {
    let tallies = WORLD.tallies(7);
    let tally = |PairTally { a, b, sizes, counts, .. }: PairTally| VoterTally { a, b, sizes, counts };
    // One voter likes whatever is larger.
    let of_one = tallies.iter().cloned().map(|mut tally| {
        let [one, other] = tally.sizes.unwrap();
        tally.counts = ChoiceCounts::of(if one.blocks > other.blocks { A } else { B }, 1);
        tally
    });
    let of_one: Vec<_> = of_one.collect();
    let all = [tallies, of_one.clone()].concat();
    let voter = HeavyVoter { tallies: of_one.into_iter().map(tally).collect() };
    let strangers = equal_size(&all).unwrap().blocks.unwrap();
    let one = fit(&all, &[voter], 1.0, &everybody(&all)).equal_size.unwrap().blocks.unwrap();
    assert_eq!(one.points, strangers.points);
    assert!(one.high - one.low > 1.5 * (strangers.high - strangers.low), "{one:?} {strangers:?}");
}

#[test]
fn the_gradient_is_the_slope_of_the_likelihood() {
    let tallies = SizedWorld { prompts: 6, votes: 300, ..WORLD }.tallies(8);
    let graph = ComparisonGraph::largest_component(&tallies, &[], true, SizeUse::Compared).unwrap();
    let duels = graph.duels();
    let likelihood = Likelihood::new(MODELS, &duels, 1.0).with_sizes([true; 2]);
    let mut rng = TestRng(9);
    let point = DVector::from_fn(MODELS + 3, |_, _| 0.3 * rng.normal());
    let gradient = likelihood.gradient(&point);
    let curvature = likelihood.curvature(&point).unwrap().l();
    let curvature = &curvature * curvature.transpose();
    let moved = |parameter: usize, by: f64| {
        let mut moved = point.clone();
        moved[parameter] += by;
        moved
    };
    let step = 1e-5;
    for parameter in 0..point.len() {
        let (up, down) = (moved(parameter, step), moved(parameter, -step));
        let rise = likelihood.log_likelihood(&up) - likelihood.log_likelihood(&down);
        assert_near(rise / (2.0 * step), gradient[parameter], 1e-4);
        // Beside the skills, where a constant is added.
        for other in MODELS..point.len() {
            let slope = (likelihood.gradient(&down)[other] - likelihood.gradient(&up)[other]) / (2.0 * step);
            assert_near(curvature[(other, parameter)], slope, 1e-4);
        }
    }
}

#[test]
fn gaps_count_doublings_and_turn_around() {
    let [small, large] = [BuildSize { blocks: 100, kinds: 3 }, BuildSize { blocks: 1600, kinds: 6 }];
    let gap = |one, other| SizeAxis::ALL.map(|axis| SizeGap::between(one, other).along(axis));
    assert_near(gap(large, small)[0], 4.0, 1e-12);
    assert_near(gap(large, small)[1], 1.0, 1e-12);
    assert_eq!(gap(small, large), gap(large, small).map(|gap| -gap));
    assert_eq!(SizeGap::between(small, small), SizeGap::NONE);
    let nothing = BuildSize { blocks: 0, kinds: 0 };
    assert!(gap(nothing, BuildSize { blocks: u32::MAX, kinds: u32::MAX })[0].is_finite());
}
