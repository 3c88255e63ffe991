//! The patterns of recipes.
//!
//! A pattern gives each texel that it paints a level from 0 (dark) to 1 (light), and leaves the others unpainted. All
//! patterns wrap around the tile and are lit from the top left.

use serde::Deserialize;

use super::levels::{Levels, by_texel, equalise, index};
use super::masonry::{Bricks, Cobbles, Planks};
use super::nature::{Bark, Fringe, Leaves, Rings, Strata};
use super::noise::{EDGE, Noise, blend};

/// A pattern with its parameters, as palette files have it.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Pattern {
    /// The same level for every texel.
    Flat,
    Grain(Grain),
    Speckle(Speckle),
    Weave(Weave),
    Bevel(Bevel),
    Cracks(Cracks),
    Waves(Waves),
    Drawing(Drawing),
    Planks(Planks),
    Bricks(Bricks),
    Cobbles(Cobbles),
    Bark(Bark),
    Rings(Rings),
    Leaves(Leaves),
    Fringe(Fringe),
    Strata(Strata),
}

impl Pattern {
    /// The levels for a ramp of `steps` colours.
    pub fn levels(&self, noise: Noise, steps: usize) -> Levels {
        match self {
            Self::Flat => [Some(0.5); 256],
            Self::Grain(grain) => grain.levels(noise),
            Self::Speckle(speckle) => speckle.levels(noise),
            Self::Weave(weave) => weave.levels(noise),
            Self::Bevel(bevel) => bevel.levels(),
            Self::Cracks(cracks) => cracks.levels(noise),
            Self::Waves(waves) => waves.levels(noise),
            Self::Drawing(drawing) => drawing.levels(steps),
            Self::Planks(planks) => planks.levels(noise),
            Self::Bricks(bricks) => bricks.levels(noise),
            Self::Cobbles(cobbles) => cobbles.levels(noise),
            Self::Bark(bark) => bark.levels(noise),
            Self::Rings(rings) => rings.levels(noise),
            Self::Leaves(leaves) => leaves.levels(noise),
            Self::Fringe(fringe) => fringe.levels(noise),
            Self::Strata(strata) => strata.levels(noise),
        }
    }
}

/// The width and height of a blotch, in texels. They must divide the tile.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(try_from = "[i32; 2]")]
struct Blotch([i32; 2]);

impl TryFrom<[i32; 2]> for Blotch {
    type Error = &'static str;

    fn try_from(sizes: [i32; 2]) -> Result<Self, Self::Error> {
        let fits = sizes.iter().all(|size| [1, 2, 4, 8, 16].contains(size));
        if fits { Ok(Self(sizes)) } else { Err("a blotch must be 1, 2, 4, 8 or 16 texels wide and high") }
    }
}

/// Soft blotches and single grains, as in stone, earth and sand.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Grain {
    blotch: Blotch,
    /// The weight of single texels against blotches, from 0 to 1.
    rough: f32,
}

impl Grain {
    fn levels(&self, noise: Noise) -> Levels {
        let fine = noise.derive(1);
        let mut levels =
            by_texel(|x, y| Some(blend(noise.smooth(x, y, self.blotch.0), fine.at(x, y), self.rough)));
        equalise(&mut levels);
        levels
    }
}

/// Small scattered groups of texels.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Speckle {
    /// The share of the tile that they cover, from 0 to 1.
    share: f32,
    blotch: Blotch,
    #[serde(default)]
    rough: f32,
}

impl Speckle {
    fn levels(&self, noise: Noise) -> Levels {
        let mut levels = Grain { blotch: self.blotch, rough: self.rough }.levels(noise);
        let from = 1.0 - self.share;
        for level in &mut levels {
            *level = level.filter(|&l| l > from).map(|l| (l - from) / self.share);
        }
        levels
    }
}

/// Soft loops of yarn, in rows that lean left and right in turn.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Weave {
    /// How much the yarn is frayed, from 0 to 1.
    fray: f32,
}

