//! `buildoff backup`: writes all data into one file.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, bail, ensure};
use indicatif::{HumanBytes, ProgressBar, ProgressStyle};
use tempfile::NamedTempFile;

use super::{open_database, output, until_stopped};
use crate::config::Config;
use crate::db::{Database, backup};

#[derive(clap::Args)]
pub(super) struct BackupArgs {
    /// The file to write, such as buildoff.backup.
    file: PathBuf,
    /// Replace an existing file, once the new one is complete.
    #[arg(long)]
    overwrite: bool,
}

pub(super) fn run(arguments: &BackupArgs) -> anyhow::Result<ExitCode> {
    let file = &arguments.file;
    if file.exists() && !arguments.overwrite {
        bail!("{} exists already. Choose another name, or use --overwrite.", file.display());
    }
    let config = Config::load()?;
    crate::logging::start(&config.logging)?;
    if !config.database.is_initialised()? {
        bail!("Nothing to back up in {}.", config.database);
    }
    open_database(&config, async |database| until_stopped(write(database, arguments)).await)
}

/// The file gets its name at the end. Until then it has another one, under which it is deleted if anything goes wrong.
async fn write(database: &Database, arguments: &BackupArgs) -> anyhow::Result<ExitCode> {
    let file = &arguments.file;
    let folder = file.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let cannot_write = || format!("Cannot write {}", file.display());
    // Only its owner can read a temporary file.
    let unfinished = NamedTempFile::with_prefix_in(".buildoff-backup-", folder).with_context(cannot_write)?;
    let mut connection = database.connect_directly().await?;
    let bar = bar();
    let written = backup::dump(&mut connection, bar.wrap_write(unfinished.as_file())).await?;
    unfinished.as_file().sync_all().with_context(cannot_write)?;
    bar.set_message("written, verifying");
    ensure!(
        backup::verify(unfinished.reopen()?)? == written,
        "The file differs from what was written to it."
    );
    bar.finish_and_clear();

    let bytes = unfinished.as_file().metadata()?.len();
    let named = match arguments.overwrite {
        true => unfinished.persist(file),
        false => unfinished.persist_noclobber(file),
    };
    named.map_err(|failed| failed.error).with_context(cannot_write)?;
    File::open(folder).and_then(|folder| folder.sync_all()).with_context(cannot_write)?;
    output::line(format_args!("{}: {written}, {}, verified", file.display(), HumanBytes(bytes)))?;
    Ok(ExitCode::SUCCESS)
}

fn bar() -> ProgressBar {
    let style = ProgressStyle::with_template("{spinner} {bytes} {msg}, {elapsed}");
    let bar =
        ProgressBar::new_spinner().with_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()));
    bar.set_message("written");
    bar.enable_steady_tick(Duration::from_millis(200));
    bar
}
