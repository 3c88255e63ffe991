//! Where blocks can be put.

use world::action::Button::*;
use world::block::{Axis, Facing};
use world::{Action, EventKind, World};

use super::{FLOOR, block, floor, hold, press};

/// Looks straight down at the floor two cells ahead, with a slot chosen.
fn ready(slot: u8) -> World {
    let mut world = floor();
    world.step(&Action::default().choose(slot).look(40.0, 0.0));
    world
}

#[test]
fn a_block_goes_before_the_face_that_is_looked_at() {
    let mut world = ready(4);
    let target = world.target().unwrap();
    let events = world.step(&press(&[Use]));
    assert_eq!((events[0].kind, events[0].object), (EventKind::UseItem, "cobblestone"));
    let [x, y, z] = target.cell;
    assert_eq!(world.volume().block([x, y + 1, z]), block("cobblestone"));
}

#[test]
fn a_held_use_repeats_every_four_ticks() {
    let mut world = floor();
    world.step(&Action::default().choose(4).look(30.0, 0.0));
    let mut placed = Vec::new();
    for tick in 0..12 {
        if !world.step(&press(&[Use])).is_empty() {
            placed.push(tick);
        }
    }
    assert!(placed.len() >= 2 && placed.windows(2).all(|pair| pair[1] - pair[0] == 4), "{placed:?}");
}

#[test]
fn nothing_is_put_where_the_player_stands() {
    let mut world = floor();
    world.step(&Action::default().choose(4).look(90.0, 0.0));
    hold(&mut world, &[Use], 10);
    assert!(world.volume().block([128, FLOOR, 128]).is_air());
}

#[test]
fn grass_and_water_are_replaced() {
    for id in ["grass", "water"] {
        let mut world = ready(4);
        let [x, y, z] = world.target().unwrap().cell;
        world.set_block([x, y + 1, z], block(id));
        hold(&mut world, &[Use], 1);
        assert_eq!(world.volume().block([x, y + 1, z]), block("cobblestone"), "{id}");
    }
}

#[test]
fn logs_lie_along_the_face_they_are_put_on() {
    let mut world = floor();
    world.set_block([128, FLOOR + 1, 131], block("stone"));
    world.step(&Action::default().choose(6));
    hold(&mut world, &[Use], 1);
    assert_eq!(world.volume().block([128, FLOOR + 1, 130]), block("oak_log").along(Axis::Z));
}

#[test]
fn torches_and_ladders_want_something_behind_them_and_fall_with_it() {
    let mut world = floor();
    world.set_block([128, FLOOR + 1, 131], block("stone"));
    for (slot, id) in [(8, "wall_torch"), (9, "ladder")] {
        world.step(&Action::default().choose(slot));
        hold(&mut world, &[Use], 1);
        assert_eq!(world.volume().block([128, FLOOR + 1, 130]), block(id).facing(Facing::North));
        world.set_block([128, FLOOR + 1, 130], block("air"));
        world.step(&Action::default());
    }
    world.step(&Action::default().choose(8));
    hold(&mut world, &[Use], 1);
    world.set_block([128, FLOOR + 1, 131], block("air"));
    assert!(world.volume().block([128, FLOOR + 1, 130]).is_air(), "a torch falls with its wall");
}

#[test]
fn half_a_door_leaves_what_stands_where_the_other_half_would_be() {
    let (lower, upper) = ([128, FLOOR, 130], [128, FLOOR + 1, 130]);
    let mut world = floor();
    world.set_block(upper, block("stone"));
    world.set_block(lower, block("oak_door").facing(Facing::South));
    world.step(&Action::default().look(32.0, 0.0));
    world.step(&press(&[Use]));
    assert!(world.volume().block(lower).is("open", "true"));
    assert_eq!(world.volume().block(upper), block("stone"));
}
