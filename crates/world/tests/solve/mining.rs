//! How things are mined and collected.

use world::Cell;
use world::block::{Facing, WorldBlock};

use super::demos::check_solution;
use super::solver::{Solved, Solver};

/// How many items are collected.
const ITEMS: f32 = 10.0;

#[test]
fn collect_dirt() {
    check_solution("collect_dirt", |solver| {
        // Nothing below the feet: holes that are deep are left slowly.
        dig_and_collect(solver, "dirt", |feet, cell, block| {
            ["dirt", "grass_block"].contains(&block.id()) && cell[1] >= feet[1] - 1
        })
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

/// Fells a tree: cuts a way through the leaves to its foot, and then the trunk from below, whose logs fall before the feet.
fn fell(solver: &mut Solver, foot: Cell) -> Solved {
    let [x, y, z] = solver.feet();
    let away = |facing: &Facing| {
        let beside = along(foot, *facing, 1);
        (beside[0] - x).abs() + (beside[1] - y).abs() + (beside[2] - z).abs()
    };
    let is_level = |facing: &Facing| {
        (1..=2).all(|away| {
            let [x, y, z] = along(foot, *facing, away);
            let volume = solver.world().volume();
            !volume.is_solid([x, y, z]) && volume.is_solid([x, y - 1, z])
        })
    };
    let Some(side) = Facing::ALL.into_iter().filter(is_level).min_by_key(away) else {
        return solver.fail("no side of the tree is level");
    };
    for away in [2, 1] {
        let [x, y, z] = along(foot, side, away);
        if solver.world().volume().is_solid([x, y + 1, z]) {
            solver.reach_and_dig([x, y + 1, z])?;
        }
    }
    solver.walk_to(along(foot, side, 1))?;
    for up in 0.. {
        let log = [foot[0], foot[1] + up, foot[2]];
        if solver.score >= ITEMS || solver.world().volume().block(log).id() != "oak_log" {
            break;
        }
        solver.dig(log)?;
    }
    if solver.score < ITEMS { solver.collect("oak_log") } else { Ok(()) }
}
