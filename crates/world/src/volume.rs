//! The cells of a world: blocks and light in sections of 16³ that are shared until they are written to, and for each cell
//! how far rays may skip.
//!
//! The skip of a cell is the edge of the largest aligned cube that holds it and is empty: 16, 8, 4, 2 or 1, and 0 if there
//! is something in the cell. It depends on the blocks alone, never on their history. Skips lie in bricks of 4³ cells, each
//! a line of the processor's cache.

use std::sync::Arc;

use crate::block::{WorldBlock, table};
use crate::hash::mix;

/// A cell: x to the east, y up, z to the south.
pub type Cell = [i32; 3];

/// The edges of a world, in cells.
pub const SIZE: [i32; 3] = [256, 128, 256];

/// The edges of a section.
pub(crate) const EDGE: i32 = 16;

const SECTIONS: usize = (SIZE[0] / EDGE * SIZE[1] / EDGE * SIZE[2] / EDGE) as usize;
const CELLS: usize = (SIZE[0] * SIZE[1] * SIZE[2]) as usize;
const SECTION_CELLS: usize = (EDGE * EDGE * EDGE) as usize;

/// The light of a cell: that of blocks in the lower half of the byte, that of the sky in the upper.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Light(pub(crate) u8);

impl Light {
    /// As bright as the open sky.
    pub const OPEN: Self = Self(0xf0);

    pub fn new(sky: u8, block: u8) -> Self {
        Self(sky << 4 | block & 15)
    }

    pub fn sky(self) -> u8 {
        self.0 >> 4
    }

    pub fn block(self) -> u8 {
        self.0 & 15
    }
}

#[derive(Clone)]
struct Section {
    blocks: [u16; SECTION_CELLS],
    light: [u8; SECTION_CELLS],
}

/// All cells of a world. A copy shares what neither has changed since.
#[derive(Clone)]
pub struct Volume {
    sections: Vec<Arc<Section>>,
    skips: Skips,
    /// Above it, everything is air.
    top: i32,
    /// The exclusive or of a number for each cell that is not air.
    hash: u64,
}

/// The skips of all cells, in bricks.
#[derive(Clone)]
pub(crate) struct Skips(Box<[u8; CELLS]>);

impl Skips {
    /// The skip at an index; those that no cell has are those of others.
    #[inline(always)]
    pub fn at(&self, index: i32) -> u8 {
        self.0[index as usize & (CELLS - 1)]
    }

    /// The index of a cell that lies within the world.
    #[inline(always)]
    pub fn index(x: i32, y: i32, z: i32) -> i32 {
        let brick = ((y >> 2) << 12) | ((z >> 2) << 6) | (x >> 2);
        let inside = ((y & 3) << 4) | ((z & 3) << 2) | (x & 3);
        (brick << 6) | inside
    }
}

/// Whether a cell lies within the world.
pub fn contains([x, y, z]: Cell) -> bool {
    (0..SIZE[0]).contains(&x) && (0..SIZE[1]).contains(&y) && (0..SIZE[2]).contains(&z)
}

fn place([x, y, z]: Cell) -> (usize, usize) {
    let section = ((y >> 4) << 8) | ((z >> 4) << 4) | (x >> 4);
    let inside = ((y & 15) << 8) | ((z & 15) << 4) | (x & 15);
    (section as usize, inside as usize)
}

impl Volume {
    /// Air under an open sky.
    pub fn empty() -> Self {
        let air = Arc::new(Section { blocks: [0; SECTION_CELLS], light: [Light::OPEN.0; SECTION_CELLS] });
        let skips = vec![EDGE as u8; CELLS].into_boxed_slice();
        #[expect(clippy::expect_used, reason = "the vector was made with this very length")]
        let skips = Skips(skips.try_into().map_err(drop).expect("the length is that of the array"));
        Self { sections: vec![air; SECTIONS], skips, top: -1, hash: 0 }
    }

    /// The block of a cell; air outside.
    pub fn block(&self, cell: Cell) -> WorldBlock {
        if !contains(cell) {
            return WorldBlock::AIR;
        }
        let (section, inside) = place(cell);
        WorldBlock(self.sections[section].blocks[inside])
    }

