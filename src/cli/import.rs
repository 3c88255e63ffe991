//! `buildoff import`: builds from files, straight into the database.

use std::ffi::OsStr;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, bail};
use sqlx::{Connection, PgPool};

use super::open_database;
use crate::arena::builds::{self, Making, Packed, Place};
use crate::arena::catalog::Catalog;
use crate::arena::{Mode, ModelKey, PromptId, Settings, exhibition};
use crate::config::Config;
use crate::db::Database;
use crate::voxel::{GridSize, Palette};

#[derive(clap::Args)]
pub(super) struct Arguments {
    /// A spec, plain or gzipped; or a folder of <prompt>/<model>.json, or of <grid>-<palette>/<prompt>/<model>.json.
    path: PathBuf,
    /// The model of a single file, by its key.
    #[arg(long)]
    model: Option<ModelKey>,
    /// The prompt of a single file, by its id.
    #[arg(long)]
    prompt: Option<PromptId>,
    /// 32, 64, 128 or 256.
    #[arg(long, default_value = "32")]
    grid: GridSize,
    /// simple or advanced.
    #[arg(long, default_value = "simple")]
    palette: Palette,
    #[arg(long, default_value = "precise")]
    mode: Mode,
    /// Retire a build that is there already, and take this one.
    #[arg(long)]
    overwrite: bool,
}

/// Success if all files were imported.
pub(super) fn run(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    let config = Config::load()?;
    crate::logging::start(&config.logging)?;
    let files = arguments.files()?;
    open_database(&config, async |database| import(&config, database, arguments, &files).await)
}

async fn import(
    config: &Config,
    database: &Database,
    arguments: &Arguments,
    files: &[(PathBuf, Place)],
) -> anyhow::Result<ExitCode> {
    let mut connection = database.pool().acquire().await?;
    Catalog::load(config.data_dir.as_deref())?.seed(&mut connection).await?;
    drop(connection);

    let mut out = io::stdout().lock();
    let mut failed = 0;
    for (number, (file, place)) in (1..).zip(files) {
        let told = match one(database.pool(), config, file, place, arguments.overwrite).await {
            Ok(told) => told,
            Err(error) => {
                failed += 1;
                format!("failed: {error:#}")
            }
        };
        writeln!(out, "[{number}/{}] {}: {told}", files.len(), file.display())?;
    }
    writeln!(out, "{} imported, {failed} failed", files.len() - failed)?;
    Ok(if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

async fn one(
    pool: &PgPool,
    config: &Config,
    file: &Path,
    place: &Place,
    overwrite: bool,
) -> anyhow::Result<String> {
    let limit = config.import_max_bytes;
    let input = super::check::read(file, limit)?;
    let build = Packed::read(&input, &place.settings, limit)?;
    let mut connection = pool.acquire().await?;
    let mut transaction = connection.begin().await?;
    let stored = builds::store(&mut transaction, place, &build, Making::default(), overwrite)
        .await
        .map_err(|error| advice(error, place))?;
    transaction.commit().await?;
    let warnings: String = build.warnings.iter().map(|warning| format!("; {}", warning.message())).collect();
    let how = if stored.overwritten { "replaced another" } else { "new" };
    Ok(format!("{} blocks, {how}, build {}{warnings}", build.block_count, stored.id))
}

fn advice(error: builds::StoreError, place: &Place) -> anyhow::Error {
    use builds::StoreError::{Exists, NoModel, NoPrompt};
    match error {
        Exists => anyhow::anyhow!("{error}; --overwrite takes its place"),
        NoPrompt => {
            anyhow::anyhow!("there is no prompt {}; prompts.toml in DATA_DIR can add it", place.prompt)
        }
        NoModel => anyhow::anyhow!("there is no model {}; models.toml in DATA_DIR can add it", place.model),
        other => other.into(),
    }
}

impl Arguments {
    /// What is to be imported, and for what.
    fn files(&self) -> anyhow::Result<Vec<(PathBuf, Place)>> {
        if self.path.is_dir() {
            if self.model.is_some() || self.prompt.is_some() {
                bail!(
                    "--model and --prompt are for a single file; in a folder, names of files and folders say them"
                );
            }
            return self.folder();
        }
        let (Some(model), Some(prompt)) = (self.model.clone(), self.prompt.clone()) else {
            bail!("a single file needs --model and --prompt");
        };
        Ok(vec![(self.path.clone(), Place { prompt, model, settings: self.settings() })])
    }

    fn folder(&self) -> anyhow::Result<Vec<(PathBuf, Place)>> {
        let mut files = Vec::new();
        walk(&self.path, 3, &mut files)?;
        files.sort();
        let named = files.into_iter().filter_map(|file| {
            let inside = file.strip_prefix(&self.path).ok()?.to_str()?.replace('\\', "/");
            let place = exhibition::place(&inside).or_else(|| {
                let place = exhibition::place(&format!("{}-{}/{inside}", self.grid, self.palette))?;
                Some(Place { settings: self.settings(), ..place })
            })?;
            Some((file, place))
        });
        let named: Vec<_> = named.collect();
        if named.is_empty() {
            bail!("no file in {} is called <prompt>/<model>.json", self.path.display());
        }
        Ok(named)
    }

    fn settings(&self) -> Settings {
        Settings { grid: self.grid, palette: self.palette, mode: self.mode.clone() }
    }
}

fn walk(folder: &Path, depth: usize, files: &mut Vec<PathBuf>) -> anyhow::Result<()> {
    let entries = fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))?;
    for entry in entries {
        let path = entry?.path();
        if path.is_dir() {
            if depth > 1 {
                walk(&path, depth - 1, files)?;
            }
        } else if matches!(path.extension().and_then(OsStr::to_str), Some("json" | "gz")) {
            files.push(path);
        }
    }
    Ok(())
}
