//! Nature: bark, wood, leaves, turf and layers of stone.

use serde::Deserialize;

use super::levels::{Levels, by_texel, equalise};
use super::masonry::Cobbles;
use super::noise::{EDGE, Noise, blend};

/// Furrows that run up a trunk.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bark {
    /// The sideways movement of the furrows, in texels.
    wander: f32,
}

impl Bark {
    pub fn levels(&self, noise: Noise) -> Levels {
        let ridge = |x: i32, y: i32| {
            let shift = ((noise.derive(1).smooth(x, y, [8, 4]) - 0.5) * 2.0 * self.wander).round() as i32;
            blend(noise.smooth(x + shift, y, [2, 8]), noise.derive(2).smooth(x + shift, y, [1, 4]), 0.4)
        };
        let mut levels = by_texel(|x, y| {
            let towards_light = ridge(x, y) - ridge(x - 1, y);
            Some(ridge(x, y) + 0.5 * towards_light + 0.12 * noise.derive(3).at(x, y))
        });
        equalise(&mut levels);
        levels
    }
}

/// The rings of a felled trunk, within its bark.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rings {
    /// The distance between rings, in texels.
    spacing: f32,
}

impl Rings {
    pub fn levels(&self, noise: Noise) -> Levels {
        let middle = (EDGE - 1) as f32 / 2.0;
        by_texel(|x, y| {
            let (dx, dy) = ((x as f32 - middle).abs(), (y as f32 - middle).abs());
            let square = dx.max(dy);
            if square > middle - 1.0 || dx + dy > 2.0 * middle - 2.5 {
                return None;
            }
            let wobble = (noise.smooth(x, y, [4, 4]) - 0.5) * 0.9;
            let radius = blend(square, (dx * dx + dy * dy).sqrt(), 0.35) + wobble;
            let t = radius / self.spacing;
            let ring = if t - t.floor() < 0.4 { 0.25 } else { 0.75 };
            Some(ring + 0.22 * (noise.derive(1).at(x, y) - 0.5))
        })
    }
}

/// Overlapping leaves with holes between them.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Leaves {
    /// The number of leaves side by side.
    across: i32,
    /// The share of the tile that is holes, from 0 to 1.
    holes: f32,
}

impl Leaves {
    pub fn levels(&self, noise: Noise) -> Levels {
        let shapes = Cobbles { across: self.across, gap: 0.0, relief: 0.55, differ: 0.55 };
        let mut openness = by_texel(|x, y| {
            let margin = shapes.nearest_stone(noise, x, y).margin;
            let thicket = blend(noise.derive(5).smooth(x, y, [2, 4]), noise.derive(6).at(x, y), 0.25);
            Some(1.6 * thicket - 0.25 * margin)
        });
        equalise(&mut openness);
        by_texel(|x, y| {
            let open = openness[(y * EDGE + x) as usize].is_some_and(|open| open > 1.0 - self.holes);
            let point = shapes.nearest_stone(noise, x, y);
            let shadow = if point.margin < 0.6 { 0.2 } else { 0.0 };
            (!open).then(|| shapes.light(&point) - shadow)
        })
    }
}

/// A cover that hangs over the upper edge: turf, snow or moss.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fringe {
    /// The least and the greatest length, in texels.
    depth: [i32; 2],
}

impl Fringe {
    pub fn levels(&self, noise: Noise) -> Levels {
        let [least, most] = self.depth;
        let fine = noise.derive(1);
        by_texel(|x, y| {
            let hang = least + (noise.at(x, 0) * (most - least + 1) as f32) as i32;
            let tip = if y == hang - 1 { 0.3 } else { 0.0 };
            (y < hang).then(|| 0.3 + 0.7 * fine.at(x, y) - tip)
        })
    }
}

/// Layers of rock.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Strata {
    /// The heights of the layers from the top, in texels. Layers of height 1 are dark seams.
    heights: Vec<i32>,
    rough: f32,
}

impl Strata {
    pub fn levels(&self, noise: Noise) -> Levels {
        by_texel(|x, y| {
            let mut top = 0;
            let layer = self.heights.iter().position(|height| {
                top += height;
                y < top
            });
            let layer = layer.unwrap_or(self.heights.len());
            let seam = self.heights.get(layer) == Some(&1);
            let tone = if seam { 0.12 } else { 0.5 + 0.35 * noise.derive(2).at(layer as i32, 0) };
            let flecks = blend(noise.smooth(x, y, [4, 1]), noise.derive(1).at(x, y), 0.4);
            Some(tone + self.rough * (flecks - 0.5))
        })
    }
}
