use super::*;
use crate::angle::direction;
use crate::support::{change, change_all};

const CELL: Cell = [20, 20, 20];

/// A floor of a block at y = 19, with a wall of it at z = 21 and a ceiling at y = 21.
fn room(of: &str) -> Volume {
    let mut volume = Volume::empty();
    let block = WorldBlock::of(of).unwrap();
    for x in 10..30 {
        for along in 10..30 {
            volume.replace([x, 19, along], block);
            volume.replace([x, 23, along], block);
            volume.replace([x, along + 10, 22], block);
        }
    }
    volume
}

/// Where a look from the north, a little from above, meets a face of a cell, at a height in it.
fn against(cell: Cell, face: [i32; 3], height: f64, yaw: i32, pitch: i32) -> PlacementContext {
    let mut point = cell.map(|at| f64::from(at) + 0.5);
    for axis in 0..3 {
        point[axis] += f64::from(face[axis]) / 2.0;
    }
    if face[1] == 0 {
        point[1] = f64::from(cell[1]) + height;
    }
    let target = Target { cell, face, point, distance: 1.0 };
    PlacementContext { target, yaw, look: direction(yaw, pitch) }
}

fn put(volume: &Volume, item: &str, context: &PlacementContext) -> String {
    let block = block_of_item(item).unwrap_or_else(|| panic!("{item} puts no block"));
    match placement(volume, block, context) {
        Some(cells) => cells.iter().map(|(_, block)| block.to_string()).collect::<Vec<_>>().join(" "),
        None => "nothing".to_owned(),
    }
}

#[test]
fn each_kind_takes_the_state_of_the_face_it_is_put_against() {
    let volume = room("stone");
    // Looking to the south: down at the floor, straight at the wall high and low, and up at the ceiling.
    let floor = against([20, 19, 20], [0, 1, 0], 1.0, 0, 40_000);
    let high = against([20, 21, 22], [0, 0, -1], 0.8, 0, 0);
    let low = against([20, 21, 22], [0, 0, -1], 0.2, 0, 0);
    let ceiling = against([20, 23, 20], [0, -1, 0], 0.0, 0, -40_000);
    for (item, on_floor, at_wall, at_low_wall, at_ceiling) in [
        ("stone", "stone", "stone", "stone", "stone"),
        ("oak_log", "oak_log[axis=y]", "oak_log[axis=z]", "oak_log[axis=z]", "oak_log[axis=y]"),
        ("torch", "torch", "wall_torch[facing=north]", "wall_torch[facing=north]", "nothing"),
        (
            "soul_torch",
            "soul_torch",
            "soul_wall_torch[facing=north]",
            "soul_wall_torch[facing=north]",
            "nothing",
        ),
        ("lantern", "lantern[hanging=false]", "nothing", "nothing", "lantern[hanging=true]"),
        ("ladder", "nothing", "ladder[facing=north]", "ladder[facing=north]", "nothing"),
        (
            "oak_slab",
            "oak_slab[type=bottom]",
            "oak_slab[type=top]",
            "oak_slab[type=bottom]",
            "oak_slab[type=top]",
        ),
        (
            "oak_stairs",
            "oak_stairs[facing=south,half=bottom]",
            "oak_stairs[facing=south,half=top]",
            "oak_stairs[facing=south,half=bottom]",
            "oak_stairs[facing=south,half=top]",
        ),
        (
            "oak_trapdoor",
            "oak_trapdoor[facing=north,half=bottom,open=false]",
            "oak_trapdoor[facing=north,half=top,open=false]",
            "oak_trapdoor[facing=north,half=bottom,open=false]",
            "oak_trapdoor[facing=north,half=top,open=false]",
        ),
        ("white_carpet", "white_carpet", "nothing", "nothing", "nothing"),
        ("snow", "snow[layers=1]", "nothing", "nothing", "nothing"),
        (
            "furnace",
            "furnace[facing=north,lit=false]",
            "furnace[facing=north,lit=false]",
            "furnace[facing=north,lit=false]",
            "furnace[facing=north,lit=false]",
        ),
        ("chest", "chest[facing=north]", "chest[facing=north]", "chest[facing=north]", "chest[facing=north]"),
        ("anvil", "anvil[facing=west]", "anvil[facing=west]", "anvil[facing=west]", "anvil[facing=west]"),
        (
            "barrel",
            "barrel[facing=north,open=false]",
            "barrel[facing=north,open=false]",
            "barrel[facing=north,open=false]",
            "barrel[facing=north,open=false]",
        ),
        (
            "end_rod",
            "end_rod[facing=up]",
            "end_rod[facing=north]",
            "end_rod[facing=north]",
            "end_rod[facing=down]",
        ),
        (
            "oak_fence_gate",
            "oak_fence_gate[facing=south,open=false]",
            "oak_fence_gate[facing=south,open=false]",
            "oak_fence_gate[facing=south,open=false]",
            "oak_fence_gate[facing=south,open=false]",
        ),
        ("oak_fence", "oak_fence", "oak_fence", "oak_fence", "oak_fence"),
        (
            "oak_sign",
            "oak_sign[rotation=8]",
            "oak_wall_sign[facing=north]",
            "oak_wall_sign[facing=north]",
            "nothing",
        ),
        (
            "campfire",
            "campfire[facing=south,lit=true]",
            "campfire[facing=south,lit=true]",
            "campfire[facing=south,lit=true]",
            "campfire[facing=south,lit=true]",
        ),
        ("poppy", "nothing", "nothing", "nothing", "nothing"),
        ("cake", "cake[bites=0]", "nothing", "nothing", "nothing"),
        ("flower_pot", "flower_pot", "flower_pot", "flower_pot", "flower_pot"),
        (
            "red_bed",
            "red_bed[part=foot,facing=south] red_bed[part=head,facing=south]",
            "nothing",
            "nothing",
            "red_bed[part=foot,facing=south] red_bed[part=head,facing=south]",
        ),
    ] {
        let found = [&floor, &high, &low, &ceiling].map(|context| put(&volume, item, context));
        assert_eq!(found, [on_floor, at_wall, at_low_wall, at_ceiling], "{item}");
    }
}

