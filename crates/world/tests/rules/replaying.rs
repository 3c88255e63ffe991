//! The same actions give the same states and pictures.

use std::sync::LazyLock;

use proptest::prelude::*;
use world::{Action, Frame, SIZE, Scene, Simd, Terrain, World};

static MEADOW: LazyLock<Terrain> = LazyLock::new(|| Scene::Meadow.make(3));

fn actions() -> impl Strategy<Value = Vec<Action>> {
    prop::collection::vec(any::<[u8; 7]>().prop_map(Action::from_bytes), 1..200)
}

fn run(world: &mut World, actions: &[Action]) -> Vec<u64> {
    let step = |action| {
        world.step(action);
        world.hash()
    };
    actions.iter().map(step).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]
    #[test]
    fn the_same_actions_give_the_same_states(actions in actions(), seed: u64) {
        let mut world = World::new(&MEADOW, seed);
        let mut copy = world.clone();
        prop_assert_eq!(run(&mut world, &actions), run(&mut copy, &actions));
    }

    #[test]
    fn no_action_leaves_the_bounds(actions in actions()) {
        let mut world = World::new(&MEADOW, 7);
        for action in &actions {
            for _ in 0..3 {
                world.step(action);
            }
            let player = world.player();
            let [x, y, z] = player.position;
            prop_assert!(y.is_finite() && player.velocity.iter().all(|part| part.is_finite()));
            prop_assert!((0.0..=f64::from(SIZE[0])).contains(&x) && (0.0..=f64::from(SIZE[2])).contains(&z));
            prop_assert!((-90_000..=90_000).contains(&player.pitch) && (0..360_000).contains(&player.yaw));
        }
    }

    #[test]
    fn pictures_are_the_same_whatever_the_processor_has(actions in actions()) {
        let mut world = World::new(&MEADOW, 7);
        let (mut best, mut plain) = (Frame::new(64, 64), Frame::new(64, 64));
        for action in actions.iter().take(20) {
            world.step(action);
            world.view_with(&mut best, Simd::Detected);
            world.view_with(&mut plain, Simd::Baseline);
            prop_assert!(best.rgb() == plain.rgb());
        }
    }
}

#[test]
fn a_copy_goes_its_own_way() {
    let mut world = World::new(&MEADOW, 1);
    run(&mut world, &[Action::default(); 10]);
    let kept = world.clone();
    let hash = kept.hash();
    run(&mut world, &[Action::default().press(world::action::Button::Forward); 10]);
    assert_ne!(world.hash(), hash);
    assert_eq!(kept.hash(), hash);
}

#[test]
fn scenes_are_made_alike_and_their_starts_are_free() {
    for scene in Scene::ALL {
        let (one, other) = (scene.make(2), scene.make(2 + world::TERRAINS));
        assert_eq!(one.volume.hash(), other.volume.hash(), "{scene}");
        let mut world = World::new(&one, 0);
        assert!(world::body::is_free(world.volume(), world.player().bounds()), "{scene}");
        run(&mut world, &[Action::default(); 20]);
        assert!(world.player().is_on_ground && world.player().health == 20, "{scene}");
    }
}
