//! The builds that ship with the program, so that a new installation has something to vote on.

use std::borrow::Cow;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use anyhow::Context;
use rust_embed::Embed;
use sqlx::PgPool;

use super::builds::{self, BuildSlot, GenerationInfo, PackedBuild};
use super::catalog::Catalog;
use super::{Mode, ModelKey, PromptId, Settings};

/// `<grid>-<palette>/<prompt>/<model>.json`
#[derive(Embed)]
#[folder = "builds/"]
struct ShippedFiles;

/// Two instances that start at the same time install the builds once.
const LOCK: i64 = 0x6578_6869_6269_7400;

/// Receives how many builds have been read so far, and how many there are.
pub type ProgressFn = fn(usize, usize);

/// Seeds the catalog and installs the shipped builds in a database that never had a build. Returns how many.
pub async fn install(pool: &PgPool, catalog: &Catalog) -> anyhow::Result<usize> {
    install_with_progress(pool, catalog, |_, _| ()).await
}

/// The same, with reports of its progress.
pub async fn install_with_progress(
    pool: &PgPool,
    catalog: &Catalog,
    progress: ProgressFn,
) -> anyhow::Result<usize> {
    let mut transaction = pool.begin().await?;
    sqlx::query!("SELECT pg_advisory_xact_lock($1)", LOCK).execute(&mut *transaction).await?;
    if builds::any(&mut *transaction).await? {
        return Ok(0);
    }
    catalog.seed(&mut transaction).await?;
    // A custom catalog may not contain the models and prompts of the shipped builds.
    let wanted: Vec<_> = shipped().filter(|(_, slot)| catalog.contains_slot(slot)).collect();
    let packed = tokio::task::spawn_blocking(move || read_all(&wanted, progress)).await??;
    let installed = packed.len();
    for (slot, build) in packed {
        builds::store(&mut transaction, &slot, &build, GenerationInfo::default(), false).await?;
    }
    transaction.commit().await?;
    Ok(installed)
}

/// The text of a shipped build, by its file.
pub fn file_text(file: &str) -> Option<Cow<'static, [u8]>> {
    ShippedFiles::get(file).map(|file| file.data)
}

/// The shipped builds by their files, in order.
fn shipped() -> impl Iterator<Item = (Cow<'static, str>, BuildSlot)> {
    let mut names: Vec<_> = ShippedFiles::iter().collect();
    names.sort_unstable();
    names.into_iter().filter_map(|name| slot_for_path(&name).map(|slot| (name, slot)))
}

/// Uses every core, since somebody waits for it.
fn read_all(
    wanted: &[(Cow<'static, str>, BuildSlot)],
    progress: ProgressFn,
) -> anyhow::Result<Vec<(BuildSlot, PackedBuild)>> {
    let (next, done) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let work = || {
        let mut read = Vec::new();
        while let Some((name, slot)) = wanted.get(next.fetch_add(1, Ordering::Relaxed)) {
            read.push((slot.clone(), read_one(name, slot)?));
            progress(done.fetch_add(1, Ordering::Relaxed) + 1, wanted.len());
        }
        anyhow::Ok(read)
    };
    let threads = thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| {
        let helpers: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        let mut all = Vec::new();
        for helper in helpers {
            all.extend(helper.join().map_err(|_| anyhow::anyhow!("a shipped build could not be read"))??);
        }
        Ok(all)
    })
}

fn read_one(name: &str, slot: &BuildSlot) -> anyhow::Result<PackedBuild> {
    let file = ShippedFiles::get(name).with_context(|| format!("the shipped build {name} is missing"))?;
    PackedBuild::read(&file.data, &slot.settings, file.data.len())
        .map_err(|rejection| anyhow::anyhow!("the shipped build {name} is invalid: {rejection}"))
}

/// The extensions of files that builds can be read from.
pub const EXTENSIONS: [&str; 4] = ["json", "schem", "litematic", "vox"];

/// The slot of a build's file, from its path in the folder of all builds.
pub fn slot_for_path(path: &str) -> Option<BuildSlot> {
    let mut parts = path.split('/');
    let (settings, prompt, file) = (parts.next()?, parts.next()?, parts.next()?);
    let (grid, palette) = settings.split_once('-')?;
    let settings =
        Settings { grid: grid.parse().ok()?, palette: palette.parse().ok()?, mode: Mode::precise() };
    let (model, _) = file
        .strip_suffix(".gz")
        .unwrap_or(file)
        .rsplit_once('.')
        .filter(|(_, end)| EXTENSIONS.contains(end))?;
    let slot = BuildSlot {
        prompt: prompt.parse::<PromptId>().ok()?,
        model: model.parse::<ModelKey>().ok()?,
        settings,
    };
    parts.next().is_none().then_some(slot)
}
