//! Binary STL for 3D printing: the build as one solid, with z up and one millimetre per block.
//!
//! Slicers need every edge to belong to exactly two triangles. Merged quads break this in two cases. If a corner of a
//! quad is on the edge of another quad, the other one gets a vertex there as well. If two blocks touch only along an
//! edge, four faces meet at it; one of the blocks gets a vertex in the middle of that edge, so that the faces form two
//! pairs. Neither vertex moves any surface.

use super::MAX_BYTES;
use super::surface::{self, Quad};
use crate::grid::{Bounds, Grid};
use crate::palette::AIR;

const HEADER: usize = 80;
const TRIANGLE: usize = 50;
/// The largest number of quads; each has at least two triangles.
const MAX_QUADS: usize = MAX_BYTES / TRIANGLE / 2;
/// Corners of cells along an axis.
const LATTICE: usize = 257;

/// Writes the file. None if it would be too large.
pub fn write(grid: &Grid, bounds: Bounds) -> Option<Vec<u8>> {
    let quads = surface::solid_quads(grid, bounds, MAX_QUADS)?;
    let mut vertices = VertexSet::new();
    for quad in &quads {
        quad.corners().into_iter().for_each(|corner| vertices.add(corner));
        for step in outline(quad).filter(|step| step.block_across(grid).is_some()) {
            vertices.add(step.from);
            vertices.add(step.to);
        }
    }
    let mut file = Vec::with_capacity(HEADER + 4 + 2 * TRIANGLE * quads.len());
    file.extend([b' '; HEADER]);
    file.extend([0; 4]);
    let mut around = Vec::new();
    for quad in &quads {
        around.clear();
        for step in outline(quad) {
            if vertices.has(step.from) {
                around.push(step.from.map(|v| 2 * v));
            }
            // The edge is split at its middle for one of the two blocks.
            if step.block_across(grid).is_some_and(|across| step.cell < across) {
                around.push([0, 1, 2].map(|axis| step.from[axis] + step.to[axis]));
            }
        }
        put_face(grid, quad, &around, &mut file);
        if file.len() > MAX_BYTES {
            return None;
        }
    }
    let count = (file.len() - HEADER - 4) / TRIANGLE;
    file[HEADER..HEADER + 4].copy_from_slice(&(count as u32).to_le_bytes());
    Some(file)
}

/// The corners of cells that are vertices.
struct VertexSet(Vec<u64>);

impl VertexSet {
    fn new() -> Self {
        Self(vec![0; LATTICE.pow(3).div_ceil(64)])
    }

    fn place([x, y, z]: [u16; 3]) -> usize {
        (usize::from(y) * LATTICE + usize::from(z)) * LATTICE + usize::from(x)
    }

    fn add(&mut self, at: [u16; 3]) {
        let place = Self::place(at);
        self.0[place / 64] |= 1 << (place % 64);
    }

    fn has(&self, at: [u16; 3]) -> bool {
        let place = Self::place(at);
        self.0[place / 64] >> (place % 64) & 1 == 1
    }
}

/// A piece of the outline of a quad, one cell long.
struct OutlineStep {
    from: [u16; 3],
    to: [u16; 3],
    /// The cell that the edge belongs to.
    cell: [i32; 3],
    /// The directions out of the plane of the quad, and out of the quad in its plane.
    up: [i32; 3],
    out: [i32; 3],
}

impl OutlineStep {
    /// The block that touches the cell only along this edge, if there is one.
    fn block_across(&self, grid: &Grid) -> Option<[i32; 3]> {
        let solid = |[x, y, z]: [i32; 3]| grid.get(x as usize, y as usize, z as usize) != AIR;
        let beside = plus(self.cell, self.out);
        let across = plus(beside, self.up);
        (!solid(beside) && solid(across)).then_some(across)
    }
}

/// The outline of a quad, counter-clockwise seen from outside.
fn outline(quad: &Quad) -> impl Iterator<Item = OutlineStep> {
    let corners = quad.corners();
    let mut up = [0; 3];
    up[quad.side.axis()] = if quad.side.is_positive() { 1 } else { -1 };
    (0..4).flat_map(move |i| {
        let (start, end) = (corners[i].map(i32::from), corners[(i + 1) % 4].map(i32::from));
        let along = [0, 1, 2].map(|axis| (end[axis] - start[axis]).signum());
        let out = cross(along, up);
        let length = [0, 1, 2].map(|axis| (end[axis] - start[axis]).abs()).iter().sum();
        (0..length).map(move |step| {
            let from = [0, 1, 2].map(|axis| start[axis] + step * along[axis]);
            // On each axis exactly one of `up`, `out` and `along` is not zero, and it tells on which side the cell is.
            let cell = [0, 1, 2].map(|axis| from[axis] - i32::from(up[axis] + out[axis] - along[axis] > 0));
            OutlineStep {
                from: from.map(|v| v as u16),
                to: plus(from, along).map(|v| v as u16),
                cell,
                up,
                out,
            }
        })
    })
}

/// Writes a quad as two triangles, or if it has more vertices, as a fan around its middle. Points are in half blocks.
fn put_face(grid: &Grid, quad: &Quad, around: &[[u16; 3]], file: &mut Vec<u8>) {
    let edge = grid.size().get() as f32;
    let mut normal = [0.0; 3];
    normal[quad.side.axis()] = if quad.side.is_positive() { 1.0 } else { -1.0 };
    let mut triangle = |corners: [[u16; 3]; 3]| {
        let [x, y, z] = normal;
        let corners = corners.map(|corner| {
            let [x, y, z] = corner.map(|half| f32::from(half) / 2.0);
            [x, edge - z, y]
        });
        let numbers = [x, 0.0 - z, y].into_iter().chain(corners.into_iter().flatten());
        numbers.for_each(|number| file.extend(number.to_le_bytes()));
        file.extend([0; 2]);
    };
    if let &[a, b, c, d] = around {
        triangle([a, b, c]);
        triangle([a, c, d]);
        return;
    }
    let [a, _, c, _] = quad.corners();
    let middle = [0, 1, 2].map(|axis| a[axis] + c[axis]);
    for (i, &point) in around.iter().enumerate() {
        triangle([middle, point, around[(i + 1) % around.len()]]);
    }
}

fn plus(a: [i32; 3], b: [i32; 3]) -> [i32; 3] {
    [0, 1, 2].map(|axis| a[axis] + b[axis])
}

fn cross([a, b, c]: [i32; 3], [d, e, f]: [i32; 3]) -> [i32; 3] {
    [b * f - c * e, c * d - a * f, a * e - b * d]
}
