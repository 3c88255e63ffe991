//! The canonical encoding: each grid has one, and nothing else is accepted.

use proptest::prelude::*;
use serde_json::json;
use voxel::codec::{CompressionLevel, DecodeError, Digest, decode, encode, pack, unpack};
use voxel::{Grid, GridSize, Palette, check};

fn grid_of(spec: &serde_json::Value, size: GridSize) -> Grid {
    check(spec.to_string().as_bytes(), size, Palette::Advanced, 1 << 24).grid().unwrap().clone()
}

fn sample() -> Grid {
    let spec = json!({ "version": "1.0",
        "boxes": [
            { "x1": 2, "y1": 0, "z1": 3, "x2": 29, "y2": 0, "z2": 30, "type": "grass_block" },
            { "x1": 5, "y1": 1, "z1": 5, "x2": 20, "y2": 9, "z2": 20, "type": "stone_bricks" },
        ],
        "lines": [{ "from": { "x": 5, "y": 10, "z": 5 }, "to": { "x": 20, "y": 10, "z": 20 }, "type": "copper_block" }],
    });
    grid_of(&spec, GridSize::G32)
}

/// An encoding with its checksum corrected, so that the checks after it are reached.
fn resealed(mut encoded: Vec<u8>) -> Vec<u8> {
    let body = encoded.len().saturating_sub(4);
    encoded.truncate(body);
    let checksum = crc32fast::hash(&encoded);
    encoded.extend(checksum.to_le_bytes());
    encoded
}

fn grids() -> impl Strategy<Value = Grid> {
    let kinds = prop::sample::select(
        Palette::Advanced.blocks().iter().map(|block| block.id.as_str()).collect::<Vec<_>>(),
    );
    let a_box = (prop::array::uniform6(0..32_u32), kinds).prop_map(|([x1, y1, z1, x2, y2, z2], kind)| {
        json!({ "x1": x1, "y1": y1, "z1": z1, "x2": x2, "y2": y2, "z2": z2, "type": kind })
    });
    prop::collection::vec(a_box, 0..6)
        .prop_map(|boxes| grid_of(&json!({ "version": "1.0", "boxes": boxes }), GridSize::G32))
}

proptest! {
    #[test]
    fn encoding_round_trips(grid in grids()) {
        let encoded = encode(&grid);
        prop_assert_eq!(&decode(&encoded).unwrap(), &grid);
        for level in [CompressionLevel::Fast, CompressionLevel::Best] {
            prop_assert_eq!(&unpack(&pack(&encoded, level)).unwrap(), &encoded);
        }
    }

    #[test]
    fn damage_is_always_noticed(at in any::<prop::sample::Index>(), flip in 1..=u8::MAX) {
        let mut encoded = encode(&sample());
        let at = at.index(encoded.len());
        encoded[at] ^= flip;
        prop_assert!(decode(&encoded).is_err());
    }

    #[test]
    fn what_is_decoded_is_canonical(
        edits in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
        cut in prop::option::of(any::<prop::sample::Index>()),
    ) {
        let mut encoded = encode(&sample());
        for (at, byte) in edits {
            let at = at.index(encoded.len());
            encoded[at] = byte;
        }
        if let Some(cut) = cut {
            encoded.truncate(cut.index(encoded.len()));
        }
        let encoded = resealed(encoded);
        if let Ok(grid) = decode(&encoded) {
            prop_assert_eq!(encode(&grid), encoded);
        }
    }

    #[test]
    fn garbage_is_refused(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        prop_assert!(decode(&bytes).is_err());
        let _ = unpack(&bytes);
    }
}

#[test]
fn an_empty_grid_has_an_encoding_too() {
    let empty = Grid::empty(GridSize::G64);
    assert_eq!(decode(&encode(&empty)).unwrap(), empty);
}

#[test]
fn the_encoding_is_what_its_documentation_says() {
    let spec = json!({ "version": "1.0", "blocks": [
        { "x": 3, "y": 1, "z": 2, "type": "stone" },
        { "x": 5, "y": 1, "z": 2, "type": "glass" },
    ] });
    let mut expected = b"BOGR\x01\x20\x00\x02\x05glass\x05stone".to_vec();
    expected.extend([3, 1, 2, 2, 0, 0]); // from (3, 1, 2), 3 × 1 × 1 cells
    expected.extend([3, 0, 0, 0, 0, 0, 0]); // three runs of one cell
    expected.extend([2, 0, 1]); // stone, air, glass
    let checksum = crc32fast::hash(&expected);
    expected.extend(checksum.to_le_bytes());
    let encoded = encode(&grid_of(&spec, GridSize::G32));
    assert_eq!(encoded, expected);
    assert_eq!(Digest::of(&encoded).to_string().len(), 64);
}

#[test]
fn other_encodings_of_the_same_grid_are_refused() {
    let spec = json!({ "version": "1.0", "blocks": [{ "x": 3, "y": 1, "z": 2, "type": "stone" }] });
    let encoded = encode(&grid_of(&spec, GridSize::G32));
    let stone = encoded.windows(5).position(|bytes| bytes == b"stone").unwrap();
    let edited = |edit: &dyn Fn(&mut Vec<u8>)| {
        let mut bytes = encoded.clone();
        edit(&mut bytes);
        decode(&resealed(bytes)).unwrap_err()
    };
    assert_eq!(edited(&|bytes| bytes[4] = 2), DecodeError::Version(2));
    assert_eq!(edited(&|bytes| bytes[0] = b'X'), DecodeError::Magic);
    assert_eq!(edited(&|bytes| bytes[5] = 33), DecodeError::NotCanonical("unknown grid size"));
    assert_eq!(edited(&|bytes| bytes[stone] = b'z'), DecodeError::UnknownBlock);
    assert_eq!(
        edited(&|bytes| bytes[stone + 5] = 32),
        DecodeError::NotCanonical("the bounds reach outside the grid")
    );
    // One cell more along x, of air.
    let wider = edited(&|bytes| {
        bytes[stone + 8] = 1;
        bytes[stone + 11] = 2;
        bytes.splice(stone + 15..stone + 17, [0, 0, 1, 0]);
    });
    assert_eq!(wider, DecodeError::NotCanonical("the bounds are too wide"));
    let padded = edited(&|bytes| {
        bytes[stone + 11] = 2;
        bytes.splice(stone + 15..stone + 16, [0x80, 0]);
    });
    assert_eq!(padded, DecodeError::NotCanonical("a padded length"));
}

#[test]
fn a_compressed_bomb_is_not_unpacked() {
    let bomb = pack(&vec![0; 64 << 20], CompressionLevel::Fast);
    assert!(bomb.len() < 1 << 16);
    assert_eq!(unpack(&bomb).unwrap_err(), DecodeError::Compression);
    assert_eq!(unpack(b"no brotli").unwrap_err(), DecodeError::Compression);
}