    /// The light of a cell; that of the open sky outside.
    pub fn light(&self, cell: Cell) -> Light {
        if !contains(cell) {
            return Light::OPEN;
        }
        let (section, inside) = place(cell);
        Light(self.sections[section].light[inside])
    }

    /// The number of the block of a cell that lies within the world.
    #[inline(always)]
    pub(crate) fn state_inside(&self, cell: Cell) -> u16 {
        let (section, inside) = place(cell);
        self.sections[section & (SECTIONS - 1)].blocks[inside & (SECTION_CELLS - 1)]
    }

    pub(crate) fn set_light(&mut self, cell: Cell, light: Light) {
        if contains(cell) && self.light(cell) != light {
            let (section, inside) = place(cell);
            Arc::make_mut(&mut self.sections[section]).light[inside] = light.0;
        }
    }

    /// Puts a block into a cell, without any thought of light. Returns what was there.
    pub(crate) fn replace(&mut self, cell: Cell, block: WorldBlock) -> WorldBlock {
        let old = self.put(cell, block);
        if old.is_air() != block.is_air() {
            self.update_skips(cell);
        }
        old
    }

    /// Puts blocks into cells while a world is made; [`Self::finish`] follows.
    pub(crate) fn put(&mut self, cell: Cell, block: WorldBlock) -> WorldBlock {
        let old = self.block(cell);
        if old == block || !contains(cell) {
            return old;
        }
        let (section, inside) = place(cell);
        Arc::make_mut(&mut self.sections[section]).blocks[inside] = block.0;
        self.hash ^= mark(cell, old) ^ mark(cell, block);
        if !block.is_air() {
            self.top = self.top.max(cell[1]);
        }
        old
    }

    /// Calculates the skips of all cells.
    pub(crate) fn finish(&mut self) {
        for section in 0..SECTIONS as i32 {
            let corner = [(section & 15) << 4, (section >> 8) << 4, ((section >> 4) & 15) << 4];
            self.update_skips(corner);
        }
    }

    /// The height above which everything is air: the highest block there ever was.
    pub(crate) fn top(&self) -> i32 {
        self.top
    }

    pub(crate) fn skips(&self) -> &Skips {
        &self.skips
    }

    /// A number that depends on all blocks.
    pub fn hash(&self) -> u64 {
        self.hash
    }

    /// Whether bodies stop at a cell. They do at the sides and at the bottom of the world, and nowhere above it.
    pub fn is_solid(&self, cell: Cell) -> bool {
        let [x, y, z] = cell;
        if !(0..SIZE[0]).contains(&x) || !(0..SIZE[2]).contains(&z) || y < 0 {
            return true;
        }
        self.block(cell).state().solid
    }

    /// Recalculates the skips of the section that holds a cell.
    fn update_skips(&mut self, cell: Cell) {
        let corner = cell.map(|at| at & !15);
        let (section, _) = place(corner);
        let blocks = &self.sections[section].blocks;
        // One level after the other: which cubes of edge 1, 2, 4, 8 and 16 hold something.
        let mut skips = [0_u8; SECTION_CELLS];
        let mut full: Vec<bool> = blocks.iter().map(|&block| block != 0).collect();
        let mut edge = 1;
        loop {
            let count = EDGE as usize / edge;
            for (inside, skip) in skips.iter_mut().enumerate() {
                let [x, y, z] = [inside & 15, inside >> 8, (inside >> 4) & 15].map(|at| at / edge);
                if !full[(y * count + z) * count + x] {
                    *skip = edge as u8;
                }
            }
            if count == 1 {
                break;
            }
            let half = count / 2;
            let mut larger = vec![false; half * half * half];
            for (index, _) in full.iter().enumerate().filter(|(_, full)| **full) {
                let (x, z, y) = (index % count, index / count % count, index / (count * count));
                larger[(y / 2 * half + z / 2) * half + x / 2] = true;
            }
            (full, edge) = (larger, edge * 2);
        }
        for (inside, skip) in skips.iter().enumerate() {
            let inside = inside as i32;
            let at = Skips::index(
                corner[0] + (inside & 15),
                corner[1] + (inside >> 8),
                corner[2] + ((inside >> 4) & 15),
            );
            self.skips.0[at as usize & (CELLS - 1)] = *skip;
        }
    }

