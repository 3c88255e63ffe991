//! What is seen from above: rings and mazes.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::{Maze, Ring};
use crate::support::add;
use crate::task::marks::Marks;
use crate::volume::Cell;
use crate::world::World;

/// How wide a ring or a maze may be.
const MAX_WIDTH: i32 = 48;

/// A cell of a floor plan.
type PlanCell = [i32; 2];

const WAYS: [PlanCell; 4] = [[0, -1], [0, 1], [-1, 0], [1, 0]];

/// A rectangle of a floor plan.
#[derive(Clone, Copy)]
struct PlanBox {
    low: PlanCell,
    high: PlanCell,
}

impl PlanBox {
    /// None if there is nothing, or it is spread too widely.
    fn around(spots: &BTreeSet<PlanCell>) -> Option<Self> {
        let first = *spots.first()?;
        let (mut low, mut high) = (first, first);
        for spot in spots {
            for axis in 0..2 {
                low[axis] = low[axis].min(spot[axis]);
                high[axis] = high[axis].max(spot[axis]);
            }
        }
        let fits = (0..2).all(|axis| high[axis] - low[axis] < MAX_WIDTH);
        fits.then_some(Self { low, high })
    }

    fn contains(self, spot: PlanCell) -> bool {
        (0..2).all(|axis| (self.low[axis]..=self.high[axis]).contains(&spot[axis]))
    }

    fn is_rim(self, spot: PlanCell) -> bool {
        (0..2).any(|axis| spot[axis] == self.low[axis] || spot[axis] == self.high[axis])
    }

    /// The number of a spot that it contains, row by row.
    fn place(self, [x, z]: PlanCell) -> usize {
        let width = self.high[0] - self.low[0] + 1;
        ((z - self.low[1]) * width + x - self.low[0]) as usize
    }

    fn spots(self) -> impl Iterator<Item = PlanCell> {
        (self.low[1]..=self.high[1]).flat_map(move |z| (self.low[0]..=self.high[0]).map(move |x| [x, z]))
    }
}

/// The levels of cells, with what there is of each.
fn levels<'a>(cells: impl Iterator<Item = &'a Cell>) -> BTreeMap<i32, BTreeSet<PlanCell>> {
    let mut levels = BTreeMap::<i32, BTreeSet<PlanCell>>::new();
    for [x, y, z] in cells {
        levels.entry(*y).or_default().insert([*x, *z]);
    }
    levels
}

impl Ring {
    pub fn holds(&self, world: &World, marks: &Marks) -> bool {
        let fence = marks.placed().iter().filter(|cell| self.of.has(world.volume.block(**cell)));
        levels(fence).iter().any(|(y, fence)| {
            let Some(inside) = inside(fence) else { return false };
            let around = self.around.as_ref().is_none_or(|around| {
                // The ground inside may go up and down a little.
                let cells = inside.iter().flat_map(|[x, z]| (-1..=1).map(|up| [*x, y + up, *z]));
                around.holds(world, cells.filter(|cell| marks.placed().contains(cell)))
            });
            inside.len() as u32 >= self.area && around
        })
    }
}

/// What a fence keeps in.
fn inside(fence: &BTreeSet<PlanCell>) -> Option<Vec<PlanCell>> {
    let PlanBox { low, high } = PlanBox::around(fence)?;
    let plan = PlanBox { low: low.map(|at| at - 1), high: high.map(|at| at + 1) };
    let mut outside = BTreeSet::from([plan.low]);
    let mut open = vec![plan.low];
    while let Some(spot) = open.pop() {
        for way in WAYS {
            let beside = [spot[0] + way[0], spot[1] + way[1]];
            if plan.contains(beside) && !fence.contains(&beside) && outside.insert(beside) {
                open.push(beside);
            }
        }
    }
    Some(plan.spots().filter(|spot| !fence.contains(spot) && !outside.contains(spot)).collect())
}

impl Maze {
    pub fn holds(&self, world: &World, marks: &Marks) -> bool {
        let is_wall = |cell: &&Cell| {
            let above = add(**cell, [0, 1, 0]);
            marks.placed().contains(&above)
                && [**cell, above].into_iter().all(|cell| world.volume.block(cell).state().solid)
        };
        levels(marks.placed().iter().filter(is_wall)).iter().any(|(y, walls)| {
            let Some(plan) = PlanBox::around(walls) else { return false };
            // Some posts on a meadow are no maze: at least half of the rim is wall.
            let rim: Vec<PlanCell> = plan.spots().filter(|spot| plan.is_rim(*spot)).collect();
            if rim.iter().filter(|spot| walls.contains(*spot)).count() * 2 < rim.len() {
                return false;
            }
            let is_way = |[x, z]: PlanCell| {
                (0..2).all(|up| !world.volume.is_solid([x, y + up, z]))
                    && world.volume.is_solid([x, y - 1, z])
            };
            let ways = PlanWays { plan, are_ways: plan.spots().map(is_way).collect() };
            let openings = || rim.iter().filter(|spot| ways.has(**spot));
            openings().any(|from| {
                let bends = ways.fewest_bends(*from);
                openings().any(|to| bends[plan.place(*to)].is_some_and(|bends| bends >= self.bends))
            })
        })
    }
}

/// The spots of a plan that one can walk on, row by row.
struct PlanWays {
    plan: PlanBox,
    are_ways: Vec<bool>,
}

impl PlanWays {
    fn has(&self, spot: PlanCell) -> bool {
        self.plan.contains(spot) && self.are_ways[self.plan.place(spot)]
    }

    /// With how many bends at least each spot is got to, row by row.
    fn fewest_bends(&self, from: PlanCell) -> Vec<Option<u32>> {
        let mut known = vec![None; self.are_ways.len()];
        known[self.plan.place(from)] = Some(0);
        let mut open = VecDeque::from([(from, 0)]);
        // Straight runs cost nothing, so spots come in the order of their bends.
        let mut through = vec![[false; WAYS.len()]; self.are_ways.len()];
        while let Some((spot, bends)) = open.pop_front() {
            for (way, step) in WAYS.into_iter().enumerate() {
                let mut at = [spot[0] + step[0], spot[1] + step[1]];
                while self.has(at) && !std::mem::replace(&mut through[self.plan.place(at)][way], true) {
                    let reached = &mut known[self.plan.place(at)];
                    if reached.is_none() {
                        // The first run has no bend before it.
                        let needed = if spot == from { 0 } else { bends + 1 };
                        *reached = Some(needed);
                        open.push_back((at, needed));
                    }
                    at = [at[0] + step[0], at[1] + step[1]];
                }
            }
        }
        known
    }
}
