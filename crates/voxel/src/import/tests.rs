use fastnbt::{ByteArray, LongArray, Value, nbt};
use proptest::{prelude::*, sample::Index};
use serde_json::json;

use crate::{Format, Grid, GridSize, Palette, RejectionCode, Report, Verdict, check, export, palette::Block};

const LIMIT: usize = 16 << 20;
const FORMATS: [Format; 3] = [Format::Schem, Format::Litematic, Format::Vox];

fn grids() -> impl Strategy<Value = (Grid, Palette)> {
    let palette = prop_oneof![Just(Palette::Simple), Just(Palette::Advanced)];
    let size = prop_oneof![Just(GridSize::G32), Just(GridSize::G64)];
    let piece = (prop::array::uniform3(any::<Index>()), 1..9_usize, any::<Index>());
    (size, palette, prop::collection::vec(piece, 1..60)).prop_map(|(size, palette, pieces)| {
        let mut grid = Grid::empty(size);
        for (at, len, kind) in pieces {
            let [x, y, z] = at.map(|at| at.index(size.get()));
            let kind = kind.index(palette.blocks().len()) as u8 + 1;
            grid.fill_row(x, y, z, len.min(size.get() - x), kind);
        }
        (grid, palette)
    })
}

/// As most tests read a file.
fn read_simple(file: &[u8]) -> Verdict {
    read(file, GridSize::G32, Palette::Simple)
}

fn read(file: &[u8], size: GridSize, palette: Palette) -> Verdict {
    check(file, size, palette, LIMIT)
}

/// A block of every kind there is, in a heap that keeps the rules.
fn sampler(palette: Palette) -> Grid {
    let mut grid = Grid::empty(GridSize::G32);
    for at in 0..20 * 20 * 6 {
        let kind = at % palette.blocks().len() + 1;
        grid.fill_row(3 + at % 20, 2 + at / 400, 5 + at / 20 % 20, 1, kind as u8);
    }
    grid
}

fn rejection(file: &[u8]) -> (RejectionCode, String) {
    let verdict = read_simple(file);
    let rejection = verdict.rejection().unwrap();
    (rejection.code, rejection.message.clone())
}

fn warnings(verdict: &Verdict) -> serde_json::Value {
    serde_json::to_value(verdict.warnings()).unwrap()
}

fn cells(verdict: &Verdict) -> serde_json::Value {
    let report = Report::new(verdict, GridSize::G32, Palette::Simple, true);
    serde_json::to_value(report).unwrap()["cells"].clone()
}

proptest! {
    #[test]
    fn what_is_exported_is_imported_as_it_was((grid, palette) in grids()) {
        for format in FORMATS {
            let verdict = read(&export(&grid, format, "x").unwrap(), grid.size(), palette);
            prop_assert_eq!(verdict.grid().unwrap(), &grid, "{}", format);
            prop_assert!(verdict.warnings().is_empty(), "{}: {:?}", format, verdict.warnings());
        }
    }

    /// Whatever is done to a file, an answer comes back.
    #[test]
    fn mutated_files_are_answered(
        (grid, palette) in grids(),
        format in 0..3_usize,
        changes in prop::collection::vec((any::<Index>(), any::<u8>(), 0..4_u8), 1..8),
    ) {
        let file = export(&grid, FORMATS[format], "x").unwrap();
        let mut bytes = inflated(&file);
        for (at, byte, how) in changes {
            let at = at.index(bytes.len());
            match how {
                0 => bytes[at] = byte,
                1 => bytes[at] ^= 1 << (byte % 8),
                2 => bytes.insert(at, byte),
                _ => bytes.truncate(at.max(16)),
            }
        }
        let verdict = read(&bytes, grid.size(), palette);
        prop_assert!(verdict.grid().is_some() || !verdict.rejection().unwrap().message.is_empty());
    }
}

fn inflated(file: &[u8]) -> Vec<u8> {
    if file.starts_with(b"VOX ") {
        return file.to_vec();
    }
    let mut bytes = Vec::new();
    std::io::Read::read_to_end(&mut flate2::read::GzDecoder::new(file), &mut bytes).unwrap();
    bytes
}

