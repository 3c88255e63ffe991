//! A grid as a spec of boxes that do not overlap, and single blocks.

use std::io::Write;

use crate::grid::{Bounds, Grid};
use crate::palette::{AIR, Block};

/// Writes the spec. None if it would be longer than `max_bytes`.
pub fn write(grid: &Grid, bounds: Bounds, max_bytes: usize) -> Option<Vec<u8>> {
    let mut boxes = br#"{"version":"1.0","boxes":["#.to_vec();
    let mut blocks = br#"],"blocks":["#.to_vec();
    let [_, y1, z1] = bounds.min.map(usize::from);
    let [_, y2, z2] = bounds.max.map(usize::from);
    let mut rest = RemainingCells { cells: grid.cells().to_vec(), edge: grid.size().get() };
    for (y, z) in (y1..=y2).flat_map(|y| (z1..=z2).map(move |z| (y, z))) {
        while let Some((low, high, cell)) = rest.take(y, z) {
            let ([x1, y1, z1], [x2, y2, z2]) = (low, high);
            let id = Block::by_number(cell).map_or("", |block| &block.id);
            // Writing to memory cannot fail.
            let _ = if low == high {
                write!(blocks, "\n{{\"x\":{x1},\"y\":{y1},\"z\":{z1},\"type\":\"{id}\"}},")
            } else {
                let from = format_args!("\"x1\":{x1},\"y1\":{y1},\"z1\":{z1}");
                write!(boxes, "\n{{{from},\"x2\":{x2},\"y2\":{y2},\"z2\":{z2},\"type\":\"{id}\"}},")
            };
        }
        if boxes.len() + blocks.len() > max_bytes {
            return None;
        }
    }
    for list in [&mut boxes, &mut blocks] {
        list.pop_if(|last| *last == b',');
    }
    boxes.append(&mut blocks);
    boxes.extend(b"\n]}\n");
    Some(boxes)
}

/// The cells that are not in a box yet.
struct RemainingCells {
    cells: Vec<u8>,
    edge: usize,
}

impl RemainingCells {
    /// Removes the first box that begins in a row, as long, then as deep, then as high as possible.
    fn take(&mut self, y: usize, z: usize) -> Option<([usize; 3], [usize; 3], u8)> {
        let edge = self.edge;
        let row = &self.cells[(y * edge + z) * edge..][..edge];
        let x = row.iter().position(|&cell| cell != AIR)?;
        let cell = row[x];
        let width = row[x..].iter().take_while(|&&other| other == cell).count();
        let run = |y: usize, z: usize| (y * edge + z) * edge + x..(y * edge + z) * edge + x + width;
        let alike = |y: usize, z: usize| self.cells[run(y, z)].iter().all(|&other| other == cell);
        let depth = 1 + (z + 1..edge).take_while(|&z| alike(y, z)).count();
        let height = 1 + (y + 1..edge).take_while(|&y| (z..z + depth).all(|z| alike(y, z))).count();
        for y in y..y + height {
            for z in z..z + depth {
                self.cells[run(y, z)].fill(AIR);
            }
        }
        Some(([x, y, z], [x + width - 1, y + height - 1, z + depth - 1], cell))
    }
}
