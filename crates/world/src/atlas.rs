//! The tiles of blocks, with smaller ones for what is far away.
//!
//! A block that the palette of builds has looks as it does there; the others have recipes in `data/blocks.toml`.

use std::sync::LazyLock;

use voxel::textures::{Textures, Tile};

use crate::block::{Axis, Look, Shape, table};
use crate::grid::palette_number;

/// How many sizes of each tile there are: 16, 8, 4 and 2 texels.
pub(crate) const LEVELS: usize = 4;

/// How many texels a tile has in all sizes.
pub(crate) const TEXELS: usize = 256 + 64 + 16 + 4;

/// The texels of a tile in all sizes, one size after the other: red, green, blue and alpha.
pub(crate) type Texels = [[u8; 4]; TEXELS];

/// Where a size begins.
pub(crate) const STARTS: [usize; LEVELS] = [0, 256, 320, 336];

/// The tiles of a face, which are mixed by position.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct FaceTiles {
    pub first: u16,
    pub variants: u16,
    /// Whether the tile is turned by a quarter.
    pub turned: bool,
}

/// How a state is drawn.
#[derive(Clone, Debug)]
pub(crate) struct Drawn {
    /// The faces to -x, +x, -y, +y, -z and +z.
    pub faces: [FaceTiles; 6],
    pub shape: Shape,
    pub look: Look,
    /// States of the same kind look like one thing.
    pub kind: u16,
    /// How bright it shines.
    pub light: u8,
}

/// All tiles, and how each state is drawn, by its number.
pub(crate) struct Atlas {
    pub tiles: Vec<Texels>,
    pub states: Vec<Drawn>,
}

impl Atlas {
    /// The tiles, which are painted once.
    pub fn get() -> &'static Self {
        static ATLAS: LazyLock<Atlas> = LazyLock::new(Atlas::paint);
        &ATLAS
    }

    fn paint() -> Self {
        let mut atlas = Self { tiles: vec![[[0; 4]; 340]], states: Vec::new() };
        let table = table();
        let mut by_kind: Vec<[FaceTiles; 3]> = Vec::new();
        for (kind, look) in table.kinds.iter().zip(&table.looks) {
            let like = look.like.and_then(|id| table.kinds.iter().position(|other| other.id == id));
            let known = like.and_then(|index| by_kind.get(index).copied());
            let painted = known.unwrap_or_else(|| atlas.paint_kind(kind.id, look));
            by_kind.push(painted);
        }
        for state in &table.states {
            let [top, side, bottom] = by_kind[state.kind];
            let lying = FaceTiles { turned: true, ..side };
            let faces = match state.axis {
                Axis::X => [bottom, top, lying, lying, lying, lying],
                Axis::Z => [lying, lying, side, side, bottom, top],
                Axis::Y => [side, side, bottom, top, side, side],
            };
            atlas.states.push(Drawn {
                faces,
                shape: state.shape.clone(),
                look: table.kinds[state.kind].look,
                kind: state.kind as u16,
                light: state.light,
            });
        }
        atlas
    }

    /// Top, side and bottom of a kind of block.
    fn paint_kind(&mut self, id: &str, look: &crate::block::BlockLook) -> [FaceTiles; 3] {
        if id == "air" {
            return [FaceTiles::default(); 3];
        }
        if let Some(colour) = look.ore {
            let stone = palette_faces("stone").map(|faces| faces[1][0].clone());
            let face = self.add(&[ore(stone.unwrap_or(Tile([[128, 128, 128, 255]; 256])), colour, id)]);
            return [face; 3];
        }
        let own = [&look.top, &look.side, &look.bottom];
        if own.iter().all(|recipe| recipe.is_empty()) {
            let faces = palette_faces(id).unwrap_or_default();
            return faces.map(|tiles| self.add(&tiles));
        }
        let paint =
            |recipe: &[voxel::textures::Layer], face: &str| Tile::paint(recipe, &format!("{id} {face}"), 0);
        let any = own.into_iter().find(|recipe| !recipe.is_empty()).map_or(&[][..], |recipe| &recipe[..]);
        let or_any =
            |recipe: &'_ Vec<_>, name: &str| paint(if recipe.is_empty() { any } else { recipe }, name);
        let top = or_any(&look.top, "top");
        let side = if look.side.is_empty() { top.clone() } else { paint(&look.side, "side") };
        let bottom = if look.bottom.is_empty() { top.clone() } else { paint(&look.bottom, "bottom") };
        [top, side, bottom].map(|tile| self.add(&[tile]))
    }

    fn add(&mut self, tiles: &[Tile]) -> FaceTiles {
        if tiles.is_empty() {
            return FaceTiles { first: 0, variants: 1, turned: false };
        }
        let first = self.tiles.len() as u16;
        self.tiles.extend(tiles.iter().map(shrink));
        FaceTiles { first, variants: tiles.len() as u16, turned: false }
    }
}

