//! Masonry: planks, bricks and cobblestones.

use serde::Deserialize;

use super::levels::{Levels, by_texel};
use super::noise::{EDGE, Noise, blend};

/// Horizontal boards with staggered ends.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Planks {
    boards: i32,
    /// The contrast of the grain, from 0 to 1.
    grain: f32,
}

impl Planks {
    pub fn levels(&self, noise: Noise) -> Levels {
        let height = EDGE / self.boards;
        let streaks = noise.derive(1);
        by_texel(|x, y| {
            let (board, row) = (y / height, y % height);
            let joint = (board * 7 + 3 + (noise.at(board, 12) * 3.0) as i32) % EDGE;
            if row == height - 1 {
                return Some(0.0);
            }
            if x == joint {
                return Some(0.12);
            }
            let streak = blend(streaks.smooth(x, y, [8, 1]), streaks.derive(1).smooth(x, y, [2, 1]), 0.35);
            let tone = 0.62 + 0.2 * (noise.shared().at(board, 11) - 0.5) + self.grain * (streak - 0.5);
            let edge = if row == 0 || x == (joint + 1) % EDGE { 0.18 } else { 0.0 };
            Some((tone + edge).max(0.25))
        })
    }
}

/// Bricks in a running bond. The mortar below and to the right of each is not painted.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bricks {
    width: i32,
    height: i32,
    /// The difference between single bricks.
    #[serde(default = "differ")]
    differ: f32,
    /// The roughness of their faces.
    #[serde(default = "rough")]
    rough: f32,
}

fn differ() -> f32 {
    0.3
}

fn rough() -> f32 {
    0.35
}

impl Bricks {
    pub fn levels(&self, noise: Noise) -> Levels {
        by_texel(|x, y| {
            let course = y / self.height;
            let along = (x + course % 2 * self.width / 2).rem_euclid(EDGE);
            let (brick, column, row) = (along / self.width, along % self.width, y % self.height);
            if column == self.width - 1 || row == self.height - 1 {
                return None;
            }
            let face = blend(noise.smooth(x, y, [4, 2]), noise.derive(1).at(x, y), 0.5);
            let tone = 0.5 + self.differ * (noise.at(brick, course) - 0.5) + self.rough * (face - 0.5);
            let lit = column == 0 || row == 0;
            let dark = column == self.width - 2 || row == self.height - 2;
            Some(match (lit, dark) {
                (true, false) => tone + 0.22,
                (false, true) => tone - 0.22,
                _ => tone,
            })
        })
    }
}

/// Round stones of many sizes. The gaps between them are not painted.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cobbles {
    /// The number of stones side by side.
    pub across: i32,
    /// The width of the gaps, in texels.
    pub gap: f32,
    /// The depth of the shading.
    pub relief: f32,
    #[serde(default = "differ")]
    pub differ: f32,
}

/// The position of a texel among stones.
pub struct StonePoint {
    /// The offset from the middle of its stone.
    pub offset: [f32; 2],
    /// How much further away the second nearest stone is.
    pub margin: f32,
    /// The tone of its stone.
    pub tone: f32,
}

impl Cobbles {
    pub fn levels(&self, noise: Noise) -> Levels {
        let fine = noise.derive(9);
        by_texel(|x, y| {
            let point = self.nearest_stone(noise, x, y);
            (point.margin >= self.gap).then(|| self.light(&point) + 0.12 * (fine.at(x, y) - 0.5))
        })
    }

    /// The level of a texel, lit from the top left.
    pub fn light(&self, point: &StonePoint) -> f32 {
        let radius = EDGE as f32 / self.across as f32 / 2.0;
        let slope = (point.offset[0] + point.offset[1]) / (2.0 * radius);
        0.5 + self.differ * (point.tone - 0.5) - self.relief * slope
    }

    pub fn nearest_stone(&self, noise: Noise, x: i32, y: i32) -> StonePoint {
        let cell = EDGE as f32 / self.across as f32;
        let (column, row) = ((x as f32 / cell) as i32, (y as f32 / cell) as i32);
        let (mut nearest, mut next) = (f32::INFINITY, f32::INFINITY);
        let mut point = StonePoint { offset: [0.0; 2], margin: 0.0, tone: 0.5 };
        for (i, j) in (-2..=2).flat_map(|i| (-2..=2).map(move |j| (column + i, row + j))) {
            let stone = self.stone(noise, i, j);
            let middle = [(i as f32 + stone[0]) * cell, (j as f32 + stone[1]) * cell];
            let offset = [x as f32 + 0.5 - middle[0], y as f32 + 0.5 - middle[1]];
            let distance = (offset[0] * offset[0] + offset[1] * offset[1]).sqrt() + stone[3] * 0.4 * cell;
            if distance < nearest {
                next = nearest;
                nearest = distance;
                point = StonePoint { offset, margin: 0.0, tone: stone[2] };
            } else {
                next = next.min(distance);
            }
        }
        point.margin = next - nearest;
        point
    }

    /// The middle of a stone in its cell, its tone, and how small it is. Stones that reach over the edge of the tile
    /// are the same in all variants.
    fn stone(&self, noise: Noise, i: i32, j: i32) -> [f32; 4] {
        let (i, j) = (i.rem_euclid(self.across), j.rem_euclid(self.across));
        let inner = 1..self.across - 1;
        let noise = if inner.contains(&i) && inner.contains(&j) { noise } else { noise.shared() };
        let throw = |salt| noise.derive(salt).at(i, j);
        [0.15 + 0.7 * throw(1), 0.15 + 0.7 * throw(2), throw(3), throw(4)]
    }
}
