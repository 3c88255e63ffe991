//! Votes on builds that are better or worse than their models by about 80 points.

use super::*;

pub const MODELS: usize = 8;
const PROMPTS: usize = 12;
const VOTES: usize = 2_500;
const BUILD_EFFECT: f64 = 80.0;

/// SplitMix64.
pub struct TestRng(pub u64);

impl TestRng {
    fn uniform(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    }

    fn below(&mut self, end: usize) -> usize {
        (self.uniform() * end as f64) as usize
    }

    /// Near enough to a normal distribution.
    fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.uniform()).sum::<f64>() - 6.0
    }
}

pub fn name(model: usize) -> String {
    format!("model_{model}")
}

pub fn rating(model: usize) -> f64 {
    MEAN_RATING + 20.0 * (model as f64 - (MODELS - 1) as f64 / 2.0)
}

pub fn votes(rng: &mut TestRng) -> Vec<PairTally> {
    let build = |model| rating(model) + BUILD_EFFECT * rng.normal();
    let builds: Vec<f64> = (0..PROMPTS).flat_map(|_| 0..MODELS).map(build).collect();
    let vote = |_| {
        let (prompt, left, step) = (rng.below(PROMPTS), rng.below(MODELS), rng.below(MODELS - 1));
        let right = (left + 1 + step) % MODELS;
        let lead = builds[prompt * MODELS + left] - builds[prompt * MODELS + right];
        let choice = if rng.uniform() < 1.0 / (1.0 + (-lead / POINTS_PER_NAT).exp()) { A } else { B };
        super::votes(&format!("prompt-{prompt}"), &name(left), &name(right), choice, 1)
    };
    (0..VOTES).map(vote).collect()
}
