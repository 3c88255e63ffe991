//! What is thrown.

use world::action::Button::*;
use world::body::Aabb;
use world::throw::constants::*;
use world::{Action, Body, EventKind, Terrain, ThrownBody, ThrownKind, World};

use super::{FLOOR, block, clear_hands, fill, floor, hold, near, press, rest, stack};

fn ready(count: u8) -> World {
    let mut world = floor();
    clear_hands(&mut world);
    world.set_slot(0, Some(stack("snowball", count)));
    rest(&mut world, 1);
    world
}

fn thrown(world: &World) -> Vec<ThrownBody> {
    world.things().thrown().to_vec()
}

#[test]
fn a_held_use_throws_a_snowball_every_four_ticks_and_uses_it_up() {
    let mut world = ready(3);
    world.step(&Action::default().look(-60.0, 0.0));
    let mut used = Vec::new();
    for tick in 0..20 {
        for event in world.step(&press(&[Use])) {
            assert_eq!((event.kind, event.object, event.count), (EventKind::UseItem, "snowball", 1));
            used.push(tick);
        }
    }
    assert_eq!(used, [0, 4, 8]);
    assert_eq!((world.held(), thrown(&world).len()), (None, 3));
}

#[test]
fn a_snowball_flies_at_1_5_with_a_gravity_of_0_03_and_a_drag_of_0_99() {
    let mut world = ready(1);
    world.step(&Action::default().look(-45.0, 0.0));
    let [x, y, z] = world.player().eyes();
    world.step(&press(&[Use]));
    let mut ball = thrown(&world)[0].clone();
    // One tick has passed for it.
    let start = [x, y - BELOW_EYES, z];
    let velocity = [0, 1, 2].map(|axis| ball.position[axis] - start[axis]);
    let speed = velocity.iter().map(|part| part * part).sum::<f64>().sqrt();
    assert!((speed - 1.5).abs() < 0.06 && (velocity[1] - velocity[2]).abs() < 0.1, "{velocity:?}");
    near(ball.velocity[1], velocity[1] * 0.99 - 0.03);
    for _ in 0..25 {
        rest(&mut world, 1);
        let now = thrown(&world)[0].clone();
        for axis in 0..3 {
            near(now.position[axis], ball.position[axis] + ball.velocity[axis]);
            let down = if axis == 1 { 0.03 } else { 0.0 };
            near(now.velocity[axis], ball.velocity[axis] * 0.99 - down);
        }
        ball = now;
    }
}

#[test]
fn throws_stray_by_0_0075_as_a_bell_does() {
    let volume = floor().volume().clone();
    let terrain = Terrain { volume, start: [128.5, f64::from(FLOOR), 128.5], yaw: 0 };
    let strays: Vec<f64> = (0..200)
        .map(|seed| {
            let mut world = World::new(&terrain, seed);
            clear_hands(&mut world);
            world.set_slot(0, Some(stack("snowball", 1)));
            rest(&mut world, 2);
            world.step(&press(&[Use]));
            (thrown(&world)[0].position[0] - 128.5) / ThrownKind::Snowball.speed()
        })
        .collect();
    let spread = (strays.iter().map(|stray| stray * stray).sum::<f64>() / 200.0).sqrt();
    assert!((0.006..0.009).contains(&spread), "{spread}");
}

#[test]
fn a_snowball_keeps_0_8_of_its_speed_in_water() {
    let mut world = ready(1);
    fill(&mut world, [126, FLOOR + 1, 129], [130, FLOOR + 1, 140], "water");
    hold(&mut world, &[Use], 1);
    let first = thrown(&world)[0].clone();
    rest(&mut world, 1);
    near(thrown(&world)[0].velocity[2], first.velocity[2] * 0.8);
}

#[test]
fn a_snowball_vanishes_on_blocks_and_bodies_and_not_on_plants() {
    let flies = |prepare: &dyn Fn(&mut World)| {
        let mut world = ready(1);
        prepare(&mut world);
        hold(&mut world, &[Use], 1);
        rest(&mut world, 4);
        !thrown(&world).is_empty()
    };
    let body = Aabb::standing([128.5, f64::from(FLOOR), 133.0], 0.6, 1.8);
    assert!(flies(&|_| {}));
    assert!(flies(&|world| world.set_block([128, FLOOR + 1, 132], block("grass"))));
    assert!(!flies(&|world| fill(world, [127, FLOOR, 132], [129, FLOOR + 3, 132], "stone")));
    assert!(!flies(&|world| world.add_body(Body { bounds: body, colour: [200; 3] })));
}

#[test]
fn every_kind_that_is_thrown_has_an_item() {
    for kind in ThrownKind::ALL {
        assert_eq!(ThrownKind::of(world::ItemId::of(kind.id()).unwrap()), Some(kind));
    }
}
