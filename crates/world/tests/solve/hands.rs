//! Breaking and placing.

use world::Cell;
use world::item::{Footing, breaking, ticks_to_break, yields};

use crate::compact::CompactKeys;
use crate::look::FACES;
use crate::solver::{Solved, Solver};

/// Blocks that do something when they are used. Something is put against them by one who sneaks.
const USED: [&str; 12] = [
    "crafting_table",
    "furnace",
    "chest",
    "barrel",
    "brewing_stand",
    "enchanting_table",
    "lever",
    "stonecutter",
    "_door",
    "_trapdoor",
    "_fence_gate",
    "_bed",
];

impl Solver<'_> {
    /// Breaks the block of a cell that the hand reaches, with the best tool of the hot bar.
    pub fn dig(&mut self, cell: Cell) -> Solved {
        let block = self.world().volume().block(cell);
        self.doing(format!("dig {} {cell:?}", block.id()), |solver| {
            solver.select_tool(cell)?;
            solver.aim_at(cell, None)?;
            let Some(ticks) = solver.ticks_to_dig(cell) else { return solver.fail("it cannot be broken") };
            let keys = CompactKeys { attack: true, ..CompactKeys::default() };
            solver.hold_until(keys, ticks + 12, |solver| solver.world().volume().block(cell) != block)?;
            Ok(())
        })
    }

    /// Walks to where the hand reaches a cell's block, and breaks it.
    pub fn go_and_dig(&mut self, cell: Cell) -> Solved {
        self.approach(cell, None)?;
        self.dig(cell)
    }

    /// How many steps breaking a cell's block takes with what the hand holds.
    pub fn ticks_to_dig(&self, cell: Cell) -> Option<usize> {
        let held = self.world().held().map(|stack| stack.item);
        let kind = self.world().volume().block(cell).kind();
        ticks_to_break(kind, held, Footing::default()).map(|ticks| ticks as usize)
    }

    /// Takes what breaks a cell's block best: what gets something out of it, and then what is fastest.
    fn select_tool(&mut self, cell: Cell) -> Solved {
        let kind = self.world().volume().block(cell).kind();
        let rate = |slot: usize| {
            let held = self.world().inventory().slot(slot).map(|stack| stack.item);
            (yields(kind, held), breaking(kind, held, Footing::default()).unwrap_or(0.0))
        };
        let now = self.world().player().slot;
        let best = (0..9).fold(now, |best, slot| if rate(slot) > rate(best) { slot } else { best });
        self.select_slot(best)
    }

    /// Puts a block of the hot bar against a face of a cell's block that the hand reaches.
    pub fn put(&mut self, id: &str, against: Cell, face: [i32; 3]) -> Solved {
        let is_replaced = self.world().volume().block(against).kind().replaceable;
        let cell = if is_replaced { against } else { [0, 1, 2].map(|axis| against[axis] + face[axis]) };
        let was_careful = self.is_careful;
        let placed = self.doing(format!("put {id} into {cell:?}"), |solver| {
            solver.select(id)?;
            if solver.is_used(against) && !was_careful {
                // The eyes are lower then, so sneaking comes before aiming.
                solver.is_careful = true;
                solver.wait(1)?;
            }
            let before = solver.world().volume().block(cell);
            solver.aim_at(against, Some(face))?;
            let keys = CompactKeys { uses: true, ..CompactKeys::default() };
            solver.hold_until(keys, 6, |solver| solver.world().volume().block(cell) != before)?;
            // The button must be up before it is pressed for something else.
            solver.wait(1)
        });
        self.is_careful = was_careful;
        placed
    }

    /// Puts a block into a cell, against whichever neighbour the hand reaches.
    pub fn put_into(&mut self, id: &str, cell: Cell) -> Solved {
        let eyes = self.world().player().eyes();
        let mut supports = self.supports(cell).into_iter();
        match supports.find(|(against, face)| self.can_aim_from(eyes, *against, Some(*face))) {
            Some((against, face)) => self.put(id, against, face),
            None => self.doing(format!("put {id} into {cell:?}"), |solver| {
                solver.fail("no neighbour of it is in reach")
            }),
        }
    }

    /// Walks to where the hand reaches a neighbour of a cell, and puts a block into the cell.
    pub fn go_and_put(&mut self, id: &str, cell: Cell) -> Solved {
        let supports = self.supports(cell);
        self.doing(format!("go to put {id} into {cell:?}"), |solver| {
            solver.walk_to_reach(cell, |solver, place| {
                supports.iter().any(|(against, face)| solver.could_aim(place, *against, Some(*face)))
            })
        })?;
        self.put_into(id, cell)
    }

    /// The neighbours of a cell that something can be put against, with the faces that look into the cell.
    pub fn supports(&self, cell: Cell) -> Vec<(Cell, [i32; 3])> {
        let volume = self.world().volume();
        let neighbours = FACES.into_iter().map(|face| ([0, 1, 2].map(|axis| cell[axis] - face[axis]), face));
        neighbours.filter(|(against, _)| !volume.block(*against).kind().replaceable).collect()
    }

    pub fn is_used(&self, against: Cell) -> bool {
        let id = self.world().volume().block(against).id();
        USED.iter().any(|used| id.ends_with(used))
    }

    /// Goes up by so many blocks of the hot bar, which are put below the feet in jumps.
    pub fn pillar_up(&mut self, id: &str, count: usize) -> Solved {
        self.doing(format!("pillar up {count} {id}"), |solver| {
            solver.select(id)?;
            solver.stand_in_the_middle()?;
            solver.turn_to([90_000, solver.world().player().yaw], crate::look::HALF_BIN)?;
            for _ in 0..count {
                let [x, y, z] = solver.feet();
                let keys = CompactKeys { jump: true, uses: true, ..CompactKeys::default() };
                solver.hold_until(keys, 12, |solver| solver.world().volume().is_solid([x, y, z]))?;
                solver.wait_until(12, |solver| solver.world().player().is_on_ground)?;
                if solver.feet() != [x, y + 1, z] {
                    return solver.fail("it was no jump onto the block");
                }
            }
            Ok(())
        })
    }

    /// Goes to the middle of the cell in which the player stands.
    pub fn stand_in_the_middle(&mut self) -> Solved {
        let Some(cell) = self.standing_cell() else { return self.fail("nothing bears the player") };
        self.walk_to(cell)
    }
}
