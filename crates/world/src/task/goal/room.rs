//! Rooms: air that is enclosed.

use std::collections::BTreeSet;

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
        let mut open = search.open(world);
        search.leave_outside(&mut open);
        let inner: Vec<Cell> = search.cells().filter(|cell| open.has(*cell)).collect();
        inner.into_iter().any(|cell| {
            let room = open.take_all(cell);
            !room.is_empty() && self.is_one(&room, &search, world, marks)
        })
    }

    fn is_one(&self, room: &[Cell], search: &SearchBox, world: &World, marks: &Marks) -> bool {
        let mut inside = search.no_cells();
        for cell in room {
            inside.insert(*cell);
        }
        let (mut border, mut floor) = (Vec::new(), Vec::new());
        let [mut is_border, mut is_floor] = [search.no_cells(), search.no_cells()];
        for cell in room {
            for step in SIDES {
                let beside = add(*cell, step);
                let (side, known) = match step {
                    [0, -1, 0] => (&mut floor, &mut is_floor),
                    _ => (&mut border, &mut is_border),
                };
                if !inside.has(beside) && known.insert(beside) {
                    side.push(beside);
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
                let only_below = floor.iter().filter(|cell| !is_border.has(**cell));
                let cells = room.iter().chain(&border).chain(only_below);
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
    if block.is_air() {
        return true;
    }
    let is_open = !block.state().solid && !block.id().contains("door");
    is_open || block.kind().support == BlockSupport::Lantern
}

/// The cells in which rooms are searched for.
struct SearchBox {
    low: Cell,
    high: Cell,
}

impl SearchBox {
    /// None if there is nothing, or it is spread too widely.
    fn around(cells: &BTreeSet<Cell>) -> Option<Self> {
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

    fn cells(&self) -> impl Iterator<Item = Cell> + use<> {
        let (low, high) = (self.low, self.high);
        (low[1]..=high[1]).flat_map(move |y| {
            (low[2]..=high[2]).flat_map(move |z| (low[0]..=high[0]).map(move |x| [x, y, z]))
        })
    }

    fn no_cells(&self) -> CellSet {
        let edges = [0, 1, 2].map(|axis| self.high[axis] - self.low[axis] + 1);
        CellSet { low: self.low, edges, cells: vec![false; edges.map(|edge| edge as usize).iter().product()] }
    }

    /// The cells that air gets through.
    fn open(&self, world: &World) -> CellSet {
        let mut open = self.no_cells();
        for cell in self.cells().filter(|cell| is_passable(world, *cell)) {
            open.insert(cell);
        }
        open
    }

    /// Leaves out the cells that air from outside gets to.
    fn leave_outside(&self, open: &mut CellSet) {
        let is_rim = |cell: &Cell| {
            (0..3).any(|axis| cell[axis] == self.low[axis] || cell[axis] == self.high[axis])
                || !contains(*cell)
        };
        for cell in self.cells().filter(is_rim) {
            open.take_all(cell);
        }
    }
}

/// Some of the cells of a box, a flag for each: boxes are large, and are searched after every change of a block.
struct CellSet {
    low: Cell,
    edges: [i32; 3],
    cells: Vec<bool>,
}

impl CellSet {
    fn place(&self, cell: Cell) -> Option<usize> {
        let [x, y, z] = [0, 1, 2].map(|axis| cell[axis] - self.low[axis]);
        let [width, height, depth] = self.edges;
        let is_in = (0..width).contains(&x) && (0..height).contains(&y) && (0..depth).contains(&z);
        is_in.then(|| ((y * depth + z) * width + x) as usize)
    }

    fn has(&self, cell: Cell) -> bool {
        self.place(cell).is_some_and(|place| self.cells[place])
    }

    /// Adds a cell. Returns whether it is new, and within the box.
    fn insert(&mut self, cell: Cell) -> bool {
        self.place(cell).is_some_and(|place| !std::mem::replace(&mut self.cells[place], true))
    }

    fn take(&mut self, cell: Cell) -> bool {
        self.place(cell).is_some_and(|place| std::mem::take(&mut self.cells[place]))
    }

    /// Takes out a cell and all that hang together with it, and returns them; none if it is not there.
    fn take_all(&mut self, start: Cell) -> Vec<Cell> {
        let mut taken = Vec::new();
        if self.take(start) {
            taken.push(start);
        }
        let mut next = 0;
        while let Some(cell) = taken.get(next).copied() {
            next += 1;
            for beside in SIDES.map(|step| add(cell, step)) {
                if self.take(beside) {
                    taken.push(beside);
                }
            }
        }
        taken
    }
}
