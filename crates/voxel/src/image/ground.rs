//! The ground under a build, which shows only shadows.

use super::scene::TracedGrid;
use super::vector::{Vector, add, scale};
use crate::palette::AIR;

/// The share of light that is lost in the shadow of the sun, and close under the build.
const SHADOW: f32 = 0.30;
const CONTACT: f32 = 0.42;

/// A map of how close the build is to the ground.
pub struct Ground {
    height: f32,
    /// The corner of the map, in cells.
    corner: [i32; 2],
    width: usize,
    depth: usize,
    /// From 0 to 1, blurred around the build, row after row along x.
    nearness: Vec<f32>,
}

impl Ground {
    pub fn under(scene: &TracedGrid<'_>) -> Self {
        let [low, high] = [scene.low, scene.high];
        let span = (high[0] - low[0]).max(high[2] - low[2]) + 1;
        let blur = (span / 14).max(1);
        let margin = 3 * blur + 1;
        let corner = [low[0] - margin, low[2] - margin];
        let width = (high[0] - low[0] + 1 + 2 * margin) as usize;
        let depth = (high[2] - low[2] + 1 + 2 * margin) as usize;
        let mut nearness = vec![0.0; width * depth];
        for z in low[2]..=high[2] {
            for x in low[0]..=high[0] {
                let i = (z - corner[1]) as usize * width + (x - corner[0]) as usize;
                nearness[i] = column(scene, x, z, 2 * blur);
            }
        }
        for _ in 0..3 {
            nearness = blur_and_transpose(&nearness, width, blur as usize);
            nearness = blur_and_transpose(&nearness, depth, blur as usize);
        }
        Self { height: low[1] as f32, corner, width, depth, nearness }
    }

    /// The brightness of the ground at the point that a ray hits.
    pub fn light(&self, scene: &TracedGrid<'_>, eye: Vector, ray: Vector, sun: Vector) -> f32 {
        if ray[1] >= 0.0 {
            return 1.0;
        }
        let at = add(eye, scale(ray, (self.height - eye[1]) / ray[1]));
        let contact = 1.0 - CONTACT * self.near(at[0], at[2]);
        let start = [at[0], self.height + 2e-3, at[2]];
        let shadow = if scene.is_shaded(start, sun) { 1.0 - SHADOW } else { 1.0 };
        contact * shadow
    }

    fn near(&self, x: f32, z: f32) -> f32 {
        let (x, z) = (x - self.corner[0] as f32 - 0.5, z - self.corner[1] as f32 - 0.5);
        if x < 0.0 || z < 0.0 || x >= (self.width - 1) as f32 || z >= (self.depth - 1) as f32 {
            return 0.0;
        }
        let (column, row) = (x as usize, z as usize);
        let at = |i: usize, j: usize| self.nearness[(row + j) * self.width + column + i];
        let along = |j: usize| at(0, j) + (at(1, j) - at(0, j)) * x.fract();
        along(0) + (along(1) - along(0)) * z.fract()
    }
}

/// How close a column is to the ground: 1 if it stands on it, 0 if its lowest block is at `reach` or higher.
fn column(scene: &TracedGrid<'_>, x: i32, z: i32, reach: i32) -> f32 {
    let lowest = (0..reach).find(|&y| {
        let height = scene.low[1] + y;
        height <= scene.high[1] && scene.block([x, height, z]) != AIR
    });
    lowest.map_or(0.0, |y| 1.0 - y as f32 / reach as f32)
}

/// Blurs along the rows and transposes, so that a second call blurs along the columns and transposes back.
fn blur_and_transpose(values: &[f32], width: usize, reach: usize) -> Vec<f32> {
    let rows = values.len() / width;
    let mut turned = vec![0.0; values.len()];
    for (y, row) in values.chunks_exact(width).enumerate() {
        let mut sum: f32 = row[..reach.min(width)].iter().sum();
        for x in 0..width {
            sum += row.get(x + reach).copied().unwrap_or(0.0);
            turned[x * rows + y] = sum / (2 * reach + 1) as f32;
            sum -= x.checked_sub(reach).map_or(0.0, |gone| row[gone]);
        }
    }
    turned
}
