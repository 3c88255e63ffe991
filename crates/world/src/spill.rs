//! How items get into the world: out of blocks, out of containers and out of hands.

use craft::{Drop, ItemId, ItemStack, block_drops};

use crate::block::WorldBlock;
use crate::events::{Event, EventKind};
use crate::hash::{DiceRow, purpose};
use crate::item::yields;
use crate::support::{change, change_all, partner};
use crate::things::constants::*;
use crate::volume::{Cell, contains};
use crate::world::World;

impl World {
    /// Throws a stack away along the look, as the drop key does.
    pub fn throw_item(&mut self, stack: ItemStack, events: &mut Vec<Event>) {
        if stack.count == 0 {
            return;
        }
        self.toss(stack);
        let count = u32::from(stack.count);
        events.push(Event { count, ..Event::new(EventKind::DropItem, stack.item.id()) });
    }

    /// Lets a stack fly out of the player's hands.
    pub(crate) fn toss(&mut self, stack: ItemStack) {
        let (look, [x, y, z]) = (self.player.look(), self.player.eyes());
        let [dx, dy, dz] = look.map(|part| part * THROW);
        self.things.add_item(stack, [x, y - THROW_BELOW_EYES, z], [dx, dy + THROW_UP, dz], THROW_DELAY);
    }

    /// Lets a stack fall out of a cell.
    pub fn spill(&mut self, cell: Cell, stack: ItemStack) {
        let mut dice = DiceRow::new(self.seed, purpose::SPILL, self.tick, self.things.new_id());
        let position = cell.map(|at| f64::from(at) + 0.5);
        let aside = |dice: &mut DiceRow| (dice.share() * 2.0 - 1.0) * DROP_ASIDE;
        let velocity = [aside(&mut dice), DROP_UP, aside(&mut dice)];
        let [x, y, z] = position;
        self.things.add_item(stack, [x, y - EDGE / 2.0, z], velocity, DROP_DELAY);
    }

    /// Breaks a block without a hand or a tool. All that can fall out of it does, by its chances.
    pub fn break_naturally(&mut self, cell: Cell) {
        let block = self.volume.block(cell);
        if contains(cell) && !block.is_air() {
            self.change_block(cell, WorldBlock::AIR);
            self.spill_drops(cell, block, None);
        }
    }

    /// Breaks a block with what is held. What it yields to that falls out of it.
    pub(crate) fn break_with(&mut self, cell: Cell, held: Option<ItemId>) {
        let block = self.volume.block(cell);
        let other_half = partner(cell, block).map(|(cell, _)| cell);
        let is_yielding = yields(block.kind(), held);
        for (broken_cell, broken) in change(&mut self.volume, cell, WorldBlock::AIR) {
            if other_half != Some(broken_cell) {
                self.spill_drops(broken_cell, broken, None);
            } else if is_yielding {
                self.spill_drops(broken_cell, broken, held);
            }
        }
        if is_yielding {
            self.spill_drops(cell, block, held);
        }
    }

    /// Puts a block into a cell. Blocks that lose their support by that break and drop their items.
    pub(crate) fn change_block(&mut self, cell: Cell, block: WorldBlock) {
        self.change_blocks(&[(cell, block)]);
    }

    /// As [`Self::change_block`], for blocks that need each other.
    pub(crate) fn change_blocks(&mut self, changes: &[(Cell, WorldBlock)]) {
        for (cell, broken) in change_all(&mut self.volume, changes) {
            self.spill_drops(cell, broken, None);
        }
    }

    /// The dice depend on the cell and the tick, and not on what else happens. Of two halves, the lower one or the foot
    /// drops what both are.
    fn spill_drops(&mut self, cell: Cell, block: WorldBlock, held: Option<ItemId>) {
        if block.is("half", "upper") || block.is("part", "head") {
            return;
        }
        let is_full = block.is("type", "double") || block.is("age", "7");
        let [x, y, z] = cell.map(|at| at as u64 & 0xffff);
        let place = y << 32 | z << 16 | x;
        let mut dice = DiceRow::new(self.seed, purpose::DROPS, self.tick, place);
        let mut has_dropped = false;
        for Drop { item, count, one_in, instead } in block_drops(block.id(), held, is_full) {
            // Dice are thrown for each of them, so that those that follow do not depend on those before.
            let (is_lucky, more) =
                (dice.below(*one_in) == 0, dice.below(u32::from(count.end() - count.start()) + 1));
            if *instead && has_dropped {
                continue;
            }
            has_dropped = is_lucky;
            let mut left = u32::from(*count.start()) + more;
            while is_lucky && left > 0 {
                let stack = ItemStack::new(*item, left.min(u32::from(item.stack_size())) as u8);
                left -= u32::from(stack.count);
                self.spill(cell, stack);
            }
        }
    }
}
