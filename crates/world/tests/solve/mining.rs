//! How things are mined and collected.

use world::Cell;
use world::block::{Facing, WorldBlock};

use super::demos::check_solution;
use super::path::foothold;
use super::solver::{Solved, Solver};

/// How many items are collected.
const ITEMS: f32 = 10.0;

#[test]
fn collect_dirt() {
    check_solution("collect_dirt", |solver| {
        // From within a hole, what falls out of the earth around it is in reach.
        while solver.score < ITEMS {
            let [x, y, z] = solver.feet();
            let beside = |height: i32| {
                solver.blocks_around(|cell, block| {
                    let away = [cell[0] - x, cell[2] - z];
                    let is_beside = away != [0, 0] && away.iter().all(|part| part.abs() <= 1);
                    is_beside && cell[1] == height && ["dirt", "grass_block"].contains(&block.id())
                })
            };
            let level = beside(y);
            let earth = if level.is_empty() { beside(y - 1) } else { level };
            solver.dig_one_of(&earth)?;
            solver.collect("dirt")?;
        }
        Ok(())
    });
}

#[test]
fn collect_grass() {
    check_solution("collect_grass", |solver| {
        dig_and_collect(solver, "grass", |_, _, block| block.id() == "grass")
    });
}

#[test]
fn collect_wood() {
    check_solution("collect_wood", |solver| {
        while solver.score < ITEMS {
            let logs = solver.blocks_of("oak_log");
            let is_ground =
                |[x, y, z]: Cell| solver.world().volume().block([x, y - 1, z]).id() == "grass_block";
            let Some(foot) = logs.into_iter().find(|cell| is_ground(*cell)) else {
                return solver.fail("there is no tree");
            };
            fell(solver, foot)?;
        }
        Ok(())
    });
}

#[test]
fn cut_stone() {
    check_solution("cut_stone", |solver| {
        (0..5).try_for_each(|_| dig_nearest(solver, |_, _, block| block.id() == "stone"))
    });
}

#[test]
fn mine_diamond_ore() {
    check_solution("mine_diamond_ore", |solver| dig_the(solver, "diamond_ore"));
}

#[test]
fn mine_horizontally() {
    check_solution("mine_horizontally", |solver| {
        let feet = solver.feet();
        let faces = Facing::ALL.into_iter().filter_map(|facing| {
            let cells = (1..6).map(|away| along(feet, facing, away));
            let mut solid = cells.filter(|cell| solver.world().volume().is_solid(*cell));
            solid.next().map(|cell| (facing, cell))
        });
        let Some((facing, face)) = faces.into_iter().next() else { return solver.fail("there is no bank") };
        for away in 0..5 {
            let [x, y, z] = along(face, facing, away);
            solver.reach_and_dig([x, y + 1, z])?;
            if solver.score < ITEMS {
                solver.reach_and_dig([x, y, z])?;
            }
        }
        Ok(())
    });
}

#[test]
fn mine_iron_ore() {
    check_solution("mine_iron_ore", |solver| dig_the(solver, "iron_ore"));
}

#[test]
fn mine_obsidian() {
    check_solution("mine_obsidian", |solver| dig_the(solver, "obsidian"));
}

fn along(cell: Cell, facing: Facing, away: i32) -> Cell {
    let step = facing.step();
    [0, 1, 2].map(|axis| cell[axis] + step[axis] * away)
}

fn dig_the(solver: &mut Solver, id: &str) -> Solved {
    dig_nearest(solver, |_, _, block| block.id() == id)
}

/// Digs one of the blocks that are wanted, knowing where the feet are.
pub fn dig_nearest(solver: &mut Solver, is_wanted: impl Fn(Cell, Cell, WorldBlock) -> bool) -> Solved {
    let feet = solver.feet();
    let cells = solver.blocks_around(|cell, block| is_wanted(feet, cell, block));
    solver.dig_one_of(&cells).map(|_| ())
}

/// Digs and takes what falls out, one by one: of two that are taken at once, only one is paid.
fn dig_and_collect(
    solver: &mut Solver,
    item: &str,
    is_wanted: impl Fn(Cell, Cell, WorldBlock) -> bool,
) -> Solved {
    while solver.score < ITEMS {
        dig_nearest(solver, &is_wanted)?;
        solver.collect(item)?;
    }
    Ok(())
}

/// Fells a tree: cuts a way through the leaves and the foot of the trunk, and then the rest of it from below.
fn fell(solver: &mut Solver, foot: Cell) -> Solved {
    let [x, y, z] = solver.feet();
    let away = |facing: &Facing| {
        let outside = along(foot, *facing, 3);
        (outside[0] - x).pow(2) + (outside[1] - y).pow(2) + (outside[2] - z).pow(2)
    };
    // Outside of the leaves, there must be room to stand.
    let is_level = |facing: &Facing| {
        let volume = solver.world().volume();
        let is_ground = |away| {
            let [x, y, z] = along(foot, *facing, away);
            !volume.is_solid([x, y, z]) && volume.is_solid([x, y - 1, z])
        };
        (1..=2).all(is_ground) && foothold(volume, along(foot, *facing, 3)).is_some()
    };
    let Some(side) = Facing::ALL.into_iter().filter(is_level).min_by_key(away) else {
        return solver.fail("no side of the tree is level");
    };
    let volume = solver.world().volume();
    let heads = [2, 1].map(|away| above(along(foot, side, away)));
    let leaves: Vec<Cell> = heads.into_iter().filter(|cell| volume.is_solid(*cell)).collect();
    if !leaves.is_empty() {
        // From here, both are in reach.
        solver.walk_to(along(foot, side, 3))?;
    }
    for cell in leaves {
        solver.reach_and_dig(cell)?;
    }
    // The first log is taken while the second is dug: of two that are taken at once, only one is paid.
    solver.walk_to(along(foot, side, 1))?;
    solver.dig(above(foot))?;
    solver.dig(foot)?;
    // Whoever stands in place of the trunk catches what falls from above.
    solver.walk_to(foot)?;
    let mut log = above(above(foot));
    while solver.score < ITEMS && solver.world().volume().block(log).id() == "oak_log" {
        solver.dig(log)?;
        log = above(log);
    }
    if solver.score < ITEMS { solver.collect("oak_log") } else { Ok(()) }
}

fn above([x, y, z]: Cell) -> Cell {
    [x, y + 1, z]
}
