//! Counting votes. One transaction makes all changes of a batch of votes, or none.
//!
//! **Order of locks.** The transaction first claims the matchups, then locks the ratings of all models voted on, in the
//! order of settings and key, and holds them until the commit. So batches of several servers never deadlock on ratings,
//! and a model's votes take their ids in the order in which they change its rating: a replay by id yields the same
//! numbers.

use std::collections::{HashMap, HashSet};
use std::net::IpAddr;
use std::time::Duration;

use sqlx::{Connection, PgConnection};
use time::OffsetDateTime;
use uuid::Uuid;

use crate::arena::batcher::{BatchConnection, BatchJob};
use crate::arena::elo::{self, Standing};
use crate::arena::{Choice, ModelKey, Settings, Voter};
use crate::client_network::ClientNetwork;

use super::budgets::{BudgetUse, RatingShift, VoteBudgets, VoteOrigin};
use super::exclusion::Exclusion;
use super::network_keys::{NetworkKey, NetworkKeys};

pub struct CountVotes {
    pub min_dwell: Duration,
    pub budgets: VoteBudgets,
    pub network_keys: NetworkKeys,
}

pub struct Ballot {
    pub voter: Voter,
    pub matchup: Uuid,
    pub choice: Choice,
    pub address: IpAddr,
}

impl BatchJob for CountVotes {
    type Request = Ballot;
    /// Whether the vote was stored.
    type Answer = bool;

    /// Longer than it may have to wait for other servers that count votes on the same models.
    const TIMEOUT: Duration = Duration::from_secs(20);

    async fn run(&self, connection: &mut BatchConnection, ballots: &[Ballot]) -> sqlx::Result<Vec<bool>> {
        let now = OffsetDateTime::now_utc();
        let connection = connection.get().await?;
        let key = self.network_keys.of_day(connection, now.date()).await?;
        let mut transaction = connection.begin().await?;
        let claims = claim(&mut transaction, ballots, self.min_dwell, key).await?;
        let mut is_stored = vec![false; ballots.len()];
        if claims.is_empty() {
            return Ok(is_stored);
        }
        let mut standings = lock_standings(&mut transaction, &claims).await?;
        let origins = claims.iter().map(|claim| &claim.origin);
        let mut budgets = BudgetUse::read(&mut transaction, self.budgets, origins, now).await?;
        let votes: Vec<_> =
            claims.iter().map(|claim| apply_vote(claim, &mut standings, &mut budgets)).collect();
        record(&mut transaction, &votes, &standings).await?;
        budgets.store(&mut transaction).await?;
        transaction.commit().await?;
        claims.iter().for_each(|claim| is_stored[claim.ballot] = true);
        Ok(is_stored)
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
    origin: VoteOrigin,
}

/// Closes the matchups of valid ballots. This statement alone decides which votes are stored: of two votes on a matchup, the
/// second one finds it closed. It uses the time of the claim, not of the transaction's beginning, since a transaction
/// that began earlier may have waited for another's claim.
async fn claim(
    connection: &mut PgConnection,
    ballots: &[Ballot],
    min_dwell: Duration,
    key: NetworkKey,
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
            model_a AS "model_a: ModelKey", model_b AS "model_b: ModelKey", build_a, build_b, dwell_ms
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
        let index = usize::try_from(row.number - 1).unwrap_or_default();
        let ballot = &ballots[index];
        let networks = ClientNetwork::all(ballot.address).map(|network| key.digest(network)).collect();
        ClaimedVote {
            ballot: index,
            matchup: ballot.matchup,
            choice: ballot.choice,
            origin: VoteOrigin { voter: ballot.voter, networks },
            settings: row.settings,
            models: [row.model_a, row.model_b],
            builds: [row.build_a, row.build_b],
            dwell_ms: row.dwell_ms,
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

/// A vote, and both ratings before and after it. If the vote does not count, they are what its voter is told.
struct JudgedBallot<'a> {
    claim: &'a ClaimedVote,
    exclusion: Option<Exclusion>,
    before: [f64; 2],
    after: [f64; 2],
}

impl ClaimedVote {
    fn standings(&self) -> [StandingKey; 2] {
        self.models.clone().map(|model| (self.settings.clone(), model))
    }
}

/// Applies one vote after another, as a replay does.
fn apply_vote<'a>(
    claim: &'a ClaimedVote,
    standings: &mut Standings,
    budgets: &mut BudgetUse,
) -> JudgedBallot<'a> {
    let keys = claim.standings();
    let [a, b] = [0, 1].map(|side| standings.get(&keys[side]).copied().unwrap_or(Standing::NEW));
    let after = elo::apply_vote(a, b, claim.choice);
    let (before, after_elo) = ([a.elo, b.elo], [after.0.elo, after.1.elo]);
    let most = elo::largest_shifts(a, b);
    let shifts = [0, 1].map(|side| RatingShift {
        settings: &claim.settings,
        model: &claim.models[side],
        points: after_elo[side] - before[side],
        most: most[side],
    });
    let exclusion = budgets.judge(&claim.origin, &shifts);
    if exclusion.is_none() {
        let [key_a, key_b] = keys;
        standings.insert(key_a, after.0);
        standings.insert(key_b, after.1);
    }
    JudgedBallot { claim, exclusion, before, after: after_elo }
}

