//! The cells of a world: blocks and light in sections of 16³ that are shared until they are written to, and for each cell
//! how far rays may skip.
//!
//! The skip of a cell is the largest empty box that holds it, of those that are as wide as they are long and stand where a
//! multiple of their edges is: 1, 2, 4, 8 or 16 cells wide and 1, 2, 4 or 8 tall. Flat boxes matter, since one looks over
//! floors and meadows. It depends on the blocks alone, never on their history. Skips lie in bricks of 4³ cells, each a
//! line of the processor's cache.

use std::collections::BTreeSet;
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

/// The skip of a cell with something in it.
const FULL: u8 = 0x80;

/// The skip of a cell in an empty section.
const OPEN: u8 = 0x7f;

/// The boxes that may be skipped, the largest first: powers of two, the width's and the height's.
#[rustfmt::skip]
const BOXES: [(usize, usize); 20] = [
    (4, 3), (4, 2), (4, 1), (3, 3), (4, 0), (3, 2), (3, 1), (2, 3), (3, 0), (2, 2),
    (2, 1), (1, 3), (2, 0), (1, 2), (1, 1), (0, 3), (1, 0), (0, 2), (0, 1), (0, 0),
];

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
    /// The cells that were changed in this step, with what was there before.
    changed: Vec<(Cell, WorldBlock)>,
}

/// The skips of all cells, in bricks. A skip has a box's width less one in four bits, its height less one in three, and in
/// the last bit whether there is something in the cell.
#[derive(Clone)]
pub(crate) struct Skips(Box<[u8; CELLS]>);

impl Skips {
    /// The skip at an index; those that no cell has are those of others.
    #[inline(always)]
    pub fn at(&self, index: i32) -> u8 {
        self.0[index as usize & (CELLS - 1)]
    }

    /// The width of a skip's box, less one.
    #[inline(always)]
    pub fn wide(skip: i32) -> i32 {
        skip & 15
    }

    /// The height of a skip's box, less one.
    #[inline(always)]
    pub fn tall(skip: i32) -> i32 {
        (skip >> 4) & 7
    }

    /// All bits if there is something in the cell, else none.
    #[inline(always)]
    pub fn is_full(skip: i32) -> i32 {
        -(skip >> 7)
    }

    /// The index of a cell that lies within the world.
    #[inline(always)]
    pub fn index(x: i32, y: i32, z: i32) -> i32 {
        let brick = ((y >> 2) << 12) | ((z >> 2) << 6) | (x >> 2);
        let inside = ((y & 3) << 4) | ((z & 3) << 2) | (x & 3);
        (brick << 6) | inside
    }
}

impl Default for Volume {
    fn default() -> Self {
        Self::empty()
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
        let skips = vec![OPEN; CELLS].into_boxed_slice();
        #[expect(clippy::expect_used, reason = "the vector was made with this very length")]
        let skips = Skips(skips.try_into().map_err(drop).expect("the length is that of the array"));
        Self { sections: vec![air; SECTIONS], skips, top: -1, hash: 0, changed: Vec::new() }
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
        if old != block && contains(cell) {
            self.changed.push((cell, old));
        }
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

    /// The cells that were changed since [`Self::forget_changes`], in their order, with what was there before.
    pub(crate) fn changed(&self) -> &[(Cell, WorldBlock)] {
        &self.changed
    }

    pub(crate) fn forget_changes(&mut self) {
        self.changed.clear();
    }

    /// Calculates the skips of all cells.
    pub(crate) fn finish(&mut self) {
        for section in 0..SECTIONS as i32 {
            let corner = [(section & 15) << 4, (section >> 8) << 4, ((section >> 4) & 15) << 4];
            self.update_skips(corner);
        }
    }

    /// Calculates the skips around cells that [`Self::put`] has changed.
    pub(crate) fn finish_around(&mut self, cells: impl Iterator<Item = Cell>) {
        let corners: BTreeSet<Cell> = cells.map(|cell| cell.map(|at| at & !15)).collect();
        for corner in corners {
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
        let full = boxes_that_are_full(blocks);
        for (row, [y, z]) in (0..EDGE * EDGE).map(|row| (row as usize, [row >> 4, row & 15])) {
            let mut open = !full[0][0][row];
            let mut skips = [FULL; EDGE as usize];
            for (wide, tall) in BOXES {
                let mut fits = open & !full[wide][tall][row];
                open &= !fits;
                while fits != 0 {
                    skips[fits.trailing_zeros() as usize] = ((1 << wide) - 1) | ((1 << tall) - 1) << 4;
                    fits &= fits - 1;
                }
            }
            for (x, skip) in skips.into_iter().enumerate() {
                let at = Skips::index(corner[0] + x as i32, corner[1] + y, corner[2] + z);
                self.skips.0[at as usize & (CELLS - 1)] = skip;
            }
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

/// Rows of a section along x, a bit for each cell, by y and z.
type Rows = [u16; (EDGE * EDGE) as usize];

/// Which cells of a section lie in a box with something in it, by the powers of two of the boxes' width and height.
fn boxes_that_are_full(blocks: &[u16; SECTION_CELLS]) -> [[Rows; 4]; 5] {
    /// The left halves of pairs of boxes, by the power of two of their width.
    const LEFT: [u16; 4] = [0x5555, 0x3333, 0x0f0f, 0x00ff];
    let mut full = [[[0; _]; 4]; 5];
    for (inside, _) in blocks.iter().enumerate().filter(|(_, block)| **block != 0) {
        full[0][0][inside >> 4] |= 1 << (inside & 15);
    }
    for wide in 0..5 {
        for tall in 1..4 {
            let half = &full[wide][tall - 1];
            full[wide][tall] = std::array::from_fn(|row| half[row] | half[row ^ (8 << tall)]);
        }
        if wide < 4 {
            let half = full[wide][0];
            full[wide + 1][0] = std::array::from_fn(|row| {
                let both = half[row] | half[row ^ (1 << wide)];
                both | (both >> (1 << wide)) & LEFT[wide] | (both & LEFT[wide]) << (1 << wide)
            });
        }
    }
    full
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
mod tests;
