//! Screens: the pointer, clicks, chests and furnaces.

mod always;

use std::sync::LazyLock;

use world::action::Button::*;
use world::containers::{FUEL, INPUT};
use world::screen::TURN_PER_PIXEL;
use world::{Action, Cell, Event, EventKind, ItemId, ItemStack, Screen, ScreenKind, ScreenSlot, World};

use super::{FLOOR, block, floor, hold, press, rest};

/// A cell at the height of the eyes, two cells ahead.
pub const AHEAD: Cell = [128, FLOOR + 1, 130];

pub fn item(id: &str) -> ItemId {
    ItemId::of(id).unwrap_or_else(|| panic!("there is no item {id}"))
}

pub fn stack(id: &str, count: u8) -> Option<ItemStack> {
    Some(ItemStack::new(item(id), count))
}

/// A world whose player has nothing but these, each in a slot of its own from the first on.
pub fn world_with(things: &[(&str, u8)]) -> World {
    // A floor takes a while to lay, and a copy of it does not.
    static EMPTY: LazyLock<World> = LazyLock::new(floor);
    let mut world = EMPTY.clone();
    for slot in 0..36 {
        world.set_slot(slot, things.get(slot).and_then(|(id, count)| stack(id, *count)));
    }
    world
}

/// Puts a block before the player and opens its screen.
pub fn open(world: &mut World, id: &str) {
    world.set_block(AHEAD, block(id));
    rest(world, 1);
    world.step(&press(&[Use]));
    assert_eq!(world.screen().map(|screen| screen.kind().name()), Some(id));
    rest(world, 1);
}

pub fn open_inventory(world: &mut World) {
    world.step(&press(&[Inventory]));
    assert_eq!(world.screen().map(Screen::kind), Some(ScreenKind::Inventory));
    rest(world, 1);
}

pub fn screen(world: &World) -> &Screen {
    world.screen().unwrap_or_else(|| panic!("no screen is open"))
}

/// Turns the camera until the pointer is on a point of the window.
pub fn move_to(world: &mut World, point: [i32; 2]) {
    let pointer = screen(world).pointer();
    // The middle of the pixel is meant, wherever in its own the pointer is.
    let degrees = |axis: usize| f64::from((point[axis] - pointer[axis]) * TURN_PER_PIXEL) / 1000.0;
    world.step(&Action::default().look(degrees(1), degrees(0)));
    assert_eq!(screen(world).pointer(), point);
}

pub fn point_at(world: &mut World, slot: ScreenSlot) {
    let middle = screen(world).layout().middle_of(slot);
    move_to(world, middle.unwrap_or_else(|| panic!("{slot:?} is not on this screen")));
    assert_eq!(screen(world).hovered(), Some(slot));
}

/// Points at a slot and presses buttons for a step.
pub fn click(world: &mut World, slot: ScreenSlot, action: Action) -> Vec<Event> {
    point_at(world, slot);
    let events = world.step(&action);
    rest(world, 1);
    events
}

pub fn told(events: &[Event]) -> Vec<(EventKind, &str, u32)> {
    events.iter().map(|event| (event.kind, event.object, event.count)).collect()
}

use ScreenSlot::{Container as InContainer, Grid, Inventory as Own, OffHand, Result as Made};

#[test]
fn the_pointer_starts_in_the_middle_and_moves_with_the_camera_as_far_as_the_window() {
    let mut world = world_with(&[]);
    let look = (world.player().yaw, world.player().pitch);
    open_inventory(&mut world);
    let pointer = |world: &World| world.screen().unwrap().pointer();
    assert_eq!(pointer(&world), [320, 180]);
    world.step(&Action::default().look(-3.0, 1.5));
    assert_eq!(pointer(&world), [330, 160], "a degree is 1/0.15 pixels");
    world.step(&Action::default().look(180.0, 180.0));
    assert_eq!(pointer(&world), [639, 359]);
    world.step(&Action::default().look(-180.0, -180.0));
    assert_eq!(pointer(&world), [0, 0]);
    assert_eq!((world.player().yaw, world.player().pitch), look, "the head does not turn");
    for _ in 0..2 {
        world.step(&press(&[Inventory]));
        rest(&mut world, 1);
    }
    assert_eq!(pointer(&world), [320, 180]);
}