async fn record(
    connection: &mut PgConnection,
    votes: &[JudgedBallot<'_>],
    standings: &Standings,
) -> sqlx::Result<()> {
    let claims = || votes.iter().map(|vote| vote.claim);
    let matchups: Vec<_> = claims().map(|claim| claim.matchup).collect();
    let choices: Vec<_> = claims().map(|claim| claim.choice).collect();
    let elo = |of: fn(&JudgedBallot<'_>) -> f64| -> Vec<f64> { votes.iter().map(of).collect() };
    let dwells: Vec<_> = claims().map(|claim| claim.dwell_ms).collect();
    let builds = |side: usize| -> Vec<Uuid> { claims().map(|claim| claim.builds[side]).collect() };
    let exclusions: Vec<_> = votes.iter().map(|vote| vote.exclusion).collect();
    let networks: Vec<_> =
        claims().map(|claim| claim.origin.network().map(|network| network.0.to_vec())).collect();
    let voters: Vec<_> = claims().map(|claim| claim.origin.voter.0).collect();
    let ladders: Vec<_> = claims().map(|claim| &claim.settings).collect();
    let (settings, models): (Vec<_>, Vec<_>) =
        standings.keys().map(|(settings, model)| (settings, model)).unzip();
    let elos: Vec<_> = standings.values().map(|standing| standing.elo).collect();
    let count = |of: fn(&Standing) -> i64| -> Vec<i64> { standings.values().map(of).collect() };
    sqlx::query!(
        "
        WITH block AS MATERIALIZED (
            SELECT nextval('vote_ids') AS first_id
        ),
        cast_votes AS (
            SELECT *
            FROM unnest(
                (SELECT $1::uuid[]), (SELECT $2::text[]), (SELECT $3::float8[]), (SELECT $4::float8[]),
                (SELECT $5::float8[]), (SELECT $6::float8[]), (SELECT $7::bigint[]),
                (SELECT $8::uuid[]), (SELECT $9::uuid[]), (SELECT $10::text[]), (SELECT $18::bytea[]),
                (SELECT $19::uuid[]), (SELECT $20::text[])
            ) WITH ORDINALITY AS cast_votes (
                matchup_id, choice, elo_a_before, elo_a_after, elo_b_before, elo_b_after, dwell_ms,
                build_a, build_b, exclusion, network, voter_id, settings, number
            )
        ),
        vote AS (
            INSERT INTO votes (
                id, matchup_id, choice, elo_a_before, elo_a_after, elo_b_before, elo_b_after, dwell_ms,
                exclusion, network
            )
            SELECT
                first_id + number - 1,
                matchup_id, choice, elo_a_before, elo_a_after, elo_b_before, elo_b_after, dwell_ms,
                exclusion, network
            FROM cast_votes
            CROSS JOIN block
        ),
        totals AS (
            INSERT INTO voter_totals (settings, voter_id, votes)
            SELECT settings, voter_id, 1
            FROM cast_votes
            WHERE exclusion IS NULL
            ON CONFLICT (settings, voter_id) DO UPDATE SET votes = voter_totals.votes + 1
            RETURNING settings, voter_id, votes = 1 AS is_first
        ),
        counted AS (
            SELECT cast_votes.*, is_first
            FROM cast_votes
            JOIN totals USING (settings, voter_id)
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
        exclusions as _,
        settings as _,
        models as _,
        &elos,
        &count(|standing| standing.wins),
        &count(|standing| standing.losses),
        &count(|standing| standing.ties),
        &count(|standing| standing.both_bad),
        networks as _,
        &voters,
        ladders as _,
    )
    .execute(connection)
    .await?;
    Ok(())
}
