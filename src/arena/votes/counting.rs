//! Counting votes. One transaction makes all changes of a batch of votes, or none.
//!
//! **Order of locks.** The transaction first claims the matchups, then locks the ratings of all models voted on, in the
//! order of settings and key, and holds them until the commit. So batches of several servers never deadlock on ratings,
//! and a model's votes take their ids in the order in which they change its rating: a replay by id yields the same
//! numbers.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use sqlx::{PgConnection, PgPool};
use uuid::Uuid;

use crate::arena::batcher::BatchJob;
use crate::arena::elo::{self, Standing};
use crate::arena::{Choice, ModelKey, Settings, Voter};

pub struct CountVotes {
    pub pool: PgPool,
    pub min_dwell: Duration,
}

pub struct Ballot {
    pub voter: Voter,
    pub matchup: Uuid,
    pub choice: Choice,
}

impl BatchJob for CountVotes {
    type Request = Ballot;
    /// Whether the vote counts.
    type Answer = bool;

    /// Longer than it may have to wait for other servers that count votes on the same models.
    const TIMEOUT: Duration = Duration::from_secs(20);

    async fn run(&self, ballots: &[Ballot]) -> sqlx::Result<Vec<bool>> {
        let mut transaction = self.pool.begin().await?;
        let claims = claim(&mut transaction, ballots, self.min_dwell).await?;
        let mut counts = vec![false; ballots.len()];
        if claims.is_empty() {
            return Ok(counts);
        }
        let mut standings = lock_standings(&mut transaction, &claims).await?;
        let votes: Vec<_> = claims.iter().map(|claim| apply_vote(claim, &mut standings)).collect();
        record(&mut transaction, &votes, &standings).await?;
        transaction.commit().await?;
        claims.iter().for_each(|claim| counts[claim.ballot] = true);
        Ok(counts)
    }
}

/// A matchup that a vote has closed.
struct ClaimedVote {
    /// The index of its ballot.
    ballot: usize,
    matchup: Uuid,
    choice: Choice,
    settings: Settings,
    models: [ModelKey; 2],
    builds: [Uuid; 2],
    dwell_ms: Option<i64>,
    /// Whether it is the voter's first vote on this ladder.
    is_first: bool,
}

/// Closes the matchups of valid ballots. This statement alone decides which votes count: of two votes on a matchup, the
/// second one finds it closed. It uses the time of the claim, not of the transaction's beginning, since a transaction
/// that began earlier may have waited for another's claim.
async fn claim(
    connection: &mut PgConnection,
    ballots: &[Ballot],
    min_dwell: Duration,
) -> sqlx::Result<Vec<ClaimedVote>> {
    let voters: Vec<_> = ballots.iter().map(|ballot| ballot.voter.0).collect();
    let matchups: Vec<_> = ballots.iter().map(|ballot| ballot.matchup).collect();
    let rows = sqlx::query!(
        r#"
        WITH cast_votes AS (
            SELECT DISTINCT ON (voter, matchup) voter, matchup, number
            FROM unnest((SELECT $1::uuid[]), (SELECT $2::uuid[]))
                WITH ORDINALITY AS cast_votes (voter, matchup, number)
            ORDER BY voter, matchup, number
        ),
        claimed AS (
            UPDATE open_matchups
            SET expires_at = clock_timestamp()
            FROM cast_votes
            WHERE voter_id = voter AND matchup_id = matchup AND expires_at > clock_timestamp()
              AND ($3 = 0 OR extract(epoch FROM clock_timestamp() - fetched_a) * 1000 >= $3
                         AND extract(epoch FROM clock_timestamp() - fetched_b) * 1000 >= $3)
            RETURNING
                number, matchup,
                CASE WHEN num_nulls(fetched_a, fetched_b) = 0 THEN
                    (extract(epoch FROM clock_timestamp() - greatest(fetched_a, fetched_b)) * 1000)::bigint
                END AS dwell_ms
        )
        SELECT
            number AS "number!", settings AS "settings: Settings",
            model_a AS "model_a: ModelKey", model_b AS "model_b: ModelKey", build_a, build_b, dwell_ms,
            NOT EXISTS (
                SELECT FROM matchups earlier
                JOIN votes ON matchup_id = earlier.id
                WHERE earlier.voter_id = matchups.voter_id AND earlier.settings = matchups.settings
            ) AS "is_first!"
        FROM claimed
        CROSS JOIN LATERAL (SELECT * FROM matchups WHERE id = matchup OFFSET 0) matchups
        ORDER BY number
        "#,
        &voters,
        &matchups,
        i64::try_from(min_dwell.as_millis()).unwrap_or(i64::MAX) as _,
    )
    .fetch_all(connection)
    .await?;
    let claims = rows.into_iter().map(|row| {
        let ballot = usize::try_from(row.number - 1).unwrap_or_default();
        ClaimedVote {
            ballot,
            matchup: ballots[ballot].matchup,
            choice: ballots[ballot].choice,
            settings: row.settings,
            models: [row.model_a, row.model_b],
            builds: [row.build_a, row.build_b],
            dwell_ms: row.dwell_ms,
            is_first: row.is_first,
        }
    });
    Ok(claims.collect())
}

