//! Tallies: how often each choice was made on two builds. Every vote updates one, and statistics are computed from
//! them, so that they cost what pairs of builds cost and not what votes cost.
//!
//! A build determines its prompt, model and settings, so a tally refers to two builds and nothing else.

use std::collections::HashMap;
use std::time::Instant;

use futures_util::TryStreamExt;
use sqlx::PgConnection;
use tokio::task::yield_now;
use tokio::time::sleep;
use uuid::Uuid;

use super::leaderboard::Published;
use super::skill::{BuildSize, PairTally};
use super::{ChoiceCounts, ModelKey, PromptFilter, PromptId, Settings};

/// The tallies of a ladder, or of some of its prompts.
#[derive(Clone, Debug, Default)]
pub(super) struct LadderTallies {
    pub tallies: Vec<PairTally>,
    /// The number of voters with at least one vote; for some prompts, those whose first vote was on them.
    pub voters: i64,
}

/// A tally that does not match the votes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TallyMismatch {
    pub build_a: Uuid,
    pub build_b: Uuid,
    pub stored: i64,
    pub counted: i64,
}

/// How many rows are read before a pause.
const ROWS_PER_PAUSE: usize = 1000;

/// How fast much is read: there may be a million tallies, and more votes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pace {
    /// Without pauses, since somebody waits.
    AtOnce,
    /// With pauses for half the time, which leaves it to voters. Requires a transaction, whose timeout it changes.
    Background,
}

impl Pace {
    /// After work that began at this time.
    pub async fn pause_since(self, started: Instant) {
        match self {
            Self::AtOnce => yield_now().await,
            Self::Background => sleep(started.elapsed()).await,
        }
    }
}

/// Includes tallies of retired builds, since votes on them still count for the models.
pub(super) async fn read(
    connection: &mut PgConnection,
    settings: &Settings,
    filter: &PromptFilter,
    pace: Pace,
    published: Published,
) -> sqlx::Result<LadderTallies> {
    if pace == Pace::Background {
        // The pauses would count towards the statement's timeout.
        sqlx::query!("SET LOCAL statement_timeout = 0").execute(&mut *connection).await?;
    }
    let builds = builds(&mut *connection, settings).await?;
    let unpublished = match published.is_all() {
        true => HashMap::new(),
        false => unpublished(&mut *connection, settings, published).await?,
    };
    let mut rows = sqlx::query!(
        "
        SELECT build_a, build_b, a, b, tie, both_bad, first_votes
        FROM tallies
        JOIN builds ON builds.id = build_a
        JOIN prompts ON prompts.id = prompt_id
        WHERE settings = $1
          AND ($2::text IS NULL OR $2 = ANY(tags))
          AND ($3::boolean IS NULL OR held_out = $3)
        ",
        settings as _,
        filter.tag,
        filter.held_out,
    )
    .fetch(connection);
    let mut read = LadderTallies::default();
    let mut started = Instant::now();
    while let Some(row) = rows.try_next().await? {
        let (Some(left), Some(right)) = (builds.get(&row.build_a), builds.get(&row.build_b)) else {
            continue;
        };
        let (hidden, hidden_voters) =
            unpublished.get(&(row.build_a, row.build_b)).copied().unwrap_or_default();
        let counts = ChoiceCounts {
            a: i64::from(row.a) - hidden.a,
            b: i64::from(row.b) - hidden.b,
            tie: i64::from(row.tie) - hidden.tie,
            both_bad: i64::from(row.both_bad) - hidden.both_bad,
        };
        read.voters += i64::from(row.first_votes) - hidden_voters;
        if counts.sum() > 0 {
            read.tallies.push(PairTally {
                prompt: left.prompt.clone(),
                a: left.model.clone(),
                b: right.model.clone(),
                sizes: left.size.zip(right.size).map(|(left, right)| [left, right]),
                counts,
            });
        }
        if read.tallies.len().is_multiple_of(ROWS_PER_PAUSE) {
            pace.pause_since(started).await;
            started = Instant::now();
        }
    }
    Ok(read)
}

