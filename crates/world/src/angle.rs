//! Angles, in thousandths of a degree, and their sines from a table, so that every machine turns alike.

use std::sync::LazyLock;

/// A whole turn.
pub const TURN: i32 = 360_000;

/// Straight up or down.
pub const RIGHT: i32 = 90_000;

const STEPS: i32 = 65_536;

/// The sine of an angle, of the nearest of 65,536.
pub fn sine(angle: i32) -> f64 {
    static TABLE: LazyLock<Vec<f64>> = LazyLock::new(|| {
        let step = std::f64::consts::TAU / f64::from(STEPS);
        (0..STEPS).map(|index| libm::sin(f64::from(index) * step)).collect()
    });
    let index =
        (i64::from(angle.rem_euclid(TURN)) * i64::from(STEPS) + i64::from(TURN) / 2) / i64::from(TURN);
    TABLE[index as usize % STEPS as usize]
}

pub fn cosine(angle: i32) -> f64 {
    sine(angle.wrapping_add(RIGHT))
}

/// The direction of a look: a yaw of 0 looks to +z, of 90° to -x; a positive pitch looks down.
pub fn direction(yaw: i32, pitch: i32) -> [f64; 3] {
    let level = cosine(pitch);
    [-sine(yaw) * level, -sine(pitch), cosine(yaw) * level]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::Mixer;

    #[test]
    fn the_table_of_sines_is_the_same_everywhere() {
        let mut mixer = Mixer::new(0);
        for index in 0..i64::from(STEPS) {
            let angle = (index * i64::from(TURN) / i64::from(STEPS)) as i32;
            mixer.add(sine(angle).to_bits());
        }
        assert_eq!(mixer.finish(), SINES);
    }

    const SINES: u64 = 9_884_720_277_241_946_160;

    #[test]
    fn looks_point_where_the_game_points() {
        let near = |a: [f64; 3], b: [f64; 3]| a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-9);
        assert!(near(direction(0, 0), [0.0, 0.0, 1.0]));
        assert!(near(direction(RIGHT, 0), [-1.0, 0.0, 0.0]));
        assert!(near(direction(0, RIGHT), [0.0, -1.0, 0.0]));
    }
}
