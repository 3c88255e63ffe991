//! MagicaVoxel's files: models, which a scene graph moves, rotates and mirrors.
//!
//! In these files, z is up and y leads away. A model is rotated around its middle, which is at half its size, rounded
//! down, on each axis.

mod graph;

use std::collections::HashSet;

use self::graph::{Graph, Node, Rotation};
use super::{CellKind, ForeignScene, ScenePart, bad_file, check_cell_count};
use crate::{diagnostics::Rejection, grid::GridSize};

pub const MAGIC: &[u8; 4] = b"VOX ";

/// The largest number of models, of their places in the scene, and of hidden layers.
const MAX_MODELS: usize = 4096;

/// Models that are placed several times may have this many times the cells of the grid in addition.
const MAX_REPEATS: u64 = 2;

/// The largest size of a model, because coordinates of voxels are bytes.
const MAX_MODEL_EDGE: u32 = 256;

/// A model at its place in the scene.
pub struct PlacedModel<'a> {
    model: VoxModel<'a>,
    rotation: Rotation,
    /// The position of its middle in the scene.
    middle: [i64; 3],
    edge: i64,
}

#[derive(Clone, Copy)]
struct VoxModel<'a> {
    size: [u32; 3],
    /// Four bytes each: x, y, z and the number of the colour.
    voxels: &'a [[u8; 4]],
}

pub fn read(file: &[u8], size: GridSize) -> Result<ForeignScene<'_>, Rejection> {
    let children = main_children(file).ok_or_else(|| bad_file("it does not start like a .vox file"))?;
    let mut found = VoxContents::default();
    let mut chunks = VoxCursor(children);
    while !chunks.0.is_empty() {
        let chunk = chunks.chunk().ok_or_else(|| bad_file("it ends inside a chunk"))?;
        found.keep(chunk)?;
    }
    let kinds = found.kinds();
    // Positions in a scene are relative to its origin and not to a larger world, so they can be kept.
    Ok(ForeignScene { kinds, parts: found.parts(size)?, is_placed: true })
}

/// The chunks inside the MAIN chunk.
fn main_children(file: &[u8]) -> Option<&[u8]> {
    let mut cursor = VoxCursor(file);
    cursor.take(MAGIC.len() + 4)?;
    let main = cursor.chunk()?;
    (main.id == b"MAIN").then_some(main.children)
}

#[derive(Default)]
struct VoxContents<'a> {
    size: Option<[u32; 3]>,
    models: Vec<VoxModel<'a>>,
    colours: Option<&'a [u8]>,
    graph: Graph,
    /// Layers that are hidden.
    hidden: HashSet<i32>,
}

impl<'a> VoxContents<'a> {
    fn keep(&mut self, chunk: VoxChunk<'a>) -> Result<(), Rejection> {
        let mut at = VoxCursor(chunk.content);
        let kept = match chunk.id {
            b"SIZE" => at.size().map(|size| self.size = Some(size)),
            b"XYZI" => return self.keep_model(at),
            b"RGBA" => at.take(4 * 256).map(|colours| self.colours = Some(colours)),
            b"nTRN" | b"nGRP" | b"nSHP" => match Node::read(chunk.id, &mut at) {
                Some((id, node)) => return self.graph.keep(id, node),
                None => None,
            },
            b"LAYR" if self.hidden.len() == MAX_MODELS => {
                return Err(bad_file(format!("it has more than {MAX_MODELS} hidden layers")));
            }
            b"LAYR" => at.layer().map(|(layer, is_hidden)| self.hidden.extend(is_hidden.then_some(layer))),
            _ => Some(()),
        };
        kept.ok_or_else(|| {
            bad_file(format!("its {} chunk is incomplete or malformed", chunk.id.escape_ascii()))
        })
    }

    fn keep_model(&mut self, mut at: VoxCursor<'a>) -> Result<(), Rejection> {
        let size = self.size.take().ok_or_else(|| bad_file("a model has no size"))?;
        let count = at.u32().unwrap_or_default() as usize;
        let (voxels, []) = at.0.as_chunks::<4>() else {
            return Err(bad_file("a model ends inside a voxel"));
        };
        if let Some(side) = size.into_iter().find(|&side| side > MAX_MODEL_EDGE) {
            let why = format!("a model is {side} voxels wide, but at most {MAX_MODEL_EDGE} are allowed");
            return Err(bad_file(why));
        }
        if voxels.len() != count {
            return Err(bad_file(format!("a model declares {count} voxels, but has {}", voxels.len())));
        }
        let outside = |voxel: &[u8; 4]| (0..3).any(|axis| u32::from(voxel[axis]) >= size[axis]);
        if voxels.iter().any(outside) {
            return Err(bad_file("a voxel is outside its model"));
        }
        if self.models.len() == MAX_MODELS {
            return Err(bad_file(format!("it has more than {MAX_MODELS} models")));
        }
        self.models.push(VoxModel { size, voxels });
        Ok(())
    }

    /// The colours by their numbers, which start at 1.
    fn kinds(&self) -> Vec<Option<CellKind>> {
        let own = self.colours.map(|colours| colours.chunks_exact(4).map(|c| [c[0], c[1], c[2]]).collect());
        let colours: Vec<_> = own.unwrap_or_else(default_colours);
        [None].into_iter().chain(colours.into_iter().take(255).map(|c| Some(CellKind::Colour(c)))).collect()
    }

