//! `buildoff schema`: the JSON Schema of specs.

use std::process::ExitCode;

use super::input::GridArgs;
use super::output;

pub(super) fn run(settings: &GridArgs) -> anyhow::Result<ExitCode> {
    output::line(format_args!("{:#}", voxel::schema(settings.grid, settings.palette)))?;
    Ok(ExitCode::SUCCESS)
}