#[test]
fn slots_are_where_the_game_has_them() {
    let mut world = world_with(&[]);
    let corners = |world: &World, slots: &[ScreenSlot]| -> Vec<[i32; 2]> {
        let layout = world.screen().unwrap().layout();
        let at = |slot| layout.middle_of(slot).unwrap();
        slots.iter().map(|slot| [0, 1].map(|axis| at(*slot)[axis] - 8 - layout.corner()[axis])).collect()
    };
    open_inventory(&mut world);
    let found = corners(&world, &[Grid(0), Grid(3), Made, OffHand, Own(9), Own(35), Own(0), Own(8)]);
    let known = [[98, 18], [116, 36], [154, 28], [77, 62], [8, 84], [152, 120], [8, 142], [152, 142]];
    assert_eq!(found, known);
    for (id, size, slots, known) in [
        (
            "crafting_table",
            [176, 166],
            [Grid(0), Grid(8), Made, Own(0)],
            [[30, 17], [66, 53], [124, 35], [8, 142]],
        ),
        ("furnace", [176, 166], [0, 1, 2, 2].map(InContainer), [[56, 17], [56, 53], [116, 35], [116, 35]]),
        (
            "chest",
            [176, 168],
            [InContainer(0), InContainer(26), Own(9), Own(0)],
            [[8, 18], [152, 54], [8, 85], [8, 143]],
        ),
    ] {
        let mut world = world_with(&[]);
        open(&mut world, id);
        assert_eq!(world.screen().unwrap().layout().size, size);
        assert_eq!(corners(&world, &slots), known, "{id}");
    }
}

#[test]
fn while_a_screen_is_open_the_body_gets_no_buttons() {
    let mut world = world_with(&[("stone", 64)]);
    open_inventory(&mut world);
    let (before, slot) = (world.player().position, world.player().slot);
    hold(&mut world, &[Forward, Jump, Attack, Use, Sprint], 20);
    world.step(&Action::default().choose(5));
    assert_eq!((world.player().position, world.player().slot), (before, slot));
    assert!(world.screen().is_some());
}

#[test]
fn breaking_stops_when_a_screen_opens() {
    let mut world = world_with(&[]);
    world.set_block(AHEAD, block("stone"));
    hold(&mut world, &[Attack], 140);
    world.step(&press(&[Attack, Inventory]));
    hold(&mut world, &[Attack], 1);
    world.step(&press(&[Attack, Inventory]));
    hold(&mut world, &[Attack], 140);
    assert_eq!(world.volume().block(AHEAD), block("stone"), "150 ticks break it, but not in two parts");
    hold(&mut world, &[Attack], 15);
    assert!(world.volume().block(AHEAD).is_air());
}

#[test]
fn a_player_with_an_open_screen_falls() {
    let mut world = world_with(&[]);
    world.place_player([128.5, f64::from(FLOOR) + 2.0, 128.5], 0, 0);
    open_inventory(&mut world);
    rest(&mut world, 20);
    assert!((world.player().position[1] - f64::from(FLOOR)).abs() < 1e-6);
}

/// A click, and what is carried, in the slot and thrown after it.
type ClickCase = (Option<ItemStack>, Option<ItemStack>, bool, Option<ItemStack>, Option<ItemStack>);

