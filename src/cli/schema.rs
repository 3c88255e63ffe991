//! `buildoff schema`: the JSON Schema of the task format.

use std::io::{self, Write};
use std::process::ExitCode;

use voxel::{GridSize, Palette, schema};

#[derive(clap::Args)]
pub(super) struct SchemaArgs {
    /// 32, 64, 128 or 256.
    #[arg(long, default_value = "32")]
    grid: GridSize,
    /// simple or advanced.
    #[arg(long, default_value = "simple")]
    palette: Palette,
}

pub(super) fn run(arguments: &SchemaArgs) -> anyhow::Result<ExitCode> {
    writeln!(io::stdout(), "{:#}", schema(arguments.grid, arguments.palette))?;
    Ok(ExitCode::SUCCESS)
}
