//! Pictures: equal to the golden ones, complete from every side, and possible for any grid.

use std::{env, fs, path::PathBuf};

use serde_json::json;
use voxel::image::{Background, Picture, View, render};
use voxel::{Grid, GridSize, Palette, check};

const HOMESTEAD: &str = include_str!("../data/homestead.json");

/// If this is `write`, the golden pictures are replaced.
const SWITCH: &str = "BUILDOFF_GOLDEN";

fn grid_of(spec: &str, size: GridSize) -> Grid {
    check(spec.as_bytes(), size, Palette::Advanced, 1 << 24).grid().unwrap().clone()
}

fn one_box(corners: [u32; 6], kind: &str, size: GridSize) -> Grid {
    let [x1, y1, z1, x2, y2, z2] = corners;
    let a_box = json!({ "x1": x1, "y1": y1, "z1": z1, "x2": x2, "y2": y2, "z2": z2, "type": kind });
    grid_of(&json!({ "version": "1.0", "boxes": [a_box] }).to_string(), size)
}

fn picture(grid: &Grid, angle: u8, size: u16, background: Background) -> Picture {
    render(grid, &View::new(angle, size, background).unwrap(), 2)
}

fn alpha(picture: &Picture, x: u32, y: u32) -> u8 {
    picture.rgba[((y * picture.width + x) * 4 + 3) as usize]
}

#[test]
fn pictures_are_what_they_were() {
    let homestead = grid_of(HOMESTEAD, GridSize::G32);
    for (name, angle, background) in
        [("homestead-0-sky", 0, Background::Sky), ("homestead-3-clear", 3, Background::Transparent)]
    {
        compare(name, &picture(&homestead, angle, 96, background));
    }
}

/// Compares with a golden picture. A few pixels at edges may differ between machines, because of their arithmetic.
fn compare(name: &str, picture: &Picture) {
    let file =
        PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/data/golden").join(format!("{name}.png"));
    if env::var_os(SWITCH).is_some_and(|value| value == "write") {
        return fs::write(file, picture.png()).unwrap();
    }
    let golden = read_png(&file);
    let far = |(a, b): (&[u8; 4], &[u8; 4])| (0..4).any(|i| a[i].abs_diff(b[i]) > 12);
    let pairs = picture.rgba.as_chunks().0.iter().zip(golden.as_chunks().0);
    let (differing, all) = (pairs.filter(|pair| far(*pair)).count(), golden.len() / 4);
    assert_eq!(picture.rgba.len(), golden.len(), "{name} has another size");
    assert!(
        differing * 200 < all,
        "{name}: {differing} of {all} pixels differ; if they are meant to, run the tests with {SWITCH}=write"
    );
}

fn read_png(file: &PathBuf) -> Vec<u8> {
    let decoder = png::Decoder::new(std::io::BufReader::new(fs::File::open(file).unwrap()));
    let mut reader = decoder.read_info().unwrap();
    let mut rgba = vec![0; reader.output_buffer_size().unwrap()];
    reader.next_frame(&mut rgba).unwrap();
    rgba
}

#[test]
fn every_angle_shows_the_whole_build_at_one_scale() {
    let builds = [
        grid_of(HOMESTEAD, GridSize::G32),
        one_box([0, 0, 0, 31, 31, 31], "stone", GridSize::G32),
        one_box([0, 0, 15, 31, 1, 15], "stone", GridSize::G32),
        one_box([3, 0, 3, 3, 31, 4], "glass", GridSize::G32),
        one_box([0, 0, 0, 31, 0, 31], "oak_leaves", GridSize::G32),
        one_box([9, 9, 9, 9, 9, 9], "stone", GridSize::G32),
    ];
    for (build, grid) in builds.iter().enumerate() {
        for angle in 0..8 {
            let picture = picture(grid, angle, 96, Background::Transparent);
            let rim = (0..96).flat_map(|i| [(i, 0), (i, 95), (0, i), (95, i)]);
            assert!(
                rim.into_iter().all(|(x, y)| alpha(&picture, x, y) == 0),
                "build {build} at {angle} is cropped"
            );
            let seen = picture.rgba.as_chunks::<4>().0.iter().filter(|pixel| pixel[3] > 0).count();
            assert!(seen > 30, "build {build} at {angle}: {seen} pixels");
        }
    }
}

