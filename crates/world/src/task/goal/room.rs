//! Rooms: air that is enclosed.

use std::collections::{BTreeSet, VecDeque};

use super::Room;
use crate::block::BlockSupport;
use crate::support::add;
use crate::task::marks::Marks;
use crate::volume::{Cell, contains};
use crate::world::World;

pub(super) const SIDES: [[i32; 3]; 6] = [[0, -1, 0], [0, 1, 0], [0, 0, -1], [0, 0, 1], [-1, 0, 0], [1, 0, 0]];

/// How far around the placed blocks rooms are searched for, and how wide that may be.
const MARGIN: i32 = 3;
const MAX_EDGE: i32 = 64;

impl Room {
    pub fn holds(&self, world: &World, marks: &Marks) -> bool {
        let Some(search) = SearchBox::around(marks.placed()) else { return false };
        let outside = search.outside(world);
        let mut seen = outside.clone();
        for cell in search.cells() {
            if is_passable(world, cell) && !seen.contains(&cell) {
                let room = flood(cell, &mut seen, |cell| search.contains(cell) && is_passable(world, cell));
                if self.is_one(&room, world, marks) {
                    return true;
                }
            }
        }
        false
    }

    fn is_one(&self, room: &[Cell], world: &World, marks: &Marks) -> bool {
        let inside: BTreeSet<Cell> = room.iter().copied().collect();
        let mut border = BTreeSet::new();
        let mut floor = BTreeSet::new();
        for cell in room {
            for step in SIDES {
                let beside = add(*cell, step);
                if !inside.contains(&beside) {
                    let side = if step == [0, -1, 0] { &mut floor } else { &mut border };
                    side.insert(beside);
                }
            }
        }
        let air = room.iter().filter(|cell| world.volume.block(**cell).is_air()).count() as u32;
        // A cave with a lid is no house: at least half of walls and roof are the player's.
        let own = border.iter().filter(|cell| marks.placed().contains(*cell)).count();
        let has_door = || border.iter().any(|cell| world.volume.block(*cell).id().ends_with("_door"));
        let is_lit = || room.iter().all(|cell| world.volume.light(*cell).block() >= self.light);
        let has_things = || {
            self.with.as_ref().is_none_or(|with| {
                let cells = inside.iter().chain(&border).chain(floor.difference(&border));
                with.holds(world, cells.copied().filter(|cell| marks.placed().contains(cell)))
            })
        };
        air >= self.air && own * 2 >= border.len() && (!self.door || has_door()) && is_lit() && has_things()
    }
}

/// Whether air gets through a cell. Doors keep it in, also while they are open; a lantern does not, nor does it hide the
/// wall behind it.
fn is_passable(world: &World, cell: Cell) -> bool {
    let block = world.volume.block(cell);
    let is_open = !block.state().solid && !block.id().contains("door");
    is_open || block.kind().support == BlockSupport::Lantern
}

/// The cells in which rooms are searched for.
pub(super) struct SearchBox {
    pub low: Cell,
    pub high: Cell,
}

impl SearchBox {
    /// None if there is nothing, or it is spread too widely.
    pub fn around(cells: &BTreeSet<Cell>) -> Option<Self> {
        let first = *cells.first()?;
        let (mut low, mut high) = (first, first);
        for cell in cells {
            for axis in 0..3 {
                low[axis] = low[axis].min(cell[axis]);
                high[axis] = high[axis].max(cell[axis]);
            }
        }
        let fits = (0..3).all(|axis| high[axis] - low[axis] < MAX_EDGE);
        fits.then(|| Self { low: low.map(|at| at - MARGIN), high: high.map(|at| at + MARGIN) })
    }

    pub fn contains(&self, cell: Cell) -> bool {
        (0..3).all(|axis| (self.low[axis]..=self.high[axis]).contains(&cell[axis])) && contains(cell)
    }

    pub fn cells(&self) -> impl Iterator<Item = Cell> + use<> {
        let (low, high) = (self.low, self.high);
        (low[1]..=high[1]).flat_map(move |y| {
            (low[2]..=high[2]).flat_map(move |z| (low[0]..=high[0]).map(move |x| [x, y, z]))
        })
    }

    /// The cells that air from outside gets to.
    fn outside(&self, world: &World) -> BTreeSet<Cell> {
        let is_rim = |cell: &Cell| {
            (0..3).any(|axis| cell[axis] == self.low[axis] || cell[axis] == self.high[axis])
                || !contains(*cell)
        };
        let mut outside = BTreeSet::new();
        for cell in self.cells().filter(is_rim) {
            if is_passable(world, cell) && !outside.contains(&cell) {
                flood(cell, &mut outside, |cell| self.contains(cell) && is_passable(world, cell));
            }
        }
        outside
    }
}

/// The cells that hang together with one, which are added to those that are known.
pub(super) fn flood(start: Cell, known: &mut BTreeSet<Cell>, is_free: impl Fn(Cell) -> bool) -> Vec<Cell> {
    let mut found = vec![start];
    let mut open = VecDeque::from([start]);
    known.insert(start);
    while let Some(cell) = open.pop_front() {
        for step in SIDES {
            let beside = add(cell, step);
            if is_free(beside) && known.insert(beside) {
                found.push(beside);
                open.push_back(beside);
            }
        }
    }
    found
}
