//! Computing a ladder's statistics as votes come in, and storing them for the next server that starts.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

use sqlx::PgConnection;
use sqlx::types::Json;
use time::OffsetDateTime;
use tokio::task::spawn_blocking;

use super::super::elo::Standing;
use super::super::sampling::TimesShown;
use super::super::tallies::{self, LadderTallies, Pace};
use super::super::{Arena, ModelKey, PromptFilter, heavy_voters, lineup, shown};
use super::refreshing_cache::{Computed, RefreshingCache};
use super::{LadderStats, Leaderboard, Published, RatingHistory, expenses};

/// How many batches of votes one computation reads for the history; the next one reads on.
const HISTORY_BATCHES: usize = 10;

/// Changes whenever what the statistics depend on does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::arena) struct StatsVersion {
    votes: i64,
    catalog: i64,
    published: Published,
}

impl Arena {
    /// The statistics of all votes; a moment late where there are many.
    pub async fn stats(&self) -> sqlx::Result<Arc<LadderStats>> {
        let now = self.stats_version(&mut *self.replica.acquire().await?).await?;
        let make = |is_first| {
            let arena = self.clone();
            async move { arena.compute_stats(is_first).await }
        };
        self.stats.get(now, make).await
    }

    /// The ladder of some prompts, by skill; empty where there are none.
    pub async fn filtered_ladder(&self, filter: &PromptFilter) -> sqlx::Result<Arc<Leaderboard>> {
        if !self.lineup().await?.may_match(filter) {
            return Ok(Arc::new(Leaderboard::empty()));
        }
        let now = self.stats_version(&mut *self.replica.acquire().await?).await?;
        let ladder = self
            .filtered_ladders
            .get_with(filter.clone(), async { Arc::new(RefreshingCache::new(&self.refresh_permits)) })
            .await;
        let make = |_| {
            let (arena, filter) = (self.clone(), filter.clone());
            async move { arena.compute_filtered_ladder(&filter).await }
        };
        ladder.get(now, make).await
    }

    /// Each vote counts for two models, hence the division.
    async fn stats_version(&self, connection: &mut PgConnection) -> sqlx::Result<StatsVersion> {
        let published = self.published(&mut *connection).await?;
        let standings = self.standings(&mut *connection, published).await?;
        let votes = standings.values().map(Standing::votes).sum::<i64>() / 2;
        let catalog = lineup::revision(connection).await?;
        Ok(StatsVersion { votes, catalog, published })
    }

    /// Starts from what this or another server has stored. The first computation of this server returns the stored
    /// statistics as they are, and so does a later one if nothing has changed since.
    async fn compute_stats(&self, is_first: bool) -> sqlx::Result<Computed<StatsVersion, LadderStats>> {
        let started = Instant::now();
        let now = OffsetDateTime::now_utc();
        let lineup = self.lineup().await?;
        let stored = self.stored_stats().await?;
        let mut snapshot = self.snapshot().await?;
        let stats_version = self.stats_version(&mut snapshot).await?;
        let mut history = match stored {
            Some(stored) if is_first || stored.version == Some(stats_version) => return Ok(stored),
            Some(stored) => stored.value.history,
            None => RatingHistory::default(),
        };
        let pace = if is_first { Pace::AtOnce } else { Pace::Background };
        history.follow_decisions(&mut snapshot).await?;
        let published = stats_version.published;
        self.read_new_votes(&mut snapshot, &mut history, published, now).await?;
        let (entries, _) =
            self.entries(&mut snapshot, published, &lineup.builders, &TimesShown::new()).await?;
        if history.is_whole {
            let rated = entries.iter().filter(|entry| entry.standing.votes() > 0);
            history.align_with_ratings(rated.map(|entry| (&entry.model.key, entry.standing.elo)), now);
        }
        let on_ladder = entries.into_iter().filter(|entry| self.is_listed(&lineup, entry));
        let ranked: BTreeSet<ModelKey> = on_ladder.map(|entry| entry.model.key).collect();
        let all = PromptFilter::default();
        let tallies = tallies::read(&mut snapshot, &self.settings, &all, pace, published).await?;
        let heavy_voters = heavy_voters::read(&mut snapshot, &self.settings, pace, published).await?;
        let expenses = expenses::read(&mut snapshot, &self.settings, &all).await?;
        snapshot.commit().await?;
        let compute = move || LadderStats::of(&tallies, expenses, &heavy_voters, &ranked, history, now);
        let stats = run_blocking(compute).await?;
        self.store_stats(stats_version, &stats, started.elapsed()).await?;
        Ok(Computed { version: stats.history.is_whole.then_some(stats_version), value: stats, stored: None })
    }

    fn delay_minutes(&self) -> i32 {
        i32::try_from(self.results_delay.as_secs() / 60).unwrap_or(i32::MAX)
    }

    async fn read_new_votes(
        &self,
        connection: &mut PgConnection,
        history: &mut RatingHistory,
        published: Published,
        now: OffsetDateTime,
    ) -> sqlx::Result<()> {
        for _ in 0..HISTORY_BATCHES {
            let unread = history.unread(connection, &self.settings, published).await?;
            history.extend(unread, now);
            if history.is_whole {
                break;
            }
        }
        Ok(())
    }

