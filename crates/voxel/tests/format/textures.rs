//! Tiles: every block has them, they do not change, and they fit together.

use sha2::{Digest as _, Sha256};
use voxel::codec::{CompressionLevel, pack};
use voxel::textures::{Face, Textures, Tile, variant_hash};
use voxel::{Block, Palette, RenderClass};

/// The SHA-256 of all tiles, row after row.
const DIGEST: &str = "df29ccccc9298d725d364792d8478c4d8969009ab46a88b32e8d5d90cc7bc829";

/// Blocks whose tiles must fit together without visible edges.
const SEAMLESS: [&str; 26] = [
    "stone",
    "dirt",
    "sand",
    "cobblestone",
    "water",
    "lava",
    "oak_leaves",
    "flowering_azalea_leaves",
    "white_wool",
    "red_wool",
    "gravel",
    "clay",
    "snow",
    "moss_block",
    "netherrack",
    "soul_sand",
    "obsidian",
    "granite",
    "diorite",
    "andesite",
    "terracotta",
    "white_concrete",
    "prismarine",
    "packed_ice",
    "oak_planks",
    "oak_log",
];

fn numbered() -> impl Iterator<Item = (u8, &'static Block)> {
    (1..).zip(Palette::Advanced.blocks())
}

fn tiles(face: Face) -> &'static [Tile] {
    &Textures::get().tiles()[usize::from(face.first)..][..usize::from(face.variants)]
}

#[test]
fn tiles_are_what_they_were() {
    let digest = hex::encode(Sha256::digest(Textures::get().bytes()));
    assert_eq!(
        digest, DIGEST,
        "tiles look different: if they are meant to, put the new digest into this file"
    );
}

#[test]
fn every_block_has_tiles_with_something_on_them() {
    for (number, block) in numbered() {
        for face in Textures::get().faces(number).unwrap() {
            assert!(face.variants > 0, "{}", block.id);
            for tile in tiles(face) {
                let colours: std::collections::HashSet<_> = tile.0.iter().collect();
                assert!(colours.len() > 1, "{} has a blank tile", block.id);
            }
        }
    }
    assert_eq!(Textures::get().faces(0), None);
    assert_eq!(Textures::get().faces(255), None);
}

#[test]
fn tiles_cover_as_their_class_says() {
    for (number, block) in numbered() {
        for tile in Textures::get().faces(number).unwrap().into_iter().flat_map(tiles) {
            let alphas = || tile.0.iter().map(|texel| texel[3]);
            let holes = alphas().filter(|&alpha| alpha == 0).count();
            let fits = match block.class {
                RenderClass::Opaque | RenderClass::Emissive => alphas().all(|alpha| alpha == 255),
                RenderClass::Cutout => alphas().all(|a| a == 0 || a == 255) && (16..=80).contains(&holes),
                RenderClass::Transparent | RenderClass::Liquid => {
                    alphas().all(|a| a > 0) && alphas().any(|a| a < 255)
                }
            };
            assert!(fits, "{} is {:?}", block.id, block.class);
        }
    }
}

#[test]
fn seamless_tiles_show_no_edge() {
    for id in SEAMLESS {
        let number = Palette::Advanced.find(id).unwrap();
        let [top, side, _] = Textures::get().faces(number).unwrap();
        for face in [top, side] {
            for (left, right) in tiles(face).iter().flat_map(|a| tiles(face).iter().map(move |b| (a, b))) {
                let (seam, inside) = contrasts(left, right);
                assert!(seam <= 1.1 * inside + 1.0, "{id}: {seam:.1} at the edge, {inside:.1} inside");
            }
        }
    }
}

/// The mean difference between neighbouring columns where two tiles meet, and the largest such difference inside them.
fn contrasts(left: &Tile, right: &Tile) -> (f32, f32) {
    let texel = |x: usize, y: usize| {
        if x < 16 { left.0[y * 16 + x] } else { right.0[y * 16 + x - 16] }
    };
    let step = |x: usize| {
        let differences = (0..16).flat_map(|y| (0..4).map(move |part| (y, part)));
        let sum: u32 =
            differences.map(|(y, part)| u32::from(texel(x, y)[part].abs_diff(texel(x + 1, y)[part]))).sum();
        sum as f32 / 64.0
    };
    let inside = (0..31).filter(|&x| x != 15).map(step);
    (step(15), inside.fold(0.0, f32::max))
}

#[test]
fn all_tiles_are_few_and_small_on_the_wire() {
    let textures = Textures::get();
    assert!(textures.tiles().len() <= 160);
    assert_eq!(textures.bytes().len(), textures.tiles().len() * 16 * 16 * 4);
    assert!(pack(&textures.bytes(), CompressionLevel::Best).len() <= 30 << 10);
}

#[test]
fn the_sheet_holds_every_tile() {
    let sheet = Textures::get().sheet();
    assert_eq!(sheet.rgba.len(), (sheet.width * sheet.height * 4) as usize);
    assert_eq!(sheet.rgba[..64], *Textures::get().tiles()[0].0[..16].as_flattened());
    assert!(sheet.height / 16 * (sheet.width / 16) >= Textures::get().tiles().len() as u32);
}

/// The shader of the viewer has the same function and the same values.
#[test]
fn variants_are_picked_as_documented() {
    let table = [
        ([0, 0, 0], 0),
        ([1, 0, 0], 2_283_478_413),
        ([0, 1, 0], 83_200_261),
        ([0, 0, 1], 1_859_645_053),
        ([255, 17, 128], 1_815_994_372),
    ];
    let found = table.map(|(cell, _)| (cell, variant_hash(cell)));
    assert_eq!(found, table);
}

#[test]
fn variants_are_mixed_evenly() {
    for variants in 2..=4 {
        let mut counts = vec![0_u32; variants as usize];
        for i in 0..32 * 32 {
            counts[(variant_hash([i % 32, 3, i / 32]) % variants) as usize] += 1;
        }
        let fair = 32 * 32 / variants;
        assert!(counts.iter().all(|&count| count.abs_diff(fair) < fair / 5), "{counts:?}");
    }
}

#[test]
fn averages_are_of_the_tiles() {
    let of = |id: &str| {
        let number = Palette::Advanced.find(id).unwrap();
        Textures::get().averages(number).unwrap()
    };
    let [top, side, bottom] = of("grass_block");
    assert!(top[1] > top[0] && side[0] > side[1] && bottom[0] > bottom[1], "green above, brown below");
    assert_eq!(top[3], 1.0);
    assert!(of("glass")[0][3] < 0.5);
    assert!(of("white_wool")[0][0] > of("black_wool")[0][0]);
}