/// Cut off anywhere, packed or not.
#[test]
fn a_part_of_a_file_is_refused() {
    for format in FORMATS {
        let file = export(&sampler(Palette::Simple), format, "x").unwrap();
        let whole = inflated(&file);
        for len in (9..whole.len() - 16).step_by(whole.len() / 200 + 1) {
            let (code, message) = rejection(&whole[..len]);
            assert_eq!(code, RejectionCode::BadFile, "{format} {len}: {message}");
        }
        // What is packed may not have told yet what it is.
        for len in (9..file.len() - 16).step_by(file.len() / 100 + 1) {
            let (code, message) = rejection(&file[..len]);
            let is_known = matches!(code, RejectionCode::BadFile | RejectionCode::BadJson);
            assert!(is_known, "{format} {len}: {message}");
        }
    }
}

#[test]
fn every_block_of_a_palette_comes_back_and_the_spec_makes_the_same_grid() {
    for (palette, format) in Palette::ALL.into_iter().flat_map(|p| FORMATS.map(|format| (p, format))) {
        let grid = sampler(palette);
        let file = export(&grid, format, "x").unwrap();
        for input in [file.clone(), inflated(&file)] {
            let Verdict::Accepted { build, spec, warnings } = read(&input, GridSize::G32, palette) else {
                panic!("{format} is refused");
            };
            assert!(build.grid() == &grid && warnings.is_empty() && spec.is_none(), "{format}");
            let spec = build.write_spec(LIMIT).unwrap();
            let again = read(spec.as_bytes(), GridSize::G32, palette);
            assert!(again.grid() == Some(&grid) && again.warnings().is_empty(), "{format}");
        }
        let inside = &file[..];
        let larger = read(inside, GridSize::G64, palette);
        assert_eq!(larger.stats().unwrap().block_count, 2400, "{format}");
        // In the simple palette all of it is something else, or itself.
        let simple = read_simple(inside);
        assert_eq!(simple.stats().unwrap().block_count, 2400, "{format}");
        let known = |number: u8| Block::by_number(number).is_some() && number <= 22;
        assert!(simple.grid().unwrap().cells().iter().all(|&cell| cell == 0 || known(cell)));
    }
}

/// A version 2 schematic, which is what its blocks say from its lowest row on.
fn schem(size: [i16; 3], palette: &Value, data: &[u8]) -> Vec<u8> {
    let [width, height, length] = size;
    let data = ByteArray::new(data.iter().map(|&byte| byte as i8).collect());
    let root = nbt!({
        "Version": 2, "Width": width, "Height": height, "Length": length,
        "Palette": palette, "BlockData": data, "Entities": [{ "Id": "cow", "Pos": [1.0, 2.0, 3.0] }]
    });
    fastnbt::to_bytes(&root).unwrap()
}

fn litematic(size: [i32; 3], palette: &Value, longs: &[i64]) -> Vec<u8> {
    let [x, y, z] = size;
    let region = nbt!({
        "Position": { "x": 3, "y": 4, "z": 5 }, "Size": { "x": x, "y": y, "z": z },
        "BlockStatePalette": palette, "BlockStates": LongArray::new(longs.to_vec())
    });
    fastnbt::to_bytes(&nbt!({ "Version": 7, "Regions": { "one": region } })).unwrap()
}

#[test]
fn foreign_blocks_are_replaced_or_left_out_and_counted() {
    let palette = nbt!({
        "minecraft:air": 0, "minecraft:spruce_stairs[facing=east,half=top]": 1, "minecraft:torch": 2,
        "minecraft:oak_log[axis=x]": 3, "minecraft:spruce_stairs[facing=west]": 300, "a:brass": 5
    });
    let file = schem([4, 1, 2], &palette, &[1, 0xac, 2, 2, 3, 0, 5, 5, 1]);
    let verdict = read_simple(&file);
    assert_eq!(
        warnings(&verdict),
        json!([
            { "code": "replaced_block", "type": "spruce_stairs", "count": 3,
              "message": "spruce_stairs is not in the palette: 3 blocks were replaced with oak_planks" },
            { "code": "replaced_block", "type": "a:brass", "count": 2,
              "message": "a:brass is not in the palette: 2 blocks were replaced with stone" },
            { "code": "unknown_block", "type": "torch", "count": 1,
              "message": "torch is not a full block: 1 block was dropped" },
        ])
    );
    assert_eq!(
        cells(&verdict),
        json!([
            [14, 0, 15, "oak_planks"],
            [15, 0, 15, "oak_planks"],
            [17, 0, 15, "oak_log"],
            [15, 0, 16, "stone"],
            [16, 0, 16, "stone"],
            [17, 0, 16, "oak_planks"],
        ])
    );
}

