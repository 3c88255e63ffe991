//! Pumpkins are carved with shears.

use craft::{ItemId, ItemStack, ToolKind};

use crate::aim::Target;
use crate::block::{Facing, WorldBlock};
use crate::events::{Event, EventKind};
use crate::world::World;

/// How many seeds come out of a pumpkin that is carved.
pub const CARVED_SEEDS: u8 = 4;

impl World {
    /// Carves the pumpkin that is looked at, if shears are held: on the side that is looked at, or on the player's side.
    pub(crate) fn carve(&mut self, target: Target, events: &mut Vec<Event>) -> bool {
        let shears = self
            .held()
            .map(|stack| stack.item)
            .filter(|item| item.tool().is_some_and(|tool| tool.kind == ToolKind::Shears));
        let (Some(shears), Some(carved)) = (shears, WorldBlock::of("carved_pumpkin")) else { return false };
        if self.volume.block(target.cell).id() != "pumpkin" {
            return false;
        }
        let side = Facing::of_step(target.face);
        let facing = side.unwrap_or_else(|| Facing::of_yaw(self.player.yaw).opposite());
        self.change_blocks(&[(target.cell, carved.facing(facing))]);
        if let Some(seeds) = ItemId::of("pumpkin_seeds") {
            let step = facing.step().map(f64::from);
            let centre = [0, 1, 2].map(|axis| f64::from(target.cell[axis]) + 0.5 + step[axis] * 0.65);
            self.things.add_item(
                ItemStack::new(seeds, CARVED_SEEDS),
                centre,
                [step[0] * 0.05, 0.05, step[2] * 0.05],
                10,
            );
        }
        self.inventory.wear(self.player.slot, 1);
        events.push(Event::new(EventKind::UseItem, shears.id()));
        true
    }
}
