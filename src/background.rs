//! What goes on while nobody asks for it.

use std::time::Duration;

use time::OffsetDateTime;
use tokio::task::JoinSet;
use tokio::time::sleep;

use crate::app::App;
use crate::arena::{builds, cleanup, drafts};
use crate::work::WorkClient;
use voxel::codec::{self, CompressionLevel};

/// Between looks for something to do.
const REPACK_INTERVAL: Duration = Duration::from_secs(30);

/// The same, for votes that the statistics have not seen; longer where working them out takes long.
const STATS_INTERVAL: Duration = Duration::from_secs(3);

const PURGE_INTERVAL: Duration = Duration::from_secs(600);

/// All of it ends when this is dropped.
pub fn start(app: &App) -> JoinSet<()> {
    let mut tasks = JoinSet::new();
    tasks.spawn(repack(app.clone()));
    tasks.spawn(refresh_stats(app.clone()));
    tasks.spawn(purge_expired(app.clone()));
    tasks
}

/// Keeps the ladder's statistics up with the votes, so that visitors find them made. Several servers may do so at
/// once: whoever comes second finds what the first has stored.
async fn refresh_stats(app: App) {
    loop {
        if let Err(error) = app.arena.stats().await {
            tracing::warn!(%error, "the ladder's statistics could not be worked out");
        }
        sleep(STATS_INTERVAL).await;
    }
}

/// Sessions and matchups whose time is over, and visitors who have not asked for a while.
async fn purge_expired(app: App) {
    loop {
        app.limits.drop_idle();
        if let Err(error) = tokio::try_join!(
            app.sessions.purge(),
            cleanup::purge(&app.pool, OffsetDateTime::now_utc()),
            drafts::purge(&app.pool)
        ) {
            tracing::warn!(%error, "what is over could not be removed");
        }
        sleep(PURGE_INTERVAL).await;
    }
}

/// Compresses large grids as well as can be, one at a time.
async fn repack(app: App) {
    loop {
        match repack_next(&app).await {
            Ok(true) => continue,
            Ok(false) => {}
            Err(error) => {
                tracing::warn!(error = format!("{error:#}"), "a grid could not be compressed better");
            }
        }
        sleep(REPACK_INTERVAL).await;
    }
}

/// Returns whether there was one.
async fn repack_next(app: &App) -> anyhow::Result<bool> {
    let Some((id, grid)) = builds::next_to_repack(&app.pool).await? else { return Ok(false) };
    let repack = move || grid.encoding().map(|encoded| codec::pack(&encoded, CompressionLevel::Best));
    let packed = app.work.run(WorkClient::BACKGROUND, repack).await?;
    match packed {
        Ok(packed) => builds::store_repacked(&app.pool, id, Some(&packed)).await?,
        Err(damaged) => {
            tracing::error!(%id, %damaged, "a stored build is damaged");
            builds::store_repacked(&app.pool, id, None).await?;
        }
    }
    Ok(true)
}
