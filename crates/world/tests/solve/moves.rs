//! The moves that solvers share, on floors made by hand and in all scenes.

use std::sync::LazyLock;

use world::block::{Facing, WorldBlock};
use world::{Cell, Scene, Terrain, Volume, World};

use crate::compact::CompactKeys;
use crate::look::{FACES, angles_to, direction_of, distance};
use crate::path::{Foothold, find_way, foothold, least_cost};
use crate::solver::Solver;

/// The height of the floor's top in these tests.
const FLOOR: i32 = 10;

/// Dice for places.
struct Dice(u64);

impl Dice {
    fn below(&mut self, bound: i32) -> i32 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) % bound as u64) as i32
    }

    fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * f64::from(self.below(10_000)) / 10_000.0
    }
}

fn block(id: &str) -> WorldBlock {
    WorldBlock::of(id).unwrap_or_else(|| panic!("there is no {id}"))
}

fn fill(world: &mut World, from: Cell, to: Cell, block: WorldBlock) {
    for x in from[0]..=to[0] {
        for y in from[1]..=to[1] {
            for z in from[2]..=to[2] {
                world.set_block([x, y, z], block);
            }
        }
    }
}

/// A stone floor with a player in the middle, who stands and looks to +z.
fn floor() -> World {
    // Light makes a floor dear, so it is made once.
    static FLOORED: LazyLock<World> = LazyLock::new(|| {
        let terrain = Terrain { volume: Volume::empty(), start: [128.5, f64::from(FLOOR), 128.5], yaw: 0 };
        let mut world = World::new(&terrain, 1);
        fill(&mut world, [98, FLOOR - 1, 98], [158, FLOOR - 1, 158], block("stone"));
        for _ in 0..5 {
            world.step(&CompactKeys::default().action());
        }
        world
    });
    FLOORED.clone()
}

#[test]
fn looks_come_as_near_as_half_of_the_finest_turn() {
    let (mut world, mut dice) = (floor(), Dice(1));
    let mut solver = Solver::new(&mut world, 10_000);
    let mut steps = 0;
    for _ in 0..300 {
        let eyes = solver.world().player().eyes();
        let point = [0, 1, 2].map(|axis| eyes[axis] + dice.between(-5.0, 5.0));
        let before = solver.steps();
        solver.look_at(point).unwrap();
        let away = solver.away_from(angles_to(eyes, point));
        assert!(away.iter().all(|part| part.abs() <= 31), "{away:?}");
        let look = solver.world().player().look();
        let way = direction_of(angles_to(eyes, point));
        assert!(distance(look, way) < 0.008, "{look:?} is not {way:?}");
        assert!(solver.steps() - before <= 21);
        steps += solver.steps() - before;
    }
    println!("a look takes {:.1} steps", steps as f64 / 300.0);
}

#[test]
fn the_zenith_stops_no_look_for_good() {
    let mut world = floor();
    let mut solver = Solver::new(&mut world, 200);
    for pitch in [90_000, -90_000, 89_700, -12_340, 90_000, 0] {
        solver.turn_to([pitch, 0], 31).unwrap();
    }
    assert!(solver.steps() < 80);
}

#[test]
fn blocks_are_dug_and_put_at_every_face_that_can_be_seen() {
    let mut dice = Dice(2);
    for _ in 0..60 {
        let mut world = floor();
        let cell = [125 + dice.below(7), FLOOR + 1 + dice.below(2), 131];
        world.set_block(cell, block("stone"));
        let mut solver = Solver::new(&mut world, 400);
        let face = FACES[dice.below(6) as usize];
        let eyes = solver.world().player().eyes();
        if !solver.can_aim_from(eyes, cell, Some(face)) {
            let error = solver.aim_at(cell, Some(face)).unwrap_err().to_string();
            assert!(error.starts_with("aim at stone") && error.contains("out of reach"), "{error}");
            continue;
        }
        assert_eq!(solver.aim_at(cell, Some(face)).unwrap().face, face);
        let front = [0, 1, 2].map(|axis| cell[axis] + face[axis]);
        solver.put("oak_planks", cell, face).unwrap();
        assert_eq!(solver.world().volume().block(front).id(), "oak_planks");
        solver.dig(front).unwrap();
        assert_eq!(solver.world().held().unwrap().item.id(), "iron_axe");
        solver.dig(cell).unwrap();
        assert_eq!(solver.world().held().unwrap().item.id(), "iron_pickaxe");
        assert!(solver.world().volume().block(cell).is_air());
        assert!(solver.steps() < 80, "{}", solver.steps());
    }
}

