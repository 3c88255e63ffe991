//! What is no cube: how bodies, looks and light meet it, and what its use does.

use world::action::Button::*;
use world::block::WorldBlock;
use world::body::{Aabb, is_free};
use world::{Action, Cell, World};

use super::{FLOOR, block, fill, floor, hold, near, press, rest};

fn state(text: &str) -> WorldBlock {
    WorldBlock::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// Puts a row of a block across the player's way, two cells ahead, in place of the last one.
fn put_row(world: &mut World, text: &str) {
    for x in 125..133 {
        world.set_block([x, FLOOR, 131], state(text));
    }
    world.place_player([128.5, f64::from(FLOOR), 128.5], 0, 0);
    rest(world, 2);
}

#[test]
fn what_is_low_is_stepped_on_and_what_is_high_stops() {
    let mut world = floor();
    for (text, walks, jumps) in [
        ("stone", false, true),
        ("oak_slab[type=bottom]", true, true),
        ("oak_slab[type=top]", false, true),
        ("oak_stairs[facing=south]", true, true),
        ("oak_stairs[facing=north]", false, true),
        ("red_carpet", true, true),
        ("snow[layers=1]", true, true),
        ("snow[layers=5]", true, true),
        ("snow[layers=7]", false, true),
        ("red_bed", true, true),
        ("cake", true, true),
        ("chest", false, true),
        ("enchanting_table", false, true),
        ("oak_fence", false, false),
        ("nether_brick_fence", false, false),
        ("cobblestone_wall", false, false),
        ("oak_fence_gate", false, false),
        ("oak_fence_gate[open=true]", true, true),
        ("oak_trapdoor", true, true),
        ("oak_trapdoor[open=true]", false, true),
        ("glass_pane", false, true),
        ("iron_bars", false, true),
        ("torch", true, true),
        ("poppy", true, true),
        ("oak_sign", true, true),
        ("lantern", true, true),
        ("cauldron", false, true),
        ("stonecutter", true, true),
        ("campfire", true, true),
    ] {
        put_row(&mut world, text);
        hold(&mut world, &[Forward], 30);
        assert_eq!(world.player().position[2] > 132.5, walks, "walking over {text}");
        put_row(&mut world, text);
        hold(&mut world, &[Forward, Jump], 40);
        assert_eq!(world.player().position[2] > 132.5, jumps, "jumping over {text}");
    }
}

#[test]
fn bodies_stand_as_high_as_the_box_below_them() {
    let mut world = floor();
    for (text, sixteenths) in [
        ("stone", 16),
        ("oak_slab[type=bottom]", 8),
        ("oak_slab[type=top]", 16),
        ("red_bed", 9),
        ("red_bed[part=head]", 9),
        ("white_carpet", 1),
        ("snow[layers=1]", 0),
        ("snow[layers=4]", 6),
        ("chest", 14),
        ("enchanting_table", 12),
        ("stonecutter", 9),
        ("cake", 8),
        ("campfire", 7),
        ("farmland", 15),
        ("grass_path", 15),
        ("cactus", 15),
        ("oak_fence", 24),
        ("oak_fence_gate", 24),
        ("oak_fence_gate[open=true]", 0),
        ("cobblestone_wall", 24),
        ("oak_trapdoor", 3),
        ("oak_trapdoor[half=top]", 16),
        ("lantern", 9),
        ("glass_pane", 16),
        ("anvil", 16),
        ("cauldron", 4),
        ("brewing_stand", 14),
        ("flower_pot", 6),
        ("torch", 0),
        ("tall_grass", 0),
        ("oak_sapling", 0),
    ] {
        world.set_block([128, FLOOR, 128], state(text));
        world.place_player([128.5, f64::from(FLOOR) + 2.0, 128.5], 0, 0);
        rest(&mut world, 30);
        let height = world.player().position[1] - f64::from(FLOOR);
        assert!((height * 16.0 - f64::from(sixteenths)).abs() < 0.001, "{text}: {}", height * 16.0);
    }
}

#[test]
fn what_is_climbed() {
    for text in ["ladder[facing=north]", "vine[facing=north]"] {
        let mut world = floor();
        fill(&mut world, [128, FLOOR, 130], [128, FLOOR + 9, 130], "stone");
        for y in FLOOR..FLOOR + 10 {
            world.set_block([128, y, 129], state(text));
        }
        hold(&mut world, &[Forward], 60);
        assert!(world.player().position[1] > f64::from(FLOOR) + 4.0, "{text}");
    }
}

/// Whether a thin body fits at a point of a cell, in sixteenths.
fn fits(world: &World, cell: Cell, [x, z]: [i32; 2]) -> bool {
    let at = |cell: i32, part: i32| f64::from(cell) + f64::from(part) / 16.0;
    let [x, y, z] = [at(cell[0], x), f64::from(cell[1]) + 0.2, at(cell[2], z)];
    is_free(world.volume(), Aabb { low: [x - 0.01, y, z - 0.01], high: [x + 0.01, y + 0.1, z + 0.01] })
}

#[test]
fn fences_panes_and_walls_join_what_stands_beside_them() {
    let mut world = floor();
    for (text, beside, joins) in [
        ("oak_fence", "air", false),
        ("oak_fence", "stone", true),
        ("oak_fence", "glass", true),
        ("oak_fence", "oak_leaves", false),
        ("oak_fence", "pumpkin", false),
        ("oak_fence", "acacia_fence", true),
        ("oak_fence", "nether_brick_fence", false),
        ("oak_fence", "glass_pane", false),
        ("oak_fence", "cobblestone_wall", false),
        ("oak_fence", "oak_fence_gate[facing=north]", true),
        ("oak_fence", "oak_fence_gate[facing=east]", false),
        ("oak_fence", "torch", false),
        ("oak_fence", "oak_slab[type=double]", true),
        ("oak_fence", "oak_slab[type=bottom]", false),
        ("oak_fence", "oak_stairs[facing=west]", true),
        ("oak_fence", "oak_stairs[facing=east]", false),
        ("glass_pane", "iron_bars", true),
        ("glass_pane", "white_stained_glass_pane", true),
        ("glass_pane", "stone", true),
        ("glass_pane", "oak_fence", false),
        ("glass_pane", "cobblestone_wall", true),
        ("iron_bars", "oak_planks", true),
        ("cobblestone_wall", "stone_brick_wall", true),
        ("cobblestone_wall", "iron_bars", true),
        ("cobblestone_wall", "oak_fence", false),
    ] {
        world.set_block([120, FLOOR, 120], state(text));
        world.set_block([121, FLOOR, 120], state(beside));
        assert_eq!(!fits(&world, [120, FLOOR, 120], [14, 8]), joins, "{text} beside {beside}");
        assert!(fits(&world, [120, FLOOR, 120], [2, 8]), "{text} away from {beside}");
        assert!(!fits(&world, [120, FLOOR, 120], [8, 8]), "the middle of {text}");
    }
}

#[test]
fn stairs_turn_at_corners() {
    // Stairs that go up to the north, with others to the north or south of them: is the corner to the north-west,
    // north-east, south-west and south-east high?
    for (north, south, corners) in [
        ("air", "air", [true, true, false, false]),
        ("oak_stairs[facing=west]", "air", [true, false, false, false]),
        ("oak_stairs[facing=east]", "air", [false, true, false, false]),
        ("air", "oak_stairs[facing=west]", [true, true, true, false]),
        ("air", "oak_stairs[facing=east]", [true, true, false, true]),
        ("air", "oak_stairs[facing=east,half=top]", [true, true, false, false]),
        ("oak_stairs[facing=north]", "stone", [true, true, false, false]),
    ] {
        let mut world = floor();
        let cell = [120, FLOOR, 120];
        world.set_block(cell, state("stone_stairs[facing=north]"));
        world.set_block([120, FLOOR, 119], state(north));
        world.set_block([120, FLOOR, 121], state(south));
        let is_high = |[x, z]: [f64; 2]| {
            let [x, y, z] = [120.0 + x, f64::from(FLOOR) + 0.7, 120.0 + z];
            !is_free(world.volume(), Aabb { low: [x - 0.1, y, z - 0.1], high: [x + 0.1, y + 0.1, z + 0.1] })
        };
        let found = [[0.25, 0.25], [0.75, 0.25], [0.25, 0.75], [0.75, 0.75]].map(is_high);
        assert_eq!(found, corners, "north: {north}, south: {south}");
    }
}

/// A door two cells ahead of the player, who looks at it.
fn before(text: &str, upper: Option<&str>) -> World {
    let mut world = floor();
    for (y, text) in [(FLOOR, Some(text)), (FLOOR + 1, upper)] {
        if let Some(text) = text {
            world.set_block([128, y, 130], state(text));
        }
    }
    world.step(&Action::default().look(if upper.is_some() { 0.0 } else { 32.0 }, 0.0));
    world
}

#[test]
fn doors_and_gates_open_and_close_by_a_use_of_any_part() {
    for (text, upper, opens) in [
        ("oak_door[facing=south]", Some("oak_door[facing=south,half=upper]"), true),
        ("acacia_door[facing=south]", Some("acacia_door[facing=south,half=upper]"), true),
        ("iron_door[facing=south]", Some("iron_door[facing=south,half=upper]"), false),
        ("oak_fence_gate[facing=south]", None, true),
        ("oak_trapdoor", None, true),
        ("iron_trapdoor", None, false),
        ("stone", None, false),
    ] {
        let mut world = before(text, upper);
        let is_open = |world: &World| {
            [FLOOR, FLOOR + 1].map(|y| world.volume().block([128, y, 130]).is("open", "true"))
        };
        // The hand is empty of blocks.
        assert!(world.step(&press(&[Use])).is_empty());
        assert_eq!(is_open(&world), [opens, opens && upper.is_some()], "{text}");
        // An open door stands to the left.
        world.step(&Action::default().look(0.0, -11.0));
        assert!(world.target().is_some_and(|target| target.cell[2] == 130), "{text} cannot be met");
        world.step(&press(&[Use]));
        assert_eq!(is_open(&world), [false, false], "{text}");
    }
}

#[test]
fn a_door_stops_whoever_walks_until_it_is_open() {
    for (open, passes) in [("false", false), ("true", true)] {
        let half = |half| format!("oak_door[facing=south,open={open},half={half}]");
        let mut world = before(&half("lower"), Some(&half("upper")));
        fill(&mut world, [127, FLOOR, 130], [127, FLOOR + 1, 130], "stone");
        fill(&mut world, [129, FLOOR, 130], [129, FLOOR + 1, 130], "stone");
        hold(&mut world, &[Forward], 30);
        assert_eq!(world.player().position[2] > 131.3, passes, "open={open}");
    }
}

#[test]
fn who_sneaks_puts_a_block_before_a_door_and_leaves_it_closed() {
    let mut world = before("oak_door[facing=south]", Some("oak_door[facing=south,half=upper]"));
    world.step(&Action::default().choose(4));
    hold(&mut world, &[Sneak], 2);
    hold(&mut world, &[Sneak, Use], 1);
    assert!(!world.volume().block([128, FLOOR, 130]).is("open", "true"));
    assert_eq!(world.volume().block([128, FLOOR + 1, 129]), block("cobblestone"));
}

#[test]
fn a_gate_opens_away_from_who_opens_it() {
    for facing in ["north", "south"] {
        let mut world = before(&format!("oak_fence_gate[facing={facing}]"), None);
        world.step(&press(&[Use]));
        assert_eq!(
            world.volume().block([128, FLOOR, 130]),
            state("oak_fence_gate[facing=south,open=true]"),
            "{facing}"
        );
    }
}

#[test]
fn looks_meet_outlines_and_go_through_gaps() {
    let mut world = floor();
    // Straight ahead, at the height of the eyes, and down at the foot.
    for (text, pitch, is_met) in [
        ("stone", 0, false),
        ("stone", 28_000, true),
        ("oak_fence", 28_000, true),
        ("poppy", 35_000, true),
        ("torch", 35_000, true),
        ("red_carpet", 37_000, true),
        ("water", 30_000, false),
        ("fire", 30_000, false),
    ] {
        world.set_block([128, FLOOR, 130], state(text));
        world.place_player([128.5, f64::from(FLOOR), 128.5], 0, pitch);
        let met = world.target().is_some_and(|target| target.cell == [128, FLOOR, 130]);
        assert_eq!(met, is_met, "{text}");
    }
}

#[test]
fn emitters_shine_as_they_do_in_minecraft() {
    let mut world = floor();
    for (text, light) in [
        ("torch", 14),
        ("wall_torch", 14),
        ("soul_torch", 10),
        ("soul_wall_torch", 10),
        ("lantern", 15),
        ("soul_lantern", 10),
        ("glowstone", 15),
        ("sea_lantern", 15),
        ("jack_o_lantern", 15),
        ("carved_pumpkin", 0),
        ("furnace", 0),
        ("furnace[lit=true]", 13),
        ("redstone_lamp", 0),
        ("redstone_lamp[lit=true]", 15),
        ("campfire", 15),
        ("campfire[lit=false]", 0),
        ("soul_campfire", 10),
        ("lava", 15),
        ("fire", 15),
        ("magma_block", 3),
        ("shroomlight", 15),
        ("end_rod", 14),
        ("ender_chest", 7),
        ("brewing_stand", 1),
        ("crying_obsidian", 10),
        ("nether_portal", 11),
        ("brown_mushroom", 1),
        ("oak_planks", 0),
    ] {
        assert_eq!(state(text).state().light, light, "{text}");
        world.set_block([128, FLOOR, 133], state(text));
        assert_eq!(world.volume().light([128, FLOOR, 133]).block(), light, "{text}");
    }
}

#[test]
fn a_roof_of_slabs_keeps_the_sky_out_and_one_of_panes_does_not() {
    let mut world = floor();
    fill(&mut world, [119, FLOOR, 119], [121, FLOOR + 3, 121], "stone");
    fill(&mut world, [120, FLOOR, 120], [120, FLOOR + 3, 120], "air");
    for (text, sky) in [
        ("oak_slab[type=bottom]", 0),
        ("oak_slab[type=top]", 0),
        ("oak_slab[type=double]", 0),
        ("oak_stairs", 0),
        ("glass_pane", 15),
        ("oak_fence", 15),
        ("glass", 15),
        ("oak_planks", 0),
    ] {
        world.set_block([120, FLOOR + 3, 120], state(text));
        assert_eq!(world.volume().light([120, FLOOR, 120]).sky(), sky, "{text}");
    }
}

#[test]
fn facts_are_those_of_minecraft() {
    use world::block::ToolKind::{self, *};
    let facts: [(&str, f64, Option<ToolKind>, Option<u8>); 30] = [
        ("oak_door", 3.0, Some(Axe), None),
        ("iron_door", 5.0, Some(Pickaxe), Some(0)),
        ("oak_fence", 2.0, Some(Axe), None),
        ("acacia_fence_gate", 2.0, Some(Axe), None),
        ("oak_slab", 2.0, Some(Axe), None),
        ("stone_brick_slab", 2.0, Some(Pickaxe), Some(0)),
        ("stone_brick_stairs", 1.5, Some(Pickaxe), Some(0)),
        ("cobblestone_wall", 2.0, Some(Pickaxe), Some(0)),
        ("glass_pane", 0.3, None, None),
        ("iron_bars", 5.0, Some(Pickaxe), Some(0)),
        ("red_bed", 0.2, None, None),
        ("red_carpet", 0.1, None, None),
        ("cyan_wool", 0.8, Some(Shears), None),
        ("chest", 2.5, Some(Axe), None),
        ("furnace", 3.5, Some(Pickaxe), Some(0)),
        ("enchanting_table", 5.0, Some(Pickaxe), Some(0)),
        ("bookshelf", 1.5, Some(Axe), None),
        ("cake", 0.5, None, None),
        ("pumpkin", 1.0, Some(Axe), None),
        ("melon", 1.0, Some(Axe), None),
        ("hay_block", 0.5, Some(Hoe), None),
        ("snow", 0.1, Some(Shovel), Some(0)),
        ("cobweb", 4.0, Some(Sword), Some(0)),
        ("cactus", 0.4, None, None),
        ("terracotta", 1.25, Some(Pickaxe), Some(0)),
        ("red_concrete", 1.8, Some(Pickaxe), Some(0)),
        ("gold_block", 3.0, Some(Pickaxe), Some(2)),
        ("lantern", 3.5, Some(Pickaxe), Some(0)),
        ("tall_grass", 0.0, None, None),
        ("beehive", 0.6, Some(Axe), None),
    ];
    for (id, hardness, tool, tier) in facts {
        let kind = block(id).kind();
        assert_eq!((kind.hardness, kind.tool, kind.tier), (Some(hardness), tool, tier), "{id}");
    }
    for id in ["lava", "water", "bedrock", "nether_portal"] {
        assert_eq!(block(id).kind().hardness, None, "{id}");
    }
}

#[test]
fn a_body_may_stand_between_the_posts_of_an_open_gate() {
    let mut world = floor();
    put_row(&mut world, "oak_fence_gate[open=true]");
    hold(&mut world, &[Forward], 40);
    near(world.player().position[1], f64::from(FLOOR));
}