#[test]
fn clicks_take_put_and_swap() {
    let (none, left, right) = (None, false, true);
    let cases: [ClickCase; 13] = [
        (none, none, left, none, none),
        (none, stack("stone", 9), left, stack("stone", 9), none),
        (none, stack("stone", 9), right, stack("stone", 5), stack("stone", 4)),
        (none, stack("stone", 1), right, stack("stone", 1), none),
        (stack("stone", 9), none, left, none, stack("stone", 9)),
        (stack("stone", 9), none, right, stack("stone", 8), stack("stone", 1)),
        (stack("stone", 9), stack("stone", 60), left, stack("stone", 5), stack("stone", 64)),
        (stack("stone", 9), stack("stone", 60), right, stack("stone", 8), stack("stone", 61)),
        (stack("stone", 9), stack("stone", 64), right, stack("stone", 9), stack("stone", 64)),
        (stack("stone", 9), stack("dirt", 2), left, stack("dirt", 2), stack("stone", 9)),
        (stack("stone", 9), stack("dirt", 2), right, stack("dirt", 2), stack("stone", 9)),
        (stack("iron_axe", 1), stack("iron_axe", 1), left, stack("iron_axe", 1), stack("iron_axe", 1)),
        (stack("stone", 1), none, right, none, stack("stone", 1)),
    ];
    for (number, (carried, there, is_right, carried_after, there_after)) in cases.into_iter().enumerate() {
        let mut world = world_with(&[]);
        world.set_slot(20, carried);
        world.set_slot(30, there);
        open_inventory(&mut world);
        if carried.is_some() {
            click(&mut world, Own(20), press(&[Attack]));
        }
        click(&mut world, Own(30), press(&[if is_right { Use } else { Attack }]));
        let screen = world.screen().unwrap();
        let after = (screen.carried(), world.inventory().slot(30));
        assert_eq!(after, (carried_after, there_after), "case {number}");
    }
}

#[test]
fn a_held_button_clicks_once() {
    let mut world = world_with(&[("stone", 16)]);
    open_inventory(&mut world);
    point_at(&mut world, Own(0));
    hold(&mut world, &[Use], 5);
    assert_eq!(world.screen().unwrap().carried(), stack("stone", 8));
}

#[test]
fn a_click_outside_throws_the_carried_stack_and_the_other_button_one_of_it() {
    let mut world = world_with(&[("stone", 16)]);
    open_inventory(&mut world);
    click(&mut world, Own(0), press(&[Attack]));
    move_to(&mut world, [20, 20]);
    assert_eq!(told(&world.step(&press(&[Use]))), [(EventKind::DropItem, "stone", 1)]);
    rest(&mut world, 1);
    assert_eq!(told(&world.step(&press(&[Attack]))), [(EventKind::DropItem, "stone", 15)]);
    assert_eq!(world.screen().unwrap().carried(), None);
    rest(&mut world, 1);
    assert_eq!(told(&world.step(&press(&[Attack]))), []);
}

#[test]
fn the_drop_key_throws_one_of_the_slot_under_the_pointer() {
    let mut world = world_with(&[("stone", 2)]);
    open_inventory(&mut world);
    for left in [1, 0] {
        let events = click(&mut world, Own(0), press(&[Drop]));
        assert_eq!(told(&events), [(EventKind::DropItem, "stone", 1)]);
        assert_eq!(world.inventory().count(item("stone")), left);
    }
    assert_eq!(told(&click(&mut world, Own(0), press(&[Drop]))), []);
}

#[test]
fn keys_of_the_hot_bar_swap_with_the_slot_under_the_pointer() {
    let mut world = world_with(&[("stone", 3), ("dirt", 5)]);
    open_inventory(&mut world);
    let own = |world: &World, slot| world.inventory().slot(slot);
    click(&mut world, Own(0), Action::default().choose(2));
    assert_eq!((own(&world, 0), own(&world, 1)), (stack("dirt", 5), stack("stone", 3)));
    click(&mut world, Own(20), Action::default().choose(1));
    assert_eq!((own(&world, 20), own(&world, 0)), (stack("dirt", 5), None));
    click(&mut world, Own(20), Action::default().choose(1));
    assert_eq!((own(&world, 20), own(&world, 0)), (None, stack("dirt", 5)));
    click(&mut world, Own(0), press(&[SwapHands]));
    assert_eq!((own(&world, 0), world.inventory().off_hand), (None, stack("dirt", 5)));
}

