//! How places are drawn for what is put up there.
//!
//! Dice are thrown for a direction and a distance until the ground there is level, free and not taken. If that never
//! happens, the ground is levelled at the last draw.

mod structures;

use super::apply::fill_container;
use super::edit::BulkEdit;
use super::place::{Away, Place, PlacedBlock};
use crate::angle::{cosine, sine};
use crate::block::{Facing, WorldBlock};
use crate::hash::dice;
use crate::player::cell_of;
use crate::support::add;
use crate::volume::{Cell, SIZE};
use crate::world::World;

/// What the dice are thrown for.
const PURPOSE: u32 = 40;

/// How often a place is drawn before its ground is levelled.
const DRAWS: u64 = 300;

/// How far above and below the start ground is looked for.
const UP_AND_DOWN: i32 = 8;

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
