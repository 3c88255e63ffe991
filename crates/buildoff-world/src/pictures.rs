//! Frames as pictures, and the numbers that describe them.

use std::str::FromStr;

use voxel::image::Picture;
use world::Frame;

/// The picture in a frame.
pub fn picture_of(frame: &Frame) -> Picture {
    let rgba = frame.rgb().chunks_exact(3).flat_map(|pixel| [pixel[0], pixel[1], pixel[2], 255]).collect();
    Picture { width: frame.width() as u32, height: frame.height() as u32, rgba }
}

/// Reads an argument of so many numbers with commas between them.
pub fn numbers<T: FromStr + Copy, const N: usize>(text: &str) -> Result<[T; N], String> {
    let parts: Option<Vec<T>> = text.split(',').map(|part| part.trim().parse().ok()).collect();
    parts
        .and_then(|parts| parts.try_into().ok())
        .ok_or_else(|| format!("it is {N} numbers with commas between them"))
}