#[test]
fn plants_want_their_ground() {
    for (item, grounds) in [
        ("poppy", "dirt grass_block podzol coarse_dirt farmland"),
        ("oak_sapling", "dirt grass_block podzol coarse_dirt farmland"),
        ("tall_grass", "dirt grass_block podzol coarse_dirt farmland"),
        ("dead_bush", "dirt grass_block podzol coarse_dirt sand red_sand terracotta red_terracotta"),
        ("cactus", "sand red_sand"),
        ("wheat_seeds", "farmland"),
        ("nether_wart", "soul_sand"),
        ("sugar_cane", ""),
        ("lily_pad", ""),
        (
            "brown_mushroom",
            "dirt grass_block podzol coarse_dirt sand red_sand terracotta red_terracotta soul_sand stone glass",
        ),
    ] {
        for ground in [
            "dirt",
            "grass_block",
            "podzol",
            "coarse_dirt",
            "farmland",
            "sand",
            "red_sand",
            "terracotta",
            "red_terracotta",
            "soul_sand",
            "stone",
            "glass",
            "oak_leaves",
        ] {
            let mut volume = Volume::empty();
            volume.replace([20, 19, 20], WorldBlock::of(ground).unwrap());
            let found = put(&volume, item, &against([20, 19, 20], [0, 1, 0], 1.0, 0, 40_000));
            assert_eq!(found != "nothing", grounds.split(' ').any(|id| id == ground), "{item} on {ground}");
        }
    }
}

#[test]
fn a_cane_wants_water_beside_its_ground() {
    let mut volume = room("sand");
    let floor = against([20, 19, 20], [0, 1, 0], 1.0, 0, 40_000);
    assert_eq!(put(&volume, "sugar_cane", &floor), "nothing");
    volume.replace([21, 19, 20], WorldBlock::of("water").unwrap());
    assert_eq!(put(&volume, "sugar_cane", &floor), "sugar_cane");
    volume.replace(CELL, WorldBlock::of("sugar_cane").unwrap());
    assert_eq!(put(&volume, "sugar_cane", &against(CELL, [0, 1, 0], 1.0, 0, 40_000)), "sugar_cane");
}

