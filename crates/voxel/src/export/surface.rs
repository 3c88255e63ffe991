//! The faces of a grid that can be seen, merged into rectangles.

use std::array;

use crate::{
    grid::{Bounds, Grid},
    palette::{AIR, Block, RenderClass},
};

/// A rectangle of faces of one kind, in one plane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quad {
    pub kind: u8,
    pub side: Direction,
    /// Its lowest cell.
    low: [u8; 3],
    /// How many cells it has along the side's columns and rows, less one.
    more: [u8; 2],
}

/// Where a face looks to.
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

    /// Whether it looks to where its axis goes.
    pub fn is_positive(self) -> bool {
        (self as usize).is_multiple_of(2)
    }

    /// The axes of its columns and of its rows.
    pub fn plane_axes(self) -> [usize; 2] {
        [[2, 1], [0, 2], [0, 1]][self.axis()]
    }
}

impl Quad {
    /// Cells along its columns and its rows.
    pub fn spans(&self) -> [u16; 2] {
        self.more.map(|more| u16::from(more) + 1)
    }

    /// The corner of its plane with the lowest coordinates.
    pub fn origin(&self) -> [u16; 3] {
        let mut origin = self.low.map(u16::from);
        origin[self.side.axis()] += u16::from(self.side.is_positive());
        origin
    }

    /// Against the clock, seen from outside.
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

/// What is seen where blocks of many kinds meet, by block: a face between two cells belongs to the
/// first, unless the second hides it or is of the same kind.
pub fn block_quads(grid: &Grid, bounds: Bounds, limit: usize) -> Option<Vec<Quad>> {
    let hides: [bool; 256] = array::from_fn(|number| {
        let class = Block::by_number(number as u8).map(|block| block.class);
        matches!(class, Some(RenderClass::Opaque | RenderClass::Emissive))
    });
    let face = |cell, next| if cell != next && !hides[usize::from(next)] { cell } else { AIR };
    quads(grid, bounds, face, limit)
}

/// The surface of everything as one solid.
pub fn solid_quads(grid: &Grid, bounds: Bounds, limit: usize) -> Option<Vec<Quad>> {
    quads(grid, bounds, |cell, next| u8::from(cell != AIR && next == AIR), limit)
}

/// `face` says which kind of face a cell shows to the next, 0 for none; equal cells show none. None
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

/// The cells within the bounds with z running fastest, then y, then x.
fn transposed(grid: &Grid, bounds: Bounds) -> Vec<u8> {
    let [_, height, depth] = bounds.spans();
    let mut transposed = vec![AIR; bounds.spans().iter().product()];
    for (place, row) in super::rows(grid, bounds).enumerate() {
        for (x, &cell) in row.iter().enumerate().filter(|(_, cell)| **cell != AIR) {
            transposed[x * height * depth + place] = cell;
        }
    }
    transposed
}

/// Cells as layers along one axis, each of rows that lie in one piece.
struct Layers<'a> {
    cells: &'a [u8],
    /// From layer to layer, and from row to row.
    strides: [usize; 2],
    /// Layers, rows, columns.
    counts: [usize; 3],
}

impl Layers<'_> {
    fn row(&self, layer: usize, row: usize) -> &[u8] {
        let start = layer * self.strides[0] + row * self.strides[1];
        &self.cells[start..start + self.counts[2]]
    }

    /// Adds the quads of one side.
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

/// Takes a mask apart into rectangles, each as wide and then as high as it can be, and leaves it empty.
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
