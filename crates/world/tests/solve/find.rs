//! Finding blocks, free ground and items that lie about.

use world::block::WorldBlock;
use world::{Cell, ItemId};

use crate::look::distance;
use crate::solver::{Solved, Solver};

/// How far around the player blocks are found, to the sides and up and down.
const SIDEWAYS: i32 = 40;
const UPWARDS: i32 = 24;

const UP: [i32; 3] = [0, 1, 0];

/// How long an item is left to come to rest, and how often it is gone for.
const LYING: usize = 15;
const ATTEMPTS: usize = 4;

impl Solver<'_> {
    /// The cell of the nearest block for which something holds.
    pub fn find(&self, is_wanted: impl Fn(WorldBlock) -> bool) -> Option<Cell> {
        self.find_where(|_, block| is_wanted(block))
    }

    /// The cell of the nearest block with an id.
    pub fn find_block(&self, id: &str) -> Solved<Cell> {
        match self.find(|block| block.id() == id) {
            Some(cell) => Ok(cell),
            None => self.fail(format!("there is no {id} nearby")),
        }
    }

    /// The nearest cell for which something holds, with its block.
    pub fn find_where(&self, is_wanted: impl Fn(Cell, WorldBlock) -> bool) -> Option<Cell> {
        let (volume, eyes, [x, y, z]) = (self.world().volume(), self.world().player().eyes(), self.feet());
        let mut nearest: Option<(f64, Cell)> = None;
        for dy in -UPWARDS..=UPWARDS {
            for dz in -SIDEWAYS..=SIDEWAYS {
                for dx in -SIDEWAYS..=SIDEWAYS {
                    let cell = [x + dx, y + dy, z + dz];
                    let away = distance(eyes, cell.map(|at| f64::from(at) + 0.5));
                    if nearest.is_none_or(|(least, _)| away < least) && is_wanted(cell, volume.block(cell)) {
                        nearest = Some((away, cell));
                    }
                }
            }
        }
        nearest.map(|(_, cell)| cell)
    }

    /// The nearest cell of free ground in which something can be put, and aimed at afterwards, with its ground.
    fn find_ground(&self) -> Option<Cell> {
        let (volume, eyes, feet) = (self.world().volume(), self.world().player().eyes(), self.feet());
        self.find_where(|[x, y, z], block| {
            let is_free = block.is_air() && (1..3).all(|up| volume.block([x, y + up, z]).is_air());
            is_free
                && x.abs_diff(feet[0]).max(z.abs_diff(feet[2])) >= 2
                && y.abs_diff(feet[1]) <= 1
                && volume.is_solid([x, y - 1, z])
                && self.can_aim_from(eyes, [x, y - 1, z], Some(UP))
        })
    }

    /// Puts a block of the hot bar on free ground that the hand reaches. Returns its cell.
    pub fn put_nearby(&mut self, id: &str) -> Solved<Cell> {
        self.settle()?;
        let Some([x, y, z]) = self.find_ground() else {
            return self.fail("there is no free ground in reach");
        };
        self.put(id, [x, y - 1, z], UP)?;
        Ok([x, y, z])
    }

    /// Digs a hole, one cell deep, into free ground that the hand reaches. Returns its cell.
    pub fn dig_hole_nearby(&mut self) -> Solved<Cell> {
        self.settle()?;
        let Some([x, y, z]) = self.find_ground() else {
            return self.fail("there is no free ground in reach");
        };
        self.dig([x, y - 1, z])?;
        Ok([x, y - 1, z])
    }

    /// Walks to the nearest item of a kind that lies about, until it is picked up.
    pub fn pick_up(&mut self, id: &str) -> Solved {
        self.doing(format!("pick up {id}"), |solver| {
            let Some(item) = ItemId::of(id) else { return solver.fail("there is no such item") };
            let before = solver.world().inventory().count(item);
            let has_come = |solver: &Self| solver.world().inventory().count(item) > before;
            for _ in 0..ATTEMPTS {
                // An item that has just come about flies, and is not picked up yet.
                if solver.wait_until(LYING, has_come).is_ok() {
                    return Ok(());
                }
                let eyes = solver.world().player().eyes();
                let items = solver.world().things().items().iter();
                let fit = items.filter(|body| body.stack.item == item).map(|body| body.position);
                let Some(place) =
                    fit.min_by(|one, other| distance(eyes, *one).total_cmp(&distance(eyes, *other)))
                else {
                    return solver.fail("none lies about");
                };
                let cell = [place[0], place[1] + 0.1, place[2]].map(|at| at.floor() as i32);
                solver.walk_near(cell, 1.0)?;
            }
            solver.fail("it cannot be picked up")
        })
    }
}
