//! A voter's history, which only that voter sees.

use time::OffsetDateTime;
use uuid::Uuid;

use super::{Arena, Choice, ModelKey, Voter};

/// Votes per page.
pub const PAGE: i64 = 30;

/// How many of a voter's latest votes are compared with those of others.
pub const MAX_COMPARED: i64 = 100;

/// A vote, with the names that its voter may know afterwards.
#[derive(Clone, Debug)]
pub struct PastVote {
    pub id: i64,
    pub at: OffsetDateTime,
    pub matchup: Uuid,
    pub prompt: String,
    pub choice: Choice,
    pub names: [String; 2],
    /// None for those that are withheld: only the matchup itself shows them.
    pub builds: [Option<Uuid>; 2],
}

/// A voter's votes on a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Opinion {
    pub key: ModelKey,
    pub name: String,
    pub seen: i64,
    pub preferred: i64,
    pub not_preferred: i64,
    pub tied: i64,
    pub both_bad: i64,
}

/// How a voter's latest votes compare with other voters' on the same two builds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Agreement {
    /// Votes on builds that others voted on too.
    pub compared: i64,
    /// Those whose choice was the most frequent, or as frequent as any, among the others.
    pub agreed: i64,
}

/// How many votes a voter has cast, and when the first was.
pub async fn vote_count(arena: &Arena, voter: Voter) -> sqlx::Result<(i64, Option<OffsetDateTime>)> {
    let row = sqlx::query!(
        r#"
        SELECT count(*) AS "votes!", min(at) AS first
        FROM matchups
        JOIN votes ON matchup_id = matchups.id
        WHERE voter_id = $1 AND settings = $2
        "#,
        voter.0,
        arena.settings as _,
    )
    .fetch_one(&arena.pool)
    .await?;
    Ok((row.votes, row.first))
}

/// A page of votes, the newest first, and one more vote if there is a next page; with `before`, only older ones.
pub async fn votes(arena: &Arena, voter: Voter, before: Option<i64>) -> sqlx::Result<Vec<PastVote>> {
    let rows = sqlx::query!(
        r#"
        SELECT
            votes.id, at, matchup_id, prompts.text AS prompt, choice AS "choice: Choice",
            a.display_name AS name_a, b.display_name AS name_b,
            CASE WHEN NOT left_build.withheld THEN build_a END AS build_a,
            CASE WHEN NOT right_build.withheld THEN build_b END AS build_b
        FROM matchups
        JOIN votes ON matchup_id = matchups.id
        JOIN prompts ON prompts.id = matchups.prompt_id
        JOIN models a ON a.key = model_a
        JOIN models b ON b.key = model_b
        JOIN builds left_build ON left_build.id = build_a
        JOIN builds right_build ON right_build.id = build_b
        WHERE voter_id = $1 AND votes.id < $2 AND matchups.settings = $4
        ORDER BY votes.id DESC
        LIMIT $3
        "#,
        voter.0,
        before.unwrap_or(i64::MAX),
        PAGE + 1,
        arena.settings as _,
    )
    .fetch_all(&arena.pool)
    .await?;
    let votes = rows.into_iter().map(|row| PastVote {
        id: row.id,
        at: row.at,
        matchup: row.matchup_id,
        prompt: row.prompt,
        choice: row.choice,
        names: [row.name_a, row.name_b],
        builds: [row.build_a, row.build_b],
    });
    Ok(votes.collect())
}

/// A voter's votes by model, the most often preferred first.
pub async fn opinions(arena: &Arena, voter: Voter) -> sqlx::Result<Vec<Opinion>> {
    sqlx::query_as!(
        Opinion,
        r#"
        SELECT
            models.key AS "key: ModelKey", display_name AS name,
            count(*) AS "seen!",
            count(*) FILTER (WHERE choice = side) AS "preferred!",
            count(*) FILTER (WHERE choice IN ('A', 'B') AND choice <> side) AS "not_preferred!",
            count(*) FILTER (WHERE choice = 'TIE') AS "tied!",
            count(*) FILTER (WHERE choice = 'BOTH_BAD') AS "both_bad!"
        FROM matchups
        JOIN votes ON matchup_id = matchups.id
        CROSS JOIN LATERAL (VALUES (model_a, 'A'), (model_b, 'B')) AS shown (model, side)
        JOIN models ON models.key = shown.model
        WHERE voter_id = $1 AND settings = $2
        GROUP BY models.key
        ORDER BY
            count(*) FILTER (WHERE choice = side) + 0.5 * count(*) FILTER (WHERE choice = 'TIE') DESC,
            count(*), display_name, models.key
        "#,
        voter.0,
        arena.settings as _,
    )
    .fetch_all(&arena.pool)
    .await
}

pub async fn agreement(arena: &Arena, voter: Voter) -> sqlx::Result<Agreement> {
    sqlx::query_as!(
        Agreement,
        r#"
        WITH mine AS (
            SELECT build_a, build_b, choice
            FROM matchups
            JOIN votes ON matchup_id = matchups.id
            WHERE voter_id = $1 AND settings = $3 AND exclusion IS NULL
            ORDER BY votes.id DESC
            LIMIT $2
        ),
        judged AS (
            SELECT
                CASE mine.choice WHEN 'A' THEN votes.a WHEN 'B' THEN votes.b WHEN 'TIE' THEN votes.tie
                    ELSE votes.both_bad END AS own,
                greatest(votes.a, votes.b, votes.tie, votes.both_bad) AS most
            FROM mine
            JOIN tallies straight ON straight.build_a = mine.build_a AND straight.build_b = mine.build_b
            LEFT JOIN tallies turned ON turned.build_a = mine.build_b AND turned.build_b = mine.build_a
            -- Those of others: a voter has one vote on two builds.
            CROSS JOIN LATERAL (
                SELECT
                    straight.a + coalesce(turned.b, 0) - (mine.choice = 'A')::int AS a,
                    straight.b + coalesce(turned.a, 0) - (mine.choice = 'B')::int AS b,
                    straight.tie + coalesce(turned.tie, 0) - (mine.choice = 'TIE')::int AS tie,
                    straight.both_bad + coalesce(turned.both_bad, 0) - (mine.choice = 'BOTH_BAD')::int AS both_bad
            ) votes
        )
        SELECT
            count(*) FILTER (WHERE most > 0) AS "compared!",
            count(*) FILTER (WHERE most > 0 AND own = most) AS "agreed!"
        FROM judged
        "#,
        voter.0,
        MAX_COMPARED,
        arena.settings as _,
    )
    .fetch_one(&arena.pool)
    .await
}
