//! The format of Minecraft's structure blocks.

use serde::Serialize;

use super::minecraft::{self, BlockState, DATA_VERSION, StatePalette};
use super::{ExportError, Format};
use crate::grid::{Bounds, Grid};

/// The largest size that a structure block can load, in cells per side.
pub const MAX_EDGE: usize = 48;

#[derive(Serialize)]
struct StructureFile {
    #[serde(rename = "DataVersion")]
    data_version: i32,
    size: [i32; 3],
    palette: Vec<BlockState>,
    blocks: Vec<StructureBlock>,
    entities: [i8; 0],
}

#[derive(Serialize)]
struct StructureBlock {
    state: i32,
    pos: [i32; 3],
}

/// Writes all cells including air, because cells that are not in the file keep what the world has there.
pub fn write(grid: &Grid, bounds: Bounds) -> Result<Vec<u8>, ExportError> {
    let spans = bounds.spans();
    if !Format::Nbt.takes(bounds) {
        return Err(ExportError::TooLargeForStructure(spans));
    }
    let states = StatePalette::of(grid);
    let [_, _, depth] = spans;
    let place = |(i, row): (usize, &'_ [u8])| {
        let [y, z] = [i / depth, i % depth].map(|v| v as i32);
        let placed = |(x, &cell): (usize, &u8)| StructureBlock {
            state: states.numbers[usize::from(cell)].into(),
            pos: [x as i32, y, z],
        };
        row.iter().enumerate().map(placed).collect::<Vec<_>>()
    };
    let blocks = grid.rows_inside(bounds).enumerate().flat_map(place).collect();
    Ok(minecraft::gzipped_nbt(&StructureFile {
        data_version: DATA_VERSION,
        size: spans.map(|span| span as i32),
        palette: states.all,
        blocks,
        entities: [],
    }))
}
