//! What falls out of blocks.

use world::action::Button::*;
use world::{EventKind, Terrain, World};

use super::{FLOOR, before, block, clear_hands, floor, hold, lying, of_kind, press, rest, stack};

/// The same world with another seed.
fn with_seed(world: &World, seed: u64) -> World {
    let terrain = Terrain { volume: world.volume().clone(), start: world.player().position, yaw: 0 };
    World::new(&terrain, seed)
}

/// What falls out of the block ahead when it is broken.
fn mine(mut world: World, tool: Option<&str>) -> Vec<(&'static str, u8)> {
    clear_hands(&mut world);
    world.set_slot(0, tool.map(|tool| stack(tool, 1)));
    rest(&mut world, 2);
    for _ in 0..1200 {
        let events = world.step(&press(&[Attack]));
        if !of_kind(&events, EventKind::MineBlock).is_empty() {
            return lying(&world);
        }
    }
    panic!("the block does not break");
}

#[test]
fn blocks_drop_what_they_should_and_nothing_to_the_wrong_tool() {
    for (id, tool, drops) in [
        ("stone", None, &[][..]),
        ("stone", Some("wooden_pickaxe"), &[("cobblestone", 1)]),
        ("stone", Some("iron_axe"), &[]),
        ("dirt", None, &[("dirt", 1)]),
        ("grass_block", None, &[("dirt", 1)]),
        ("oak_log", None, &[("oak_log", 1)]),
        ("clay", None, &[("clay_ball", 4)]),
        ("glass", Some("iron_pickaxe"), &[]),
        ("ice", Some("iron_pickaxe"), &[]),
        ("coal_ore", Some("wooden_pickaxe"), &[("coal", 1)]),
        ("iron_ore", Some("wooden_pickaxe"), &[]),
        ("iron_ore", Some("stone_pickaxe"), &[("iron_ore", 1)]),
        ("diamond_ore", Some("stone_pickaxe"), &[]),
        ("diamond_ore", Some("iron_pickaxe"), &[("diamond", 1)]),
        ("obsidian", Some("diamond_pickaxe"), &[("obsidian", 1)]),
        ("snow_block", Some("iron_shovel"), &[("snowball", 4)]),
        ("oak_leaves", Some("shears"), &[("oak_leaves", 1)]),
        ("grass", Some("shears"), &[("grass", 1)]),
        ("white_wool", None, &[("white_wool", 1)]),
        ("cobweb", Some("shears"), &[("cobweb", 1)]),
        ("cobweb", Some("iron_sword"), &[("string", 1)]),
        ("cobweb", None, &[]),
        ("poppy", None, &[("poppy", 1)]),
        ("torch", None, &[("torch", 1)]),
    ] {
        assert_eq!(mine(before(id), tool), drops, "{id} with {tool:?}");
    }
}

#[test]
fn grass_leaves_gravel_and_lapis_drop_by_their_chances() {
    // The chances of 250 seeds, in hundredths, with room for luck.
    for (id, tool, drop, from, to) in [
        ("grass", None, "wheat_seeds", 8, 18),
        ("oak_leaves", None, "oak_sapling", 2, 9),
        ("gravel", None, "flint", 6, 15),
        ("gravel", None, "gravel", 85, 94),
        ("lapis_ore", Some("iron_pickaxe"), "lapis_lazuli", 600, 700),
    ] {
        let ready = before(id);
        let count: u32 = (0..250)
            .flat_map(|seed| mine(with_seed(&ready, seed), tool))
            .filter(|(id, _)| *id == drop)
            .map(|(_, count)| u32::from(count))
            .sum();
        assert!((from * 5 / 2..=to * 5 / 2).contains(&count), "{id} dropped {drop} {count} times of 250");
    }
}

#[test]
fn dice_depend_on_the_seed_the_cell_and_the_tick_and_on_nothing_else() {
    let ready = before("grass");
    let seeds = |seed, waited, walks| {
        let mut world = with_seed(&ready, seed);
        hold(&mut world, if walks { &[Left] } else { &[] }, 1);
        rest(&mut world, waited);
        world.break_naturally([128, FLOOR + 1, 132]);
        lying(&world)
    };
    for seed in 0..20 {
        assert_eq!(seeds(seed, 3, false), seeds(seed, 3, true));
    }
    let differ = |other: &dyn Fn(u64) -> Vec<(&'static str, u8)>| {
        (0..60).any(|seed| seeds(seed, 3, false) != other(seed))
    };
    assert!(differ(&|seed| seeds(seed + 1000, 3, false)) && differ(&|seed| seeds(seed, 4, false)));
}

#[test]
fn what_loses_its_support_drops_and_what_a_hand_cannot_get_does_so_too() {
    let mut world = floor();
    world.set_block([128, FLOOR + 1, 135], block("torch"));
    world.set_block([128, FLOOR, 135], block("stone"));
    world.set_block([128, FLOOR, 135], block("air"));
    assert_eq!(lying(&world), [("torch", 1)]);
    world.set_block([128, FLOOR, 136], block("cobblestone"));
    world.break_naturally([128, FLOOR, 136]);
    world.break_naturally([128, FLOOR, 136]);
    assert_eq!(lying(&world), [("torch", 1), ("cobblestone", 1)]);
}
