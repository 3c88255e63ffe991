//! `buildoff check`: a verdict on one file, as JSON.

use std::io::{self, BufWriter, Write};
use std::process::ExitCode;

use super::input::BuildArgs;
use super::output;
use voxel::Report;

#[derive(clap::Args)]
pub(super) struct CheckArgs {
    #[command(flatten)]
    build: BuildArgs,
    /// Also list every block with its position.
    #[arg(long)]
    cells: bool,
}

/// Success for a valid build, 1 for any other.
pub(super) fn run(arguments: &CheckArgs) -> anyhow::Result<ExitCode> {
    let CheckArgs { build, cells } = arguments;
    let verdict = build.settings.check(&build.file)?;
    let mut out = BufWriter::new(output::stdout());
    let report = Report::new(&verdict, build.settings.grid, build.settings.palette, *cells);
    serde_json::to_writer(&mut out, &report).map_err(io::Error::from)?;
    writeln!(out)?;
    out.flush()?;
    Ok(if verdict.rejection().is_none() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
