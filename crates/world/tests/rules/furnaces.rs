//! How furnaces smelt and burn.

use world::action::Button::*;
use world::containers::{COOLING, Container, FUEL, FURNACE_RESULT, INPUT, SMELTING};
use world::{EventKind, ItemStack, ScreenSlot, World};

use super::screens::{AHEAD, click, open, stack, told, world_with};
use super::{block, press, rest};

/// A world whose furnace ahead holds something.
fn furnace(input: (&str, u8), fuel: (&str, u8)) -> World {
    let mut world = world_with(&[]);
    world.set_block(AHEAD, block("furnace"));
    assert!(world.put_into(AHEAD, INPUT, stack(input.0, input.1)));
    assert!(world.put_into(AHEAD, FUEL, stack(fuel.0, fuel.1)));
    world
}

fn in_furnace(world: &World, slot: usize) -> Option<ItemStack> {
    world.containers().get(AHEAD)?.slots()[slot]
}

#[test]
fn a_furnace_smelts_an_item_in_200_ticks() {
    assert_eq!(SMELTING, 200);
    let mut world = furnace(("beef", 2), ("coal", 2));
    rest(&mut world, 199);
    assert_eq!((in_furnace(&world, INPUT), in_furnace(&world, FURNACE_RESULT)), (stack("beef", 2), None));
    assert_eq!(in_furnace(&world, FUEL), stack("coal", 1));
    rest(&mut world, 1);
    let after = (in_furnace(&world, INPUT), in_furnace(&world, FURNACE_RESULT));
    assert_eq!(after, (stack("beef", 1), stack("cooked_beef", 1)));
    world.step(&press(&[Use]));
    let events = click(&mut world, ScreenSlot::Container(FURNACE_RESULT), press(&[Attack]));
    assert_eq!(told(&events), [(EventKind::Smelt, "cooked_beef", 1)]);
    assert_eq!(world.screen().unwrap().carried(), stack("cooked_beef", 1));
}

#[test]
fn fuels_burn_as_long_as_the_game_says() {
    for (fuel, ticks) in [
        ("coal", 1600),
        ("oak_log", 300),
        ("oak_planks", 300),
        ("stick", 100),
        ("oak_sapling", 100),
        ("white_carpet", 67),
    ] {
        let mut world = furnace(("cobblestone", 64), (fuel, 1));
        let is_lit = |world: &World| match world.containers().get(AHEAD) {
            Some(Container::Furnace(furnace)) => furnace.is_lit(),
            _ => false,
        };
        rest(&mut world, ticks);
        assert!(is_lit(&world), "{fuel} burns for {ticks}");
        rest(&mut world, 1);
        assert!(!is_lit(&world), "{fuel} burns for {ticks}");
        let smelted = in_furnace(&world, FURNACE_RESULT).map_or(0, |stack| usize::from(stack.count));
        assert_eq!(smelted, ticks / 200, "{fuel}");
    }
}

#[test]
fn a_furnace_shines_while_it_burns() {
    let mut world = furnace(("cobblestone", 64), ("stick", 1));
    let light = |world: &World| world.volume().block(AHEAD).state().light;
    assert_eq!(light(&world), 0);
    rest(&mut world, 1);
    assert_eq!(light(&world), 13);
    rest(&mut world, 100);
    assert_eq!(light(&world), 0);
}

#[test]
fn without_fire_an_item_gets_cold() {
    let mut world = furnace(("cobblestone", 64), ("stick", 1));
    let arrow = |world: &World| match world.containers().get(AHEAD) {
        Some(Container::Furnace(furnace)) => furnace.arrow(SMELTING),
        _ => 0,
    };
    rest(&mut world, 100);
    assert_eq!(arrow(&world), 100);
    rest(&mut world, 11);
    assert_eq!((COOLING, arrow(&world)), (2, 78));
}

#[test]
fn a_lava_bucket_leaves_its_bucket_and_only_fuel_goes_below() {
    let mut world = furnace(("cobblestone", 1), ("lava_bucket", 1));
    rest(&mut world, 1);
    assert_eq!(in_furnace(&world, FUEL), stack("bucket", 1));
    let mut world = world_with(&[("stone", 4)]);
    open(&mut world, "furnace");
    click(&mut world, ScreenSlot::Inventory(0), press(&[Attack]));
    for slot in [FUEL, FURNACE_RESULT] {
        click(&mut world, ScreenSlot::Container(slot), press(&[Attack]));
        assert_eq!((in_furnace(&world, slot), world.screen().unwrap().carried()), (None, stack("stone", 4)));
    }
}
