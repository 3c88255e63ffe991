//! Sixteen rays at once, in lock step, through the cells of a world.
//!
//! Each round looks at the cell that each ray is in, and then takes every ray to the edge of the empty box around it. Rays
//! are mirrored so that all of them go up along all axes: a coordinate x becomes -x, and a cell x becomes !x, which keeps
//! boxes where multiples of their edges are. The loops over lanes are plain Rust that compilers turn into vector
//! instructions; no result depends on which.

use crate::volume::{Cell, SIZE, Skips};

/// How many rays go together: a square of 4 by 4 pixels.
pub(super) const LANES: usize = 16;

pub(super) type Floats = [f32; LANES];
pub(super) type Ints = [i32; LANES];

/// Rays from a common origin, each at a place on its way.
pub(super) struct Packet {
    pub direction: [Floats; 3],
    /// The place in lengths of the direction.
    pub distance: Floats,
    /// Where the ray ends.
    pub limit: Floats,
    /// The box at which the ray ends, times four, and the axis along which it enters that; less than 0 for none.
    stop: Ints,
    /// The axis along which the ray has come into its cell; 3 where it began.
    axis: Ints,
    /// All bits along an axis on which the ray is mirrored, else none. What follows is mirrored.
    mirror: [Ints; 3],
    origin: [Floats; 3],
    along: [Floats; 3],
    inverse: [Floats; 3],
    cell: [Ints; 3],
}

impl Packet {
    /// Rays that end at a distance, or where there are no blocks any more: at the world's sides and bottom and above `top`.
    #[inline(always)]
    pub fn new(origin: [f32; 3], direction: [Floats; 3], far: f32, top: i32) -> Self {
        let mut packet = Self {
            direction,
            distance: [0.0; LANES],
            limit: [far; LANES],
            stop: [-1; LANES],
            axis: [3; LANES],
            mirror: [[0; LANES]; 3],
            origin: [[0.0; LANES]; 3],
            along: [[0.0; LANES]; 3],
            inverse: [[0.0; LANES]; 3],
            cell: [[0; LANES]; 3],
        };
        let ends = [SIZE[0], top + 1, SIZE[2]];
        for axis in 0..3 {
            let start = origin[axis].floor() as i32;
            for lane in 0..LANES {
                let along = packet.direction[axis][lane];
                let (mirror, sign) = if along < 0.0 { (-1, -1.0) } else { (0, 1.0) };
                let along = if along * sign < 1e-7 { 1e-7 } else { along * sign };
                let inverse = 1.0 / along;
                let end = ((ends[axis] & !mirror) as f32 - origin[axis] * sign) * inverse;
                packet.mirror[axis][lane] = mirror;
                packet.origin[axis][lane] = origin[axis] * sign;
                packet.along[axis][lane] = along;
                packet.inverse[axis][lane] = inverse;
                packet.cell[axis][lane] = start ^ mirror;
                packet.limit[lane] = least(packet.limit[lane], end);
            }
        }
        if origin[1] >= ends[1] as f32 {
            packet.descend(ends[1]);
        }
        packet
    }

    /// Takes rays from above all blocks to where the highest may be.
    fn descend(&mut self, height: i32) {
        for lane in 0..LANES {
            // Those that go up have ended.
            if self.mirror[1][lane] == 0 {
                continue;
            }
            self.distance[lane] = (-height as f32 - self.origin[1][lane]) * self.inverse[1][lane];
            for axis in [0, 2] {
                let at = self.origin[axis][lane] + self.along[axis][lane] * self.distance[lane];
                let cell = floor(at) ^ self.mirror[axis][lane];
                self.cell[axis][lane] = cell.clamp(0, SIZE[axis] - 1) ^ self.mirror[axis][lane];
            }
            self.cell[1][lane] = !(height - 1);
            self.axis[lane] = 1;
        }
    }

    /// Lets rays end where they enter a box from outside.
    #[inline(always)]
    pub fn stop_at(&mut self, number: usize, low: [f32; 3], high: [f32; 3]) {
        let (mut near, mut far): (Floats, Floats) = ([0.0; LANES], [f32::INFINITY; LANES]);
        let mut by: Ints = [3; LANES];
        for axis in 0..3 {
            for lane in 0..LANES {
                let mirror = self.mirror[axis][lane];
                let (first, last) =
                    if mirror == 0 { (low[axis], high[axis]) } else { (-high[axis], -low[axis]) };
                let first = (first - self.origin[axis][lane]) * self.inverse[axis][lane];
                let last = (last - self.origin[axis][lane]) * self.inverse[axis][lane];
                by[lane] = choose(mask(first > near[lane]), axis as i32, by[lane]);
                near[lane] = if first > near[lane] { first } else { near[lane] };
                far[lane] = least(last, far[lane]);
            }
        }
        for lane in 0..LANES {
            let enters =
                mask(by[lane] < 3) & mask(near[lane] <= far[lane]) & mask(near[lane] < self.limit[lane]);
            self.stop[lane] = choose(enters, number as i32 * 4 + by[lane], self.stop[lane]);
            self.limit[lane] = if enters != 0 { near[lane] } else { self.limit[lane] };
        }
    }

