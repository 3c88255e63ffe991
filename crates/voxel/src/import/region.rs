//! A box of cells in a file for Minecraft: one number per cell, with x running fastest, then z, then y.

use std::ops::Range;

use super::{bad_file, check_cell_count, scan::max_blocks};
use crate::{diagnostics::Rejection, grid::GridSize};

pub struct Region<'a> {
    pub low: [i64; 3],
    pub size: [u32; 3],
    pub numbers: CellNumbers<'a>,
}

/// The kinds of the cells in a region.
#[derive(Clone)]
pub enum CellNumbers<'a> {
    /// Seven bits per byte, the lowest first. The highest bit says that another byte follows.
    Varints(&'a [u8]),
    Packed(PackedNumbers<'a>),
}

/// Numbers of `bits` bits, from the lowest bit of each long. A number may continue in the next long.
#[derive(Clone)]
pub struct PackedNumbers<'a> {
    longs: &'a [u8],
    bits: u32,
    /// A one at the lowest bit of every number, by which a number is multiplied to repeat it.
    ones: u128,
    /// The range of this region's kinds among all kinds.
    kinds: Range<u32>,
    buffer: u128,
    buffered: u32,
}

impl<'a> CellNumbers<'a> {
    pub fn packed(longs: &'a [u8], bits: u32, kinds: Range<u32>) -> Self {
        let ones = (0..u128::BITS).step_by(bits as usize).map(|bit| 1 << bit).sum();
        Self::Packed(PackedNumbers { longs, bits, ones, kinds, buffer: 0, buffered: 0 })
    }

    /// The next number, and the length of a run of it, from 1 to `most`. The run may go on after that.
    fn run(&mut self, most: i64) -> Result<(u32, i64), Rejection> {
        match self {
            Self::Varints(bytes) => Ok((varint(bytes)?, 1)),
            Self::Packed(packed) => packed.run(most),
        }
    }

    /// Whether the length of the data fits the number of cells, as far as that is known before reading it.
    fn matches_volume(&self, volume: u64) -> bool {
        match self {
            Self::Varints(bytes) => (volume..=volume.saturating_mul(5)).contains(&(bytes.len() as u64)),
            Self::Packed(PackedNumbers { longs, bits, .. }) => {
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

fn varint(bytes: &mut &[u8]) -> Result<u32, Rejection> {
    let mut number = 0_u64;
    for shift in (0..35).step_by(7) {
        let (&byte, rest) =
            bytes.split_first().ok_or_else(|| bad_file("its block data ends unexpectedly"))?;
        *bytes = rest;
        number |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return u32::try_from(number)
                .map_err(|_| bad_file("a number in its block data has more than 32 bits"));
        }
    }
    Err(bad_file("a number in its block data is longer than 5 bytes"))
}

impl PackedNumbers<'_> {
    /// Files are mostly runs of air and walls, so all equal numbers in the buffer are taken at once.
    fn run(&mut self, most: i64) -> Result<(u32, i64), Rejection> {
        if self.buffered < self.bits {
            let (long, rest) = self
                .longs
                .split_first_chunk()
                .ok_or_else(|| bad_file("a region has fewer cells than its size says"))?;
            self.longs = rest;
            self.buffer |= u128::from(u64::from_be_bytes(*long)) << self.buffered;
            self.buffered += u64::BITS;
        }
        let number = (self.buffer as u32) & ((1 << self.bits) - 1);
        let alike = (self.buffer ^ self.ones.wrapping_mul(number.into())).trailing_zeros().min(self.buffered);
        // The division would take as long as everything else, so runs of one do without it.
        let len = if alike < 2 * self.bits { 1 } else { i64::from(alike / self.bits).min(most) };
        let taken = len as u32 * self.bits;
        self.buffer = self.buffer.unbounded_shr(taken);
        self.buffered -= taken;
        if number >= self.kinds.len() as u32 {
            return Err(bad_file(format!("a region uses palette entry {number}, which does not exist")));
        }
        Ok((self.kinds.start + number, len))
    }
}

impl Region<'_> {
    /// The number of cells, if it is not too large and fits the length of the data.
    pub fn volume(&self) -> Result<u64, Rejection> {
        let [width, height, length] = self.size;
        let stated = || format!("its size is {width} by {height} by {length} cells");
        if self.size.contains(&0) {
            return Err(bad_file(format!("{}: it is empty", stated())));
        }
        let volume =
            check_cell_count(self.size.into_iter().map(u128::from).product(), max_blocks(GridSize::G256))?;
        if !self.numbers.matches_volume(volume) {
            return Err(bad_file(format!("{}, but its data has a different number", stated())));
        }
        Ok(volume)
    }

    /// Visits runs of one kind, row by row.
    pub fn each(
        &self,
        mut visit: impl FnMut([i64; 3], u64, u32) -> Result<(), Rejection>,
    ) -> Result<(), Rejection> {
        let mut numbers = self.numbers.clone();
        let [_, height, length] = self.size.map(i64::from);
        let [west, bottom, north] = self.low;
        for y in bottom..bottom + height {
            for z in north..north + length {
                self.row([west, y, z], &mut numbers, &mut visit)?;
            }
        }
        if numbers.is_done() { Ok(()) } else { Err(bad_file("it has more cells than its size says")) }
    }

    fn row(
        &self,
        [west, y, z]: [i64; 3],
        numbers: &mut CellNumbers<'_>,
        mut visit: impl FnMut([i64; 3], u64, u32) -> Result<(), Rejection>,
    ) -> Result<(), Rejection> {
        let east = west + i64::from(self.size[0]);
        let (mut start, mut x, mut kind) = (west, west, None);
        while x < east {
            let (next, len) = numbers.run(east - x)?;
            if let Some(kind) = kind.replace(next).filter(|&kind| kind != next) {
                visit([start, y, z], (x - start) as u64, kind)?;
                start = x;
            }
            x += len;
        }
        kind.map_or(Ok(()), |kind| visit([start, y, z], (east - start) as u64, kind))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers of every width, alone and in runs, across the ends of longs.
    #[test]
    fn packed_numbers_come_out_as_they_went_in() {
        for bits in 2..=16 {
            let highest = (1_u32 << bits) - 1;
            let numbers: Vec<_> =
                (0..40 * 3 * 5).map(|at| [highest, at, 0][at as usize / 7 % 3] & highest).collect();
            let mut longs = vec![0_u64; (numbers.len() * bits as usize).div_ceil(64)];
            for (at, &number) in numbers.iter().enumerate() {
                let (long, bit) = (at * bits as usize / 64, at * bits as usize % 64);
                let shifted = u128::from(number) << bit;
                longs[long] |= shifted as u64;
                if shifted > u64::MAX.into() {
                    longs[long + 1] |= (shifted >> 64) as u64;
                }
            }
            let longs: Vec<_> = longs.iter().flat_map(|long| long.to_be_bytes()).collect();
            let kinds = 9..9 + highest + 1;
            let region = Region {
                low: [-4, 2, 0],
                size: [40, 3, 5],
                numbers: CellNumbers::packed(&longs, bits, kinds),
            };
            let mut found = Vec::new();
            region
                .each(|[x, y, z], len, kind| {
                    assert_eq!((x + 4) + 40 * (z + 5 * (y - 2)), found.len() as i64);
                    found.extend((0..len).map(|_| kind - 9));
                    Ok(())
                })
                .unwrap();
            assert!(found == numbers, "{bits}");
        }
    }
}