    /// The cells whose block is another one than in `other`, in a fixed order, with their blocks.
    pub(crate) fn changes<'a>(&'a self, other: &'a Self) -> impl Iterator<Item = (Cell, WorldBlock)> + 'a {
        let sections = self.sections.iter().zip(&other.sections).enumerate();
        sections.filter(|(_, (one, two))| !Arc::ptr_eq(one, two)).flat_map(|(section, (one, two))| {
            let corner = [(section & 15) << 4, (section >> 8) << 4, ((section >> 4) & 15) << 4];
            let cells = one.blocks.iter().zip(&two.blocks).enumerate();
            cells.filter(|(_, (one, two))| one != two).map(move |(inside, (block, _))| {
                let inside = [inside & 15, inside >> 8, (inside >> 4) & 15];
                let cell = [0, 1, 2].map(|axis| (corner[axis] + inside[axis]) as i32);
                (cell, WorldBlock(*block))
            })
        })
    }

    /// How many bytes this volume has that `other` does not share.
    pub fn own_bytes(&self, other: &Self) -> usize {
        let own = self.sections.iter().zip(&other.sections).filter(|(one, two)| !Arc::ptr_eq(one, two));
        CELLS + SECTIONS * size_of::<usize>() + own.count() * size_of::<Section>()
    }
}

/// What a cell with a block adds to the hash.
fn mark(cell: Cell, block: WorldBlock) -> u64 {
    if block.is_air() {
        return 0;
    }
    let index = ((cell[1] << 16) | (cell[2] << 8) | cell[0]) as u64;
    mix(mix(index ^ 0x5bd1_e995_0000_0000) ^ u64::from(block.0).wrapping_mul(0x9e37_79b9_7f4a_7c15))
}

/// How bright a block shines.
pub(crate) fn shines(block: WorldBlock) -> u8 {
    table().states[usize::from(block.0)].light
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn stone() -> WorldBlock {
        WorldBlock::of("stone").unwrap()
    }

    #[test]
    fn skips_are_the_largest_empty_aligned_cubes() {
        let mut volume = Volume::empty();
        volume.replace([17, 33, 50], stone());
        for (cell, skip) in [
            ([17, 33, 50], 0),
            ([16, 33, 50], 1),
            ([18, 33, 50], 2),
            ([21, 33, 50], 4),
            ([25, 33, 50], 8),
            ([0, 0, 0], 16),
        ] {
            assert_eq!(volume.skips.at(Skips::index(cell[0], cell[1], cell[2])), skip, "{cell:?}");
        }
        volume.replace([17, 33, 50], WorldBlock::AIR);
        assert_eq!(volume.skips.at(Skips::index(17, 33, 50)), 16);
    }

    #[test]
    fn a_copy_shares_what_neither_has_changed() {
        let mut one = Volume::empty();
        one.replace([1, 2, 3], stone());
        let mut other = one.clone();
        other.replace([100, 2, 3], stone());
        assert_eq!(one.block([100, 2, 3]), WorldBlock::AIR);
        assert_eq!(other.own_bytes(&one) - one.own_bytes(&one), size_of::<Section>());
    }

    proptest! {
        #[test]
        fn the_hash_depends_on_the_blocks_and_not_on_their_history(
            cells in prop::collection::vec((0..256_i32, 0..128_i32, 0..256_i32), 1..40)
        ) {
            let (mut forward, mut backward) = (Volume::empty(), Volume::empty());
            for &(x, y, z) in &cells {
                forward.replace([x, y, z], stone());
            }
            for &(x, y, z) in cells.iter().rev() {
                backward.replace([x, y, z], WorldBlock::of("dirt").unwrap());
                backward.replace([x, y, z], stone());
            }
            prop_assert_eq!(forward.hash(), backward.hash());
            for &(x, y, z) in &cells {
                backward.replace([x, y, z], WorldBlock::AIR);
            }
            prop_assert_eq!(backward.hash(), Volume::empty().hash());
            prop_assert!(backward.skips.0.iter().all(|skip| *skip == 16));
        }
    }
}
