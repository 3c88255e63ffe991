//! Votes: taken once, and what they tell.

use std::time::Duration;

use sqlx::types::Json;
use sqlx::{Connection, PgConnection};
use uuid::Uuid;

use super::elo::{self, Standing};
use super::field::known;
use super::matchups::is_passing;
use super::{Arena, Choice, ModelKey, Verdicts, Voter};
use voxel::Warning;

/// Transactions that got into each other's way are tried again.
const TRIES: usize = 5;

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
        let mut connection = self.pool.acquire().await?;
        let mut tries = 1;
        let counted = loop {
            match self.try_to_vote(&mut connection, voter, matchup, choice).await {
                Err(sqlx::Error::Database(error)) if is_passing(&*error) && tries < TRIES => tries += 1,
                other => break other?,
            }
        };
        if !counted {
            return Err(self.why_not(&mut connection, voter, matchup).await?);
        }
        reveal(&mut connection, matchup).await?.ok_or(NoVote::Unknown)
    }

    /// All that a vote changes, or nothing. Returns whether it counted.
    async fn try_to_vote(
        &self,
        connection: &mut PgConnection,
        voter: Voter,
        matchup: Uuid,
        choice: Choice,
    ) -> sqlx::Result<bool> {
        let mut transaction = connection.begin().await?;
        let Some(claim) = claim(&mut transaction, voter, matchup, self.min_dwell).await? else {
            return Ok(false);
        };
        let before = lock_standings(&mut transaction, &claim).await?;
        let after = elo::judge(before.0, before.1, choice);
        record(&mut transaction, &claim, matchup, choice, before, after).await?;
        transaction.commit().await?;
        Ok(true)
    }

    async fn why_not(
        &self,
        connection: &mut PgConnection,
        voter: Voter,
        matchup: Uuid,
    ) -> Result<NoVote, NoVote> {
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
        .fetch_optional(&mut *connection)
        .await?;
        let Some(row) = row else { return Ok(NoVote::Unknown) };
        if row.voted {
            let reveal = reveal(connection, matchup).await?;
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
        reveal(&mut *self.pool.acquire().await?, matchup).await
    }
}

async fn reveal(connection: &mut PgConnection, matchup: Uuid) -> sqlx::Result<Option<Reveal>> {
    let row = sqlx::query!(
        r#"
        SELECT
            choice, elo_a_before, elo_a_after, elo_b_before, elo_b_after, here.build_a, here.build_b,
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
        WHERE matchup_id = $1
        "#,
        matchup,
    )
    .fetch_optional(connection)
    .await?;
    let Some(row) = row else { return Ok(None) };
    Ok(Some(Reveal {
        matchup,
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
    }))
}

/// A matchup that this vote has closed.
struct Claim {
    settings: String,
    models: [String; 2],
    builds: [Uuid; 2],
    dwell_ms: Option<i64>,
    /// Whether the voter has no other vote on this ladder.
    is_first: bool,
}

/// The one statement that decides who votes.
async fn claim(
    connection: &mut PgConnection,
    voter: Voter,
    matchup: Uuid,
    min_dwell: Duration,
) -> sqlx::Result<Option<Claim>> {
    let row = sqlx::query!(
        r#"
        WITH claimed AS (
            UPDATE open_matchups
            SET expires_at = now()
            WHERE voter_id = $2 AND matchup_id = $1 AND expires_at > now()
              AND ($3 = 0 OR extract(epoch FROM clock_timestamp() - fetched_a) * 1000 >= $3
                         AND extract(epoch FROM clock_timestamp() - fetched_b) * 1000 >= $3)
            RETURNING
                CASE WHEN num_nulls(fetched_a, fetched_b) = 0 THEN
                    (extract(epoch FROM clock_timestamp() - greatest(fetched_a, fetched_b)) * 1000)::bigint
                END AS dwell_ms
        )
        SELECT
            settings, model_a, model_b, build_a, build_b, dwell_ms,
            NOT EXISTS (
                SELECT FROM matchups earlier
                JOIN votes ON matchup_id = earlier.id
                WHERE earlier.voter_id = $2 AND earlier.settings = matchups.settings
            ) AS "is_first!"
        FROM claimed
        JOIN matchups ON matchups.id = $1
        "#,
        matchup,
        voter.0,
        i64::try_from(min_dwell.as_millis()).unwrap_or(i64::MAX) as _,
    )
    .fetch_optional(connection)
    .await?;
    Ok(row.map(|row| Claim {
        settings: row.settings,
        models: [row.model_a, row.model_b],
        builds: [row.build_a, row.build_b],
        dwell_ms: row.dwell_ms,
        is_first: row.is_first,
    }))
}

