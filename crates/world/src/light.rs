//! Light: from the sky, straight down through what is clear, and from blocks that shine. It loses a level with each cell,
//! and more in cells that filter it.
//!
//! Light depends on the blocks alone. After a change it is taken away where it came through the changed cell, and spreads
//! again from what is left around; the result is the same as if all of it had been calculated anew.

use std::collections::VecDeque;

use crate::block::WorldBlock;
use crate::volume::{Cell, Light, SIZE, Volume, contains, shines};

const FULL: u8 = 15;

/// The two kinds of light, which do not touch each other.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Channel {
    Sky,
    Block,
}

const SIDES: [[i32; 3]; 6] = [[0, -1, 0], [0, 1, 0], [0, 0, -1], [0, 0, 1], [-1, 0, 0], [1, 0, 0]];

const DOWN: [i32; 3] = SIDES[0];

impl Channel {
    fn of(self, light: Light) -> u8 {
        match self {
            Self::Sky => light.sky(),
            Self::Block => light.block(),
        }
    }

    fn with(self, light: Light, level: u8) -> Light {
        match self {
            Self::Sky => Light::new(level, light.block()),
            Self::Block => Light::new(light.sky(), level),
        }
    }

    /// What a cell has by itself.
    fn own(self, volume: &Volume, cell: Cell) -> u8 {
        match self {
            // The open sky is above the world.
            Self::Sky if cell[1] == SIZE[1] - 1 => FULL.saturating_sub(volume.block(cell).state().filter),
            Self::Sky => 0,
            Self::Block => shines(volume.block(cell)),
        }
    }

    /// What of a level gets into a neighbouring cell.
    fn passes(self, level: u8, step: [i32; 3], from: WorldBlock, into: WorldBlock) -> u8 {
        if is_shaded(from, into, step) {
            return 0;
        }
        let filter = into.state().filter;
        let falls_free = self == Self::Sky && step == DOWN && level == FULL && filter == 0;
        if falls_free { FULL } else { level.saturating_sub(filter.max(1)) }
    }
}

/// Whether a whole face of a slab or of stairs lies between two cells.
fn is_shaded(from: WorldBlock, into: WorldBlock, step: [i32; 3]) -> bool {
    let (leaving, entering) = (from.state().shade, into.state().shade);
    if leaving | entering == 0 {
        return false;
    }
    let axis = step.iter().position(|part| *part != 0).unwrap_or(0);
    let (out, back) = if step[axis] > 0 { (axis * 2 + 1, axis * 2) } else { (axis * 2, axis * 2 + 1) };
    (leaving >> out | entering >> back) & 1 == 1
}

/// Calculates all light of a world that was just made.
pub(crate) fn light_all(volume: &mut Volume) {
    let top = (volume.top() + 1).min(SIZE[1] - 1);
    let mut sky = VecDeque::new();
    let mut shining = VecDeque::new();
    for x in 0..SIZE[0] {
        for z in 0..SIZE[2] {
            let mut level = FULL;
            let mut above = WorldBlock::AIR;
            for y in (0..=top).rev() {
                let block = volume.block([x, y, z]);
                level = match block.state().filter {
                    _ if is_shaded(above, block, DOWN) => 0,
                    0 if level == FULL => FULL,
                    filter => level.saturating_sub(filter.max(1)),
                };
                above = block;
                let shine = shines(block);
                volume.set_light([x, y, z], Light::new(level, shine));
                if level > 1 {
                    sky.push_back([x, y, z]);
                }
                if shine > 1 {
                    shining.push_back([x, y, z]);
                }
            }
        }
    }
    spread(volume, Channel::Sky, sky);
    spread(volume, Channel::Block, shining);
}

/// Corrects the light after a block has replaced another.
pub(crate) fn relight(volume: &mut Volume, cell: Cell, old: WorldBlock, new: WorldBlock) {
    let (before, now) = (old.state(), new.state());
    if before.filter == now.filter && before.light == now.light && before.shade == now.shade {
        return;
    }
    for channel in [Channel::Sky, Channel::Block] {
        let rim = darken(volume, channel, cell);
        spread(volume, channel, rim);
    }
}

