//! Litematica's files, version 6, with one region at the position of the build in its grid.

use std::collections::BTreeMap;

use fastnbt::LongArray;
use serde::Serialize;

use super::minecraft::{self, BlockState, DATA_VERSION, StatePalette};
use crate::grid::{Bounds, Grid};

#[derive(Serialize)]
#[serde(rename_all = "PascalCase")]
struct LitematicFile<'a> {
    version: i32,
    sub_version: i32,
    minecraft_data_version: i32,
    metadata: LitematicMetadata<'a>,
    regions: BTreeMap<&'a str, LitematicRegion>,
}

#[derive(Serialize)]
#[serde(rename_all = "PascalCase")]
struct LitematicMetadata<'a> {
    name: &'a str,
    author: &'a str,
    description: &'a str,
    region_count: i32,
    total_blocks: i32,
    total_volume: i32,
    enclosing_size: LitematicPoint,
    time_created: i64,
    time_modified: i64,
}

#[derive(Serialize)]
#[serde(rename_all = "PascalCase")]
struct LitematicRegion {
    position: LitematicPoint,
    size: LitematicPoint,
    block_state_palette: Vec<BlockState>,
    block_states: LongArray,
    entities: [i8; 0],
    tile_entities: [i8; 0],
    pending_block_ticks: [i8; 0],
    pending_fluid_ticks: [i8; 0],
}

/// A point or a size by its axes.
type LitematicPoint = BTreeMap<&'static str, i32>;

fn point([x, y, z]: [i32; 3]) -> LitematicPoint {
    BTreeMap::from([("x", x), ("y", y), ("z", z)])
}

pub fn write(grid: &Grid, bounds: Bounds, name: &str) -> Vec<u8> {
    let states = StatePalette::of(grid);
    let size = bounds.spans().map(|span| span as i32);
    let bits = (usize::BITS - (states.all.len() - 1).leading_zeros()).max(2);
    let numbers = grid.rows_inside(bounds).flatten().map(|&cell| states.numbers[usize::from(cell)]);
    let block_states = pack_bits(numbers, bits);
    let region = LitematicRegion {
        position: point(bounds.min.map(i32::from)),
        size: point(size),
        block_state_palette: states.all,
        block_states: LongArray::new(block_states),
        entities: [],
        tile_entities: [],
        pending_block_ticks: [],
        pending_fluid_ticks: [],
    };
    minecraft::gzipped_nbt(&LitematicFile {
        version: 6,
        sub_version: 1,
        minecraft_data_version: DATA_VERSION,
        metadata: LitematicMetadata {
            name,
            author: "",
            description: "",
            region_count: 1,
            total_blocks: grid.stats().block_count as i32,
            total_volume: size.iter().product(),
            enclosing_size: point(size),
            time_created: 0,
            time_modified: 0,
        },
        regions: BTreeMap::from([(name, region)]),
    })
}

/// Packs numbers of `bits` bits, from the lowest bit of each long. A number may continue in the next long.
fn pack_bits(numbers: impl Iterator<Item = u8>, bits: u32) -> Vec<i64> {
    let mut longs = Vec::new();
    let (mut long, mut used) = (0_u64, 0);
    for number in numbers {
        long |= u64::from(number) << used;
        used += bits;
        if used >= u64::BITS {
            longs.push(long.cast_signed());
            used -= u64::BITS;
            long = u64::from(number) >> (bits - used);
        }
    }
    if used > 0 {
        longs.push(long.cast_signed());
    }
    longs
}
