//! The tiles of blocks, with smaller ones for what is far away.
//!
//! A block that the palette of builds has looks as it does there; the others have recipes in `data/blocks.toml`.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use voxel::textures::{Textures, Tile};

use crate::block::{Axis, FaceRecipes, Facing, Look, Shape, WorldBlock, table};
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
    /// What stands between its boxes, from corner to corner, and from which height on.
    pub cross: Option<(FaceTiles, f32)>,
    pub shape: Shape,
    pub look: Look,
    /// States of the same kind look like one thing.
    pub kind: u16,
    /// How bright it shines.
    pub light: u8,
}

/// The tiles of a block or of some of its states, by name.
#[derive(Clone, Copy, Debug, Default)]
struct KindTiles {
    top: FaceTiles,
    side: FaceTiles,
    bottom: FaceTiles,
    front: Option<FaceTiles>,
    cross: Option<FaceTiles>,
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
        let mut by_kind: Vec<KindTiles> = Vec::new();
        for (kind, look) in table.kinds.iter().zip(&table.looks) {
            let own = atlas.paint_faces(kind.id, &look.faces, &by_kind, None);
            by_kind.push(own);
            let of_states: Vec<KindTiles> = look
                .states
                .iter()
                .enumerate()
                .map(|(number, (_, faces))| {
                    atlas.paint_faces(&format!("{} {number}", kind.id), faces, &by_kind, Some(own))
                })
                .collect();
            // Tiles that turn with the block are painted for each direction.
            let mut turned = BTreeMap::new();
            let first = usize::from(kind.first);
            for (number, state) in table.states.iter().enumerate().skip(first) {
                if state.kind + 1 != by_kind.len() {
                    break;
                }
                let block = WorldBlock(number as u16);
                let applies =
                    |is: &BTreeMap<String, String>| is.iter().all(|(name, value)| block.is(name, value));
                let place = look.states.iter().position(|(is, _)| applies(is));
                let mut tiles = place.map_or(own, |place| of_states[place]);
                if let (true, Some(facing)) = (look.turns, state.facing) {
                    let key = (tiles.top.first, tiles.bottom.first, facing.face());
                    (tiles.top, tiles.bottom) = *turned.entry(key).or_insert_with(|| {
                        (atlas.turned(tiles.top, facing, false), atlas.turned(tiles.bottom, facing, true))
                    });
                }
                atlas.states.push(drawn(block, tiles, look.cross_from));
            }
        }
        atlas
    }

    /// The tiles of a block, or of some of its states: what these have not is as it is `otherwise`.
    fn paint_faces(
        &mut self,
        id: &str,
        look: &FaceRecipes,
        by_kind: &[KindTiles],
        otherwise: Option<KindTiles>,
    ) -> KindTiles {
        let known = |id: &str| table().kind(id).and_then(|kind| by_kind.get(kind)).copied();
        let cross_like =
            look.cross_like.as_deref().and_then(known).map(|tiles| tiles.cross.unwrap_or(tiles.top));
        let paint = |recipe: &[voxel::textures::Layer], face: &str| {
            (!recipe.is_empty()).then(|| Tile::paint(recipe, &format!("{id} {face}"), 0))
        };
        let [top, side, bottom] = [(&look.top, "top"), (&look.side, "side"), (&look.bottom, "bottom")]
            .map(|(r, face)| paint(r, face));
        let front = paint(&look.front, "front").map(|tile| self.add(&[tile]));
        let cross = paint(&look.cross, "cross").map(|tile| self.add(&[tile])).or(cross_like);
        let like = look.like.as_deref().and_then(known);
        let mut tiles = if let Some(tiles) = like.or(otherwise) {
            let or = |tile: Option<Tile>, known: FaceTiles, atlas: &mut Self| {
                tile.map_or(known, |tile| atlas.add(&[tile]))
            };
            KindTiles {
                top: or(top, tiles.top, self),
                side: or(side, tiles.side, self),
                bottom: or(bottom, tiles.bottom, self),
                ..tiles
            }
        } else if let Some(colour) = &look.ore {
            let stone = palette_faces("stone").map(|faces| faces[1][0].clone());
            let face = self.add(&[ore(stone.unwrap_or(Tile([[128, 128, 128, 255]; 256])), colour, id)]);
            KindTiles { top: face, side: face, bottom: face, ..KindTiles::default() }
        } else if let Some(any) = top.clone().or_else(|| side.clone()).or_else(|| bottom.clone()) {
            let top = top.unwrap_or(any);
            let side = side.map(|tile| self.add(&[tile]));
            let bottom = bottom.map(|tile| self.add(&[tile]));
            let top = self.add(&[top]);
            KindTiles {
                top,
                side: side.unwrap_or(top),
                bottom: bottom.unwrap_or(top),
                ..KindTiles::default()
            }
        } else {
            let [top, side, bottom] = palette_faces(id).unwrap_or_default().map(|tiles| self.add(&tiles));
            KindTiles { top, side, bottom, ..KindTiles::default() }
        };
        tiles.front = front.or(tiles.front);
        tiles.cross = cross.or(tiles.cross);
        tiles
    }

    /// Tiles as they lie on top or at the bottom of a block that faces somewhere, from how they lie if it faces north.
    fn turned(&mut self, tiles: FaceTiles, facing: Facing, is_bottom: bool) -> FaceTiles {
        let first = self.tiles.len() as u16;
        for variant in 0..tiles.variants {
            let from = &self.tiles[usize::from(tiles.first + variant)];
            let mut to = *from;
            for level in 0..LEVELS {
                let edge = 16 >> level;
                for y in 0..edge {
                    for x in 0..edge {
                        let last = edge - 1;
                        let (u, v) = match (facing, is_bottom) {
                            (Facing::North, _) => (x, y),
                            (Facing::South, _) => (last - x, last - y),
                            (Facing::West, false) | (Facing::East, true) => (last - y, x),
                            (Facing::East, false) | (Facing::West, true) => (y, last - x),
                        };
                        to[STARTS[level] + y * edge + x] = from[STARTS[level] + v * edge + u];
                    }
                }
            }
            self.tiles.push(to);
        }
        FaceTiles { first, ..tiles }
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

fn drawn(block: WorldBlock, tiles: KindTiles, cross_from: u8) -> Drawn {
    let state = block.state();
    let KindTiles { top, side, bottom, front, cross } = tiles;
    let lying = FaceTiles { turned: true, ..side };
    let mut faces = match state.axis {
        Axis::X => [bottom, top, lying, lying, lying, lying],
        Axis::Z => [lying, lying, side, side, bottom, top],
        Axis::Y => [side, side, bottom, top, side, side],
    };
    if let Some(front) = front {
        let face = match block.property("facing") {
            Some("up") => 3,
            Some("down") => 2,
            // What faces nowhere has all its sides alike but one.
            _ => state.facing.map_or(5, Facing::face),
        };
        faces[face] = front;
    }
    Drawn {
        faces,
        cross: cross.map(|cross| (cross, f32::from(cross_from) / 16.0)),
        shape: state.shape.clone(),
        look: block.kind().look,
        kind: state.kind as u16,
        light: state.light,
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
