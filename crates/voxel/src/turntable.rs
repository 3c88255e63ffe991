//! Turntables: a build turned once around, as a picture that moves.
//!
//! A turntable is made frame by frame, so that whoever makes it can say how far it is,
//! do something else in between, or stop. The sun stands still with the eye, and the
//! build turns before both, on a plain wall.

mod gif;
mod quantise;
mod webp;

use super::{
    grid::Grid,
    image::{OrbitAngle, View, render},
};

/// Which kind of file a turntable becomes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Animation {
    Webp,
    Gif,
}

/// A turntable in the making.
pub struct Turntable {
    size: u16,
    frames: u8,
    encoder: FrameEncoder,
}

enum FrameEncoder {
    Webp(webp::WebpEncoder),
    Gif(gif::GifEncoder),
}

/// There was no memory for it, or it was cut off before its last frame.
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

    /// Pixels a side, of which a GIF needs more bytes.
    pub fn size(self) -> u16 {
        match self {
            Self::Webp => 320,
            Self::Gif => 288,
        }
    }
}

impl Turntable {
    /// In a whole turn.
    pub const FRAMES: u8 = 36;
    /// How long each is seen; GIF counts in hundredths of a second.
    const MILLISECONDS: u16 = 80;

    pub fn new(animation: Animation) -> Self {
        let size = animation.size();
        let encoder = match animation {
            Animation::Webp => FrameEncoder::Webp(webp::WebpEncoder::new(size)),
            Animation::Gif => FrameEncoder::Gif(gif::GifEncoder::new(size)),
        };
        Self { size, frames: 0, encoder }
    }

    /// So many frames are there.
    pub fn frames(&self) -> u8 {
        self.frames
    }

    pub fn is_whole(&self) -> bool {
        self.frames == Self::FRAMES
    }

    /// Draws the next frame of always the same build, on so many threads. A whole turn gets no more.
    ///
    /// # Errors
    /// If there is no memory to encode it.
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

    /// The file, which turns for ever.
    ///
    /// # Errors
    /// If frames are missing.
    pub fn finish(self) -> Result<Vec<u8>, EncodeError> {
        if !self.is_whole() {
            return Err(EncodeError);
        }
        match self.encoder {
            FrameEncoder::Webp(encoder) => Ok(encoder.finish()),
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
    /// What differs between two frames of a width; at least a pixel, where nothing does. It begins at even places,
    /// as WebP wants it.
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

    /// With a margin all around, as far as the frame goes.
    fn widened(self, margin: usize, edge: usize) -> Self {
        let (left, top) = (self.left.saturating_sub(margin) & !1, self.top.saturating_sub(margin) & !1);
        let right = (self.left + self.width + margin).min(edge);
        let bottom = (self.top + self.height + margin).min(edge);
        Self { left, top, width: right - left, height: bottom - top }
    }

    /// Its places in a frame, row by row.
    fn rows(self, width: usize) -> impl Iterator<Item = std::ops::Range<usize>> {
        (self.top..self.top + self.height).map(move |y| {
            let start = y * width + self.left;
            start..start + self.width
        })
    }
}

#[cfg(test)]
mod tests;