#[test]
fn many_kinds_are_told_by_number() {
    let names =
        ["oak_stairs", "oak_slab", "oak_fence", "oak_door", "oak_trapdoor", "oak_wood", "oak_fence_gate"];
    let palette =
        names.iter().zip(0..).map(|(name, number)| (format!("minecraft:{name}"), Value::Int(number)));
    let palette = Value::Compound(palette.collect());
    let verdict = read_simple(&schem([8, 1, 1], &palette, &[0, 1, 2, 3, 4, 5, 6, 6]));
    let told = warnings(&verdict);
    assert_eq!((told.as_array().unwrap().len(), &told[0]["type"]), (6, &json!("oak_fence_gate")));
    assert_eq!(
        told[5],
        json!({ "code": "more_replaced_blocks", "kinds": 2, "count": 2,
                "message": "2 more types are not in the palette: 2 blocks were replaced with the nearest block" })
    );
}

/// Others write where in their world the build was.
#[test]
fn only_our_own_files_say_where_in_a_grid_a_build_lies() {
    let palette = nbt!({ "minecraft:stone": 0, "minecraft:air": 1 });
    let middle = [15, 0, 15];
    for (author, offset, first) in [
        ("Buildoff", vec![7, 3, 9], [7, 3, 9]),
        ("Buildoff", vec![-2, 0, 0], middle),
        ("Buildoff", vec![0, 31, 0], middle),
        ("somebody", vec![7, 3, 9], middle),
        ("", vec![7, 3, 9], middle),
    ] {
        let root = nbt!({ "Schematic": {
            "Version": 3, "Width": 3_i16, "Height": 2_i16, "Length": 2_i16,
            "Metadata": { "Name": "x", "Author": author },
            "Offset": fastnbt::IntArray::new(offset.clone()),
            "Blocks": { "Palette": (&palette), "Data": ByteArray::new(vec![0, 0, 1, 0, 0, 1, 0, 0, 1, 0, 0, 1]) }
        } });
        let verdict = read_simple(&fastnbt::to_bytes(&root).unwrap());
        let [x, y, z] = first;
        assert_eq!(cells(&verdict)[0], json!([x, y, z, "stone"]), "{author} {offset:?}");
    }
    let states = nbt!([{ "Name": "minecraft:air" }, { "Name": "minecraft:stone" }]);
    let root: Value = fastnbt::from_bytes(&litematic([1, 1, 1], &states, &[1])).unwrap();
    for (author, time, [x, y, z]) in
        [("", 0_i64, [3, 4, 5]), ("somebody", 0, middle), ("", 1_700_000_000_000, middle)]
    {
        let Value::Compound(mut root) = root.clone() else { panic!("a compound") };
        root.insert("Metadata".to_owned(), nbt!({ "Author": author, "TimeCreated": time }));
        let verdict = read_simple(&fastnbt::to_bytes(&Value::Compound(root)).unwrap());
        assert_eq!(cells(&verdict), json!([[x, y, z, "stone"]]), "{author} {time}");
    }
}

#[test]
fn no_more_blocks_are_read_than_a_spec_may_write() {
    let palette = nbt!({ "minecraft:air": 0, "minecraft:stone": 1, "minecraft:torch": 2 });
    let dense = |size: [i16; 3], kind: u8| {
        let volume = size.iter().map(|&side| side as usize).product();
        schem(size, &palette, &vec![kind; volume])
    };
    let most = "the file has more than 262144 blocks (8 times the cells of a 32³ grid)";
    let larger = "the build is larger than the 32³ grid";
    for (kind, code, told) in [
        (1, RejectionCode::DoesNotFit, larger),
        (2, RejectionCode::TooMuchWork, most),
        (0, RejectionCode::NoBlocks, "the grid contains no blocks"),
    ] {
        assert_eq!(rejection(&dense([70, 70, 70], kind)), (code, told.to_owned()), "{kind}");
    }
    let states = nbt!([{ "Name": "minecraft:stone" }]);
    let Value::Compound(mut root) =
        fastnbt::from_bytes(&litematic([32, 32, 32], &states, &[0; 1024])).unwrap()
    else {
        panic!("a compound")
    };
    let Some(Value::Compound(regions)) = root.get_mut("Regions") else { panic!("regions") };
    let one = regions["one"].clone();
    regions.extend((1..8).map(|number| (number.to_string(), one.clone())));
    let eight = Value::Compound(root.clone());
    assert_eq!(rejection(&fastnbt::to_bytes(&eight).unwrap()).0, RejectionCode::TooManyBlocks);
    let Some(Value::Compound(regions)) = root.get_mut("Regions") else { panic!("regions") };
    regions.insert("ninth".to_owned(), one);
    let nine = Value::Compound(root);
    assert_eq!(rejection(&fastnbt::to_bytes(&nine).unwrap()), (RejectionCode::TooMuchWork, most.to_owned()));
}

