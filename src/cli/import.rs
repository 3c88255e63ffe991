//! `buildoff import`: builds from files, one by one, so that a bad file does not stop the others.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, anyhow, bail};
use indicatif::ProgressBar;
use serde::Deserialize;
use uuid::Uuid;

use super::api::{AdminApi, AdminApiError, ApiArgs, CommandWork};
use super::output;
use crate::arena::builds::BuildSlot;
use crate::arena::shipped_builds::EXTENSIONS;
use crate::arena::{Mode, ModelKey, PromptId, Settings, shipped_builds};
use crate::config::Config;
use crate::web::SeedResponse;
use voxel::{GridSize, Palette, Warning};

#[derive(clap::Args)]
pub(super) struct ImportArgs {
    /// A spec, plain or gzipped, a .schem, .litematic or .vox, or a folder of such files. In a folder, paths are
    /// <prompt>/<model>.json or <grid>-<palette>/<prompt>/<model>.json, also with the other extensions.
    path: PathBuf,
    /// Key of the model, for a single file.
    #[arg(long)]
    model: Option<ModelKey>,
    /// Id of the prompt, for a single file.
    #[arg(long)]
    prompt: Option<PromptId>,
    /// Grid size: 32, 64, 128 or 256 [default: the arena's].
    #[arg(long, value_name = "SIZE")]
    grid: Option<GridSize>,
    /// Palette: simple or advanced [default: the arena's].
    #[arg(long)]
    palette: Option<Palette>,
    /// Mode of the builds [default: the arena's].
    #[arg(long)]
    mode: Option<Mode>,
    /// Replace existing builds. The old ones are retired, not deleted.
    #[arg(long)]
    overwrite: bool,
    #[command(flatten)]
    connection: ApiArgs,
}

/// The answer of the API to an import.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct CliImportResult {
    build_id: Uuid,
    block_count: u32,
    overwritten: bool,
    warnings: Vec<Warning>,
}

/// A file and the build that it is for, if its path names one.
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
    arguments.connection.run(CommandWork::Nothing, async |api| import(api, arguments, files).await)
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
            Some(slot) => import_file(api, file, slot, &files, arguments.overwrite, limit).await,
            None => Err(anyhow!(
                "the path must end in <prompt>/<model>, the id of a prompt and the key of a model"
            )),
        };
        let outcome = outcome.unwrap_or_else(|error| {
            failed += 1;
            format!("failed: {error:#}")
        });
        bar.suspend(|| {
            output::line(format_args!("[{number}/{}] {}: {outcome}", files.len(), file.display()))
        })?;
        bar.inc(1);
    }
    bar.finish_and_clear();
    output::line(format_args!("{} imported, {failed} failed", files.len() - failed))?;
    Ok(if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Another file for the same build. Neither is imported, because only their owner knows which of them is right.
fn conflicting_file<'a>(file: &Path, slot: &BuildSlot, files: &'a [ImportFile]) -> Option<&'a Path> {
    let mut there =
        files.iter().filter(|(_, other)| other.as_ref() == Some(slot)).map(|(other, _)| other.as_path());
    there.find(|&other| other != file)
}

async fn import_file(
    api: &AdminApi,
    file: &Path,
    slot: &BuildSlot,
    files: &[ImportFile],
    overwrite: bool,
    limit: usize,
) -> anyhow::Result<String> {
    if let Some(other) = conflicting_file(file, slot, files) {
        bail!("{} is for the same prompt and model: keep one of them", other.display());
    }
    let input = super::input::read(file, limit)?;
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
    let how = if overwritten { "replaced" } else { "imported" };
    Ok(format!("{how}: {block_count} blocks, build {build_id}{warnings}"))
}

/// Says what to do on the command line about an error of the API.
fn explain(error: anyhow::Error, slot: &BuildSlot) -> anyhow::Error {
    let code = error.downcast_ref::<AdminApiError>().map(|refused| refused.code.as_str());
    match code {
        Some("exists") => anyhow!("this prompt already has a build by this model; --overwrite replaces it"),
        Some("no_prompt") => anyhow!("no prompt {}: add it with buildoff prompts add", slot.prompt),
        Some("no_model") => anyhow!("no model {}: add it with buildoff models add", slot.model),
        _ => error,
    }
}

impl ImportArgs {
    /// The files to import.
    fn files(&self) -> anyhow::Result<Vec<PathBuf>> {
        fs::metadata(&self.path).with_context(|| format!("cannot read {}", self.path.display()))?;
        if self.path.is_dir() {
            if self.model.is_some() || self.prompt.is_some() {
                bail!("--model and --prompt are only for a single file; in a folder, the paths name both");
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
                "{} has no files named <prompt>/<model>.json, .schem, .litematic or .vox",
                self.path.display()
            );
        }
        Ok(files)
    }

    /// The build that a file is for, from the options or from its path.
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
        let wrong = |problem: String| {
            anyhow!("the server sent arena settings that this version does not know: {problem}")
        };
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
