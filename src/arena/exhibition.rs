//! The builds that are shipped with the program, so that a new installation has something to vote on.

use std::borrow::Cow;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use anyhow::Context;
use rust_embed::Embed;
use sqlx::{Connection, PgPool};

use super::builds::{self, Making, Packed, Place};
use super::catalog::Catalog;
use super::{Mode, ModelKey, PromptId, Settings};

/// `<grid>-<palette>/<prompt>/<model>.json`
#[derive(Embed)]
#[folder = "builds/"]
struct Folder;

/// Two instances that start at the same time hang the pictures once.
const LOCK: i64 = 0x6578_6869_6269_7400;

/// How many builds have been read so far, and how many there are.
pub type Progress = fn(usize, usize);

/// Fills the catalog and hangs the shipped builds where there was never a build. Returns how many it hung.
pub async fn open(pool: &PgPool, catalog: &Catalog) -> anyhow::Result<usize> {
    open_and_tell(pool, catalog, |_, _| ()).await
}

/// The same, telling how far it has come.
pub async fn open_and_tell(pool: &PgPool, catalog: &Catalog, progress: Progress) -> anyhow::Result<usize> {
    let mut connection = pool.acquire().await?;
    let mut transaction = connection.begin().await?;
    sqlx::query!("SELECT pg_advisory_xact_lock($1)", LOCK).execute(&mut *transaction).await?;
    if builds::any(&mut *transaction).await? {
        return Ok(0);
    }
    catalog.seed(&mut transaction).await?;
    // A catalog of one's own need not know what was built for the other one.
    let wanted: Vec<_> = shipped().filter(|(_, place)| catalog.knows(place)).collect();
    let packed = tokio::task::spawn_blocking(move || read_all(&wanted, progress)).await??;
    let hung = packed.len();
    for (place, build) in packed {
        builds::store(&mut transaction, &place, &build, Making::default(), false).await?;
    }
    transaction.commit().await?;
    Ok(hung)
}

/// The text of a shipped build, by its file.
pub fn text(file: &str) -> Option<Cow<'static, [u8]>> {
    Folder::get(file).map(|file| file.data)
}

/// The shipped builds by their files, in order.
fn shipped() -> impl Iterator<Item = (Cow<'static, str>, Place)> {
    let mut names: Vec<_> = Folder::iter().collect();
    names.sort_unstable();
    names.into_iter().filter_map(|name| place(&name).map(|place| (name, place)))
}

/// On every core: somebody waits for it.
fn read_all(
    wanted: &[(Cow<'static, str>, Place)],
    progress: Progress,
) -> anyhow::Result<Vec<(Place, Packed)>> {
    let (next, done) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let work = || {
        let mut read = Vec::new();
        while let Some((name, place)) = wanted.get(next.fetch_add(1, Ordering::Relaxed)) {
            read.push((place.clone(), read_one(name, place)?));
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

fn read_one(name: &str, place: &Place) -> anyhow::Result<Packed> {
    let file = Folder::get(name).with_context(|| format!("the shipped build {name} is gone"))?;
    Packed::read(&file.data, &place.settings, file.data.len())
        .map_err(|rejection| anyhow::anyhow!("the shipped build {name} is refused: {rejection}"))
}

/// What the names of files end in that builds come in.
pub const ENDINGS: [&str; 4] = ["json", "schem", "litematic", "vox"];

/// What a file is for, by its path from the folder of all builds.
pub fn place(path: &str) -> Option<Place> {
    let mut parts = path.split('/');
    let (settings, prompt, file) = (parts.next()?, parts.next()?, parts.next()?);
    let (grid, palette) = settings.split_once('-')?;
    let settings =
        Settings { grid: grid.parse().ok()?, palette: palette.parse().ok()?, mode: Mode::precise() };
    let (model, _) =
        file.strip_suffix(".gz").unwrap_or(file).rsplit_once('.').filter(|(_, end)| ENDINGS.contains(end))?;
    let place =
        Place { prompt: prompt.parse::<PromptId>().ok()?, model: model.parse::<ModelKey>().ok()?, settings };
    parts.next().is_none().then_some(place)
}
