//! What the keys do with the slots in play: throwing away, choosing a block's item, and changing hands.

use craft::{ItemId, block_drops};

use crate::action::{Action, Button};
use crate::aim::Target;
use crate::block::WorldBlock;
use crate::events::Event;
use crate::inventory::HOTBAR;
use crate::world::World;

impl World {
    /// Each key counts when it is newly down.
    pub(crate) fn move_items(&mut self, action: Action, target: Option<Target>, events: &mut Vec<Event>) {
        if self.is_newly_down(action, Button::PickBlock)
            && let Some(target) = target
        {
            self.pick_block(self.volume.block(target.cell));
        }
        let slot = self.player.slot;
        if self.is_newly_down(action, Button::SwapHands) {
            let held = self.inventory.slot(slot);
            let other = std::mem::replace(&mut self.inventory.off_hand, held);
            self.inventory.set(slot, other);
        }
        if self.is_newly_down(action, Button::Drop)
            && let Some(stack) = self.inventory.take(slot, 1)
        {
            self.throw_item(stack, events);
            self.hands.swing = 0;
        }
    }

    /// Chooses the slot of the hot bar that has a block's item, if any has.
    fn pick_block(&mut self, block: WorldBlock) {
        let has = |slot: &usize| self.inventory.slot(*slot).map(|stack| stack.item) == item_of(block);
        if item_of(block).is_some()
            && let Some(slot) = (0..HOTBAR).find(has)
        {
            self.player.slot = slot;
        }
    }
}

/// The item that places a block. What has no item of its own id, such as a torch on a wall, has the one that it drops.
fn item_of(block: WorldBlock) -> Option<ItemId> {
    ItemId::of(block.id()).or_else(|| Some(block_drops(block.id(), None, false).first()?.item))
}
