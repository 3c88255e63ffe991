//! Items that lie about: how they move, are picked up and thrown away.

use proptest::prelude::*;
use world::action::Button::{self, *};
use world::things::constants::*;
use world::{Action, EventKind, ItemBody, ItemId, ItemStack, World};

use super::{
    FLOOR, before, block, clear_hands, fill, floor, floor_of, hold, lying, near, of_kind, press, rest, stack,
};

/// An item that was let fall out of a cell.
fn spilled(world: &mut World, cell: [i32; 3], id: &str, count: u8) -> ItemBody {
    world.spill(cell, stack(id, count));
    world.things().items()[world.things().items().len() - 1].clone()
}

#[test]
fn drops_begin_in_the_middle_at_most_0_1_to_the_sides_and_0_2_up() {
    let mut world = floor();
    for _ in 0..50 {
        let body = spilled(&mut world, [140, 12, 140], "dirt", 1);
        assert_eq!(body.position, [140.5, 12.5 - EDGE / 2.0, 140.5]);
        let [x, y, z] = body.velocity;
        assert!(x.abs() <= 0.1 && y == 0.2 && z.abs() <= 0.1, "{:?}", body.velocity);
    }
}

#[test]
fn items_fall_by_0_04_a_tick_with_a_drag_of_0_98_and_come_to_rest() {
    let mut world = floor();
    let mut expected = spilled(&mut world, [140, 40, 140], "dirt", 1);
    for _ in 0..12 {
        rest(&mut world, 1);
        let body = &world.things().items()[0];
        expected.velocity[1] -= 0.04;
        for axis in 0..3 {
            expected.position[axis] += expected.velocity[axis];
            expected.velocity[axis] *= 0.98;
            near(body.position[axis], expected.position[axis]);
        }
    }
    rest(&mut world, 100);
    let body = world.things().items()[0].clone();
    assert!(body.is_on_ground && body.position[1] == f64::from(FLOOR), "{body:?}");
    rest(&mut world, 100);
    for axis in 0..3 {
        near(world.things().items()[0].position[axis], body.position[axis]);
    }
    // It falls when its ground is gone.
    let [x, _, z] = body.position.map(|at| at.floor() as i32);
    world.set_block([x, FLOOR - 1, z], block("air"));
    rest(&mut world, 10);
    assert!(world.things().items()[0].position[1] < f64::from(FLOOR));
}

#[test]
fn items_slide_further_on_ice() {
    let way = |id| {
        let mut world = floor_of(id);
        clear_hands(&mut world);
        world.set_slot(0, Some(stack("dirt", 1)));
        hold(&mut world, &[Drop], 1);
        hold(&mut world, &[Back], 60);
        world.things().items()[0].position[2] - 128.5
    };
    let (stone, ice) = (way("stone"), way("ice"));
    assert!(stone > 1.0 && ice > stone + 0.5, "{stone} and {ice}");
}

#[test]
fn items_rise_slowly_in_water() {
    let mut world = floor();
    fill(&mut world, [138, FLOOR, 138], [142, FLOOR + 4, 142], "water");
    world.spill([140, FLOOR, 140], stack("dirt", 1));
    rest(&mut world, 200);
    let height = |world: &World| world.things().items()[0].position[1] - f64::from(FLOOR);
    let first = height(&world);
    rest(&mut world, 20);
    let risen = height(&world) - first;
    assert!(first > 1.0 && risen > 0.1 && risen < 20.0 * FLOAT_SPEED, "{first} and {risen} more");
    rest(&mut world, 600);
    assert!((4.0..5.0).contains(&height(&world)), "{}", height(&world));
}

#[test]
fn an_item_leaves_a_block_that_is_put_over_it() {
    let mut world = floor();
    world.spill([140, FLOOR, 140], stack("dirt", 1));
    rest(&mut world, 60);
    let [x, y, z] = world.things().items()[0].position.map(|at| at.floor() as i32);
    world.set_block([x, y, z], block("stone"));
    rest(&mut world, 40);
    let body = &world.things().items()[0];
    assert!(world::body::is_free(world.volume(), body.bounds()), "{body:?}");
}

