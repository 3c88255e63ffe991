//! How long it takes to break blocks.

use world::action::Button::*;
use world::item::ToolKind::{self, *};
use world::item::ToolMaterial::*;
use world::item::{Footing, ToolMaterial, ticks_to_break};
use world::{Action, EventKind, ItemId};

use super::{FLOOR, block, floor, hold, press};

fn ticks(id: &str, tool: Option<(ToolKind, ToolMaterial)>) -> Option<u32> {
    let is_it = |item: &ItemId| item.tool().map(|tool| (tool.kind, tool.material)) == tool;
    let held = tool.and_then(|_| ItemId::all().find(is_it));
    ticks_to_break(block(id).kind(), held, Footing::default())
}

#[test]
fn stone_takes_150_ticks_by_hand_and_fewer_with_better_pickaxes() {
    assert_eq!(ticks("stone", None), Some(150));
    let with = |material| ticks("stone", Some((Pickaxe, material)));
    assert_eq!(
        [Wood, Stone, Iron, Diamond, Netherite, Gold].map(with),
        [Some(23), Some(12), Some(8), Some(6), Some(5), Some(4)]
    );
    // Another tool is no better than a hand.
    assert_eq!(ticks("stone", Some((Axe, Diamond))), Some(150));
}

#[test]
fn what_a_hand_can_have_is_broken_in_30_ticks_times_its_hardness() {
    assert_eq!(
        (ticks("dirt", None), ticks("oak_log", None), ticks("sand", None)),
        (Some(15), Some(60), Some(15))
    );
    assert_eq!(ticks("dirt", Some((Shovel, Iron))), Some(3));
    assert_eq!(ticks("oak_log", Some((Axe, Iron))), Some(10));
}

#[test]
fn ores_and_obsidian_want_their_tier() {
    assert_eq!(ticks("diamond_ore", Some((Pickaxe, Iron))), Some(15));
    assert_eq!(ticks("diamond_ore", Some((Pickaxe, Stone))), Some(75));
    assert_eq!(ticks("obsidian", Some((Pickaxe, Diamond))), Some(188));
    assert_eq!(ticks("obsidian", Some((Pickaxe, Iron))), Some(834));
}

#[test]
fn shears_are_for_leaves_and_wool() {
    assert_eq!(ticks("oak_leaves", Some((Shears, Iron))), Some(1));
    assert_eq!(ticks("white_wool", Some((Shears, Iron))), Some(5));
}

#[test]
fn swords_are_for_plants_and_with_shears_for_cobwebs() {
    for (id, tool, expected) in [
        ("cobweb", Some((Shears, Iron)), 8),
        ("cobweb", Some((Sword, Wood)), 8),
        ("cobweb", Some((Sword, Diamond)), 8),
        ("cobweb", None, 400),
        ("oak_leaves", Some((Sword, Iron)), 4),
        ("melon", Some((Sword, Iron)), 20),
        ("pumpkin", Some((Sword, Wood)), 20),
        ("pumpkin", Some((Shears, Iron)), 30),
        ("white_wool", Some((Sword, Iron)), 24),
    ] {
        assert_eq!(ticks(id, tool), Some(expected), "{id} with {tool:?}");
    }
}

#[test]
fn bedrock_never_breaks_and_plants_do_at_once() {
    assert_eq!(ticks("bedrock", Some((Pickaxe, Netherite))), None);
    assert_eq!((ticks("poppy", None), ticks("torch", None)), (Some(1), Some(1)));
}

#[test]
fn under_water_and_off_the_ground_it_takes_five_times_as_long() {
    let footing = |is_under_water, is_off_ground| Footing { is_under_water, is_off_ground };
    let ticks = |footing| ticks_to_break(block("dirt").kind(), None, footing);
    assert_eq!(
        [footing(true, false), footing(false, true), footing(true, true)].map(ticks),
        [Some(75), Some(75), Some(375)]
    );
}

#[test]
fn a_held_button_breaks_a_block_in_that_many_ticks_and_waits_five_before_the_next() {
    let mut world = floor();
    for y in [FLOOR, FLOOR + 1, FLOOR + 2] {
        world.set_block([128, y, 130], block("stone"));
        world.set_block([128, y, 131], block("stone"));
    }
    // The iron pickaxe is in the first slot: 8 ticks.
    let mut broken = Vec::new();
    for tick in 1..=30 {
        let events = world.step(&press(&[Attack]));
        if events.iter().any(|event| event.kind == EventKind::MineBlock && event.object == "stone") {
            broken.push(tick);
        }
    }
    assert_eq!(broken, [8, 8 + 5 + 8]);
}

#[test]
fn whoever_looks_away_begins_anew() {
    let mut world = floor();
    world.set_block([128, FLOOR + 1, 130], block("stone"));
    hold(&mut world, &[Attack], 6);
    world.step(&press(&[Attack]).look(0.0, 90.0));
    world.step(&press(&[Attack]).look(0.0, -90.0));
    hold(&mut world, &[Attack], 6);
    assert_eq!(world.volume().block([128, FLOOR + 1, 130]), block("stone"));
    hold(&mut world, &[Attack], 1);
    assert!(world.volume().block([128, FLOOR + 1, 130]).is_air());
}

#[test]
fn hands_reach_four_and_a_half_metres() {
    // The player's eyes are at z 128.5.
    for (z, is_reached) in [(132, true), (133, true), (134, false)] {
        let mut world = floor();
        world.set_block([128, FLOOR + 1, z], block("poppy"));
        world.set_block([128, FLOOR + 1, z], block("stone"));
        assert_eq!(
            world.target().is_some_and(|target| target.cell == [128, FLOOR + 1, z]),
            is_reached,
            "{z}"
        );
    }
    let mut world = floor();
    world.step(&Action::default().look(90.0, 0.0));
    assert_eq!(world.target().map(|target| target.face), Some([0, 1, 0]));
}
