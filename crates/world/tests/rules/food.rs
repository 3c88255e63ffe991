//! Hunger, eating, healing and starving.

use world::action::Button::*;
use world::food::constants::*;
use world::{Action, EventKind, World};

use super::{FLOOR, clear_hands, floor, hold, press, rest, stack};

/// A floor on which the player holds something and has so much health, food and saturation.
fn player_with(health: i32, food: i32, saturation: i32, held: &str) -> World {
    let mut world = floor();
    clear_hands(&mut world);
    world.set_slot(0, Some(stack(held, 1)));
    world.set_needs(health, food, saturation);
    world
}

fn needs(world: &World) -> (i32, i32, i32) {
    (world.player().food, world.hunger().saturation, world.hunger().exhaustion)
}

#[test]
fn a_player_begins_with_20_food_and_5_saturation() {
    assert_eq!(needs(&floor()), (20, 5 * POINT, 0));
}

#[test]
fn eating_takes_32_ticks_of_holding_use() {
    let mut world = player_with(20, 10, 0, "bread");
    hold(&mut world, &[Use], 31);
    assert_eq!(world.player().food, 10);
    let events = world.step(&press(&[Use]));
    assert_eq!((events[0].kind, events[0].object), (EventKind::UseItem, "bread"));
    assert_eq!(needs(&world), (15, 6 * POINT, 0));
    assert_eq!(world.held(), None);
}

#[test]
fn eating_begins_anew_when_it_is_broken_off() {
    let mut world = player_with(20, 10, 0, "bread");
    hold(&mut world, &[Use], 31);
    rest(&mut world, 1);
    hold(&mut world, &[Use], 31);
    assert_eq!(world.player().food, 10);
    world.step(&press(&[Use]).choose(2));
    world.step(&press(&[Use]).choose(1));
    hold(&mut world, &[Use], 30);
    assert_eq!(world.player().food, 10);
    hold(&mut world, &[Use], 1);
    assert_eq!(world.player().food, 15);
}

#[test]
fn food_gives_its_points_and_saturation_but_no_more_than_there_is_room_for() {
    for (item, before, after, left) in [
        ("apple", (10, 0), (14, 24_000), None),
        ("cooked_beef", (6, 0), (14, 128_000), None),
        ("cooked_beef", (19, 0), (20, 128_000), None),
        ("golden_carrot", (1, 0), (7, 70_000), None),
        ("mushroom_stew", (10, 0), (16, 72_000), Some("bowl")),
        ("rabbit_stew", (2, 0), (12, 120_000), Some("bowl")),
        ("honey_bottle", (2, 0), (8, 12_000), Some("glass_bottle")),
    ] {
        let mut world = player_with(20, before.0, before.1, item);
        hold(&mut world, &[Use], 32);
        assert_eq!((needs(&world).0, needs(&world).1), after, "{item}");
        assert_eq!(world.held().map(|stack| stack.item.id()), left, "{item}");
    }
}

#[test]
fn nobody_eats_who_is_full_or_holds_no_food() {
    for (food, held) in [(20, "bread"), (10, "stick"), (10, "cake")] {
        let mut world = player_with(20, food, 0, held);
        hold(&mut world, &[Use], 40);
        assert_eq!((world.player().food, world.held().is_some()), (food, true), "{held}");
    }
}

#[test]
fn eating_leaves_0_2_of_the_speed_and_does_not_let_sprint() {
    let way = |held: &str, buttons: &[world::action::Button]| {
        let mut world = player_with(20, 10, 0, held);
        world.set_slot(0, Some(stack(held, 1)));
        hold(&mut world, buttons, 12);
        let before = world.player().position[2];
        hold(&mut world, buttons, 10);
        world.player().position[2] - before
    };
    let (free, eating) = (way("stick", &[Forward, Use]), way("bread", &[Forward, Use]));
    assert!((eating / free - 0.2).abs() < 0.01, "{eating} of {free}");
    let sprinting = way("bread", &[Forward, Use, Sprint]);
    assert!(sprinting < 0.3 * free, "{sprinting} of {free}");
}

/// How much exhaustion a tick costs.
fn cost(world: &mut World, action: Action) -> i32 {
    let before = world.hunger().exhaustion;
    world.step(&action);
    world.hunger().exhaustion - before
}

#[test]
fn sprinting_costs_0_1_a_metre_jumping_0_05_or_0_2_and_walking_nothing() {
    let mut world = floor();
    assert_eq!((0..20).map(|_| cost(&mut world, press(&[Forward]))).sum::<i32>(), 0);
    assert_eq!(cost(&mut world, press(&[Jump])), POINT / 20);
    rest(&mut world, 30);
    hold(&mut world, &[Forward, Sprint], 20);
    // 5.612 metres a second are 28 centimetres a tick.
    assert_eq!(cost(&mut world, press(&[Forward, Sprint])), 28 * POINT / 1000);
    assert_eq!(cost(&mut world, press(&[Forward, Sprint, Jump])), POINT / 5);
    assert_eq!(cost(&mut world, press(&[Forward, Sprint])), 0);
}

