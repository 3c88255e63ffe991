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

/// What dice are thrown for while a world goes on. Scenes have numbers below 20.
pub(crate) mod purpose {
    /// What falls out of a block.
    pub const DROPS: u32 = 21;
    /// Where it flies.
    pub const SPILL: u32 = 22;
    /// How far a throw strays.
    pub const SPREAD: u32 = 23;
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

/// Dice that are thrown for the same thing at the same time and place, one after the other.
pub(crate) struct DiceRow {
    seed: u64,
    purpose: u32,
    tick: u64,
    place: u64,
    thrown: u64,
}

impl DiceRow {
    pub fn new(seed: u64, purpose: u32, tick: u64, place: u64) -> Self {
        Self { seed, purpose, tick, place, thrown: 0 }
    }

    fn next(&mut self) -> u64 {
        self.thrown += 1;
        dice(self.seed, self.purpose, self.tick, self.place | self.thrown << 48)
    }

    /// A number below another one.
    pub fn below(&mut self, bound: u32) -> u32 {
        (((self.next() >> 32) * u64::from(bound)) >> 32) as u32
    }

    /// A number from 0 to below 1.
    pub fn share(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// A number with the mean 0 and the variance 1 whose likelihood is shaped like a bell, up to 6: the sum of twelve that
    /// are even. A logarithm would not be the same on every machine.
    pub fn bell(&mut self) -> f64 {
        let mut sum = -6.0;
        for _ in 0..12 {
            sum += self.share();
        }
        sum
    }
}
