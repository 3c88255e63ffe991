//! Sixteen rays at once, in lock step, through the cells of a world.
//!
//! Each round looks at the cell that each ray is in, and then takes every ray to the edge of the largest empty cube around
//! it. The loops over lanes are plain Rust that compilers turn into vector instructions; no result depends on which.

use crate::volume::{SIZE, Skips};

/// How many rays go together: a square of 4 by 4 pixels.
pub(super) const LANES: usize = 16;

pub(super) type Floats = [f32; LANES];
type Ints = [i32; LANES];

/// Rays from a common origin, each at a place on its way.
pub(super) struct Packet {
    origin: [f32; 3],
    pub direction: [Floats; 3],
    inverse: [Floats; 3],
    /// All bits along an axis on which the ray goes up, else none.
    ahead: [Ints; 3],
    pub cell: [Ints; 3],
    /// The place in lengths of the direction.
    pub distance: Floats,
    /// The axis along which the ray has come into its cell; 3 where it began.
    pub axis: Ints,
    /// Where the ray ends.
    pub limit: Floats,
    /// All bits while the ray goes on.
    active: Ints,
}

impl Packet {
    #[inline(always)]
    pub fn new(origin: [f32; 3], start: [i32; 3], direction: [Floats; 3]) -> Self {
        let mut packet = Self {
            origin,
            direction,
            inverse: [[0.0; LANES]; 3],
            ahead: [[0; LANES]; 3],
            cell: start.map(|at| [at; LANES]),
            distance: [0.0; LANES],
            axis: [3; LANES],
            limit: [0.0; LANES],
            active: [-1; LANES],
        };
        for axis in 0..3 {
            for lane in 0..LANES {
                let along = packet.direction[axis][lane];
                let along = if along.abs() < 1e-7 { 1e-7 } else { along };
                packet.inverse[axis][lane] = 1.0 / along;
                packet.ahead[axis][lane] = if along > 0.0 { -1 } else { 0 };
            }
        }
        packet
    }

    /// Whether a ray goes up along an axis.
    pub fn goes_up(&self, axis: usize, lane: usize) -> bool {
        self.ahead[axis][lane] != 0
    }

    /// Follows all rays until each has met something or has left. `meets` says whether a ray ends in its cell, which
    /// is not empty.
    #[inline(always)]
    pub fn run(&mut self, skips: &Skips, top: i32, mut meets: impl FnMut(&Self, usize) -> bool) {
        loop {
            let mut index: Ints = [0; LANES];
            for (lane, index) in index.iter_mut().enumerate() {
                *index = Skips::index(self.cell[0][lane], self.cell[1][lane], self.cell[2][lane]);
            }
            let mut size = index.map(|index| i32::from(skips.at(index)));
            let (mut going, mut met) = (0, 0);
            for (lane, size) in size.iter_mut().enumerate() {
                let (x, y, z) = (self.cell[0][lane], self.cell[1][lane], self.cell[2][lane]);
                let is_beside = mask((x | z) & !(SIZE[0] - 1) != 0);
                let is_over = mask(y > top) & self.ahead[1][lane];
                let is_far = mask(self.distance[lane] >= self.limit[lane]);
                let goes_on = self.active[lane] & !(is_beside | is_over | is_far | (y >> 31));
                // Above the world is air.
                *size = choose(mask(y >= SIZE[1]), 1, *size);
                self.active[lane] = goes_on;
                going |= goes_on;
                met |= goes_on & mask(*size == 0) & (1 << lane);
            }
            while met != 0 {
                let lane = met.trailing_zeros() as usize % LANES;
                met &= met - 1;
                if meets(self, lane) {
                    self.active[lane] = 0;
                }
            }
            if going == 0 {
                return;
            }
            self.advance(&size);
        }
    }

    /// Takes each ray to the edge of its cube, and into the cell behind it.
    #[inline(always)]
    fn advance(&mut self, size: &Ints) {
        let [ox, oy, oz] = self.origin;
        for lane in 0..LANES {
            let size = if size[lane] > 1 { size[lane] } else { 1 };
            let active = self.active[lane];
            let [ahead_x, ahead_y, ahead_z] = [self.ahead[0][lane], self.ahead[1][lane], self.ahead[2][lane]];
            let [low_x, low_y, low_z] =
                [self.cell[0][lane] & -size, self.cell[1][lane] & -size, self.cell[2][lane] & -size];
            let edge_x = ((low_x + (size & ahead_x)) as f32 - ox) * self.inverse[0][lane];
            let edge_y = ((low_y + (size & ahead_y)) as f32 - oy) * self.inverse[1][lane];
            let edge_z = ((low_z + (size & ahead_z)) as f32 - oz) * self.inverse[2][lane];
            let by_x = mask(edge_x <= edge_y) & mask(edge_x <= edge_z);
            let by_y = !by_x & mask(edge_y <= edge_z);
            let by_z = !(by_x | by_y);
            let before = self.distance[lane];
            let nearest = least(least(edge_x, edge_y), edge_z);
            // Finished rays stay where they are, and no ray goes back.
            let to = if nearest > before { nearest } else { before };
            let distance = if active != 0 { to } else { before };
            self.distance[lane] = distance;
            let axis = (by_y & 1) | (by_z & 2);
            self.axis[lane] = choose(active, axis, self.axis[lane]);
            for (axis, (origin, low, ahead, by)) in
                [(ox, low_x, ahead_x, by_x), (oy, low_y, ahead_y, by_y), (oz, low_z, ahead_z, by_z)]
                    .into_iter()
                    .enumerate()
            {
                let inside = floor(origin + self.direction[axis][lane] * distance);
                let most = low + size - 1;
                let inside = if inside < low { low } else { inside };
                let inside = if inside > most { most } else { inside };
                let beyond = choose(ahead, most + 1, low - 1);
                self.cell[axis][lane] = choose(active, choose(by, beyond, inside), self.cell[axis][lane]);
            }
        }
    }
}

/// All bits if something holds, else none.
#[inline(always)]
fn mask(holds: bool) -> i32 {
    -i32::from(holds)
}

/// One number where all bits of the mask are set, the other where none is.
#[inline(always)]
fn choose(mask: i32, one: i32, other: i32) -> i32 {
    (one & mask) | (other & !mask)
}

#[inline(always)]
fn least(one: f32, other: f32) -> f32 {
    if one < other { one } else { other }
}

/// The whole number below, of small numbers, without a call on processors that lack the instruction. Exactly on a whole
/// number it may be one less.
#[inline(always)]
fn floor(x: f32) -> i32 {
    const MAGIC: f32 = 12_582_912.0;
    ((x - 0.5) + MAGIC).to_bits() as i32 - MAGIC.to_bits() as i32
}
