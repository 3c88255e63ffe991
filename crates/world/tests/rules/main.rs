//! The rules of the world, by their numbers.

mod breaking;
mod commands;
mod goals;
mod known;
mod moving;
mod placing;
mod replaying;
mod tasks;

use world::action::Button;
use world::block::WorldBlock;
use world::{Action, Cell, Terrain, Volume, World};

/// The height of the floor's top in these tests.
const FLOOR: i32 = 10;

fn block(id: &str) -> WorldBlock {
    WorldBlock::of(id).unwrap_or_else(|| panic!("there is no {id}"))
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
    floor_of("stone")
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