#[test]
fn only_blocks_that_are_there_are_looked_up_and_not_too_many() {
    let palette = |names: i32, name: fn(i32) -> String| {
        Value::Compound((0..names).map(|number| (name(number), Value::Int(number))).collect())
    };
    let varints = |numbers: i32| {
        let bytes =
            (0..numbers).flat_map(|number| [number as u8 & 0x7f | 0x80, (number >> 7) as u8 | 0x80, 0]);
        bytes.collect::<Vec<_>>()
    };
    let block: fn(i32) -> String = |number| format!("minecraft:block_{number}");
    let state: fn(i32) -> String = |number| format!("minecraft:tripwire[number={number}]");
    for (file, code) in [
        (schem([1, 1, 1], &palette(60_000, block), &[0]), RejectionCode::TooFewBlocks),
        (schem([4096, 1, 1], &palette(60_000, block), &varints(4096)), RejectionCode::DoesNotFit),
        (schem([4097, 1, 1], &palette(60_000, block), &varints(4097)), RejectionCode::TooMuchWork),
        // States of one block.
        (schem([4097, 1, 1], &palette(60_000, state), &varints(4097)), RejectionCode::NoBlocks),
    ] {
        let (refused, message) = rejection(&file);
        assert_eq!(refused, code, "{message}");
    }
}

/// A checker's board is tens of bytes a block when it is written down.
#[test]
fn a_file_is_checked_whatever_its_spec_would_weigh() {
    let palette = nbt!({ "minecraft:air": 0, "minecraft:stone": 1 });
    let data: Vec<_> = (0..32 * 32 * 32).map(|at| ((at + at / 32 + at / 1024) % 2) as u8).collect();
    let file = schem([32, 32, 32], &palette, &data);
    let Verdict::Accepted { build, spec: None, .. } = check(&file, GridSize::G32, Palette::Simple, 1 << 19)
    else {
        panic!("it is refused")
    };
    let rejection = build.write_spec(1 << 19).unwrap_err();
    assert_eq!(rejection.code, RejectionCode::TooLarge);
    assert_eq!(rejection.message, "as a spec, the build would be larger than 1 MiB");
    let spec = build.write_spec(LIMIT).unwrap();
    assert!(read_simple(spec.as_bytes()).grid() == Some(build.grid()));
}

#[test]
fn what_is_larger_than_the_grid_says_which_grid_takes_it() {
    let palette = nbt!({ "minecraft:stone": 0, "minecraft:air": 1 });
    let row = |len: usize| schem([len as i16, 1, 1], &palette, &vec![0; len]);
    for (len, told) in [
        (33, "the build is 33 wide, 1 high and 1 deep, too large for a 32³ grid: use a 64³ grid"),
        (
            300,
            "the build is 300 wide, 1 high and 1 deep, too large for a 32³ grid: no grid is large enough (the largest is 256³)",
        ),
    ] {
        assert_eq!(rejection(&row(len)), (RejectionCode::DoesNotFit, told.to_owned()));
    }
    // Empty margins do not count.
    let mut data = vec![1; 300];
    data[250] = 0;
    assert_eq!(rejection(&schem([300, 1, 1], &palette, &data)).0, RejectionCode::TooFewBlocks);
}

