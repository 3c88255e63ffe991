//! Votes: taken once, and what they tell.

pub(super) mod counting;

use std::collections::HashMap;
use std::time::Duration;

use sqlx::PgConnection;
use sqlx::types::Json;
use uuid::Uuid;

use self::counting::Ballot;
use super::field::known;
use super::{Arena, Choice, ModelKey, Verdicts, Voter};
use voxel::Warning;

/// What a vote brings to light.
#[derive(Clone, Debug)]
pub struct Reveal {
    pub matchup: Uuid,
    pub choice: Choice,
    pub a: Revealed,
    pub b: Revealed,
    /// All other votes on these two builds, as if they had stood on these sides.
    pub others: Verdicts,
}

/// One side of a matchup, and what the vote did to its model.
#[derive(Clone, Debug)]
pub struct Revealed {
    pub key: ModelKey,
    pub provider: String,
    pub display_name: String,
    pub elo_before: f64,
    pub elo_after: f64,
    pub build: Uuid,
    pub block_count: i32,
    pub generation_time_ms: Option<i64>,
    pub warnings: Vec<Warning>,
}

#[derive(Debug, thiserror::Error)]
pub enum NoVote {
    /// To this voter, at least.
    #[error("there is no such matchup")]
    Unknown,
    #[error("the matchup is over")]
    Gone,
    #[error("both builds are to be looked at first")]
    TooSoon(Duration),
    #[error("there is a vote already")]
    Already(Box<Reveal>),
    #[error(transparent)]
    Database(#[from] sqlx::Error),
}

impl Arena {
    pub async fn vote(&self, voter: Voter, matchup: Uuid, choice: Choice) -> Result<Reveal, NoVote> {
        match self.count_votes.submit(Ballot { voter, matchup, choice }).await? {
            Some(reveal) => Ok(*reveal),
            None => Err(self.why_not(voter, matchup).await?),
        }
    }

    async fn why_not(&self, voter: Voter, matchup: Uuid) -> sqlx::Result<NoVote> {
        let row = sqlx::query!(
            r#"
            SELECT
                open.expires_at > now() AS "open?",
                CASE WHEN num_nulls(fetched_a, fetched_b) = 0 THEN
                    extract(epoch FROM clock_timestamp() - greatest(fetched_a, fetched_b))::float8
                END AS looked,
                EXISTS (SELECT FROM votes WHERE votes.matchup_id = $1) AS "voted!"
            FROM matchups
            LEFT JOIN open_matchups open ON open.voter_id = $2 AND open.matchup_id = $1
            WHERE matchups.id = $1 AND matchups.voter_id = $2
            "#,
            matchup,
            voter.0,
        )
        .fetch_optional(&self.pool)
        .await?;
        let Some(row) = row else { return Ok(NoVote::Unknown) };
        if row.voted {
            let reveal = self.reveal(matchup).await?;
            return Ok(reveal.map_or(NoVote::Unknown, |reveal| NoVote::Already(Box::new(reveal))));
        }
        if row.open != Some(true) {
            return Ok(NoVote::Gone);
        }
        let looked = Duration::try_from_secs_f64(row.looked.unwrap_or_default()).unwrap_or_default();
        Ok(NoVote::TooSoon(self.min_dwell.saturating_sub(looked)))
    }

    /// What a vote on this matchup brought to light; none without one.
    pub async fn reveal(&self, matchup: Uuid) -> sqlx::Result<Option<Reveal>> {
        Ok(reveals(&mut *self.pool.acquire().await?, &[matchup]).await?.remove(&matchup))
    }
}

/// By matchup, of those that were voted on.
async fn reveals(connection: &mut PgConnection, matchups: &[Uuid]) -> sqlx::Result<HashMap<Uuid, Reveal>> {
    let rows = sqlx::query!(
        r#"
        SELECT revealed.*
        FROM unnest((SELECT $1::uuid[])) AS asked (matchup)
        CROSS JOIN LATERAL (
            SELECT
                matchup_id, choice, elo_a_before, elo_a_after, elo_b_before, elo_b_after, here.build_a, here.build_b,
                a.key AS key_a, a.provider AS provider_a, a.display_name AS name_a,
                b.key AS key_b, b.provider AS provider_b, b.display_name AS name_b,
                left_build.block_count AS blocks_a, left_build.generation_time_ms AS time_a,
                left_build.warnings AS "warnings_a: Json<Vec<Warning>>",
                right_build.block_count AS blocks_b, right_build.generation_time_ms AS time_b,
                right_build.warnings AS "warnings_b: Json<Vec<Warning>>",
                straight.a + coalesce(turned.b, 0) - (choice = 'A')::int AS "others_a!",
                straight.b + coalesce(turned.a, 0) - (choice = 'B')::int AS "others_b!",
                straight.tie + coalesce(turned.tie, 0) - (choice = 'TIE')::int AS "others_tie!",
                straight.both_bad + coalesce(turned.both_bad, 0) - (choice = 'BOTH_BAD')::int
                    AS "others_both_bad!"
            FROM votes
            JOIN matchups here ON here.id = matchup_id
            JOIN models a ON a.key = model_a
            JOIN models b ON b.key = model_b
            JOIN builds left_build ON left_build.id = here.build_a
            JOIN builds right_build ON right_build.id = here.build_b
            JOIN tallies straight ON straight.build_a = here.build_a AND straight.build_b = here.build_b
            LEFT JOIN tallies turned ON turned.build_a = here.build_b AND turned.build_b = here.build_a
            WHERE matchup_id = asked.matchup
            OFFSET 0
        ) revealed
        "#,
        matchups,
    )
    .fetch_all(connection)
    .await?;
    rows.into_iter()
        .map(|row| {
            let reveal = Reveal {
                matchup: row.matchup_id,
                choice: known(&row.choice)?,
                others: Verdicts {
                    a: row.others_a.into(),
                    b: row.others_b.into(),
                    tie: row.others_tie.into(),
                    both_bad: row.others_both_bad.into(),
                },
                a: Revealed {
                    key: known(&row.key_a)?,
                    provider: row.provider_a,
                    display_name: row.name_a,
                    elo_before: row.elo_a_before,
                    elo_after: row.elo_a_after,
                    build: row.build_a,
                    block_count: row.blocks_a,
                    generation_time_ms: row.time_a,
                    warnings: row.warnings_a.0,
                },
                b: Revealed {
                    key: known(&row.key_b)?,
                    provider: row.provider_b,
                    display_name: row.name_b,
                    elo_before: row.elo_b_before,
                    elo_after: row.elo_b_after,
                    build: row.build_b,
                    block_count: row.blocks_b,
                    generation_time_ms: row.time_b,
                    warnings: row.warnings_b.0,
                },
            };
            Ok((reveal.matchup, reveal))
        })
        .collect()
}
