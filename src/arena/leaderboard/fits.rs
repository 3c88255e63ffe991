//! The skill fit, kept up with the votes.

use std::collections::BTreeSet;

use sqlx::PgConnection;
use sqlx::types::Json;

use super::super::field::{self, known};
use super::super::skill::{self, Fit, Tally};
use super::super::{Arena, ModelKey};

/// Phantom games that each model wins against the field's mean, and as many that it loses.
pub(super) const PRIOR: f64 = 1.0;

/// What a fit depends on, in numbers that move when it does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moment {
    votes: i64,
    catalog: i64,
}

/// All votes of a ladder, and whom they are to rank.
#[derive(Clone, Debug)]
pub struct Ballots {
    tallies: Vec<Tally>,
    ranked: BTreeSet<ModelKey>,
}

impl Ballots {
    /// Heavy work.
    pub fn fit(&self) -> Fit {
        skill::fit(&self.tallies, PRIOR, &self.ranked)
    }
}

impl Arena {
    /// What there is to fit, if it is not what there was at the last moment. Always all votes: their ids do
    /// not commit in order, so that none may be called the latest.
    pub async fn ballots_since(&self, last: Option<Moment>) -> sqlx::Result<Option<(Moment, Ballots)>> {
        let field = self.field().await?;
        let mut snapshot = self.snapshot().await?;
        let votes = self.votes_in(&mut snapshot).await?;
        let now = Moment { votes, catalog: field::revision(&mut *snapshot).await? };
        if last == Some(now) {
            return Ok(None);
        }
        let tallies = self.tallies(&mut snapshot).await?;
        let entries = self.entries(&mut snapshot).await?;
        let on_ladder =
            entries.into_iter().filter(|entry| self.admits(&field, &entry.model, entry.standing.votes() > 0));
        let ranked = on_ladder.map(|entry| entry.model.key).collect();
        Ok(Some((now, Ballots { tallies, ranked })))
    }

    /// Unless there is one that saw more votes.
    pub async fn keep_fit(&self, fit: &Fit) -> sqlx::Result<()> {
        sqlx::query!(
            "
            INSERT INTO skill_fits (settings, votes, fit)
            VALUES ($1, $2, $3)
            ON CONFLICT (settings) DO UPDATE
            SET votes = excluded.votes, fit = excluded.fit, computed_at = now()
            WHERE skill_fits.votes <= excluded.votes
            ",
            self.ladder,
            i64::try_from(fit.votes).unwrap_or(i64::MAX),
            Json(fit) as _,
        )
        .execute(&self.pool)
        .await?;
        Ok(())
    }

    async fn tallies(&self, connection: &mut PgConnection) -> sqlx::Result<Vec<Tally>> {
        let rows = sqlx::query!(
            r#"
            SELECT prompt_id, model_a, model_b, choice, count(*) AS "count!"
            FROM votes
            JOIN matchups ON matchups.id = matchup_id
            WHERE settings = $1
            GROUP BY prompt_id, model_a, model_b, choice
            "#,
            self.ladder,
        )
        .fetch_all(connection)
        .await?;
        let mut tallies = Vec::with_capacity(rows.len());
        for row in rows {
            tallies.push(Tally {
                prompt: known(&row.prompt_id)?,
                a: known(&row.model_a)?,
                b: known(&row.model_b)?,
                choice: known(&row.choice)?,
                count: u32::try_from(row.count).unwrap_or(u32::MAX),
            });
        }
        Ok(tallies)
    }
}