#[test]
fn what_holds_torches_is_whole_or_has_a_middle() {
    for (ground, holds_torch, holds_carpet, holds_door) in [
        ("stone", true, true, true),
        ("glass", true, true, true),
        ("oak_leaves", false, true, false),
        ("oak_fence", true, true, false),
        ("cobblestone_wall", true, true, false),
        ("oak_slab[type=bottom]", false, true, false),
        ("oak_slab[type=top]", true, true, true),
        ("oak_stairs[half=bottom]", false, true, false),
        ("oak_stairs[half=top]", true, true, true),
        ("chest", false, true, false),
        ("poppy", false, true, false),
        ("air", false, false, false),
    ] {
        let mut volume = Volume::empty();
        volume.replace([20, 19, 20], WorldBlock::parse(ground).unwrap());
        let holds = |id| has_support(&volume, CELL, WorldBlock::of(id).unwrap());
        let found = (holds("torch"), holds("white_carpet"), holds("oak_door"));
        assert_eq!(found, (holds_torch, holds_carpet, holds_door), "{ground}");
    }
}

#[test]
fn slabs_join_to_a_whole_block_and_snow_grows() {
    let mut volume = room("stone");
    let top_of = |cell| against(cell, [0, 1, 0], 1.0, 0, 40_000);
    for (old, item, found) in [
        ("oak_slab[type=bottom]", "oak_slab", "oak_slab[type=double]"),
        ("snow[layers=3]", "snow", "snow[layers=4]"),
    ] {
        volume.replace(CELL, WorldBlock::parse(old).unwrap());
        assert_eq!(put(&volume, item, &top_of(CELL)), found);
        // Against the floor beside it, from where the cell is met.
        assert_eq!(put(&volume, item, &against([20, 19, 20], [0, 1, 0], 1.0, 0, 0)), found);
    }
    volume.replace(CELL, WorldBlock::parse("oak_slab[type=bottom]").unwrap());
    assert_eq!(put(&volume, "stone_slab", &top_of([20, 19, 20])), "nothing");
    volume.replace(CELL, WorldBlock::parse("snow[layers=1]").unwrap());
    assert_eq!(put(&volume, "stone", &top_of(CELL)), "stone", "thin snow gives way");
    volume.replace(CELL, WorldBlock::parse("snow[layers=2]").unwrap());
    let cells = placement(&volume, WorldBlock::of("stone").unwrap(), &top_of(CELL)).unwrap();
    assert_eq!(cells[0].0, [20, 21, 20], "thick snow does not");
}

#[test]
fn doors_have_their_hinges_at_walls_and_pairs_open_in_the_middle() {
    let floor = against([20, 19, 20], [0, 1, 0], 1.0, 0, 40_000);
    let hinge = |around: &[(Cell, &str)]| {
        let mut volume = room("stone");
        for (cell, text) in around {
            volume.replace(*cell, WorldBlock::parse(text).unwrap());
        }
        let cells = placement(&volume, WorldBlock::of("oak_door").unwrap(), &floor).unwrap();
        assert_eq!(cells.len(), 2);
        cells[0].1.property("hinge").unwrap()
    };
    // Looking south, east is to the left.
    assert_eq!(hinge(&[([21, 20, 20], "stone")]), "left");
    assert_eq!(hinge(&[([19, 20, 20], "stone")]), "right");
    assert_eq!(hinge(&[([21, 20, 20], "oak_door[facing=south]")]), "right");
    assert_eq!(hinge(&[]), "left");
}

