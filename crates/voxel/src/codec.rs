//! The canonical encoding of a grid, for storing, hashing, caching and sending it.
//!
//! ```text
//! magic      4  "BOGR"
//! version    1  the number 1
//! size       2  cells along an edge
//! kinds      1  the number of kinds of blocks, then for each of them,
//!                 in the order of the ids: length 1, id (ASCII)
//! min        3  the lowest corner of the bounds: x, y, z
//! span       3  the number of cells along x, y and z, minus one
//! lengths    4  the number of bytes of all run lengths, then for each run
//!                 a varint: its number of cells, minus one
//! values        for each run a byte: 0 for air, otherwise the kind, counted from 1
//! checksum   4  the CRC-32 of everything before it
//! ```
//!
//! Numbers are little-endian. A varint has seven bits per byte, the lowest first; the highest bit of a byte says that
//! another one follows. Runs go through the bounds with x running fastest, then z, then y, and each is as long as
//! possible. In the encoding of an empty grid, the checksum follows `kinds` directly.
//!
//! Every grid has exactly one encoding, and [`decode`] accepts no other. So a digest of the encoding identifies the
//! content, even if blocks have other numbers in another version of this crate.

use std::{fmt, io::Read};

use sha2::{Digest as _, Sha256};

use super::grid::{Bounds, Grid, GridSize};
use super::palette::{AIR, Block, Palette};

const MAGIC: &[u8; 4] = b"BOGR";
const VERSION: u8 = 1;

/// The longest possible encoding: a header, and two bytes for every cell.
const MAX_ENCODED: usize = (1 << 16) + 2 * GridSize::G256.volume();

/// The SHA-256 of a canonical encoding.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Digest(pub [u8; 32]);

/// The reason why bytes are not the encoding of a grid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DecodeError {
    #[error("the compressed data is damaged or too large")]
    Compression,
    #[error("this is not an encoded grid")]
    Magic,
    #[error("encoding version {0} is not supported")]
    Version(u8),
    #[error("the encoding is incomplete")]
    TooShort,
    #[error("the checksum does not match: the data is damaged")]
    Checksum,
    #[error("the encoding contains an unknown block")]
    UnknownBlock,
    #[error("the encoding is not canonical: {0}")]
    NotCanonical(&'static str),
}

/// How much time compression takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CompressionLevel {
    /// For answers that somebody waits for.
    Fast,
    /// For what is compressed once, in the background, and sent often.
    Best,
}

/// Encodes a grid, uncompressed.
pub fn encode(grid: &Grid) -> Vec<u8> {
    let stats = grid.stats();
    let mut kinds: Vec<&Block> = stats.blocks().into_iter().map(|(block, _)| block).collect();
    kinds.sort_by(|a, b| a.id.cmp(&b.id));

    let mut out = Vec::with_capacity(1 << 12);
    out.extend(MAGIC);
    out.push(VERSION);
    out.extend((grid.size().get() as u16).to_le_bytes());
    out.push(kinds.len() as u8);
    for kind in &kinds {
        out.push(kind.id.len() as u8);
        out.extend(kind.id.as_bytes());
    }
    if let Some(bounds) = stats.bounds {
        out.extend(bounds.min.map(|v| v as u8));
        out.extend(bounds.spans().map(|span| (span - 1) as u8));
        let (lengths, values) = runs(grid, bounds, &local_numbers(&kinds));
        out.extend((lengths.len() as u32).to_le_bytes());
        out.extend(lengths);
        out.extend(values);
    }
    out.extend(crc32fast::hash(&out).to_le_bytes());
    out
}

/// Maps the number of a block in this process to its number in the encoding.
fn local_numbers(kinds: &[&Block]) -> [u8; 256] {
    let mut local = [AIR; 256];
    for (number, kind) in (1u8..).zip(kinds) {
        if let Some(global) = Palette::Advanced.find(&kind.id) {
            local[usize::from(global)] = number;
        }
    }
    local
}

