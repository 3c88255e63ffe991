//! Votes of simulated voters on models of known ratings, whose builds, and whose voters' tastes, differ.

use super::*;

pub const MODELS: usize = 8;
const PROMPTS: usize = 12;

/// Where votes come from.
#[derive(Clone, Copy)]
pub struct VoterCrowd {
    pub voters: usize,
    pub votes_each: usize,
    /// The share of ties between equal builds.
    pub ties: f64,
    /// By how many points builds are better or worse than their models, as a standard deviation.
    pub build_effect: f64,
    /// By how many points a voter likes a model better or worse than others do.
    pub taste: f64,
}

/// A vote of the simulation, on models by number.
#[derive(Clone, Copy)]
pub struct CastVote {
    pub prompt: usize,
    pub left: usize,
    pub right: usize,
    pub choice: Choice,
}

/// SplitMix64.
pub struct TestRng(pub u64);

impl TestRng {
    pub fn uniform(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    }

    pub fn below(&mut self, end: usize) -> usize {
        (self.uniform() * end as f64) as usize
    }

    /// Near enough to a normal distribution.
    pub fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.uniform()).sum::<f64>() - 6.0
    }
}

pub fn name(model: usize) -> ModelKey {
    key(&format!("model_{model}"))
}

pub fn rating(model: usize) -> f64 {
    MEAN_RATING + 20.0 * (model as f64 - (MODELS - 1) as f64 / 2.0)
}

impl VoterCrowd {
    /// Votes that hang together only by their prompts.
    pub const STRANGERS: Self =
        Self { voters: 2_500, votes_each: 1, ties: 0.0, build_effect: 0.0, taste: 0.0 };

    pub fn nu(&self) -> f64 {
        2.0 * self.ties / (1.0 - self.ties)
    }

    /// The votes of each voter.
    pub fn votes(&self, rng: &mut TestRng) -> Vec<Vec<CastVote>> {
        let ratings: Vec<f64> = (0..PROMPTS).flat_map(|_| 0..MODELS).map(rating).collect();
        let builds: Vec<f64> =
            ratings.into_iter().map(|rating| rating + self.build_effect * rng.normal()).collect();
        (0..self.voters).map(|_| self.votes_of_one(&builds, rng)).collect()
    }

    fn votes_of_one(&self, builds: &[f64], rng: &mut TestRng) -> Vec<CastVote> {
        let tastes = [(); MODELS].map(|()| self.taste * rng.normal());
        let vote = |_| {
            let (prompt, left, right) = draw_pair(rng);
            let value = |model| builds[prompt * MODELS + model] + tastes[model];
            let odds = ((value(left) - value(right)) / POINTS_PER_NAT).exp();
            let (tie, drawn) =
                (self.nu() * odds.sqrt(), rng.uniform() * (odds + self.nu() * odds.sqrt() + 1.0));
            let choice = if drawn < odds {
                A
            } else if drawn < odds + tie {
                Tie
            } else {
                B
            };
            CastVote { prompt, left, right, choice }
        };
        (0..self.votes_each).map(vote).collect()
    }
}

/// A prompt and two different models.
pub fn draw_pair(rng: &mut TestRng) -> (usize, usize, usize) {
    let (prompt, left, step) = (rng.below(PROMPTS), rng.below(MODELS), rng.below(MODELS - 1));
    (prompt, left, (left + 1 + step) % MODELS)
}

pub fn tallies<'a>(votes: impl IntoIterator<Item = &'a CastVote>) -> Vec<PairTally> {
    let mut counts = BTreeMap::<_, ChoiceCounts>::new();
    for &CastVote { prompt, left, right, choice } in votes {
        let counts = counts.entry((prompt, left, right)).or_default();
        *counts = counts.with(choice);
    }
    let tally = |((prompt, left, right), counts)| {
        let prompt = format!("prompt-{prompt}").parse().unwrap();
        PairTally { prompt, a: name(left), b: name(right), sizes: None, counts }
    };
    counts.into_iter().map(tally).collect()
}

/// All votes as those of one voter.
pub fn heavy_voter(votes: &[CastVote]) -> HeavyVoter {
    let tally = |vote: &CastVote| VoterTally {
        a: name(vote.left),
        b: name(vote.right),
        sizes: None,
        counts: ChoiceCounts::of(vote.choice, 1),
    };
    HeavyVoter { tallies: votes.iter().map(tally).collect() }
}
