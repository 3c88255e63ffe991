//! Many blocks that change before a world begins: skips and light follow once, when all are there.

use std::collections::BTreeMap;

use crate::block::WorldBlock;
use crate::light::relight;
use crate::volume::{Cell, contains};
use crate::world::World;

/// Changes whose light is not calculated yet, each with what was there at first.
#[derive(Default)]
pub(super) struct BulkEdit(BTreeMap<Cell, WorldBlock>);

impl BulkEdit {
    /// Puts a block into a cell. Nothing else happens before [`Self::finish`]; what the old block has held stays.
    pub fn set(&mut self, world: &mut World, cell: Cell, block: WorldBlock) {
        if contains(cell) {
            let old = world.volume.put(cell, block);
            if old != block {
                self.0.entry(cell).or_insert(old);
            }
        }
    }

    /// Corrects skips and light. The order does not matter: each cell takes away the light that may have come through it,
    /// and light spreads again through the blocks as they are now.
    pub fn finish(self, world: &mut World) {
        world.volume.finish_around(self.0.keys().copied());
        for (cell, old) in self.0 {
            let new = world.volume.block(cell);
            relight(&mut world.volume, cell, old, new);
        }
    }
}