#[test]
fn a_pillar_goes_up_under_the_feet() {
    let mut world = floor();
    let mut solver = Solver::new(&mut world, 200);
    solver.pillar_up("cobblestone", 8).unwrap();
    assert_eq!(solver.feet(), [128, FLOOR + 8, 128]);
    let count =
        (0..8).filter(|up| solver.world().volume().block([128, FLOOR + up, 128]).id() == "cobblestone");
    assert_eq!(count.count(), 8);
    println!("a pillar of 8 takes {} steps", solver.steps());
    assert!(solver.steps() < 130);
}

#[test]
fn errors_say_what_was_tried_and_where() {
    let mut world = floor();
    let mut solver = Solver::new(&mut world, 30);
    let error = solver.select("diamond").unwrap_err().to_string();
    assert!(error.contains("no diamond in the hot bar; at [128.50, 10.00, 128.50]"), "{error}");
    let error = solver.walk_to([128, FLOOR + 5, 128]).unwrap_err().to_string();
    assert!(error.starts_with("walk to [128, 15, 128]: there is no way;"), "{error}");
}

#[test]
fn the_bound_of_steps_ends_a_solver() {
    let mut world = floor();
    let mut solver = Solver::new(&mut world, 30);
    let error = solver.walk_to([150, FLOOR, 150]).unwrap_err();
    assert_eq!((error.steps, error.why.as_str()), (30, "30 steps are not enough"));
}

#[test]
fn a_careful_walker_does_not_fall_off_an_edge() {
    let mut world = floor();
    fill(&mut world, [98, FLOOR - 1, 131], [158, FLOOR - 1, 158], WorldBlock::AIR);
    let mut solver = Solver::new(&mut world, 300);
    solver.is_careful = true;
    solver.walk_to([128, FLOOR, 130]).unwrap();
    let forward = CompactKeys { forward: 1, ..CompactKeys::default() };
    for _ in 0..60 {
        solver.step(forward).unwrap();
    }
    assert_eq!(solver.feet()[1], FLOOR);
}

