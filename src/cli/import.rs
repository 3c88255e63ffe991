//! `buildoff import`: builds from files.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, bail};
use indicatif::ProgressBar;
use serde::Deserialize;
use uuid::Uuid;

use super::api::{AdminApi, AdminApiError, ApiArgs};
use crate::arena::builds::BuildSlot;
use crate::arena::shipped_builds::EXTENSIONS;
use crate::arena::{Mode, ModelKey, PromptId, Settings, shipped_builds};
use crate::config::Config;
use crate::web::SeedResponse;
use voxel::{GridSize, Palette, Warning};

#[derive(clap::Args)]
pub(super) struct ImportArgs {
    /// A spec, plain or gzipped, or a .schem, .litematic or .vox; or a folder of them, each called <prompt>/<model>.json
    /// or whatever it ends in, or <grid>-<palette>/<prompt>/<model>.json.
    path: PathBuf,
    /// The model of a single file, by its key.
    #[arg(long)]
    model: Option<ModelKey>,
    /// The prompt of a single file, by its id.
    #[arg(long)]
    prompt: Option<PromptId>,
    /// 32, 64, 128 or 256; the arena's unless said.
    #[arg(long)]
    grid: Option<GridSize>,
    /// simple or advanced; the arena's unless said.
    #[arg(long)]
    palette: Option<Palette>,
    /// The arena's unless said.
    #[arg(long)]
    mode: Option<Mode>,
    /// Retire a build that is there already, and take this one.
    #[arg(long)]
    overwrite: bool,
    #[command(flatten)]
    connection: ApiArgs,
}

/// What the API says of an import.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct CliImportResult {
    build_id: Uuid,
    block_count: u32,
    overwritten: bool,
    warnings: Vec<Warning>,
}

/// A file, and what it is for, if its name says so.
type ImportFile = (PathBuf, Option<BuildSlot>);

#[derive(Deserialize)]
struct CliStatus {
    settings: CliArenaSettings,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct CliArenaSettings {
    grid_size: u16,
    palette: String,
    mode: String,
}

/// Success if all files were imported.
pub(super) fn run(arguments: &ImportArgs) -> anyhow::Result<ExitCode> {
    let files = arguments.files()?;
    arguments.connection.run(false, async |api| import(api, arguments, files).await)
}

async fn import(api: &AdminApi, arguments: &ImportArgs, files: Vec<PathBuf>) -> anyhow::Result<ExitCode> {
    let limit = Config::load_import_max_bytes()?;
    api.post::<SeedResponse>("/api/admin/seed?generateBuilds=0", "").await?;
    let arena = api.get::<CliStatus>("/api/admin/status").await?.settings.read()?;
    let files: Vec<ImportFile> = files
        .into_iter()
        .map(|file| {
            let slot = arguments.slot(&file, &arena);
            (file, slot)
        })
        .collect();
    let bar = ProgressBar::new(files.len() as u64);
    let mut failed = 0;
    for (number, (file, slot)) in (1..).zip(&files) {
        let outcome = match slot {
            None => Err(anyhow::anyhow!(
                "a file is called <prompt>/<model>, by a prompt's slug and a model's key; this one is passed over"
            )),
            Some(slot) => match conflicting_file(file, slot, &files) {
                Some(conflicting_file) => Err(anyhow::anyhow!(
                    "{} is for the same place: keep one of them",
                    conflicting_file.display()
                )),
                None => import_file(api, file, slot, arguments.overwrite, limit).await,
            },
        };
        let outcome = match outcome {
            Ok(outcome) => outcome,
            Err(error) => {
                failed += 1;
                format!("failed: {error:#}")
            }
        };
        bar.suspend(|| println!("[{number}/{}] {}: {outcome}", files.len(), file.display()));
        bar.inc(1);
    }
    bar.finish_and_clear();
    println!("{} imported, {failed} failed", files.len() - failed);
    Ok(if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Another file for the same place. Neither is taken: which of them was meant, nobody can tell.
fn conflicting_file<'a>(file: &Path, slot: &BuildSlot, files: &'a [ImportFile]) -> Option<&'a Path> {
    let mut there =
        files.iter().filter(|(_, other)| other.as_ref() == Some(slot)).map(|(other, _)| other.as_path());
    there.find(|&other| other != file)
}

async fn import_file(
    api: &AdminApi,
    file: &Path,
    slot: &BuildSlot,
    overwrite: bool,
    limit: usize,
) -> anyhow::Result<String> {
    let input = super::check::read(file, limit)?;
    let BuildSlot { prompt, model, settings } = slot;
    let path = format!(
        "/api/admin/import-build?modelKey={model}&promptId={prompt}&gridSize={}&palette={}&mode={}&overwrite={}",
        settings.grid,
        settings.palette,
        settings.mode.as_str(),
        u8::from(overwrite),
    );
    let CliImportResult { build_id, block_count, overwritten, warnings } =
        api.post(&path, input).await.map_err(|error| explain(error, slot))?;
    let warnings: String = warnings.iter().map(|warning| format!("; {}", warning.message())).collect();
    let how = if overwritten { "replaced another" } else { "new" };
    Ok(format!("{block_count} blocks, {how}, build {build_id}{warnings}"))
}

/// In the words of this command where the API has its own.
fn explain(error: anyhow::Error, slot: &BuildSlot) -> anyhow::Error {
    let code = error.downcast_ref::<AdminApiError>().map(|refused| refused.code.as_str());
    match code {
        Some("exists") => {
            anyhow::anyhow!(
                "there is a build of this prompt by this model already; --overwrite takes its place"
            )
        }
        Some("no_prompt") => {
            anyhow::anyhow!("there is no prompt {}; buildoff prompts add brings it in", slot.prompt)
        }
        Some("no_model") => {
            anyhow::anyhow!("there is no model {}; buildoff models add brings it in", slot.model)
        }
        _ => error,
    }
}

impl ImportArgs {
    /// What is to be imported.
    fn files(&self) -> anyhow::Result<Vec<PathBuf>> {
        fs::metadata(&self.path).with_context(|| format!("cannot read {}", self.path.display()))?;
        if self.path.is_dir() {
            if self.model.is_some() || self.prompt.is_some() {
                bail!(
                    "--model and --prompt are for a single file; in a folder, names of files and folders say them"
                );
            }
            return self.folder();
        }
        if self.model.is_none() || self.prompt.is_none() {
            bail!("a single file needs --model and --prompt");
        }
        Ok(vec![self.path.clone()])
    }

