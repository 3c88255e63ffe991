//! How places are decorated.

use world::Cell;

use super::demos::check_solution;
use super::mining::dig_nearest;
use super::solver::{Solved, Solver};

#[test]
fn clean_the_weeds() {
    check_solution("clean_the_weeds", |solver| {
        (0..10).try_for_each(|_| {
            dig_nearest(solver, |_, _, block| ["grass", "tall_grass"].contains(&block.id()))
        })
    });
}

#[test]
fn decorate_the_ground() {
    check_solution("decorate_the_ground", |solver| {
        put_around(solver, &[("red_carpet", 5), ("yellow_carpet", 3), ("lantern", 2)])
    });
}

#[test]
fn lay_carpet() {
    check_solution("lay_carpet", |solver| {
        solver.craft("white_carpet", None)?;
        solver.craft("white_carpet", None)?;
        solver.bring_to_hand("white_carpet", 0)?;
        put_around(solver, &[("white_carpet", 6)])
    });
}

#[test]
fn light_up_the_surroundings() {
    check_solution("light_up_the_surroundings", |solver| put_around(solver, &[("torch", 5), ("lantern", 5)]));
}

#[test]
fn light_up_the_surroundings_at_night() {
    check_solution("light_up_the_surroundings_at_night", |solver| {
        put_around(solver, &[("torch", 8), ("glowstone", 2)])
    });
}

/// Puts so many of each onto the ground around, each at the cell with the shortest turn.
fn put_around(solver: &mut Solver, things: &[(&str, usize)]) -> Solved {
    let things = things.iter().flat_map(|(id, count)| std::iter::repeat_n(*id, *count));
    solver.settle()?;
    let [x, _, z] = solver.feet();
    for id in things {
        let is_free = |[x, y, z]: Cell| solver.world().volume().block([x, y + 1, z]).is_air();
        let ground = solver.blocks_around(|cell, block| {
            let away = (cell[0] - x).abs().max((cell[2] - z).abs());
            block.id() == "grass_block" && (1..=3).contains(&away) && is_free(cell)
        });
        let Some(cell) = solver.aimed_of(&ground, Some([0, 1, 0])) else {
            return solver.fail("no ground is free");
        };
        solver.put(id, cell, [0, 1, 0])?;
    }
    Ok(())
}
