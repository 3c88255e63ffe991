//! Boxes that move through the world and stop at what is solid.

use serde::{Deserialize, Serialize};

use crate::block::{BoxEdges, CUBE, form_at};
use crate::volume::{Cell, Volume, contains};

/// A box that is parallel to the axes.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Aabb {
    pub low: [f64; 3],
    pub high: [f64; 3],
}

/// The height of a step that needs no jump.
pub const STEP: f64 = 0.6;

/// How a body has moved.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Moved {
    pub by: [f64; 3],
    /// Along which axes it was stopped.
    pub stopped: [bool; 3],
}

impl Aabb {
    /// A box that stands on a point.
    pub fn standing([x, y, z]: [f64; 3], width: f64, height: f64) -> Self {
        let half = width / 2.0;
        Self { low: [x - half, y, z - half], high: [x + half, y + height, z + half] }
    }

    #[must_use]
    pub fn moved(self, by: [f64; 3]) -> Self {
        let add = |at: [f64; 3]| [at[0] + by[0], at[1] + by[1], at[2] + by[2]];
        Self { low: add(self.low), high: add(self.high) }
    }

    /// The box, grown to hold where it gets to.
    #[must_use]
    pub fn swept(self, by: [f64; 3]) -> Self {
        let mut swept = self;
        for (axis, by) in by.into_iter().enumerate() {
            swept.low[axis] += by.min(0.0);
            swept.high[axis] += by.max(0.0);
        }
        swept
    }

    /// Whether two boxes overlap, and do not only touch.
    pub fn overlaps(self, other: Self) -> bool {
        (0..3).all(|axis| self.low[axis] < other.high[axis] && self.high[axis] > other.low[axis])
    }

    /// The cells that it touches.
    pub fn cells(self) -> impl Iterator<Item = Cell> {
        let low = self.low.map(|at| at.floor() as i32);
        let high = self.high.map(|at| at.ceil() as i32);
        (low[1]..high[1])
            .flat_map(move |y| (low[2]..high[2]).flat_map(move |z| (low[0]..high[0]).map(move |x| [x, y, z])))
    }

    /// Whether a way leads through it, or begins in it.
    pub fn is_crossed(self, from: [f64; 3], by: [f64; 3]) -> bool {
        let (mut near, mut far) = (0.0_f64, 1.0_f64);
        for axis in 0..3 {
            let (low, high) = (self.low[axis] - from[axis], self.high[axis] - from[axis]);
            if by[axis] == 0.0 {
                if low > 0.0 || high < 0.0 {
                    return false;
                }
                continue;
            }
            let (one, other) = (low / by[axis], high / by[axis]);
            near = near.max(one.min(other));
            far = far.min(one.max(other));
        }
        near <= far
    }

    /// How far it gets along an axis before another box stops it.
    fn travel(self, other: Self, axis: usize, distance: f64) -> f64 {
        let beside = (0..3)
            .filter(|side| *side != axis)
            .all(|side| self.low[side] < other.high[side] && self.high[side] > other.low[side]);
        if !beside {
            distance
        } else if distance > 0.0 && self.high[axis] <= other.low[axis] + TOUCH {
            distance.min((other.low[axis] - self.high[axis]).max(0.0))
        } else if distance < 0.0 && self.low[axis] >= other.high[axis] - TOUCH {
            distance.max((other.high[axis] - self.low[axis]).min(0.0))
        } else {
            distance
        }
    }
}

/// How deep a box may be in another by rounding and still be stopped by it.
const TOUCH: f64 = 1e-7;

/// How far boxes of a cell reach into the one above it: a fence is as tall as one and a half.
const OVERHANG: f64 = 0.5;

/// The box of some sixteenths of a cell.
pub(crate) fn box_in(cell: Cell, edges: BoxEdges) -> Aabb {
    let at = |index: usize| f64::from(cell[index % 3]) + f64::from(edges[index]) / 16.0;
    Aabb { low: [at(0), at(1), at(2)], high: [at(3), at(4), at(5)] }
}

