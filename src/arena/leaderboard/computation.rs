//! Computing a ladder's statistics as votes come in, and storing them for the next server that starts.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use sqlx::types::Json;
use sqlx::{PgConnection, PgExecutor};
use time::OffsetDateTime;
use tokio::task::spawn_blocking;

use super::super::sampling::TimesShown;
use super::super::tallies::{self, LadderTallies, Pace};
use super::super::{Arena, ModelKey, lineup, shown};
use super::refreshing_cache::{Computed, RefreshingCache};
use super::{LadderStats, Leaderboard, RatingHistory};

/// How many batches of votes one computation reads for the history; the next one reads on.
const HISTORY_BATCHES: usize = 10;

/// Changes whenever what the statistics depend on does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::arena) struct StatsVersion {
    votes: i64,
    catalog: i64,
    /// The latest decision about votes.
    decision: i64,
}

impl Arena {
    /// The statistics of all votes; a moment late where there are many.
    pub async fn stats(&self) -> sqlx::Result<Arc<LadderStats>> {
        let now = self.stats_version(&self.replica).await?;
        let make = |is_first| {
            let arena = self.clone();
            async move { arena.compute_stats(is_first).await }
        };
        self.stats.get(now, make).await
    }

    /// The ladder of one tag's prompts, by skill; empty where no prompt has the tag.
    pub async fn tag_ladder(&self, tag: &str) -> sqlx::Result<Arc<Leaderboard>> {
        if !self.lineup().await?.tags.iter().any(|known| known == tag) {
            return Ok(Arc::new(Leaderboard::empty()));
        }
        let now = self.stats_version(&self.replica).await?;
        let ladder = self
            .tag_ladders
            .get_with(tag.to_owned(), async { Arc::new(RefreshingCache::new(&self.refresh_permits)) })
            .await;
        let make = |_| {
            let (arena, tag) = (self.clone(), tag.to_owned());
            async move { arena.compute_tag_ladder(&tag).await }
        };
        ladder.get(now, make).await
    }

    /// Each vote counts for two models, hence the division.
    async fn stats_version(&self, executor: impl PgExecutor<'_>) -> sqlx::Result<StatsVersion> {
        sqlx::query_as!(
            StatsVersion,
            r#"
            SELECT
                coalesce(sum(wins + losses + ties) / 2, 0)::bigint AS "votes!",
                (SELECT catalog_revision FROM installation) AS "catalog!",
                (SELECT coalesce(max(id), 0) FROM vote_decisions) AS "decision!"
            FROM ratings
            WHERE settings = $1
            "#,
            self.settings as _,
        )
        .fetch_one(executor)
        .await
    }

    /// Starts from what this or another server has stored. The first computation of this server returns the stored
    /// statistics as they are, and so does a later one if nothing has changed since.
    async fn compute_stats(&self, is_first: bool) -> sqlx::Result<Computed<StatsVersion, LadderStats>> {
        let started = Instant::now();
        let now = OffsetDateTime::now_utc();
        let lineup = self.lineup().await?;
        let stored = self.stored_stats().await?;
        let mut snapshot = self.snapshot().await?;
        let stats_version = self.stats_version(&mut *snapshot).await?;
        let mut history = match stored {
            Some(stored) if is_first || stored.version == Some(stats_version) => return Ok(stored),
            Some(stored) => stored.value.history,
            None => RatingHistory::default(),
        };
        let pace = if is_first { Pace::AtOnce } else { Pace::Background };
        history.follow_decisions(&mut snapshot).await?;
        self.read_new_votes(&mut snapshot, &mut history, now).await?;
        let (entries, _) = self.entries(&mut *snapshot, &lineup.builders, &TimesShown::new()).await?;
        if history.is_whole {
            let rated = entries.iter().filter(|entry| entry.standing.votes() > 0);
            history.align_with_ratings(rated.map(|entry| (&entry.model.key, entry.standing.elo)), now);
        }
        let on_ladder = entries.into_iter().filter(|entry| self.is_listed(&lineup, entry));
        let ranked: BTreeSet<ModelKey> = on_ladder.map(|entry| entry.model.key).collect();
        let tallies = tallies::read(&mut snapshot, &self.settings, None, pace).await?;
        snapshot.commit().await?;
        let stats = run_blocking(move || LadderStats::of(&tallies, &ranked, history, now)).await?;
        self.store_stats(stats_version, &stats, started.elapsed()).await?;
        Ok(Computed { version: stats.history.is_whole.then_some(stats_version), value: stats, stored: None })
    }

