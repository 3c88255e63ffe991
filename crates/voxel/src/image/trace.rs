//! Follows rays from cell to cell.

use super::scene::{BRICK, TracedGrid};
use super::vector::Vector;
use crate::palette::{AIR, RenderClass};

/// A point at which a ray enters a block, or leaves one that has holes.
#[derive(Clone, Copy)]
pub struct Hit {
    pub distance: f32,
    pub cell: [i32; 3],
    /// The axis that the face is perpendicular to.
    pub axis: usize,
    /// The direction of the face along that axis: 1 or -1.
    pub side: i32,
    pub block: u8,
    /// Whether the face is seen from inside the block.
    pub inner: bool,
}

/// The state of a ray in a scene.
struct RayWalk {
    cell: [i32; 3],
    step: [i32; 3],
    /// The distance at which the ray reaches the next cell along each axis.
    next: Vector,
    distance: f32,
    axis: usize,
}

impl TracedGrid<'_> {
    /// Calls `on_hit` with each block that the ray enters from a different one, the nearest first, until it returns
    /// true. A block with holes is also reported when the ray leaves it.
    pub fn trace(&self, origin: Vector, direction: Vector, mut on_hit: impl FnMut(&Hit) -> bool) {
        let direction = direction.map(|part| if part.abs() < 1e-7 { 1e-7 } else { part });
        let inverse = direction.map(|part| 1.0 / part);
        let Some((mut walk, end)) = self.enter(origin, direction, inverse) else {
            return;
        };
        let per_cell = inverse.map(f32::abs);
        let mut previous = AIR;
        loop {
            let empty = self.brick_is_empty(walk.cell);
            let block = if empty { AIR } else { self.block(walk.cell) };
            if block != previous {
                if self.has_holes(previous) && on_hit(&walk.leaving(previous)) {
                    return;
                }
                if block != AIR && on_hit(&walk.entering(block)) {
                    return;
                }
                previous = block;
            }
            if empty {
                self.cross_brick(&mut walk, origin, direction, inverse);
            } else {
                walk.step(per_cell);
            }
            let along = walk.cell[walk.axis];
            if walk.distance >= end || along < self.low[walk.axis] || along > self.high[walk.axis] {
                if self.has_holes(previous) {
                    on_hit(&walk.leaving(previous));
                }
                return;
            }
        }
    }

    /// Whether a kind of block has holes, through which its inside can be seen.
    fn has_holes(&self, block: u8) -> bool {
        self.material(block).class == Some(RenderClass::Cutout)
    }

    /// The ray at its first cell inside the bounds, and the distance at which it leaves them.
    fn enter(&self, origin: Vector, direction: Vector, inverse: Vector) -> Option<(RayWalk, f32)> {
        let (mut start, mut end, mut axis) = (0.0_f32, f32::INFINITY, 1);
        for k in 0..3 {
            let low = (self.low[k] as f32 - origin[k]) * inverse[k];
            let high = ((self.high[k] + 1) as f32 - origin[k]) * inverse[k];
            let near = low.min(high);
            if near > start {
                (start, axis) = (near, k);
            }
            end = end.min(low.max(high));
        }
        if start >= end {
            return None;
        }
        let step = direction.map(|part| if part > 0.0 { 1 } else { -1 });
        let mut cell = [0; 3];
        for k in 0..3 {
            let at = (origin[k] + direction[k] * start).floor() as i32;
            cell[k] = at.clamp(self.low[k], self.high[k]);
        }
        if start > 0.0 {
            cell[axis] = if step[axis] > 0 { self.low[axis] } else { self.high[axis] };
        }
        let mut walk = RayWalk { cell, step, next: [0.0; 3], distance: start, axis };
        walk.look_ahead(origin, inverse);
        Some((walk, end))
    }

    fn cross_brick(&self, walk: &mut RayWalk, origin: Vector, direction: Vector, inverse: Vector) {
        let corner = walk.cell.map(|c| c & !(BRICK - 1));
        let mut exits = [0.0; 3];
        for k in 0..3 {
            let face = if walk.step[k] > 0 { corner[k] + BRICK } else { corner[k] };
            exits[k] = (face as f32 - origin[k]) * inverse[k];
        }
        let axis = smallest_axis(exits);
        walk.axis = axis;
        walk.distance = exits[axis];
        for k in 0..3 {
            walk.cell[k] = if k == axis {
                if walk.step[k] > 0 { corner[k] + BRICK } else { corner[k] - 1 }
            } else {
                let at = (origin[k] + direction[k] * walk.distance).floor() as i32;
                at.clamp(corner[k].max(self.low[k]), (corner[k] + BRICK - 1).min(self.high[k]))
            };
        }
        walk.look_ahead(origin, inverse);
    }
}

