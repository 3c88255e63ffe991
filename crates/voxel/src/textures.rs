//! Textures: the look of blocks, in tiles of 16 by 16 texels.
//!
//! All tiles are painted from the recipes in `palettes/`, and are the same on every machine. Pictures, exports and
//! viewers use the same tiles.
//!
//! # Which tile a cell shows
//!
//! A block has three faces: top, side and bottom. Each has one or more variants, which are consecutive tiles. The cell at
//! (x, y, z) shows the variant `hash(x, y, z) % variants`, where the hash is [`variant_hash`]. In GLSL ES 3.00:
//!
//! ```glsl
//! uint variantHash(uvec3 cell) {
//!     uint h = cell.x * 0x8da6b343u ^ cell.y * 0xd8163841u ^ cell.z * 0xcb1ab31fu;
//!     h = (h ^ (h >> 13u)) * 0x9e3779b1u;
//!     return h ^ (h >> 16u);
//! }
//! ```
//!
//! # How a tile lies on a face
//!
//! On a side seen from outside, row 0 is at the top, and columns run to the right: along +x on the side that faces +z,
//! -x for -z, -z for +x, and +z for -x. On the top, columns run along +x and rows along +z; on the bottom, columns run
//! along +x and rows along -z.

mod levels;
mod masonry;
mod nature;
mod noise;
mod pattern;
pub(super) mod recipe;

pub use self::recipe::Layer;

use std::sync::LazyLock;

use self::noise::Noise;
use super::palette::{Block, Palette};
use super::picture::Picture;

/// A tile of 16 rows of 16 texels, the top row first, in sRGB with straight alpha.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tile(pub [[u8; 4]; 256]);

impl Tile {
    /// Paints a recipe. Another name or variant gives other random details.
    pub fn paint(recipe: &[Layer], name: &str, variant: u8) -> Self {
        recipe::paint(recipe, Noise::new(name, variant))
    }

    pub(super) fn picture(&self) -> Picture {
        Picture { width: 16, height: 16, rgba: self.0.as_flattened().to_vec() }
    }
}

/// The tiles of a face: `variants` of them, from `first` on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Face {
    pub first: u8,
    pub variants: u8,
}

impl Face {
    /// The tile that a cell shows.
    pub(super) fn tile_at(self, cell: [u32; 3]) -> usize {
        usize::from(self.first) + (variant_hash(cell) % u32::from(self.variants.max(1))) as usize
    }
}

/// The tiles of all blocks.
pub struct Textures {
    tiles: Vec<Tile>,
    /// By block number less one: top, side, bottom.
    faces: Vec<[Face; 3]>,
    /// Likewise the mean red, green and blue in linear light, and the coverage.
    averages: Vec<[[f32; 4]; 3]>,
}

/// The hash that picks the variant of a cell; see the module's documentation.
pub fn variant_hash([x, y, z]: [u32; 3]) -> u32 {
    let h = x.wrapping_mul(0x8da6_b343) ^ y.wrapping_mul(0xd816_3841) ^ z.wrapping_mul(0xcb1a_b31f);
    let h = (h ^ (h >> 13)).wrapping_mul(0x9e37_79b1);
    h ^ (h >> 16)
}

