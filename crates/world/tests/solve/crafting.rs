//! How things are crafted.

use super::demos::check_solution;
use super::solver::{Solved, Solver};

/// Makes something at the table that stands there.
fn craft_at_the_table(solver: &mut Solver, id: &str) -> Solved {
    let table = solver.find_block("crafting_table")?;
    solver.craft(id, Some(table))
}

#[test]
fn craft_oak_planks() {
    check_solution("craft_oak_planks", |solver| solver.craft("oak_planks", None));
}

#[test]
fn craft_diorite() {
    check_solution("craft_diorite", |solver| solver.craft("diorite", None));
}

#[test]
fn craft_the_crafting_table() {
    check_solution("craft_the_crafting_table", |solver| {
        solver.craft("oak_planks", None)?;
        solver.craft("crafting_table", None)
    });
}

#[test]
fn craft_bee_nest() {
    check_solution("craft_bee_nest", |solver| craft_at_the_table(solver, "beehive"));
}

#[test]
fn craft_enchanting_table() {
    check_solution("craft_enchanting_table", |solver| craft_at_the_table(solver, "enchanting_table"));
}

#[test]
fn craft_ladder() {
    check_solution("craft_ladder", |solver| craft_at_the_table(solver, "ladder"));
}

#[test]
fn craft_stonecut() {
    check_solution("craft_stonecut", |solver| craft_at_the_table(solver, "stonecutter"));
}

#[test]
fn craft_to_clock() {
    check_solution("craft_to_clock", |solver| craft_at_the_table(solver, "clock"));
}

#[test]
fn craft_furnace() {
    check_solution("craft_furnace", |solver| {
        solver.put_nearby("crafting_table")?;
        craft_at_the_table(solver, "furnace")
    });
}
