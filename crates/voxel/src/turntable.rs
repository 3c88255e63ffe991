//! Turntables: animations in which a build turns once around.
//!
//! A turntable is drawn frame by frame, so that the caller can report progress, do other work in between, or stop. Eye
//! and sun stand still, and the build turns in front of a plain wall.

mod gif;
mod quantise;
mod webp;

use super::grid::Grid;
use super::image::{OrbitAngle, View, render};

/// The file format of a turntable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Animation {
    Webp,
    Gif,
}

/// A turntable that is being drawn.
pub struct Turntable {
    size: u16,
    frames: u8,
    encoder: FrameEncoder,
}

enum FrameEncoder {
    Webp(webp::WebpEncoder),
    Gif(gif::GifEncoder),
}

/// The encoder failed, or a frame is missing.
#[derive(Debug, thiserror::Error)]
#[error("the turntable could not be encoded")]
pub struct EncodeError;

impl Animation {
    pub fn name(self) -> &'static str {
        match self {
            Self::Webp => "webp",
            Self::Gif => "gif",
        }
    }

    pub fn media_type(self) -> &'static str {
        match self {
            Self::Webp => "image/webp",
            Self::Gif => "image/gif",
        }
    }

    /// Pixels per side. A GIF is smaller, because it needs more bytes per pixel.
    pub fn size(self) -> u16 {
        match self {
            Self::Webp => 320,
            Self::Gif => 288,
        }
    }
}

impl Turntable {
    /// Frames in a whole turn.
    pub const FRAMES: u8 = 36;
    /// The duration of a frame. It is a multiple of 10, because GIF counts hundredths of a second.
    const MILLISECONDS: u16 = 80;

    pub fn new(animation: Animation) -> Self {
        let size = animation.size();
        let encoder = match animation {
            Animation::Webp => FrameEncoder::Webp(webp::WebpEncoder::default()),
            Animation::Gif => FrameEncoder::Gif(gif::GifEncoder::new(size)),
        };
        Self { size, frames: 0, encoder }
    }

    /// The number of frames drawn so far.
    pub fn frames(&self) -> u8 {
        self.frames
    }

    pub fn is_whole(&self) -> bool {
        self.frames == Self::FRAMES
    }

    /// Draws the next frame on a number of threads; after the last frame, does nothing. Every call needs the same grid.
    ///
    /// # Errors
    /// If the frame cannot be encoded.
    pub fn draw(&mut self, grid: &Grid, threads: usize) -> Result<(), EncodeError> {
        if self.is_whole() {
            return Ok(());
        }
        let view = View::frame(OrbitAngle::of(self.frames, Self::FRAMES), self.size);
        let frame = render(grid, &view, threads);
        match &mut self.encoder {
            FrameEncoder::Webp(encoder) => encoder.add(&frame)?,
            FrameEncoder::Gif(encoder) => encoder.add(&frame),
        }
        self.frames += 1;
        Ok(())
    }

    /// The file, which repeats forever.
    ///
    /// # Errors
    /// If frames are missing.
    pub fn finish(self) -> Result<Vec<u8>, EncodeError> {
        if !self.is_whole() {
            return Err(EncodeError);
        }
        match self.encoder {
            FrameEncoder::Webp(encoder) => Ok(encoder.finish(self.size)),
            FrameEncoder::Gif(encoder) => encoder.finish(),
        }
    }
}

/// A rectangle of a frame, in pixels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct FrameRect {
    left: usize,
    top: usize,
    width: usize,
    height: usize,
}

impl FrameRect {
    /// The part that differs between two frames, or one pixel if nothing does. It begins at even coordinates, which
    /// WebP requires.
    fn changed<T: PartialEq>(old: &[T], new: &[T], width: usize) -> Self {
        let rows = old.chunks_exact(width).zip(new.chunks_exact(width));
        let (mut left, mut right, mut top, mut bottom) = (width, 0, usize::MAX, 0);
        for (y, (old, new)) in rows.enumerate() {
            let differ = |x: &usize| old[*x] != new[*x];
            let Some(first) = (0..width).find(differ) else { continue };
            let last = (first..width).rfind(differ).unwrap_or(first);
            (left, right) = (left.min(first), right.max(last));
            (top, bottom) = (top.min(y), y);
        }
        if top > bottom {
            return Self { left: 0, top: 0, width: 1, height: 1 };
        }
        let (left, top) = (left & !1, top & !1);
        Self { left, top, width: right + 1 - left, height: bottom + 1 - top }
    }

    /// The rectangle with a margin all around, clipped to the frame.
    fn widened(self, margin: usize, edge: usize) -> Self {
        let (left, top) = (self.left.saturating_sub(margin) & !1, self.top.saturating_sub(margin) & !1);
        let right = (self.left + self.width + margin).min(edge);
        let bottom = (self.top + self.height + margin).min(edge);
        Self { left, top, width: right - left, height: bottom - top }
    }

    /// The index ranges of its rows in a frame.
    fn rows(self, width: usize) -> impl Iterator<Item = std::ops::Range<usize>> {
        (self.top..self.top + self.height).map(move |y| {
            let start = y * width + self.left;
            start..start + self.width
        })
    }
}

#[cfg(test)]
mod tests;
