//! Tasks that run in the background of a server.

mod budget_alarms;

use std::collections::HashSet;
use std::time::Duration;

use time::OffsetDateTime;
use tokio::task::JoinSet;
use tokio::time::sleep;
use uuid::Uuid;

pub use self::budget_alarms::watch_budgets;
use crate::app::App;
use crate::arena::builds::StoredGrid;
use crate::arena::{a2a_tasks, alarms, builds, cleanup, drafts, leaderboard, lent_keys, person_checks};
use crate::work::WorkClient;
use voxel::codec::{self, CompressionLevel};

/// Heavy tasks that nobody waits for begin this long after the start, so that the first visitors come first.
const START_DELAY: Duration = Duration::from_secs(5);

/// How often stored grids are looked through for one to compress better.
const REPACK_INTERVAL: Duration = Duration::from_secs(30);

/// How often new votes are looked for. Statistics that take long to compute are renewed less often.
const STATS_INTERVAL: Duration = Duration::from_secs(3);

/// How often late counts are looked at.
const PUBLISH_INTERVAL: Duration = Duration::from_secs(60);

/// How often withheld builds are looked through for those with enough votes.
const SHOW_JUDGED_INTERVAL: Duration = Duration::from_secs(60);

/// How often the budgets are looked at.
const BUDGET_INTERVAL: Duration = Duration::from_secs(5);

const PURGE_INTERVAL: Duration = Duration::from_secs(600);

/// Starts all tasks. They end when the set is dropped.
pub fn start(app: &App) -> JoinSet<()> {
    let mut tasks = JoinSet::new();
    tasks.spawn(after_start(repack(app.clone())));
    tasks.spawn(after_start(count_kinds(app.clone())));
    tasks.spawn(refresh_stats(app.clone()));
    tasks.spawn(publish_shown_counts(app.clone()));
    tasks.spawn(after_start(watch_votes(app.clone())));
    tasks.spawn(raise_budget_alarms(app.clone()));
    tasks.spawn(after_start(purge_expired(app.clone())));
    tasks.spawn(after_start(show_judged(app.clone())));
    tasks
}

async fn after_start(task: impl Future<Output = ()>) {
    sleep(START_DELAY).await;
    task.await;
}

/// Where results are delayed, the counts of how often models were shown are too.
async fn publish_shown_counts(app: App) {
    let delay = app.arena.results_delay;
    while !delay.is_zero() {
        if let Err(error) = leaderboard::publish_shown_counts(&app.pool, delay).await
            && !app.database_health.note(&error)
        {
            tracing::warn!(%error, "how often models were shown could not be published");
        }
        sleep(PUBLISH_INTERVAL).await;
    }
}

/// Keeps the leaderboard's statistics up to date, so that no visitor has to wait for them. Several servers may do this at
/// once: the second finds what the first has stored.
async fn refresh_stats(app: App) {
    loop {
        if let Err(error) = app.arena.stats().await
            && !app.database_health.note(&error)
        {
            tracing::warn!(%error, "the leaderboard's statistics could not be computed");
        }
        sleep(STATS_INTERVAL).await;
    }
}

/// Looks for what is unusual about recent votes, and logs each kind of alarm when it begins.
async fn watch_votes(app: App) {
    let mut known = HashSet::new();
    loop {
        match app.arena.vote_report().await {
            Ok(report) => {
                let kinds: HashSet<_> =
                    report.alarms.iter().map(|alarm| (alarm.kind, alarm.severity)).collect();
                for (kind, severity) in kinds.difference(&known) {
                    let (kind, severity) = (kind.name(), severity.name());
                    tracing::warn!(kind, severity, "recent votes are unusual; see /admin/votes");
                }
                known = kinds;
            }
            Err(error) if app.database_health.note(&error) => {}
            Err(error) => tracing::warn!(%error, "recent votes could not be checked"),
        }
        sleep(alarms::REFRESH_INTERVAL).await;
    }
}

/// Raises and sends alarms about budgets.
async fn raise_budget_alarms(app: App) {
    loop {
        if let Err(error) = watch_budgets(&app).await
            && !app.database_health.note(&error)
        {
            tracing::warn!(%error, "the budgets could not be checked");
        }
        sleep(BUDGET_INTERVAL).await;
    }
}

/// Removes sessions, matchups, drafts and person checks that have expired, and rate limits of visitors who have left.
async fn purge_expired(app: App) {
    loop {
        app.limits.drop_idle();
        if let Err(error) = tokio::try_join!(
            cleanup::purge(&app.pool, OffsetDateTime::now_utc()),
            lent_keys::purge(&app.pool),
            app.sessions.purge(),
            drafts::purge(&app.pool),
            person_checks::purge(&app.pool),
            a2a_tasks::purge(&app.pool)
        ) && !app.database_health.note(&error)
        {
            tracing::warn!(%error, "expired rows could not be removed");
        }
        sleep(PURGE_INTERVAL).await;
    }
}

/// Shows builds of held-out prompts once there are enough votes on them.
async fn show_judged(app: App) {
    loop {
        if let Err(error) = builds::show_judged(&app.pool, app.config.held_out_votes).await {
            tracing::warn!(%error, "builds with enough votes could not be shown");
        }
        sleep(SHOW_JUDGED_INTERVAL).await;
    }
}

/// Counts the kinds of blocks of builds that an older version stored. New builds come with the count.
async fn count_kinds(app: App) {
    loop {
        match count_next_kinds(&app).await {
            Ok(true) => continue,
            Ok(false) => {}
            Err(error) if error.downcast_ref().is_some_and(|error| app.database_health.note(error)) => {}
            Err(error) => {
                tracing::warn!(error = format!("{error:#}"), "kinds of blocks could not be counted");
            }
        }
        sleep(REPACK_INTERVAL).await;
    }
}

/// Returns whether there were builds left to count.
async fn count_next_kinds(app: &App) -> anyhow::Result<bool> {
    let grids = builds::next_to_count(&app.pool).await?;
    if grids.is_empty() {
        return Ok(false);
    }
    let count = move || -> Vec<(Uuid, u8)> {
        let kinds = |grid: StoredGrid| codec::count_kinds(&grid.encoding().ok()?).ok();
        grids.into_iter().map(|(id, grid)| (id, kinds(grid).unwrap_or(0))).collect()
    };
    let counted = app.work.run(WorkClient::BACKGROUND, count).await?;
    for (id, _) in counted.iter().filter(|(_, kinds)| *kinds == 0) {
        tracing::error!(%id, "a stored build is damaged");
    }
    builds::store_kinds(&app.pool, &counted).await?;
    Ok(true)
}

/// Compresses large grids again, as well as possible, one at a time.
async fn repack(app: App) {
    loop {
        match repack_next(&app).await {
            Ok(true) => continue,
            Ok(false) => {}
            Err(error) if error.downcast_ref().is_some_and(|error| app.database_health.note(error)) => {}
            Err(error) => {
                tracing::warn!(error = format!("{error:#}"), "a grid could not be compressed again");
            }
        }
        sleep(REPACK_INTERVAL).await;
    }
}

/// Returns whether a grid was left to compress.
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
