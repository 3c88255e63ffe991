//! A picture in memory, and the files it can become.

use std::fmt;

/// A picture in sRGB with straight alpha, four bytes a pixel, the top row first.
#[derive(Clone, PartialEq, Eq)]
pub struct Picture {
    pub width: u32,
    pub height: u32,
    pub rgba: Vec<u8>,
}

impl Picture {
    /// As a PNG file.
    pub fn png(&self) -> Vec<u8> {
        let mut file = Vec::new();
        let mut encoder = png::Encoder::new(&mut file, self.width, self.height);
        encoder.set_color(png::ColorType::Rgba);
        encoder.set_depth(png::BitDepth::Eight);
        encoder.set_compression(png::Compression::Fast);
        let written = encoder.write_header().and_then(|mut writer| writer.write_image_data(&self.rgba));
        debug_assert!(written.is_ok(), "writing to memory does not fail");
        file
    }

    /// As a WebP file, without loss.
    pub fn webp(&self) -> Vec<u8> {
        let mut file = Vec::new();
        let encoder = image_webp::WebPEncoder::new(&mut file);
        let written = encoder.encode(&self.rgba, self.width, self.height, image_webp::ColorType::Rgba8);
        debug_assert!(written.is_ok(), "writing to memory does not fail");
        file
    }
}

impl fmt::Debug for Picture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Picture({} × {})", self.width, self.height)
    }
}
