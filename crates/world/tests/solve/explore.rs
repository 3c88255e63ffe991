//! Finding chests, and climbing.

use super::demos::check_solution;

/// How high the hill is climbed.
const CLIMB: i32 = 25;

#[test]
fn explore_chest() {
    check_solution("explore_chest", |solver| {
        let chest = solver.find_block("chest")?;
        solver.open(chest)
    });
}

#[test]
fn explore_climb() {
    check_solution("explore_climb", |solver| {
        let top = solver.feet()[1] + CLIMB;
        // Climbing by one costs at least as much as a level cell.
        let left = |from: [i32; 3]| top.saturating_sub(from[1]).max(0).unsigned_abs() * 10;
        solver.walk_where(left, |_, waypoint| waypoint.cell[1] >= top)
    });
}
