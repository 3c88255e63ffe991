//! What holds whatever is done on a screen: of pictures, of items, and of saves.

use proptest::prelude::*;
use world::action::Button::*;
use world::containers::{FUEL, INPUT};
use world::{Action, Frame, Screen, World};

use super::Own;
use super::{AHEAD, move_to, open, open_inventory, point_at, stack, world_with};
use crate::{press, rest};

#[test]
fn a_picture_that_is_painted_in_parts_is_as_if_it_were_new() {
    for (screen, size) in [
        ("inventory", [128, 128]),
        ("furnace", [320, 180]),
        ("chest", [64, 36]),
        ("crafting_table", [20, 16]),
    ] {
        let mut world = world_with(&[("oak_log", 40), ("iron_axe", 1), ("coal", 9), ("beef", 9)]);
        match screen {
            "inventory" => open_inventory(&mut world),
            block => open(&mut world, block),
        }
        if screen == "furnace" {
            world.put_into(AHEAD, INPUT, stack("beef", 3));
            world.put_into(AHEAD, FUEL, stack("stick", 3));
        }
        let mut kept = Frame::new(size[0], size[1]);
        for step in 0..25 {
            match step % 5 {
                0 => move_to(&mut world, [(step * 171 + 11) % 640, (step * 97 + 5) % 360]),
                1 => point_at(&mut world, Own(step as usize % 4)),
                2 => drop(world.step(&press(&[Attack]))),
                3 => point_at(&mut world, Own(10 + step as usize % 25)),
                _ => drop(world.step(&press(&[Use]))),
            }
            world.view(&mut kept);
            let mut new = Frame::new(size[0], size[1]);
            world.view(&mut new);
            assert!(kept.rgb() == new.rgb(), "{screen}, step {step}");
        }
    }
}

/// How many items there are, wherever they are kept, and of those that lie about.
fn items(world: &World) -> u32 {
    let lying = world.things().items().iter().map(|body| u32::from(body.stack.count));
    let screen = world.screen();
    let grid = screen.into_iter().flat_map(|screen| screen.grid().iter().chain([])).copied();
    let carried = screen.and_then(Screen::carried);
    let stored = world.containers().iter().flat_map(|(_, container)| container.slots().to_vec());
    let own = world.inventory().slots().iter().copied().chain([world.inventory().off_hand]);
    own.chain(grid).chain([carried]).chain(stored).flatten().map(|stack| u32::from(stack.count)).sum::<u32>()
        + lying.sum::<u32>()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn whatever_is_done_on_a_screen_loses_and_makes_nothing(
        screen in 0_usize..4,
        steps in proptest::collection::vec((0_usize..60, 0_usize..8, 1_u8..10), 1..120),
    ) {
        // None of these makes or smelts anything, alone or together.
        let mut world = world_with(&[("dirt", 64), ("dirt", 40), ("egg", 16), ("shears", 1), ("bowl", 7), ("saddle", 1)]);
        match ["inventory", "crafting_table", "chest", "furnace"][screen] {
            "inventory" => open_inventory(&mut world),
            block => open(&mut world, block),
        }
        let expected = items(&world);
        for (place, what, key) in steps {
            let Some(screen) = world.screen() else { break };
            match screen.layout().slots.get(place) {
                Some(place) => point_at(&mut world, place.slot),
                None => move_to(&mut world, [place as i32, 3]),
            }
            let action = match what {
                0 | 1 => press(&[Attack]),
                2 | 3 => press(&[Use]),
                4 => press(&[Sneak, Attack]),
                5 => Action::default().choose(key),
                6 => press(&[SwapHands]),
                _ => press(&[Drop]),
            };
            world.step(&action);
            prop_assert_eq!(items(&world), expected);
            rest(&mut world, 1);
        }
        world.step(&press(&[Inventory]));
        prop_assert_eq!(items(&world), expected);
    }

    #[test]
    fn a_save_with_an_open_screen_goes_on_the_same(bytes in proptest::collection::vec(any::<[u8; 7]>(), 1..200)) {
        let mut world = world_with(&[("oak_log", 64), ("coal", 9), ("beef", 5)]);
        open(&mut world, "furnace");
        for bytes in bytes {
            world.step(&Action::from_bytes(bytes));
        }
        let text = serde_json::to_string(&world).unwrap();
        let again: World = serde_json::from_str(&text).unwrap();
        prop_assert_eq!(again.screen(), world.screen());
        prop_assert_eq!(again.containers(), world.containers());
    }
}