#[test]
fn two_cells_need_room_for_both() {
    let mut volume = room("grass_block");
    let floor = against([20, 19, 20], [0, 1, 0], 1.0, 0, 40_000);
    for item in ["oak_door", "tall_grass", "sunflower"] {
        volume.replace([20, 21, 20], WorldBlock::of("stone").unwrap());
        assert_eq!(put(&volume, item, &floor), "nothing");
        volume.replace([20, 21, 20], WorldBlock::AIR);
        assert_ne!(put(&volume, item, &floor), "nothing");
    }
}

#[test]
fn halves_break_together() {
    for (item, ground) in [("oak_door", "stone"), ("red_bed", "stone"), ("sunflower", "grass_block")] {
        for part in 0..2 {
            let mut volume = room(ground);
            let floor = against([20, 19, 19], [0, 1, 0], 1.0, 0, 40_000);
            let cells = placement(&volume, WorldBlock::of(item).unwrap(), &floor).unwrap();
            assert!(change_all(&mut volume, &cells).is_empty(), "{item}");
            assert_eq!(volume.block(cells[1].0), cells[1].1);
            let broken = change(&mut volume, cells[part].0, WorldBlock::AIR);
            assert_eq!(broken, [cells[1 - part]], "{item}");
            assert!(cells.iter().all(|(cell, _)| volume.block(*cell).is_air()));
        }
    }
}

#[test]
fn what_has_lost_its_ground_breaks_and_says_so() {
    for (ground, text) in [
        ("stone", "torch"),
        ("stone", "white_carpet"),
        ("stone", "oak_door"),
        ("stone", "cake"),
        ("stone", "snow"),
        ("stone", "lantern"),
        ("dirt", "poppy"),
        ("dirt", "oak_sapling"),
        ("farmland", "wheat"),
        ("sand", "cactus"),
    ] {
        let mut volume = Volume::empty();
        change(&mut volume, [20, 19, 20], WorldBlock::of(ground).unwrap());
        change(&mut volume, CELL, WorldBlock::parse(text).unwrap());
        let block = volume.block(CELL);
        assert_eq!(change(&mut volume, [20, 19, 20], WorldBlock::AIR), [(CELL, block)], "{text}");
    }
    let mut volume = Volume::empty();
    change(&mut volume, [20, 19, 20], WorldBlock::of("stone").unwrap());
    change(&mut volume, CELL, WorldBlock::of("oak_planks").unwrap());
    assert!(change(&mut volume, [20, 19, 20], WorldBlock::AIR).is_empty(), "planks float");
}

#[test]
fn sand_falls_to_the_next_block_with_all_that_is_on_it() {
    let mut volume = Volume::empty();
    let [sand, gravel, stone, cactus] =
        ["sand", "gravel", "stone", "cactus"].map(|id| WorldBlock::of(id).unwrap());
    change(&mut volume, [20, 10, 20], stone);
    change(&mut volume, [20, 20, 20], stone);
    change(&mut volume, [20, 21, 20], sand);
    change(&mut volume, [20, 22, 20], gravel);
    change(&mut volume, [20, 23, 20], sand);
    change(&mut volume, [20, 24, 20], cactus);
    let broken = change(&mut volume, [20, 20, 20], WorldBlock::AIR);
    assert_eq!(broken, [([20, 24, 20], cactus)]);
    let column = [11, 12, 13, 14, 21, 22, 23].map(|y| volume.block([20, y, 20]));
    let air = WorldBlock::AIR;
    assert_eq!(column, [sand, gravel, sand, air, air, air, air]);
    change(&mut volume, [20, 10, 20], air);
    assert!((0..30).all(|y| volume.block([20, y, 20]).is_air()), "what falls out of the world is gone");
}

#[test]
fn items_put_blocks_by_their_own_ids_but_for_a_few() {
    for (item, block) in [
        ("minecraft:torch", Some("torch")),
        ("wheat_seeds", Some("wheat")),
        ("wheat", None),
        ("wall_torch", None),
        ("cobblestone_wall", Some("cobblestone_wall")),
        ("potted_poppy", None),
        ("diamond", None),
        ("air", None),
    ] {
        assert_eq!(block_of_item(item).map(WorldBlock::id), block, "{item}");
    }
}