impl RayWalk {
    fn entering(&self, block: u8) -> Hit {
        let side = -self.step[self.axis];
        Hit { distance: self.distance, cell: self.cell, axis: self.axis, side, block, inner: false }
    }

    fn leaving(&self, block: u8) -> Hit {
        let side = self.step[self.axis];
        let mut cell = self.cell;
        cell[self.axis] -= side;
        Hit { distance: self.distance, cell, axis: self.axis, side, block, inner: true }
    }

    fn step(&mut self, per_cell: Vector) {
        let axis = smallest_axis(self.next);
        self.axis = axis;
        self.distance = self.next[axis];
        self.cell[axis] += self.step[axis];
        self.next[axis] += per_cell[axis];
    }

    fn look_ahead(&mut self, origin: Vector, inverse: Vector) {
        for k in 0..3 {
            let face = if self.step[k] > 0 { self.cell[k] + 1 } else { self.cell[k] };
            self.next[k] = (face as f32 - origin[k]) * inverse[k];
        }
    }
}

fn smallest_axis([x, y, z]: Vector) -> usize {
    if x < y {
        if x < z { 0 } else { 2 }
    } else if y < z {
        1
    } else {
        2
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grid::{Grid, GridSize};

    /// A few blocks in a large grid, some alone in their bricks, some side by side.
    fn sparse() -> Grid {
        let mut grid = Grid::empty(GridSize::G64);
        for (i, [x, y, z]) in
            [[0, 0, 0], [7, 9, 8], [8, 9, 8], [63, 9, 8], [30, 63, 63], [31, 31, 31]].into_iter().enumerate()
        {
            grid.fill_row(x, y, z, 1, 1 + i as u8 % 3);
        }
        grid
    }

    #[test]
    fn rays_along_rows_meet_what_the_rows_hold() {
        let grid = sparse();
        let bounds = grid.stats().bounds.unwrap();
        let scene = TracedGrid::new(&grid, bounds);
        for (y, z, row) in grid.rows() {
            let mut expected: Vec<u8> =
                row.chunk_by(|a, b| a == b).map(|run| run[0]).filter(|&b| b != AIR).collect();
            for (start, direction) in [(-9.0, 1.0), (99.0, -1.0)] {
                let mut met = Vec::new();
                let origin = [start, y as f32 + 0.5, z as f32 + 0.5];
                scene.trace(origin, [direction, 0.0, 0.0], |hit| {
                    met.push(hit.block);
                    assert_eq!((hit.axis, hit.side as f32), (0, -direction));
                    false
                });
                assert_eq!(met, expected, "row {y} {z}");
                expected.reverse();
            }
        }
    }

    #[test]
    fn slanting_rays_find_every_block_they_aim_at() {
        let grid = sparse();
        let bounds = grid.stats().bounds.unwrap();
        let scene = TracedGrid::new(&grid, bounds);
        for cell in [[0, 0, 0], [63, 9, 8], [30, 63, 63], [31, 31, 31]] {
            for origin in [[-40.0, 90.0, 120.0], [130.0, 70.5, -33.0], [31.9, 200.0, 31.2]] {
                let aim = [0, 1, 2].map(|k| cell[k] as f32 + 0.5 - origin[k]);
                let mut met = Vec::new();
                scene.trace(origin, super::super::vector::unit(aim), |hit| {
                    met.push(hit.cell);
                    false
                });
                assert!(met.contains(&cell), "{cell:?} from {origin:?}: {met:?}");
            }
        }
    }
}
