//! `buildoff export`: a build as a file for other tools.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, bail};

use crate::config::Config;
use voxel::{self, Format, GridSize, Palette};

#[derive(clap::Args)]
pub(super) struct ExportArgs {
    /// A spec, plain or gzipped, or a .schem, .litematic or .vox; `-` reads standard input.
    file: PathBuf,
    /// schem, litematic, nbt, vox, glb, obj (a zip), stl or json; where it is not said, what the name to write to ends
    /// in.
    #[arg(long)]
    format: Option<Format>,
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
pub(super) fn run(arguments: &ExportArgs) -> anyhow::Result<ExitCode> {
    let ExportArgs { file, format, out, grid, palette } = arguments;
    let limit = Config::load_import_max_bytes()?;
    let format = match format {
        Some(format) => *format,
        None => format_from_name(out.as_deref())?,
    };
    let out = out.clone().unwrap_or_else(|| default_output(file, format));
    if is_same_file(file, &out) {
        bail!("{} would be overwritten: say where to write with -o", file.display());
    }
    let input = super::check::read(file, limit)?;
    let verdict = voxel::check(&input, *grid, *palette, limit);
    let Some(grid) = verdict.grid() else {
        bail!("{}: {}", file.display(), verdict.rejection().map_or("", |rejection| &rejection.message));
    };
    if let Some(rejection) = verdict.rejection() {
        eprintln!("note: as a build it would be rejected: {rejection}");
    }
    let bytes = voxel::export(grid, format, &stem(&out))?;
    write(&out, &bytes).with_context(|| format!("cannot write {}", out.display()))?;
    Ok(ExitCode::SUCCESS)
}

fn format_from_name(out: Option<&Path>) -> anyhow::Result<Format> {
    let ending = out.and_then(Path::extension).map(|end| end.to_string_lossy().to_ascii_lowercase());
    let named = |format: &Format| Some(format.extension()) == ending.as_deref();
    Format::ALL
        .into_iter()
        .find(named)
        .context("say what to write with --format, or by a name that ends in it")
}

/// Whether both lead to one file, by whatever links.
fn is_same_file(file: &Path, out: &Path) -> bool {
    let (file, out) = (fs::canonicalize(file), fs::canonicalize(out));
    file.is_ok_and(|file| out.is_ok_and(|out| file == out))
}

/// Whole or not at all, unless it is a device or a pipe, which takes what comes.
fn write(out: &Path, bytes: &[u8]) -> io::Result<()> {
    if fs::metadata(out).is_ok_and(|about| !about.is_file()) {
        return fs::write(out, bytes);
    }
    // A link stays one.
    let out = fs::canonicalize(out).unwrap_or_else(|_| out.to_owned());
    let temporary = temporary_path(&out);
    let mut file = File::create_new(&temporary)?;
    let written = file.write_all(bytes).and_then(|()| fs::rename(&temporary, &out));
    if written.is_err() {
        // There is nothing more to be done about it.
        let _ = fs::remove_file(&temporary);
    }
    written
}

/// A name in the same folder that nobody else writes to.
fn temporary_path(out: &Path) -> PathBuf {
    let name = out.file_name().unwrap_or_default().to_string_lossy();
    out.with_file_name(format!(".{name}.{}.part", std::process::id()))
}

fn default_output(file: &Path, format: Format) -> PathBuf {
    let name = if file == Path::new("-") { "build".to_owned() } else { stem(file) };
    format!("{name}.{}", format.extension()).into()
}

/// A file's name without what follows the first dot.
fn stem(file: &Path) -> String {
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    name.split('.').find(|part| !part.is_empty()).unwrap_or("build").to_owned()
}
