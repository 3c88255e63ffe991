//! `buildoff schema`: the JSON Schema of the task format.

use std::process::ExitCode;

use crate::voxel::{GridSize, Palette, schema};

#[derive(clap::Args)]
pub(super) struct Arguments {
    #[arg(long, default_value = "32")]
    grid: GridSize,
    #[arg(long, default_value = "simple")]
    palette: Palette,
}

pub(super) fn run(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    println!("{:#}", schema(arguments.grid, arguments.palette));
    Ok(ExitCode::SUCCESS)
}
