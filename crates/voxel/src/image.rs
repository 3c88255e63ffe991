//! Pictures of a grid from one of eight sides, from any frame of a turntable, or from another height.
//!
//! Rays are traced from the eye through the grid, cell by cell. Surfaces are lit by a sun, which casts shadows, and by
//! the sky, which is darker in corners; light is added in linear space. Only the size, the angle and the background of
//! the [`View`] change how a grid looks, and builds with equal bounds have equal scale.
//!
//! [`Camera`] specifies the position of the eye exactly, so that other viewers can start from the same view.

mod camera;
mod ground;
mod light;
mod scene;
mod trace;
mod vector;

use std::{sync::Mutex, thread};

pub use self::camera::{Camera, OrbitAngle};
use self::{light::Painter, scene::TracedGrid};
use super::grid::Grid;
pub use crate::picture::Picture;

/// The way to look at a grid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct View {
    turn: OrbitAngle,
    /// In degrees above the horizon.
    elevation: u8,
    size: u16,
    background: Background,
    /// A frame of an animation, for which fewer samples are enough.
    is_frame: bool,
}

/// The background of a picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Background {
    Transparent,
    /// One bright colour, with the build's shadow on the ground.
    Wall,
    /// A sky that is brighter at the bottom, with the same shadow.
    Sky,
}

impl View {
    pub const ANGLES: u8 = 8;
    pub const MIN_SIZE: u16 = 64;
    pub const MAX_SIZE: u16 = 1024;
    /// How high the eye is, in degrees above the horizon, unless it is raised or lowered.
    pub const ELEVATION: u8 = 27;
    pub const MAX_ELEVATION: u8 = 85;

    /// A square picture from one of eight angles, which are an eighth of a turn apart.
    ///
    /// # Errors
    /// A sentence with the allowed range.
    pub fn new(angle: u8, size: u16, background: Background) -> Result<Self, String> {
        if angle >= Self::ANGLES {
            return Err("the angle must be from 0 to 7".to_owned());
        }
        if !(Self::MIN_SIZE..=Self::MAX_SIZE).contains(&size) {
            return Err(format!("the size must be from {} to {} pixels", Self::MIN_SIZE, Self::MAX_SIZE));
        }
        let turn = OrbitAngle::of(angle, Self::ANGLES);
        Ok(Self { turn, elevation: Self::ELEVATION, size, background, is_frame: false })
    }

    /// The same view from another height, in degrees above the horizon.
    ///
    /// # Errors
    /// A sentence with the allowed range.
    pub fn raised(self, elevation: u8) -> Result<Self, String> {
        if elevation > Self::MAX_ELEVATION {
            return Err(format!("the elevation must be from 0 to {} degrees", Self::MAX_ELEVATION));
        }
        Ok(Self { elevation, ..self })
    }

    /// The same view after another turn around the build, in degrees.
    ///
    /// # Errors
    /// A sentence that says which turns there are.
    pub fn turned(self, degrees: u16) -> Result<Self, String> {
        let turn = self.turn.plus(degrees).ok_or("a turn must be a multiple of 5 degrees")?;
        Ok(Self { turn, ..self })
    }

    /// A frame of an animation. The size must be one that [`View::new`] allows.
    #[cfg(feature = "turntables")]
    pub(super) fn frame(turn: OrbitAngle, size: u16) -> Self {
        Self { turn, elevation: Self::ELEVATION, size, background: Background::Wall, is_frame: true }
    }
}

/// Draws a grid, on a number of threads that does not change the picture.
pub fn render(grid: &Grid, view: &View, threads: usize) -> Picture {
    let size = usize::from(view.size);
    let mut rgba = vec![0; size * size * 4];
    let bounds = grid.stats().bounds;
    if let Some(bounds) = bounds {
        let camera = Camera::raised(&bounds, view.turn, view.elevation.into());
        let scene = TracedGrid::new(grid, bounds);
        let painter = Painter::new(&scene, camera, view);
        let rows = rgba.chunks_exact_mut(size * 4);
        for_each_parallel(rows, threads, &|y, row: &mut [u8]| painter.row(y, row));
    } else if view.background != Background::Transparent {
        for (y, row) in rgba.chunks_exact_mut(size * 4).enumerate() {
            let colour =
                vector::to_srgb(light::backdrop(view.background, (y as f32 + 0.5) / size as f32), 1.0);
            row.as_chunks_mut::<4>().0.fill(colour);
        }
    }
    Picture { width: size as u32, height: size as u32, rgba }
}

/// Does work on numbered items. Each thread takes the next item that is left, because some take longer than others.
fn for_each_parallel<T: Send>(
    items: impl Iterator<Item = T> + Send,
    threads: usize,
    work: &(impl Fn(usize, T) + Sync),
) {
    let items = Mutex::new(items.enumerate());
    let next = || items.lock().ok()?.next();
    let busy = || {
        while let Some((number, item)) = next() {
            work(number, item);
        }
    };
    thread::scope(|scope| {
        for _ in 1..threads.max(1) {
            scope.spawn(busy);
        }
        busy();
    });
}
