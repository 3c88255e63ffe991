//! Frames as an animated WebP, without losses unless they come as WebP files that have some.
//!
//! Each frame is a still picture of its own, so a frame that is the same as the one before only makes that one last
//! longer.

use anyhow::Context;
use image_webp::{ColorType, WebPEncoder};
use world::Frame;

/// Flags of the chunks: the file has an animation, and a frame replaces what is under it.
const ANIMATED: u8 = 1 << 1;
const NO_BLENDING: u8 = 1 << 1;

/// The longest time that a frame can last, in milliseconds.
const LONGEST: u32 = (1 << 24) - 1;

/// An animation while it is made.
pub struct WebpAnimation {
    size: [usize; 2],
    /// The frames' chunks, one after the other.
    chunks: Vec<u8>,
    last: Option<LastFrame>,
}

/// The frame whose end is not known yet.
struct LastFrame {
    rgb: Vec<u8>,
    milliseconds: u32,
}

impl WebpAnimation {
    pub fn new(width: usize, height: usize) -> Self {
        Self { size: [width, height], chunks: Vec::new(), last: None }
    }

    pub fn add(&mut self, frame: &Frame, milliseconds: u32) -> anyhow::Result<()> {
        match &mut self.last {
            Some(last) if last.rgb == frame.rgb() && last.milliseconds < LONGEST - milliseconds => {
                last.milliseconds += milliseconds;
            }
            _ => {
                self.write_last()?;
                self.last = Some(LastFrame { rgb: frame.rgb().to_vec(), milliseconds });
            }
        }
        Ok(())
    }

    pub fn finish(mut self) -> anyhow::Result<Vec<u8>> {
        self.write_last()?;
        let [width, height] = self.size.map(|edge| three_bytes(edge as u32 - 1));
        let mut body = b"WEBP".to_vec();
        chunk(&mut body, *b"VP8X", &[&[ANIMATED, 0, 0, 0][..], &width, &height].concat());
        // A background of no colour, and no end of repetitions.
        chunk(&mut body, *b"ANIM", &[0; 6]);
        body.extend(self.chunks);
        let mut file = Vec::with_capacity(body.len() + 8);
        chunk(&mut file, *b"RIFF", &body);
        Ok(file)
    }

    fn write_last(&mut self) -> anyhow::Result<()> {
        let Some(last) = self.last.take() else { return Ok(()) };
        let [width, height] = self.size.map(|edge| edge as u32);
        let mut still = Vec::new();
        WebPEncoder::new(&mut still).encode(&last.rgb, width, height, ColorType::Rgb8)?;
        self.add_still(&still, last.milliseconds)
    }

    /// Adds a frame that is a WebP file already, of one opaque picture of the animation's size.
    pub fn add_still(&mut self, still: &[u8], milliseconds: u32) -> anyhow::Result<()> {
        let [width, height] = self.size.map(|edge| edge as u32);
        // The chunks of a still picture follow the 12 bytes of its file's head.
        let picture = still.get(12..).context("a still picture has a head")?;
        let mut body = vec![0; 6];
        for number in [width - 1, height - 1, milliseconds.min(LONGEST)] {
            body.extend(three_bytes(number));
        }
        body.push(NO_BLENDING);
        body.extend(picture);
        chunk(&mut self.chunks, *b"ANMF", &body);
        Ok(())
    }
}

fn three_bytes(number: u32) -> [u8; 3] {
    let [one, two, three, _] = number.to_le_bytes();
    [one, two, three]
}

/// Appends a chunk, whose end is padded to an even place.
fn chunk(file: &mut Vec<u8>, name: [u8; 4], body: &[u8]) {
    file.extend(name);
    file.extend((body.len() as u32).to_le_bytes());
    file.extend(body);
    if body.len() % 2 == 1 {
        file.push(0);
    }
}
