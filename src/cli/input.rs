//! The build that a command works on: a file, and the grid and palette that it is read with.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};

use super::output;
use crate::config::Config;
use voxel::{Grid, GridSize, Palette, Verdict};

#[derive(clap::Args)]
pub(super) struct GridArgs {
    /// Grid size: 32, 64, 128 or 256.
    #[arg(long, value_name = "SIZE", default_value = "32")]
    pub grid: GridSize,
    /// Palette: simple or advanced.
    #[arg(long, default_value = "simple")]
    pub palette: Palette,
}

#[derive(clap::Args)]
pub(super) struct BuildArgs {
    /// A spec, also gzipped or inside other text, or a .schem, .litematic or .vox. "-" reads standard input.
    pub file: PathBuf,
    #[command(flatten)]
    pub settings: GridArgs,
}

impl BuildArgs {
    /// Reads a grid even if it breaks a rule, because somebody may want to see just that.
    pub fn read_grid(&self) -> anyhow::Result<Grid> {
        let verdict = self.settings.check(&self.file)?;
        if let Verdict::Rejected { rejection, .. } = &verdict {
            output::note(format_args!("note: this is not a valid build: {rejection}"));
        }
        into_grid(verdict, &self.file)
    }
}

impl GridArgs {
    pub fn check(&self, file: &Path) -> anyhow::Result<Verdict> {
        let limit = Config::load_import_max_bytes()?;
        Ok(voxel::check(&read(file, limit)?, self.grid, self.palette, limit))
    }

    pub fn read_grid(&self, file: &Path) -> anyhow::Result<Grid> {
        into_grid(self.check(file)?, file)
    }
}

fn into_grid(verdict: Verdict, file: &Path) -> anyhow::Result<Grid> {
    match verdict {
        Verdict::Accepted { build, .. } => Ok(build.grid().clone()),
        Verdict::Rejected { grid, .. } => Ok(grid),
        Verdict::Unreadable(rejection) => bail!("{}: {rejection}", file.display()),
    }
}

/// Reads a file, or standard input for `-`, up to one byte more than the limit, which is enough to be refused.
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