impl Textures {
    /// The tiles, which are painted once.
    pub fn get() -> &'static Self {
        static TEXTURES: LazyLock<Textures> = LazyLock::new(|| Textures::paint(Palette::Advanced.blocks()));
        &TEXTURES
    }

    pub fn tiles(&self) -> &[Tile] {
        &self.tiles
    }

    /// The top, side and bottom of the block with a number.
    pub fn faces(&self, number: u8) -> Option<[Face; 3]> {
        self.faces.get(usize::from(number).checked_sub(1)?).copied()
    }

    /// The colours of top, side and bottom from far away: the mean red, green and blue in linear light, and the
    /// coverage.
    pub fn averages(&self, number: u8) -> Option<[[f32; 4]; 3]> {
        self.averages.get(usize::from(number).checked_sub(1)?).copied()
    }

    /// A single colour for a block, in sRGB: the mean of its top and its side.
    pub fn colour(&self, number: u8) -> Option<[u8; 3]> {
        let [top, side, _] = self.averages(number)?;
        Some([0, 1, 2].map(|part| srgb(f32::midpoint(top[part], side[part]))))
    }

    /// All tiles one after the other with four bytes per texel, as for a texture array.
    pub fn bytes(&self) -> Vec<u8> {
        self.tiles.iter().flat_map(|tile| tile.0.as_flattened()).copied().collect()
    }

    /// All tiles in one picture, in rows of 16.
    pub fn sheet(&self) -> Picture {
        let tiles: Vec<Picture> = self.tiles.iter().map(Tile::picture).collect();
        Picture::sheet(&tiles, 16)
    }

    fn paint(blocks: &[Block]) -> Self {
        let mut tiles = Vec::new();
        let faces: Vec<_> = blocks.iter().map(|block| paint_block(block, &mut tiles)).collect();
        assert!(tiles.len() <= 255, "a tile's number is one byte");
        let averages = faces.iter().map(|faces| faces.map(|face| average(&tiles, face))).collect();
        Self { tiles, faces, averages }
    }
}

/// Paints the faces of a block. Faces with the same recipe share its tiles.
fn paint_block(block: &Block, tiles: &mut Vec<Tile>) -> [Face; 3] {
    let mut paint = |name: &str, recipe: &[Layer]| {
        let first = tiles.len() as u8;
        let name = format!("{} {name}", block.id);
        let variants = block.variants.get();
        tiles.extend((0..variants).map(|variant| Tile::paint(recipe, &name, variant)));
        Face { first, variants }
    };
    let [top, side, bottom] = block.recipes();
    let same = |a: &[Layer], b: &[Layer]| std::ptr::eq(a, b);
    let top_face = paint("top", top);
    let side_face = if same(side, top) { top_face } else { paint("side", side) };
    let bottom_face = match bottom {
        bottom if same(bottom, top) => top_face,
        bottom if same(bottom, side) => side_face,
        bottom => paint("bottom", bottom),
    };
    [top_face, side_face, bottom_face]
}

fn average(tiles: &[Tile], face: Face) -> [f32; 4] {
    let first = usize::from(face.first);
    let texels = tiles[first..first + usize::from(face.variants)].iter().flat_map(|tile| &tile.0);
    let mut sum = [0.0; 4];
    let mut count = 0.0_f32;
    for &[r, g, b, a] in texels {
        let alpha = f32::from(a) / 255.0;
        for (sum, part) in sum.iter_mut().zip([r, g, b]) {
            *sum += linear(part) * alpha;
        }
        sum[3] += alpha;
        count += 1.0;
    }
    let [r, g, b, alpha] = sum;
    let weight = alpha.max(f32::EPSILON);
    [r / weight, g / weight, b / weight, alpha / count.max(1.0)]
}

/// The linear light of an sRGB byte.
pub(super) fn linear(byte: u8) -> f32 {
    static TABLE: LazyLock<[f32; 256]> = LazyLock::new(|| {
        std::array::from_fn(|byte| match byte as f32 / 255.0 {
            dark if dark <= 0.040_45 => dark / 12.92,
            light => ((light + 0.055) / 1.055).powf(2.4),
        })
    });
    TABLE[usize::from(byte)]
}

/// The sRGB byte of linear light.
pub(super) fn srgb(linear: f32) -> u8 {
    let encoded = match linear.clamp(0.0, 1.0) {
        dark if dark <= 0.003_130_8 => dark * 12.92,
        light => 1.055 * light.powf(1.0 / 2.4) - 0.055,
    };
    (encoded * 255.0 + 0.5) as u8
}