/// Courses on the floor: what stands there, and where they lead.
#[test]
fn walkers_jump_drop_climb_and_swim() {
    type CourseMaker = fn(&mut World);
    let courses: [(&str, Cell, CourseMaker); 7] = [
        ("stairs of whole blocks", [128, FLOOR + 3, 136], |world| {
            for up in 0..3 {
                fill(world, [128, FLOOR, 131 + up], [128, FLOOR + up, 137], block("stone"));
            }
        }),
        ("a wall to walk around", [128, FLOOR, 136], |world| {
            fill(world, [120, FLOOR, 132], [135, FLOOR + 2, 132], block("stone"));
        }),
        ("a pit to drop into", [128, FLOOR - 3, 131], |world| {
            fill(world, [126, FLOOR - 4, 129], [130, FLOOR - 4, 133], block("stone"));
            fill(world, [127, FLOOR - 3, 130], [129, FLOOR - 1, 132], WorldBlock::AIR);
        }),
        ("a shaft of one cell", [128, FLOOR - 3, 131], |world| {
            fill(world, [127, FLOOR - 4, 130], [129, FLOOR - 2, 132], block("stone"));
            fill(world, [128, FLOOR - 3, 131], [128, FLOOR - 1, 131], WorldBlock::AIR);
        }),
        ("a pond to swim through", [128, FLOOR, 140], |world| {
            fill(world, [98, FLOOR - 4, 131], [158, FLOOR - 4, 136], block("stone"));
            fill(world, [98, FLOOR - 3, 131], [158, FLOOR - 1, 136], block("water"));
        }),
        ("a ladder up a tower", [128, FLOOR + 6, 134], |world| {
            fill(world, [127, FLOOR, 133], [129, FLOOR + 5, 135], block("stone"));
            fill(world, [128, FLOOR, 132], [128, FLOOR + 5, 132], block("ladder").facing(Facing::North));
        }),
        ("a tunnel with a step in it", [128, FLOOR + 1, 140], |world| {
            fill(world, [120, FLOOR, 131], [136, FLOOR + 4, 141], block("stone"));
            fill(world, [128, FLOOR, 131], [128, FLOOR + 2, 135], WorldBlock::AIR);
            fill(world, [128, FLOOR + 1, 135], [128, FLOOR + 3, 141], WorldBlock::AIR);
        }),
    ];
    let mut failed = Vec::new();
    for (name, goal, build) in courses {
        let mut world = floor();
        build(&mut world);
        let mut solver = Solver::new(&mut world, 300);
        let start = solver.feet();
        if let Err(error) = solver.walk_to(goal) {
            failed.push(format!("{name}: {error}"));
            continue;
        }
        println!("{name}: {} steps", solver.steps());
        assert_eq!((solver.feet(), solver.world().player().health), (goal, 20), "{name}");
        let leads_back = !name.contains("drop") && !name.contains("shaft");
        if leads_back && let Err(error) = solver.walk_to(start) {
            failed.push(format!("back from {name}: {error}"));
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

/// A random cell around a cell to which one can walk, and how many cells the way has.
fn some_goal(volume: &Volume, dice: &mut Dice, from: Cell) -> (Cell, usize) {
    loop {
        let [x, z] = [from[0], from[2]].map(|at| at + dice.below(41) - 20);
        let is_floor = |cell: &Cell| matches!(foothold(volume, *cell), Some(Foothold::Floor(_)));
        let Some(goal) = (from[1] - 8..from[1] + 9).map(|y| [x, y, z]).find(is_floor) else { continue };
        if let Some(way) = find_way(volume, from, |at| least_cost(at, goal), |at| at.cell == goal) {
            return (goal, way.len());
        }
    }
}

/// Walks from random cell to random cell of a scene.
fn wander(scene: Scene) {
    let terrains: Vec<_> = (0..4).map(|number| scene.make(number)).collect();
    let mut steps = 0;
    for seed in 0..20 {
        let mut world = World::new(&terrains[seed as usize % terrains.len()], seed);
        let mut solver = Solver::new(&mut world, 10_000);
        let mut dice = Dice(seed * 3 + scene as u64);
        solver.settle().unwrap();
        for _ in 0..10 {
            let from = solver.standing_cell().unwrap();
            let (goal, cells) = some_goal(solver.world().volume(), &mut dice, from);
            let before = solver.steps();
            if let Err(error) = solver.walk_to(goal) {
                panic!("{scene}, seed {seed}, from {from:?}: {error}");
            }
            let took = solver.steps() - before;
            let walk = format!("{scene}, seed {seed}, {from:?} to {goal:?}");
            assert!(took <= 60 + 9 * cells, "{walk}: {took} steps for {cells} cells");
            assert_eq!((solver.feet(), solver.world().player().health), (goal, 20), "{walk}");
        }
        steps += solver.steps();
    }
    println!("{scene}: {:.1} steps a walk", steps as f64 / 200.0);
}

#[test]
fn walkers_come_to_random_cells_of_meadows() {
    wander(Scene::Meadow);
}

#[test]
fn walkers_come_to_random_cells_of_caves() {
    wander(Scene::Cave);
}

#[test]
fn walkers_come_to_random_cells_of_houses() {
    wander(Scene::House);
}

#[test]
fn blocks_of_all_scenes_are_approached_dug_and_put_back() {
    for scene in Scene::ALL {
        let terrain = scene.make(5);
        let mut steps = 0;
        for seed in 0..20 {
            let mut world = World::new(&terrain, seed);
            let mut solver = Solver::new(&mut world, 5000);
            let mut dice = Dice(seed * 7 + 1);
            solver.settle().unwrap();
            for _ in 0..3 {
                let from = solver.standing_cell().unwrap();
                let (goal, _) = some_goal(solver.world().volume(), &mut dice, from);
                let cell = [goal[0], goal[1] - 1, goal[2]];
                let is_hard = solver.world().volume().block(cell).kind().hardness.is_none();
                if is_hard {
                    continue;
                }
                solver.go_and_dig(cell).unwrap_or_else(|error| panic!("{scene}, seed {seed}: {error}"));
                solver
                    .go_and_put("oak_planks", cell)
                    .unwrap_or_else(|error| panic!("{scene}, seed {seed}: {error}"));
                assert_eq!(solver.world().volume().block(cell).id(), "oak_planks");
            }
            steps += solver.steps();
        }
        println!("{scene}: {:.1} steps to go, dig and put", steps as f64 / 60.0);
    }
}
