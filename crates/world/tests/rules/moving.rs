//! Walking, jumping, falling, swimming, climbing and breathing.

use world::World;
use world::action::Button::*;
use world::block::{Facing, WorldBlock};
use world::player::constants::*;

use super::{FLOOR, block, fill, floor, floor_of, hold, near, press, rest};

/// How far a player gets in a second once the speed is steady, in metres.
fn speed(world: &mut World, buttons: &[world::action::Button]) -> f64 {
    hold(world, buttons, 40);
    let [x, _, z] = world.player().position;
    hold(world, buttons, 20);
    let [to_x, _, to_z] = world.player().position;
    ((to_x - x).powi(2) + (to_z - z).powi(2)).sqrt()
}

fn height(world: &World) -> f64 {
    world.player().position[1] - f64::from(FLOOR)
}

#[test]
fn walking_is_4_317_metres_a_second() {
    near(speed(&mut floor(), &[Forward]), 4.317);
    near(speed(&mut floor(), &[Left]), 4.317);
}

#[test]
fn sprinting_is_5_612_metres_a_second_and_only_forward() {
    near(speed(&mut floor(), &[Forward, Sprint]), 5.612);
    near(speed(&mut floor(), &[Back, Sprint]), 4.317);
}

#[test]
fn sneaking_is_1_295_metres_a_second() {
    near(speed(&mut floor(), &[Forward, Sneak]), 1.295);
}

#[test]
fn both_keys_at_once_walk_aslant_and_hardly_faster() {
    let aslant = speed(&mut floor(), &[Forward, Left]);
    // Keys press to 98 %, which two at once make up for.
    near(aslant, 4.317 / 0.98);
}

#[test]
fn ice_keeps_nearly_all_speed_and_slime_some() {
    let glide = |id: &str| {
        let mut world = floor_of(id);
        hold(&mut world, &[Forward], 20);
        let from = world.player().position[2];
        rest(&mut world, 20);
        world.player().position[2] - from
    };
    let (stone, slime, ice) = (glide("stone"), glide("slime_block"), glide("ice"));
    assert!(stone < slime && slime < ice, "{stone} {slime} {ice}");
}

#[test]
fn a_jump_is_1_252_metres_high() {
    let mut world = floor();
    let mut highest: f64 = 0.0;
    hold(&mut world, &[Jump], 1);
    for _ in 0..20 {
        highest = highest.max(height(&world));
        rest(&mut world, 1);
    }
    near(highest, 1.252);
    near(height(&world), 0.0);
}

#[test]
fn a_held_jump_jumps_again_after_ten_ticks() {
    let mut world = floor();
    // So low that each jump ends at once.
    fill(&mut world, [120, FLOOR + 2, 120], [136, FLOOR + 2, 136], "stone");
    let mut starts = Vec::new();
    for tick in 0..40 {
        let was = height(&world);
        hold(&mut world, &[Jump], 1);
        if was == 0.0 && height(&world) > 0.0 {
            starts.push(tick);
        }
    }
    assert!(starts.windows(2).all(|pair| pair[1] - pair[0] == 10), "{starts:?}");
}

#[test]
fn a_block_needs_a_jump_and_two_cannot_be_climbed() {
    let mut world = floor();
    fill(&mut world, [120, FLOOR, 132], [136, FLOOR, 140], "stone");
    hold(&mut world, &[Forward], 40);
    near(height(&world), 0.0);
    hold(&mut world, &[Forward, Jump], 15);
    rest(&mut world, 20);
    near(height(&world), 1.0);
    fill(&mut world, [120, FLOOR + 1, 136], [136, FLOOR + 2, 140], "stone");
    hold(&mut world, &[Forward, Jump], 60);
    assert!(world.player().position[2] < 136.0);
}

#[test]
fn sneaking_stops_at_edges() {
    let mut world = floor();
    fill(&mut world, [98, FLOOR - 1, 130], [158, FLOOR - 1, 158], "air");
    hold(&mut world, &[Forward, Sneak], 100);
    near(height(&world), 0.0);
    assert!((130.2..130.31).contains(&world.player().position[2]), "{:?}", world.player().position);
    hold(&mut world, &[Forward], 10);
    assert!(height(&world) < 0.0);
}

#[test]
fn sprinting_ends_at_a_wall() {
    let mut world = floor();
    fill(&mut world, [120, FLOOR, 134], [136, FLOOR + 2, 134], "stone");
    hold(&mut world, &[Forward, Sprint], 5);
    assert!(world.player().is_sprinting);
    hold(&mut world, &[Forward], 40);
    assert!(!world.player().is_sprinting);
}