type Standings = HashMap<StandingKey, Standing>;

type StandingKey = (Settings, ModelKey);

/// Reads the standings of all models voted on, and locks them in the order of their keys until the transaction ends.
async fn lock_standings(connection: &mut PgConnection, claims: &[ClaimedVote]) -> sqlx::Result<Standings> {
    let keys: HashSet<_> = claims.iter().flat_map(ClaimedVote::standings).collect();
    let (settings, models): (Vec<_>, Vec<_>) = keys.iter().map(|(settings, model)| (settings, model)).unzip();
    loop {
        let rows = sqlx::query!(
            r#"
            SELECT
                ratings.settings AS "settings: Settings", model_key AS "model_key: ModelKey",
                (elo, wins, losses, ties, both_bad) AS "standing!: Standing"
            FROM unnest((SELECT $1::text[]), (SELECT $2::text[])) AS voted_on (settings, model)
            JOIN ratings ON ratings.settings = voted_on.settings AND model_key = model
            ORDER BY ratings.settings, model_key
            FOR NO KEY UPDATE OF ratings
            "#,
            settings as _,
            models as _,
        )
        .fetch_all(&mut *connection)
        .await?;
        if rows.len() == keys.len() {
            return Ok(rows.into_iter().map(|row| ((row.settings, row.model_key), row.standing)).collect());
        }
        insert_standings(&mut *connection, &settings, &models).await?;
    }
}

/// Adds standings for models without votes.
async fn insert_standings(
    connection: &mut PgConnection,
    settings: &[&Settings],
    models: &[&ModelKey],
) -> sqlx::Result<()> {
    sqlx::query!(
        "
        INSERT INTO ratings (settings, model_key)
        SELECT settings, model
        FROM unnest((SELECT $1::text[]), (SELECT $2::text[])) AS voted_on (settings, model)
        ORDER BY settings, model
        ON CONFLICT DO NOTHING
        ",
        settings as _,
        models as _,
    )
    .execute(connection)
    .await?;
    Ok(())
}

/// A vote, and both ratings before and after it.
struct CountedVote<'a> {
    claim: &'a ClaimedVote,
    before: [f64; 2],
    after: [f64; 2],
}

impl ClaimedVote {
    fn standings(&self) -> [StandingKey; 2] {
        self.models.clone().map(|model| (self.settings.clone(), model))
    }
}

/// Applies one vote after another, as a replay does.
fn apply_vote<'a>(claim: &'a ClaimedVote, standings: &mut Standings) -> CountedVote<'a> {
    let keys = claim.standings();
    let [a, b] = [0, 1].map(|side| standings.get(&keys[side]).copied().unwrap_or(Standing::NEW));
    let after = elo::apply_vote(a, b, claim.choice);
    let [key_a, key_b] = keys;
    standings.insert(key_a, after.0);
    standings.insert(key_b, after.1);
    CountedVote { claim, before: [a.elo, b.elo], after: [after.0.elo, after.1.elo] }
}

