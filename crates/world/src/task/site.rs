//! How places are drawn, and what is put up there.
//!
//! Dice are thrown for a direction and a distance until the ground there is level, free and not taken. If that never
//! happens, the ground is levelled at the last draw.

use std::collections::{BTreeMap, VecDeque};

use super::apply::fill_container;
use super::block_text::read_block;
use super::edit::BulkEdit;
use super::place::{Away, HutsPlace, Place, PlacedBlock};
use crate::angle::{cosine, sine};
use crate::block::{Facing, WorldBlock};
use crate::hash::dice;
use crate::player::cell_of;
use crate::support::add;
use crate::volume::{Cell, SIZE, contains};
use crate::world::World;

/// What the dice are thrown for.
const PURPOSE: u32 = 40;

/// How often a place is drawn before its ground is levelled.
const DRAWS: u64 = 300;

/// How far above and below the start ground is looked for.
const UP_AND_DOWN: i32 = 8;

/// The height and the slopes of a rise that hides something, its length to each side, and how far before it it stands.
const RISE: i32 = 3;
const RISE_SIDE: f64 = 6.0;
const RISE_BEFORE: f64 = 5.0;

/// The ground around a start, while things are put up on it.
pub(super) struct StartGround<'a> {
    world: &'a mut World,
    start: Cell,
    /// Rectangles of ground that something stands on, as their lowest and highest x and z.
    taken: Vec<[i32; 4]>,
    thrown: u64,
    edit: BulkEdit,
}

/// A drawn place: a cell on the ground, and where the player is from there.
#[derive(Clone, Copy)]
struct DrawnSite {
    cell: Cell,
    toward: Facing,
    angle: i32,
    away: f64,
}

impl<'a> StartGround<'a> {
    pub fn new(world: &'a mut World) -> Self {
        let start = cell_of(world.player.position);
        let [x, _, z] = start;
        let taken = vec![[x - 1, z - 1, x + 1, z + 1]];
        Self { world, start, taken, thrown: 0, edit: BulkEdit::default() }
    }

    /// Lets light follow what was put up.
    pub fn finish(self) {
        self.edit.finish(self.world);
    }

    pub fn put_up(&mut self, place: &Place) {
        let content = place.content();
        match place {
            Place::Block(place) => {
                let site = self.draw(place.away, 0, 2);
                if let Some(block) = place.of.block {
                    self.edit.set(self.world, site.cell, block.facing(site.toward));
                    fill_container(self.world, site.cell, &content);
                }
            }
            Place::Scatter(place) => {
                for _ in 0..place.count {
                    let site = self.draw(place.away, 0, 1);
                    self.set(site.cell, &place.of);
                }
            }
            Place::Patch(place) => {
                let site = self.draw(place.away, patch_radius(place.count), 2);
                if place.behind_rise {
                    self.raise(site);
                }
                let cells = spiral(site.cell).take(usize::from(place.count));
                for cell in cells.collect::<Vec<_>>() {
                    if place.sunk {
                        self.sink(add(cell, [0, -1, 0]), &place.of);
                    } else {
                        self.set(cell, &place.of);
                    }
                }
            }
            Place::Trees(place) => {
                for _ in 0..place.count {
                    let site = self.draw(place.away, 1, 7);
                    self.grow(site.cell, &place.log, &place.leaves);
                }
            }
            Place::Outcrop(place) => {
                let site = self.draw(place.away, 2, 4);
                self.pile(site, &place.of, place.ore.as_ref());
            }
            Place::Bank(place) => self.bank(place.away, &place.of),
            Place::Pool(place) => {
                let site = self.draw(place.away, 3, 2);
                if place.behind_rise {
                    self.raise(site);
                }
                for cell in square(add(site.cell, [0, -1, 0]), 2) {
                    let [dx, dz] = [cell[0] - site.cell[0], cell[2] - site.cell[2]];
                    if dx.abs() + dz.abs() < 4 {
                        self.sink(cell, &place.of);
                    }
                }
            }
            Place::Huts(place) => self.huts(place),
            Place::Shaft(place) => self.shaft(place.away),
            Place::Vein(place) => self.vein(place.away, place.count, &place.of),
        }
    }

    fn set(&mut self, cell: Cell, block: &PlacedBlock) {
        if let Some(block) = block.block {
            self.edit.set(self.world, cell, block);
        }
    }

    /// Puts a block into the ground, and takes away what grows on it.
    fn sink(&mut self, cell: Cell, block: &PlacedBlock) {
        self.set(cell, block);
        let above = add(cell, [0, 1, 0]);
        if block.block.is_some() && !self.world.volume.block(above).state().solid {
            self.edit.set(self.world, above, WorldBlock::AIR);
        }
    }

    fn throw(&mut self, sides: u64) -> u64 {
        self.thrown += 1;
        dice(self.world.seed, PURPOSE, 0, self.thrown) % sides
    }

    /// Draws a place with level ground of a radius and so much free space above, and takes it.
    fn draw(&mut self, away: Away, radius: i32, height: i32) -> DrawnSite {
        let mut site = self.throw_site(away);
        for _ in 0..DRAWS {
            site = self.throw_site(away);
            let [x, _, z] = site.cell;
            if let Some(y) = self.level([x, z], radius, height) {
                site.cell[1] = y;
                self.take(site.cell, radius);
                return site;
            }
        }
        site.cell[1] = self.start[1];
        self.flatten(site.cell, radius, height);
        self.take(site.cell, radius);
        site
    }