/// The solid boxes of a cell.
pub(crate) fn solid_boxes(volume: &Volume, cell: Cell) -> impl Iterator<Item = Aabb> {
    let block = volume.block(cell);
    let boxes: &'static [BoxEdges] = if !volume.is_solid(cell) {
        &[]
    } else if contains(cell) {
        &form_at(volume, cell, block).collision
    } else {
        &[CUBE]
    };
    boxes.iter().map(move |edges| box_in(cell, *edges))
}

/// All solid boxes that a box touches.
fn obstacles(volume: &Volume, around: Aabb) -> Vec<Aabb> {
    let mut wide = Aabb { low: around.low.map(|at| at - TOUCH), high: around.high.map(|at| at + TOUCH) };
    wide.low[1] -= OVERHANG;
    wide.cells().flat_map(|cell| solid_boxes(volume, cell)).collect()
}

/// Whether a box overlaps nothing solid.
pub fn is_free(volume: &Volume, body: Aabb) -> bool {
    let inside = Aabb { low: body.low.map(|at| at + TOUCH), high: body.high.map(|at| at - TOUCH) };
    let mut around = inside;
    around.low[1] -= OVERHANG;
    around.cells().all(|cell| solid_boxes(volume, cell).all(|solid| !inside.overlaps(solid)))
}

/// Moves a box, up and down first, then along the longer of the other axes.
fn slide(obstacles: &[Aabb], body: Aabb, by: [f64; 3]) -> [f64; 3] {
    let order = if by[0].abs() < by[2].abs() { [1, 2, 0] } else { [1, 0, 2] };
    let mut body = body;
    let mut moved = [0.0; 3];
    for axis in order {
        let wanted = by[axis];
        let distance = obstacles.iter().fold(wanted, |distance, other| body.travel(*other, axis, distance));
        moved[axis] = distance;
        let mut step = [0.0; 3];
        step[axis] = distance;
        body = body.moved(step);
    }
    moved
}

/// Moves a body as far as nothing stops it. One that stands, or lands, steps up what is low enough.
pub fn sweep(volume: &Volume, body: Aabb, by: [f64; 3], is_standing: bool) -> Moved {
    let around = obstacles(volume, body.swept(by));
    let moved = slide(&around, body, by);
    let is_stopped = |moved: [f64; 3]| [0, 1, 2].map(|axis| moved[axis] != by[axis]);
    let stopped = is_stopped(moved);
    let may_step = is_standing || (stopped[1] && by[1] < 0.0);
    if !may_step || !(stopped[0] || stopped[2]) {
        return Moved { by: moved, stopped };
    }
    let around = obstacles(volume, body.swept([by[0], STEP, by[2]]).swept([0.0, by[1].min(0.0), 0.0]));
    let up = slide(&around, body, [0.0, STEP, 0.0]);
    let over = slide(&around, body.moved(up), [by[0], 0.0, by[2]]);
    if length(over) <= length(moved) {
        return Moved { by: moved, stopped };
    }
    let at = [up[0] + over[0], up[1] + over[1], up[2] + over[2]];
    let down = slide(&around, body.moved(at), [0.0, -up[1] + by[1].min(0.0), 0.0]);
    let stepped = [at[0], at[1] + down[1], at[2]];
    Moved { by: stepped, stopped: [stepped[0] != by[0], true, stepped[2] != by[2]] }
}

/// Moves a body as far as nothing stops it, without steps.
pub(crate) fn sweep_level(volume: &Volume, body: Aabb, by: [f64; 3]) -> Moved {
    let moved = slide(&obstacles(volume, body.swept(by)), body, by);
    Moved { by: moved, stopped: [0, 1, 2].map(|axis| moved[axis] != by[axis]) }
}

/// The square of a move in the plane.
fn length(by: [f64; 3]) -> f64 {
    by[0] * by[0] + by[2] * by[2]
}
