//! Where items leave the player and the containers for the world. They do not lie about there: whatever leaves is lost.

use craft::ItemStack;

use crate::events::{Event, EventKind};
use crate::volume::Cell;
use crate::world::World;

impl World {
    /// Throws a stack along the look.
    #[expect(clippy::unused_self, reason = "whoever throws decides where the stack goes")]
    pub(crate) fn throw_item(&mut self, stack: ItemStack, events: &mut Vec<Event>) {
        events.push(Event {
            count: u32::from(stack.count),
            ..Event::new(EventKind::DropItem, stack.item.id())
        });
    }

    /// Lets a stack fall out of a cell.
    #[expect(clippy::unused_self, reason = "it falls out in this world")]
    pub(crate) fn spill(&mut self, _cell: Cell, _stack: ItemStack) {}
}
