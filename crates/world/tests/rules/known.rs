//! States and pictures that are known: whatever changes them raises the engine's number.

use world::{Action, ENGINE, Frame, Scene, Terrain, World};

/// A number that follows another one.
fn next(number: &mut u64) -> u64 {
    *number = number.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    *number >> 33
}

fn mixed(sum: u64, number: u64) -> u64 {
    (sum.rotate_left(7) ^ number).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

/// The states and the pictures of 10,000 random steps.
fn walk(terrain: &Terrain, seed: u64) -> [u64; 2] {
    let (mut world, mut frame) = (World::new(terrain, seed), Frame::new(64, 64));
    let mut number = seed;
    let [mut states, mut pictures] = [0; 2];
    for step in 0..10_000 {
        let mut bytes = [0; 7];
        bytes.fill_with(|| next(&mut number) as u8);
        // Small turns, and no long looks at the ground.
        bytes[4] = 0;
        bytes[6] = (bytes[6] as i8 >> 6) as u8;
        world.step(&Action::from_bytes(bytes));
        if step % 1000 == 999 {
            states = mixed(states, world.hash());
            world.view(&mut frame);
            pictures = frame.rgb().iter().fold(pictures, |sum, byte| mixed(sum, u64::from(*byte)));
        }
    }
    [states, pictures]
}

#[test]
fn ten_thousand_random_steps_on_fifty_seeds_end_in_known_states_and_pictures() {
    let terrains: Vec<Terrain> =
        Scene::ALL.into_iter().flat_map(|scene| [scene.make(0), scene.make(1)]).collect();
    let [mut states, mut pictures] = [0; 2];
    for seed in 0..50 {
        let [state, picture] = walk(&terrains[seed % terrains.len()], seed as u64);
        (states, pictures) = (mixed(states, state), mixed(pictures, picture));
    }
    let known = ("buildoff-1.1", "caa82cb171c87c44", "0724bf0b1e2d8c86");
    assert_eq!((ENGINE, &format!("{states:016x}")[..], &format!("{pictures:016x}")[..]), known);
}
