//! `buildoff render`, `contact-sheet` and `textures`: pictures in files.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::thread;

use anyhow::{Context, bail};
use indicatif::ProgressBar;

use super::input::{BuildArgs, GridArgs};
use voxel::Grid;
use voxel::image::{self, Background, Picture, View};
use voxel::textures::Textures;
use voxel::turntable::{Animation, Turntable};

#[derive(clap::Args)]
pub(super) struct RenderArgs {
    #[command(flatten)]
    build: BuildArgs,
    /// Output file: .png for a picture, .gif or .webp for an animation of one turn. With --angle, --size or
    /// --transparent, .webp is a picture, too.
    #[arg(short, long, value_name = "FILE")]
    out: PathBuf,
    /// Side to look from, 0 to 7 [default: 0].
    #[arg(long)]
    angle: Option<u8>,
    /// Pixels per side, 64 to 1024 [default: 512].
    #[arg(long, value_name = "PIXELS")]
    size: Option<u16>,
    /// Leave out the sky.
    #[arg(long)]
    transparent: bool,
}

pub(super) fn run(arguments: &RenderArgs) -> anyhow::Result<ExitCode> {
    let RenderArgs { build, out, angle, size, transparent } = arguments;
    let background = if *transparent { Background::Transparent } else { Background::Sky };
    let view = View::new(angle.unwrap_or(0), size.unwrap_or(512), background).map_err(anyhow::Error::msg)?;
    let is_still = angle.is_some() || size.is_some() || *transparent;
    let animation = animation(out, is_still)?;
    let grid = &build.read_grid()?;
    let threads = thread::available_parallelism().map_or(1, usize::from);
    match animation {
        None => write(&image::render(grid, &view, threads), out),
        Some(animation) => save(draw_turntable(grid, animation, threads)?, out),
    }
}

/// The kind of animation that the name of the output file asks for; none for a picture.
fn animation(out: &Path, is_still: bool) -> anyhow::Result<Option<Animation>> {
    match (ending(out).as_str(), is_still) {
        ("gif", true) => {
            bail!("a .gif is always an animation: remove --angle, --size and --transparent")
        }
        ("gif", false) => Ok(Some(Animation::Gif)),
        ("webp", false) => Ok(Some(Animation::Webp)),
        ("png" | "webp", _) => Ok(None),
        _ => bail!("cannot write {}: the name must end in .png, .webp or .gif", out.display()),
    }
}

fn draw_turntable(grid: &Grid, animation: Animation, threads: usize) -> anyhow::Result<Vec<u8>> {
    let bar = ProgressBar::new(Turntable::FRAMES.into());
    let mut turntable = Turntable::new(animation);
    while !turntable.is_whole() {
        turntable.draw(grid, threads)?;
        bar.inc(1);
    }
    bar.finish_and_clear();
    Ok(turntable.finish()?)
}

#[derive(clap::Args)]
pub(super) struct ContactSheetArgs {
    /// Builds, in files and folders.
    #[arg(required = true)]
    files: Vec<PathBuf>,
    /// Output file, .png or .webp.
    #[arg(short, long, value_name = "FILE", default_value = "contact-sheet.webp")]
    out: PathBuf,
    #[command(flatten)]
    settings: GridArgs,
    /// Builds per row.
    #[arg(long, default_value_t = 4)]
    columns: usize,
    /// Draw each build from four sides, one build per row.
    #[arg(long)]
    sides: bool,
    /// Pixels per side of each picture, 64 to 1024.
    #[arg(long, value_name = "PIXELS", default_value_t = 256)]
    size: u16,
}

/// The most builds on one sheet.
const MAX_SHEET_BUILDS: usize = 1000;

pub(super) fn contact_sheet(arguments: &ContactSheetArgs) -> anyhow::Result<ExitCode> {
    let ContactSheetArgs { files, out, settings, columns, sides, size } = arguments;
    let mut all = Vec::new();
    for path in files {
        collect_files(path, 4, &mut all)?;
    }
    anyhow::ensure!(
        (1..=MAX_SHEET_BUILDS).contains(&all.len()),
        "a contact sheet shows 1 to {MAX_SHEET_BUILDS} builds, but there are {}",
        all.len()
    );
    let threads = thread::available_parallelism().map_or(1, usize::from);
    let angles: &[u8] = if *sides { &[0, 2, 4, 6] } else { &[0] };
    let mut pictures = Vec::new();
    for file in &all {
        let grid = settings.read_grid(file)?;
        for angle in angles {
            let view = View::new(*angle, *size, Background::Sky).map_err(anyhow::Error::msg)?;
            pictures.push(image::render(&grid, &view, threads));
        }
    }
    write(&Picture::sheet(&pictures, if *sides { angles.len() } else { *columns }), out)
}

fn collect_files(path: &Path, depth: usize, files: &mut Vec<PathBuf>) -> anyhow::Result<()> {
    if !path.is_dir() {
        files.push(path.to_owned());
        return Ok(());
    }
    let entries = fs::read_dir(path).with_context(|| format!("cannot read {}", path.display()))?;
    let mut inside = entries.map(|entry| Ok(entry?.path())).collect::<anyhow::Result<Vec<_>>>()?;
    inside.sort();
    for path in inside.iter().filter(|_| depth > 0) {
        collect_files(path, depth - 1, files)?;
    }
    Ok(())
}

#[derive(clap::Args)]
pub(super) struct TexturesArgs {
    /// Output file, .png or .webp.
    #[arg(short, long, value_name = "FILE", default_value = "textures.png")]
    out: PathBuf,
}

pub(super) fn textures(arguments: &TexturesArgs) -> anyhow::Result<ExitCode> {
    write(&Textures::get().sheet(), &arguments.out)
}

fn write(picture: &Picture, out: &Path) -> anyhow::Result<ExitCode> {
    let bytes = match ending(out).as_str() {
        "png" => picture.png(),
        "webp" => picture.webp(),
        _ => bail!("cannot write {}: the name must end in .png or .webp", out.display()),
    };
    save(bytes, out)
}

fn ending(out: &Path) -> String {
    out.extension().map(|end| end.to_string_lossy().to_ascii_lowercase()).unwrap_or_default()
}

fn save(bytes: Vec<u8>, out: &Path) -> anyhow::Result<ExitCode> {
    fs::write(out, bytes).with_context(|| format!("cannot write {}", out.display()))?;
    Ok(ExitCode::SUCCESS)
}