    fn throw_site(&mut self, [least, most]: Away) -> DrawnSite {
        let angle = self.throw(360) as i32 * 1000;
        let away = f64::from(least) + self.throw(u64::from(most - least) * 4 + 1) as f64 / 4.0;
        let (dx, dz) = (-sine(angle) * away, cosine(angle) * away);
        let [x, y, z] = self.start;
        let at = |start: i32, by: f64, edge: i32| (start + (by + 0.5).floor() as i32).clamp(12, edge - 13);
        let toward = if dx.abs() > dz.abs() {
            if dx > 0.0 { Facing::West } else { Facing::East }
        } else if dz > 0.0 {
            Facing::North
        } else {
            Facing::South
        };
        DrawnSite { cell: [at(x, dx, SIZE[0]), y, at(z, dz, SIZE[2])], toward, angle, away }
    }

    /// The height of the air on level ground, if all of a square is so, and free.
    fn level(&self, [x, z]: [i32; 2], radius: i32, height: i32) -> Option<i32> {
        let reach = [x - radius, z - radius, x + radius, z + radius];
        let overlaps = |[x1, z1, x2, z2]: &[i32; 4]| {
            *x1 <= reach[2] && *x2 >= reach[0] && *z1 <= reach[3] && *z2 >= reach[1]
        };
        if self.taken.iter().any(overlaps) {
            return None;
        }
        let y = self.air_above_ground([x, z])?;
        square([x, y, z], radius)
            .all(|[x, _, z]| self.air_above_ground([x, z]) == Some(y) && self.is_free([x, y, z], height))
            .then_some(y)
    }

    fn is_free(&self, [x, y, z]: Cell, height: i32) -> bool {
        (0..height).all(|up| {
            let block = self.world.volume.block([x, y + up, z]);
            block.kind().replaceable && !block.is_liquid()
                || block.id() == "dandelion"
                || block.id() == "poppy"
        })
    }

    /// The first cell above solid ground, near the height of the start.
    fn air_above_ground(&self, [x, z]: [i32; 2]) -> Option<i32> {
        let highest = self.start[1] + UP_AND_DOWN;
        (0..UP_AND_DOWN * 2).map(|down| highest - down).find(|&y| {
            let (above, below) = (self.world.volume.block([x, y, z]), self.world.volume.block([x, y - 1, z]));
            let is_ground =
                below.state().solid && below.state().filter == 15 && !below.id().ends_with("_log");
            is_ground && !above.state().solid
        })
    }

    fn flatten(&mut self, cell: Cell, radius: i32, height: i32) {
        let ground = WorldBlock::of("dirt").unwrap_or_default();
        let cells: Vec<Cell> = square(cell, radius).collect();
        for cell in cells {
            for up in 0..height {
                self.edit.set(self.world, add(cell, [0, up, 0]), WorldBlock::AIR);
            }
            self.edit.set(self.world, add(cell, [0, -1, 0]), ground);
        }
    }

    fn take(&mut self, [x, _, z]: Cell, radius: i32) {
        self.taken.push([x - radius, z - radius, x + radius, z + radius]);
    }

    /// A rise of earth between the start and a place.
    fn raise(&mut self, site: DrawnSite) {
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

    fn grow(&mut self, cell: Cell, log: &PlacedBlock, leaves: &PlacedBlock) {
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
    fn pile(&mut self, site: DrawnSite, of: &PlacedBlock, ore: Option<&PlacedBlock>) {
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

    /// A block of earth whose face is so far away, seven cells deep and five wide.
    fn bank(&mut self, [least, most]: Away, of: &PlacedBlock) {
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

    fn huts(&mut self, place: &HutsPlace) {
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
        let name = facing_name(along);
        for (part, at) in [("foot", cell), ("head", add(cell, along.step()))] {
            if let Ok(block) = read_block(&format!("{}[part={part},facing={name}]", hold.id)) {
                self.edit.set(self.world, at, block);
            }
        }
    }

    fn shaft(&mut self, away: Away) {
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
    fn vein(&mut self, [least, most]: Away, count: u16, of: &PlacedBlock) {
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

/// The cells of a square around one, on its level.
fn square([x, y, z]: Cell, radius: i32) -> impl Iterator<Item = Cell> {
    (z - radius..=z + radius).flat_map(move |z| (x - radius..=x + radius).map(move |x| [x, y, z]))
}

/// The cells around one on its level, the nearest first.
fn spiral(centre: Cell) -> impl Iterator<Item = Cell> {
    (0..8).flat_map(move |radius| {
        square(centre, radius)
            .filter(move |cell| (cell[0] - centre[0]).abs().max((cell[2] - centre[2]).abs()) == radius)
    })
}

fn patch_radius(count: u16) -> i32 {
    (0..8).find(|radius: &i32| (radius * 2 + 1).pow(2) >= i32::from(count)).unwrap_or(8)
}

fn facing_name(facing: Facing) -> &'static str {
    match facing {
        Facing::North => "north",
        Facing::South => "south",
        Facing::West => "west",
        Facing::East => "east",
    }
}
