//! MagicaVoxel's files, version 200, with one model. No grid is larger than a model can be, which is 256 cells.
//!
//! In these files, z is up and y leads away: the cell (x, y, z) of a grid is the voxel (x, edge - 1 - z, y).

use crate::grid::{Bounds, Grid};
use crate::palette::{AIR, Block, Palette, RenderClass};
use crate::textures::Textures;

pub fn write(grid: &Grid, bounds: Bounds) -> Vec<u8> {
    let colours = Colours::of(grid);
    let [width, height, depth] = bounds.spans();
    let mut voxels = vec![0; 4];
    for (i, row) in grid.rows_inside(bounds).enumerate() {
        let (up, away) = (i / depth, depth - 1 - i % depth);
        for (x, &cell) in row.iter().enumerate().filter(|(_, cell)| **cell != AIR) {
            voxels.extend([x as u8, away as u8, up as u8, colours.numbers[usize::from(cell)]]);
        }
    }
    let count = (voxels.len() / 4 - 1) as u32;
    voxels[..4].copy_from_slice(&count.to_le_bytes());

    let mut children = Vec::new();
    chunk(&mut children, b"SIZE", &ints(&[width, depth, height]));
    chunk(&mut children, b"XYZI", &voxels);
    put_scene(&mut children, grid, bounds);
    chunk(&mut children, b"RGBA", &colours.rgba);
    children.extend(&colours.materials);

    let mut file = b"VOX ".to_vec();
    file.extend(ints(&[200]));
    file.extend(b"MAIN");
    file.extend(ints(&[0, children.len()]));
    file.append(&mut children);
    file
}

/// The colours and materials of a grid's blocks. Colours are numbered from 1.
struct Colours {
    /// The number of the colour, by block number.
    numbers: [u8; 256],
    rgba: Vec<u8>,
    /// Material chunks, for blocks that are transparent or emit light.
    materials: Vec<u8>,
}

impl Colours {
    fn of(grid: &Grid) -> Self {
        let mut colours = Self { numbers: [0; 256], rgba: Vec::new(), materials: Vec::new() };
        for (number, (block, _)) in (1..).zip(grid.stats().blocks()) {
            let Some(cell) = Palette::Advanced.find(&block.id) else { continue };
            colours.numbers[usize::from(cell)] = number;
            colours.rgba.extend(Textures::get().colour(cell).unwrap_or_default());
            colours.rgba.push(255);
            colours.put_material(number, block);
        }
        colours.rgba.resize(4 * 256, 0);
        colours
    }

    fn put_material(&mut self, number: u8, block: &Block) {
        let properties: &[_] = match block.class {
            RenderClass::Opaque | RenderClass::Cutout => return,
            RenderClass::Transparent | RenderClass::Liquid => &[("_type", "_glass"), ("_alpha", "0.6")],
            RenderClass::Emissive => &[("_type", "_emit"), ("_emit", "0.6")],
        };
        let mut material = ints(&[number.into()]);
        put_dictionary(&mut material, properties);
        chunk(&mut self.materials, b"MATL", &material);
    }
}

/// A root transform with a group, and in it the model at its position in the grid.
fn put_scene(children: &mut Vec<u8>, grid: &Grid, bounds: Bounds) {
    let [width, height, depth] = bounds.spans();
    let [x, y, z] = bounds.min.map(usize::from);
    // The position of a model is that of its middle.
    let away = grid.size().get() - z - depth;
    let middle = format!("{} {} {}", x + width / 2, away + depth / 2, y + height / 2);

    // A 0 after the number of a node, and after that of a model, is an empty dictionary.
    put_transform(children, 0, 1, &[]);
    chunk(children, b"nGRP", &ints(&[1, 0, 1, 2]));
    put_transform(children, 2, 3, &[("_t", &middle)]);
    chunk(children, b"nSHP", &ints(&[3, 0, 1, 0, 0]));
}

fn put_transform(children: &mut Vec<u8>, node: usize, child: usize, frame: &[(&str, &str)]) {
    // No reserved id, no layer, and one frame.
    const NONE: usize = u32::MAX as usize;
    let mut transform = ints(&[node, 0, child, NONE, NONE, 1]);
    put_dictionary(&mut transform, frame);
    chunk(children, b"nTRN", &transform);
}

fn chunk(file: &mut Vec<u8>, id: &[u8; 4], content: &[u8]) {
    file.extend(id);
    file.extend(ints(&[content.len(), 0]));
    file.extend(content);
}

fn ints(numbers: &[usize]) -> Vec<u8> {
    numbers.iter().flat_map(|&number| (number as u32).to_le_bytes()).collect()
}

fn put_dictionary(out: &mut Vec<u8>, entries: &[(&str, &str)]) {
    out.extend(ints(&[entries.len()]));
    for text in entries.iter().flat_map(|(key, value)| [key, value]) {
        out.extend(ints(&[text.len()]));
        out.extend(text.as_bytes());
    }
}
