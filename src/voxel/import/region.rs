//! A box full of numbers, one a cell, as files for Minecraft have it: x fastest, then z, then y.

use std::ops::Range;

use super::{bad, survey::most_blocks, work};
use crate::voxel::{grid::GridSize, refusal::Refusal};

pub struct Region<'a> {
    pub low: [i64; 3],
    pub size: [u32; 3],
    pub numbers: Numbers<'a>,
}

/// The kinds of a region's cells.
#[derive(Clone)]
pub enum Numbers<'a> {
    /// Seven bits a byte, the lowest first; the highest bit says that another byte follows.
    Varints(&'a [u8]),
    Packed(Packed<'a>),
}

/// So many bits a number, from the lowest of each long on; a number may go on in the next long.
#[derive(Clone)]
pub struct Packed<'a> {
    longs: &'a [u8],
    bits: u32,
    /// Where the region's own kinds stand among all.
    kinds: Range<u32>,
    buffer: u128,
    buffered: u32,
}

impl<'a> Numbers<'a> {
    pub fn varints(bytes: &'a [u8]) -> Self {
        Self::Varints(bytes)
    }

    pub fn packed(longs: &'a [u8], bits: u32, kinds: Range<u32>) -> Self {
        Self::Packed(Packed { longs, bits, kinds, buffer: 0, buffered: 0 })
    }

    fn next(&mut self) -> Result<u32, Refusal> {
        match self {
            Self::Varints(bytes) => varint(bytes),
            Self::Packed(packed) => packed.next(),
        }
    }

    /// Whether there are as many as a region has cells, as far as that can be told beforehand.
    fn suit(&self, volume: u64) -> bool {
        match self {
            Self::Varints(bytes) => (volume..=volume.saturating_mul(5)).contains(&(bytes.len() as u64)),
            Self::Packed(Packed { longs, bits, .. }) => {
                longs.len() as u64 / 8 == (volume * u64::from(*bits)).div_ceil(64)
            }
        }
    }

    fn is_done(&self) -> bool {
        match self {
            Self::Varints(bytes) => bytes.is_empty(),
            Self::Packed(packed) => packed.longs.is_empty(),
        }
    }
}

fn varint(bytes: &mut &[u8]) -> Result<u32, Refusal> {
    let mut number = 0_u64;
    for shift in (0..35).step_by(7) {
        let (&byte, rest) = bytes.split_first().ok_or_else(|| bad("its block data ends in the middle"))?;
        *bytes = rest;
        number |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return u32::try_from(number)
                .map_err(|_| bad("a number of its block data has more than 32 bits"));
        }
    }
    Err(bad("a number of its block data is longer than 5 bytes"))
}

impl Packed<'_> {
    fn next(&mut self) -> Result<u32, Refusal> {
        if self.buffered < self.bits {
            let (long, rest) = self.longs.split_first_chunk().ok_or_else(|| bad("a region lacks cells"))?;
            self.longs = rest;
            self.buffer |= u128::from(u64::from_be_bytes(*long)) << self.buffered;
            self.buffered += u64::BITS;
        }
        let number = (self.buffer as u32) & ((1 << self.bits) - 1);
        self.buffer >>= self.bits;
        self.buffered -= self.bits;
        if number >= self.kinds.len() as u32 {
            return Err(bad(format!("a region has a cell of kind {number}, which its palette lacks")));
        }
        Ok(self.kinds.start + number)
    }
}

impl Region<'_> {
    /// How many cells there are; more than anybody reads is refused, and so is another count than the size says.
    pub fn volume(&self) -> Result<u64, Refusal> {
        let [width, height, length] = self.size;
        if self.size.contains(&0) {
            return Err(bad(format!("it is {width} by {height} by {length} cells: there is nothing in it")));
        }
        let volume = work(self.size.into_iter().map(u128::from).product(), most_blocks(GridSize::G256))?;
        if !self.numbers.suit(volume) {
            let told =
                format!("it says {width} by {height} by {length} cells, and holds another number of them");
            return Err(bad(told));
        }
        Ok(volume)
    }

    /// Runs of one kind, row by row.
    pub fn each(&self, mut visit: impl FnMut([i64; 3], u64, u32) -> Result<(), Refusal>) -> Result<(), Refusal> {
        let mut numbers = self.numbers.clone();
        let [width, height, length] = self.size.map(i64::from);
        let [west, bottom, north] = self.low;
        for y in bottom..bottom + height {
            for z in north..north + length {
                let (mut start, mut kind) = (west, numbers.next()?);
                for x in west + 1..west + width {
                    let next = numbers.next()?;
                    if next != kind {
                        visit([start, y, z], (x - start) as u64, kind)?;
                        (start, kind) = (x, next);
                    }
                }
                visit([start, y, z], (west + width - start) as u64, kind)?;
            }
        }
        if numbers.is_done() { Ok(()) } else { Err(bad("it holds more cells than its size says")) }
    }
}