#[test]
fn a_build_fills_its_picture() {
    let cube = one_box([0, 0, 0, 31, 31, 31], "stone", GridSize::G32);
    let picture = picture(&cube, 0, 128, Background::Transparent);
    let rows: Vec<u32> = (0..128).filter(|&y| (0..128).any(|x| alpha(&picture, x, y) > 0)).collect();
    let (above, below) = (rows[0], 127 - rows[rows.len() - 1]);
    assert!(above.abs_diff(below) <= 4, "{above} rows free above, {below} below");
    assert!(above < 14);
}

#[test]
fn nothing_is_a_picture_too() {
    let empty = Grid::empty(GridSize::G64);
    assert!(picture(&empty, 0, 64, Background::Transparent).rgba.iter().all(|&byte| byte == 0));
    assert!(
        picture(&empty, 7, 64, Background::Sky).rgba.as_chunks::<4>().0.iter().all(|pixel| pixel[3] == 255)
    );
}

#[test]
fn a_full_grid_is_a_picture_too() {
    let full = one_box([0, 0, 0, 255, 255, 255], "tinted_glass", GridSize::G256);
    for angle in [0, 5] {
        let picture = picture(&full, angle, 64, Background::Sky);
        assert!(picture.rgba.as_chunks::<4>().0.iter().all(|pixel| pixel[3] == 255));
    }
}

#[test]
fn every_kind_of_block_can_be_seen() {
    for block in Palette::Advanced.blocks() {
        let picture =
            picture(&one_box([4, 4, 4, 4, 4, 4], &block.id, GridSize::G32), 1, 64, Background::Transparent);
        assert!(alpha(&picture, 32, 32) > 0, "{}", block.id);
    }
}

#[test]
fn threads_make_no_difference() {
    let homestead = grid_of(HOMESTEAD, GridSize::G32);
    let view = View::new(5, 64, Background::Sky).unwrap();
    let alone = render(&homestead, &view, 1);
    for threads in [0, 3, 100] {
        assert_eq!(render(&homestead, &view, threads), alone);
    }
}

#[test]
fn light_comes_from_above_and_shadows_fall() {
    // A slab high above a floor of the same block.
    let spec = json!({ "version": "1.0", "boxes": [
        { "x1": 0, "y1": 0, "z1": 0, "x2": 31, "y2": 0, "z2": 31, "type": "white_concrete" },
        { "x1": 12, "y1": 9, "z1": 12, "x2": 19, "y2": 9, "z2": 19, "type": "white_concrete" },
    ] });
    let picture = picture(&grid_of(&spec.to_string(), GridSize::G32), 0, 128, Background::Transparent);
    let solid = || picture.rgba.as_chunks::<4>().0.iter().filter(|pixel| pixel[3] == 255);
    let (bright, all) = (solid().filter(|pixel| pixel[1] > 190).count(), solid().count());
    assert!(bright * 2 > all, "{bright} of {all} pixels are bright");
    assert!((all - bright) * 30 > all, "{bright} of {all} pixels are bright: where is the shadow?");
}

#[test]
fn water_shows_what_is_under_it_but_not_its_own_inside() {
    let depth = |y: u32| one_box([0, 0, 0, 31, y, 31], "water", GridSize::G32);
    let alpha_of = |grid: Grid| alpha(&picture(&grid, 0, 64, Background::Transparent), 32, 34);
    let shallow = alpha_of(depth(1));
    assert!((120..=235).contains(&shallow), "{shallow}");
    assert_eq!(alpha_of(depth(9)), shallow, "water within water has faces");
}

#[test]
fn odd_sizes_and_angles_are_refused() {
    for (angle, size, allowed) in [(8, 512, "0 to 7"), (0, 63, "64 to 1024"), (0, 1025, "64 to 1024")] {
        let refusal = View::new(angle, size, Background::Sky).unwrap_err();
        assert!(refusal.contains(allowed), "{refusal}");
    }
}

#[test]
fn files_hold_the_picture() {
    let picture = picture(&grid_of(HOMESTEAD, GridSize::G32), 2, 64, Background::Transparent);
    let file = tempfile::NamedTempFile::new().unwrap();
    fs::write(file.path(), picture.png()).unwrap();
    assert_eq!(read_png(&file.path().to_owned()), picture.rgba);

    let webp = picture.webp();
    let mut decoder = image_webp::WebPDecoder::new(std::io::Cursor::new(&webp)).unwrap();
    let mut rgba = vec![0; decoder.output_buffer_size().unwrap()];
    decoder.read_image(&mut rgba).unwrap();
    assert_eq!(rgba, picture.rgba);
}