/// The votes on pairs with one of these builds. The builds of a pair have their ids of the vote log.
pub(super) async fn of_builds(
    connection: &mut PgConnection,
    builds: &[Uuid],
    published: Published,
) -> sqlx::Result<Vec<([Uuid; 2], ChoiceCounts)>> {
    let rows = sqlx::query!(
        r#"
        WITH touched AS (
            SELECT build_a, build_b, a, b, tie, both_bad FROM tallies WHERE build_a = ANY($1)
            UNION
            SELECT build_a, build_b, a, b, tie, both_bad FROM tallies WHERE build_b = ANY($1)
        ),
        unpublished AS (
            SELECT
                build_a, build_b,
                count(*) FILTER (WHERE choice = 'A') AS a,
                count(*) FILTER (WHERE choice = 'B') AS b,
                count(*) FILTER (WHERE choice = 'TIE') AS tie,
                count(*) FILTER (WHERE choice = 'BOTH_BAD') AS both_bad
            FROM votes
            JOIN matchups ON matchups.id = matchup_id
            WHERE votes.id > $2 AND exclusion IS NULL
            GROUP BY build_a, build_b
        )
        SELECT
            lefts.log_id AS left_id, rights.log_id AS right_id,
            touched.a - coalesce(unpublished.a, 0) AS "a!", touched.b - coalesce(unpublished.b, 0) AS "b!",
            touched.tie - coalesce(unpublished.tie, 0) AS "tie!",
            touched.both_bad - coalesce(unpublished.both_bad, 0) AS "both_bad!"
        FROM touched
        JOIN builds lefts ON lefts.id = touched.build_a
        JOIN builds rights ON rights.id = touched.build_b
        LEFT JOIN unpublished ON unpublished.build_a = touched.build_a AND unpublished.build_b = touched.build_b
        "#,
        builds,
        published.through,
    )
    .fetch_all(connection)
    .await?;
    let counts = rows.into_iter().map(|row| {
        let counts = ChoiceCounts { a: row.a, b: row.b, tie: row.tie, both_bad: row.both_bad };
        ([row.left_id, row.right_id], counts)
    });
    Ok(counts.filter(|(_, counts)| counts.sum() > 0).collect())
}

/// What votes that are not published yet have added to the tallies: of each pair of builds, the votes and how many were
/// their voters' first.
async fn unpublished(
    connection: &mut PgConnection,
    settings: &Settings,
    published: Published,
) -> sqlx::Result<HashMap<(Uuid, Uuid), (ChoiceCounts, i64)>> {
    let rows = sqlx::query!(
        r#"
        SELECT
            build_a, build_b,
            count(*) FILTER (WHERE choice = 'A') AS "a!",
            count(*) FILTER (WHERE choice = 'B') AS "b!",
            count(*) FILTER (WHERE choice = 'TIE') AS "tie!",
            count(*) FILTER (WHERE choice = 'BOTH_BAD') AS "both_bad!",
            count(*) FILTER (WHERE is_first AND NOT EXISTS (
                SELECT FROM matchups earlier
                JOIN votes ON votes.matchup_id = earlier.id
                WHERE earlier.voter_id = late.voter_id AND earlier.settings = $1
                  AND votes.id <= $2 AND votes.exclusion IS NULL
            )) AS "first_votes!"
        FROM (
            SELECT
                build_a, build_b, choice, voter_id,
                votes.id = min(votes.id) OVER (PARTITION BY voter_id) AS is_first
            FROM votes
            JOIN matchups ON matchups.id = matchup_id
            WHERE votes.id > $2 AND exclusion IS NULL AND settings = $1
        ) late
        GROUP BY build_a, build_b
        "#,
        settings as _,
        published.through,
    )
    .fetch_all(connection)
    .await?;
    let counts = rows.into_iter().map(|row| {
        let counts = ChoiceCounts { a: row.a, b: row.b, tie: row.tie, both_bad: row.both_bad };
        ((row.build_a, row.build_b), (counts, row.first_votes))
    });
    Ok(counts.collect())
}

/// What votes on a build are votes on.
struct VotedBuild {
    prompt: PromptId,
    model: ModelKey,
    size: Option<BuildSize>,
}

/// The size of a build, from its columns; none if its kinds of blocks have not been counted, or could not be.
pub(super) fn build_size(blocks: i32, kinds: Option<i16>) -> Option<BuildSize> {
    let kinds = kinds.map(i16::unsigned_abs).filter(|&kinds| kinds > 0)?;
    Some(BuildSize { blocks: blocks.unsigned_abs(), kinds: kinds.into() })
}

