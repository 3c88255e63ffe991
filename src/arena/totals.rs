//! How much there is, and what it says of the arena itself.

use std::collections::BTreeSet;

use sqlx::types::Json;

use super::Arena;
use super::skill::SideEffect;

/// One ladder's sizes.
#[derive(Clone, Debug, PartialEq)]
pub struct Totals {
    pub votes: i64,
    pub matchups: i64,
    /// Who has voted at least once.
    pub voters: i64,
    /// Prompts with something to compare, and the models that take part in them.
    pub prompts: usize,
    pub models: usize,
    /// Of those, how many are shipped with the program.
    pub references: usize,
    /// What standing on the left is worth, if that could be told.
    pub side: Option<Side>,
}

/// In rating points, with a 95 % interval where there is one, from so many votes.
#[derive(Clone, Debug, PartialEq)]
pub struct Side {
    pub points: f64,
    pub interval: Option<(f64, f64)>,
    pub votes: i64,
}

impl Arena {
    /// Looks through all votes: not for every visitor.
    pub async fn totals(&self) -> sqlx::Result<Totals> {
        let field = self.field().await?;
        let entrants = || field.contests().flat_map(|contest| &contest.entrants);
        let references = entrants().filter(|entrant| entrant.is_reference);
        let row = sqlx::query!(
            r#"
            SELECT count(*) AS "votes!", count(DISTINCT voter_id) AS "voters!"
            FROM votes
            JOIN matchups ON matchups.id = matchup_id
            WHERE settings = $1
            "#,
            self.ladder,
        )
        .fetch_one(&self.pool)
        .await?;
        Ok(Totals {
            votes: row.votes,
            voters: row.voters,
            matchups: self.matchups_served().await?,
            prompts: field.contests().count(),
            models: entrants().map(|entrant| &entrant.model).collect::<BTreeSet<_>>().len(),
            references: references.map(|entrant| &entrant.model).collect::<BTreeSet<_>>().len(),
            side: self.side().await?,
        })
    }

    async fn matchups_served(&self) -> sqlx::Result<i64> {
        let shown = sqlx::query_scalar!(
            r#"SELECT coalesce(sum(served), 0)::bigint AS "served!" FROM shown WHERE settings = $1"#,
            self.ladder,
        )
        .fetch_one(&self.pool)
        .await?;
        Ok(shown / 2)
    }

    async fn side(&self) -> sqlx::Result<Option<Side>> {
        let row = sqlx::query!(
            r#"
            SELECT votes, fit -> 'side' AS "side: Json<Option<SideEffect>>"
            FROM skill_fits
            WHERE settings = $1
            "#,
            self.ladder,
        )
        .fetch_optional(&self.pool)
        .await?;
        let found = row.and_then(|row| Some((row.votes, row.side?.0?)));
        Ok(found.map(|(votes, effect)| Side {
            points: effect.points,
            interval: effect.low.zip(effect.high),
            votes,
        }))
    }
}
