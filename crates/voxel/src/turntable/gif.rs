//! A reel as a GIF.
//!
//! All frames share one palette, so they are kept until the last one is there. A frame is
//! cut to what has changed, and what has not changed within is left open, which packs well.

use gif::{DisposalMethod, Encoder, Frame, Repeat};

use super::{
    NotEncoded, Part, Turntable,
    colours::{Counts, MOST, Shade},
};
use crate::picture::Picture;

/// The colour that lets the frame before through.
const OPEN: u8 = MOST as u8;

pub struct Reel {
    size: u16,
    counts: Counts,
    frames: Vec<Vec<Shade>>,
}

impl Reel {
    pub fn new(size: u16) -> Self {
        Self { size, counts: Counts::new(), frames: Vec::new() }
    }

    pub fn add(&mut self, frame: &Picture) {
        let frame = frame.rgba.as_chunks::<4>().0.iter().map(|&[r, g, b, _]| self.counts.add([r, g, b]));
        self.frames.push(frame.collect());
    }

    pub fn finish(self) -> Result<Vec<u8>, NotEncoded> {
        let palette = self.counts.palette();
        let width = usize::from(self.size);
        let mut file = Vec::new();
        let mut encoder =
            Encoder::new(&mut file, self.size, self.size, &palette.bytes()).map_err(|_| NotEncoded)?;
        encoder.set_repeat(Repeat::Infinite).map_err(|_| NotEncoded)?;
        let mut last = Vec::new();
        for frame in &self.frames {
            let colours: Vec<u8> = frame.iter().map(|&shade| palette.nearest(shade)).collect();
            encoder.write_frame(&changes(&last, &colours, width)).map_err(|_| NotEncoded)?;
            last = colours;
        }
        drop(encoder);
        Ok(file)
    }
}

fn changes(last: &[u8], colours: &[u8], width: usize) -> Frame<'static> {
    let (part, buffer) = if last.is_empty() {
        (Part { left: 0, top: 0, width, height: colours.len() / width }, colours.to_vec())
    } else {
        let part = Part::changed(last, colours, width);
        let or_open = |at: usize| if last[at] == colours[at] { OPEN } else { colours[at] };
        (part, part.rows(width).flatten().map(or_open).collect())
    };
    Frame {
        delay: Turntable::MILLISECONDS / 10,
        dispose: DisposalMethod::Keep,
        transparent: Some(OPEN),
        left: part.left as u16,
        top: part.top as u16,
        width: part.width as u16,
        height: part.height as u16,
        buffer: buffer.into(),
        ..Frame::default()
    }
}