#[test]
fn digging_costs_0_005_swimming_0_01_a_metre_and_being_hurt_0_1() {
    let mut world = floor();
    world.set_block([128, FLOOR + 1, 130], super::block("poppy"));
    assert_eq!(cost(&mut world, press(&[Attack])), POINT / 200);

    let mut world = floor();
    super::fill(&mut world, [118, FLOOR, 118], [138, FLOOR + 8, 138], "water");
    rest(&mut world, 5);
    let before = world.player().position;
    let cost_of_ten: i32 = (0..10).map(|_| cost(&mut world, press(&[Forward]))).sum();
    let after = world.player().position;
    let way = ((after[2] - before[2]).powi(2) + (after[1] - before[1]).powi(2)).sqrt();
    assert!((f64::from(cost_of_ten) - way * 100.0).abs() <= 5.0, "{cost_of_ten} for {way}");

    let mut world = floor();
    world.place_player([128.5, f64::from(FLOOR) + 6.5, 128.5], 0, 0);
    let paid: i32 = (0..30).map(|_| cost(&mut world, Action::default())).sum();
    // The food is full, so that healing has its cost, too.
    assert!(world.player().health < 20 && paid >= POINT / 10);
}

#[test]
fn four_points_of_exhaustion_cost_a_point_of_saturation_and_then_of_food() {
    let mut world = player_with(20, 20, POINT, "stick");
    super::fill(&mut world, [120, FLOOR - 1, 98], [136, FLOOR - 1, 255], "stone");
    let mut losses = Vec::new();
    hold(&mut world, &[Forward, Sprint], 20);
    let mut paid = world.hunger().exhaustion;
    for tick in 0..400 {
        let (food, saturation, exhaustion) = needs(&world);
        world.step(&press(&[Forward, Sprint]));
        let now = needs(&world);
        if (now.0, now.1) == (food, saturation) {
            paid += now.2 - exhaustion;
        } else {
            losses.push((now.0, now.1));
            paid += now.2 + EXHAUSTING - exhaustion;
        }
        // A point goes whenever more than four more have been paid.
        assert_eq!(losses.len() as i32, (paid - 1) / EXHAUSTING, "tick {tick}");
    }
    assert_eq!(losses, [(20, 0), (19, 0)]);
}

#[test]
fn a_point_is_healed_in_80_ticks_with_18_food_for_6_exhaustion() {
    for food in [18, 19, 20] {
        let mut world = player_with(10, food, 0, "stick");
        rest(&mut world, 79);
        assert_eq!((world.player().health, world.hunger().exhaustion), (10, 0), "{food}");
        rest(&mut world, 1);
        assert_eq!((world.player().health, world.hunger().exhaustion), (11, 6 * POINT), "{food}");
    }
    let mut world = player_with(10, 17, 0, "stick");
    rest(&mut world, 200);
    assert_eq!(world.player().health, 10);
}

#[test]
fn with_all_food_a_sixth_of_up_to_6_saturation_is_healed_in_10_ticks() {
    let mut world = player_with(10, 20, 20 * POINT, "stick");
    rest(&mut world, 9);
    assert_eq!(world.player().health, 10);
    rest(&mut world, 1);
    assert_eq!((world.player().health, world.hunger().exhaustion), (11, 6 * POINT));

    // Three points of saturation heal half a point; then there are fewer.
    let mut world = player_with(10, 20, 3 * POINT, "stick");
    rest(&mut world, 10);
    assert_eq!((world.player().health, world.hunger().exhaustion), (10, 3 * POINT));
    rest(&mut world, 10);
    assert_eq!((world.player().health, world.hunger().exhaustion), (11, 6 * POINT));
}

#[test]
fn without_food_a_point_of_health_goes_in_80_ticks_down_to_1() {
    let mut world = player_with(3, 0, 0, "stick");
    rest(&mut world, 79);
    assert_eq!(world.player().health, 3);
    rest(&mut world, 1);
    assert_eq!(world.player().health, 2);
    rest(&mut world, 500);
    assert_eq!(world.player().health, 1);
}

#[test]
fn sprinting_needs_more_than_6_food() {
    let sprints = |food| {
        let mut world = player_with(20, food, 0, "stick");
        hold(&mut world, &[Forward, Sprint], 5);
        world.player().is_sprinting
    };
    assert!(!sprints(6) && sprints(7));
}

#[test]
fn whoever_eats_breaks_nothing() {
    let mut world = player_with(20, 10, 0, "bread");
    world.set_block([128, FLOOR + 1, 130], super::block("dirt"));
    hold(&mut world, &[Use], 1);
    hold(&mut world, &[Use, Attack], 30);
    assert!(!world.volume().block([128, FLOOR + 1, 130]).is_air());
}

#[test]
fn hunger_is_part_of_the_state() {
    let world = player_with(20, 20, POINT, "stick");
    let other = player_with(20, 20, 2 * POINT, "stick");
    assert_ne!(world.hash(), other.hash());
}
