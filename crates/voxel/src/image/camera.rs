//! The position of the eye.

use super::View;
use super::vector::{Vector, add, scale, unit};
use crate::grid::Bounds;

/// How far the eye has moved around the build from its first position.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct OrbitAngle(u8);

impl OrbitAngle {
    /// Steps in a whole turn. It is a multiple of 8, for the angles of pictures, and of 36, for frames of turntables.
    const STEPS: u8 = 72;

    /// `part` of `parts` equal parts of a turn. `parts` must divide [`Self::STEPS`].
    pub(crate) const fn of(part: u8, parts: u8) -> Self {
        assert!(Self::STEPS.is_multiple_of(parts), "parts must be whole steps");
        Self(part % parts * (Self::STEPS / parts))
    }

    /// The angle after another turn. None if that is not whole steps.
    pub(super) fn plus(self, degrees: u16) -> Option<Self> {
        let step = 360 / u16::from(Self::STEPS);
        let turned = (u16::from(self.0) + degrees / step % u16::from(Self::STEPS)) % u16::from(Self::STEPS);
        degrees.is_multiple_of(step).then_some(Self(turned as u8))
    }
}

/// A pinhole camera that sees the whole build from every angle, at the same scale.
///
/// With `min` and `max` the build's bounds, inclusive, and
///
/// ```text
/// yaw   = 30° + the angle of the turn        elevation e = 27°        fov = 30°, vertical
/// c     = (min + max + 1) / 2      the middle of the bounds
/// r     = √(span_x² + span_z²) / 2, h = span_y / 2: a cylinder around them
/// away  = (sin yaw · cos e, sin e, cos yaw · cos e)
/// right = (cos yaw, 0, -sin yaw)
/// up    = away × right = (-sin yaw · sin e, cos e, -cos yaw · sin e)
/// k     = 0.96 · tan(fov / 2)      which leaves a margin
/// A     = h · |sin e + cos e / k| + r · |cos e - sin e / k|
/// B     = h · |sin e - cos e / k| + r · |cos e + sin e / k|
/// C     = h · sin e + r · √(cos² e + 1 / k²)
/// ```
///
/// the eye looks at `target = c + up · k (A - B) / 2` from `target + away · max((A + B) / 2, C)`.
/// A, B and C are the distances at which the cylinder touches the upper edge, the lower edge and the sides of the
/// picture. The shift of the target balances A and B. None of them depends on the turn, so a turn neither crops the
/// build nor changes its scale.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Camera {
    pub eye: Vector,
    pub target: Vector,
    /// The directions from the target to the eye, to the right, and up; each has length 1.
    pub away: Vector,
    pub right: Vector,
    pub up: Vector,
    /// Half the height of the picture at distance 1.
    pub reach: f32,
    pub yaw: f32,
}

impl Camera {
    /// The first yaw, in degrees.
    pub const FIRST_YAW: f32 = 30.0;
    pub const ELEVATION: f32 = View::ELEVATION as f32;
    pub const FIELD_OF_VIEW: f32 = 30.0;
    const MARGIN: f32 = 0.96;

    pub fn new(bounds: &Bounds, turn: OrbitAngle) -> Self {
        Self::raised(bounds, turn, Self::ELEVATION)
    }

    /// The same camera with another elevation, in degrees.
    pub(super) fn raised(bounds: &Bounds, turn: OrbitAngle, elevation: f32) -> Self {
        let turned = f32::from(turn.0) * 360.0 / f32::from(OrbitAngle::STEPS);
        let yaw = (Self::FIRST_YAW + turned).to_radians();
        let (sin, cos) = elevation.to_radians().sin_cos();
        let (sin_yaw, cos_yaw) = yaw.sin_cos();
        let away = [sin_yaw * cos, sin, cos_yaw * cos];
        let right = [cos_yaw, 0.0, -sin_yaw];
        let up = [-sin_yaw * sin, cos, -cos_yaw * sin];

        let [x, y, z] = bounds.spans().map(|span| span as f32);
        let (r, h) = (x.hypot(z) / 2.0, y / 2.0);
        let reach = (Self::FIELD_OF_VIEW / 2.0).to_radians().tan();
        let k = Self::MARGIN * reach;
        let over_top = h * (sin + cos / k).abs() + r * (cos - sin / k).abs();
        let under_bottom = h * (sin - cos / k).abs() + r * (cos + sin / k).abs();
        let beside = h * sin + r * (cos * cos + 1.0 / (k * k)).sqrt();
        let distance = ((over_top + under_bottom) / 2.0).max(beside);

        let target = add(middle(bounds), scale(up, k * (over_top - under_bottom) / 2.0));
        Self { eye: add(target, scale(away, distance)), target, away, right, up, reach, yaw }
    }

    /// The direction of a point in the picture, whose coordinates go from -1 to 1, to the right and up.
    pub fn ray(&self, x: f32, y: f32) -> Vector {
        let aside = add(scale(self.right, x * self.reach), scale(self.up, y * self.reach));
        unit(add(aside, scale(self.away, -1.0)))
    }
}

fn middle(bounds: &Bounds) -> Vector {
    [0, 1, 2].map(|axis| f32::from(bounds.min[axis] + bounds.max[axis] + 1) / 2.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_corners_of_any_bounds_are_in_the_picture_from_every_angle() {
        for max in [[31, 31, 31], [255, 0, 255], [0, 255, 0], [200, 3, 0], [0, 0, 0]] {
            let bounds = Bounds { min: [0; 3], max };
            for step in 0..OrbitAngle::STEPS {
                for elevation in [27, 0, 12, 45, View::MAX_ELEVATION] {
                    let camera = Camera::raised(&bounds, OrbitAngle(step), f32::from(elevation));
                    for corner in 0..8 {
                        let at = [0, 1, 2]
                            .map(|k| if corner >> k & 1 == 1 { f32::from(max[k]) + 1.0 } else { 0.0 });
                        let [x, y] = place(&camera, at);
                        assert!(x.abs() < 0.97 && y.abs() < 0.97, "{max:?} at {step}, {elevation}: {x} {y}");
                    }
                }
            }
        }
    }

    #[test]
    fn a_ray_goes_where_it_is_seen() {
        let camera = Camera::new(&Bounds { min: [3; 3], max: [20; 3] }, OrbitAngle::of(3, 8));
        for [x, y] in [[0.0, 0.0], [0.5, -0.7], [-1.0, 1.0]] {
            let [seen_x, seen_y] = place(&camera, add(camera.eye, scale(camera.ray(x, y), 50.0)));
            assert!((seen_x - x).abs() < 1e-4 && (seen_y - y).abs() < 1e-4);
        }
    }

    #[test]
    fn a_whole_turn_ends_where_it_began() {
        assert_eq!(OrbitAngle::of(36, 36), OrbitAngle::default());
        assert_eq!(OrbitAngle::of(9, 36), OrbitAngle::of(2, 8));
        assert_eq!(OrbitAngle::of(6, 8).plus(180), Some(OrbitAngle::of(2, 8)));
        assert_eq!(OrbitAngle::of(6, 8).plus(3_690), Some(OrbitAngle::of(0, 8)));
        assert_eq!(OrbitAngle::default().plus(7), None);
    }

    /// The point in the picture at which a position is seen.
    fn place(camera: &Camera, at: Vector) -> [f32; 2] {
        let from_eye = add(at, scale(camera.eye, -1.0));
        let along = |axis: Vector| (0..3).map(|k| axis[k] * from_eye[k]).sum::<f32>();
        let depth = -along(camera.away) * camera.reach;
        [along(camera.right) / depth, along(camera.up) / depth]
    }
}
