//! How often each model was shown.

use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Duration, Instant};

use sqlx::{PgExecutor, PgPool};
use tokio::sync::Mutex;
use tokio::time::timeout;

use super::leaderboard::Published;
use super::sampling::TimesShown;
use super::{ModelKey, PromptFilter, Settings};

/// How old the counts may be. A second's worth of matchups hardly changes the weights of the draw, and summing the
/// counts for every matchup would cost more than the matchup.
const FRESH_FOR: Duration = Duration::from_secs(1);

/// All who need the counts wait while they are read, so reading must not take for ever.
const READ_TIMEOUT: Duration = Duration::from_secs(5);

#[derive(Default)]
pub(super) struct ShownCache {
    latest: RwLock<Option<(Instant, Arc<ShownCounts>)>>,
    /// Locked by the one request that reads them again, while others wait.
    reading: Mutex<()>,
}

/// The counts by model at one moment.
#[derive(Default)]
pub(super) struct ShownCounts {
    /// The counts that the draw uses.
    pub all: TimesShown,
    /// Without open matchups, so that watching the leaderboard does not reveal who is in one.
    closed: TimesShown,
    /// As they were when results of that time were published.
    late: TimesShown,
}

impl ShownCounts {
    /// The counts that visitors may see.
    pub fn to_show(&self, published: Published) -> &TimesShown {
        if published.is_all() { &self.closed } else { &self.late }
    }
}

impl ShownCache {
    pub async fn latest(&self, pool: &PgPool, settings: &Settings) -> sqlx::Result<Arc<ShownCounts>> {
        let asked = Instant::now();
        if let Some(counts) = self.since(asked.checked_sub(FRESH_FOR).unwrap_or(asked)) {
            return Ok(counts);
        }
        let _reading = self.reading.lock().await;
        if let Some(counts) = self.since(asked) {
            return Ok(counts);
        }
        let counts = timeout(READ_TIMEOUT, read(pool, settings, &PromptFilter::default()))
            .await
            .unwrap_or(Err(sqlx::Error::PoolTimedOut))?;
        let (counts, read_at) = (Arc::new(counts), Instant::now());
        *self.latest.write().unwrap_or_else(PoisonError::into_inner) = Some((read_at, Arc::clone(&counts)));
        Ok(counts)
    }

    fn since(&self, moment: Instant) -> Option<Arc<ShownCounts>> {
        let latest = self.latest.read().unwrap_or_else(PoisonError::into_inner).clone();
        latest.filter(|(read_at, _)| *read_at >= moment).map(|(_, counts)| counts)
    }
}

/// Reads the counts on some prompts.
pub(super) async fn read(
    executor: impl PgExecutor<'_>,
    settings: &Settings,
    filter: &PromptFilter,
) -> sqlx::Result<ShownCounts> {
    let rows = sqlx::query!(
        r#"
        SELECT
            model_key AS "model!: ModelKey", sum(times)::bigint AS "times!", sum(open)::bigint AS "open!",
            sum(public)::bigint AS "public!"
        FROM (
            SELECT prompt_id, model_key, times, 0 AS open, public
            FROM shown
            WHERE settings = $1
            UNION ALL
            SELECT prompt_id, side.model_key, 0, 1, 0
            FROM open_matchups
            JOIN matchups ON matchups.id = matchup_id
            CROSS JOIN LATERAL (VALUES (model_a), (model_b)) AS side (model_key)
            WHERE settings = $1 AND expires_at > now() AND num_nulls(fetched_a, fetched_b) = 0
        ) counted
        WHERE num_nonnulls($2::text, $3::boolean) = 0 OR prompt_id IN (
            SELECT id
            FROM prompts
            WHERE ($2 IS NULL OR $2 = ANY(tags)) AND ($3 IS NULL OR held_out = $3)
        )
        GROUP BY model_key
        "#,
        settings as _,
        filter.tag,
        filter.held_out,
    )
    .fetch_all(executor)
    .await?;
    let mut counts = ShownCounts::default();
    for row in rows {
        counts.closed.insert(row.model.clone(), row.times - row.open);
        counts.late.insert(row.model.clone(), row.public);
        counts.all.insert(row.model, row.times);
    }
    Ok(counts)
}