/// Both models' standings, locked in the order of their keys until the transaction ends.
async fn lock_standings(connection: &mut PgConnection, claim: &Claim) -> sqlx::Result<(Standing, Standing)> {
    loop {
        let rows = sqlx::query!(
            "
            SELECT model_key, elo, wins, losses, ties, both_bad
            FROM ratings
            WHERE settings = $1 AND model_key = ANY($2)
            ORDER BY model_key
            FOR NO KEY UPDATE
            ",
            claim.settings,
            &claim.models[..],
        )
        .fetch_all(&mut *connection)
        .await?;
        let of = |model: &String| {
            rows.iter().find(|row| row.model_key == *model).map(|row| Standing {
                elo: row.elo,
                wins: row.wins,
                losses: row.losses,
                ties: row.ties,
                both_bad: row.both_bad,
            })
        };
        if let (Some(a), Some(b)) = (of(&claim.models[0]), of(&claim.models[1])) {
            return Ok((a, b));
        }
        enter(&mut *connection, claim).await?;
    }
}

/// A model's first vote finds no standing.
async fn enter(connection: &mut PgConnection, claim: &Claim) -> sqlx::Result<()> {
    sqlx::query!(
        "
        INSERT INTO ratings (settings, model_key)
        SELECT $1, model_key
        FROM unnest($2::text[]) AS model_key
        ORDER BY model_key
        ON CONFLICT DO NOTHING
        ",
        claim.settings,
        &claim.models[..],
    )
    .execute(connection)
    .await?;
    Ok(())
}

async fn record(
    connection: &mut PgConnection,
    claim: &Claim,
    matchup: Uuid,
    choice: Choice,
    before: (Standing, Standing),
    after: (Standing, Standing),
) -> sqlx::Result<()> {
    let column = |of: fn(&Standing) -> i64| [of(&after.0), of(&after.1)];
    sqlx::query!(
        "
        WITH vote AS (
            INSERT INTO votes
                (matchup_id, choice, elo_a_before, elo_a_after, elo_b_before, elo_b_after, dwell_ms)
            VALUES ($1, $2, $3, $4, $5, $6, $7)
        ),
        tally AS (
            INSERT INTO tallies (build_a, build_b, a, b, tie, both_bad, first_votes)
            VALUES (
                $15, $16, ($2 = 'A')::int, ($2 = 'B')::int, ($2 = 'TIE')::int, ($2 = 'BOTH_BAD')::int, $17::bool::int
            )
            ON CONFLICT (build_a, build_b) DO UPDATE
            SET a = tallies.a + excluded.a, b = tallies.b + excluded.b, tie = tallies.tie + excluded.tie,
                both_bad = tallies.both_bad + excluded.both_bad,
                first_votes = tallies.first_votes + excluded.first_votes
        )
        UPDATE ratings
        SET elo = now.elo, wins = now.wins, losses = now.losses, ties = now.ties, both_bad = now.both_bad
        FROM unnest($9::text[], $10::float8[], $11::bigint[], $12::bigint[], $13::bigint[], $14::bigint[])
            AS now (model_key, elo, wins, losses, ties, both_bad)
        WHERE settings = $8 AND ratings.model_key = now.model_key
        ",
        matchup,
        choice.name(),
        before.0.elo,
        after.0.elo,
        before.1.elo,
        after.1.elo,
        claim.dwell_ms,
        claim.settings,
        &claim.models[..],
        &[after.0.elo, after.1.elo][..],
        &column(|standing| standing.wins)[..],
        &column(|standing| standing.losses)[..],
        &column(|standing| standing.ties)[..],
        &column(|standing| standing.both_bad)[..],
        claim.builds[0],
        claim.builds[1],
        claim.is_first,
    )
    .execute(connection)
    .await?;
    Ok(())
}
