//! The bytes that somebody sends: unpacked, bounded, and told apart by how they begin.

use std::{borrow::Cow, io::Read};

use flate2::read::GzDecoder;

use super::diagnostics::{Position, Rejection, RejectionCode};
use super::import::ForeignFormat;

const GZIP: [u8; 2] = [0x1f, 0x8b];

/// Other kinds of files that people choose by mistake, by their first bytes.
const OTHER_FILE_TYPES: [(&[u8], &str); 8] = [
    (b"\x89PNG", "an image"),
    (b"\xff\xd8\xff", "an image"),
    (b"GIF8", "an image"),
    (b"RIFF", "an image or a video"),
    (b"\x1aE\xdf\xa3", "a video"),
    (b"%PDF", "a PDF"),
    (b"PK", "a zip archive"),
    (b"glTF", "a glTF model"),
];

/// The input without its gzip wrapper, if it has one. Of compressed input, no more than `max_bytes` is unpacked.
pub(super) fn inflate(input: &[u8], max_bytes: usize) -> Result<Cow<'_, [u8]>, Rejection> {
    if !input.starts_with(&GZIP) {
        return if input.len() > max_bytes { Err(too_large(max_bytes)) } else { Ok(input.into()) };
    }
    let mut inflated = Vec::new();
    let read = GzDecoder::new(input).take(max_bytes as u64 + 1).read_to_end(&mut inflated);
    if inflated.len() > max_bytes {
        return Err(too_large(max_bytes));
    }
    read.map_err(|error| {
        let is_foreign = ForeignFormat::of(&inflated).is_some();
        let code = if is_foreign { RejectionCode::BadFile } else { RejectionCode::BadJson };
        Rejection::new(code, format!("the gzip data is incomplete or damaged: {error}"))
    })?;
    Ok(inflated.into())
}

/// The input as text, without a byte order mark.
pub(super) fn text(bytes: &[u8]) -> Result<&str, Rejection> {
    let text = std::str::from_utf8(bytes).map_err(|error| {
        if let Some((_, kind)) = OTHER_FILE_TYPES.iter().find(|(beginning, _)| bytes.starts_with(beginning)) {
            let advice = "use a spec, a .schem, a .litematic or a .vox";
            return Rejection::new(RejectionCode::BadFile, format!("this is {kind}, not a build: {advice}"));
        }
        let position = Position::of(bytes, error.valid_up_to());
        Rejection::new(RejectionCode::BadJson, format!("the text is not valid UTF-8 at {position}"))
            .at(position)
    })?;
    Ok(text.strip_prefix('\u{feff}').unwrap_or(text))
}

pub(super) fn too_large(max_bytes: usize) -> Rejection {
    let message = format!("the input is larger than {} MiB", max_bytes.div_ceil(1 << 20));
    Rejection::new(RejectionCode::TooLarge, message)
}
