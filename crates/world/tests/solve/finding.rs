//! How things are found: what is looked for is known here, but the way there is not.

use super::demos::check_solution;
use super::solver::{Solved, Solver};

#[test]
fn find_bedrock() {
    check_solution("find_bedrock", |solver| {
        let Some(&[x, top, z]) = solver.blocks_of("ladder").first() else {
            return solver.fail("there is no shaft");
        };
        let volume = solver.world().volume();
        let ladders = (0..=top).rev().take_while(|y| volume.block([x, *y, z]).id() == "ladder");
        let y = ladders.last().unwrap_or(top);
        solver.walk_to([x, y, z])?;
        for below in (1..y).rev() {
            solver.dig([x, below, z])?;
        }
        solver.settle()?;
        solver.aim_at([x, 0, z], None)?;
        solver.wait(10)
    });
}

#[test]
fn find_blue_bed() {
    check_solution("find_blue_bed", |solver| find_and_watch(solver, "blue_bed", 8.0));
}

#[test]
fn find_diamond() {
    check_solution("find_diamond", |solver| {
        let ores = solver.blocks_of("diamond_ore");
        solver.dig_one_of(&ores).map(|_| ())
    });
}

#[test]
fn find_lava() {
    check_solution("find_lava", |solver| find_and_watch(solver, "lava", 12.0));
}

#[test]
fn find_melon() {
    check_solution("find_melon", |solver| find_and_watch(solver, "melon", 8.0));
}

#[test]
fn find_sand() {
    check_solution("find_sand", |solver| find_and_watch(solver, "sand", 8.0));
}

/// Goes to where a block is seen from near enough, and looks at it for the ten steps that tasks want.
fn find_and_watch(solver: &mut Solver, id: &str, within: f64) -> Solved {
    let cells = solver.blocks_of(id);
    solver.watch_one_of(&cells, within, 10)
}
