//! Hashes that are the same on every machine and in every build.

/// Mixes numbers into one, in their order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mixer(u64);

impl Mixer {
    pub fn new(seed: u64) -> Self {
        Self(mix(seed ^ 0x9e37_79b9_7f4a_7c15))
    }

    pub fn add(&mut self, number: u64) {
        self.0 = mix(self.0.rotate_left(23) ^ number.wrapping_mul(0xd6e8_feb8_6659_fd93));
    }

    pub fn add_f64(&mut self, number: f64) {
        self.add(number.to_bits());
    }

    pub fn finish(self) -> u64 {
        self.0
    }
}

/// Spreads every bit of a number over all others.
pub fn mix(mut n: u64) -> u64 {
    n = (n ^ (n >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    n = (n ^ (n >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    n ^ (n >> 31)
}

/// A die: a number that depends only on the seed, on what it is thrown for, and on where and when. So the order of calls
/// does not matter.
pub fn dice(seed: u64, purpose: u32, tick: u64, place: u64) -> u64 {
    let mut mixer = Mixer::new(seed);
    mixer.add(u64::from(purpose));
    mixer.add(tick);
    mixer.add(place);
    mixer.finish()
}
