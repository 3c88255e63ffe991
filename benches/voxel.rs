//! Benchmarks of reading specs, encoding grids, drawing pictures and writing files.
//!
//! `cargo bench` uses builds that are made here, and NAME.json.gz in the folder `$BUILDOFF_SAMPLES`.

#![allow(clippy::expect_used)]

use std::{fmt::Write as _, fs, io::Read, path::PathBuf, sync::LazyLock};

use divan::{Bencher, black_box, counter::BytesCount};
use voxel::codec::{CompressionLevel, decode, encode, pack, unpack};
use voxel::image::{Background, View, render};
use voxel::{Format, GridSize, Palette, Verdict, check, export};

/// A spec with its grid and palette.
struct BenchSample {
    name: &'static str,
    text: String,
    size: GridSize,
    palette: Palette,
}

static SAMPLES: LazyLock<Vec<BenchSample>> = LazyLock::new(|| {
    let mut samples = vec![
        sample("solid256", solid256(), GridSize::G256, Palette::Simple),
        sample("noise128", noise128(), GridSize::G128, Palette::Simple),
        sample("checker64", checker64(), GridSize::G64, Palette::Simple),
        sample("homestead", HOMESTEAD.to_owned(), GridSize::G32, Palette::Advanced),
    ];
    for name in ["castle", "terrain256", "city256", "duck"] {
        match read_sample(name) {
            Some(text) => samples.push(sample(name, text, GridSize::G256, Palette::Advanced)),
            None => eprintln!("{name}: skipped, not in $BUILDOFF_SAMPLES"),
        }
    }
    samples
});

const SAMPLE_NAMES: [&str; 7] =
    ["solid256", "noise128", "checker64", "castle", "terrain256", "city256", "duck"];

/// A build of usual size with boxes, lines and blocks.
const HOMESTEAD: &str = include_str!("../crates/voxel/tests/data/homestead.json");

fn main() {
    sizes();
    divan::main();
}

/// From text to verdict, as in an import.
#[divan::bench(args = SAMPLE_NAMES, sample_count = 10)]
fn parse_expand_rules(bencher: Bencher<'_, '_>, name: &str) {
    let Some(sample) = find(name) else { return };
    bencher.counter(BytesCount::of_str(&sample.text)).bench(|| check_sample(black_box(sample)));
}

#[divan::bench(args = SAMPLE_NAMES, sample_count = 10)]
fn encode_quick(bencher: Bencher<'_, '_>, name: &str) {
    let Some(sample) = find(name) else { return };
    let verdict = check_sample(sample);
    let grid = verdict.grid().expect("a grid");
    bencher.bench(|| pack(&encode(black_box(grid)), CompressionLevel::Fast));
}

#[divan::bench(args = SAMPLE_NAMES, sample_count = 10)]
fn unpack_decode(bencher: Bencher<'_, '_>, name: &str) {
    let Some(sample) = find(name) else { return };
    let packed = pack(&encode(check_sample(sample).grid().expect("a grid")), CompressionLevel::Fast);
    bencher.bench(|| decode(&unpack(black_box(&packed)).expect("brotli")).expect("a grid"));
}

/// 512 pixels per side, on two threads.
#[divan::bench(args = ["homestead", "castle", "city256", "duck", "checker64"], sample_count = 10)]
fn picture(bencher: Bencher<'_, '_>, name: &str) {
    let Some(sample) = find(name) else { return };
    let verdict = check_sample(sample);
    let grid = verdict.grid().expect("a grid");
    let view = View::new(0, 512, Background::Sky).expect("a view");
    bencher.bench(|| render(black_box(grid), &view, 2));
}

#[divan::bench(args = ["castle", "terrain256"], sample_count = 10)]
fn export_schem(bencher: Bencher<'_, '_>, name: &str) {
    bench_export(bencher, name, Format::Schem);
}

#[divan::bench(args = ["castle", "terrain256"], sample_count = 10)]
fn export_glb(bencher: Bencher<'_, '_>, name: &str) {
    bench_export(bencher, name, Format::Glb);
}

#[divan::bench(args = ["castle", "terrain256"], sample_count = 10)]
fn export_stl(bencher: Bencher<'_, '_>, name: &str) {
    bench_export(bencher, name, Format::Stl);
}

