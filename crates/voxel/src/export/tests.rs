use proptest::prelude::*;

use super::*;
use crate::{GridSize, Palette, check, grid::Grid};

/// Some cells that are neighbours in all ways there are, among single ones.
fn grids() -> impl Strategy<Value = Grid> {
    let kinds = Palette::Advanced.blocks().len() as u8;
    let piece = (prop::array::uniform3(0..32_usize), 1..6_usize, 1..=kinds);
    let dense = prop::collection::vec((prop::array::uniform3(10..15_usize), 0..1_usize, 1..=3_u8), 1..80);
    let pieces = prop_oneof![dense, prop::collection::vec(piece, 1..40)];
    pieces.prop_map(|pieces| {
        let mut grid = Grid::empty(GridSize::G32);
        for ([x, y, z], more, kind) in pieces {
            for y in y..=(y + more).min(31) {
                grid.fill_row(x, y, z, (1 + more).min(32 - x), kind);
            }
        }
        grid
    })
}

/// The triangles of an STL file, in half blocks.
fn triangles(stl: &[u8]) -> Vec<[[i32; 3]; 3]> {
    let number = |bytes: &[u8]| (f32::from_le_bytes(bytes.try_into().unwrap()) * 2.0) as i32;
    let point = |bytes: &[u8]| [0, 4, 8].map(|at| number(&bytes[at..at + 4]));
    stl[84..].chunks(50).map(|triangle| [12, 24, 36].map(|at| point(&triangle[at..at + 12]))).collect()
}

proptest! {
    #[test]
    fn a_spec_made_of_a_grid_makes_that_grid(grid in grids()) {
        let json = export(&grid, Format::Json, "").unwrap();
        let verdict = check(&json, grid.size(), Palette::Advanced, MAX_BYTES);
        prop_assert_eq!(verdict.grid().unwrap(), &grid);
        prop_assert!(verdict.warnings().is_empty());
    }

    /// Each edge is there once in each direction, and what is inside is as much as there are blocks.
    #[test]
    fn a_printed_solid_is_watertight_and_of_the_right_volume(grid in grids()) {
        let triangles = triangles(&export(&grid, Format::Stl, "").unwrap());
        let mut edges = std::collections::HashMap::new();
        let mut volume = 0;
        for [a, b, c] in triangles {
            for edge in [(a, b), (b, c), (c, a)] {
                *edges.entry(edge).or_insert(0) += 1;
            }
            let [d, e, f] = [b[1] * c[2] - b[2] * c[1], b[2] * c[0] - b[0] * c[2], b[0] * c[1] - b[1] * c[0]];
            volume += a[0] * d + a[1] * e + a[2] * f;
        }
        for (&(a, b), &count) in &edges {
            prop_assert_eq!((count, edges.get(&(b, a))), (1, Some(&1)), "{:?} {:?}", a, b);
        }
        prop_assert_eq!(volume, 6 * 8 * grid.stats().block_count as i32);
    }

    /// Merged or not, the faces cover what the cells say.
    #[test]
    fn quads_cover_each_visible_face_once(grid in grids()) {
        let bounds = grid.stats().bounds.unwrap();
        let quads = surface::solid_quads(&grid, bounds, usize::MAX).unwrap();
        let area: usize = quads.iter().map(|quad| quad.spans().map(usize::from).iter().product::<usize>()).sum();
        let mut faces = 0;
        for (y, z, row) in grid.rows() {
            for (x, _) in row.iter().enumerate().filter(|(_, cell)| **cell != 0) {
                let [west, below, north] = [x, y, z].map(|v: usize| v.wrapping_sub(1));
                let beside = [(x + 1, y, z), (west, y, z), (x, y + 1, z), (x, below, z), (x, y, z + 1), (x, y, north)];
                faces += beside.iter().filter(|(x, y, z)| grid.get(*x, *y, *z) == 0).count();
            }
        }
        prop_assert_eq!(area, faces);
    }
}

#[test]
fn what_cannot_be_exported_says_why() {
    assert_eq!(export(&Grid::empty(GridSize::G32), Format::Glb, ""), Err(ExportError::Empty));
    let mut grid = Grid::empty(GridSize::G64);
    grid.fill_row(0, 0, 0, 49, 1);
    let refused = export(&grid, Format::Nbt, "").unwrap_err();
    assert_eq!(refused, ExportError::TooLargeForStructure([49, 1, 1]));
    assert!(refused.to_string().contains("at most 48 blocks per side, but this build is 49 by 1 by 1"));
}

#[test]
fn formats_are_known_by_their_names() {
    for format in Format::ALL {
        assert_eq!(format.name().parse(), Ok(format));
    }
    let expected = "expected one of schem, litematic, nbt, vox, glb, obj, stl, json";
    assert_eq!("gltf".parse::<Format>().unwrap_err(), expected);
}

/// A file follows from the grid and the name alone.
#[test]
fn files_are_the_same_every_time() {
    let mut grid = Grid::empty(GridSize::G32);
    grid.fill_row(3, 4, 5, 6, 1);
    for format in Format::ALL {
        assert_eq!(export(&grid, format, "row"), export(&grid, format, "row"), "{format}");
    }
}
