//! A voter's own votes, for that voter.

use time::OffsetDateTime;
use uuid::Uuid;

use super::field::known;
use super::{Arena, Choice, Voter};

/// Votes on a page.
pub const PAGE: i64 = 30;

/// Votes that are compared with those of others, and with how many of them each, so that it takes no longer
/// for who has voted a lot, or where many have.
pub const COMPARED: i64 = 100;
pub const OTHERS: i64 = 500;

/// A vote, with what its voter may know now.
#[derive(Clone, Debug)]
pub struct PastVote {
    pub id: i64,
    pub at: OffsetDateTime,
    pub matchup: Uuid,
    pub prompt: String,
    pub choice: Choice,
    pub names: [String; 2],
    pub builds: [Uuid; 2],
}

/// What a voter made of a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Opinion {
    pub key: String,
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
    /// Those of which no other choice was more frequent among the others.
    pub agreed: i64,
}

/// How many votes a voter has cast, and when the first was.
pub async fn extent(arena: &Arena, voter: Voter) -> sqlx::Result<(i64, Option<OffsetDateTime>)> {
    let row = sqlx::query!(
        r#"
        SELECT count(*) AS "votes!", min(at) AS first
        FROM matchups
        JOIN votes ON matchup_id = matchups.id
        WHERE voter_id = $1 AND settings = $2
        "#,
        voter.0,
        arena.ladder,
    )
    .fetch_one(&arena.pool)
    .await?;
    Ok((row.votes, row.first))
}

/// The newest votes before this one; without one, the newest of all. One more than a page, if there is one.
pub async fn votes(arena: &Arena, voter: Voter, before: Option<i64>) -> sqlx::Result<Vec<PastVote>> {
    let rows = sqlx::query!(
        "
        SELECT
            votes.id, at, matchup_id, prompts.text AS prompt, choice,
            a.display_name AS name_a, b.display_name AS name_b, build_a, build_b
        FROM matchups
        JOIN votes ON matchup_id = matchups.id
        JOIN prompts ON prompts.id = prompt_id
        JOIN models a ON a.key = model_a
        JOIN models b ON b.key = model_b
        WHERE voter_id = $1 AND votes.id < $2 AND settings = $4
        ORDER BY votes.id DESC
        LIMIT $3
        ",
        voter.0,
        before.unwrap_or(i64::MAX),
        PAGE + 1,
        arena.ladder,
    )
    .fetch_all(&arena.pool)
    .await?;
    let votes = rows.into_iter().map(|row| {
        Ok(PastVote {
            id: row.id,
            at: row.at,
            matchup: row.matchup_id,
            prompt: row.prompt,
            choice: known(&row.choice)?,
            names: [row.name_a, row.name_b],
            builds: [row.build_a, row.build_b],
        })
    });
    votes.collect()
}

/// The most often preferred first.
pub async fn opinions(arena: &Arena, voter: Voter) -> sqlx::Result<Vec<Opinion>> {
    sqlx::query_as!(
        Opinion,
        r#"
        SELECT
            models.key, display_name AS name,
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
        arena.ladder,
    )
    .fetch_all(&arena.pool)
    .await
}

pub async fn agreement(arena: &Arena, voter: Voter) -> sqlx::Result<Agreement> {
    sqlx::query_as!(
        Agreement,
        r#"
        WITH mine AS (
            SELECT votes.id, build_a, build_b, choice
            FROM matchups
            JOIN votes ON matchup_id = matchups.id
            WHERE voter_id = $1 AND settings = $4
            ORDER BY votes.id DESC
            LIMIT $2
        ),
        theirs AS (
            SELECT
                mine.id, mine.choice AS own,
                CASE
                    WHEN other.choice NOT IN ('A', 'B') OR other.build_a = mine.build_a THEN other.choice
                    WHEN other.choice = 'A' THEN 'B'
                    ELSE 'A'
                END AS choice
            FROM mine
            CROSS JOIN LATERAL (
                SELECT votes.choice, matchups.build_a
                FROM matchups
                JOIN votes ON matchup_id = matchups.id
                WHERE least(matchups.build_a, matchups.build_b) = least(mine.build_a, mine.build_b)
                  AND greatest(matchups.build_a, matchups.build_b) = greatest(mine.build_a, mine.build_b)
                  AND voter_id <> $1
                LIMIT $3
            ) other
        ),
        counted AS (
            SELECT id, own, choice, count(*) AS votes
            FROM theirs
            GROUP BY id, own, choice
        ),
        judged AS (
            SELECT max(votes) AS most, max(votes) FILTER (WHERE choice = own) AS own
            FROM counted
            GROUP BY id
        )
        SELECT count(*) AS "compared!", count(*) FILTER (WHERE own = most) AS "agreed!"
        FROM judged
        "#,
        voter.0,
        COMPARED,
        OTHERS,
        arena.ladder,
    )
    .fetch_one(&arena.pool)
    .await
}