#[test]
fn a_click_with_shift_moves_a_stack_to_the_other_part() {
    let shift = press(&[Sneak, Attack]);
    // The block whose screen is open, the things in the hot bar, and where the first goes.
    let cases = [
        ("inventory", "stone", Own(9)),
        ("inventory", "shield", OffHand),
        ("crafting_table", "stone", Grid(0)),
        ("chest", "stone", InContainer(0)),
        ("furnace", "beef", InContainer(INPUT)),
        ("furnace", "coal", InContainer(FUEL)),
        ("furnace", "dirt", Own(9)),
    ];
    for (screen, id, to) in cases {
        let mut world = world_with(&[(id, 1)]);
        match screen {
            "inventory" => open_inventory(&mut world),
            block => open(&mut world, block),
        }
        click(&mut world, Own(0), shift);
        // Coal alone does not burn, and meat without fire stays raw.
        assert_eq!(world.screen_slot(to), stack(id, 1), "{id} in {screen}");
        click(&mut world, to, shift);
        assert_eq!(world.screen_slot(to), None, "{id} in {screen}");
        assert_eq!(world.inventory().count(item(id)), 1, "{id} in {screen}");
    }
}

#[test]
fn shift_fills_stacks_first_and_leaves_what_has_no_room() {
    let mut world = world_with(&[("stone", 64); 9]);
    for slot in 9..36 {
        world.set_slot(slot, stack("dirt", 64));
    }
    world.set_slot(30, stack("stone", 60));
    open_inventory(&mut world);
    click(&mut world, Own(4), press(&[Sneak, Attack]));
    assert_eq!(world.inventory().slot(4), stack("stone", 60));
    assert_eq!(world.inventory().slot(30), stack("stone", 64));
}

#[test]
fn closing_gives_back_what_is_carried_and_in_the_grid() {
    let mut world = world_with(&[("stone", 10), ("dirt", 3)]);
    open(&mut world, "crafting_table");
    click(&mut world, Own(0), press(&[Attack]));
    click(&mut world, Grid(4), press(&[Use]));
    click(&mut world, Grid(5), press(&[Use]));
    world.step(&press(&[Inventory]));
    assert_eq!((world.screen(), world.inventory().count(item("stone"))), (None, 10));
}

#[test]
fn a_chest_keeps_its_content_and_loses_it_when_it_is_broken() {
    let mut world = world_with(&[("stone", 10)]);
    open(&mut world, "chest");
    click(&mut world, Own(0), press(&[Attack]));
    click(&mut world, InContainer(13), press(&[Use]));
    world.step(&press(&[Inventory]));
    assert_eq!(world.inventory().count(item("stone")), 9);
    rest(&mut world, 2);
    let events = world.step(&press(&[Use]));
    assert_eq!(told(&events), [(EventKind::Open, "chest", 1)]);
    assert_eq!(world.screen_slot(InContainer(13)), stack("stone", 1));
    world.set_block(AHEAD, block("air"));
    rest(&mut world, 1);
    assert_eq!((world.containers().get(AHEAD), world.screen()), (None, None));
    open(&mut world, "chest");
    assert_eq!(world.screen_slot(InContainer(13)), None);
}

#[test]
fn sneaking_puts_a_block_against_a_chest_and_walking_away_closes_it() {
    let mut world = world_with(&[("stone", 10)]);
    world.set_block(AHEAD, block("chest"));
    world.step(&press(&[Use, Sneak]));
    assert_eq!((world.screen(), world.inventory().count(item("stone"))), (None, 9));
    let mut world = world_with(&[]);
    open(&mut world, "chest");
    world.place_player([128.5, f64::from(FLOOR), 140.5], 0, 0);
    rest(&mut world, 1);
    assert_eq!(world.screen(), None);
}
