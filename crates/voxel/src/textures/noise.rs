//! Deterministic noise that wraps around a tile.
//!
//! It uses only arithmetic that is exact everywhere, such as no powers and no sines, so that every machine paints the
//! same tiles.

/// The edge of a tile, in texels.
pub const EDGE: i32 = 16;

/// A source of numbers that depend only on its seed and on the position.
#[derive(Clone, Copy)]
pub struct Noise {
    seed: u32,
    /// The seed that all variants of a tile share, so that their edges match.
    common: u32,
}

impl Noise {
    pub fn new(name: &str, variant: u8) -> Self {
        let fnv = |hash: u32, byte: u8| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193);
        let common = name.bytes().fold(0x811c_9dc5, fnv);
        Self { seed: mix(common ^ u32::from(variant).wrapping_mul(0x9e37_79b9)), common }
    }

    /// An independent source.
    pub fn derive(self, salt: u32) -> Self {
        let salt = salt.wrapping_mul(0x85eb_ca6b).wrapping_add(0x27d4_eb2f);
        Self { seed: mix(self.seed ^ salt), common: mix(self.common ^ salt) }
    }

    /// The source that all variants of the tile share.
    pub fn shared(self) -> Self {
        Self { seed: self.common, common: self.common }
    }

    /// A number from 0 to below 1 for a texel; it repeats with every tile.
    pub fn at(self, x: i32, y: i32) -> f32 {
        self.lattice(x.rem_euclid(EDGE), y.rem_euclid(EDGE))
    }

    /// Smooth noise from 0 to 1 on a lattice of cells, whose size must divide the tile. It is the same in all variants
    /// at the edges of the tile.
    pub fn smooth(self, x: i32, y: i32, [width, height]: [i32; 2]) -> f32 {
        let (x, y) = (x.rem_euclid(EDGE), y.rem_euclid(EDGE));
        let (column, row) = (x / width, y / height);
        let (columns, rows) = (EDGE / width, EDGE / height);
        let fade = |step: i32, of: i32| {
            let t = (step as f32 + 0.5) / of as f32;
            t * t * (3.0 - 2.0 * t)
        };
        let corner = |i: i32, j: i32| match ((column + i) % columns, (row + j) % rows) {
            edge @ ((0, _) | (_, 0)) => self.shared().lattice(edge.0, edge.1),
            (i, j) => self.lattice(i, j),
        };
        let (u, v) = (fade(x % width, width), fade(y % height, height));
        let above = blend(corner(0, 0), corner(1, 0), u);
        let below = blend(corner(0, 1), corner(1, 1), u);
        blend(above, below, v)
    }

    fn lattice(self, x: i32, y: i32) -> f32 {
        let place = (x as u32).wrapping_mul(0x9e37_79b1) ^ (y as u32).wrapping_mul(0xc2b2_ae35);
        (mix(self.seed ^ mix(place)) >> 8) as f32 / (1 << 24) as f32
    }
}

pub fn blend(from: f32, to: f32, share: f32) -> f32 {
    from + (to - from) * share
}

fn mix(mut n: u32) -> u32 {
    n = (n ^ (n >> 16)).wrapping_mul(0x7feb_352d);
    n = (n ^ (n >> 15)).wrapping_mul(0x846c_a68b);
    n ^ (n >> 16)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn noise_wraps_around_the_tile() {
        let noise = Noise::new("stone top", 1);
        for (x, y) in [(0, 0), (5, 9), (15, 15)] {
            for (dx, dy) in [(EDGE, 0), (0, -EDGE), (-EDGE, 2 * EDGE)] {
                assert_eq!(noise.at(x, y), noise.at(x + dx, y + dy));
                assert_eq!(noise.smooth(x, y, [4, 2]), noise.smooth(x + dx, y + dy, [4, 2]));
            }
        }
    }

    #[test]
    fn variants_differ_but_not_at_the_edge() {
        let (one, other) = (Noise::new("stone top", 0), Noise::new("stone top", 1));
        assert_ne!(one.at(3, 3), other.at(3, 3));
        assert_eq!(one.shared().at(3, 3), other.shared().at(3, 3));
        // The smoothing gives the shared corner almost all of the weight next to the edge.
        let gap = |x: i32| (one.smooth(x, 0, [4, 16]) - other.smooth(x, 0, [4, 16])).abs();
        assert!(gap(0) < 0.1 && gap(15) < 0.1);
    }
}
