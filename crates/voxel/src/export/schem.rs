//! Sponge schematics, version 3. `Offset` is the lowest corner of the build in its grid; imports use it in files by our
//! author only.

use std::collections::BTreeMap;

use fastnbt::{ByteArray, IntArray};
use serde::Serialize;

use super::minecraft::{self, BlockState, DATA_VERSION, StatePalette};
use crate::grid::{Bounds, Grid};
use crate::import::AUTHOR;

#[derive(Serialize)]
#[serde(rename_all = "PascalCase")]
struct SchemFile<'a> {
    schematic: Schematic<'a>,
}

#[derive(Serialize)]
#[serde(rename_all = "PascalCase")]
struct Schematic<'a> {
    version: i32,
    data_version: i32,
    metadata: SchemMetadata<'a>,
    width: i16,
    height: i16,
    length: i16,
    offset: IntArray,
    blocks: SchemBlocks<'a>,
}

#[derive(Serialize)]
#[serde(rename_all = "PascalCase")]
struct SchemMetadata<'a> {
    name: &'a str,
    author: &'a str,
}

#[derive(Serialize)]
#[serde(rename_all = "PascalCase")]
struct SchemBlocks<'a> {
    palette: BTreeMap<&'a str, i32>,
    data: ByteArray,
    block_entities: [i8; 0],
}

pub fn write(grid: &Grid, bounds: Bounds, name: &str) -> Vec<u8> {
    let states = StatePalette::of(grid);
    let [width, height, length] = bounds.spans().map(|span| span as i16);
    let mut data = Vec::with_capacity(bounds.spans().iter().product());
    for &cell in grid.rows_inside(bounds).flatten() {
        let state = states.numbers[usize::from(cell)];
        data.push(state as i8);
        // A varint has seven bits per byte. The highest bit, which `state as i8` keeps, says that another follows.
        if state >= 0x80 {
            data.push((state >> 7) as i8);
        }
    }
    minecraft::gzipped_nbt(&SchemFile {
        schematic: Schematic {
            version: 3,
            data_version: DATA_VERSION,
            metadata: SchemMetadata { name, author: AUTHOR },
            width,
            height,
            length,
            offset: IntArray::new(bounds.min.map(i32::from).to_vec()),
            blocks: SchemBlocks {
                palette: states.all.iter().map(BlockState::text).zip(0..).collect(),
                data: ByteArray::new(data),
                block_entities: [],
            },
        },
    })
}
