//! A turntable as a GIF.
//!
//! All frames share one palette, which depends on all of them, so they are kept until the last one. A frame has only
//! the rectangle that changed, and in it unchanged pixels are transparent, which compresses well.

use gif::{DisposalMethod, Encoder, Frame, Repeat};

use super::quantise::{ColourCounts, MAX_COLOURS, Shade};
use super::{EncodeError, FrameRect, Turntable};
use crate::image::Picture;

/// The index that shows the frame before.
const TRANSPARENT: u8 = MAX_COLOURS as u8;

pub struct GifEncoder {
    size: u16,
    counts: ColourCounts,
    frames: Vec<Vec<Shade>>,
}

impl GifEncoder {
    pub fn new(size: u16) -> Self {
        Self { size, counts: ColourCounts::new(), frames: Vec::new() }
    }

    pub fn add(&mut self, frame: &Picture) {
        let frame = frame.rgba.as_chunks::<4>().0.iter().map(|&[r, g, b, _]| self.counts.add([r, g, b]));
        self.frames.push(frame.collect());
    }

    pub fn finish(self) -> Result<Vec<u8>, EncodeError> {
        let palette = self.counts.palette();
        let width = usize::from(self.size);
        let mut file = Vec::new();
        let mut encoder =
            Encoder::new(&mut file, self.size, self.size, &palette.bytes()).map_err(|_| EncodeError)?;
        encoder.set_repeat(Repeat::Infinite).map_err(|_| EncodeError)?;
        let mut last = Vec::new();
        for frame in &self.frames {
            let colours: Vec<u8> = frame.iter().map(|&shade| palette.nearest(shade)).collect();
            encoder.write_frame(&changes(&last, &colours, width)).map_err(|_| EncodeError)?;
            last = colours;
        }
        drop(encoder);
        Ok(file)
    }
}

fn changes(last: &[u8], colours: &[u8], width: usize) -> Frame<'static> {
    let (rect, buffer) = if last.is_empty() {
        (FrameRect { left: 0, top: 0, width, height: colours.len() / width }, colours.to_vec())
    } else {
        let rect = FrameRect::changed(last, colours, width);
        let or_transparent = |at: usize| if last[at] == colours[at] { TRANSPARENT } else { colours[at] };
        (rect, rect.rows(width).flatten().map(or_transparent).collect())
    };
    Frame {
        delay: Turntable::MILLISECONDS / 10,
        dispose: DisposalMethod::Keep,
        transparent: Some(TRANSPARENT),
        left: rect.left as u16,
        top: rect.top as u16,
        width: rect.width as u16,
        height: rect.height as u16,
        buffer: buffer.into(),
        ..Frame::default()
    }
}
