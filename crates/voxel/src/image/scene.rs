//! A grid and its textures, prepared for tracing rays.

use std::sync::LazyLock;

use crate::grid::{Bounds, Grid};
use crate::palette::{AIR, Block, RenderClass};
use crate::textures::{Face, Textures, linear};

/// Cells along the edge of a brick. Rays cross empty bricks in one step.
pub const BRICK: i32 = 8;

pub struct TracedGrid<'a> {
    cells: &'a [u8],
    edge: i32,
    /// The lowest and the highest cell of the bounds.
    pub low: [i32; 3],
    pub high: [i32; 3],
    /// Whether a brick has a block.
    bricks: Vec<bool>,
    /// By block number. The entry of air is not used.
    pub materials: &'static [Material],
}

/// The properties of a kind of block that rays need.
pub struct Material {
    pub class: Option<RenderClass>,
    /// Whether it lets no light into its cell, and so darkens corners.
    pub occludes: bool,
    pub casts_shadow: bool,
    /// Top, side and bottom.
    pub faces: [Face; 3],
}

impl<'a> TracedGrid<'a> {
    pub fn new(grid: &'a Grid, bounds: Bounds) -> Self {
        static MATERIALS: LazyLock<Vec<Material>> =
            LazyLock::new(|| (0..=u8::MAX).map(Material::of).collect());
        let edge = grid.size().get();
        let bricks_along = edge / BRICK as usize;
        let mut bricks = vec![false; bricks_along.pow(3)];
        for (y, z, row) in grid.rows() {
            let start = (y / BRICK as usize * bricks_along + z / BRICK as usize) * bricks_along;
            for (brick, cells) in bricks[start..].iter_mut().zip(row.chunks_exact(BRICK as usize)) {
                *brick |= cells.iter().any(|&cell| cell != AIR);
            }
        }
        Self {
            cells: grid.cells(),
            edge: edge as i32,
            low: bounds.min.map(i32::from),
            high: bounds.max.map(i32::from),
            bricks,
            materials: &MATERIALS,
        }
    }

    /// The block at a cell, which must be inside the grid.
    pub fn block(&self, [x, y, z]: [i32; 3]) -> u8 {
        self.cells[((y * self.edge + z) * self.edge + x) as usize]
    }

    pub fn brick_is_empty(&self, cell: [i32; 3]) -> bool {
        let [x, y, z] = cell.map(|c| c / BRICK);
        let along = self.edge / BRICK;
        !self.bricks[((y * along + z) * along + x) as usize]
    }

    pub fn material(&self, block: u8) -> &Material {
        &self.materials[usize::from(block)]
    }

    /// Whether a cell darkens the corners next to it. The cell may be outside the grid.
    pub fn occludes(&self, cell: [i32; 3]) -> bool {
        cell.iter().all(|c| (0..self.edge).contains(c)) && self.material(self.block(cell)).occludes
    }
}

impl Material {
    fn of(number: u8) -> Self {
        let class = Block::by_number(number).map(|block| block.class);
        let occludes = matches!(class, Some(RenderClass::Opaque | RenderClass::Emissive));
        let nothing = [Face { first: 0, variants: 1 }; 3];
        Self {
            class,
            occludes,
            casts_shadow: occludes || class == Some(RenderClass::Cutout),
            faces: Textures::get().faces(number).unwrap_or(nothing),
        }
    }
}

/// A tile in linear light, multiplied by its alpha, in sizes from 16 texels down to one.
pub struct Mips([Vec<[f32; 4]>; 5]);

impl Mips {
    pub fn all() -> &'static [Self] {
        static ALL: LazyLock<Vec<Mips>> =
            LazyLock::new(|| Textures::get().tiles().iter().map(|tile| Mips::of(&tile.0)).collect());
        &ALL
    }

    fn of(texels: &[[u8; 4]; 256]) -> Self {
        let full = texels.iter().map(|&[r, g, b, a]| {
            let alpha = f32::from(a) / 255.0;
            [linear(r) * alpha, linear(g) * alpha, linear(b) * alpha, alpha]
        });
        let mut levels = [full.collect(), Vec::new(), Vec::new(), Vec::new(), Vec::new()];
        for level in 1..levels.len() {
            levels[level] = halve(&levels[level - 1], 16 >> level);
        }
        Self(levels)
    }

    /// The mean over a sample `width` texels wide, at a point that goes from 0 to 1 from the top left.
    pub fn sample(&self, u: f32, v: f32, width: f32) -> [f32; 4] {
        if width <= 1.0 {
            return self.texel(0, u, v);
        }
        let level = width.log2().min(4.0);
        let (finer, share) = (level as usize, level.fract());
        if share == 0.0 {
            return self.texel(finer, u, v);
        }
        let (a, b) = (self.texel(finer, u, v), self.texel(finer + 1, u, v));
        std::array::from_fn(|i| a[i] + (b[i] - a[i]) * share)
    }

    fn texel(&self, level: usize, u: f32, v: f32) -> [f32; 4] {
        let edge = 16 >> level;
        let at = |place: f32| ((place * edge as f32) as usize).min(edge - 1);
        self.0[level][at(v) * edge + at(u)]
    }
}

fn halve(texels: &[[f32; 4]], edge: usize) -> Vec<[f32; 4]> {
    let texel = |i: usize| {
        let corner = i / edge * 2 * edge * 2 + i % edge * 2;
        let four = [corner, corner + 1, corner + edge * 2, corner + edge * 2 + 1];
        std::array::from_fn(|part| four.iter().map(|&j| texels[j][part]).sum::<f32>() / 4.0)
    };
    (0..edge * edge).map(texel).collect()
}
