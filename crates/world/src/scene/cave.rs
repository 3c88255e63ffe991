//! Halls and tunnels under a mountain, with torches at the start.

use super::block;
use crate::angle::{cosine, sine};
use crate::block::WorldBlock;
use crate::hash::dice;
use crate::noise::ValueNoise;
use crate::volume::{Cell, SIZE, Volume};

/// The height of the mountain's grass.
const ROOF: i32 = 72;

/// The floor of the first hall.
const FLOOR: i32 = 20;

mod purpose {
    pub const ROCK: u32 = 11;
    pub const TUNNELS: u32 = 12;
    pub const ORES: u32 = 13;
    pub const FLOORS: u32 = 14;
}

/// The ores, with the highest level that has them and how many veins there are.
const ORES: [(&str, i32, u64); 6] = [
    ("coal_ore", 64, 220),
    ("iron_ore", 56, 160),
    ("gold_ore", 30, 40),
    ("lapis_ore", 30, 30),
    ("redstone_ore", 24, 60),
    ("diamond_ore", 20, 36),
];

/// Where torches stand, seen from the start.
const TORCHES: [[i32; 2]; 8] = [[6, 2], [-5, 4], [1, -6], [-3, -4], [2, 6], [-6, -1], [5, -4], [0, 3]];

pub(super) fn start(number: u64) -> ([f64; 3], i32) {
    let yaw = (dice(number, purpose::TUNNELS, 1, 0) % 4) as i32 * 90_000;
    ([128.5, f64::from(FLOOR), 128.5], yaw)
}

pub(super) fn make(number: u64) -> Volume {
    let mut volume = Volume::empty();
    fill(&mut volume, number);
    let hall = [128.0, f64::from(FLOOR) + 3.0, 128.0];
    carve(&mut volume, hall, [9.0, 5.0, 9.0], FLOOR);
    for tunnel in 0..14 {
        dig_tunnel(&mut volume, number, tunnel);
    }
    level(&mut volume);
    for [x, z] in TORCHES {
        let cell = [128 + x, FLOOR, 128 + z];
        if volume.block(cell).is_air() {
            volume.put(cell, block("torch"));
        }
    }
    volume
}

/// Rock with ores, under grass.
fn fill(volume: &mut Volume, number: u64) {
    let rock = ValueNoise::new(number, purpose::ROCK);
    let (stone, andesite, granite) = (block("stone"), block("andesite"), block("granite"));
    for x in 0..SIZE[0] {
        for z in 0..SIZE[2] {
            let height = ROOF + (rock.hills(f64::from(x), f64::from(z), 60.0) * 7.0).floor() as i32;
            volume.put([x, 0, z], block("bedrock"));
            for y in 1..height - 3 {
                let kind = match rock.space([x, y, z].map(f64::from), 17.0) {
                    high if high > 0.55 => andesite,
                    low if low < -0.6 => granite,
                    _ => stone,
                };
                volume.put([x, y, z], kind);
            }
            for y in height - 3..height {
                volume.put([x, y, z], block("dirt"));
            }
            volume.put([x, height, z], block("grass_block"));
        }
    }
    for (kind, (id, highest, veins)) in ORES.into_iter().enumerate() {
        let ore = block(id);
        for vein in 0..veins {
            let place = dice(number, purpose::ORES, kind as u64, vein);
            let corner = [
                (place % 250) as i32 + 3,
                (place / 250 % (highest as u64 - 4)) as i32 + 3,
                (place / 65_536 % 250) as i32 + 3,
            ];
            let size = 3 + (place >> 40) % 5;
            let mut cell = corner;
            for step in 0..size {
                if [stone, andesite, granite].contains(&volume.block(cell)) {
                    volume.put(cell, ore);
                }
                let way = dice(place, purpose::ORES, step, 0);
                cell[(way % 3) as usize] += if (way >> 8).is_multiple_of(2) { 1 } else { -1 };
            }
        }
    }
}

/// A winding tunnel from the first hall, with halls of its own.
fn dig_tunnel(volume: &mut Volume, number: u64, tunnel: u64) {
    let throw = |step: u64| dice(number, purpose::TUNNELS, tunnel + 2, step);
    let mut yaw = (throw(0) % 360) as i32 * 1000;
    let mut pitch = 0_i32;
    let mut at = [128.0, f64::from(FLOOR) + 2.0, 128.0];
    for step in 1..90 {
        let number = throw(step);
        yaw += (number % 61) as i32 * 1000 - 30_000;
        pitch = ((pitch * 3) / 4 + (number / 61 % 41) as i32 * 500 - 10_000).clamp(-25_000, 25_000);
        at[0] += sine(yaw) * 2.2;
        at[1] = (at[1] + sine(pitch) * 2.2).clamp(8.0, 52.0);
        at[2] += cosine(yaw) * 2.2;
        let is_hall = (number >> 32).is_multiple_of(23);
        let width = if is_hall { 6.0 } else { 1.9 + ((number >> 20) % 10) as f64 * 0.1 };
        carve(volume, at, [width, if is_hall { 4.0 } else { 2.1 }, width], 2);
    }
}

/// Takes the rock out of an ellipsoid, down to a floor.
fn carve(volume: &mut Volume, centre: [f64; 3], radius: [f64; 3], floor: i32) {
    let range = |axis: usize, least: i32| {
        let (low, high) = (centre[axis] - radius[axis], centre[axis] + radius[axis]);
        (low.floor() as i32).max(least)..=(high.floor() as i32).min(SIZE[axis] - 4)
    };
    for x in range(0, 3) {
        for y in range(1, floor) {
            for z in range(2, 3) {
                let away: f64 = [x, y, z]
                    .into_iter()
                    .zip(centre)
                    .zip(radius)
                    .map(|((cell, centre), radius)| {
                        let part = (f64::from(cell) + 0.5 - centre) / radius;
                        part * part
                    })
                    .sum();
                if away < 1.0 {
                    volume.put([x, y, z], WorldBlock::AIR);
                }
            }
        }
    }
}

/// Gravel and dirt on some floors.
fn level(volume: &mut Volume) {
    let floors = ValueNoise::new(0, purpose::FLOORS);
    for x in 3..SIZE[0] - 3 {
        for z in 3..SIZE[2] - 3 {
            for y in 3..56 {
                let cell: Cell = [x, y, z];
                let is_floor = volume.block([x, y + 1, z]).is_air() && !volume.block(cell).is_air();
                if is_floor && floors.space([x, y, z].map(f64::from), 9.0) > 0.45 {
                    volume.put(cell, block("gravel"));
                }
            }
        }
    }
}
