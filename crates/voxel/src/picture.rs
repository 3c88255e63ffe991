//! A picture in memory, and its files.

use std::fmt;

/// A picture in sRGB with straight alpha, with four bytes per pixel and the top row first.
#[derive(Clone, PartialEq, Eq)]
pub struct Picture {
    pub width: u32,
    pub height: u32,
    pub rgba: Vec<u8>,
}

impl Picture {
    /// Pictures of equal size side by side, in rows of `columns`.
    pub fn sheet(pictures: &[Self], columns: usize) -> Self {
        let Some(first) = pictures.first() else { return Self { width: 0, height: 0, rgba: Vec::new() } };
        let columns = columns.clamp(1, pictures.len());
        let (line, height) = (first.width as usize * 4, first.height as usize);
        let mut rgba = Vec::with_capacity(first.rgba.len() * pictures.len().next_multiple_of(columns));
        for row in pictures.chunks(columns) {
            for y in 0..height {
                for picture in row {
                    rgba.extend_from_slice(&picture.rgba[y * line..(y + 1) * line]);
                }
                rgba.resize(rgba.len() + (columns - row.len()) * line, 0);
            }
        }
        let rows = pictures.len().div_ceil(columns);
        Self { width: first.width * columns as u32, height: first.height * rows as u32, rgba }
    }

    /// A PNG file, compressed quickly.
    pub fn png(&self) -> Vec<u8> {
        self.png_of(png::ColorType::Rgba, png::Compression::Fast, &self.rgba)
    }

    fn png_of(&self, colour: png::ColorType, effort: png::Compression, pixels: &[u8]) -> Vec<u8> {
        let mut file = Vec::new();
        let mut encoder = png::Encoder::new(&mut file, self.width, self.height);
        encoder.set_color(colour);
        encoder.set_depth(png::BitDepth::Eight);
        encoder.set_compression(effort);
        let written = encoder.write_header().and_then(|mut writer| writer.write_image_data(pixels));
        debug_assert!(written.is_ok(), "writing to memory does not fail");
        file
    }

    /// A PNG file without alpha, which is smaller and takes longer.
    pub fn opaque_png(&self) -> Vec<u8> {
        let rgb: Vec<u8> = self.rgba.as_chunks::<4>().0.iter().flat_map(|&[r, g, b, _]| [r, g, b]).collect();
        self.png_of(png::ColorType::Rgb, png::Compression::Balanced, &rgb)
    }

    /// A lossless WebP file.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sheet_holds_its_pictures_row_by_row() {
        let dot = |shade: u8| Picture { width: 1, height: 2, rgba: vec![shade; 8] };
        let sheet = Picture::sheet(&[dot(1), dot(2), dot(3)], 2);
        assert_eq!((sheet.width, sheet.height), (2, 4));
        let shades: Vec<_> = sheet.rgba.chunks(4).map(|pixel| pixel[0]).collect();
        assert_eq!(shades, [1, 2, 1, 2, 3, 0, 3, 0]);
        assert!(Picture::sheet(&[], 3).rgba.is_empty());
    }
}
