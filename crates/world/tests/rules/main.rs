//! The rules of the world, by their numbers.

mod breaking;
mod commands;
mod crafting;
mod drops;
mod food;
mod furnaces;
mod goals;
mod items;
mod known;
mod moving;
mod placing;
mod replaying;
mod screens;
mod shapes;
mod tasks;
mod throwing;

use std::sync::LazyLock;

use world::action::Button;
use world::block::WorldBlock;
use world::{Action, Cell, Event, EventKind, ItemId, ItemStack, Terrain, Volume, World};

/// The height of the floor's top in these tests.
const FLOOR: i32 = 10;

fn block(id: &str) -> WorldBlock {
    WorldBlock::of(id).unwrap_or_else(|| panic!("there is no {id}"))
}

fn stack(id: &str, count: u8) -> ItemStack {
    ItemStack::new(ItemId::of(id).unwrap_or_else(|| panic!("there is no {id}")), count)
}

/// Empties all slots.
fn clear_hands(world: &mut World) {
    for slot in 0..36 {
        world.set_slot(slot, None);
    }
}

/// A floor of a block, 60 cells long and wide, with a player in the middle who stands and looks to +z.
fn floor_of(id: &str) -> World {
    let terrain = Terrain { volume: Volume::empty(), start: [128.5, f64::from(FLOOR), 128.5], yaw: 0 };
    let mut world = World::new(&terrain, 1);
    fill(&mut world, [98, FLOOR - 1, 98], [158, FLOOR - 1, 158], id);
    rest(&mut world, 5);
    world
}

fn floor() -> World {
    static STONE: LazyLock<World> = LazyLock::new(|| floor_of("stone"));
    STONE.clone()
}

/// A floor on which a block stands three cells ahead, at the height of the eyes.
fn before(id: &str) -> World {
    let mut world = floor();
    if block(id).kind().falls {
        world.set_block([128, FLOOR, 132], block("stone"));
    }
    world.set_block([128, FLOOR + 1, 132], block(id));
    world
}

/// What lies about.
fn lying(world: &World) -> Vec<(&'static str, u8)> {
    world.things().items().iter().map(|body| (body.stack.item.id(), body.stack.count)).collect()
}

/// The objects and counts of a kind of events.
fn of_kind(events: &[Event], kind: EventKind) -> Vec<(&'static str, u32)> {
    events.iter().filter(|event| event.kind == kind).map(|event| (event.object, event.count)).collect()
}

fn fill(world: &mut World, from: Cell, to: Cell, id: &str) {
    for x in from[0]..=to[0] {
        for y in from[1]..=to[1] {
            for z in from[2]..=to[2] {
                world.set_block([x, y, z], block(id));
            }
        }
    }
}

fn press(buttons: &[Button]) -> Action {
    buttons.iter().fold(Action::default(), |action, button| action.press(*button))
}

fn hold(world: &mut World, buttons: &[Button], ticks: usize) {
    let action = press(buttons);
    for _ in 0..ticks {
        world.step(&action);
    }
}

fn rest(world: &mut World, ticks: usize) {
    hold(world, &[], ticks);
}

fn near(found: f64, expected: f64) {
    assert!((found - expected).abs() < 0.001, "{found} is not {expected}");
}
