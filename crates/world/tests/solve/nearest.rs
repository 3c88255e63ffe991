//! What is near: finding blocks, free ground and items by what they are, and going to them.

use world::aim::aim;
use world::block::WorldBlock;
use world::player::constants::{STANDING, WIDTH};
use world::things::constants::{EDGE, REACH};
use world::{Cell, ItemBody, ItemId, Volume};

use crate::look::{angles_to, distance};
use crate::path::{Foothold, foothold, least_cost};
use crate::solver::{Solved, Solver};
use crate::walk::NEAR;

/// How far around the feet blocks are looked for, to the sides and in height: all of them, and the nearest alone.
const AROUND: [i32; 3] = [26, 12, 26];
const FAR_AROUND: [i32; 3] = [40, 24, 40];

const UP: [i32; 3] = [0, 1, 0];

/// How long an item is left to come to rest, and how often it is gone for.
const LYING: usize = 15;
const ATTEMPTS: usize = 4;

/// The age, in ticks, up to which an item is waited for while it falls.
const FALLING: u16 = 40;

/// How high above the ground eyes are.
const EYES: f64 = STANDING.1;

fn middle_of(cell: Cell) -> [f64; 3] {
    cell.map(|at| f64::from(at) + 0.5)
}

/// Whether eyes see a block, and how far away. Looks go through liquids.
fn sees(volume: &Volume, eyes: [f64; 3], cell: Cell, within: f64) -> bool {
    let point = middle_of(cell);
    let away = distance(eyes, point);
    if away > within {
        return false;
    }
    let look = [0, 1, 2].map(|axis| (point[axis] - eyes[axis]) / away.max(1e-9));
    match aim(volume, eyes, look, within) {
        Some(target) => target.cell == cell || volume.block(cell).is_liquid() && target.distance > away,
        None => volume.block(cell).is_liquid(),
    }
}

/// The least that is left to walk to one of several cells, from so far off.
fn estimate(from: Cell, cells: &[Cell], off: f64) -> u32 {
    let least = cells.iter().map(|cell| least_cost(from, *cell)).min().unwrap_or_default();
    least.saturating_sub((off * 14.0) as u32 + 14)
}

/// All cells so far around a cell, from below.
fn cells_around(middle: Cell, reach: [i32; 3]) -> impl Iterator<Item = Cell> {
    let [x, y, z] = [0, 1, 2].map(|axis| middle[axis] - reach[axis]..=middle[axis] + reach[axis]);
    y.flat_map(move |y| {
        let (x, z) = (x.clone(), z.clone());
        z.flat_map(move |z| x.clone().map(move |x| [x, y, z]))
    })
}

