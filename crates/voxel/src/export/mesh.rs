//! A grid as a textured mesh, from which GLB and OBJ are written.
//!
//! Textures repeat over merged quads, so each texture is a picture of its own: the tile of a face, or for a face with
//! variants, a mix of four by four tiles.

use std::array;

use super::MAX_BYTES;
use super::surface::{self, Direction, Quad};
use crate::grid::{Bounds, Grid};
use crate::image::Picture;
use crate::palette::{Block, RenderClass};
use crate::textures::{Face, Textures};

/// A quad takes up to 104 bytes of a GLB, and more memory while the file is written.
const MAX_QUADS: usize = MAX_BYTES / 160;

/// Corners of cells along an axis.
const LATTICE: usize = 257;

/// The part of a mesh that has one texture.
pub struct MeshPart {
    /// The id of the block, with the face if its faces differ.
    pub name: String,
    pub class: RenderClass,
    pub face: Face,
    pub vertices: Vec<Vertex>,
    /// The indices of vertices, counter-clockwise seen from outside.
    pub quads: Vec<([u32; 4], Direction)>,
}

#[derive(Clone, Copy)]
pub struct Vertex {
    pub at: [u16; 3],
    /// To the right and down, in cells. Textures repeat every [`MeshPart::repeat`] cells.
    pub texture: [i16; 2],
}

/// The parts in the order of their textures. None if there are too many quads.
pub fn build(grid: &Grid, bounds: Bounds) -> Option<Vec<MeshPart>> {
    let textures = Textures::get();
    let no_face = Face { first: 0, variants: 1 };
    let faces: [[Face; 3]; 256] =
        array::from_fn(|number| textures.faces(number as u8).unwrap_or([no_face; 3]));
    let face = |quad: &Quad| faces[usize::from(quad.kind)][face_index(quad.side)];

    let mut quads = surface::block_quads(grid, bounds, MAX_QUADS)?;
    // The sort is stable, so the quads of a plane stay together in each part.
    quads.sort_by_key(|quad| face(quad).first);
    let parts = quads.chunk_by(|a, b| face(a).first == face(b).first);
    let mut corners = PlaneVertices::new();
    Some(parts.filter_map(|quads| part(quads, &faces, &mut corners)).collect())
}

fn part(quads: &[Quad], faces: &[[Face; 3]; 256], corners: &mut PlaneVertices) -> Option<MeshPart> {
    let first = quads.first()?;
    let block = Block::by_number(first.kind)?;
    let own = faces[usize::from(first.kind)];
    let face = own[face_index(first.side)];
    let [top, side, bottom] = own;
    let name = match face {
        _ if top == side && side == bottom => block.id.clone(),
        face if face == top => format!("{}_top", block.id),
        face if face == side => format!("{}_side", block.id),
        _ => format!("{}_bottom", block.id),
    };
    let mut part = MeshPart { name, class: block.class, face, vertices: Vec::new(), quads: Vec::new() };
    part.quads.reserve_exact(quads.len());
    let plane = |quad: &Quad| (quad.side, quad.origin()[quad.side.axis()]);
    for quads in quads.chunk_by(|a, b| plane(a) == plane(b)) {
        corners.clear();
        for quad in quads {
            let [columns, rows] = quad.side.plane_axes();
            let numbers = quad.corners().map(|at| {
                corners.number(at[columns], at[rows], || {
                    part.vertices.push(Vertex { at, texture: texture_coordinates(quad.side, at) });
                    part.vertices.len() as u32 - 1
                })
            });
            part.quads.push((numbers, quad.side));
        }
    }
    Some(part)
}

/// The index of a face among top, side and bottom.
fn face_index(side: Direction) -> usize {
    match side {
        Direction::Up => 0,
        Direction::Down => 2,
        _ => 1,
    }
}

/// The point of the texture at a corner; see `textures` for how tiles lie on faces.
fn texture_coordinates(side: Direction, at: [u16; 3]) -> [i16; 2] {
    let [x, y, z] = at.map(u16::cast_signed);
    match side {
        Direction::East => [-z, -y],
        Direction::West => [z, -y],
        Direction::Up => [x, z],
        Direction::Down => [x, -z],
        Direction::South => [x, -y],
        Direction::North => [-x, -y],
    }
}

impl MeshPart {
    /// The number of cells after which the texture repeats.
    pub fn repeat(&self) -> u8 {
        if self.face.variants > 1 { 4 } else { 1 }
    }

    pub fn picture(&self) -> Picture {
        let tiles = Textures::get().tiles();
        let across = u32::from(self.repeat());
        let pictures: Vec<Picture> = (0..across * across)
            .map(|place| [place % across, place / across, self.face.first.into()])
            .map(|cell| tiles[self.face.tile_at(cell)].picture())
            .collect();
        Picture::sheet(&pictures, across as usize)
    }
}

/// The vertices of one plane by their position, so that neighbours share them.
struct PlaneVertices {
    /// For each position, the plane that last had a vertex there, and its number. This way, a new plane needs no reset.
    known: Vec<(u32, u32)>,
    plane: u32,
}

impl PlaneVertices {
    fn new() -> Self {
        Self { known: vec![(0, 0); LATTICE * LATTICE], plane: 0 }
    }

    fn clear(&mut self) {
        self.plane += 1;
    }

    fn number(&mut self, column: u16, row: u16, new: impl FnOnce() -> u32) -> u32 {
        let known = &mut self.known[usize::from(row) * LATTICE + usize::from(column)];
        if known.0 != self.plane {
            *known = (self.plane, new());
        }
        known.1
    }
}
