//! `buildoff check`: a verdict on one spec, as JSON.

use std::fs::File;
use std::io::{self, BufWriter, Read, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context;

use crate::config::Config;
use crate::voxel::{self, GridSize, Palette, Report};

#[derive(clap::Args)]
pub(super) struct Arguments {
    /// A spec, plain or gzipped, with or without prose around it; `-` reads standard input.
    file: PathBuf,
    #[arg(long, default_value = "32")]
    grid: GridSize,
    #[arg(long, default_value = "simple")]
    palette: Palette,
    /// List every block with its place.
    #[arg(long)]
    cells: bool,
}

/// Success for a valid build, 1 for one that is rejected.
pub(super) fn run(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    let Arguments {
        file,
        grid,
        palette,
        cells,
    } = arguments;
    let limit = Config::load()?.import_max_bytes;
    let input = read(file, limit).with_context(|| format!("cannot read {}", file.display()))?;
    let verdict = voxel::check(&input, *grid, *palette, limit);

    let mut out = BufWriter::new(io::stdout().lock());
    serde_json::to_writer(&mut out, &Report::new(&verdict, *grid, *palette, *cells))?;
    writeln!(out)?;
    out.flush()?;
    Ok(if verdict.refusal().is_none() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

/// One byte beyond the limit is enough to be refused.
fn read(file: &Path, limit: usize) -> io::Result<Vec<u8>> {
    let mut input = Vec::new();
    let limit = limit as u64 + 1;
    if file == Path::new("-") {
        io::stdin().lock().take(limit).read_to_end(&mut input)?;
    } else {
        File::open(file)?.take(limit).read_to_end(&mut input)?;
    }
    Ok(input)
}