    fn folder(&self) -> anyhow::Result<Vec<PathBuf>> {
        let mut files = Vec::new();
        walk(&self.path, 3, &mut files)?;
        files.sort();
        if files.is_empty() {
            bail!(
                "no file in {} is called <prompt>/<model>.json, .schem, .litematic or .vox",
                self.path.display()
            );
        }
        Ok(files)
    }

    /// What a file is for, as was said, or by its name and its folder's.
    fn slot(&self, file: &Path, arena: &Settings) -> Option<BuildSlot> {
        let settings = self.settings(arena);
        if let (Some(model), Some(prompt)) = (&self.model, &self.prompt) {
            return Some(BuildSlot { prompt: prompt.clone(), model: model.clone(), settings });
        }
        let inside = file.strip_prefix(&self.path).ok()?.to_str()?.replace('\\', "/");
        let slot = shipped_builds::slot_for_path(&inside).or_else(|| {
            shipped_builds::slot_for_path(&format!("{}-{}/{inside}", settings.grid, settings.palette))
        })?;
        Some(BuildSlot { settings: Settings { mode: settings.mode, ..slot.settings }, ..slot })
    }

    fn settings(&self, arena: &Settings) -> Settings {
        Settings {
            grid: self.grid.unwrap_or(arena.grid),
            palette: self.palette.unwrap_or(arena.palette),
            mode: self.mode.clone().unwrap_or_else(|| arena.mode.clone()),
        }
    }
}

impl CliArenaSettings {
    fn read(self) -> anyhow::Result<Settings> {
        let wrong = |problem: String| anyhow::anyhow!("the arena's settings were not understood: {problem}");
        Ok(Settings {
            grid: self.grid_size.to_string().parse().map_err(wrong)?,
            palette: self.palette.parse().map_err(wrong)?,
            mode: self.mode.parse().map_err(wrong)?,
        })
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
        } else if path
            .extension()
            .and_then(OsStr::to_str)
            .is_some_and(|end| end == "gz" || EXTENSIONS.contains(&end))
        {
            files.push(path);
        }
    }
    Ok(())
}
