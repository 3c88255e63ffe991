use proptest::prelude::*;

use super::*;

fn stone() -> WorldBlock {
    WorldBlock::of("stone").unwrap()
}

/// The width and height of the box that may be skipped, or none in a cell with something in it.
fn skip(volume: &Volume, [x, y, z]: Cell) -> Option<(i32, i32)> {
    let skip = i32::from(volume.skips.at(Skips::index(x, y, z)));
    (Skips::is_full(skip) == 0).then_some((Skips::wide(skip) + 1, Skips::tall(skip) + 1))
}

#[test]
fn skips_are_the_largest_empty_boxes() {
    let mut volume = Volume::empty();
    volume.replace([17, 33, 50], stone());
    for (cell, expected) in [
        ([17, 33, 50], None),
        // Under it is one layer, over it are six.
        ([17, 32, 50], Some((16, 1))),
        ([17, 34, 50], Some((16, 2))),
        ([17, 36, 50], Some((16, 4))),
        ([17, 40, 50], Some((16, 8))),
        // Beside it, boxes are as tall as they can be.
        ([16, 33, 50], Some((1, 8))),
        ([18, 33, 50], Some((2, 8))),
        ([21, 33, 50], Some((4, 8))),
        ([25, 33, 50], Some((8, 8))),
        ([0, 0, 0], Some((16, 8))),
    ] {
        assert_eq!(skip(&volume, cell), expected, "{cell:?}");
    }
    volume.replace([17, 33, 50], WorldBlock::AIR);
    assert_eq!(skip(&volume, [17, 33, 50]), Some((16, 8)));
}

#[test]
fn a_copy_shares_what_neither_has_changed() {
    let mut one = Volume::empty();
    one.replace([1, 2, 3], stone());
    let mut other = one.clone();
    other.replace([100, 2, 3], stone());
    assert_eq!(one.block([100, 2, 3]), WorldBlock::AIR);
    assert_eq!(other.own_bytes(&one) - one.own_bytes(&one), size_of::<Section>());
}

proptest! {
    #[test]
    fn no_larger_box_is_empty_than_the_one_that_is_skipped(
        cells in prop::collection::vec((0..16_i32, 0..16_i32, 0..16_i32), 0..60),
        looked_at in prop::collection::vec((0..16_i32, 0..16_i32, 0..16_i32), 20)
    ) {
        let mut volume = Volume::empty();
        for &(x, y, z) in &cells {
            volume.replace([x, y, z], stone());
        }
        let is_empty = |(x, y, z): (i32, i32, i32), wide: i32, tall: i32| {
            let corner = [x & -wide, y & -tall, z & -wide];
            !cells.iter().any(|&(x, y, z)| {
                [x & -wide, y & -tall, z & -wide] == corner
            })
        };
        for cell in looked_at {
            let fits = |wide: i32, tall: i32| is_empty(cell, wide, tall).then_some(wide * wide * tall);
            let largest = [1, 2, 4, 8, 16].into_iter()
                .flat_map(|wide| [1, 2, 4, 8].map(|tall| fits(wide, tall)))
                .max().flatten();
            let skipped = skip(&volume, [cell.0, cell.1, cell.2]);
            prop_assert_eq!(skipped.map(|(wide, tall)| wide * wide * tall), largest);
            prop_assert!(skipped.is_none_or(|(wide, tall)| is_empty(cell, wide, tall)));
        }
    }

    #[test]
    fn the_hash_depends_on_the_blocks_and_not_on_their_history(
        cells in prop::collection::vec((0..256_i32, 0..128_i32, 0..256_i32), 1..40)
    ) {
        let (mut forward, mut backward) = (Volume::empty(), Volume::empty());
        for &(x, y, z) in &cells {
            forward.replace([x, y, z], stone());
        }
        for &(x, y, z) in cells.iter().rev() {
            backward.replace([x, y, z], WorldBlock::of("dirt").unwrap());
            backward.replace([x, y, z], stone());
        }
        prop_assert_eq!(forward.hash(), backward.hash());
        for &(x, y, z) in &cells {
            backward.replace([x, y, z], WorldBlock::AIR);
        }
        prop_assert_eq!(backward.hash(), Volume::empty().hash());
        prop_assert!(backward.skips.0.iter().all(|skip| *skip == OPEN));
    }
}
