//! Counts, columns, walls and towers of placed blocks, and gates.

use std::collections::BTreeSet;

use super::{Column, CountPlaced, Lit, Open, Tower, Wall};
use crate::player::cell_of;
use crate::support::add;
use crate::task::block_text::is_open;
use crate::task::marks::Marks;
use crate::task::sets::{BlockSet, common_id};
use crate::volume::{Cell, contains};
use crate::world::World;

/// Whether enough of some cells have such blocks: so many, and of so many kinds.
pub(super) fn has_enough(
    of: &BlockSet,
    [count, kinds]: [u32; 2],
    world: &World,
    cells: impl Iterator<Item = Cell>,
) -> bool {
    let (mut found, mut found_kinds) = (0, BTreeSet::new());
    for cell in cells {
        let block = world.volume.block(cell);
        // A block of two cells is one.
        let is_other_half = block.is("half", "upper") || block.is("part", "head");
        if of.has(block) && !is_other_half {
            found += 1;
            found_kinds.insert(common_id(block.id()));
        }
    }
    found >= count && found_kinds.len() as u32 >= kinds
}

impl CountPlaced {
    pub fn holds(&self, world: &World, cells: impl Iterator<Item = Cell>) -> bool {
        has_enough(&self.of, [self.count, self.kinds], world, cells)
    }
}

impl Column {
    pub fn holds(&self, world: &World, marks: &Marks) -> bool {
        let has = |cell: &Cell| marks.placed().contains(cell) && self.of.has(world.volume.block(*cell));
        let starts = marks.placed().iter().filter(|cell| !has(&add(**cell, [0, -1, 0])));
        starts.into_iter().any(|start| run(*start, [0, 1, 0], self.height, has))
    }
}

impl Wall {
    pub fn holds(&self, world: &World, marks: &Marks) -> bool {
        let is_part = |cell: &Cell| marks.placed().contains(cell) && world.volume.block(*cell).state().solid;
        let stands = |cell: &Cell| run(*cell, [0, 1, 0], self.height, is_part);
        let along = |step| marks.placed().iter().any(|start| run(*start, step, self.length, stands));
        along([1, 0, 0]) || along([0, 0, 1])
    }
}

/// Whether so many cells in a row are all such.
fn run(start: Cell, step: [i32; 3], length: u32, is_part: impl Fn(&Cell) -> bool) -> bool {
    let mut cell = start;
    (0..length).all(|_| {
        let part = is_part(&cell);
        cell = add(cell, step);
        part
    })
}

impl Tower {
    pub fn holds(&self, world: &World, marks: &Marks) -> bool {
        let player = &world.player;
        if !player.is_on_ground {
            return false;
        }
        // The tower is what hangs together with the block under the feet.
        let [x, y, z] = player.position;
        let half = crate::player::constants::WIDTH / 2.0 - 0.001;
        let corners = [[0.0, 0.0], [-half, -half], [-half, half], [half, -half], [half, half]];
        corners.into_iter().any(|[dx, dz]| {
            let below = cell_of([x + dx, y - 0.01, z + dz]);
            marks.placed().contains(&below) && self.is_one(marks, below)
        })
    }

    fn is_one(&self, marks: &Marks, top: Cell) -> bool {
        let mut known = BTreeSet::from([top]);
        let mut open = vec![top];
        while let Some(cell) = open.pop() {
            for step in super::room::SIDES {
                let beside = add(cell, step);
                if marks.placed().contains(&beside) && known.insert(beside) {
                    open.push(beside);
                }
            }
        }
        let extent = |axis: usize| {
            let low = known.iter().map(|cell| cell[axis]).min().unwrap_or_default();
            let high = known.iter().map(|cell| cell[axis]).max().unwrap_or_default();
            (low, (high - low + 1) as u32)
        };
        let (bottom, _) = extent(1);
        let is_slim = [0, 2].into_iter().all(|axis| extent(axis).1 <= self.base);
        is_slim && (top[1] - bottom + 1) as u32 >= self.height
    }
}

impl Open {
    pub fn holds(&self, world: &World, marks: &Marks) -> bool {
        marks.placed().iter().any(|cell| {
            let block = world.volume.block(*cell);
            self.of.has(block) && is_open(block)
        })
    }
}

impl Lit {
    pub fn holds(&self, world: &World, origin: [f64; 3]) -> bool {
        let [x, y, z] = cell_of(origin);
        let reach = self.within as i32;
        let mut count = 0;
        for dz in -reach..=reach {
            for dx in -reach..=reach {
                let is_lit = |cell: Cell| {
                    let block = world.volume.block(cell);
                    contains(cell)
                        && !block.state().solid
                        && !block.is_liquid()
                        && world.volume.is_solid(add(cell, [0, -1, 0]))
                        && world.volume.light(cell).block() >= self.light
                };
                count += u32::from((-8..=8).any(|dy| is_lit([x + dx, y + dy, z + dz])));
            }
        }
        count >= self.cells
    }
}
