//! A furnished house on a meadow.

use super::meadow::{PLAIN, clear};
use super::{block, meadow};
use crate::block::{Axis, Facing, WorldBlock};
use crate::volume::Volume;

/// The corner of the house with the least coordinates, on the ground, and its size.
const CORNER: [i32; 3] = [122, PLAIN + 1, 122];
const WIDTH: i32 = 13;
const DEPTH: i32 = 11;
const WALL: i32 = 4;

pub(super) fn start() -> ([f64; 3], i32) {
    let [x, y, z] = CORNER;
    ([f64::from(x + WIDTH / 2) + 0.5, f64::from(y), f64::from(z + 3) + 0.5], 0)
}

pub(super) fn make(number: u64) -> Volume {
    let mut volume = meadow::make(number);
    let [x, y, z] = CORNER;
    let (right, back, ceiling) = (x + WIDTH - 1, z + DEPTH - 1, y + WALL);
    clear(&mut volume, [x - 2, y, z - 2], [right + 2, y + 14, back + 2], WorldBlock::AIR);
    clear(&mut volume, [x - 1, PLAIN - 1, z - 1], [right + 1, PLAIN, back + 1], block("cobblestone"));
    clear(&mut volume, [x + 1, PLAIN, z + 1], [right - 1, PLAIN, back - 1], block("spruce_planks"));
    build_walls(&mut volume);
    build_roof(&mut volume, [x - 1, ceiling + 1, z - 1], [right + 1, ceiling + 1, back + 1]);
    furnish(&mut volume);
    volume
}

fn build_walls(volume: &mut Volume) {
    let [x, y, z] = CORNER;
    let (right, back) = (x + WIDTH - 1, z + DEPTH - 1);
    for level in 0..=WALL {
        for at in x..=right {
            for side in [z, back] {
                volume.put([at, y + level, side], wall(at - x, level));
            }
        }
        for at in z..=back {
            for side in [x, right] {
                volume.put([side, y + level, at], wall(at - z, level));
            }
        }
        for corner in [[x, z], [right, z], [x, back], [right, back]] {
            volume.put([corner[0], y + level, corner[1]], block("oak_log").along(Axis::Y));
        }
    }
    // The way in.
    clear(volume, [x + WIDTH / 2, y, back], [x + WIDTH / 2, y + 1, back], WorldBlock::AIR);
}

/// The block of a wall, `along` cells from its corner.
fn wall(along: i32, level: i32) -> WorldBlock {
    let is_window = (1..=2).contains(&level) && matches!(along % 4, 2 | 3);
    match level {
        0 => block("stone_bricks"),
        WALL => block("oak_log").along(Axis::X),
        _ if is_window => block("glass"),
        _ => block("oak_planks"),
    }
}

/// A roof that steps in with each level, with a floor below.
fn build_roof(volume: &mut Volume, low: [i32; 3], high: [i32; 3]) {
    clear(
        volume,
        [low[0] + 1, low[1] - 1, low[2] + 1],
        [high[0] - 1, low[1] - 1, high[2] - 1],
        block("oak_planks"),
    );
    for step in 0.. {
        let (low, high) = ([low[0], low[1] + step, low[2] + step], [high[0], low[1] + step, high[2] - step]);
        if low[2] > high[2] {
            break;
        }
        for x in low[0]..=high[0] {
            volume.put([x, low[1], low[2]], block("bricks"));
            volume.put([x, low[1], high[2]], block("bricks"));
        }
        for z in low[2] + 1..high[2] {
            for x in [low[0] + 1, high[0] - 1] {
                volume.put([x, low[1], z], block("oak_planks"));
            }
        }
    }
}

fn furnish(volume: &mut Volume) {
    let [x, y, z] = CORNER;
    let (right, back) = (x + WIDTH - 1, z + DEPTH - 1);
    let torch = block("wall_torch");
    for (cell, facing) in [
        ([x + 1, y + 2, z + 5], Facing::East),
        ([right - 1, y + 2, z + 5], Facing::West),
        ([x + 4, y + 2, z + 1], Facing::South),
        ([x + 8, y + 2, z + 1], Facing::South),
        ([x + 5, y + 2, back + 1], Facing::South),
        ([x + 7, y + 2, back + 1], Facing::South),
    ] {
        volume.put(cell, torch.facing(facing));
    }
    for level in 0..=WALL {
        volume.put([right - 1, y + level, back - 1], block("ladder").facing(Facing::West));
    }
    volume.put([x + 1, y, z + 1], block("crafting_table"));
    volume.put([x + 1, y, z + 2], block("bricks"));
    volume.put([x + 1, y, back - 1], block("glowstone"));
    for at in 4..=8 {
        for row in 5..=7 {
            volume.put(
                [x + at, y - 1, z + row],
                block(if (at + row) % 2 == 0 { "red_wool" } else { "white_wool" }),
            );
        }
    }
}
