//! Widths and heights from the headers of picture files. What is no such file has none.

/// The size of a PNG stands in its first chunk.
pub(super) fn of_png(file: &[u8]) -> Option<[u32; 2]> {
    let header = file.strip_prefix(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR")?;
    let size = [big_endian(header.get(..4)?), big_endian(header.get(4..8)?)];
    is_sound(size)
}

/// A WebP file is a RIFF container whose first chunk is VP8 (lossy), VP8L (lossless) or VP8X (with extras).
pub(super) fn of_webp(file: &[u8]) -> Option<[u32; 2]> {
    let container = file.strip_prefix(b"RIFF")?;
    let chunk = container.get(4..)?.strip_prefix(b"WEBP")?;
    let (kind, data) = (chunk.get(..4)?, chunk.get(8..)?);
    let size = match kind {
        b"VP8 " => {
            let size = data.get(3..)?.strip_prefix(b"\x9d\x01\x2a")?;
            [0, 2].map(|at| size.get(at..at + 2).map(|bytes| little_endian(bytes) & 0x3fff))
        }
        b"VP8L" => {
            let bits = little_endian(data.strip_prefix(b"\x2f")?.get(..4)?);
            [0, 14].map(|shift| Some((bits >> shift & 0x3fff) + 1))
        }
        b"VP8X" => [4, 7].map(|at| data.get(at..at + 3).map(|bytes| little_endian(bytes) + 1)),
        _ => return None,
    };
    is_sound([size[0]?, size[1]?])
}

/// A JPEG is a row of segments; the one that begins a frame has the size.
pub(super) fn of_jpeg(file: &[u8]) -> Option<[u32; 2]> {
    let mut rest = file.strip_prefix(b"\xff\xd8")?;
    loop {
        let [0xff, marker, length @ ..] = rest else { return None };
        // Any number of these may stand before a marker.
        if *marker == 0xff {
            rest = &rest[1..];
            continue;
        }
        let length = big_endian(length.get(..2)?) as usize;
        let segment = rest.get(4..)?.get(..length.checked_sub(2)?)?;
        // All frame headers but those that are tables or extensions: C4, C8 and CC.
        if matches!(marker, 0xc0..=0xcf) && !matches!(marker, 0xc4 | 0xc8 | 0xcc) {
            return is_sound([big_endian(segment.get(3..5)?), big_endian(segment.get(1..3)?)]);
        }
        // The picture itself begins here, and no frame did before.
        if *marker == 0xda {
            return None;
        }
        rest = rest.get(2 + length..)?;
    }
}

fn is_sound(size: [u32; 2]) -> Option<[u32; 2]> {
    Some(size).filter(|size| !size.contains(&0))
}

fn big_endian(bytes: &[u8]) -> u32 {
    bytes.iter().fold(0, |number, byte| number << 8 | u32::from(*byte))
}

fn little_endian(bytes: &[u8]) -> u32 {
    bytes.iter().rev().fold(0, |number, byte| number << 8 | u32::from(*byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOSSY: &[u8] =
        b"RIFF\x22\0\0\0WEBPVP8 \x16\0\0\0\x30\x01\0\x9d\x01\x2a\x03\0\x05\0\x0e\xc0\xfe\x25";
    const EXTENDED: &[u8] = b"RIFF\x22\0\0\0WEBPVP8X\x0a\0\0\0\x10\0\0\0\xff\x01\0\xff\x03\0";
    const JPEG: &[u8] =
        b"\xff\xd8\xff\xe0\0\x04JF\xff\xff\xc4\0\x03\0\xff\xc2\0\x0b\x08\x02\0\x01\x80\x01\x01\x11\0";

    type ReadSize = fn(&[u8]) -> Option<[u32; 2]>;

    #[test]
    fn sizes_are_read_from_headers() {
        let picture = voxel::image::Picture { width: 3, height: 2, rgba: vec![90; 24] };
        assert_eq!(of_png(&picture.png()), Some([3, 2]));
        assert_eq!(of_webp(&picture.webp()), Some([3, 2]));
        assert_eq!(of_webp(LOSSY), Some([3, 5]));
        assert_eq!(of_webp(EXTENDED), Some([512, 1024]));
        assert_eq!(of_jpeg(JPEG), Some([384, 512]));
    }

    #[test]
    fn what_is_cut_short_or_something_else_has_no_size() {
        let picture = voxel::image::Picture { width: 3, height: 2, rgba: vec![90; 24] };
        let (png, webp) = (picture.png(), picture.webp());
        let read: [(ReadSize, &[u8], usize); 5] = [
            (of_png, &png, 24),
            (of_webp, &webp, 25),
            (of_webp, LOSSY, 30),
            (of_webp, EXTENDED, 30),
            (of_jpeg, JPEG, JPEG.len()),
        ];
        for (number, (read, file, needed)) in read.into_iter().enumerate() {
            for length in 0..needed {
                assert_eq!(read(&file[..length]), None, "{number} of {length} bytes");
            }
            for other in [&b"GIF89a\x01\0\x01\0"[..], b"<svg/>", b"\xff\xd8\xff\xda\0\x02", &[0xff; 99]] {
                assert_eq!(read(other), None, "{number}: {other:?}");
            }
        }
        let empty = voxel::image::Picture { width: 1, height: 1, rgba: vec![0; 4] }.png();
        let without_width = [&empty[..16], &[0; 4], &empty[20..]].concat();
        assert_eq!(of_png(&without_width), None);
    }
}
