//! Boards: the best result of each agent in a category, and in all categories together.

use sqlx::{PgConnection, PgExecutor};
use time::OffsetDateTime;
use uuid::Uuid;

use crate::arena::ModelKey;
use crate::judge::scores::Revision;

/// The category of long tasks, which *all* leaves out.
pub const LONG_CATEGORY: &str = "long_horizon";

/// A result that stands on the board of its category.
#[derive(Clone, Debug)]
pub struct NewBoardEntry {
    pub category: String,
    pub agent: ModelKey,
    pub url: String,
    pub version: String,
    pub world: &'static str,
    pub revision: Revision,
    pub judge: Option<String>,
    pub assisted: bool,
    pub tasks: i32,
    pub total: f64,
    pub max: f64,
}

/// Which results are compared: only those that are alike in all of these.
#[derive(Clone, Debug)]
pub struct BoardFilter<'a> {
    /// None: the sum over all categories of short tasks.
    pub category: Option<&'a str>,
    pub world: &'a str,
    pub revision: Revision,
    pub judge: Option<&'a str>,
    pub assisted: bool,
}

/// An agent's place on a board.
#[derive(Clone, Debug)]
pub struct BoardRow {
    /// Agents that are equal in everything share a rank.
    pub rank: i64,
    pub agent: ModelKey,
    pub name: String,
    pub version: String,
    pub total: f64,
    pub max: f64,
    pub tasks: i64,
    /// How many results it has here, of which this is the best.
    pub tries: i64,
    /// The assessment of this result; with several categories, the latest one.
    pub assessment: Uuid,
    pub ended_at: OffsetDateTime,
}

/// Enters results of an assessment where they are better than what the agent had, and counts them as tries.
pub(super) async fn enter(
    connection: &mut PgConnection,
    assessment: Uuid,
    entries: &[NewBoardEntry],
) -> sqlx::Result<()> {
    for entry in entries {
        sqlx::query!(
            "
            INSERT INTO board_entries AS best (
                assessment_id, category, agent_key, url, version, world, revision, judge, assisted, tasks, total, max,
                ended_at
            )
            SELECT $1, $2, key, $4, $5, $6, $7, $8, $9, $10, $11, $12, clock_timestamp()
            FROM agents
            WHERE key = $3
            ON CONFLICT (category, agent_key, url, version, world, revision, coalesce(judge, ''), assisted) DO UPDATE
            SET tries = best.tries + 1
            ",
            assessment,
            entry.category,
            entry.agent as _,
            entry.url,
            entry.version,
            entry.world,
            entry.revision.name(),
            entry.judge,
            entry.assisted,
            entry.tasks,
            entry.total,
            entry.max,
        )
        .execute(&mut *connection)
        .await?;
        sqlx::query!(
            "
            UPDATE board_entries
            SET assessment_id = $1, tasks = $9, total = $10, max = $11, ended_at = clock_timestamp()
            WHERE category = $2 AND agent_key = $3 AND url = $4 AND version = $5 AND world = $6 AND revision = $7
              AND judge IS NOT DISTINCT FROM $8 AND assisted = $12 AND ($10, $9) > (total, tasks)
            ",
            assessment,
            entry.category,
            entry.agent as _,
            entry.url,
            entry.version,
            entry.world,
            entry.revision.name(),
            entry.judge,
            entry.tasks,
            entry.total,
            entry.max,
            entry.assisted,
        )
        .execute(&mut *connection)
        .await?;
    }
    Ok(())
}

/// The board, the best first: by total, then by the number of tasks, then the earlier one. A result counts for an agent as
/// it is now: at its address, and in the version that its card shows.
pub async fn board(executor: impl PgExecutor<'_>, filter: &BoardFilter<'_>) -> sqlx::Result<Vec<BoardRow>> {
    sqlx::query_as!(
        BoardRow,
        r#"
        WITH sums AS (
            SELECT
                agent_key, name, version, sum(total) AS total, sum(max) AS max, sum(tasks) AS tasks,
                sum(tries) AS tries, max(ended_at) AS ended_at,
                (array_agg(assessment_id ORDER BY ended_at DESC))[1] AS assessment
            FROM board_entries AS entries
            JOIN agents ON agents.key = agent_key AND agents.url = entries.url
                AND (agents.card IS NULL OR agents.card ->> 'version' = version)
            WHERE (category = $1 OR ($1::text IS NULL AND category <> $2))
              AND world = $3 AND revision = $4 AND judge IS NOT DISTINCT FROM $5 AND assisted = $6
            GROUP BY agent_key, name, version
        )
        SELECT
            rank() OVER (ORDER BY total DESC, tasks DESC, ended_at) AS "rank!", agent_key AS "agent: ModelKey",
            name, version, total AS "total!", max AS "max!", tasks::bigint AS "tasks!", tries::bigint AS "tries!",
            assessment AS "assessment!", ended_at AS "ended_at!"
        FROM sums
        ORDER BY 1, agent_key
        "#,
        filter.category,
        LONG_CATEGORY,
        filter.world,
        filter.revision.name(),
        filter.judge,
        filter.assisted,
    )
    .fetch_all(executor)
    .await
}

/// An agent's place on the board of a category.
#[derive(Clone, Debug)]
pub struct BoardPlace {
    pub category: String,
    pub revision: String,
    pub judge: Option<String>,
    pub assisted: bool,
    pub rank: i64,
    /// How many agents stand on this board.
    pub agents: i64,
    pub total: f64,
    pub max: f64,
    pub tasks: i32,
    pub tries: i32,
    pub assessment: Uuid,
    pub ended_at: OffsetDateTime,
}

/// The places of an agent on the boards of all categories, ranked as on [`board`].
pub async fn places(
    executor: impl PgExecutor<'_>,
    agent: &ModelKey,
    world: &str,
) -> sqlx::Result<Vec<BoardPlace>> {
    sqlx::query_as!(
        BoardPlace,
        r#"
        SELECT
            category, revision, judge, assisted, rank AS "rank!", agents AS "agents!", total, max, tasks, tries,
            assessment_id AS assessment, ended_at
        FROM (
            SELECT
                entries.*, rank() OVER (board ORDER BY total DESC, tasks DESC, ended_at) AS rank,
                count(*) OVER board AS agents
            FROM board_entries AS entries
            JOIN agents ON agents.key = agent_key AND agents.url = entries.url
                AND (agents.card IS NULL OR agents.card ->> 'version' = version)
            WHERE world = $2
            WINDOW board AS (PARTITION BY category, revision, coalesce(judge, ''), assisted)
        ) AS places
        WHERE agent_key = $1
        ORDER BY assisted, revision, judge NULLS FIRST, category
        "#,
        agent as _,
        world,
    )
    .fetch_all(executor)
    .await
}

/// The boards that have entries, by what is the same for all of their results.
pub async fn kinds(
    executor: impl PgExecutor<'_>,
) -> sqlx::Result<Vec<(String, String, Option<String>, bool)>> {
    let rows = sqlx::query!(
        "
        SELECT DISTINCT world, revision, judge, assisted
        FROM board_entries
        ORDER BY world, revision, judge NULLS FIRST, assisted
        "
    )
    .fetch_all(executor)
    .await?;
    Ok(rows.into_iter().map(|row| (row.world, row.revision, row.judge, row.assisted)).collect())
}
