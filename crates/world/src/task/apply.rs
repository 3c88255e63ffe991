//! What the commands of tasks do.

use craft::ItemStack;

use super::command::{
    CommandAngle, CommandCoordinate, CommandPosition, FillHow, ItemSlot, MAX_FILL, TaskCommand,
};
use super::edit::BulkEdit;
use crate::angle::direction;
use crate::block::WorldBlock;
use crate::player::cell_of;
use crate::volume::{Cell, SIZE};
use crate::world::World;

/// Carries out a command, for the player of a world, and fills no more cells than are left.
pub(super) fn apply(command: &TaskCommand, world: &mut World, cells_left: &mut usize) {
    match command {
        TaskCommand::Give(item, count) => world.give(*item, *count),
        TaskCommand::ReplaceItem(slot, stack) => match slot {
            ItemSlot::Carried(slot) => world.inventory.set(*slot, *stack),
            ItemSlot::MainHand => world.inventory.set(world.player.slot, *stack),
            ItemSlot::OffHand => world.inventory.off_hand = *stack,
        },
        TaskCommand::SetBlock { at, block, keeps, content } => {
            let cell = cell_of(place(*at, world));
            if !keeps || world.volume.block(cell).is_air() {
                world.set_block(cell, *block);
                fill_container(world, cell, content);
            }
        }
        TaskCommand::Fill { from, to, block, how } => {
            let (from, to) = (cell_of(place(*from, world)), cell_of(place(*to, world)));
            fill(world, [from, to], *how, *block, cells_left);
        }
        TaskCommand::SetTime(time) => world.set_time(*time),
        TaskCommand::AddTime(time) => world.set_time(world.time().saturating_add(*time)),
        TaskCommand::Teleport { to, look } => {
            let position = place(*to, world);
            let now = [world.player.yaw, world.player.pitch];
            let [yaw, pitch] = match look {
                Some([yaw, pitch]) => [turned(*yaw, now[0]), turned(*pitch, now[1])],
                None => now,
            };
            world.place_player(position, yaw, pitch);
        }
        TaskCommand::Clear => world.inventory = crate::inventory::Inventory::default(),
        TaskCommand::Summon { at, item: Some(item), .. } => {
            let position = place(*at, world);
            world.things.add_item(*item, position, [0.0; 3], 10);
        }
        // The world has no bodies with a will, no weather, no effects and no experience.
        TaskCommand::Summon { item: None, .. }
        | TaskCommand::Weather(_)
        | TaskCommand::Effect { .. }
        | TaskCommand::ClearEffects
        | TaskCommand::Experience { .. }
        | TaskCommand::Nothing => {}
    }
}

/// Puts stacks into the slots of a chest, a barrel or a furnace, as far as it has such slots.
pub(super) fn fill_container(world: &mut World, cell: Cell, content: &[(u8, ItemStack)]) {
    for (slot, stack) in content {
        world.put_into(cell, usize::from(*slot), Some(*stack));
    }
}

fn fill(world: &mut World, [from, to]: [Cell; 2], how: FillHow, block: WorldBlock, cells_left: &mut usize) {
    // Only cells within the world can be filled, so the loops are bounded by it.
    let low = [0, 1, 2].map(|axis| from[axis].min(to[axis]));
    let high = [0, 1, 2].map(|axis| from[axis].max(to[axis]));
    let range = |axis: usize| low[axis].max(0)..=high[axis].min(SIZE[axis] - 1);
    let rows = range(1).flat_map(|y| range(2).map(move |z| [y, z]));
    let cells = rows.flat_map(|[y, z]| range(0).map(move |x| [x, y, z])).take(MAX_FILL.min(*cells_left));
    let mut edit = BulkEdit::default();
    for cell in cells {
        *cells_left -= 1;
        let is_shell = (0..3).any(|axis| cell[axis] == low[axis] || cell[axis] == high[axis]);
        match how {
            FillHow::Keep if !world.volume.block(cell).is_air() => {}
            FillHow::Outline if !is_shell => {}
            FillHow::Hollow if !is_shell => edit.set(world, cell, WorldBlock::AIR),
            _ => edit.set(world, cell, block),
        }
    }
    edit.finish(world);
}

/// How far out of the world commands reach along an axis: saves and bodies have bounds.
const FARTHEST: f64 = 1000.0;

/// The point that a position means for the player.
fn place(position: CommandPosition, world: &World) -> [f64; 3] {
    let at = world.player.position;
    let place = match position {
        CommandPosition::World(parts) => [0, 1, 2].map(|axis| match parts[axis] {
            CommandCoordinate::At(at) => at,
            CommandCoordinate::By(by) => at[axis] + by,
        }),
        CommandPosition::Look([left, up, ahead]) => {
            let (yaw, pitch) = (world.player.yaw, world.player.pitch);
            let forward = direction(yaw, pitch);
            let upward = direction(yaw, pitch - 90_000);
            let leftward = direction(yaw - 90_000, 0);
            [0, 1, 2].map(|axis| at[axis] + leftward[axis] * left + upward[axis] * up + forward[axis] * ahead)
        }
    };
    place.map(|part| part.clamp(-FARTHEST, FARTHEST))
}

fn turned(angle: CommandAngle, now: i32) -> i32 {
    let thousandths = |degrees: f64| (degrees.clamp(-3600.0, 3600.0) * 1000.0) as i32;
    match angle {
        CommandAngle::At(degrees) => thousandths(degrees),
        CommandAngle::By(degrees) => now.saturating_add(thousandths(degrees)),
    }
}