    async fn read_new_votes(
        &self,
        connection: &mut PgConnection,
        history: &mut RatingHistory,
        now: OffsetDateTime,
    ) -> sqlx::Result<()> {
        for _ in 0..HISTORY_BATCHES {
            let unread = history.unread(connection, &self.settings).await?;
            history.extend(unread, now);
            if history.is_whole {
                break;
            }
        }
        Ok(())
    }

    async fn compute_tag_ladder(&self, tag: &str) -> sqlx::Result<Computed<StatsVersion, Leaderboard>> {
        let now = OffsetDateTime::now_utc();
        let lineup = self.lineup().await?;
        let mut snapshot = self.snapshot().await?;
        let stats_version = self.stats_version(&mut *snapshot).await?;
        let shown = shown::read(&mut *snapshot, &self.settings, Some(tag)).await?.closed;
        let builders = lineup::builders_of_tag(&mut *snapshot, &self.settings, tag).await?;
        let (mut entries, _) = self.entries(&mut *snapshot, &builders, &shown).await?;
        let tallies = tallies::read(&mut snapshot, &self.settings, Some(tag), Pace::AtOnce).await?;
        snapshot.commit().await?;
        let candidates: BTreeSet<_> = entries.iter().map(|entry| entry.model.key.clone()).collect();
        let mut stats =
            run_blocking(move || LadderStats::of(&tallies, &candidates, RatingHistory::default(), now))
                .await?;
        for entry in &mut entries {
            entry.set_counts(stats.total(&entry.model.key));
        }
        entries.retain(|entry| self.is_listed(&lineup, entry));
        stats.fit.models.retain(|model, _| entries.iter().any(|entry| entry.model.key == *model));
        let board = Leaderboard::by_skill(now, entries, Arc::new(stats));
        Ok(Computed { version: Some(stats_version), value: board, stored: None })
    }

    /// The stored statistics; none if there are none or another version of the program has stored them.
    async fn stored_stats(&self) -> sqlx::Result<Option<Computed<StatsVersion, LadderStats>>> {
        let row = sqlx::query!(
            "
            SELECT votes, catalog, decision, took_ms, computed_at, stats::text
            FROM ladder_stats
            WHERE settings = $1
            ",
            self.settings as _,
        )
        .fetch_optional(&self.pool)
        .await?;
        let Some(row) = row else { return Ok(None) };
        let Some(text) = row.stats else { return Ok(None) };
        let read: Option<LadderStats> = run_blocking(move || serde_json::from_str(&text).ok()).await?;
        let age = (OffsetDateTime::now_utc() - row.computed_at).unsigned_abs();
        let took = Duration::from_millis(row.took_ms.unsigned_abs());
        let version = StatsVersion { votes: row.votes, catalog: row.catalog, decision: row.decision };
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
            INSERT INTO ladder_stats (settings, votes, catalog, took_ms, computed_at, stats, decision)
            VALUES ($1, $2, $3, $4, $5, $6, $7)
            ON CONFLICT (settings) DO UPDATE
            SET votes = excluded.votes, catalog = excluded.catalog, decision = excluded.decision, took_ms = excluded.took_ms,
                computed_at = excluded.computed_at, stats = excluded.stats
            WHERE (ladder_stats.decision, ladder_stats.votes) <= (excluded.decision, excluded.votes)
            ",
            self.settings as _,
            version.votes,
            version.catalog,
            i64::try_from(took.as_millis()).unwrap_or(i64::MAX),
            stats.computed_at,
            Json(stats) as _,
            version.decision,
        )
        .execute(&self.pool)
        .await?;
        Ok(())
    }
}

impl Leaderboard {
    fn empty() -> Self {
        let now = OffsetDateTime::now_utc();
        let stats =
            LadderStats::of(&LadderTallies::default(), &BTreeSet::new(), RatingHistory::default(), now);
        Self::by_skill(now, Vec::new(), Arc::new(stats))
    }
}

/// Runs heavy work off the async threads. The permits of [`super::refreshing_cache`] limit how much of it runs at a
/// time.
async fn run_blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> sqlx::Result<T> {
    spawn_blocking(work).await.map_err(|lost| sqlx::Error::Protocol(lost.to_string()))
}
