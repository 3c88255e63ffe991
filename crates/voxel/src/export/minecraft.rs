//! Block states and compressed NBT, which the formats for Minecraft share.

use std::io::Write;

use flate2::{Compression, write::GzEncoder};
use serde::{Serialize, Serializer, ser::SerializeMap};

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

    fn properties(&self) -> impl Iterator<Item = (&str, &str)> {
        let inner = self.0.split_once('[').map_or("", |(_, rest)| rest.trim_end_matches(']'));
        inner.split(',').filter_map(|property| property.split_once('='))
    }
}

/// A compound with name and properties, as in palettes of Litematica and of structure blocks.
impl Serialize for BlockState {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        struct Properties<'a>(&'a BlockState);
        impl Serialize for Properties<'_> {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_map(self.0.properties())
            }
        }
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("Name", self.0.split('[').next().unwrap_or_default())?;
        if self.properties().next().is_some() {
            map.serialize_entry("Properties", &Properties(self))?;
        }
        map.end()
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
