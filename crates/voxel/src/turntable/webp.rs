//! A turntable as an animated WebP.
//!
//! Each frame is encoded lossily by itself, cut to the rectangle that changed. The container is written here, because it
//! is a few fixed chunks, and because this way only the pixels of the last frame have to be kept.

use webp::{Encoder, PixelLayout, WebPConfig};

use super::{EncodeError, FrameRect, Turntable};
use crate::image::Picture;

const QUALITY: f32 = 43.0;
/// The effort of libwebp, from 0 to 6.
const METHOD: i32 = 4;

/// The distance from an edge within which lossy encoding changes pixels.
const ARTIFACT_MARGIN: usize = 8;

/// A flag of the VP8X chunk: the file has an animation.
const ANIMATED: u8 = 1 << 1;
/// A flag of a frame: it replaces the pixels under it and is kept.
const NO_BLENDING: u8 = 1 << 1;

#[derive(Default)]
pub struct WebpEncoder {
    last: Vec<[u8; 4]>,
    /// The frames' chunks, one after the other.
    chunks: Vec<u8>,
}

impl WebpEncoder {
    pub fn add(&mut self, frame: &Picture) -> Result<(), EncodeError> {
        let pixels = frame.rgba.as_chunks::<4>().0.to_vec();
        let size = frame.width as usize;
        let rect = match self.last.is_empty() {
            true => FrameRect { left: 0, top: 0, width: size, height: size },
            false => FrameRect::changed(&self.last, &pixels, size).widened(ARTIFACT_MARGIN, size),
        };
        let still = encode_still(&pixels, rect, size)?;
        self.last = pixels;
        let mut body = Vec::with_capacity(still.len() + 16);
        for number in [rect.left / 2, rect.top / 2, rect.width - 1, rect.height - 1] {
            body.extend(three_bytes(number));
        }
        body.extend(three_bytes(Turntable::MILLISECONDS.into()));
        body.push(NO_BLENDING);
        body.extend(still);
        chunk(&mut self.chunks, *b"ANMF", &body);
        Ok(())
    }

    pub fn finish(self, size: u16) -> Vec<u8> {
        let edge = three_bytes(usize::from(size) - 1);
        let mut about = vec![ANIMATED, 0, 0, 0];
        about.extend(edge);
        about.extend(edge);
        let mut whole = b"WEBP".to_vec();
        chunk(&mut whole, *b"VP8X", &about);
        // No background colour, and an endless loop.
        chunk(&mut whole, *b"ANIM", &[0; 6]);
        whole.extend(self.chunks);
        let mut file = Vec::with_capacity(whole.len() + 8);
        chunk(&mut file, *b"RIFF", &whole);
        file
    }
}

/// The image chunk of a part of a frame.
fn encode_still(pixels: &[[u8; 4]], rect: FrameRect, width: usize) -> Result<Vec<u8>, EncodeError> {
    let rgb: Vec<u8> =
        rect.rows(width).flat_map(|row| pixels[row].iter().flat_map(|&[r, g, b, _]| [r, g, b])).collect();
    let file = encode_file(&rgb, [rect.width, rect.height], QUALITY)?;
    // The file of one opaque picture is a header of 12 bytes and the image chunk.
    let (_, chunk) = file.split_at_checked(12).ok_or(EncodeError)?;
    if chunk.starts_with(b"VP8 ") { Ok(chunk.to_vec()) } else { Err(EncodeError) }
}

fn encode_file(rgb: &[u8], [width, height]: [usize; 2], quality: f32) -> Result<Vec<u8>, EncodeError> {
    let mut config = WebPConfig::new().map_err(|()| EncodeError)?;
    (config.quality, config.method) = (quality, METHOD);
    let encoder = Encoder::new(rgb, PixelLayout::Rgb, width as u32, height as u32);
    Ok(encoder.encode_advanced(&config).map_err(|_| EncodeError)?.to_vec())
}

impl Picture {
    /// A WebP file with losses, without alpha. The quality goes from 0 to 100.
    ///
    /// # Errors
    /// If the encoder fails, as with a picture without pixels.
    pub fn lossy_webp(&self, quality: f32) -> Result<Vec<u8>, EncodeError> {
        let rgb: Vec<u8> = self.rgba.as_chunks::<4>().0.iter().flat_map(|&[r, g, b, _]| [r, g, b]).collect();
        encode_file(&rgb, [self.width as usize, self.height as usize], quality)
    }
}

fn chunk(out: &mut Vec<u8>, name: [u8; 4], body: &[u8]) {
    out.extend(name);
    out.extend((body.len() as u32).to_le_bytes());
    out.extend(body);
    if body.len() % 2 == 1 {
        out.push(0);
    }
}

fn three_bytes(number: usize) -> [u8; 3] {
    let [a, b, c, _] = (number as u32).to_le_bytes();
    [a, b, c]
}
