//! The visible faces of a grid, merged into rectangles.

use std::array;

use crate::grid::{Bounds, Grid};
use crate::palette::{AIR, Block, RenderClass};

/// A rectangle of faces of one kind, in one plane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quad {
    pub kind: u8,
    pub side: Direction,
    /// The lowest cell.
    low: [u8; 3],
    /// The numbers of cells along columns and rows, minus one, so that 256 fits into a byte.
    more: [u8; 2],
}

/// The direction of a face.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    East,
    West,
    Up,
    Down,
    South,
    North,
}

impl Direction {
    pub const ALL: [Self; 6] = [Self::East, Self::West, Self::Up, Self::Down, Self::South, Self::North];

    pub fn axis(self) -> usize {
        self as usize / 2
    }

    /// Whether it points to where its axis grows.
    pub fn is_positive(self) -> bool {
        (self as usize).is_multiple_of(2)
    }

    /// The axes of columns and rows in a plane with this direction.
    pub fn plane_axes(self) -> [usize; 2] {
        [[2, 1], [0, 2], [0, 1]][self.axis()]
    }
}

impl Quad {
    /// The numbers of cells along columns and rows.
    pub fn spans(&self) -> [u16; 2] {
        self.more.map(|more| u16::from(more) + 1)
    }

    /// The corner with the lowest coordinates.
    pub fn origin(&self) -> [u16; 3] {
        let mut origin = self.low.map(u16::from);
        origin[self.side.axis()] += u16::from(self.side.is_positive());
        origin
    }

    /// The corners, counter-clockwise seen from outside.
    pub fn corners(&self) -> [[u16; 3]; 4] {
        let [columns, rows] = self.side.plane_axes();
        let [width, height] = self.spans();
        let mut corners = [self.origin(); 4];
        corners[1][columns] += width;
        corners[2][columns] += width;
        corners[2][rows] += height;
        corners[3][rows] += height;
        // From columns to rows it is a left turn around z, and a right turn around x and y.
        if (self.side.axis() == 2) != self.side.is_positive() {
            corners.reverse();
        }
        corners
    }
}

/// The visible faces by block. A cell shows a face to the next cell, unless that one hides it or is of the same kind.
pub fn block_quads(grid: &Grid, bounds: Bounds, limit: usize) -> Option<Vec<Quad>> {
    let hides: [bool; 256] = array::from_fn(|number| {
        let class = Block::by_number(number as u8).map(|block| block.class);
        matches!(class, Some(RenderClass::Opaque | RenderClass::Emissive))
    });
    let face = |cell, next| if cell != next && !hides[usize::from(next)] { cell } else { AIR };
    quads(grid, bounds, face, limit)
}

/// The surface of all blocks as one solid.
pub fn solid_quads(grid: &Grid, bounds: Bounds, limit: usize) -> Option<Vec<Quad>> {
    quads(grid, bounds, |cell, next| u8::from(cell != AIR && next == AIR), limit)
}

/// `face` returns the kind of face that a cell shows to the next one, or 0; equal cells show none. The result is None
/// if there are more quads than the limit.
fn quads(grid: &Grid, bounds: Bounds, face: impl Fn(u8, u8) -> u8, limit: usize) -> Option<Vec<Quad>> {
    let transposed = transposed(grid, bounds);
    let edge = grid.size().get();
    let [x1, y1, z1] = bounds.min.map(usize::from);
    let [width, height, depth] = bounds.spans();
    let start = (y1 * edge + z1) * edge + x1;
    let along_x =
        Layers { cells: &transposed, strides: [height * depth, depth], counts: [width, height, depth] };
    let cells = &grid.cells()[start..];
    let along_y = Layers { cells, strides: [edge * edge, edge], counts: [height, depth, width] };
    let along_z = Layers { cells, strides: [edge, edge * edge], counts: [depth, height, width] };
    let mut quads = Vec::new();
    for side in Direction::ALL {
        let layers = [&along_x, &along_y, &along_z][side.axis()];
        layers.scan(side, bounds.min.map(|v| v as u8), &face, limit, &mut quads)?;
    }
    Some(quads)
}

/// The cells inside the bounds with z running fastest, then y, then x.
fn transposed(grid: &Grid, bounds: Bounds) -> Vec<u8> {
    let [_, height, depth] = bounds.spans();
    let mut transposed = vec![AIR; bounds.spans().iter().product()];
    for (place, row) in grid.rows_inside(bounds).enumerate() {
        for (x, &cell) in row.iter().enumerate().filter(|(_, cell)| **cell != AIR) {
            transposed[x * height * depth + place] = cell;
        }
    }
    transposed
}

/// Cells as layers along one axis, made of contiguous rows.
struct Layers<'a> {
    cells: &'a [u8],
    /// The distances from layer to layer, and from row to row.
    strides: [usize; 2],
    /// The numbers of layers, rows and columns.
    counts: [usize; 3],
}

impl Layers<'_> {
    fn row(&self, layer: usize, row: usize) -> &[u8] {
        let start = layer * self.strides[0] + row * self.strides[1];
        &self.cells[start..start + self.counts[2]]
    }

    /// Adds the quads that point in one direction. None if the limit is reached.
    fn scan(
        &self,
        side: Direction,
        min: [u8; 3],
        face: impl Fn(u8, u8) -> u8,
        limit: usize,
        quads: &mut Vec<Quad>,
    ) -> Option<()> {
        let [layers, rows, columns] = self.counts;
        let beyond = vec![AIR; columns];
        let mut mask = vec![AIR; rows * columns];
        for layer in 0..layers {
            let next = if side.is_positive() { Some(layer + 1) } else { layer.checked_sub(1) };
            let next = next.filter(|&next| next < layers);
            let mut any = false;
            for (row, mask) in mask.chunks_exact_mut(columns).enumerate() {
                let here = self.row(layer, row);
                let there = next.map_or(&*beyond, |next| self.row(next, row));
                if here != there {
                    any = true;
                    let pairs = here.iter().zip(there);
                    mask.iter_mut().zip(pairs).for_each(|(face_here, (&a, &b))| *face_here = face(a, b));
                }
            }
            if any {
                merge(&mut mask, columns, |kind, at: [usize; 2], spans: [usize; 2]| {
                    let [column_axis, row_axis] = side.plane_axes();
                    let mut low = min;
                    low[side.axis()] += layer as u8;
                    low[column_axis] += at[0] as u8;
                    low[row_axis] += at[1] as u8;
                    quads.push(Quad { kind, side, low, more: spans.map(|span| (span - 1) as u8) });
                });
            }
            if quads.len() > limit {
                return None;
            }
        }
        Some(())
    }
}

/// Splits a mask into rectangles, each as wide and then as high as possible, and empties it.
fn merge(mask: &mut [u8], columns: usize, mut found: impl FnMut(u8, [usize; 2], [usize; 2])) {
    let rows = mask.len() / columns;
    for row in 0..rows {
        let mut column = 0;
        while let Some(more) = mask[row * columns..][column..columns].iter().position(|&kind| kind != AIR) {
            column += more;
            let start = row * columns + column;
            let kind = mask[start];
            let run = mask[start..(row + 1) * columns].iter().take_while(|&&other| other == kind);
            let width = run.count();
            let alike =
                |row: &usize| mask[row * columns + column..][..width].iter().all(|&other| other == kind);
            let height = 1 + (row + 1..rows).take_while(alike).count();
            for row in row..row + height {
                mask[row * columns + column..][..width].fill(AIR);
            }
            found(kind, [column, row], [width, height]);
            column += width;
        }
    }
}