fn runs(grid: &Grid, bounds: Bounds, local: &[u8; 256]) -> (Vec<u8>, Vec<u8>) {
    let (mut lengths, mut values) = (Vec::new(), Vec::new());
    let [x, y, z] = bounds.min.map(usize::from);
    let mut run = (grid.get(x, y, z), 0u32);
    for row in grid.rows_inside(bounds) {
        for piece in row.chunk_by(|a, b| a == b) {
            if piece[0] != run.0 {
                put_varint(&mut lengths, run.1 - 1);
                values.push(local[usize::from(run.0)]);
                run = (piece[0], 0);
            }
            run.1 += piece.len() as u32;
        }
    }
    put_varint(&mut lengths, run.1 - 1);
    values.push(local[usize::from(run.0)]);
    (lengths, values)
}

fn put_varint(out: &mut Vec<u8>, mut value: u32) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// Decodes an encoding. The input can be anything.
///
/// # Errors
/// If the input is not the canonical encoding of a grid.
pub fn decode(encoded: &[u8]) -> Result<Grid, DecodeError> {
    let Some((body, checksum)) = encoded.split_last_chunk::<4>() else {
        return Err(DecodeError::TooShort);
    };
    let mut input = ByteReader(body);
    if input.array::<4>()? != *MAGIC {
        return Err(DecodeError::Magic);
    }
    match input.byte()? {
        VERSION => {}
        other => return Err(DecodeError::Version(other)),
    }
    if crc32fast::hash(body).to_le_bytes() != *checksum {
        return Err(DecodeError::Checksum);
    }
    let size = usize::from(u16::from_le_bytes(input.array()?));
    let size = GridSize::ALL.into_iter().find(|known| known.get() == size);
    let size = size.ok_or(DecodeError::NotCanonical("unknown grid size"))?;
    let kinds = input.kinds()?;
    let mut grid = Grid::empty(size);
    if kinds.len() > 1 {
        let min = input.array::<3>()?.map(usize::from);
        let span = input.array::<3>()?.map(|less_one| usize::from(less_one) + 1);
        if (0..3).any(|axis| min[axis] + span[axis] > size.get()) {
            return Err(DecodeError::NotCanonical("the bounds reach outside the grid"));
        }
        let lengths = u32::from_le_bytes(input.array()?) as usize;
        let lengths = ByteReader(input.take(lengths)?);
        fill(&mut grid, min, span, lengths, std::mem::take(&mut input.0), &kinds)?;
    }
    match input.0 {
        [] => Ok(grid),
        _ => Err(DecodeError::NotCanonical("extra bytes at the end")),
    }
}

/// Writes the runs into the grid, and refuses them if another encoding of the same grid would be canonical.
fn fill(
    grid: &mut Grid,
    min: [usize; 3],
    [width, height, depth]: [usize; 3],
    mut lengths: ByteReader<'_>,
    values: &[u8],
    kinds: &[u8],
) -> Result<(), DecodeError> {
    let (mut x, mut row, rows) = (0, 0, height * depth);
    let mut used = [false; 256];
    let mut previous = None;
    for &value in values {
        let Some(&block) = kinds.get(usize::from(value)) else {
            return Err(DecodeError::NotCanonical("a run of an unknown kind"));
        };
        if previous.replace(value) == Some(value) {
            return Err(DecodeError::NotCanonical("two adjacent runs of one kind"));
        }
        used[usize::from(value)] = true;
        let mut left = lengths.varint()? as usize + 1;
        if left > (rows - row) * width - x {
            return Err(DecodeError::NotCanonical("more runs than cells"));
        }
        while left > 0 {
            let piece = left.min(width - x);
            if block != AIR {
                let (y, z) = (row / depth, row % depth);
                grid.fill_row(min[0] + x, min[1] + y, min[2] + z, piece, block);
            }
            left -= piece;
            x += piece;
            if x == width {
                (x, row) = (0, row + 1);
            }
        }
    }
    if row != rows || !lengths.0.is_empty() {
        return Err(DecodeError::NotCanonical("fewer runs than cells"));
    }
    if !used[1..kinds.len()].iter().all(|&used| used) {
        return Err(DecodeError::NotCanonical("an unused kind"));
    }
    let bounds = grid.stats().bounds;
    let tight = bounds
        .is_some_and(|found| found.min.map(usize::from) == min && found.spans() == [width, height, depth]);
    if tight { Ok(()) } else { Err(DecodeError::NotCanonical("the bounds are too wide")) }
}

/// The bytes that were not read yet.
struct ByteReader<'a>(&'a [u8]);