#[test]
fn falls_hurt_by_what_is_beyond_three_metres() {
    for (fall, health) in [(3, 20), (4, 19), (10, 13), (22, 1), (23, 0), (60, 0)] {
        let mut world = floor();
        // Too hungry to heal.
        world.set_needs(20, 17, 0);
        world.place_player([128.5, f64::from(FLOOR + fall), 128.5], 0, 0);
        rest(&mut world, 120);
        assert_eq!(world.player().health, health, "a fall of {fall}");
    }
}

#[test]
fn the_dead_do_nothing() {
    let mut world = floor();
    world.place_player([128.5, f64::from(FLOOR + 40), 128.5], 0, 0);
    rest(&mut world, 100);
    let position = world.player().position;
    hold(&mut world, &[Forward, Jump, Attack], 20);
    assert!(!world.player().is_alive());
    assert_eq!(world.player().position, position);
}

/// A pool of water, eight cells deep, in which the player is.
fn pool() -> World {
    let mut world = floor();
    fill(&mut world, [120, FLOOR, 120], [136, FLOOR + 7, 158], "stone");
    fill(&mut world, [121, FLOOR, 121], [135, FLOOR + 7, 135], "water");
    world.place_player([128.5, f64::from(FLOOR + 4), 128.5], 0, 0);
    world
}

#[test]
fn who_does_nothing_sinks_at_half_a_metre_a_second() {
    let mut world = pool();
    rest(&mut world, 30);
    let from = height(&world);
    rest(&mut world, 20);
    near(from - height(&world), 0.5);
}

#[test]
fn a_held_jump_swims_up_and_out() {
    let mut world = pool();
    hold(&mut world, &[Jump], 200);
    assert!(height(&world) > 6.9, "{}", height(&world));
    hold(&mut world, &[Jump, Forward], 110);
    rest(&mut world, 20);
    near(height(&world), 8.0);
}

#[test]
fn water_breaks_a_fall() {
    let mut world = pool();
    world.place_player([128.5, f64::from(FLOOR + 60), 128.5], 0, 0);
    rest(&mut world, 100);
    assert_eq!(world.player().health, 20);
}

#[test]
fn a_breath_lasts_300_ticks_and_then_two_points_go_every_20() {
    let mut world = pool();
    let mut losses = Vec::new();
    world.place_player([128.5, f64::from(FLOOR), 128.5], 0, 0);
    for tick in 1..=400 {
        let before = world.player().health;
        rest(&mut world, 1);
        if world.player().health < before {
            assert_eq!(before - world.player().health, 2);
            losses.push(tick);
        }
    }
    assert_eq!(losses, [320, 340, 360, 380, 400]);
}

#[test]
fn sprinting_under_water_swims_lying_down() {
    let mut world = pool();
    hold(&mut world, &[Forward, Sprint], 10);
    near(world.player().eyes()[1] - world.player().position[1], 0.4);
    assert!(world.player().is_sprinting);
}

/// A wall with a ladder in front of the player.
fn ladder() -> World {
    let mut world = floor();
    fill(&mut world, [128, FLOOR, 130], [128, FLOOR + 20, 130], "stone");
    let rung: WorldBlock = block("ladder").facing(Facing::North);
    for y in FLOOR..=FLOOR + 20 {
        world.set_block([128, y, 129], rung);
    }
    world
}

#[test]
fn ladders_are_climbed_at_2_35_metres_a_second() {
    let mut world = ladder();
    hold(&mut world, &[Forward], 30);
    let from = height(&world);
    hold(&mut world, &[Forward], 20);
    near(height(&world) - from, 2.352);
}

#[test]
fn ladders_are_slid_down_at_3_metres_a_second_and_sneaking_holds() {
    let mut world = ladder();
    hold(&mut world, &[Forward], 150);
    let from = height(&world);
    assert!(from > 10.0);
    rest(&mut world, 5);
    let from = height(&world);
    rest(&mut world, 20);
    near(from - height(&world), 3.0);
    let from = height(&world);
    hold(&mut world, &[Sneak], 20);
    assert!(from - height(&world) < 0.2);
    assert_eq!(world.player().health, 20);
}

#[test]
fn nobody_leaves_the_world() {
    let mut world = floor();
    fill(&mut world, [0, FLOOR - 1, 120], [255, FLOOR - 1, 136], "stone");
    world.place_player([3.5, f64::from(FLOOR), 128.5], 90_000, 0);
    for _ in 0..200 {
        world.step(&press(&[Forward, Sprint, Jump]));
    }
    near(world.player().position[0], 0.3);
}

