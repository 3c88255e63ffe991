//! The grid: a cube of cells with one byte each.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};

use super::palette::{AIR, Block};

/// The size of a grid: its number of cells along an edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "sqlx", derive(sqlx::Type))]
#[repr(i16)]
pub enum GridSize {
    G32 = 32,
    G64 = 64,
    G128 = 128,
    G256 = 256,
}

/// A cube of cells, stored with x running fastest, then z, then y. A cell is [`AIR`] or the number of a block.
#[derive(Clone, PartialEq, Eq)]
pub struct Grid {
    size: GridSize,
    cells: Vec<u8>,
}

/// The smallest box around all blocks, given by two opposite cells; both are inside.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Bounds {
    pub min: [u16; 3],
    pub max: [u16; 3],
}

/// The blocks of a grid, counted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GridStats {
    counts: Box<[u32; 256]>,
    /// The number of cells that are not empty.
    pub block_count: u32,
    /// None for an empty grid.
    pub bounds: Option<Bounds>,
}

impl GridSize {
    pub const ALL: [Self; 4] = [Self::G32, Self::G64, Self::G128, Self::G256];

    /// Cells along an edge.
    pub const fn get(self) -> usize {
        self as usize
    }

    /// Cells in the whole grid.
    pub const fn volume(self) -> usize {
        self.get().pow(3)
    }
}

impl Grid {
    pub fn empty(size: GridSize) -> Self {
        Self { size, cells: vec![AIR; size.volume()] }
    }

    /// A grid with what `number` says of each cell, given as x, y and z. A number that no block has becomes air.
    pub fn from_fn(size: GridSize, mut number: impl FnMut([usize; 3]) -> u8) -> Self {
        let edge = size.get();
        let is_block: [bool; 256] = std::array::from_fn(|number| Block::by_number(number as u8).is_some());
        let cells = (0..size.volume()).map(|index| {
            let number = number([index % edge, index / (edge * edge), index / edge % edge]);
            if is_block[usize::from(number)] { number } else { AIR }
        });
        Self { size, cells: cells.collect() }
    }

    pub fn size(&self) -> GridSize {
        self.size
    }

    /// All cells in their stored order.
    pub fn cells(&self) -> &[u8] {
        &self.cells
    }

    /// The cell at a position; outside the grid it is air.
    pub fn get(&self, x: usize, y: usize, z: usize) -> u8 {
        let edge = self.size.get();
        if x.max(y).max(z) < edge { self.cells[self.index(x, y, z)] } else { AIR }
    }

    /// Sets a run of cells along x, which must be inside the grid.
    pub(super) fn fill_row(&mut self, x: usize, y: usize, z: usize, len: usize, block: u8) {
        let start = self.index(x, y, z);
        match len {
            1 => self.cells[start] = block,
            _ => self.cells[start..start + len].fill(block),
        }
    }

    /// All rows along x with their y and z, in the stored order.
    pub fn rows(&self) -> impl Iterator<Item = (usize, usize, &[u8])> {
        let edge = self.size.get();
        self.cells.chunks_exact(edge).enumerate().map(move |(i, row)| (i / edge, i % edge, row))
    }

    /// The parts of rows that are inside the bounds, in the stored order.
    pub(super) fn rows_inside(&self, bounds: Bounds) -> impl Iterator<Item = &[u8]> {
        let [x1, y1, z1] = bounds.min.map(usize::from);
        let [x2, y2, z2] = bounds.max.map(usize::from);
        let rows = self.rows().filter(move |(y, z, _)| (y1..=y2).contains(y) && (z1..=z2).contains(z));
        rows.map(move |(_, _, row)| &row[x1..=x2])
    }

    pub fn stats(&self) -> GridStats {
        let mut counts = Box::new([0u32; 256]);
        let mut extent = None;
        for (y, z, row) in self.rows() {
            let first = row[0];
            // Most rows are all of one kind, and this comparison is vectorised.
            if row.iter().all(|&cell| cell == first) {
                counts[usize::from(first)] += row.len() as u32;
                if first != AIR {
                    include(&mut extent, [0, y, z], [row.len() - 1, y, z]);
                }
                continue;
            }
            row.iter().for_each(|&cell| counts[usize::from(cell)] += 1);
            let start = row.iter().position(|&cell| cell != AIR).unwrap_or(0);
            let end = row.iter().rposition(|&cell| cell != AIR).unwrap_or(0);
            include(&mut extent, [start, y, z], [end, y, z]);
        }
        let block_count = counts[1..].iter().sum();
        let bounds =
            extent.map(|(min, max)| Bounds { min: min.map(|v| v as u16), max: max.map(|v| v as u16) });
        GridStats { counts, block_count, bounds }
    }

    fn index(&self, x: usize, y: usize, z: usize) -> usize {
        let edge = self.size.get();
        (y * edge + z) * edge + x
    }
}

impl GridStats {
    /// The number of kinds of blocks.
    pub fn kind_count(&self) -> u8 {
        let kinds = self.counts[1..].iter().filter(|&&count| count > 0).count();
        u8::try_from(kinds).unwrap_or(u8::MAX)
    }

    /// The kinds of blocks with their counts, the most frequent first.
    pub fn blocks(&self) -> Vec<(&'static Block, u32)> {
        let counted = (1..=u8::MAX).filter_map(|number| {
            let count = self.counts[usize::from(number)];
            Block::by_number(number).filter(|_| count > 0).map(|block| (block, count))
        });
        let mut blocks: Vec<_> = counted.collect();
        blocks.sort_by(|(a, m), (b, n)| n.cmp(m).then_with(|| a.id.cmp(&b.id)));
        blocks
    }
}

impl Bounds {
    /// The number of cells along x, y and z.
    pub fn spans(&self) -> [usize; 3] {
        [0, 1, 2].map(|axis| usize::from(self.max[axis] - self.min[axis]) + 1)
    }
}

/// Extends the lowest and the highest corner of what was found so far.
pub(super) fn include<T: Copy + Ord>(extent: &mut Option<([T; 3], [T; 3])>, low: [T; 3], high: [T; 3]) {
    let (min, max) = extent.get_or_insert((low, high));
    for axis in 0..3 {
        min[axis] = min[axis].min(low[axis]);
        max[axis] = max[axis].max(high[axis]);
    }
}

impl fmt::Debug for Grid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let blocks = self.cells.iter().filter(|&&cell| cell != AIR).count();
        write!(f, "Grid({}³, {blocks} blocks)", self.size)
    }
}

impl fmt::Display for GridSize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.get().fmt(f)
    }
}

impl FromStr for GridSize {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = Self::ALL.into_iter().find(|size| size.to_string() == text);
        found.ok_or_else(|| "expected 32, 64, 128 or 256".to_owned())
    }
}

impl Serialize for GridSize {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u64(self.get() as u64)
    }
}

/// Reads a number, or the text of a number as in a query string.
impl<'de> Deserialize<'de> for GridSize {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Raw {
            Number(u64),
            /// Some writers know no other numbers.
            Float(f64),
            Text(String),
        }
        let text = match Raw::deserialize(deserializer)? {
            Raw::Number(number) => number.to_string(),
            Raw::Float(number) => number.to_string(),
            Raw::Text(text) => text,
        };
        text.parse().map_err(D::Error::custom)
    }
}