/// The tiles of top, side and bottom that the palette of builds has for a block.
fn palette_faces(id: &str) -> Option<[Vec<Tile>; 3]> {
    let textures = Textures::get();
    let faces = textures.faces(palette_number(id)?)?;
    Some(faces.map(|face| {
        let first = usize::from(face.first);
        textures.tiles()[first..first + usize::from(face.variants)].to_vec()
    }))
}

/// Specks of a colour, with light and dark edges, in stone.
fn ore(mut tile: Tile, colour: &str, id: &str) -> Tile {
    let part = |at: usize| colour.get(at..at + 2).and_then(|digits| u8::from_str_radix(digits, 16).ok());
    let colour = [1, 3, 5].map(|at| part(at).unwrap_or(128));
    let specks = [(3, 2), (9, 3), (12, 8), (5, 8), (2, 12), (9, 12), (13, 13)];
    let salt = id.bytes().fold(0_usize, |sum, byte| sum + usize::from(byte));
    for (index, (x, y)) in specks.into_iter().enumerate() {
        for (dx, dy, light) in
            [(0, 0, 130), (1, 0, 110), (0, 1, 100), (1, 1, 75), (2, 1, 60), (1, 2, 70), (2, 0, 90)]
        {
            if (index + dx * 2 + dy + salt).is_multiple_of(5) && dx + dy > 1 {
                continue;
            }
            let at = ((y + dy) % 16) * 16 + (x + dx) % 16;
            let [r, g, b] = colour.map(|part| (u32::from(part) * light / 110).min(255) as u8);
            tile.0[at] = [r, g, b, 255];
        }
    }
    tile
}

/// Adds the smaller sizes of a tile: each texel is the mean of four.
fn shrink(tile: &Tile) -> Texels {
    let mut texels = [[0; 4]; 340];
    texels[..256].copy_from_slice(&tile.0);
    for level in 1..LEVELS {
        let (edge, from, to) = (16 >> level, STARTS[level - 1], STARTS[level]);
        for y in 0..edge {
            for x in 0..edge {
                let four = [(0, 0), (1, 0), (0, 1), (1, 1)]
                    .map(|(dx, dy)| texels[from + (2 * y + dy) * edge * 2 + 2 * x + dx]);
                let alpha: u32 = four.iter().map(|texel| u32::from(texel[3])).sum();
                let mean = |part: usize| {
                    let sum: u32 =
                        four.iter().map(|texel| u32::from(texel[part]) * u32::from(texel[3])).sum();
                    (sum + alpha / 2).checked_div(alpha).unwrap_or(0) as u8
                };
                texels[to + y * edge + x] = [mean(0), mean(1), mean(2), ((alpha + 2) / 4) as u8];
            }
        }
    }
    texels
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_block_has_tiles() {
        let atlas = Atlas::get();
        for drawn in atlas.states.iter().skip(1) {
            let id = table().kinds[usize::from(drawn.kind)].id;
            assert!(drawn.faces.iter().all(|face| face.variants > 0 && face.first > 0), "{id} has no tile");
        }
    }
}
