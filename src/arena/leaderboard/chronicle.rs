//! What all votes of a ladder say together: who fared how against whom, and how ratings went.

use std::collections::BTreeMap;
use std::sync::Arc;

use sqlx::PgConnection;
use time::{Duration, OffsetDateTime};

use super::super::field::known;
use super::super::{Arena, Choice, ModelKey, Side};

/// A line has no more points than this.
pub(super) const SLOTS: i32 = 200;

/// What a change is measured from.
pub(super) const DAY: Duration = Duration::DAY;

#[derive(Clone, Debug)]
pub struct Chronicle {
    /// So many it has seen.
    pub votes: i64,
    pub duels: Duels,
    pub history: History,
    pub day_ago: DayAgo,
}

/// How the first fared against the second. Each pair stands in here both ways around.
pub type Duels = BTreeMap<(ModelKey, ModelKey), Record>;

/// Those who have had a vote since.
pub type DayAgo = BTreeMap<ModelKey, Then>;

/// Where a model stood before its votes of the last day.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Then {
    pub elo: f64,
    pub votes_since: i64,
}

/// How one model fared: against another, or on a prompt.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Record {
    pub won: i64,
    /// To another; those of `both_bad` are not among them.
    pub lost: i64,
    pub tied: i64,
    pub both_bad: i64,
}

/// How ratings went: of each model, the last one in each slot of time in which it has any.
#[derive(Clone, Debug, Default)]
pub struct History {
    pub lines: BTreeMap<ModelKey, Vec<Point>>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    pub at: OffsetDateTime,
    pub elo: f64,
}

impl Record {
    pub fn votes(&self) -> i64 {
        self.won + self.lost + self.tied + self.both_bad
    }

    /// As the ladder counts them: both bad is a loss, too.
    pub fn losses(&self) -> i64 {
        self.lost + self.both_bad
    }

    /// Of the votes that compare, ties counting half; from 0 to 1.
    pub fn share(&self) -> Option<f64> {
        let compared = self.won + self.lost + self.tied;
        (compared > 0).then(|| (self.won as f64 + 0.5 * self.tied as f64) / compared as f64)
    }

    /// Counts votes for the model that stood on this side.
    pub(super) fn count(&mut self, choice: Choice, side: Side, votes: i64) {
        let counter = match (choice, side) {
            (Choice::A, Side::A) | (Choice::B, Side::B) => &mut self.won,
            (Choice::A, Side::B) | (Choice::B, Side::A) => &mut self.lost,
            (Choice::Tie, _) => &mut self.tied,
            (Choice::BothBad, _) => &mut self.both_bad,
        };
        *counter += votes;
    }

    pub(super) fn add(&mut self, other: Self) {
        self.won += other.won;
        self.lost += other.lost;
        self.tied += other.tied;
        self.both_bad += other.both_bad;
    }
}

pub(super) fn count_duel(duels: &mut Duels, a: &ModelKey, b: &ModelKey, choice: Choice, votes: i64) {
    duels.entry((a.clone(), b.clone())).or_default().count(choice, Side::A, votes);
    duels.entry((b.clone(), a.clone())).or_default().count(choice, Side::B, votes);
}

impl Arena {
    pub async fn chronicle(&self) -> sqlx::Result<Arc<Chronicle>> {
        self.kept.chronicle.get((), self.votes_now(), self.read_chronicle()).await
    }

    pub(super) async fn votes_now(&self) -> sqlx::Result<i64> {
        self.votes_in(&mut *self.pool.acquire().await?).await
    }

    async fn read_chronicle(&self) -> sqlx::Result<(i64, Chronicle)> {
        let mut snapshot = self.snapshot().await?;
        let votes = self.votes_in(&mut snapshot).await?;
        let chronicle = Chronicle {
            votes,
            duels: self.duels(&mut snapshot).await?,
            history: self.history(&mut snapshot, None).await?,
            day_ago: self.day_ago(&mut snapshot).await?,
        };
        Ok((votes, chronicle))
    }

    async fn duels(&self, connection: &mut PgConnection) -> sqlx::Result<Duels> {
        let rows = sqlx::query!(
            r#"
            SELECT model_a, model_b, choice, count(*) AS "votes!"
            FROM votes
            JOIN matchups ON matchups.id = matchup_id
            WHERE settings = $1
            GROUP BY model_a, model_b, choice
            "#,
            self.ladder,
        )
        .fetch_all(connection)
        .await?;
        let mut duels = Duels::new();
        for row in rows {
            let (a, b) = (known(&row.model_a)?, known(&row.model_b)?);
            count_duel(&mut duels, &a, &b, known(&row.choice)?, row.votes);
        }
        Ok(duels)
    }

    /// Of all models, or of one.
    pub(super) async fn history(
        &self,
        connection: &mut PgConnection,
        model: Option<&ModelKey>,
    ) -> sqlx::Result<History> {
        let rows = sqlx::query!(
            r#"
            WITH slotted AS (
                SELECT
                    votes.id, model_a, model_b,
                    floor(
                        ($2 - 1) * extract(epoch FROM at - min(at) OVER ())::float8
                        / greatest(extract(epoch FROM max(at) OVER () - min(at) OVER ())::float8, 1)
                    ) AS slot
                FROM votes
                JOIN matchups ON matchups.id = matchup_id
                WHERE settings = $1 AND ($3::text IS NULL OR $3 IN (model_a, model_b))
            ),
            latest AS (
                SELECT model, max(id) AS id
                FROM slotted
                CROSS JOIN LATERAL (VALUES (model_a), (model_b)) AS side (model)
                WHERE $3::text IS NULL OR model = $3
                GROUP BY model, slot
            )
            SELECT
                model AS "model!", at,
                CASE model WHEN model_a THEN elo_a_after ELSE elo_b_after END AS "elo!"
            FROM latest
            JOIN votes USING (id)
            JOIN matchups ON matchups.id = matchup_id
            ORDER BY model, votes.id
            "#,
            self.ladder,
            SLOTS,
            model.map(ModelKey::as_str),
        )
        .fetch_all(connection)
        .await?;
        let mut history = History::default();
        for row in rows {
            let point = Point { at: row.at, elo: row.elo };
            history.lines.entry(known(&row.model)?).or_default().push(point);
        }
        Ok(history)
    }

    async fn day_ago(&self, connection: &mut PgConnection) -> sqlx::Result<DayAgo> {
        let rows = sqlx::query!(
            r#"
            WITH earliest AS (
                SELECT model, min(votes.id) AS id, count(*) AS votes_since
                FROM votes
                JOIN matchups ON matchups.id = matchup_id
                CROSS JOIN LATERAL (VALUES (model_a), (model_b)) AS side (model)
                WHERE settings = $1 AND at > $2
                GROUP BY model
            )
            SELECT
                model AS "model!", votes_since AS "votes_since!",
                CASE model WHEN model_a THEN elo_a_before ELSE elo_b_before END AS "elo!"
            FROM earliest
            JOIN votes USING (id)
            JOIN matchups ON matchups.id = matchup_id
            "#,
            self.ladder,
            OffsetDateTime::now_utc() - DAY,
        )
        .fetch_all(connection)
        .await?;
        rows.into_iter()
            .map(|row| Ok((known(&row.model)?, Then { elo: row.elo, votes_since: row.votes_since })))
            .collect()
    }
}
