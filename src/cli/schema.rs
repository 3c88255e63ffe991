//! `buildoff schema`: the JSON Schema of specs.

use std::io::{self, Write};
use std::process::ExitCode;

use super::input::GridArgs;

pub(super) fn run(settings: &GridArgs) -> anyhow::Result<ExitCode> {
    writeln!(io::stdout(), "{:#}", voxel::schema(settings.grid, settings.palette))?;
    Ok(ExitCode::SUCCESS)
}