/// After how many steps something is picked up, and what the event says.
fn picked_up(world: &mut World) -> Option<(usize, Vec<(&'static str, u32)>)> {
    (1..200).find_map(|tick| {
        let events = of_kind(&world.step(&Action::default()), EventKind::PickupItem);
        (!events.is_empty()).then_some((tick, events))
    })
}

#[test]
fn drops_are_picked_up_after_10_ticks_and_throws_after_40() {
    let mut world = floor();
    world.spill([128, FLOOR, 129], stack("dirt", 3));
    // The first step finds it as it has just been made.
    assert_eq!(picked_up(&mut world), Some((11, vec![("dirt", 3)])));
    assert_eq!(world.inventory().count(ItemId::of("dirt").unwrap()), 3);
    assert!(lying(&world).is_empty());

    world.step(&Action::default().choose(4).look(90.0, 0.0));
    let events = world.step(&press(&[Drop]));
    assert_eq!(of_kind(&events, EventKind::DropItem), [("cobblestone", 1)]);
    assert_eq!(picked_up(&mut world), Some((40, vec![("cobblestone", 1)])));
}

#[test]
fn items_are_picked_up_from_1_to_the_sides_and_0_5_above_and_below() {
    // Boxes that touch do not meet.
    for (offset, is_near) in [
        ([1.3 + EDGE / 2.0 - 0.01, 0.0, 0.0], true),
        ([1.3 + EDGE / 2.0 + 0.01, 0.0, 0.0], false),
        ([0.0, 0.0, -(1.3 + EDGE / 2.0 - 0.01)], true),
        ([0.0, 0.0, -(1.3 + EDGE / 2.0 + 0.01)], false),
        ([1.35, 1.8 + 0.5 - 0.01, 0.0], true),
        ([1.35, 1.8 + 0.5 + 0.01, 0.0], false),
        ([0.0, -(0.5 + EDGE - 0.01), 0.0], true),
        ([0.0, -(0.5 + EDGE + 0.01), 0.0], false),
    ] {
        let mut world = floor();
        world.spill([140, FLOOR, 140], stack("dirt", 1));
        rest(&mut world, 60);
        let at = world.things().items()[0].position;
        // It lies on a pillar, so that a player has room below it.
        let [x, _, z] = at.map(|at| at.floor() as i32);
        fill(&mut world, [x - 3, FLOOR - 1, z - 3], [x + 3, FLOOR - 1, z + 3], "air");
        world.set_block([x, FLOOR - 1, z], block("stone"));
        world.place_player([0, 1, 2].map(|axis| at[axis] - offset[axis]), 0, 0);
        rest(&mut world, 1);
        assert_eq!(lying(&world).is_empty(), is_near, "{offset:?}");
    }
}

#[test]
fn a_full_inventory_leaves_items_or_a_part_of_them() {
    let mut world = floor();
    for slot in 0..36 {
        world.set_slot(slot, Some(stack("cobblestone", 64)));
    }
    world.set_slot(20, Some(stack("dirt", 60)));
    world.spill([128, FLOOR, 129], stack("dirt", 10));
    world.spill([128, FLOOR, 129], stack("sand", 1));
    assert_eq!(picked_up(&mut world), Some((11, vec![("dirt", 4)])));
    rest(&mut world, 50);
    assert_eq!(lying(&world), [("dirt", 6), ("sand", 1)]);
}

#[test]
fn equal_stacks_within_0_5_become_one_as_far_as_one_can_be() {
    let merged = |stacks: &[(&str, u8)], apart: i32| {
        let mut world = floor();
        for (number, (id, count)) in stacks.iter().enumerate() {
            world.spill([140 + apart * number as i32, FLOOR, 140], stack(id, *count));
        }
        rest(&mut world, 100);
        lying(&world)
    };
    assert_eq!(merged(&[("dirt", 3), ("dirt", 4)], 0), [("dirt", 7)]);
    assert_eq!(merged(&[("dirt", 3), ("dirt", 4)], 3), [("dirt", 3), ("dirt", 4)]);
    assert_eq!(merged(&[("dirt", 3), ("sand", 4)], 0), [("dirt", 3), ("sand", 4)]);
    assert_eq!(merged(&[("dirt", 60), ("dirt", 5)], 0), [("dirt", 60), ("dirt", 5)]);
    assert_eq!(merged(&[("iron_axe", 1), ("iron_axe", 1)], 0).len(), 2);
}

#[test]
fn items_vanish_after_6_000_ticks() {
    let mut world = floor();
    world.spill([140, FLOOR, 140], stack("dirt", 1));
    rest(&mut world, 5_999);
    assert_eq!(lying(&world), [("dirt", 1)]);
    rest(&mut world, 1);
    assert!(lying(&world).is_empty());
}

#[test]
fn at_most_512_items_lie_about_and_the_oldest_go() {
    let mut world = floor();
    for number in 0..600 {
        world.spill([100 + number % 50, FLOOR, 100 + number / 50 * 2], stack("iron_axe", 1));
    }
    let ids: Vec<&ItemBody> = world.things().items().iter().collect();
    assert_eq!(ids.len(), MAX_ITEMS);
    assert_eq!(ids[0].position[0].floor() as i32, 100 + (600 - 512) % 50);
}

#[test]
fn the_drop_key_throws_one_at_0_3_along_the_look_and_0_1_up_when_it_is_newly_down() {
    let mut world = floor();
    world.step(&Action::default().choose(4));
    let mut dropped = Vec::new();
    for _ in 0..10 {
        dropped.extend(of_kind(&world.step(&press(&[Drop])), EventKind::DropItem));
    }
    assert_eq!(dropped, [("cobblestone", 1)]);
    let held = world.held().unwrap();
    assert_eq!((held.item.id(), held.count), ("cobblestone", 63));

    rest(&mut world, 1);
    let mut copy = world.clone();
    world.throw_item(stack("dirt", 5), &mut Vec::new());
    let body = world.things().items().last().unwrap();
    let [x, y, z] = copy.player().eyes();
    assert_eq!((body.position, body.delay), ([x, y - 0.3, z], 40));
    assert!(body.velocity.iter().zip([0.0, 0.1, 0.3]).all(|(part, to)| (part - to).abs() < 1e-9));
    // An empty hand throws nothing.
    clear_hands(&mut copy);
    assert!(copy.step(&press(&[Drop])).is_empty());
}

#[test]
fn picking_a_block_chooses_its_slot_if_the_hot_bar_has_it() {
    let slot_for = |id: &str| {
        let mut world = before(id);
        world.step(&Action::default().choose(2));
        world.step(&press(&[PickBlock]));
        world.player().slot
    };
    assert_eq!((slot_for("oak_planks"), slot_for("torch"), slot_for("bricks")), (4, 7, 1));
    let mut world = floor();
    world.set_block([128, FLOOR + 1, 132], block("oak_planks"));
    world.set_slot(4, None);
    world.set_slot(30, Some(stack("oak_planks", 3)));
    hold(&mut world, &[PickBlock], 1);
    assert_eq!(world.player().slot, 0);
}

#[test]
fn swapping_hands_swaps_once_a_press() {
    let mut world = floor();
    let held = world.held();
    hold(&mut world, &[SwapHands], 3);
    assert_eq!((world.held(), world.inventory().off_hand), (None, held));
    rest(&mut world, 1);
    hold(&mut world, &[SwapHands], 1);
    assert_eq!((world.held(), world.inventory().off_hand), (held, None));
}

#[test]
fn items_are_seen_and_part_of_the_state() {
    let mut world = floor();
    let picture = |world: &World| {
        let mut frame = world::Frame::new(64, 64);
        world.view(&mut frame);
        frame.rgb().to_vec()
    };
    let (bare, hash) = (picture(&world), world.hash());
    world.spill([128, FLOOR + 1, 130], stack("oak_planks", 1));
    assert_ne!(picture(&world), bare);
    assert_ne!(world.hash(), hash);
}

/// Any buttons but that of the inventory, whose screen has tests of its own.
fn buttons() -> impl Strategy<Value = Vec<Button>> {
    let all: Vec<_> = Button::ALL.into_iter().filter(|button| *button != Inventory).collect();
    prop::collection::vec(prop::sample::select(all), 0..4)
}

/// All items of a kind, in slots and in the world.
fn total(world: &World, id: &str) -> u32 {
    let item = stack(id, 1).item;
    let bodies = world.things().items().iter().filter(|body| body.stack.item == item);
    world.inventory().count(item) + bodies.map(|body| u32::from(body.stack.count)).sum::<u32>()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn no_item_is_lost_or_made_whatever_the_buttons_are(
        actions in prop::collection::vec((buttons(), 0..10_u8, -20..20_i32), 1..150)
    ) {
        const KINDS: [&str; 4] = ["snowball", "bread", "oak_planks", "diamond"];
        let mut world = floor();
        clear_hands(&mut world);
        for (slot, id) in KINDS.into_iter().enumerate() {
            world.set_slot(slot, Some(stack(id, 16)));
        }
        world.place_player([128.5, f64::from(FLOOR) + 2.0, 128.5], 0, 30_000);
        world.set_needs(20, 4, 0);
        let mut gone = [0; KINDS.len()];
        for (buttons, slot, yaw) in &actions {
            let mut action = press(buttons).choose(*slot).look(f64::from(*yaw) / 2.0, f64::from(*yaw));
            for _ in 0..4 {
                for event in world.step(&action) {
                    let place = KINDS.iter().position(|id| *id == event.object);
                    match (place, event.kind) {
                        (Some(place), EventKind::UseItem) => gone[place] += event.count as i32,
                        // Planks that were put down drop themselves.
                        (Some(place), EventKind::MineBlock) => gone[place] -= 1,
                        _ => {}
                    }
                }
                action = action.look(0.0, 0.0);
            }
            for (place, id) in KINDS.into_iter().enumerate() {
                prop_assert_eq!(total(&world, id) as i32 + gone[place], 16, "{}", id);
            }
        }
    }
}

#[test]
fn a_stack_that_holds_nothing_is_not_thrown() {
    let mut world = floor();
    let mut events = Vec::new();
    world.throw_item(ItemStack { count: 0, ..stack("dirt", 1) }, &mut events);
    assert!(events.is_empty() && lying(&world).is_empty());
}

#[test]
fn lava_destroys_items_but_netherite() {
    let mut world = floor();
    fill(&mut world, [138, FLOOR, 138], [142, FLOOR, 142], "lava");
    for id in ["dirt", "netherite_ingot", "ancient_debris"] {
        spilled(&mut world, [140, FLOOR + 1, 140], id, 1);
    }
    rest(&mut world, 60);
    assert_eq!(lying(&world), [("netherite_ingot", 1), ("ancient_debris", 1)]);
}
