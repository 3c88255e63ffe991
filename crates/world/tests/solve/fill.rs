//! Building fast: many blocks from one place, with as few turns between them as can be.

use world::Cell;
use world::aim::{REACH, aim};
use world::player::constants::{STANDING, WIDTH};

use crate::compact::{CompactKeys, steps_of, sums, turns};
use crate::look::{FACES, HALF_BIN, angles_to, direction_of, distance, points_on};
use crate::solver::{Solved, Solver};

/// How far above the ground the feet are when a jump is at its highest, about.
const JUMP_HEIGHT: f64 = 1.2;

impl Solver<'_> {
    /// Puts blocks of the hot bar into cells around the player, in the order that wants the fewest turns. What grows there
    /// is taken away first.
    pub fn fill(&mut self, id: &str, cells: &[Cell]) -> Solved {
        self.doing(format!("fill with {id}"), |solver| {
            solver.clear(cells)?;
            solver.select(id)?;
            solver.settle()?;
            let mut left = cells.to_vec();
            while !left.is_empty() {
                let Some((cell, sums)) = solver.next_to_fill(&left) else {
                    return solver.fail(format!("no neighbour of {left:?} is in reach"));
                };
                let mut turns = turns(sums, solver.world().player().pitch / 10);
                // The button must be up between two uses, or a pause follows the first.
                while turns.len() < 2 {
                    turns.insert(0, [0, 0]);
                }
                let before = solver.world().volume().block(cell);
                for (at, turn) in turns.iter().enumerate() {
                    let uses = at + 1 == turns.len();
                    solver.step(CompactKeys { uses, ..CompactKeys::turn(*turn) })?;
                }
                if solver.world().volume().block(cell) == before {
                    return solver.fail(format!("nothing has come into {cell:?}"));
                }
                left.retain(|other| *other != cell);
            }
            Ok(())
        })
    }

    /// Takes away what stands in the way of blocks, such as flowers.
    pub fn clear(&mut self, cells: &[Cell]) -> Solved {
        for cell in cells {
            let block = self.world().volume().block(*cell);
            if !block.is_air() && !block.kind().replaceable {
                self.dig(*cell)?;
            }
        }
        Ok(())
    }

    /// Takes away all that grows in cells, also what blocks may be put in place of, so that it hides nothing.
    pub fn mow(&mut self, cells: &[Cell]) -> Solved {
        let grown: Vec<Cell> =
            cells.iter().filter(|cell| !self.world().volume().block(**cell).is_air()).copied().collect();
        grown.into_iter().try_for_each(|cell| self.dig(cell))
    }

    /// The cell that a block is put into with the fewest turns, the farthest of them first so that it is not hidden by
    /// nearer ones, and the sums of the turns.
    fn next_to_fill(&self, cells: &[Cell]) -> Option<(Cell, [i32; 2])> {
        let volume = self.world().volume();
        let player = self.world().player();
        let eyes = player.eyes();
        let mut looks = Vec::new();
        for cell in cells.iter().filter(|cell| !self.is_in(**cell)) {
            let own = FACES.into_iter().map(|face| (*cell, face)).filter(|_| !volume.block(*cell).is_air());
            for (against, face) in self.supports(*cell).into_iter().chain(own) {
                for point in points_on(volume, against, face) {
                    let away = distance(eyes, point);
                    if away < REACH - 0.02 && !self.is_used(against) {
                        let sums = sums(self.away_from(angles_to(eyes, point)), HALF_BIN);
                        looks.push((steps_of(sums).max(2), (-away * 10.0) as i32, *cell, sums));
                    }
                }
            }
        }
        looks.sort_unstable();
        let found = looks.into_iter().find(|(_, _, cell, [down, right])| {
            let pitch = (player.pitch + down * 10).clamp(-90_000, 90_000);
            let way = direction_of([pitch, player.yaw + right * 10]);
            aim(volume, eyes, way, REACH).is_some_and(|target| {
                let is_replaced = volume.block(target.cell).kind().replaceable;
                let step = if is_replaced { [0; 3] } else { target.face };
                !self.is_used(target.cell) && [0, 1, 2].map(|axis| target.cell[axis] + step[axis]) == *cell
            })
        });
        found.map(|(_, _, cell, sums)| (cell, sums))
    }

    /// Whether the body is in a cell.
    fn is_in(&self, cell: Cell) -> bool {
        let low = self.position().map(|at| at + 1e-6);
        let half = WIDTH / 2.0;
        let (low, high) =
            ([low[0] - half, low[1], low[2] - half], [low[0] + half, low[1] + STANDING.0, low[2] + half]);
        (0..3).all(|axis| low[axis] < f64::from(cell[axis] + 1) && high[axis] > f64::from(cell[axis]))
    }

    /// Puts a block onto one that only a jump lets the player see from above.
    pub fn put_in_jump(&mut self, id: &str, against: Cell) -> Solved {
        let cell = [against[0], against[1] + 1, against[2]];
        self.doing(format!("put {id} into {cell:?} in a jump"), |solver| {
            solver.select(id)?;
            solver.settle()?;
            let [x, y, z] = solver.world().player().eyes();
            let point =
                [f64::from(against[0]) + 0.5, f64::from(against[1]) + 1.0, f64::from(against[2]) + 0.5];
            solver.turn_to(angles_to([x, y + JUMP_HEIGHT, z], point), HALF_BIN)?;
            let jump = CompactKeys { jump: true, ..CompactKeys::default() };
            solver.hold_until(jump, 8, |solver| {
                solver.world().target().is_some_and(|met| met.cell == against && met.face == [0, 1, 0])
            })?;
            solver.step(CompactKeys { uses: true, ..jump })?;
            if solver.world().volume().block(cell).id() != id {
                return solver.fail("nothing has come there");
            }
            solver.wait_until(16, |solver| solver.world().player().is_on_ground)?;
            Ok(())
        })
    }
}