    fn parts(self, size: GridSize) -> Result<Vec<ScenePart<'a>>, Rejection> {
        let edge = size.get() as i64;
        // Old files without a scene show their first model; the others are frames of an animation.
        if self.graph.is_empty() {
            let first = self.models.first().map(|&model| {
                let middle = model.size.map(|side| i64::from(side / 2));
                ScenePart::PlacedModel(PlacedModel { model, rotation: Rotation::NONE, middle, edge })
            });
            return Ok(first.into_iter().collect());
        }
        // All voxels of the file, and some more for models that are placed several times.
        let own: usize = self.models.iter().map(|model| model.voxels.len()).sum();
        let most = own as u64 + MAX_REPEATS * size.volume() as u64;
        let mut voxels = 0_u128;
        let mut parts = Vec::new();
        for (number, rotation, middle) in self.graph.shown(|layer| self.hidden.contains(&layer))? {
            let missing = || bad_file(format!("its scene shows model {number}, which does not exist"));
            let model = usize::try_from(number).ok().and_then(|number| self.models.get(number).copied());
            let model = model.ok_or_else(missing)?;
            voxels += model.voxels.len() as u128;
            check_cell_count(voxels, most)?;
            parts.push(ScenePart::PlacedModel(PlacedModel { model, rotation, middle, edge }));
        }
        Ok(parts)
    }
}

impl PlacedModel<'_> {
    /// Visits the voxels in the axes of the grid. The origin of the scene is the lower south-west corner of the grid.
    pub fn each(
        &self,
        mut visit: impl FnMut([i64; 3], u32) -> Result<(), Rejection>,
    ) -> Result<(), Rejection> {
        let corner = self.model.size.map(|side| i64::from(side / 2));
        // Some programs write empty voxels as colour 0.
        for &[x, y, z, colour] in self.model.voxels.iter().filter(|voxel| voxel[3] != 0) {
            let at = [x, y, z].map(i64::from);
            // Twice the vector from the middle of the model to the middle of the voxel, which keeps it whole.
            let way = std::array::from_fn(|axis| 2 * (at[axis] - corner[axis]) + 1);
            let way = self.rotation.apply(way);
            let [x, y, z] = std::array::from_fn(|axis| self.middle[axis] + way[axis].div_euclid(2));
            visit([x, z, self.edge - 1 - y], colour.into())?;
        }
        Ok(())
    }
}

/// The colours of a file without a palette: a cube of six shades per channel without black, then ramps of red, green,
/// blue and grey.
fn default_colours() -> Vec<[u8; 3]> {
    const SHADES: [u8; 6] = [0xff, 0xcc, 0x99, 0x66, 0x33, 0];
    const RAMP: [u8; 10] = [0xee, 0xdd, 0xbb, 0xaa, 0x88, 0x77, 0x55, 0x44, 0x22, 0x11];
    let cube = (0..215).map(|number| [number / 36, number / 6 % 6, number % 6].map(|shade| SHADES[shade]));
    let ramps = [[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 1]].into_iter();
    cube.chain(ramps.flat_map(|parts| RAMP.map(|light| parts.map(|part: u8| part * light)))).collect()
}

#[derive(Clone, Copy)]
struct VoxChunk<'a> {
    id: &'a [u8],
    content: &'a [u8],
    children: &'a [u8],
}

/// The bytes that were not read yet. Reads return None if there are too few.
struct VoxCursor<'a>(&'a [u8]);

impl<'a> VoxCursor<'a> {
    fn take(&mut self, len: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(len)?;
        self.0 = rest;
        Some(taken)
    }

    fn u32(&mut self) -> Option<u32> {
        let (number, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(u32::from_le_bytes(*number))
    }

    fn i32(&mut self) -> Option<i32> {
        self.u32().map(u32::cast_signed)
    }

    fn chunk(&mut self) -> Option<VoxChunk<'a>> {
        let id = self.take(4)?;
        let (content, children) = (self.u32()?, self.u32()?);
        let (content, children) = (self.take(content as usize)?, self.take(children as usize)?);
        Some(VoxChunk { id, content, children })
    }

    fn size(&mut self) -> Option<[u32; 3]> {
        Some([self.u32()?, self.u32()?, self.u32()?])
    }

    fn layer(&mut self) -> Option<(i32, bool)> {
        Some((self.i32()?, self.hidden()?))
    }

    /// Reads a dictionary, and returns whether it hides what it belongs to.
    fn hidden(&mut self) -> Option<bool> {
        let [hidden] = self.entries([b"_hidden"])?;
        Some(hidden == Some(b"1"))
    }

    /// Reads a dictionary, and returns the values of these keys.
    fn entries<const N: usize>(&mut self, wanted: [&[u8]; N]) -> Option<[Option<&'a [u8]>; N]> {
        let mut found = [None; N];
        for _ in 0..self.u32()? {
            let (key, value) = (self.text()?, self.text()?);
            if let Some(place) = wanted.iter().position(|&wanted| wanted == key) {
                found[place] = Some(value);
            }
        }
        Some(found)
    }

    fn text(&mut self) -> Option<&'a [u8]> {
        let len = self.u32()?;
        self.take(len as usize)
    }
}

#[cfg(test)]
mod tests;