#[test]
fn the_look_goes_straight_up_and_down_at_most_and_around_without_end() {
    let mut world = floor();
    for _ in 0..3 {
        world.step(&world::Action::default().look(-80.0, 170.0));
    }
    assert_eq!((world.player().pitch, world.player().yaw), (-90_000, 150_000));
}

/// A player in the middle of lava so deep, who is too hungry to heal.
fn in_lava(depth: i32) -> World {
    let mut world = floor();
    fill(&mut world, [120, FLOOR, 120], [136, FLOOR + depth - 1, 136], "lava");
    world.set_needs(20, 17, 0);
    world
}

#[test]
fn lava_costs_4_every_ten_ticks_until_death() {
    assert_eq!((LAVA_DAMAGE, LAVA_PAUSE), (4, 10));
    let mut world = in_lava(1);
    let mut health = Vec::new();
    for _ in 0..45 {
        rest(&mut world, 1);
        health.push(world.player().health);
    }
    let expected: Vec<i32> = (0..45).map(|tick| 20 - 4 * (tick / 10 + 1)).collect();
    assert_eq!(health, expected);
    assert!(!world.player().is_alive());
}

#[test]
fn leaving_lava_and_coming_back_at_once_does_not_hurt_twice() {
    let mut world = in_lava(1);
    rest(&mut world, 1);
    world.set_block([128, FLOOR, 128], block("air"));
    rest(&mut world, 3);
    world.set_block([128, FLOOR, 128], block("lava"));
    rest(&mut world, 6);
    assert_eq!(world.player().health, 16);
    rest(&mut world, 1);
    assert_eq!(world.player().health, 12);
}

#[test]
fn lava_leaves_half_of_each_speed_and_pulls_down_by_0_02() {
    assert_eq!((LAVA_DRAG, LAVA_GRAVITY, IN_LAVA), (0.5, 0.02, 0.02));
    let mut world = in_lava(8);
    world.place_player([128.5, f64::from(FLOOR) + 5.0, 128.5], 0, 0);
    hold(&mut world, &[Forward], 12);
    let [_, down, ahead] = world.player().velocity;
    // What is added in each tick is halved with the rest.
    near(ahead, 0.98 * IN_LAVA);
    near(down, -2.0 * LAVA_GRAVITY);
    let breath = world.player().air;
    assert_eq!(breath, 300, "lava takes no breath");
}

#[test]
fn one_swims_up_in_lava_and_hops_out_at_a_bank() {
    let mut world = in_lava(1);
    fill(&mut world, [120, FLOOR, 129], [136, FLOOR, 136], "stone");
    hold(&mut world, &[Forward, Jump], 35);
    let player = world.player();
    assert!(height(&world) > 0.9 && player.position[2] > 129.0 && player.is_alive(), "{player:?}");
}

#[test]
fn shallow_lava_keeps_0_8_of_what_goes_up_and_down() {
    assert_eq!((WADING, LAVA_DRAG_WADING), (0.4, 0.8));
    let mut world = in_lava(1);
    world.place_player([128.5, f64::from(FLOOR) + 0.6, 128.5], 0, 0);
    rest(&mut world, 1);
    near(world.player().velocity[1], -SINKING - LAVA_GRAVITY);
    rest(&mut world, 1);
    near(world.player().velocity[1], -(SINKING + LAVA_GRAVITY) * (1.0 + LAVA_DRAG_WADING));
}

#[test]
fn each_tick_in_lava_halves_a_fall() {
    assert!((LAVA_FALL - 0.5).abs() < 1e-9);
    let mut world = in_lava(2);
    world.place_player([128.5, f64::from(FLOOR) + 14.0, 128.5], 0, 0);
    while !world.player().is_on_ground {
        rest(&mut world, 1);
    }
    // Bare ground would leave 9, and lava itself takes 4.
    assert_eq!(world.player().health, 11);
}

#[test]
fn cobwebs_leave_a_quarter_of_moves_to_the_sides_and_a_twentieth_of_those_down() {
    assert_eq!((COBWEB, COBWEB_UPRIGHT), (0.25, 0.05));
    let mut world = floor();
    fill(&mut world, [120, FLOOR, 120], [136, FLOOR + 9, 136], "cobweb");
    let place = [128.5, f64::from(FLOOR) + 6.0, 128.5];
    world.place_player(place, 0, 0);
    hold(&mut world, &[Forward], 1);
    near(world.player().position[2] - place[2], 0.98 * IN_AIR * COBWEB);
    for _ in 0..20 {
        let from = world.player().position[1];
        rest(&mut world, 1);
        near(from - world.player().position[1], GRAVITY * DRAG_DOWN * COBWEB_UPRIGHT);
    }
    assert!(world.player().fall.abs() < 1e-9, "nobody falls in cobwebs");
}
