//! `buildoff check`: a verdict on one file, as JSON.

use std::fs::File;
use std::io::{self, BufWriter, Read, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context;

use crate::config::Config;
use voxel::{self, GridSize, Palette, Report};

#[derive(clap::Args)]
pub(super) struct CheckArgs {
    /// A spec, plain or gzipped, with or without prose around it, or a .schem, .litematic or .vox; `-` reads standard input.
    file: PathBuf,
    /// 32, 64, 128 or 256.
    #[arg(long, default_value = "32")]
    grid: GridSize,
    /// simple or advanced.
    #[arg(long, default_value = "simple")]
    palette: Palette,
    /// List every block with its place.
    #[arg(long)]
    cells: bool,
}

/// Success for a valid build, 1 for one that is rejected.
pub(super) fn run(arguments: &CheckArgs) -> anyhow::Result<ExitCode> {
    let CheckArgs { file, grid, palette, cells } = arguments;
    let limit = Config::load_import_max_bytes()?;
    let input = read(file, limit)?;
    let verdict = voxel::check(&input, *grid, *palette, limit);

    let mut out = BufWriter::new(io::stdout().lock());
    serde_json::to_writer(&mut out, &Report::new(&verdict, *grid, *palette, *cells))?;
    writeln!(out)?;
    out.flush()?;
    Ok(if verdict.rejection().is_none() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Reads a file, or standard input for `-`. One byte beyond the limit is enough to be refused.
pub(super) fn read(file: &Path, limit: usize) -> anyhow::Result<Vec<u8>> {
    let limit = limit as u64 + 1;
    let mut input = Vec::new();
    let read = match file == Path::new("-") {
        true => io::stdin().lock().take(limit).read_to_end(&mut input),
        false => File::open(file).and_then(|file| file.take(limit).read_to_end(&mut input)),
    };
    read.with_context(|| format!("cannot read {}", file.display()))?;
    Ok(input)
}