/// The builds of a ladder.
async fn builds(
    connection: &mut PgConnection,
    settings: &Settings,
) -> sqlx::Result<HashMap<Uuid, VotedBuild>> {
    let rows = sqlx::query!(
        r#"
        SELECT id, prompt_id AS "prompt: PromptId", model_key AS "model: ModelKey", block_count, block_kinds
        FROM builds
        WHERE settings = $1
        "#,
        settings as _,
    )
    .fetch_all(connection)
    .await?;
    let builds = rows.into_iter().map(|row| {
        let size = build_size(row.block_count, row.block_kinds);
        (row.id, VotedBuild { prompt: row.prompt, model: row.model, size })
    });
    Ok(builds.collect())
}

/// Votes on two models, as if the first had always been on side A; on some prompts.
pub(super) async fn on_pair(
    connection: &mut PgConnection,
    settings: &Settings,
    [a, b]: [&ModelKey; 2],
    filter: &PromptFilter,
    published: Published,
) -> sqlx::Result<ChoiceCounts> {
    let row = sqlx::query!(
        r#"
        WITH met AS (
            SELECT one.id AS one, other.id AS other
            FROM builds one
            JOIN builds other USING (prompt_id, settings)
            JOIN prompts ON prompts.id = prompt_id
            WHERE one.model_key = $1 AND other.model_key = $2 AND settings = $3
              AND ($4::text IS NULL OR $4 = ANY(tags))
              AND ($5::boolean IS NULL OR held_out = $5)
        ),
        votes AS (
            SELECT a, b, tie, both_bad FROM met JOIN tallies ON build_a = one AND build_b = other
            UNION ALL
            SELECT b, a, tie, both_bad FROM met JOIN tallies ON build_a = other AND build_b = one
            UNION ALL
            SELECT
                -(choice = CASE model_a WHEN $1 THEN 'A' ELSE 'B' END)::int,
                -(choice = CASE model_a WHEN $1 THEN 'B' ELSE 'A' END)::int,
                -(choice = 'TIE')::int, -(choice = 'BOTH_BAD')::int
            FROM matchups
            JOIN votes ON matchup_id = matchups.id
            JOIN prompts ON prompts.id = prompt_id
            WHERE settings = $3 AND votes.id > $6 AND exclusion IS NULL
              AND least(model_a, model_b) = least($1, $2)
              AND greatest(model_a, model_b) = greatest($1, $2)
              AND ($4::text IS NULL OR $4 = ANY(tags))
              AND ($5::boolean IS NULL OR held_out = $5)
        )
        SELECT
            coalesce(sum(a), 0) AS "a!", coalesce(sum(b), 0) AS "b!",
            coalesce(sum(tie), 0) AS "tie!", coalesce(sum(both_bad), 0) AS "both_bad!"
        FROM votes
        "#,
        a as _,
        b as _,
        settings as _,
        filter.tag,
        filter.held_out,
        published.through,
    )
    .fetch_one(connection)
    .await?;
    Ok(ChoiceCounts { a: row.a, b: row.b, tie: row.tie, both_bad: row.both_bad })
}

/// All tallies that do not match the votes, including those that are missing or should not exist.
pub(super) async fn mismatches(connection: &mut PgConnection) -> sqlx::Result<Vec<TallyMismatch>> {
    sqlx::query_as!(
        TallyMismatch,
        r#"
        SELECT
            build_a AS "build_a!", build_b AS "build_b!",
            coalesce(tallies.a + tallies.b + tallies.tie + tallies.both_bad, 0)::bigint AS "stored!",
            coalesce(counted.a + counted.b + counted.tie + counted.both_bad, 0) AS "counted!"
        FROM counted_votes counted
        FULL JOIN tallies USING (build_a, build_b)
        WHERE (counted.a, counted.b, counted.tie, counted.both_bad, counted.first_votes)
            IS DISTINCT FROM (tallies.a, tallies.b, tallies.tie, tallies.both_bad, tallies.first_votes)
        ORDER BY 1, 2
        "#
    )
    .fetch_all(connection)
    .await
}

