//! Shading: the light that each ray brings back, and the pixels made of it.

use super::camera::Camera;
use super::ground::Ground;
use super::scene::{Mips, TracedGrid};
use super::trace::Hit;
use super::vector::{Vector, add, blend, scale, times, to_srgb, unit};
use super::{Background, View};
use crate::palette::RenderClass;

/// Sunlight on a face that faces the sun, slightly warm.
const SUN: Vector = [0.92, 0.86, 0.75];
/// Skylight on a face that faces up, slightly cool, and on one that faces down.
const SKY: Vector = [0.41, 0.45, 0.51];
const BOUNCE: Vector = [0.31, 0.30, 0.29];
/// The share of skylight on the inside of leaves.
const INNER: f32 = 0.45;
/// The brightness of light-emitting blocks, relative to their tiles.
const GLOW: f32 = 1.15;
/// The light at a corner of a face with zero to three open neighbours.
const CORNER: [f32; 4] = [0.48, 0.68, 0.85, 1.0];
/// The colour of the wall.
const WALL: Vector = [0.922_01, 0.913_16, 0.879_86];
/// The colours of the sky at the top and at the bottom.
const SKY_BEHIND: [Vector; 2] = [[0.50, 0.68, 0.86], [0.90, 0.92, 0.92]];

/// The points in a pixel that are sampled. No two share a row or a column, which smooths edges of any direction.
const SAMPLES: [[f32; 2]; 4] = [[0.125, 0.375], [0.875, 0.625], [0.375, 0.875], [0.625, 0.125]];
/// If the first two samples differ by no more than this, the other two are not taken: in a picture, and in a frame of
/// an animation.
const SAMPLE_TOLERANCE: [f32; 2] = [0.02, 0.1];

pub struct Painter<'a> {
    scene: &'a TracedGrid<'a>,
    mips: &'static [Mips],
    camera: Camera,
    size: f32,
    tolerance: f32,
    background: Background,
    /// The direction to the sun, which is on the left, behind the eye.
    sun: Vector,
    /// None if the background is transparent.
    ground: Option<Ground>,
    /// The width of a sample at distance 1, in texels.
    texels: f32,
}

/// Red, green and blue, multiplied by alpha, and alpha.
type LightSample = [f32; 4];

pub fn backdrop(background: Background, down: f32) -> Vector {
    match background {
        Background::Sky => blend(SKY_BEHIND[0], SKY_BEHIND[1], down),
        Background::Wall | Background::Transparent => WALL,
    }
}

impl<'a> Painter<'a> {
    pub fn new(scene: &'a TracedGrid<'a>, camera: Camera, view: &View) -> Self {
        let (size, background) = (f32::from(view.size), view.background);
        let aside = add(scale(camera.right, -0.55), [0.0, 1.0, 0.0]);
        let towards = [camera.yaw.sin(), 0.0, camera.yaw.cos()];
        Self {
            scene,
            mips: Mips::all(),
            camera,
            size,
            tolerance: SAMPLE_TOLERANCE[usize::from(view.is_frame)],
            background,
            sun: unit(add(aside, scale(towards, 0.42))),
            ground: (background != Background::Transparent).then(|| Ground::under(scene)),
            texels: 16.0 * 2.0 * camera.reach / size / 2.0,
        }
    }

    pub fn row(&self, y: usize, row: &mut [u8]) {
        for (x, pixel) in row.as_chunks_mut::<4>().0.iter_mut().enumerate() {
            *pixel = self.pixel(x as f32, y as f32);
        }
    }

    fn pixel(&self, x: f32, y: f32) -> [u8; 4] {
        let sample = |i: usize| self.sample(x + SAMPLES[i][0], y + SAMPLES[i][1]);
        let (a, b) = (sample(0), sample(1));
        let mut sum: LightSample = std::array::from_fn(|i| (a[i] + b[i]) / 2.0);
        if (0..4).any(|i| (a[i] - b[i]).abs() > self.tolerance) {
            let (c, d) = (sample(2), sample(3));
            sum = std::array::from_fn(|i| sum[i] / 2.0 + (c[i] + d[i]) / 4.0);
        }
        let [r, g, b, alpha] = sum;
        to_srgb(scale([r, g, b], 1.0 / alpha.max(1e-4)), alpha)
    }

