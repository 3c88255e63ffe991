//! What goes on while nobody asks for it.

use std::time::{Duration, Instant};

use tokio::task::JoinSet;
use tokio::time::sleep;

use crate::app::App;
use crate::arena::leaderboard::Moment;
use crate::arena::{builds, drafts};
use crate::voxel::{self, Effort};

/// Between looks for something to do.
const REST: Duration = Duration::from_secs(30);

/// The same, for votes that skill has not seen; longer where a fit takes long.
const BREATH: Duration = Duration::from_secs(3);

const FORGET_EVERY: Duration = Duration::from_secs(600);

/// All of it ends when this is dropped.
pub fn start(app: &App) -> JoinSet<()> {
    let mut chores = JoinSet::new();
    chores.spawn(repack(app.clone()));
    chores.spawn(refit(app.clone()));
    chores.spawn(forget(app.clone()));
    chores
}

/// Keeps skill up with the votes. Several servers may do so at once: it comes out the same.
async fn refit(app: App) {
    let mut last = None;
    loop {
        let begun = Instant::now();
        match refit_since(&app, last).await {
            Ok(moment) => last = moment,
            Err(error) => tracing::warn!(error = format!("{error:#}"), "skill could not be fitted"),
        }
        sleep(BREATH.max(begun.elapsed() * 10)).await;
    }
}

/// Returns up to when skill is fitted now.
async fn refit_since(app: &App, last: Option<Moment>) -> anyhow::Result<Option<Moment>> {
    let Some((moment, ballots)) = app.arena.ballots_since(last).await? else { return Ok(last) };
    let fit = app.work.run(move || ballots.fit()).await?;
    app.arena.keep_fit(&fit).await?;
    Ok(Some(moment))
}

/// Sessions and matchups whose time is over, and visitors who have not asked for a while.
async fn forget(app: App) {
    loop {
        app.limits.forget();
        if let Err(error) =
            tokio::try_join!(app.sessions.purge(), app.arena.purge(), drafts::purge(&app.pool))
        {
            tracing::warn!(%error, "what is over could not be removed");
        }
        sleep(FORGET_EVERY).await;
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
        sleep(REST).await;
    }
}

/// Returns whether there was one.
async fn repack_next(app: &App) -> anyhow::Result<bool> {
    let Some((id, grid)) = builds::next_to_repack(&app.pool).await? else { return Ok(false) };
    let packed =
        app.work.run(move || grid.encoding().map(|encoded| voxel::pack(&encoded, Effort::Best))).await?;
    match packed {
        Ok(packed) => builds::repacked(&app.pool, id, Some(&packed)).await?,
        Err(damaged) => {
            tracing::error!(%id, %damaged, "a stored build is damaged");
            builds::repacked(&app.pool, id, None).await?;
        }
    }
    Ok(true)
}
