//! What is put up at a start: rises, trees, rocks, huts, shafts and ores.

use std::collections::{BTreeMap, VecDeque};

use super::{DrawnSite, StartGround, square};
use crate::angle::{cosine, sine};
use crate::block::{Facing, WorldBlock};
use crate::support::add;
use crate::task::block_text::read_block;
use crate::task::place::{Away, HutsPlace, PlacedBlock};
use crate::volume::{Cell, contains};

/// The height and the slopes of a rise that hides something, its length to each side, and how far before it it stands.
const RISE: i32 = 3;
const RISE_SIDE: f64 = 6.0;
const RISE_BEFORE: f64 = 5.0;

impl StartGround<'_> {
    /// A rise of earth between the start and a place.
    pub(super) fn raise(&mut self, site: DrawnSite) {
        let ahead = [-sine(site.angle), cosine(site.angle)];
        let away = (site.away - RISE_BEFORE).max(4.0);
        let centre = [0, 1].map(|axis| {
            let start = [self.start[0], self.start[2]][axis];
            (f64::from(start) + ahead[axis] * away + 0.5).floor() as i32
        });
        let (grass, dirt) = (WorldBlock::of("grass_block"), WorldBlock::of("dirt"));
        for cell in square([centre[0], 0, centre[1]], RISE_SIDE as i32 + 2) {
            let by = [f64::from(cell[0] - centre[0]), f64::from(cell[2] - centre[1])];
            let along = (by[0] * ahead[0] + by[1] * ahead[1]).abs();
            let across = (by[0] * ahead[1] - by[1] * ahead[0]).abs();
            let height = RISE - (along + 0.4).floor() as i32;
            let ground = self.air_above_ground([cell[0], cell[2]]);
            let (true, true, Some(y)) = (across <= RISE_SIDE, height > 0, ground) else { continue };
            for up in 0..height {
                let block = if up == height - 1 { grass } else { dirt };
                self.edit.set(self.world, [cell[0], y + up, cell[2]], block.unwrap_or_default());
            }
        }
    }

    pub(super) fn grow(&mut self, cell: Cell, log: &PlacedBlock, leaves: &PlacedBlock) {
        let height = 4 + self.throw(2) as i32;
        for level in -2..=1_i32 {
            let reach: i32 = if level < 0 { 2 } else { 1 };
            for beside in square(add(cell, [0, height + level - 1, 0]), reach) {
                let is_corner = (beside[0] - cell[0]).abs() == reach && (beside[2] - cell[2]).abs() == reach;
                if !(is_corner && level != -2) && self.world.volume.block(beside).is_air() {
                    self.set(beside, leaves);
                }
            }
        }
        for up in 0..height {
            self.set(add(cell, [0, up, 0]), log);
        }
    }

    /// A rock, whose ore is in the face that the player sees.
    pub(super) fn pile(&mut self, site: DrawnSite, of: &PlacedBlock, ore: Option<&PlacedBlock>) {
        let cells: Vec<Cell> = square(site.cell, 2).collect();
        for cell in cells {
            let [dx, dz] = [(cell[0] - site.cell[0]).abs(), (cell[2] - site.cell[2]).abs()];
            let height = if dx + dz == 4 { 1 } else { 4 - dx.max(dz) };
            for up in 0..height {
                self.set(add(cell, [0, up, 0]), of);
            }
        }
        if let Some(ore) = ore {
            let step = site.toward.step().map(|part| part * 2);
            self.set(add(add(site.cell, step), [0, 1, 0]), ore);
        }
    }

    /// A block of earth whose face is so far away, seven cells deep and wide.
    pub(super) fn bank(&mut self, [least, most]: Away, of: &PlacedBlock) {
        let mut facing = Facing::ALL[self.throw(4) as usize % 4];
        let away = i32::from(least) + self.throw(u64::from(most - least) + 1) as i32;
        let centre = |facing: Facing| add(self.start, facing.step().map(|part| part * (away + 3)));
        let is_level = |facing: &Facing| {
            let [x, _, z] = centre(*facing);
            self.level([x, z], 3, 2).is_some()
        };
        if !is_level(&facing) {
            facing = Facing::ALL.into_iter().find(is_level).unwrap_or(facing);
        }
        let centre = centre(facing);
        let side = facing.step();
        for along in -3..=3 {
            for across in -3..=3 {
                let by = [side[0] * along + side[2] * across, 0, side[2] * along + side[0] * across];
                for up in 0..5 {
                    self.set(add(add(centre, by), [0, up, 0]), of);
                }
            }
        }
        self.take(centre, 3);
    }

    pub(super) fn huts(&mut self, place: &HutsPlace) {
        let holder = self.throw(u64::from(place.count)) as u16;
        for number in 0..place.count {
            let site = self.draw(place.away, 3, 5);
            let HutsPlace { of, hold, .. } = place;
            for cell in square(site.cell, 2).collect::<Vec<_>>() {
                let is_wall = (cell[0] - site.cell[0]).abs() == 2 || (cell[2] - site.cell[2]).abs() == 2;
                for up in 0..if is_wall { 3 } else { 0 } {
                    self.set(add(cell, [0, up, 0]), of);
                }
                self.set(add(cell, [0, 3, 0]), of);
            }
            // The way in is not always on the side of the player.
            let side = Facing::ALL[self.throw(4) as usize % 4];
            let entrance = add(site.cell, side.step().map(|part| part * 2));
            for up in 0..2 {
                self.edit.set(self.world, add(entrance, [0, up, 0]), WorldBlock::AIR);
            }
            if number == holder {
                self.furnish(site.cell, side, hold);
            }
        }
    }

    /// Puts something at the wall opposite to the way in. Beds take two cells.
    fn furnish(&mut self, centre: Cell, entrance: Facing, hold: &PlacedBlock) {
        let side = entrance.opposite();
        let cell = add(centre, side.step());
        if !hold.id.ends_with("_bed") {
            return self.set(cell, hold);
        }
        let along = match side {
            Facing::North | Facing::South => Facing::East,
            Facing::West | Facing::East => Facing::South,
        };
        let name = along.name();
        for (part, at) in [("foot", cell), ("head", add(cell, along.step()))] {
            if let Ok(block) = read_block(&format!("{}[part={part},facing={name}]", hold.id)) {
                self.edit.set(self.world, at, block);
            }
        }
    }

    pub(super) fn shaft(&mut self, away: Away) {
        let site = self.draw(away, 1, 2);
        let (stone, ladder) = (WorldBlock::of("stone"), WorldBlock::of("ladder"));
        let back = site.toward.opposite();
        for y in (3..site.cell[1]).rev() {
            let cell = [site.cell[0], y, site.cell[2]];
            for side in Facing::ALL {
                let wall = add(cell, side.step());
                if !self.world.volume.is_solid(wall) {
                    self.edit.set(self.world, wall, stone.unwrap_or_default());
                }
            }
            self.edit.set(self.world, cell, WorldBlock::AIR);
            if self.world.volume.is_solid(add(cell, back.step())) {
                self.edit.set(self.world, cell, ladder.unwrap_or_default().facing(site.toward));
            }
        }
    }

    /// Puts ore where a walk so long leads past a wall.
    pub(super) fn vein(&mut self, [least, most]: Away, count: u16, of: &PlacedBlock) {
        let walks = self.walks(u32::from(most));
        let walls = walks
            .iter()
            .filter(|(_, steps)| **steps >= u32::from(least))
            .flat_map(|(cell, _)| Facing::ALL.map(|side| add(add(*cell, side.step()), [0, 1, 0])));
        let is_wall = |cell: &Cell| contains(*cell) && self.world.volume.block(*cell).id() == "stone";
        let walls: Vec<Cell> = walls.filter(is_wall).collect();
        if walls.is_empty() {
            return;
        }
        let first = walls[self.throw(walls.len() as u64) as usize % walls.len()];
        let mut near = walls;
        near.sort_by_key(|cell| {
            let away: i32 = (0..3).map(|axis| (cell[axis] - first[axis]).pow(2)).sum();
            (away, *cell)
        });
        near.dedup();
        for cell in near.into_iter().take(usize::from(count)) {
            self.set(cell, of);
        }
    }

    /// How many steps it takes to cells that one can stand in, going up one and down two at most.
    fn walks(&self, most: u32) -> BTreeMap<Cell, u32> {
        let stands = |cell: Cell| {
            let is_open = |cell| {
                let block = self.world.volume.block(cell);
                !block.state().solid && !block.is_liquid()
            };
            self.world.volume.is_solid(add(cell, [0, -1, 0]))
                && is_open(cell)
                && is_open(add(cell, [0, 1, 0]))
        };
        let mut known = BTreeMap::from([(self.start, 0)]);
        let mut open = VecDeque::from([self.start]);
        while let Some(cell) = open.pop_front() {
            let steps = known.get(&cell).copied().unwrap_or_default();
            if steps >= most {
                continue;
            }
            for side in Facing::ALL {
                let next = [1, 0, -1, -2].map(|up| add(add(cell, side.step()), [0, up, 0]));
                if let Some(next) = next.into_iter().find(|cell| stands(*cell))
                    && !known.contains_key(&next)
                {
                    known.insert(next, steps + 1);
                    open.push_back(next);
                }
            }
        }
        known
    }
}