    async fn compute_filtered_ladder(
        &self,
        filter: &PromptFilter,
    ) -> sqlx::Result<Computed<StatsVersion, Leaderboard>> {
        let now = OffsetDateTime::now_utc();
        let lineup = self.lineup().await?;
        let mut snapshot = self.snapshot().await?;
        let stats_version = self.stats_version(&mut snapshot).await?;
        let published = stats_version.published;
        let shown = shown::read(&mut *snapshot, &self.settings, filter).await?;
        let mut builders = lineup::builders(&mut *snapshot, &self.settings, filter).await?;
        builders.retain(|model| lineup.builders.contains(model));
        let (mut entries, _) =
            self.entries(&mut snapshot, published, &builders, shown.to_show(published)).await?;
        let tallies = tallies::read(&mut snapshot, &self.settings, filter, Pace::AtOnce, published).await?;
        let expenses = expenses::read(&mut snapshot, &self.settings, filter).await?;
        snapshot.commit().await?;
        let candidates: BTreeSet<_> = entries.iter().map(|entry| entry.model.key.clone()).collect();
        // Visitors wait for this, so voters are not read. Its intervals are clustered by prompts alone.
        let history = RatingHistory::default();
        let compute = move || LadderStats::of(&tallies, expenses, &[], &candidates, history, now);
        let mut stats = run_blocking(compute).await?;
        for entry in &mut entries {
            entry.set_counts(stats.total(&entry.model.key));
        }
        entries.retain(|entry| self.is_listed(&lineup, entry));
        stats.fit.retain(|model| entries.iter().any(|entry| entry.model.key == *model));
        let board = Leaderboard::by_skill(now, entries, Arc::new(stats));
        Ok(Computed { version: Some(stats_version), value: board, stored: None })
    }

    /// The stored statistics; none if there are none or another version of the program has stored them.
    async fn stored_stats(&self) -> sqlx::Result<Option<Computed<StatsVersion, LadderStats>>> {
        let row = sqlx::query!(
            "
            SELECT votes, catalog, decision, through, took_ms, computed_at, stats::text
            FROM ladder_stats
            WHERE settings = $1 AND delay_minutes = $2
            ",
            self.settings as _,
            self.delay_minutes(),
        )
        .fetch_optional(&self.pool)
        .await?;
        let Some(row) = row else { return Ok(None) };
        let Some(text) = row.stats else { return Ok(None) };
        let read: Option<LadderStats> = run_blocking(move || serde_json::from_str(&text).ok()).await?;
        let age = (OffsetDateTime::now_utc() - row.computed_at).unsigned_abs();
        let took = Duration::from_millis(row.took_ms.unsigned_abs());
        let published = Published { through: row.through, decision: row.decision };
        let version = StatsVersion { votes: row.votes, catalog: row.catalog, published };
        let made = |value: LadderStats| Computed {
            version: value.history.is_whole.then_some(version),
            value,
            stored: Some((took, age)),
        };
        Ok(read.map(made))
    }

    /// Stores the statistics, unless the stored ones follow a later decision or more votes.
    async fn store_stats(
        &self,
        version: StatsVersion,
        stats: &LadderStats,
        took: Duration,
    ) -> sqlx::Result<()> {
        sqlx::query!(
            "
            INSERT INTO ladder_stats
                (settings, votes, catalog, took_ms, computed_at, stats, decision, through, delay_minutes)
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
            ON CONFLICT (settings) DO UPDATE
            SET votes = excluded.votes, catalog = excluded.catalog, took_ms = excluded.took_ms,
                computed_at = excluded.computed_at, stats = excluded.stats, decision = excluded.decision,
                through = excluded.through, delay_minutes = excluded.delay_minutes
            WHERE (ladder_stats.decision, ladder_stats.votes) <= (excluded.decision, excluded.votes)
               OR ladder_stats.delay_minutes <> excluded.delay_minutes
            ",
            self.settings as _,
            version.votes,
            version.catalog,
            i64::try_from(took.as_millis()).unwrap_or(i64::MAX),
            stats.computed_at,
            Json(stats) as _,
            version.published.decision,
            version.published.through,
            self.delay_minutes(),
        )
        .execute(&self.pool)
        .await?;
        Ok(())
    }
}

impl Leaderboard {
    fn empty() -> Self {
        let now = OffsetDateTime::now_utc();
        let (tallies, history) = (LadderTallies::default(), RatingHistory::default());
        let stats = LadderStats::of(&tallies, BTreeMap::new(), &[], &BTreeSet::new(), history, now);
        Self::by_skill(now, Vec::new(), Arc::new(stats))
    }
}

/// Runs heavy work off the async threads. The permits of [`super::refreshing_cache`] limit how much of it runs at a
/// time.
async fn run_blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> sqlx::Result<T> {
    spawn_blocking(work).await.map_err(|lost| sqlx::Error::Protocol(lost.to_string()))
}
