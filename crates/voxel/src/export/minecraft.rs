//! Block states and compressed NBT, which the formats for Minecraft share.

use std::collections::BTreeMap;
use std::io::Write;

use flate2::{Compression, write::GzEncoder};
use serde::{Serialize, Serializer};

use crate::grid::Grid;
use crate::palette::{AIR, Block};

/// The data version of Minecraft 1.20.4. Later versions convert older files when they load them.
pub const DATA_VERSION: i32 = 3700;

/// The block states of a grid, air first, and the index of each block among them.
pub struct StatePalette {
    pub all: Vec<BlockState>,
    pub numbers: [u8; 256],
}

/// A block state, such as `minecraft:oak_log[axis=y]`.
pub struct BlockState(String);

impl StatePalette {
    pub fn of(grid: &Grid) -> Self {
        let mut all = vec![BlockState("minecraft:air".to_owned())];
        let mut numbers = [AIR; 256];
        let mut present = [false; 256];
        grid.cells().iter().for_each(|&cell| present[usize::from(cell)] = true);
        for block in 1..=u8::MAX {
            if let Some(state) = Block::by_number(block).filter(|_| present[usize::from(block)]) {
                numbers[usize::from(block)] = all.len() as u8;
                all.push(BlockState(state.minecraft()));
            }
        }
        Self { all, numbers }
    }
}

impl BlockState {
    pub fn text(&self) -> &str {
        &self.0
    }
}

/// A block state as palettes of Litematica and of structure blocks have it.
#[derive(Serialize)]
#[serde(rename_all = "PascalCase")]
struct PaletteEntry<'a> {
    name: &'a str,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    properties: BTreeMap<&'a str, &'a str>,
}

impl Serialize for BlockState {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (name, properties) = self.0.split_once('[').unwrap_or((&self.0, ""));
        let properties = properties.trim_end_matches(']').split(',');
        let properties = properties.filter_map(|property| property.split_once('=')).collect();
        PaletteEntry { name, properties }.serialize(serializer)
    }
}

/// Gzipped NBT with a nameless root. The gzip header has no time, so that equal content gives equal files.
pub fn gzipped_nbt(root: &impl Serialize) -> Vec<u8> {
    let nbt = fastnbt::to_bytes(root);
    debug_assert!(nbt.is_ok(), "all fields have types of NBT");
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    // Writing to memory cannot fail.
    let _ = encoder.write_all(&nbt.unwrap_or_default());
    encoder.finish().unwrap_or_default()
}
