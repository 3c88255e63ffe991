//! Which votes results may show.
//!
//! Where results are delayed, whoever floods the arena does not see what it does, and an admin has time to withdraw the
//! votes before anybody sees them. The delay only concerns what is shown: votes are counted at once, and a voter's own
//! reveal shows the ratings of the moment.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use sqlx::{PgConnection, PgExecutor, PgPool};
use time::OffsetDateTime;

use crate::arena::elo::Standing;
use crate::arena::{Arena, ModelKey};

/// The votes that results may show: those up to an id, as they are after a decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Published {
    pub through: i64,
    /// The latest decision about votes.
    pub decision: i64,
}

/// Models with a rating.
pub(in crate::arena) type LadderStandings = Arc<BTreeMap<ModelKey, Standing>>;

impl Published {
    /// Whether votes are shown as soon as they are counted.
    pub fn is_all(self) -> bool {
        self.through == i64::MAX
    }
}

impl Arena {
    /// With a delay, this changes once a minute, so that what follows from it can be cached.
    pub async fn published(&self, executor: impl PgExecutor<'_>) -> sqlx::Result<Published> {
        let until = OffsetDateTime::now_utc() - self.results_delay;
        let until = (!self.results_delay.is_zero()).then(|| until.truncate_to_minute());
        sqlx::query_as!(
            Published,
            r#"
            SELECT
                CASE WHEN $1::timestamptz IS NULL THEN 9223372036854775807
                     ELSE coalesce((SELECT id FROM votes WHERE at <= $1 ORDER BY at DESC LIMIT 1), 0)
                END AS "through!",
                (SELECT coalesce(max(id), 0) FROM vote_decisions) AS "decision!"
            "#,
            until,
        )
        .fetch_one(executor)
        .await
    }

    /// The standings after the published votes.
    pub(in crate::arena) async fn standings(
        &self,
        connection: &mut PgConnection,
        published: Published,
    ) -> sqlx::Result<LadderStandings> {
        if published.is_all() {
            return self.read_standings(connection, published).await;
        }
        if let Some(known) = self.standings.get(&published).await {
            return Ok(known);
        }
        let standings = self.read_standings(connection, published).await?;
        self.standings.insert(published, Arc::clone(&standings)).await;
        Ok(standings)
    }

    async fn read_standings(
        &self,
        connection: &mut PgConnection,
        published: Published,
    ) -> sqlx::Result<LadderStandings> {
        let rows = sqlx::query!(
            r#"
            SELECT
                model_key AS "model!: ModelKey",
                (elo, wins, losses, ties, both_bad) AS "standing!: Standing"
            FROM standings_before($2)
            WHERE settings = $1
            "#,
            self.settings as _,
            published.through.saturating_add(1),
        )
        .fetch_all(connection)
        .await?;
        Ok(Arc::new(rows.into_iter().map(|row| (row.model, row.standing)).collect()))
    }
}

/// Shows the counts of how often models were shown that were held back, and holds back those of now. Of several servers
/// one does so.
pub async fn publish_shown_counts(pool: &PgPool, delay: Duration) -> sqlx::Result<()> {
    let mut transaction = pool.begin().await?;
    let is_due = sqlx::query!(
        "UPDATE installation SET shown_held_at = now() WHERE shown_held_at <= $1",
        OffsetDateTime::now_utc() - delay,
    )
    .execute(&mut *transaction)
    .await?;
    if is_due.rows_affected() > 0 {
        sqlx::query!("UPDATE shown SET public = held, held = times").execute(&mut *transaction).await?;
    }
    transaction.commit().await
}
