//! What a look meets.

use crate::block::{BoxEdges, form_at};
use crate::volume::{Cell, Volume, contains};

/// How far hands reach to blocks.
pub const REACH: f64 = 4.5;

/// A block that a ray meets.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Target {
    pub cell: Cell,
    /// The direction out of the face that was met.
    pub face: [i32; 3],
    pub point: [f64; 3],
    pub distance: f64,
}

/// The first block that a ray meets, liquids apart. The direction has the length 1.
pub fn aim(volume: &Volume, from: [f64; 3], direction: [f64; 3], reach: f64) -> Option<Target> {
    let mut cell = from.map(|at| at.floor() as i32);
    let step = direction.map(|part| if part < 0.0 { -1 } else { 1 });
    let per_cell = direction.map(|part| if part == 0.0 { f64::INFINITY } else { (1.0 / part).abs() });
    // The distance at which the ray leaves the cell along each axis.
    let mut leaves = [0, 1, 2].map(|axis| {
        let edge = f64::from(cell[axis]) + if step[axis] > 0 { 1.0 } else { 0.0 };
        if direction[axis] == 0.0 { f64::INFINITY } else { ((edge - from[axis]) / direction[axis]).max(0.0) }
    });
    let mut entered = 0.0;
    let mut face = [0, 0, 0];
    while entered <= reach {
        if contains(cell)
            && let Some((distance, own_face)) = meets(volume, cell, from, direction)
            && distance <= reach
        {
            let point = [0, 1, 2].map(|axis| from[axis] + direction[axis] * distance);
            let face = own_face.unwrap_or(face);
            return Some(Target { cell, face, point, distance });
        }
        let axis = if leaves[0] <= leaves[1] && leaves[0] <= leaves[2] {
            0
        } else if leaves[1] <= leaves[2] {
            1
        } else {
            2
        };
        entered = leaves[axis];
        leaves[axis] += per_cell[axis];
        cell[axis] += step[axis];
        face = [0, 0, 0];
        face[axis] = -step[axis];
    }
    None
}

/// Where a ray meets a block, and at which face.
fn meets(
    volume: &Volume,
    cell: Cell,
    from: [f64; 3],
    direction: [f64; 3],
) -> Option<(f64, Option<[i32; 3]>)> {
    let enter = |edges: BoxEdges| {
        let (mut near, mut far, mut face) = (0.0_f64, f64::INFINITY, None);
        for axis in 0..3 {
            let at = |index: usize| f64::from(cell[axis]) + f64::from(edges[index]) / 16.0 - from[axis];
            let (low, high) = (at(axis), at(axis + 3));
            if direction[axis] == 0.0 {
                if low > 0.0 || high < 0.0 {
                    return None;
                }
                continue;
            }
            let (one, other) = (low / direction[axis], high / direction[axis]);
            if one.min(other) > near {
                near = one.min(other);
                let mut out = [0, 0, 0];
                out[axis] = if direction[axis] > 0.0 { -1 } else { 1 };
                face = Some(out);
            }
            far = far.min(one.max(other));
        }
        (near <= far).then_some((near, face))
    };
    let block = volume.block(cell);
    if block.is_air() {
        return None;
    }
    let met = form_at(volume, cell, block).outline.iter().filter_map(|edges| enter(*edges));
    met.min_by(|one, other| one.0.total_cmp(&other.0))
}
