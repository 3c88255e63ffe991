//! `buildoff export-all`: writes the whole public benchmark into one file.

use std::fs::{File, Permissions};
use std::io::{self, Seek, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, bail};
use indicatif::{HumanBytes, HumanCount, ProgressBar, ProgressStyle};

use super::{open_database, output, until_stopped};
use crate::arena::{Arena, Pace};
use crate::config::Config;
use crate::dataset::{DatasetExport, DatasetManifest};
use crate::db::Database;
use crate::work::WorkPool;

#[derive(clap::Args)]
pub(super) struct ExportAllArgs {
    /// The file to write, such as dataset.tar. "-" writes to standard output.
    file: PathBuf,
    /// Replace an existing file, once the new one is complete.
    #[arg(long)]
    overwrite: bool,
}

pub(super) fn run(arguments: &ExportAllArgs) -> anyhow::Result<ExitCode> {
    let file = &arguments.file;
    let to_output = file == Path::new("-");
    if !to_output && file.exists() && !arguments.overwrite {
        bail!("{} exists already. Choose another name, or use --overwrite.", file.display());
    }
    let config = Config::load()?;
    crate::logging::start(&config.logging)?;
    if !config.database.is_initialised()? {
        bail!("Nothing to export in {}.", config.database);
    }
    open_database(&config, async |database| {
        let export = export(&config, database);
        until_stopped(async {
            match to_output {
                true => write_to_output(&export).await,
                false => write_to_file(&export, arguments).await,
            }
        })
        .await
    })
}

fn export(config: &Config, database: &Database) -> DatasetExport {
    let pool = database.pool().clone();
    let arena = Arena::new(pool.clone(), config.arena.clone(), config.references, config.min_dwell)
        .with_results_delay(config.results_delay);
    DatasetExport {
        arena: Arc::new(arena),
        pool,
        work: WorkPool::per_core(),
        pace: Pace::AtOnce,
        source: config.public_url.clone(),
        license: config.dataset_license.clone(),
    }
}

/// The tar is not written from front to back, so standard output gets a copy.
async fn write_to_output(export: &DatasetExport) -> anyhow::Result<ExitCode> {
    let mut file = tempfile::tempfile()?;
    let manifest = write(export, &file).await?;
    file.rewind()?;
    let mut out = output::stdout();
    io::copy(&mut file, &mut out).and_then(|_| out.flush()).context("Cannot write to standard output")?;
    output::note(summary(&manifest));
    Ok(ExitCode::SUCCESS)
}

/// The file gets its name at the end. Until then it has another one, under which it is deleted if anything goes wrong.
async fn write_to_file(export: &DatasetExport, arguments: &ExportAllArgs) -> anyhow::Result<ExitCode> {
    let file = &arguments.file;
    let folder = file.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let cannot_write = || format!("Cannot write {}", file.display());
    let unfinished = tempfile::Builder::new()
        .prefix(".buildoff-dataset-")
        .permissions(Permissions::from_mode(0o644))
        .tempfile_in(folder)
        .with_context(cannot_write)?;
    let manifest = write(export, unfinished.as_file()).await?;
    unfinished.as_file().sync_all().with_context(cannot_write)?;
    let bytes = unfinished.as_file().metadata()?.len();
    let named = match arguments.overwrite {
        true => unfinished.persist(file),
        false => unfinished.persist_noclobber(file),
    };
    named.map_err(|failed| failed.error).with_context(cannot_write)?;
    output::line(format_args!("{}: {}, {}", file.display(), summary(&manifest), HumanBytes(bytes)))?;
    Ok(ExitCode::SUCCESS)
}

async fn write(export: &DatasetExport, file: &File) -> anyhow::Result<DatasetManifest> {
    let style = ProgressStyle::with_template("{spinner} {msg}, {elapsed}");
    let bar =
        ProgressBar::new_spinner().with_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()));
    bar.enable_steady_tick(Duration::from_millis(200));
    let manifest = export
        .write(file, &|done| {
            let (votes, builds) = (HumanCount(done.votes), HumanCount(done.builds));
            bar.set_message(format!("{votes} votes and {builds} builds written"));
        })
        .await;
    bar.finish_and_clear();
    manifest
}

fn summary(manifest: &DatasetManifest) -> String {
    let counts = &manifest.counts;
    format!(
        "{} votes, {} builds, {} prompts and {} models",
        counts.votes, counts.builds, counts.prompts, counts.models
    )
}
