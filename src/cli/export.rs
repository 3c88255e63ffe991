//! `buildoff export`: a build as a file for other tools.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, bail};

use super::input::BuildArgs;
use voxel::Format;

#[derive(clap::Args)]
pub(super) struct ExportArgs {
    #[command(flatten)]
    build: BuildArgs,
    /// Format: schem, litematic, nbt, vox, glb, obj (a zip), stl or json [default: the extension of --out].
    #[arg(long)]
    format: Option<Format>,
    /// Output file [default: the name of the input with the format's extension, in the working directory].
    #[arg(short, long, value_name = "FILE")]
    out: Option<PathBuf>,
}

pub(super) fn run(arguments: &ExportArgs) -> anyhow::Result<ExitCode> {
    let ExportArgs { build, format, out } = arguments;
    let format = match format {
        Some(format) => *format,
        None => format_from_name(out.as_deref())?,
    };
    let out = out.clone().unwrap_or_else(|| default_output(&build.file, format));
    if is_same_file(&build.file, &out) {
        bail!("{} would be overwritten: choose another file with -o", out.display());
    }
    let bytes = voxel::export(&build.read_grid()?, format, &stem(&out))?;
    write(&out, &bytes).with_context(|| format!("cannot write {}", out.display()))?;
    Ok(ExitCode::SUCCESS)
}

fn format_from_name(out: Option<&Path>) -> anyhow::Result<Format> {
    let ending = out.and_then(Path::extension).map(|end| end.to_string_lossy().to_ascii_lowercase());
    let named = |format: &Format| Some(format.extension()) == ending.as_deref();
    Format::ALL
        .into_iter()
        .find(named)
        .context("choose a format with --format, or with the extension of the file after -o")
}

/// Whether both paths lead to the same file, through links or not.
fn is_same_file(file: &Path, out: &Path) -> bool {
    let (file, out) = (fs::canonicalize(file), fs::canonicalize(out));
    file.is_ok_and(|file| out.is_ok_and(|out| file == out))
}

/// Writes the whole file or leaves the old one, except for devices and pipes, which cannot be replaced.
fn write(out: &Path, bytes: &[u8]) -> io::Result<()> {
    if fs::metadata(out).is_ok_and(|about| !about.is_file()) {
        return fs::write(out, bytes);
    }
    // A link is kept, and the file that it leads to is replaced.
    let out = fs::canonicalize(out).unwrap_or_else(|_| out.to_owned());
    let temporary = temporary_path(&out);
    let mut file = File::create_new(&temporary)?;
    let written = file.write_all(bytes).and_then(|()| fs::rename(&temporary, &out));
    if written.is_err() {
        // The write has failed already, and that error is the one to report.
        let _ = fs::remove_file(&temporary);
    }
    written
}

/// A name in the same folder that no other process writes to.
fn temporary_path(out: &Path) -> PathBuf {
    let name = out.file_name().unwrap_or_default().to_string_lossy();
    out.with_file_name(format!(".{name}.{}.part", std::process::id()))
}

fn default_output(file: &Path, format: Format) -> PathBuf {
    let name = if file == Path::new("-") { "build".to_owned() } else { stem(file) };
    format!("{name}.{}", format.extension()).into()
}

/// The name of a file up to its first dot; a dot at the beginning does not count.
fn stem(file: &Path) -> String {
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    name.split('.').find(|part| !part.is_empty()).unwrap_or("build").to_owned()
}
