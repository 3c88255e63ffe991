//! Grass with trees, a hill and a pond.

use super::block;
use crate::angle::{cosine, sine};
use crate::block::WorldBlock;
use crate::hash::dice;
use crate::noise::ValueNoise;
use crate::volume::{SIZE, Volume};

/// The height of the plain. The air above begins with whole sections, through which rays skip far.
pub(super) const PLAIN: i32 = 47;

/// How far around the start the land is level.
const CLEARING: f64 = 14.0;

/// The height of the hill above the plain, at least.
const HILL: f64 = 30.0;

/// How far above the foot of the hill its top is at least.
const HILLSIDE: i32 = 26;

/// What the dice are thrown for.
mod purpose {
    pub const HILLS: u32 = 1;
    pub const PLACES: u32 = 2;
    pub const TREES: u32 = 3;
    pub const PLANTS: u32 = 4;
    pub const SEABED: u32 = 5;
}

pub(super) fn start(number: u64) -> ([f64; 3], i32) {
    ([128.5, f64::from(PLAIN + 1), 128.5], Land::new(number).yaw)
}

pub(super) fn make(number: u64) -> Volume {
    let land = Land::new(number);
    let mut volume = Volume::empty();
    for x in 0..SIZE[0] {
        for z in 0..SIZE[2] {
            land.fill_column(&mut volume, x, z);
        }
    }
    land.plant(&mut volume);
    volume
}

/// A free place at the foot of the hill, far enough below its top, with the look to the top.
pub(super) fn hillside(volume: &Volume, number: u64) -> Option<([f64; 3], i32)> {
    let land = Land::new(number);
    let top = land.hill.map(|at| at as i32);
    let highest = land.height(top[0], top[1]);
    let spots = (34..48).flat_map(|away| (0..16).map(move |turn| (away, turn * 22_500)));
    spots.into_iter().find_map(|(away, turn)| {
        let [dx, dz] = [sine(turn), cosine(turn)].map(|part| (part * f64::from(away)).floor() as i32);
        let [x, z] = [top[0] + dx, top[1] + dz];
        let y = land.height(x, z) + 1;
        let around = (-1..=1).flat_map(|dx| (-1..=1).map(move |dz| [x + dx, z + dz]));
        let is_free = around.into_iter().all(|[x, z]| (0..3).all(|up| !volume.is_solid([x, y + up, z])));
        let is_ground = volume.block([x, y - 1, z]).id() == "grass_block";
        // A yaw of 0 looks to +z, and the top lies against the turn.
        let place = [f64::from(x) + 0.5, f64::from(y), f64::from(z) + 0.5];
        (is_free && is_ground && highest - y >= HILLSIDE).then_some((place, 180_000 - turn))
    })
}

/// The shape of a terrain.
pub(super) struct Land {
    number: u64,
    hills: ValueNoise,
    hill: [f64; 2],
    pond: [f64; 2],
    /// The player looks between the hill and the pond.
    yaw: i32,
}

impl Land {
    pub fn new(number: u64) -> Self {
        // Hill and pond lie in different directions, so that both can be seen by turning.
        let quarter = dice(number, purpose::PLACES, 0, 0) % 4;
        let (hill, pond, yaw) = match quarter {
            0 => ([128.0, 190.0], [150.0, 136.0], -30_000),
            1 => ([66.0, 128.0], [120.0, 151.0], 60_000),
            2 => ([128.0, 66.0], [106.0, 120.0], 150_000),
            _ => ([190.0, 128.0], [136.0, 105.0], -120_000),
        };
        Self { number, hills: ValueNoise::new(number, purpose::HILLS), hill, pond, yaw }
    }

    /// The height of the land's highest block.
    pub fn height(&self, x: i32, z: i32) -> i32 {
        let (at_x, at_z) = (f64::from(x), f64::from(z));
        let away = distance([at_x, at_z], [128.0, 128.0]);
        let calm = ((away - CLEARING) / 40.0).clamp(0.0, 1.0);
        let rolling = self.hills.hills(at_x, at_z, 64.0) * 9.0 * calm;
        let slope = (1.0 - distance([at_x, at_z], self.hill) / 44.0).max(0.0);
        let hill = HILL * slope * slope * (3.0 - 2.0 * slope);
        let shore = (1.0 - distance([at_x, at_z], self.pond) / 12.0).max(0.0);
        let pond = if shore > 0.0 { 8.0 * shore } else { 0.0 };
        PLAIN + (rolling + hill - pond).floor() as i32
    }

