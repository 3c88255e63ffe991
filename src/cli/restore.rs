//! `buildoff restore`: reads a backup into the database.

use std::fs::File;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context;
use indicatif::{ProgressBar, ProgressStyle};

use super::{open_database, output, until_stopped};
use crate::config::Config;
use crate::db::Database;
use crate::db::backup::{self, RestoreMode};

#[derive(clap::Args)]
pub(super) struct RestoreArgs {
    /// A file that `buildoff backup` has written.
    file: PathBuf,
    /// Delete everything that the database holds, and put the backup in its place.
    #[arg(long)]
    replace: bool,
    /// Only compare the file with its checksum and print what it holds. Needs no database.
    #[arg(long, conflicts_with = "replace")]
    check: bool,
}

pub(super) fn run(arguments: &RestoreArgs) -> anyhow::Result<ExitCode> {
    let file = File::open(&arguments.file);
    let file = file.with_context(|| format!("Cannot read {}", arguments.file.display()))?;
    if arguments.check {
        let bar = bar(&file)?;
        let summary = backup::verify(bar.wrap_read(file))?;
        bar.finish_and_clear();
        output::line(format_args!("{}: {summary}, undamaged", arguments.file.display()))?;
        return Ok(ExitCode::SUCCESS);
    }
    let config = Config::load()?;
    crate::logging::start(&config.logging)?;
    let mode = if arguments.replace { RestoreMode::Replace } else { RestoreMode::IntoFresh };
    open_database(&config, async |database| until_stopped(restore(database, file, mode)).await)
}

async fn restore(database: &Database, file: File, mode: RestoreMode) -> anyhow::Result<ExitCode> {
    let bar = bar(&file)?;
    let mut connection = database.connect_directly().await?;
    let restored = backup::restore(&mut connection, bar.wrap_read(file), mode).await;
    bar.finish_and_clear();
    output::line(format_args!("Restored: {}", restored.context("Nothing was restored")?))?;
    Ok(ExitCode::SUCCESS)
}

fn bar(file: &File) -> anyhow::Result<ProgressBar> {
    let style = ProgressStyle::with_template("{bar:30} {bytes} of {total_bytes} read, {elapsed}");
    let style = style.unwrap_or_else(|_| ProgressStyle::default_bar());
    Ok(ProgressBar::new(file.metadata()?.len()).with_style(style))
}