/// Takes away the light that may have come through a cell. Returns the cells from which light spreads again.
fn darken(volume: &mut Volume, channel: Channel, cell: Cell) -> VecDeque<Cell> {
    let mut rim = VecDeque::new();
    let mut gone = VecDeque::from([(cell, channel.of(volume.light(cell)))]);
    set(volume, channel, cell, 0);
    while let Some((from, level)) = gone.pop_front() {
        let own = channel.own(volume, from);
        if own > 0 {
            set(volume, channel, from, own);
            rim.push_back(from);
        }
        for step in SIDES {
            let to = add(from, step);
            if !contains(to) {
                continue;
            }
            let found = channel.of(volume.light(to));
            let free_fall = channel == Channel::Sky && step == DOWN && level == FULL && found == FULL;
            if found > 0 && (found < level || free_fall) {
                set(volume, channel, to, 0);
                gone.push_back((to, found));
            } else if found > 0 {
                rim.push_back(to);
            }
        }
    }
    // The cell itself is lit from around, too.
    rim.extend(SIDES.map(|step| add(cell, step)).into_iter().filter(|side| contains(*side)));
    rim
}

/// Lets light spread from cells, as far as it brightens.
fn spread(volume: &mut Volume, channel: Channel, mut from: VecDeque<Cell>) {
    while let Some(cell) = from.pop_front() {
        let level = channel.of(volume.light(cell));
        for step in SIDES {
            let to = add(cell, step);
            if !contains(to) {
                continue;
            }
            let passed = channel.passes(level, step, volume.block(cell), volume.block(to));
            if passed > channel.of(volume.light(to)) {
                set(volume, channel, to, passed);
                from.push_back(to);
            }
        }
    }
}

fn set(volume: &mut Volume, channel: Channel, cell: Cell, level: u8) {
    let light = volume.light(cell);
    volume.set_light(cell, channel.with(light, level));
}

fn add(cell: Cell, step: [i32; 3]) -> Cell {
    [cell[0] + step[0], cell[1] + step[1], cell[2] + step[2]]
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn block(id: &str) -> WorldBlock {
        WorldBlock::of(id).unwrap()
    }

    /// A floor at y = 10.
    fn floor() -> Volume {
        let mut volume = Volume::empty();
        for x in 0..SIZE[0] {
            for z in 0..SIZE[2] {
                volume.put([x, 10, z], block("stone"));
            }
        }
        volume.finish();
        light_all(&mut volume);
        volume
    }

    fn change(volume: &mut Volume, cell: Cell, to: WorldBlock) {
        let old = volume.replace(cell, to);
        relight(volume, cell, old, to);
    }

    #[test]
    fn the_sky_lights_what_lies_open_and_nothing_below() {
        let volume = floor();
        assert_eq!(volume.light([9, 11, 9]), Light::new(15, 0));
        assert_eq!(volume.light([9, 10, 9]), Light::new(0, 0));
        assert_eq!(volume.light([9, 9, 9]), Light::new(0, 0));
    }

    #[test]
    fn a_torch_loses_a_level_with_each_cell() {
        let mut volume = floor();
        change(&mut volume, [40, 5, 40], block("torch"));
        assert_eq!(volume.light([40, 5, 40]).block(), 14);
        assert_eq!(volume.light([43, 5, 42]).block(), 9);
        change(&mut volume, [40, 5, 40], WorldBlock::AIR);
        assert_eq!(volume.light([43, 5, 42]).block(), 0);
    }

    #[test]
    fn leaves_and_water_take_a_level_from_the_sky() {
        let mut volume = floor();
        change(&mut volume, [20, 30, 20], block("oak_leaves"));
        assert_eq!(volume.light([20, 30, 20]).sky(), 14);
        // From the sides comes as much.
        assert_eq!(volume.light([20, 29, 20]).sky(), 14);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(12))]
        #[test]
        fn light_after_changes_is_as_if_calculated_anew(
            changes in prop::collection::vec((90..102_i32, 6..18_i32, 90..102_i32, 0..6_usize), 1..60)
        ) {
            let mut volume = floor();
            let kinds = ["air", "stone", "torch", "glowstone", "oak_leaves", "glass"].map(block);
            for (x, y, z, kind) in changes {
                change(&mut volume, [x, y, z], kinds[kind]);
            }
            let mut anew = volume.clone();
            light_all(&mut anew);
            for x in 70..122 {
                for y in 0..40 {
                    for z in 70..122 {
                        prop_assert_eq!(volume.light([x, y, z]), anew.light([x, y, z]), "{} {} {}", x, y, z);
                    }
                }
            }
        }
    }
}
