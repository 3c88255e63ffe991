//! Which cells the player has filled and dug.

use std::collections::BTreeSet;

use craft::ItemId;
use serde::{Deserialize, Serialize};

use crate::block::WorldBlock;
use crate::events::{Event, EventKind};
use crate::volume::{Cell, contains};
use crate::world::World;

/// The cells that the player has changed, as far as they are still so.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Marks {
    placed: BTreeSet<Cell>,
    /// Cells of the land that the player has dug out and that are empty.
    dug: BTreeSet<Cell>,
    /// The holes that were ever open, by their highest cells, with the greatest depth that each had at one time.
    holes: Vec<(Cell, u32)>,
}

impl Marks {
    pub fn placed(&self) -> &BTreeSet<Cell> {
        &self.placed
    }

    pub fn dug(&self) -> &BTreeSet<Cell> {
        &self.dug
    }

    /// The holes that the player has dug, each with its highest cell and its depth.
    pub fn holes(&self) -> &[(Cell, u32)] {
        &self.holes
    }

    /// Notes who has changed the cells of the last step: where an item was used, what has come is placed, and what has
    /// gone with a broken block is dug. Everything else was the world itself.
    pub fn note(&mut self, world: &World, events: &[Event]) {
        for &(cell, old) in world.volume.changed() {
            let new = world.volume.block(cell);
            if new.id() == old.id() {
                continue;
            }
            let is_own =
                events.iter().any(|event| event.kind == EventKind::UseItem && puts(event.object, new));
            let is_broken =
                || events.iter().any(|event| event.kind == EventKind::MineBlock && event.object == old.id());
            if is_own {
                self.placed.insert(cell);
                self.dug.remove(&cell);
            } else if !new.state().solid && is_broken() {
                // Whoever picks a flower digs no hole.
                if !self.placed.remove(&cell) && old.state().solid {
                    self.dug.insert(cell);
                    self.note_hole(cell);
                }
            } else {
                self.placed.remove(&cell);
                self.dug.remove(&cell);
            }
        }
    }

    fn note_hole(&mut self, [x, y, z]: Cell) {
        let top = (y..).take_while(|y| self.dug.contains(&[x, *y, z])).last().unwrap_or(y);
        let depth = (0..).take_while(|down| self.dug.contains(&[x, top - down, z])).count() as u32;
        match self.holes.iter_mut().find(|(cell, _)| *cell == [x, top, z]) {
            Some((_, known)) => *known = depth.max(*known),
            None => self.holes.push(([x, top, z], depth)),
        }
    }

    /// Whether marks that were read from a file could be some.
    pub(crate) fn are_possible(&self) -> bool {
        let cells = self.placed.iter().chain(&self.dug).chain(self.holes.iter().map(|(cell, _)| cell));
        cells.into_iter().all(|cell| contains(*cell)) && self.holes.iter().all(|(_, depth)| *depth <= 128)
    }
}

/// Whether the use of an item may have brought this block.
fn puts(item: &str, block: WorldBlock) -> bool {
    let is_tool = ItemId::of(item).is_some_and(|item| item.tool().is_some());
    !is_tool && !block.is_air() && (!block.is_liquid() || item.ends_with("bucket"))
}
