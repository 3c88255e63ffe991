//! The builds that are shipped with the program, so that a new installation has something to vote on.

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

/// Fills the catalog and hangs the shipped builds where there was never a build. Returns how many it hung.
pub async fn open(pool: &PgPool, catalog: &Catalog) -> anyhow::Result<usize> {
    let mut connection = pool.acquire().await?;
    let mut transaction = connection.begin().await?;
    sqlx::query!("SELECT pg_advisory_xact_lock($1)", LOCK).execute(&mut *transaction).await?;
    if builds::any(&mut *transaction).await? {
        return Ok(0);
    }
    catalog.seed(&mut transaction).await?;
    let packed = tokio::task::spawn_blocking(read_all).await??;
    let hung = packed.len();
    for (place, build) in packed {
        builds::store(&mut transaction, &place, &build, Making::default(), false).await?;
    }
    transaction.commit().await?;
    Ok(hung)
}

fn read_all() -> anyhow::Result<Vec<(Place, Packed)>> {
    let mut names: Vec<_> = Folder::iter().collect();
    names.sort_unstable();
    let mut all = Vec::new();
    for name in names {
        let Some((file, place)) = Folder::get(&name).zip(place(&name)) else { continue };
        let build = Packed::read(&file.data, &place.settings, file.data.len())
            .map_err(|refusal| anyhow::anyhow!("the shipped build {name} is refused: {refusal}"))?;
        all.push((place, build));
    }
    Ok(all)
}

/// What a file is for, by its path from the folder of all builds.
pub fn place(path: &str) -> Option<Place> {
    let mut parts = path.split('/');
    let (settings, prompt, file) = (parts.next()?, parts.next()?, parts.next()?);
    let (grid, palette) = settings.split_once('-')?;
    let settings =
        Settings { grid: grid.parse().ok()?, palette: palette.parse().ok()?, mode: Mode::precise() };
    let model = file.strip_suffix(".gz").unwrap_or(file).strip_suffix(".json")?;
    let place =
        Place { prompt: prompt.parse::<PromptId>().ok()?, model: model.parse::<ModelKey>().ok()?, settings };
    parts.next().is_none().then_some(place)
}
