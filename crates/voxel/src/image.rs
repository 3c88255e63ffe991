//! Pictures: a grid as it looks from one of eight sides, or from anywhere on a turntable.
//!
//! Rays go from the eye through the grid, cell by cell. What they meet is lit by a
//! sun, which throws shadows, and by the sky, which reaches less into corners; light
//! is added up in linear light. Beside a picture's size and angle nothing decides how
//! it comes out, and two builds of equal bounds are shown at equal scale.
//!
//! The eye's place is described at [`Camera`], exactly, because the viewer in the
//! browser starts from it.

mod camera;
mod ground;
mod light;
mod picture;
mod scene;
mod trace;
mod vector;

use std::{sync::Mutex, thread};

pub use self::camera::{Camera, OrbitAngle};
pub use self::picture::Picture;
use self::{light::Painter, scene::Scene};
use super::grid::Grid;

/// What to show of a grid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct View {
    turn: OrbitAngle,
    size: u16,
    background: Background,
    /// One of many that pass by, for which fewer samples do.
    is_frame: bool,
}

/// What is behind a build.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Background {
    Transparent,
    /// One even bright colour, on which the build throws a shadow.
    Wall,
    /// A sky, which is brighter below, and the same shadow.
    Sky,
}

impl View {
    pub const ANGLES: u8 = 8;
    pub const MIN_SIZE: u16 = 64;
    pub const MAX_SIZE: u16 = 1024;

    /// A square picture from one of eight angles, each an eighth of a turn on.
    ///
    /// # Errors
    /// A sentence that names what is allowed.
    pub fn new(angle: u8, size: u16, background: Background) -> Result<Self, String> {
        if angle >= Self::ANGLES {
            return Err("the angle must be from 0 to 7".to_owned());
        }
        if !(Self::MIN_SIZE..=Self::MAX_SIZE).contains(&size) {
            return Err(format!("the size must be from {} to {} pixels", Self::MIN_SIZE, Self::MAX_SIZE));
        }
        Ok(Self { turn: OrbitAngle::of(angle, Self::ANGLES), size, background, is_frame: false })
    }

    /// A frame of a picture that moves; the size is within what [`View::new`] allows.
    pub(super) fn frame(turn: OrbitAngle, size: u16) -> Self {
        Self { turn, size, background: Background::Wall, is_frame: true }
    }
}

/// Makes a picture, on so many threads.
pub fn render(grid: &Grid, view: &View, threads: usize) -> Picture {
    let size = usize::from(view.size);
    let mut rgba = vec![0; size * size * 4];
    let bounds = grid.stats().bounds;
    if let Some(bounds) = bounds {
        let camera = Camera::new(&bounds, view.turn);
        let scene = Scene::new(grid, bounds);
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

/// Does some work on numbered items, every thread taking the next one that is left.
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
