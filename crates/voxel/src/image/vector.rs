//! Three numbers: a position, a direction, or the light of three channels.

use crate::textures::srgb;

pub type Vector = [f32; 3];

pub fn add(a: Vector, b: Vector) -> Vector {
    [a[0] + b[0], a[1] + b[1], a[2] + b[2]]
}

pub fn scale(a: Vector, k: f32) -> Vector {
    [a[0] * k, a[1] * k, a[2] * k]
}

pub fn times(a: Vector, b: Vector) -> Vector {
    [a[0] * b[0], a[1] * b[1], a[2] * b[2]]
}

pub fn unit(a: Vector) -> Vector {
    scale(a, 1.0 / a.map(|part| part * part).iter().sum::<f32>().sqrt())
}

pub fn blend(a: Vector, b: Vector, share: f32) -> Vector {
    add(scale(a, 1.0 - share), scale(b, share))
}

/// The sRGB pixel of linear light, which must not be multiplied by alpha.
pub fn to_srgb(light: Vector, alpha: f32) -> [u8; 4] {
    let [r, g, b] = light.map(srgb);
    [r, g, b, (alpha.clamp(0.0, 1.0) * 255.0 + 0.5) as u8]
}