    fn is_pond(&self, x: i32, z: i32) -> bool {
        distance([f64::from(x), f64::from(z)], self.pond) < 12.0
    }

    fn fill_column(&self, volume: &mut Volume, x: i32, z: i32) {
        let height = self.height(x, z);
        let is_pond = self.is_pond(x, z);
        let bed = ValueNoise::new(self.number, purpose::SEABED);
        let surface = match () {
            () if is_pond && height < PLAIN && bed.plane(f64::from(x), f64::from(z), 5.0) > 0.35 => "clay",
            () if is_pond && height < PLAIN => "sand",
            () => "grass_block",
        };
        let ground = if is_pond && height < PLAIN { "sand" } else { "dirt" };
        volume.put([x, 0, z], block("bedrock"));
        for y in 1..=height {
            let id = if y == height {
                surface
            } else if y > height - 4 {
                ground
            } else {
                "stone"
            };
            volume.put([x, y, z], block(id));
        }
        if is_pond {
            for y in height + 1..=PLAIN - 1 {
                volume.put([x, y, z], block("water"));
            }
        }
    }

    /// Trees, grass and flowers on the grass.
    fn plant(&self, volume: &mut Volume) {
        let plants = ValueNoise::new(self.number, purpose::PLANTS);
        let grass = block("grass_block");
        for x in 3..SIZE[0] - 3 {
            for z in 3..SIZE[2] - 3 {
                let y = self.height(x, z) + 1;
                if volume.block([x, y - 1, z]) != grass {
                    continue;
                }
                let thick = plants.plane(f64::from(x), f64::from(z), 24.0);
                let chance = plants.grain(x, 0, z);
                let kind = match () {
                    () if chance < 0.02 + 0.05 * thick => "grass",
                    () if chance > 0.994 && thick > 0.0 => "dandelion",
                    () if chance > 0.994 => "poppy",
                    () => continue,
                };
                volume.put([x, y, z], block(kind));
            }
        }
        // At most one tree in each square, so that they stand apart.
        for column in 1..SIZE[0] / 10 - 1 {
            for row in 1..SIZE[2] / 10 - 1 {
                let number = dice(self.number, purpose::TREES, 0, (column * 64 + row) as u64);
                let (x, z) = (column * 10 + (number % 7) as i32, row * 10 + (number / 7 % 7) as i32);
                let wood = plants.plane(f64::from(x), f64::from(z), 48.0);
                let is_there = ((number / 49 % 100) as f64) < 28.0 + 40.0 * wood;
                let is_clear = distance([f64::from(x), f64::from(z)], [128.0, 128.0]) > CLEARING - 4.0;
                if is_there && is_clear {
                    self.grow(volume, [x, self.height(x, z) + 1, z], number / 4900);
                }
            }
        }
    }

    fn grow(&self, volume: &mut Volume, [x, y, z]: [i32; 3], number: u64) {
        if volume.block([x, y - 1, z]) != block("grass_block") {
            return;
        }
        let (log, leaves) = if number.is_multiple_of(5) {
            (block("birch_log"), block("birch_leaves"))
        } else {
            (block("oak_log"), block("oak_leaves"))
        };
        let height = 4 + (number / 5 % 3) as i32;
        let crown = y + height;
        for level in -2..=1_i32 {
            let reach: i32 = if level < 0 { 2 } else { 1 };
            for dx in -reach..=reach {
                for dz in -reach..=reach {
                    let is_corner = dx.abs() == reach && dz.abs() == reach;
                    let number =
                        dice(number, purpose::TREES, 1, ((level + 2) * 25 + dx * 5 + dz + 12) as u64);
                    let is_bare = is_corner && (level == 1 || number.is_multiple_of(2));
                    let cell = [x + dx, crown + level - 1, z + dz];
                    if !is_bare && volume.block(cell).is_air() {
                        volume.put(cell, leaves);
                    }
                }
            }
        }
        for trunk in y..crown {
            volume.put([x, trunk, z], log);
        }
        volume.put([x, y - 1, z], block("dirt"));
    }
}

pub(super) fn clear(volume: &mut Volume, from: [i32; 3], to: [i32; 3], with: WorldBlock) {
    for x in from[0]..=to[0] {
        for y in from[1]..=to[1] {
            for z in from[2]..=to[2] {
                volume.put([x, y, z], with);
            }
        }
    }
}

fn distance(one: [f64; 2], other: [f64; 2]) -> f64 {
    let (x, z) = (one[0] - other[0], one[1] - other[1]);
    (x * x + z * z).sqrt()
}