fn bench_export(bencher: Bencher<'_, '_>, name: &str, format: Format) {
    let Some(sample) = find(name) else { return };
    let verdict = check_sample(sample);
    let grid = verdict.grid().expect("a grid");
    bencher.bench(|| export(black_box(grid), format, name));
}

#[divan::bench(args = ["castle"], sample_count = 10)]
fn import_schem(bencher: Bencher<'_, '_>, name: &str) {
    bench_import(bencher, name, Format::Schem);
}

#[divan::bench(args = ["castle"], sample_count = 10)]
fn import_litematic(bencher: Bencher<'_, '_>, name: &str) {
    bench_import(bencher, name, Format::Litematic);
}

#[divan::bench(args = ["castle"], sample_count = 10)]
fn import_vox(bencher: Bencher<'_, '_>, name: &str) {
    bench_import(bencher, name, Format::Vox);
}

/// From our own export to verdict.
fn bench_import(bencher: Bencher<'_, '_>, name: &str, format: Format) {
    let Some(sample) = find(name) else { return };
    let file = export(check_sample(sample).grid().expect("a grid"), format, name).expect("a file");
    bencher.bench(|| check(black_box(&file), sample.size, sample.palette, 256 << 20));
}

fn sizes() {
    println!("bytes of encoded grids      canonical      quick       best");
    for sample in SAMPLES.iter().filter(|sample| sample.name != "noise128") {
        let encoded = encode(check_sample(sample).grid().expect("a grid"));
        let (quick, best) =
            (pack(&encoded, CompressionLevel::Fast).len(), pack(&encoded, CompressionLevel::Best).len());
        println!("  {:24} {:>11} {quick:>10} {best:>10}", sample.name, encoded.len());
    }
    println!("bytes of exports");
    for sample in SAMPLES.iter().filter(|sample| sample.name != "noise128") {
        let verdict = check_sample(sample);
        let grid = verdict.grid().expect("a grid");
        let sizes = Format::ALL.map(|format| match export(grid, format, sample.name) {
            Ok(file) => format!("{format} {}", file.len()),
            Err(_) => format!("{format} none"),
        });
        println!("  {:24} {}", sample.name, sizes.join(", "));
    }
}

fn check_sample(sample: &BenchSample) -> Verdict {
    check(sample.text.as_bytes(), sample.size, sample.palette, 256 << 20)
}

fn find(name: &str) -> Option<&'static BenchSample> {
    SAMPLES.iter().find(|sample| sample.name == name)
}

fn sample(name: &'static str, text: String, size: GridSize, palette: Palette) -> BenchSample {
    BenchSample { name, text, size, palette }
}

fn read_sample(name: &str) -> Option<String> {
    let folder = PathBuf::from(std::env::var_os("BUILDOFF_SAMPLES")?);
    let file = fs::File::open(folder.join(format!("{name}.json.gz"))).ok()?;
    let mut text = String::new();
    flate2::read::GzDecoder::new(file).read_to_string(&mut text).ok()?;
    Some(text)
}

fn solid256() -> String {
    r#"{"version":"1.0","boxes":[{"x1":0,"y1":0,"z1":0,"x2":255,"y2":255,"z2":255,"type":"stone"}]}"#
        .to_owned()
}

/// Random blocks at random positions, which do not compress.
fn noise128() -> String {
    let mut state = 7_u32;
    let mut next = move |below: u32| {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        state % below
    };
    let kinds = Palette::Simple.blocks();
    let places =
        (0..1_000_000).map(|_| ([next(128), next(128), next(128)], next(kinds.len() as u32) as usize));
    blocks(places.map(|(at, kind)| (at, kinds[kind].id.as_str())))
}

fn checker64() -> String {
    let places = (0..64 * 64 * 64).map(|i| [i % 64, i / 64 / 64, i / 64 % 64]);
    blocks(places.filter(|[x, y, z]| (x + y + z) % 2 == 0).map(|at| (at, "stone")))
}

fn blocks<'a>(blocks: impl Iterator<Item = ([u32; 3], &'a str)>) -> String {
    let mut text = String::from(r#"{"version":"1.0","blocks":["#);
    for (i, ([x, y, z], kind)) in blocks.enumerate() {
        let comma = if i == 0 { "" } else { "," };
        let _ = write!(text, r#"{comma}{{"x":{x},"y":{y},"z":{z},"type":"{kind}"}}"#);
    }
    text + "]}"
}
