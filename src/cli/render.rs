//! `buildoff render` and `buildoff textures`: pictures in files.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::thread;

use anyhow::{Context, bail};
use indicatif::ProgressBar;

use crate::config::Config;
use voxel::image::{self, Background, Picture, View};
use voxel::textures::Textures;
use voxel::turntable::{Animation, Turntable};
use voxel::{self, Grid, GridSize, Palette};

#[derive(clap::Args)]
pub(super) struct RenderArgs {
    /// A spec, plain or gzipped, or a .schem, .litematic or .vox; `-` reads standard input.
    file: PathBuf,
    /// Where to write: a .png, or a .webp or .gif in which the build turns once around. With an angle, a size or no
    /// sky, a .webp is a still picture, too.
    #[arg(short, long)]
    out: PathBuf,
    /// 32, 64, 128 or 256.
    #[arg(long, default_value = "32")]
    grid: GridSize,
    /// simple or advanced.
    #[arg(long, default_value = "simple")]
    palette: Palette,
    /// From which side, 0 to 7; 0 unless said.
    #[arg(long)]
    angle: Option<u8>,
    /// Pixels a side, 64 to 1024; 512 unless said.
    #[arg(long)]
    size: Option<u16>,
    /// Leave out the sky.
    #[arg(long)]
    transparent: bool,
}

/// Draws what breaks the rules too: it may be what one wants to see.
pub(super) fn run(arguments: &RenderArgs) -> anyhow::Result<ExitCode> {
    let RenderArgs { file, out, grid, palette, angle, size, transparent } = arguments;
    let limit = Config::load_import_max_bytes()?;
    let background = if *transparent { Background::Transparent } else { Background::Sky };
    let view = View::new(angle.unwrap_or(0), size.unwrap_or(512), background).map_err(anyhow::Error::msg)?;
    let is_still = angle.is_some() || size.is_some() || *transparent;
    let animation = animation(out, is_still)?;
    let input = super::check::read(file, limit)?;
    let verdict = voxel::check(&input, *grid, *palette, limit);
    let Some(grid) = verdict.grid() else {
        bail!("{}: {}", file.display(), verdict.rejection().map_or("", |rejection| &rejection.message));
    };
    if let Some(rejection) = verdict.rejection() {
        eprintln!("note: as a build it would be rejected: {rejection}");
    }
    let threads = thread::available_parallelism().map_or(1, usize::from);
    match animation {
        None => write(&image::render(grid, &view, threads), out),
        Some(animation) => save(draw_turntable(grid, animation, threads)?, out),
    }
}

/// What the picture's name asks for, if it is to move.
fn animation(out: &Path, is_still: bool) -> anyhow::Result<Option<Animation>> {
    match (ending(out).as_str(), is_still) {
        ("gif", true) => {
            bail!("a .gif turns: it has no angle or size of your own, and always a backdrop")
        }
        ("gif", false) => Ok(Some(Animation::Gif)),
        ("webp", false) => Ok(Some(Animation::Webp)),
        ("png" | "webp", _) => Ok(None),
        _ => bail!("{} is no .png, .webp or .gif", out.display()),
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
    /// Specs, plain or gzipped, and folders of them.
    #[arg(required = true)]
    files: Vec<PathBuf>,
    /// Where to write: a .png or a .webp.
    #[arg(short, long, default_value = "contact-sheet.webp")]
    out: PathBuf,
    /// 32, 64, 128 or 256.
    #[arg(long, default_value = "32")]
    grid: GridSize,
    /// simple or advanced.
    #[arg(long, default_value = "simple")]
    palette: Palette,
    /// So many in a row.
    #[arg(long, default_value_t = 4)]
    columns: usize,
    /// Each from four sides, a row for each.
    #[arg(long)]
    sides: bool,
    /// Pixels a side of each, 64 to 1024.
    #[arg(long, default_value_t = 256)]
    size: u16,
}

/// No sheet shows more.
const MAX_SHEET_BUILDS: usize = 1000;

pub(super) fn contact_sheet(arguments: &ContactSheetArgs) -> anyhow::Result<ExitCode> {
    let ContactSheetArgs { files, out, grid, palette, columns, sides, size } = arguments;
    let limit = Config::load_import_max_bytes()?;
    let mut all = Vec::new();
    for path in files {
        collect_files(path, 4, &mut all)?;
    }
    anyhow::ensure!(
        (1..=MAX_SHEET_BUILDS).contains(&all.len()),
        "a sheet shows 1 to {MAX_SHEET_BUILDS} builds, not {}",
        all.len()
    );
    let threads = thread::available_parallelism().map_or(1, usize::from);
    let angles: &[u8] = if *sides { &[0, 2, 4, 6] } else { &[0] };
    let mut pictures = Vec::new();
    for file in &all {
        let verdict = voxel::check(&super::check::read(file, limit)?, *grid, *palette, limit);
        let Some(grid) = verdict.grid() else {
            bail!("{}: {}", file.display(), verdict.rejection().map_or("", |rejection| &rejection.message));
        };
        for angle in angles {
            let view = View::new(*angle, *size, Background::Sky).map_err(anyhow::Error::msg)?;
            pictures.push(image::render(grid, &view, threads));
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
    /// Where to write: a .png or a .webp.
    #[arg(short, long, default_value = "textures.png")]
    out: PathBuf,
}

pub(super) fn textures(arguments: &TexturesArgs) -> anyhow::Result<ExitCode> {
    write(&Textures::get().sheet(), &arguments.out)
}

fn write(picture: &Picture, out: &Path) -> anyhow::Result<ExitCode> {
    let bytes = match ending(out).as_str() {
        "png" => picture.png(),
        "webp" => picture.webp(),
        _ => bail!("{} is neither a .png nor a .webp", out.display()),
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
