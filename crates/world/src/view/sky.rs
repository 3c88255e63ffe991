//! The colours of light and sky at a time of day.

use crate::angle::{cosine, sine};
use crate::world::DAY;

/// Red, green and blue from 0 to 1.
pub(super) type LinearColour = [f32; 3];

/// The sky and the light of a moment.
pub(super) struct Sky {
    horizon: LinearColour,
    /// Where the sun is, to the east and up; the moon is opposite.
    sun: [f32; 2],
    /// How dark it is, from 0 at day to 1 at night.
    night: f32,
    /// What light makes of a colour, in 256ths, by the level of the sky's and that of the blocks'.
    pub light: [[u16; 3]; 256],
    /// The colours from the horizon up.
    heights: [[u8; 3]; HEIGHTS],
}

/// In how many steps the sky changes from the horizon up.
const HEIGHTS: usize = 256;

const DAY_ZENITH: LinearColour = [0.36, 0.56, 0.94];
const DAY_HORIZON: LinearColour = [0.72, 0.83, 1.0];
const NIGHT_ZENITH: LinearColour = [0.01, 0.012, 0.035];
const NIGHT_HORIZON: LinearColour = [0.04, 0.05, 0.09];
const DUSK: LinearColour = [0.92, 0.50, 0.24];

const SUN: LinearColour = [1.0, 0.97, 0.82];
const MOON: LinearColour = [0.82, 0.85, 0.92];

/// What is seen under water.
pub(super) const UNDER_WATER: LinearColour = [0.05, 0.16, 0.36];

impl Sky {
    pub fn new(time: u64) -> Self {
        // The sun is highest at 6,000.
        let turn = ((time % DAY) * 15 + 270_000) as i32;
        let (height, east) = (cosine(turn) as f32, -sine(turn) as f32);
        let day = (height * 2.0 + 0.5).clamp(0.0, 1.0);
        let dusk = (1.0 - (height * 4.0).abs()).max(0.0);
        let mixed = |night: LinearColour, day_colour: LinearColour| blend(night, day_colour, day);
        let horizon = blend(mixed(NIGHT_HORIZON, DAY_HORIZON), DUSK, dusk * 0.5);
        let zenith = mixed(NIGHT_ZENITH, DAY_ZENITH);
        let heights = std::array::from_fn(|step| {
            let high = (step as f32 / (HEIGHTS - 1) as f32 * 2.2).min(1.0);
            blend(horizon, zenith, high * (2.0 - high)).map(byte)
        });
        Self { horizon, sun: [east, height], night: 1.0 - day, light: lights(day), heights }
    }

    /// The colour of the fog.
    pub fn haze(&self) -> LinearColour {
        self.horizon
    }

    /// The colour in a direction of the length 1.
    pub fn towards(&self, [x, y, z]: [f32; 3]) -> [u8; 3] {
        let colour = self.heights[((y.max(0.0) * (HEIGHTS - 1) as f32) as usize).min(HEIGHTS - 1)];
        let [east, height] = self.sun;
        // A square, as seen from below: how far off it is beside its path and along it.
        let across = (x * height - y * east).abs().max(z.abs());
        if across >= 0.055 {
            return colour;
        }
        let is_sun = x * east + y * height > 0.0;
        let (face, share) = if is_sun { (SUN, 1.0) } else { (MOON, self.night) };
        blend(colour.map(|part| f32::from(part) / 255.0), face, share).map(byte)
    }
}

/// What sixteen levels of light from the sky, and as many from blocks, make of a colour.
fn lights(day: f32) -> [[u16; 3]; 256] {
    let bright = |level: usize| {
        let share = level as f32 / 15.0;
        share / (4.0 - 3.0 * share)
    };
    let strength = 0.16 + 0.84 * day;
    let tint = blend([0.62, 0.72, 1.0], [1.0, 1.0, 1.0], day);
    std::array::from_fn(|light| {
        let glow = bright(light & 15) * 1.05;
        let glow = [glow, glow * (0.72 + 0.28 * glow), glow * (0.48 + 0.52 * glow * glow)];
        std::array::from_fn(|part| {
            let open = bright(light >> 4) * strength * tint[part];
            let sum = (open + glow[part]).min(1.0);
            // Dark places are lifted, as with the game's brightness turned up.
            let dark = (1.0 - sum) * (1.0 - sum);
            let lifted = 1.0 - dark * dark;
            ((0.06 + 0.94 * (0.4 * sum + 0.6 * lifted)).min(1.0) * 256.0) as u16
        })
    })
}

/// The byte of a part from 0 to 1.
pub(super) fn byte(part: f32) -> u8 {
    (part * 255.0 + 0.5) as u8
}

pub(super) fn blend(from: LinearColour, to: LinearColour, share: f32) -> LinearColour {
    std::array::from_fn(|part| from[part] + (to[part] - from[part]) * share)
}
