//! How things are built, each from one place if that can be.

use world::Cell;

use crate::compact::CompactKeys;
use crate::demos::check_solution;
use crate::solver::{Solved, Solver};

/// The cells of a drawing whose rows go to +z and whose columns go to +x, from one cell on.
fn drawn(origin: Cell, sign: char, rows: &[&str]) -> Vec<Cell> {
    let mut cells = Vec::new();
    for (z, row) in rows.iter().enumerate() {
        for (x, drawn) in row.chars().enumerate() {
            if drawn == sign {
                cells.push([origin[0] + x as i32, origin[1], origin[2] + z as i32]);
            }
        }
    }
    cells
}

/// Cells, so much higher.
fn above(cells: &[Cell], up: i32) -> Vec<Cell> {
    cells.iter().map(|[x, y, z]| [*x, y + up, *z]).collect()
}

/// Puts down a table beside the player.
fn put_table(solver: &mut Solver) -> Solved<Cell> {
    let [x, y, z] = solver.feet();
    let table = [x + 1, y, z];
    solver.fill("crafting_table", &[table])?;
    Ok(table)
}

#[test]
fn build_pillar() {
    check_solution("build_pillar", |solver| solver.pillar_up("cobblestone", 8));
}

#[test]
fn build_a_tower() {
    check_solution("build_a_tower", |solver| solver.pillar_up("stone", 10));
}

#[test]
fn dig_three_down_and_fill_one_up() {
    check_solution("dig_three_down_and_fill_one_up", |solver| {
        solver.stand_in_the_middle()?;
        let [x, y, z] = solver.feet();
        let hole = [x + 1, y - 1, z];
        solver.clear(&[[x + 1, y, z]])?;
        for down in 0..3 {
            solver.dig([hole[0], hole[1] - down, hole[2]])?;
        }
        solver.fill("dirt", &[[hole[0], hole[1] - 2, hole[2]]])
    });
}

#[test]
fn build_gate() {
    check_solution("build_gate", |solver| {
        solver.stand_in_the_middle()?;
        let table = put_table(solver)?;
        solver.craft("oak_fence_gate", Some(table))?;
        solver.close_screen()?;
        solver.bring_to_hand("oak_fence_gate", 4)?;
        let [x, y, z] = solver.feet();
        let gate = [x, y, z + 1];
        solver.fill("oak_fence_gate", &[gate])?;
        solver.wait(1)?;
        solver.aim_at(gate, None)?;
        solver.click(CompactKeys { uses: true, ..CompactKeys::default() })
    });
}

#[test]
fn build_a_ladder() {
    check_solution("build_a_ladder", |solver| {
        solver.stand_in_the_middle()?;
        let table = put_table(solver)?;
        solver.craft("ladder", Some(table))?;
        solver.close_screen()?;
        solver.bring_to_hand("ladder", 4)?;
        let [x, y, z] = solver.feet();
        let wall = [0, 1, 2].map(|up| [x, y + up, z + 2]);
        solver.fill("oak_planks", &wall[..2])?;
        solver.put_in_jump("oak_planks", wall[1])?;
        solver.fill("ladder", &[0, 1, 2].map(|up| [x, y + up, z + 1]))
    });
}

#[test]
fn build_a_wall() {
    check_solution("build_a_wall", |solver| {
        solver.stand_in_the_middle()?;
        let [x, y, z] = solver.feet();
        let row: Vec<Cell> = (-4..4).map(|along| [x + along, y, z + 2]).collect();
        solver.mow(&row.iter().map(|[x, y, z]| [*x, *y, z - 1]).collect::<Vec<_>>())?;
        solver.fill("bricks", &[row.clone(), above(&row, 1)].concat())?;
        // What lies above the eyes is put against the sides of what stands there already.
        for (end, rest) in [(0, 1..5), (7, 5..7)] {
            solver.put_in_jump("bricks", above(&row, 1)[end])?;
            solver.fill("bricks", &above(&row[rest], 2))?;
        }
        Ok(())
    });
}

/// A room with walls two blocks high, seen from above. The player stands in its last corner, from where the whole roof can
/// be put against the first one.
const ROOM: [&str; 5] = [".###.", "#   #", "#   #", "#   #", ".D##."];

/// The cells of the room's floor plan, by their sign.
fn of_room(solver: &Solver, sign: char) -> Vec<Cell> {
    let [x, y, z] = solver.feet();
    drawn([x - 3, y, z - 3], sign, &ROOM)
}

/// Puts a roof over the walls from within, beginning with a block on top of a wall.
fn roof(solver: &mut Solver, id: &str) -> Solved {
    let walls = of_room(solver, '#');
    solver.put_in_jump(id, above(&walls, 1)[0])?;
    solver.fill(id, &above(&of_room(solver, ' '), 2))
}

#[test]
fn build_a_house() {
    check_solution("build_a_house", |solver| {
        solver.stand_in_the_middle()?;
        let walls = of_room(solver, '#');
        solver.fill("oak_planks", &[walls.clone(), above(&walls, 1)].concat())?;
        solver.fill("oak_door", &of_room(solver, 'D'))?;
        let [x, y, z] = solver.feet();
        solver.fill("torch", &[[x - 1, y, z]])?;
        roof(solver, "oak_planks")
    });
}

#[test]
fn build_a_library() {
    check_solution("build_a_library", |solver| {
        solver.stand_in_the_middle()?;
        let walls = [of_room(solver, '#'), of_room(solver, 'D')].concat();
        solver.fill("bookshelf", &walls)?;
        solver.fill("oak_planks", &above(&walls, 1))?;
        let [x, y, z] = solver.feet();
        solver.fill("lantern", &[[x - 1, y, z]])?;
        roof(solver, "oak_planks")
    });
}

#[test]
fn build_a_maze() {
    let plan = ["c.#c", "#  #", "#o #", "#  #", "# o#", "#  #", "c#.c"];
    check_solution("build_a_maze", |solver| {
        solver.stand_in_the_middle()?;
        let [x, y, z] = solver.feet();
        let corner = [x - 1, y, z - 3];
        // The player stands within. Each part would hide what comes before it.
        for sign in ['c', '#', 'o'] {
            let walls = drawn(corner, sign, &plan);
            solver.fill("bricks", &[walls.clone(), above(&walls, 1)].concat())?;
        }
        Ok(())
    });
}

#[test]
fn build_a_garden() {
    let plan = ["######", "#oooo#", "#d.pd#", "#bppb#", "#oooo#", "######"];
    check_solution("build_a_garden", |solver| {
        solver.stand_in_the_middle()?;
        let [x, y, z] = solver.feet();
        let corner = [x - 2, y, z - 2];
        solver.fill("oak_fence", &drawn(corner, '#', &plan))?;
        for (id, sign) in [("oak_sapling", 'o'), ("dandelion", 'd'), ("blue_orchid", 'b'), ("poppy", 'p')] {
            solver.fill(id, &drawn(corner, sign, &plan))?;
        }
        Ok(())
    });
}