    /// The light at a point in the picture, given in pixels.
    fn sample(&self, x: f32, y: f32) -> LightSample {
        let down = y / self.size;
        let ray = self.camera.ray(2.0 * x / self.size - 1.0, 1.0 - 2.0 * down);
        let mut light = [0.0; 3];
        let mut open = 1.0;
        self.scene.trace(self.camera.eye, ray, |hit| {
            let [r, g, b, alpha] = self.surface(hit, ray);
            light = add(light, scale([r, g, b], open));
            open *= 1.0 - alpha;
            open < 0.02
        });
        if open < 0.02 {
            return [light[0], light[1], light[2], 1.0];
        }
        let Some(ground) = &self.ground else {
            return [light[0], light[1], light[2], 1.0 - open];
        };
        let behind =
            scale(backdrop(self.background, down), ground.light(self.scene, self.camera.eye, ray, self.sun));
        let [r, g, b] = add(light, scale(behind, open));
        [r, g, b, 1.0]
    }

    /// The light from a face, multiplied by its alpha.
    fn surface(&self, hit: &Hit, ray: Vector) -> LightSample {
        let material = self.scene.material(hit.block);
        let at = add(self.camera.eye, scale(ray, hit.distance));
        let inside = [0, 1, 2].map(|k| (at[k] - hit.cell[k] as f32).clamp(0.0, 1.0));
        let face = match (hit.axis, hit.side) {
            (1, 1) => material.faces[0],
            (1, _) => material.faces[2],
            _ => material.faces[1],
        };
        let tile = face.tile_at(hit.cell.map(|c| c as u32));
        let (u, v) = on_tile(hit, inside);
        let width = self.texels * hit.distance / ray[hit.axis].abs().max(0.1).sqrt();
        let [r, g, b, alpha] = self.mips[tile].sample(u, v, width);
        let [r, g, b] = match material.class {
            Some(RenderClass::Emissive) => scale([r, g, b], GLOW),
            _ => times([r, g, b], self.light_on(hit, at, inside)),
        };
        [r, g, b, alpha]
    }

    fn light_on(&self, hit: &Hit, at: Vector, inside: Vector) -> Vector {
        let corner = self.corner_light(hit, inside);
        let upward = if hit.axis == 1 { hit.side as f32 } else { 0.0 };
        let sky = scale(blend(BOUNCE, SKY, 0.5 + 0.5 * upward), corner);
        if hit.inner {
            return scale(sky, INNER);
        }
        let facing = self.sun[hit.axis] * hit.side as f32;
        if facing <= 0.0 {
            return sky;
        }
        let mut start = at;
        start[hit.axis] += hit.side as f32 * 2e-3;
        if self.scene.is_shaded(start, self.sun) {
            return sky;
        }
        add(sky, scale(SUN, facing * (0.5 + 0.5 * corner)))
    }

    /// The share of skylight at a point of a face, interpolated between its corners. Each corner is darkened by the
    /// three cells in front of the face that touch it (ambient occlusion).
    fn corner_light(&self, hit: &Hit, inside: Vector) -> f32 {
        let (u, v) = ((hit.axis + 1) % 3, (hit.axis + 2) % 3);
        let closed = |du: i32, dv: i32| {
            let mut cell = hit.cell;
            cell[hit.axis] += hit.side;
            cell[u] += du;
            cell[v] += dv;
            self.scene.occludes(cell)
        };
        let (left, right, below, above) = (closed(-1, 0), closed(1, 0), closed(0, -1), closed(0, 1));
        let corner = |side: bool, other: bool, du: i32, dv: i32| {
            let open = if side && other {
                0
            } else {
                3 - usize::from(side) - usize::from(other) - usize::from(closed(du, dv))
            };
            CORNER[open]
        };
        let near = [corner(left, below, -1, -1), corner(right, below, 1, -1)];
        let far = [corner(left, above, -1, 1), corner(right, above, 1, 1)];
        let along = |[a, b]: [f32; 2]| a + (b - a) * inside[u];
        along(near) + (along(far) - along(near)) * inside[v]
    }
}

/// The point on the tile at which a face was hit, from the top left; see `textures`.
fn on_tile(hit: &Hit, [x, y, z]: Vector) -> (f32, f32) {
    match (hit.axis, hit.side) {
        (0, 1) => (1.0 - z, 1.0 - y),
        (0, _) => (z, 1.0 - y),
        (1, 1) => (x, z),
        (1, _) => (x, 1.0 - z),
        (_, 1) => (x, 1.0 - y),
        _ => (1.0 - x, 1.0 - y),
    }
}

impl TracedGrid<'_> {
    /// Whether a block is between a point and the sun.
    pub fn is_shaded(&self, from: Vector, sun: Vector) -> bool {
        let mut shaded = false;
        self.trace(from, sun, |hit| {
            shaded = self.material(hit.block).casts_shadow;
            shaded
        });
        shaded
    }
}