impl<'a> ByteReader<'a> {
    fn take(&mut self, len: usize) -> Result<&'a [u8], DecodeError> {
        let (taken, rest) = self.0.split_at_checked(len).ok_or(DecodeError::TooShort)?;
        self.0 = rest;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], DecodeError> {
        let (taken, rest) = self.0.split_first_chunk::<N>().ok_or(DecodeError::TooShort)?;
        self.0 = rest;
        Ok(*taken)
    }

    fn byte(&mut self) -> Result<u8, DecodeError> {
        self.array::<1>().map(|[byte]| byte)
    }

    /// Reads a varint, which must be in its shortest form.
    fn varint(&mut self) -> Result<u32, DecodeError> {
        let mut value = 0;
        for shift in [0, 7, 14, 21] {
            let byte = self.byte()?;
            value |= u32::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                let shortest = byte != 0 || shift == 0;
                return if shortest { Ok(value) } else { Err(DecodeError::NotCanonical("a padded length")) };
            }
        }
        Err(DecodeError::NotCanonical("a length larger than any grid"))
    }

    /// The numbers of blocks in this process, by their numbers in the encoding. The first is air.
    fn kinds(&mut self) -> Result<Vec<u8>, DecodeError> {
        let count = self.byte()?;
        let mut kinds = vec![AIR];
        let mut previous: &[u8] = b"";
        for _ in 0..count {
            let len = self.byte()?;
            let id = self.take(len.into())?;
            if id <= previous {
                return Err(DecodeError::NotCanonical("the kinds are out of order"));
            }
            previous = id;
            let known = std::str::from_utf8(id).ok().and_then(|id| {
                let number = Palette::Advanced.find(id)?;
                Block::by_number(number).filter(|block| block.id == id).map(|_| number)
            });
            kinds.push(known.ok_or(DecodeError::UnknownBlock)?);
        }
        Ok(kinds)
    }
}

/// The number of kinds of blocks in a grid, from the head of its encoding.
///
/// # Errors
/// If the bytes do not begin like an encoding.
pub fn count_kinds(encoded: &[u8]) -> Result<u8, DecodeError> {
    match encoded.strip_prefix(MAGIC) {
        None => Err(DecodeError::Magic),
        Some([VERSION, _, _, kinds, ..]) => Ok(*kinds),
        Some([other, ..]) if *other != VERSION => Err(DecodeError::Version(*other)),
        Some(_) => Err(DecodeError::TooShort),
    }
}

/// Compresses an encoding with brotli.
pub fn pack(encoded: &[u8], level: CompressionLevel) -> Vec<u8> {
    let params = brotli::enc::BrotliEncoderParams {
        quality: match level {
            CompressionLevel::Fast => 5,
            CompressionLevel::Best => 11,
        },
        lgwin: 22,
        size_hint: encoded.len(),
        ..Default::default()
    };
    let mut packed = Vec::new();
    // Writing to memory cannot fail.
    let _ = brotli::BrotliCompress(&mut &encoded[..], &mut packed, &params);
    packed
}

/// Undoes [`pack`]. The input can be anything; no more is unpacked than an encoding can have.
///
/// # Errors
/// If the bytes are not brotli, or unpack to more than any encoding.
pub fn unpack(packed: &[u8]) -> Result<Vec<u8>, DecodeError> {
    unpack_within(packed, MAX_ENCODED)
}

/// Undoes [`pack`] for data other than grids.
///
/// # Errors
/// If the bytes are not brotli, or unpack to more than `max` bytes.
pub fn unpack_within(packed: &[u8], max: usize) -> Result<Vec<u8>, DecodeError> {
    let mut unpacked = Vec::new();
    let mut reader = brotli::Decompressor::new(packed, 1 << 16).take(max as u64 + 1);
    match reader.read_to_end(&mut unpacked) {
        Ok(_) if unpacked.len() <= max => Ok(unpacked),
        _ => Err(DecodeError::Compression),
    }
}

/// Undoes [`pack`] piece by piece, for data of any length.
pub fn reader(packed: &[u8]) -> impl Read {
    brotli::Decompressor::new(packed, 1 << 16)
}

impl Digest {
    /// The digest of an encoding, which must not be compressed.
    pub fn of(encoded: &[u8]) -> Self {
        Self(Sha256::digest(encoded).into())
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex::encode(self.0))
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Digest({self})")
    }
}
