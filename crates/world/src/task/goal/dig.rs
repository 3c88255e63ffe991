//! Tunnels and holes.

use super::{DigAndFill, Tunnel};
use crate::support::add;
use crate::task::marks::Marks;
use crate::volume::Cell;
use crate::world::World;

/// How far above a passage its ceiling may be.
const CEILING: i32 = 3;

impl Tunnel {
    pub fn holds(&self, world: &World, marks: &Marks) -> bool {
        let is_part = |cell: &Cell| {
            let is_covered = (1..=CEILING).any(|up| world.volume.is_solid(add(*cell, [0, up, 0])));
            marks.dug().contains(cell) && is_covered
        };
        let along = |start: Cell, step: [i32; 3]| {
            (0..self.length as i32).all(|at| is_part(&add(start, step.map(|part| part * at))))
        };
        marks.dug().iter().any(|start| along(*start, [1, 0, 0]) || along(*start, [0, 0, 1]))
    }
}

impl DigAndFill {
    pub fn holds(&self, _world: &World, marks: &Marks) -> bool {
        marks.holes().iter().any(|&(top, depth)| {
            let cells = (0..depth as i32).map(|down| add(top, [0, -down, 0]));
            depth >= self.depth
                && cells.filter(|cell| marks.placed().contains(cell)).count() as u32 >= self.fill
        })
    }
}