    /// The box at which a ray ends, and the face by which it enters that.
    #[inline(always)]
    pub fn stop(&self, lane: usize) -> Option<(usize, usize)> {
        let stop = usize::try_from(self.stop[lane]).ok()?;
        Some((stop / 4, self.face_of(stop % 4, lane)))
    }

    #[inline(always)]
    fn face_of(&self, axis: usize, lane: usize) -> usize {
        axis * 2 + (self.mirror[axis % 3][lane] & 1) as usize
    }

    /// The cell that a ray is in.
    #[inline(always)]
    pub fn cell(&self, lane: usize) -> Cell {
        [0, 1, 2].map(|axis| self.cell_along(axis, lane))
    }

    #[inline(always)]
    pub fn cell_along(&self, axis: usize, lane: usize) -> i32 {
        self.cell[axis][lane] ^ self.mirror[axis][lane]
    }

    /// A number for the cell that a ray is in and the face by which it has come. One number is compared faster than its
    /// parts, which would have to be written to memory first.
    #[inline(always)]
    pub fn face_key(&self, lane: usize) -> i32 {
        let [x, y, z] = self.cell(lane);
        let axis = self.axis[lane];
        // The sign along the axis is that of the mirror; where a ray begins there is none, and any does.
        let sign = self.mirror[(axis as usize) % 3][lane] & 1;
        ((((y << 8) | z) << 8) | x) << 3 | (axis << 1) | sign
    }

    /// The face by which a ray has come into its cell, of -x, +x, -y, +y, -z and +z. None where it began.
    #[inline(always)]
    pub fn face(&self, lane: usize) -> Option<usize> {
        let axis = self.axis[lane] as usize;
        (axis < 3).then(|| self.face_of(axis, lane))
    }

    /// Follows all rays until each has met something or has ended. `meets` says whether a ray ends in its cell, in which
    /// there is something.
    #[inline(always)]
    pub fn run(&mut self, skips: &Skips, mut meets: impl FnMut(&Self, usize) -> bool) {
        loop {
            let mut index: Ints = [0; LANES];
            for (lane, index) in index.iter_mut().enumerate() {
                let [x, y, z] = self.cell(lane);
                *index = Skips::index(x, y, z);
            }
            let skip = index.map(|index| i32::from(skips.at(index)));
            let (mut going, mut met) = (0, 0);
            for (lane, skip) in skip.iter().enumerate() {
                let goes_on = mask(self.distance[lane] < self.limit[lane]);
                going |= goes_on;
                met |= goes_on & Skips::is_full(*skip) & (1 << lane);
            }
            while met != 0 {
                let lane = met.trailing_zeros() as usize % LANES;
                met &= met - 1;
                if meets(self, lane) {
                    self.limit[lane] = 0.0;
                }
            }
            if going == 0 {
                return;
            }
            self.advance(&skip);
        }
    }

    /// Takes each ray to the edge of its box, and into the cell behind it. Those that have ended go on, unseen.
    #[inline(always)]
    fn advance(&mut self, skip: &Ints) {
        for (lane, skip) in skip.iter().enumerate() {
            let (wide, tall) = (Skips::wide(*skip), Skips::tall(*skip));
            let last_x = self.cell[0][lane] | wide;
            let last_y = self.cell[1][lane] | tall;
            let last_z = self.cell[2][lane] | wide;
            let edge_x = ((last_x + 1) as f32 - self.origin[0][lane]) * self.inverse[0][lane];
            let edge_y = ((last_y + 1) as f32 - self.origin[1][lane]) * self.inverse[1][lane];
            let edge_z = ((last_z + 1) as f32 - self.origin[2][lane]) * self.inverse[2][lane];
            let by_x = mask(edge_x <= edge_y) & mask(edge_x <= edge_z);
            let by_y = !by_x & mask(edge_y <= edge_z);
            let by_z = !(by_x | by_y);
            let nearest = least(least(edge_x, edge_y), edge_z);
            // No ray goes back, though numbers are rounded.
            let before = self.distance[lane];
            let distance = if nearest > before { nearest } else { before };
            self.distance[lane] = distance;
            self.axis[lane] = (by_y & 1) | (by_z & 2);
            for (axis, (last, by)) in [(last_x, by_x), (last_y, by_y), (last_z, by_z)].into_iter().enumerate()
            {
                let cell = self.cell[axis][lane];
                let inside = floor(self.origin[axis][lane] + self.along[axis][lane] * distance);
                let inside = if inside < cell { cell } else { inside };
                let inside = if inside > last { last } else { inside };
                self.cell[axis][lane] = choose(by, last + 1, inside);
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
pub(super) fn floor(x: f32) -> i32 {
    const MAGIC: f32 = 12_582_912.0;
    ((x - 0.5) + MAGIC).to_bits() as i32 - MAGIC.to_bits() as i32
}
