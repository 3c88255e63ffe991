//! `buildoff export`: a build as a file for other tools.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, bail};

use crate::config::Config;
use voxel::{self, Format, GridSize, Palette};

#[derive(clap::Args)]
pub(super) struct Arguments {
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
pub(super) fn run(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    let Arguments { file, format, out, grid, palette } = arguments;
    let limit = Config::load_import_max_bytes()?;
    let format = match format {
        Some(format) => *format,
        None => by_name(out.as_deref())?,
    };
    let out = out.clone().unwrap_or_else(|| beside(file, format));
    if is_same(file, &out) {
        bail!("{} would be overwritten: say where to write with -o", file.display());
    }
    let input = super::check::read(file, limit)?;
    let verdict = voxel::check(&input, *grid, *palette, limit);
    let Some(grid) = verdict.grid() else {
        bail!("{}: {}", file.display(), verdict.refusal().map_or("", |refusal| &refusal.message));
    };
    if let Some(refusal) = verdict.refusal() {
        eprintln!("note: as a build it would be rejected: {refusal}");
    }
    let bytes = voxel::export(grid, format, &stem(&out))?;
    write(&out, &bytes).with_context(|| format!("cannot write {}", out.display()))?;
    Ok(ExitCode::SUCCESS)
}

fn by_name(out: Option<&Path>) -> anyhow::Result<Format> {
    let ending = out.and_then(Path::extension).map(|end| end.to_string_lossy().to_ascii_lowercase());
    let named = |format: &Format| Some(format.extension()) == ending.as_deref();
    Format::ALL
        .into_iter()
        .find(named)
        .context("say what to write with --format, or by a name that ends in it")
}

/// Whether both lead to one file, by whatever links.
fn is_same(file: &Path, out: &Path) -> bool {
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
    let part = part(&out);
    let mut file = File::create_new(&part)?;
    let written = file.write_all(bytes).and_then(|()| fs::rename(&part, &out));
    if written.is_err() {
        // There is nothing more to be done about it.
        let _ = fs::remove_file(&part);
    }
    written
}

/// A name in the same folder that nobody else writes to.
fn part(out: &Path) -> PathBuf {
    let name = out.file_name().unwrap_or_default().to_string_lossy();
    out.with_file_name(format!(".{name}.{}.part", std::process::id()))
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