#[test]
fn bad_files_are_refused_with_a_reason() {
    let palette = nbt!({ "minecraft:stone": 0, "minecraft:dirt": 2 });
    let states = |names: &[&str]| nbt!(names.iter().map(|name| nbt!({ "Name": *name })).collect::<Vec<_>>());
    let two = states(&["minecraft:air", "minecraft:stone"]);
    let none = Value::List(Vec::new());
    let nbt = |value: Value| fastnbt::to_bytes(&value).unwrap();
    let schem = |size: [i16; 3], data: &[u8]| schem(size, &palette, data);
    let numbered = |palette: Value| self::schem([1, 1, 1], &palette, &[0]);
    let files = [
        (schem([2, 1, 1], &[0]), "its size is 2 by 1 by 1 cells, but its data has a different number"),
        (schem([1, 1, 1], &[0; 9]), "its size is 1 by 1 by 1 cells, but its data has a different number"),
        (schem([2, 1, 1], &[0, 0, 0]), "it has more cells than its size says"),
        (schem([2, 1, 1], &[0, 0x80]), "its block data ends unexpectedly"),
        (
            schem([1, 1, 2], &[128, 128, 128, 128, 128, 1]),
            "a number in its block data is longer than 5 bytes",
        ),
        (schem([1, 1, 1], &[255, 255, 255, 255, 127]), "a number in its block data has more than 32 bits"),
        (schem([1, 1, 1], &[1]), "a cell uses palette entry 1, which does not exist"),
        (schem([1, 1, 1], &[3]), "a cell uses palette entry 3, which does not exist"),
        (schem([0, 1, 1], &[]), "its size is 0 by 1 by 1 cells: it is empty"),
        (numbered(nbt!({ "a": -1 })), "its palette has a number outside 0 to 65535"),
        (numbered(nbt!({ "a": i32::MAX })), "its palette has a number outside 0 to 65535"),
        (numbered(nbt!({ ("x".repeat(257)): 0 })), "a block name is longer than 256 bytes"),
        (nbt(nbt!({ "Schematic": {} })), "it has no Width, Height or Length"),
        (nbt(nbt!({ "Schematic": { "Width": 1, "Height": 1, "Length": 1 } })), "it has no Palette"),
        (nbt(nbt!({ "level": 1 })), "it is neither a .schem nor a .litematic"),
        (nbt(nbt!({ "Regions": {} })), "it has no regions"),
        (litematic([1, 1, 1], &none, &[0]), "a region uses palette entry 0, which does not exist"),
        (litematic([-2, 1, 1], &two, &[0b1101]), "a region uses palette entry 3, which does not exist"),
        (litematic([1, 1, 1], &nbt!([{ "name": "stone" }]), &[0]), "a palette entry has no Name"),
    ];
    let other_size = |size: &str| format!("its size is {size} cells, but its data has a different number");
    let other_format = |is: &str| format!("it is {is}: save it as a .schem or a .litematic");
    let no_data = "a region has no Position, Size, BlockStatePalette or BlockStates".to_owned();
    let more_files = [
        (litematic([-40, 1, 1], &two, &[0]), other_size("40 by 1 by 1")),
        (litematic([4, 1, 1], &two, &[0, 0]), other_size("4 by 1 by 1")),
        (nbt(nbt!({ "Materials": "Alpha" })), other_format("a schematic from before Minecraft 1.13")),
        (nbt(nbt!({ "palette": [] })), other_format("a structure block file")),
        (nbt(nbt!({ "Regions": { "a": {} } })), no_data),
    ];
    for (file, told) in files.map(|(file, told)| (file, told.to_owned())).into_iter().chain(more_files) {
        assert_eq!(rejection(&file), (RejectionCode::BadFile, format!("the file cannot be read: {told}")));
    }
}

#[test]
fn more_cells_than_anybody_reads_are_not_walked_over() {
    let palette = nbt!({ "minecraft:stone": 0 });
    let states = nbt!([{ "Name": "minecraft:air" }]);
    for file in [
        schem([-1, -1, -1], &palette, &[0]),
        litematic([i32::MIN, i32::MIN, i32::MAX], &states, &[0]),
        litematic([1024, 1024, 1024], &states, &[0]),
    ] {
        let (code, message) = rejection(&file);
        assert!(message.ends_with("but at most 134217728 are allowed"), "{message}");
        assert_eq!(code, RejectionCode::TooMuchWork);
    }
}

#[test]
fn bombs_stop_at_the_limit() {
    use std::io::Write;
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    packed.write_all(b"\x0a\0\0").unwrap();
    packed.write_all(&vec![0; 2 * LIMIT]).unwrap();
    let (code, message) = rejection(&packed.finish().unwrap());
    assert_eq!((code, &*message), (RejectionCode::TooLarge, "the input is larger than 16 MiB"));
}
