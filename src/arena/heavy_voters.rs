//! Heavy voters: those with so many votes on a ladder that their votes must not pass for those of different people.
//! Tallies know no voters, so the votes of these few are read one by one, and the fit of skill makes its intervals
//! wider by them.
//!
//! What this costs is bounded however many votes there are: `voter_totals` finds the heaviest voters, and no more than
//! about `MAX_VOTES` of their votes are read.

use std::time::Instant;

use sqlx::PgConnection;
use uuid::Uuid;

use super::leaderboard::Published;
use super::skill::{HeavyVoter, VoterTally};
use super::tallies::{Pace, build_size};
use super::{ChoiceCounts, ModelKey, Settings};

const MAX_VOTERS: i64 = 1000;

/// Voters beyond this many votes of heavier ones are left out.
const MAX_VOTES: i64 = 100_000;

/// How many voters are read before a pause.
const VOTERS_PER_PAUSE: usize = 20;

/// The heaviest voters of a ladder, with their published votes that count.
pub(super) async fn read(
    connection: &mut PgConnection,
    settings: &Settings,
    pace: Pace,
    published: Published,
) -> sqlx::Result<Vec<HeavyVoter>> {
    let voters = heaviest(connection, settings).await?;
    let mut read = Vec::with_capacity(voters.len());
    for voters in voters.chunks(VOTERS_PER_PAUSE) {
        let started = Instant::now();
        read.extend(votes_of(connection, settings, voters, published).await?);
        pace.pause_since(started).await;
    }
    Ok(read)
}

/// The number of votes in the condition is the one that the index `voters_with_many_votes` is limited to.
async fn heaviest(connection: &mut PgConnection, settings: &Settings) -> sqlx::Result<Vec<Uuid>> {
    sqlx::query_scalar!(
        "
        SELECT voter_id
        FROM (
            SELECT
                voter_id, votes,
                sum(votes) OVER (ORDER BY votes DESC, voter_id ROWS UNBOUNDED PRECEDING) AS read
            FROM (
                SELECT voter_id, votes
                FROM voter_totals
                WHERE settings = $1 AND votes >= 20
                ORDER BY votes DESC, voter_id
                LIMIT $2
            ) heavy
        ) summed
        WHERE read - votes < $3
        ",
        settings as _,
        MAX_VOTERS,
        MAX_VOTES,
    )
    .fetch_all(connection)
    .await
}

async fn votes_of(
    connection: &mut PgConnection,
    settings: &Settings,
    voters: &[Uuid],
    published: Published,
) -> sqlx::Result<Vec<HeavyVoter>> {
    // `OFFSET 0` has the vote of each matchup looked up in its index. A join may be planned as a scan of all votes.
    let rows = sqlx::query!(
        r#"
        SELECT
            voter_id, model_a AS "model_a: ModelKey", model_b AS "model_b: ModelKey",
            a.block_count AS blocks_a, a.block_kinds AS kinds_a, b.block_count AS blocks_b, b.block_kinds AS kinds_b,
            count(*) FILTER (WHERE choice = 'A') AS "a!",
            count(*) FILTER (WHERE choice = 'B') AS "b!",
            count(*) FILTER (WHERE choice = 'TIE') AS "tie!",
            count(*) FILTER (WHERE choice = 'BOTH_BAD') AS "both_bad!"
        FROM matchups
        CROSS JOIN LATERAL (SELECT id, choice, exclusion FROM votes WHERE matchup_id = matchups.id OFFSET 0) vote
        JOIN builds a ON a.id = build_a
        JOIN builds b ON b.id = build_b
        WHERE voter_id = ANY($1) AND matchups.settings = $2 AND exclusion IS NULL AND vote.id <= $3
        GROUP BY voter_id, model_a, model_b, a.id, b.id
        ORDER BY voter_id
        "#,
        voters,
        settings as _,
        published.through,
    )
    .fetch_all(connection)
    .await?;
    let voters = rows.chunk_by(|row, next| row.voter_id == next.voter_id);
    let voter = voters.map(|rows| {
        let tally = rows.iter().map(|row| {
            let counts = ChoiceCounts { a: row.a, b: row.b, tie: row.tie, both_bad: row.both_bad };
            let size_a = build_size(row.blocks_a, row.kinds_a);
            let size_b = build_size(row.blocks_b, row.kinds_b);
            VoterTally {
                a: row.model_a.clone(),
                b: row.model_b.clone(),
                sizes: size_a.zip(size_b).map(|(a, b)| [a, b]),
                counts,
            }
        });
        HeavyVoter { tallies: tally.collect() }
    });
    Ok(voter.collect())
}