impl Solver<'_> {
    /// The blocks around for which something holds, the nearest first.
    pub fn blocks_around(&self, is_wanted: impl Fn(Cell, WorldBlock) -> bool) -> Vec<Cell> {
        let (feet, volume) = (self.feet(), self.world().volume());
        let cells = cells_around(feet, AROUND);
        let mut found: Vec<Cell> = cells.filter(|cell| is_wanted(*cell, volume.block(*cell))).collect();
        found.sort_by_key(|cell| {
            let away: i32 = (0..3).map(|axis| (cell[axis] - feet[axis]).pow(2)).sum();
            (away, *cell)
        });
        found
    }

    pub fn blocks_of(&self, id: &str) -> Vec<Cell> {
        self.blocks_around(|_, block| block.id() == id)
    }

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
        let (volume, eyes) = (self.world().volume(), self.world().player().eyes());
        let mut nearest: Option<(f64, Cell)> = None;
        for cell in cells_around(self.feet(), FAR_AROUND) {
            let away = distance(eyes, middle_of(cell));
            if nearest.is_none_or(|(least, _)| away < least) && is_wanted(cell, volume.block(cell)) {
                nearest = Some((away, cell));
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
                let Some(ItemBody { position: place, .. }) = solver.nearest_item(id) else {
                    return solver.fail("none lies about");
                };
                let cell = [place[0], place[1] + 0.1, place[2]].map(|at| at.floor() as i32);
                solver.walk_near(cell, 1.0)?;
            }
            solver.fail("it cannot be picked up")
        })
    }

    /// Digs whichever of some cells is got at first. Who reaches some from here takes the one with the shortest turn.
    pub fn dig_one_of(&mut self, cells: &[Cell]) -> Solved<Cell> {
        self.doing(format!("dig one of {} cells: {:?}", cells.len(), cells.first()), |solver| {
            if let Some(cell) = solver.aimed_of(cells, None) {
                return solver.dig(cell).map(|()| cell);
            }
            let is_got_at = |solver: &Self, place: [f64; 3]| {
                let near = cells.iter().filter(|cell| distance(place, middle_of(**cell)) < 6.0);
                near.into_iter().any(|cell| solver.could_aim(place, *cell, None))
            };
            solver.walk_where(
                |from| estimate(from, cells, 5.0),
                |solver, waypoint| is_got_at(solver, waypoint.place),
            )?;
            match solver.aimed_of(cells, None) {
                Some(cell) => solver.dig(cell).map(|()| cell),
                None => solver.fail("none is in reach"),
            }
        })
    }

    /// The one of some cells that the hand reaches after the shortest turn, at a face if one is named.
    pub fn aimed_of(&self, cells: &[Cell], face: Option<[i32; 3]>) -> Option<Cell> {
        let eyes = self.world().player().eyes();
        let near = cells.iter().copied().filter(|cell| distance(eyes, middle_of(*cell)) < 6.0);
        let aimed = near.filter(|cell| self.can_aim_from(eyes, *cell, face));
        aimed.min_by_key(|cell| {
            let away = self.away_from(angles_to(eyes, middle_of(*cell)));
            (away.map(i32::abs).into_iter().max(), *cell)
        })
    }

    /// Digs a cell, from here if the hand reaches it.
    pub fn reach_and_dig(&mut self, cell: Cell) -> Solved {
        self.dig_one_of(&[cell]).map(|_| ())
    }

    /// Walks to all items of a kind that lie about, and takes them.
    pub fn collect(&mut self, id: &str) -> Solved {
        self.doing(format!("collect {id}"), |solver| {
            while let Some(ItemBody { position: item, is_on_ground, age, .. }) = solver.nearest_item(id) {
                let is_falling = !is_on_ground && age < FALLING;
                if is_falling || is_taken(solver.position(), item, 0.0) {
                    solver.wait(1)?;
                } else {
                    let cell = item.map(|at| at.floor() as i32);
                    solver.walk_where(
                        |from| estimate(from, &[cell], 1.5),
                        |_, waypoint| is_taken(waypoint.place, item, NEAR),
                    )?;
                }
            }
            Ok(())
        })
    }

    fn nearest_item(&self, id: &str) -> Option<ItemBody> {
        let items = self.world().things().items().iter().filter(|item| item.stack.item.id() == id);
        let away = |item: &ItemBody| distance(item.position, self.position());
        items.min_by(|one, other| away(one).total_cmp(&away(other))).cloned()
    }

    /// Walks to where one of some blocks is seen from no further away, looks at it and goes on doing so.
    pub fn watch_one_of(&mut self, cells: &[Cell], within: f64, steps: usize) -> Solved {
        self.doing(format!("watch one of {} cells", cells.len()), |solver| {
            // A walk may end a little further away than where it leads to.
            let walked = within - 0.5;
            let seen = |solver: &Self, eyes: [f64; 3]| {
                cells.iter().copied().find(|cell| sees(solver.world().volume(), eyes, *cell, walked))
            };
            solver.walk_where(
                |from| estimate(from, cells, within),
                |solver, waypoint| {
                    let [x, y, z] = waypoint.place;
                    let is_dry = foothold(solver.world().volume(), waypoint.cell) != Some(Foothold::Water);
                    let is_seen = |[dx, dz]: [f64; 2]| seen(solver, [x + dx, y + EYES, z + dz]).is_some();
                    is_dry
                        && [[-NEAR, -NEAR], [-NEAR, NEAR], [NEAR, -NEAR], [NEAR, NEAR]]
                            .into_iter()
                            .all(is_seen)
                },
            )?;
            let eyes = solver.world().player().eyes();
            let Some(cell) =
                cells.iter().copied().find(|cell| sees(solver.world().volume(), eyes, *cell, within))
            else {
                return solver.fail("none is seen");
            };
            solver.look_at(middle_of(cell))?;
            solver.wait(steps)
        })
    }
}

/// Whether a player at a place takes an item at another one, also so far beside the place.
fn is_taken(place: [f64; 3], item: [f64; 3], beside: f64) -> bool {
    let is_near =
        |axis: usize| (place[axis] - item[axis]).abs() + beside < WIDTH / 2.0 + REACH[axis] + EDGE / 2.0;
    let (low, high) = (place[1] - REACH[1] - EDGE, place[1] + STANDING.0 + REACH[1]);
    is_near(0) && is_near(2) && item[1] > low + 1e-3 && item[1] < high
}
