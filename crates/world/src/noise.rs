//! Smooth random landscapes, the same on every machine.

use crate::hash::dice;

/// A source of smooth numbers from -1 to 1.
#[derive(Clone, Copy)]
pub(crate) struct ValueNoise {
    seed: u64,
    purpose: u32,
}

impl ValueNoise {
    pub fn new(seed: u64, purpose: u32) -> Self {
        Self { seed, purpose }
    }

    /// At a place of the plane, with bumps of about a size.
    pub fn plane(self, x: f64, z: f64, size: f64) -> f64 {
        let (x, z) = (x / size, z / size);
        let (column, row) = (x.floor(), z.floor());
        let (u, v) = (fade(x - column), fade(z - row));
        let (column, row) = (column as i64, row as i64);
        let at = |i, j| self.lattice(column + i, 0, row + j);
        blend(blend(at(0, 0), at(1, 0), u), blend(at(0, 1), at(1, 1), u), v)
    }

    /// Bumps of a size, with smaller ones on them.
    pub fn hills(self, x: f64, z: f64, size: f64) -> f64 {
        (self.plane(x, z, size) * 4.0
            + self.plane(x + 71.0, z + 13.0, size / 2.0) * 2.0
            + self.plane(x, z, size / 4.0))
            / 7.0
    }

    pub fn space(self, [x, y, z]: [f64; 3], size: f64) -> f64 {
        let place = [x / size, y / size, z / size];
        let low = place.map(f64::floor);
        let [u, v, w] = [0, 1, 2].map(|axis| fade(place[axis] - low[axis]));
        let [i, j, k] = low.map(|at| at as i64);
        let at = |a, b, c| self.lattice(i + a, j + b, k + c);
        let layer = |c| blend(blend(at(0, 0, c), at(1, 0, c), u), blend(at(0, 1, c), at(1, 1, c), u), v);
        blend(layer(0), layer(1), w)
    }

    /// A number from 0 to below 1 for a cell, unlike that of its neighbours.
    pub fn grain(self, x: i32, y: i32, z: i32) -> f64 {
        self.lattice(i64::from(x), i64::from(y), i64::from(z)) * 0.5 + 0.5
    }

    fn lattice(self, x: i64, y: i64, z: i64) -> f64 {
        let place = (x as u64 & 0x1f_ffff) << 42 | (y as u64 & 0x1f_ffff) << 21 | (z as u64 & 0x1f_ffff);
        let number = dice(self.seed, self.purpose, 0, place) >> 11;
        number as f64 / (1_u64 << 52) as f64 - 1.0
    }
}

fn fade(t: f64) -> f64 {
    t * t * (3.0 - 2.0 * t)
}

fn blend(from: f64, to: f64, share: f64) -> f64 {
    from + (to - from) * share
}
