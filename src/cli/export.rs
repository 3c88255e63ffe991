//! `buildoff export`: a build as a file for other tools.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, bail};

use crate::config::Config;
use crate::voxel::{self, Format, GridSize, Palette};

#[derive(clap::Args)]
pub(super) struct Arguments {
    /// A spec, plain or gzipped, or a .schem, .litematic or .vox; `-` reads standard input.
    file: PathBuf,
    /// schem, litematic, nbt, vox, glb, obj (a zip), stl or json.
    #[arg(long)]
    format: Format,
    /// Where to write; without it, here, by the spec's name.
    #[arg(short, long)]
    out: Option<PathBuf>,
    /// 32, 64, 128 or 256.
    #[arg(long, default_value = "32")]
    grid: GridSize,
    /// simple or advanced.
    #[arg(long, default_value = "simple")]
    palette: Palette,
}

/// Exports what breaks the rules too, as `render` draws it.
pub(super) fn run(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    let Arguments { file, format, out, grid, palette } = arguments;
    let limit = Config::load_import_max_bytes()?;
    let input = super::check::read(file, limit)?;
    let verdict = voxel::check(&input, *grid, *palette, limit);
    let Some(grid) = verdict.grid() else {
        bail!("{}: {}", file.display(), verdict.refusal().map_or("", |refusal| &refusal.message));
    };
    if let Some(refusal) = verdict.refusal() {
        eprintln!("note: as a build it would be rejected: {refusal}");
    }
    let out = out.clone().unwrap_or_else(|| beside(file, *format));
    let bytes = voxel::export(grid, *format, &stem(&out))?;
    if out == *file {
        bail!("{} would be overwritten: say where to write with -o", file.display());
    }
    fs::write(&out, bytes).with_context(|| format!("cannot write {}", out.display()))?;
    Ok(ExitCode::SUCCESS)
}

fn beside(file: &Path, format: Format) -> PathBuf {
    let name = if file == Path::new("-") { "build".to_owned() } else { stem(file) };
    format!("{name}.{}", format.extension()).into()
}

/// A file's name without what follows the first dot.
fn stem(file: &Path) -> String {
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    name.split('.').find(|part| !part.is_empty()).unwrap_or("build").to_owned()
}