impl Weave {
    fn levels(&self, noise: Noise) -> Levels {
        by_texel(|x, y| {
            let leaning = if y / 4 % 2 == 0 { x + y } else { x - y };
            let loops = [0.35, 0.75, 0.9, 0.55][leaning.rem_euclid(4) as usize];
            let row = if y % 4 == 3 { -0.25 } else { 0.0 };
            let soft = noise.smooth(x, y, [4, 4]) * 0.5 + noise.derive(1).at(x, y) * 0.5;
            Some(blend(loops + row, soft, self.fray))
        })
    }
}

/// A raised rim: light at the top and left, dark at the bottom and right.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bevel {
    #[serde(default)]
    inset: i32,
    #[serde(default = "thin")]
    width: i32,
}

fn thin() -> i32 {
    1
}

impl Bevel {
    fn levels(&self) -> Levels {
        by_texel(|x, y| {
            let (low, high) = (x.min(y), x.max(y));
            let depth = low.min(EDGE - 1 - high);
            if !(self.inset..self.inset + self.width).contains(&depth) {
                return None;
            }
            match (low == depth, high == EDGE - 1 - depth) {
                (true, true) => Some(0.5),
                (lit, _) => Some(if lit { 1.0 } else { 0.0 }),
            }
        })
    }
}

/// Thin irregular lines.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cracks {
    count: i32,
    length: i32,
}

impl Cracks {
    fn levels(&self, noise: Noise) -> Levels {
        let mut levels = [None; 256];
        for crack in 0..self.count {
            let throw = |step: i32| noise.derive(crack as u32 + 1).at(step, step / EDGE);
            let (mut x, mut y) = ((throw(100) * 16.0) as i32, (throw(101) * 16.0) as i32);
            let leans = if throw(102) < 0.5 { -1 } else { 1 };
            for step in 0..self.length {
                levels[index(x, y)] = Some(step as f32 / self.length as f32);
                match (throw(step) * 4.0) as i32 {
                    0 => x += leans,
                    1 => (x, y) = (x + leans, y + 1),
                    _ => y += 1,
                }
            }
        }
        levels
    }
}

/// Horizontal ripples of varying width.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Waves {
    /// The number of ripples from top to bottom.
    count: i32,
    /// The height of their swing, in texels.
    swing: f32,
}

impl Waves {
    fn levels(&self, noise: Noise) -> Levels {
        let mut levels = by_texel(|x, y| {
            let sway = (noise.smooth(x, y, [8, 8]) - 0.5) * 2.0 * self.swing;
            let phase = (y as f32 + sway) * self.count as f32 / EDGE as f32;
            let t = phase - phase.floor();
            let crest = 1.0 - (2.0 * t - 1.0) * (2.0 * t - 1.0);
            Some(blend(crest, noise.derive(1).smooth(x, y, [4, 2]), 0.45))
        });
        equalise(&mut levels);
        levels
    }
}

/// A drawing by hand: 16 rows of 16 characters, each `.` for an unpainted texel or a hexadecimal digit for a step of
/// the ramp.
#[derive(Debug, Deserialize)]
#[serde(try_from = "Vec<String>")]
pub struct Drawing(Box<[Option<u8>; 256]>);

impl TryFrom<Vec<String>> for Drawing {
    type Error = String;

    fn try_from(rows: Vec<String>) -> Result<Self, String> {
        let signs: Vec<char> = rows.iter().flat_map(|row| row.chars()).collect();
        if rows.len() != 16 || rows.iter().any(|row| row.chars().count() != 16) {
            return Err("a drawing must have 16 rows of 16 characters".to_owned());
        }
        let mut steps = Box::new([None; 256]);
        for (step, sign) in steps.iter_mut().zip(signs) {
            *step = match sign {
                '.' => None,
                sign => {
                    Some(sign.to_digit(16).ok_or_else(|| format!("a drawing cannot have {sign:?}"))? as u8)
                }
            };
        }
        Ok(Self(steps))
    }
}

impl Drawing {
    fn levels(&self, steps: usize) -> Levels {
        self.0.map(|step| step.map(|step| (f32::from(step) + 0.5) / steps as f32))
    }
}