async fn record(
    connection: &mut PgConnection,
    votes: &[CountedVote<'_>],
    standings: &Standings,
) -> sqlx::Result<()> {
    let claims = || votes.iter().map(|vote| vote.claim);
    let matchups: Vec<_> = claims().map(|claim| claim.matchup).collect();
    let choices: Vec<_> = claims().map(|claim| claim.choice).collect();
    let elo = |of: fn(&CountedVote<'_>) -> f64| -> Vec<f64> { votes.iter().map(of).collect() };
    let dwells: Vec<_> = claims().map(|claim| claim.dwell_ms).collect();
    let builds = |side: usize| -> Vec<Uuid> { claims().map(|claim| claim.builds[side]).collect() };
    let first: Vec<_> = claims().map(|claim| claim.is_first).collect();
    let (settings, models): (Vec<_>, Vec<_>) =
        standings.keys().map(|(settings, model)| (settings, model)).unzip();
    let elos: Vec<_> = standings.values().map(|standing| standing.elo).collect();
    let count = |of: fn(&Standing) -> i64| -> Vec<i64> { standings.values().map(of).collect() };
    sqlx::query!(
        "
        WITH block AS MATERIALIZED (
            SELECT nextval('vote_ids') AS first_id
        ),
        counted AS (
            SELECT *
            FROM unnest(
                (SELECT $1::uuid[]), (SELECT $2::text[]), (SELECT $3::float8[]), (SELECT $4::float8[]),
                (SELECT $5::float8[]), (SELECT $6::float8[]), (SELECT $7::bigint[]),
                (SELECT $8::uuid[]), (SELECT $9::uuid[]), (SELECT $10::bool[])
            ) WITH ORDINALITY AS counted (
                matchup_id, choice, elo_a_before, elo_a_after, elo_b_before, elo_b_after, dwell_ms,
                build_a, build_b, is_first, number
            )
        ),
        vote AS (
            INSERT INTO votes
                (id, matchup_id, choice, elo_a_before, elo_a_after, elo_b_before, elo_b_after, dwell_ms)
            SELECT
                first_id + number - 1,
                matchup_id, choice, elo_a_before, elo_a_after, elo_b_before, elo_b_after, dwell_ms
            FROM counted
            CROSS JOIN block
        ),
        tally AS (
            INSERT INTO tallies (build_a, build_b, a, b, tie, both_bad, first_votes)
            SELECT
                build_a, build_b,
                count(*) FILTER (WHERE choice = 'A'),
                count(*) FILTER (WHERE choice = 'B'),
                count(*) FILTER (WHERE choice = 'TIE'),
                count(*) FILTER (WHERE choice = 'BOTH_BAD'),
                count(*) FILTER (WHERE is_first)
            FROM counted
            GROUP BY build_a, build_b
            ON CONFLICT (build_a, build_b) DO UPDATE
            SET a = tallies.a + excluded.a, b = tallies.b + excluded.b, tie = tallies.tie + excluded.tie,
                both_bad = tallies.both_bad + excluded.both_bad,
                first_votes = tallies.first_votes + excluded.first_votes
        )
        UPDATE ratings
        SET elo = now.elo, wins = now.wins, losses = now.losses, ties = now.ties, both_bad = now.both_bad
        FROM unnest(
            (SELECT $11::text[]), (SELECT $12::text[]), (SELECT $13::float8[]), (SELECT $14::bigint[]),
            (SELECT $15::bigint[]), (SELECT $16::bigint[]), (SELECT $17::bigint[])
        ) AS now (settings, model_key, elo, wins, losses, ties, both_bad)
        WHERE ratings.settings = now.settings AND ratings.model_key = now.model_key
        ",
        &matchups,
        choices as _,
        &elo(|vote| vote.before[0]),
        &elo(|vote| vote.after[0]),
        &elo(|vote| vote.before[1]),
        &elo(|vote| vote.after[1]),
        dwells as _,
        &builds(0),
        &builds(1),
        &first,
        settings as _,
        models as _,
        &elos,
        &count(|standing| standing.wins),
        &count(|standing| standing.losses),
        &count(|standing| standing.ties),
        &count(|standing| standing.both_bad),
    )
    .execute(connection)
    .await?;
    Ok(())
}
