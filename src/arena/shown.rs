//! How often each model was shown, as the draw weighs it.

use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Duration, Instant};

use sqlx::PgPool;

use super::field::known;
use super::sampling::Shown;

/// The draw may weigh by counts of a moment ago: what one second adds to them moves no weight that matters, and
/// summing them anew for every matchup would cost more than the matchup.
const FRESH_FOR: Duration = Duration::from_secs(1);

#[derive(Default)]
pub(super) struct ShownCounts {
    latest: RwLock<Option<(Instant, Arc<Shown>)>>,
}

impl ShownCounts {
    pub async fn latest(&self, pool: &PgPool, ladder: &str) -> sqlx::Result<Arc<Shown>> {
        let latest = self.latest.read().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some((read_at, shown)) = latest
            && read_at.elapsed() < FRESH_FOR
        {
            return Ok(shown);
        }
        let read_at = Instant::now();
        let rows = sqlx::query!(
            r#"
            SELECT model_key, sum(times)::bigint AS "times!"
            FROM shown
            WHERE settings = $1
            GROUP BY model_key
            "#,
            ladder,
        )
        .fetch_all(pool)
        .await?;
        let shown = rows.into_iter().map(|row| Ok((known(&row.model_key)?, row.times)));
        let shown = Arc::new(shown.collect::<sqlx::Result<Shown>>()?);
        *self.latest.write().unwrap_or_else(PoisonError::into_inner) = Some((read_at, Arc::clone(&shown)));
        Ok(shown)
    }
}
