//! What the player sees, as RGB bytes.
//!
//! The picture is that of a window of 640 by 360 with a vertical field of view of 70°, squeezed to the frame's size, with
//! the hand, the crosshair, the hot bar, hearts and food over it.

mod hud;
mod march;
mod seen;
mod shade;
mod sky;

use pulp::{Arch, WithSimd};

use self::hud::Hud;
use self::march::{Floats, LANES, Packet};
use self::shade::Shader;
use crate::angle::{cosine, sine};
use crate::player::Player;
pub use crate::screen::WINDOW;
use crate::world::World;

/// The largest edge of a frame, in pixels.
pub const MAX_EDGE: usize = 1024;

/// The window's width by its height.
const ASPECT: f32 = 16.0 / 9.0;

/// Half of the vertical field of view, in thousandths of a degree.
const HALF_VIEW: i32 = 35_000;

/// A picture, and what is kept to draw the next one.
#[derive(Clone)]
pub struct Frame {
    width: usize,
    height: usize,
    rgb: Vec<u8>,
    hud: Hud,
}

/// Which instructions are used. The pictures are the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Simd {
    /// The best that this processor has.
    #[default]
    Detected,
    /// Those that every processor of its kind has.
    Baseline,
}

impl Simd {
    /// What the best instructions of this processor are called.
    pub fn detected() -> &'static str {
        match Arch::new() {
            Arch::Scalar => "baseline",
            _ if cfg!(target_arch = "x86_64") => "AVX2",
            _ => "vectors",
        }
    }
}

impl Frame {
    /// A frame in black. Its edges are between 16 and 1,024 pixels, in steps of 4.
    pub fn new(width: usize, height: usize) -> Self {
        let edge = |edge: usize| edge.clamp(16, MAX_EDGE) / 4 * 4;
        let (width, height) = (edge(width), edge(height));
        Self { width, height, rgb: vec![0; width * height * 3], hud: Hud::new(width, height) }
    }

    pub fn width(&self) -> usize {
        self.width
    }

    pub fn height(&self) -> usize {
        self.height
    }

    /// The rows from top to bottom, each from left to right.
    pub fn rgb(&self) -> &[u8] {
        &self.rgb
    }
}

impl World {
    /// Draws what the player sees.
    pub fn view(&self, frame: &mut Frame) {
        self.view_with(frame, Simd::Detected);
    }

    pub fn view_with(&self, frame: &mut Frame, simd: Simd) {
        match simd {
            Simd::Detected => Arch::new().dispatch(Trace { world: self, frame }),
            Simd::Baseline => trace(self, frame),
        }
        frame.hud.draw(self, &mut frame.rgb);
    }
}

/// [`trace`], for the instructions that a processor has.
struct Trace<'a> {
    world: &'a World,
    frame: &'a mut Frame,
}

impl WithSimd for Trace<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, _: S) {
        trace(self.world, self.frame);
    }
}

/// Where the eyes are, and how they see: the picture goes from -1 to 1, to the right and up.
struct Lens {
    origin: [f32; 3],
    right: [f32; 3],
    up: [f32; 3],
    forward: [f32; 3],
    /// Half of the window's width and height at the distance 1.
    scale: [f32; 2],
}

/// A rectangle of a picture.
#[derive(Clone, Copy)]
struct Window {
    low: [f32; 2],
    high: [f32; 2],
}

impl Window {
    const ALL: Self = Self { low: [-1.0; 2], high: [1.0; 2] };

    #[inline(always)]
    fn overlaps(self, other: Self) -> bool {
        (0..2).all(|axis| self.low[axis] <= other.high[axis] && other.low[axis] <= self.high[axis])
    }
}

impl Lens {
    fn new(player: &Player) -> Self {
        let (sin_yaw, cos_yaw) = (sine(player.yaw), cosine(player.yaw));
        let (sin_pitch, cos_pitch) = (sine(player.pitch), cosine(player.pitch));
        let tangent = (sine(HALF_VIEW) / cosine(HALF_VIEW)) as f32;
        let narrow = |part: [f64; 3]| part.map(|part| part as f32);
        Self {
            origin: narrow(player.eyes()),
            right: narrow([-cos_yaw, 0.0, -sin_yaw]),
            up: narrow([-sin_yaw * sin_pitch, cos_pitch, cos_yaw * sin_pitch]),
            forward: narrow([-sin_yaw * cos_pitch, -sin_pitch, cos_yaw * cos_pitch]),
            scale: [tangent * ASPECT, tangent],
        }
    }

    /// The directions of the pixels of a square, whose corner at the top left is at (x, y).
    #[inline(always)]
    fn directions(&self, x: f32, y: f32, step: [f32; 2]) -> [Floats; 3] {
        let mut directions = [[0.0; LANES]; 3];
        for (axis, direction) in directions.iter_mut().enumerate() {
            for (lane, direction) in direction.iter_mut().enumerate() {
                let right = (x + step[0] * (lane % 4) as f32) * self.scale[0];
                let up = (y - step[1] * (lane / 4) as f32) * self.scale[1];
                *direction = self.forward[axis] + self.right[axis] * right + self.up[axis] * up;
            }
        }
        directions
    }

    /// The rectangle that holds a box, and a little more, since numbers are rounded.
    fn window_of(&self, low: [f32; 3], high: [f32; 3]) -> Window {
        let mut window = Window { low: [f32::MAX; 2], high: [f32::MIN; 2] };
        for corner in 0..8 {
            let away = [0, 1, 2].map(|axis| {
                let side = if corner >> axis & 1 == 0 { low[axis] } else { high[axis] };
                side - self.origin[axis]
            });
            let along = |direction: [f32; 3]| (0..3).map(|axis| away[axis] * direction[axis]).sum::<f32>();
            let depth = along(self.forward);
            // Beside and behind the eyes, there is no place in the picture.
            if depth < 0.1 {
                return Window::ALL;
            }
            let place =
                [along(self.right) / (depth * self.scale[0]), along(self.up) / (depth * self.scale[1])];
            for (axis, at) in place.into_iter().enumerate() {
                window.low[axis] = window.low[axis].min(at - 0.01);
                window.high[axis] = window.high[axis].max(at + 0.01);
            }
        }
        window
    }
}

/// Follows a ray for each pixel, in squares of 4 by 4.
#[inline(always)]
fn trace(world: &World, frame: &mut Frame) {
    let player = world.player();
    let lens = Lens::new(player);
    let step = [2.0 / frame.width as f32, 2.0 / frame.height as f32];
    let shader = Shader::new(world, &lens, frame.height);
    for row in (0..frame.height).step_by(4) {
        for column in (0..frame.width).step_by(4) {
            let x = (column as f32 + 0.5) * step[0] - 1.0;
            let y = 1.0 - (row as f32 + 0.5) * step[1];
            let window = Window { low: [x, y - 3.0 * step[1]], high: [x + 3.0 * step[0], y] };
            let directions = lens.directions(x, y, step);
            let mut packet = Packet::new(lens.origin, directions, shader.far, world.volume.top());
            let colours = shader.colours(&mut packet, window);
            for (lane, colour) in colours.iter().enumerate() {
                let at = ((row + lane / 4) * frame.width + column + lane % 4) * 3;
                frame.rgb[at..at + 3].copy_from_slice(colour);
            }
        }
    }
}