/// How many voters' totals do not match their votes.
pub(super) async fn mismatched_voters(connection: &mut PgConnection) -> sqlx::Result<u64> {
    let mismatches = sqlx::query_scalar!(
        r#"
        SELECT count(*) AS "mismatches!"
        FROM (
            SELECT settings, voter_id, count(*) AS votes
            FROM votes
            JOIN matchups ON matchups.id = matchup_id
            WHERE exclusion IS NULL
            GROUP BY settings, voter_id
        ) counted
        FULL JOIN voter_totals USING (settings, voter_id)
        WHERE counted.votes IS DISTINCT FROM voter_totals.votes
        "#
    )
    .fetch_one(connection)
    .await?;
    Ok(mismatches.unsigned_abs())
}

/// Removes from the tallies what the counted votes of these voters add to them. Together with [`add_voters`] it lets the
/// votes of some voters change without reading those of others.
pub(super) async fn subtract_voters(connection: &mut PgConnection, voters: &[Uuid]) -> sqlx::Result<()> {
    change_voters(connection, voters, -1).await?;
    sqlx::query!("DELETE FROM voter_totals WHERE voter_id = ANY($1)", voters).execute(connection).await?;
    Ok(())
}

/// Adds to the tallies what the counted votes of these voters add to them, and drops those that are empty.
pub(super) async fn add_voters(connection: &mut PgConnection, voters: &[Uuid]) -> sqlx::Result<()> {
    change_voters(&mut *connection, voters, 1).await?;
    sqlx::query!("DELETE FROM tallies WHERE (a, b, tie, both_bad) = (0, 0, 0, 0)")
        .execute(&mut *connection)
        .await?;
    sqlx::query!(
        "
        INSERT INTO voter_totals (settings, voter_id, votes)
        SELECT settings, voter_id, count(*)
        FROM matchups
        JOIN votes ON matchup_id = matchups.id
        WHERE voter_id = ANY($1) AND exclusion IS NULL
        GROUP BY settings, voter_id
        ",
        voters,
    )
    .execute(connection)
    .await?;
    Ok(())
}

async fn change_voters(connection: &mut PgConnection, voters: &[Uuid], sign: i64) -> sqlx::Result<()> {
    sqlx::query!(
        "
        INSERT INTO tallies (build_a, build_b, a, b, tie, both_bad, first_votes)
        SELECT
            build_a, build_b,
            $2 * count(*) FILTER (WHERE choice = 'A'),
            $2 * count(*) FILTER (WHERE choice = 'B'),
            $2 * count(*) FILTER (WHERE choice = 'TIE'),
            $2 * count(*) FILTER (WHERE choice = 'BOTH_BAD'),
            $2 * count(*) FILTER (WHERE is_first)
        FROM (
            SELECT
                build_a, build_b, choice,
                votes.id = min(votes.id) OVER (PARTITION BY voter_id, settings) AS is_first
            FROM matchups
            JOIN votes ON matchup_id = matchups.id
            WHERE voter_id = ANY($1) AND exclusion IS NULL
        ) voted
        GROUP BY build_a, build_b
        ON CONFLICT (build_a, build_b) DO UPDATE
        SET a = tallies.a + excluded.a, b = tallies.b + excluded.b, tie = tallies.tie + excluded.tie,
            both_bad = tallies.both_bad + excluded.both_bad,
            first_votes = tallies.first_votes + excluded.first_votes
        ",
        voters,
        sign,
    )
    .execute(connection)
    .await?;
    Ok(())
}

/// Computes all tallies again from the votes.
pub(super) async fn rewrite(connection: &mut PgConnection) -> sqlx::Result<()> {
    sqlx::query!("DELETE FROM tallies").execute(&mut *connection).await?;
    sqlx::query!(
        "
        INSERT INTO tallies (build_a, build_b, a, b, tie, both_bad, first_votes)
        SELECT build_a, build_b, a, b, tie, both_bad, first_votes
        FROM counted_votes
        "
    )
    .execute(&mut *connection)
    .await?;
    sqlx::query!("DELETE FROM voter_totals").execute(&mut *connection).await?;
    sqlx::query!(
        "
        INSERT INTO voter_totals (settings, voter_id, votes)
        SELECT settings, voter_id, count(*)
        FROM votes
        JOIN matchups ON matchups.id = matchup_id
        WHERE exclusion IS NULL
        GROUP BY settings, voter_id
        "
    )
    .execute(connection)
    .await?;
    Ok(())
}
