//! Deleting what has served its purpose: matchups without a vote after a day, though not that their voters have seen the
//! pairs; judgings after a day; what budgets of votes remember of earlier days; the keys of old network digests.

use sqlx::{PgConnection, PgPool};
use time::{Duration, OffsetDateTime};
use uuid::Uuid;

use super::votes::{budgets, network_keys};

/// How long a matchup without a vote is kept, so that its voter can still ask for it.
const UNVOTED_RETENTION: Duration = Duration::DAY;

/// One transaction cleans up the matchups of this span of time, so that it stays small.
const BATCH_SPAN: Duration = Duration::minutes(10);

/// A voter who has been away for so long has lost the session, so that nobody can use the seen pairs any more.
const VOTER_RETENTION: Duration = Duration::days(400);

/// Deletes old matchups without a vote, and keeps which pairs their voters have seen. Of servers that share a database,
/// one does this at a time: the others find its row of `installation` locked, and leave the work to it.
pub async fn purge(pool: &PgPool, now: OffsetDateTime) -> sqlx::Result<()> {
    // First, so that no trouble with the rest keeps the keys.
    network_keys::purge(pool, now.date()).await?;
    budgets::purge(pool, now.date()).await?;
    while purge_batch(pool, now - UNVOTED_RETENTION).await? {}
    sqlx::query!("DELETE FROM open_matchups WHERE expires_at < $1", now - UNVOTED_RETENTION)
        .execute(pool)
        .await?;
    sqlx::query!("DELETE FROM open_judgings WHERE expires_at < $1", now - UNVOTED_RETENTION)
        .execute(pool)
        .await?;
    sqlx::query!("DELETE FROM seen_pairs WHERE last_at < $1", now - VOTER_RETENTION).execute(pool).await?;
    Ok(())
}

/// Returns whether there is more to do.
async fn purge_batch(pool: &PgPool, until: OffsetDateTime) -> sqlx::Result<bool> {
    let mut transaction = pool.begin().await?;
    let from =
        sqlx::query_scalar!("SELECT matchups_tidied_until FROM installation FOR NO KEY UPDATE SKIP LOCKED")
            .fetch_optional(&mut *transaction)
            .await?;
    let Some(from) = from.filter(|from| *from < until) else { return Ok(false) };
    let first = first_since(&mut transaction, from).await?.unwrap_or(until);
    let to = (first.max(from) + BATCH_SPAN).min(until);
    let dropped = drop_unvoted(&mut transaction, from, to).await?;
    remember_seen_pairs(&mut transaction, &dropped).await?;
    sqlx::query!("UPDATE installation SET matchups_tidied_until = $1", to).execute(&mut *transaction).await?;
    transaction.commit().await?;
    Ok(to < until)
}

/// The smallest id of a matchup that is served at this time. Ids of matchups begin with the time in milliseconds.
fn first_id(at: OffsetDateTime) -> Uuid {
    let milliseconds = at.unix_timestamp_nanos().max(0).unsigned_abs() / 1_000_000;
    Uuid::from_u128(milliseconds << 80)
}

/// When the first matchup since then was served, so that a span without matchups is skipped at once.
async fn first_since(
    connection: &mut PgConnection,
    from: OffsetDateTime,
) -> sqlx::Result<Option<OffsetDateTime>> {
    let id =
        sqlx::query_scalar!("SELECT id FROM matchups WHERE id >= $1 ORDER BY id LIMIT 1", first_id(from))
            .fetch_optional(connection)
            .await?;
    let seconds = id.and_then(|id| id.get_timestamp()).map(|at| at.to_unix().0 as i64);
    Ok(seconds.and_then(|seconds| OffsetDateTime::from_unix_timestamp(seconds).ok()))
}

/// Voters, and for each one a pair that they have seen.
type SeenByVoters = (Vec<Uuid>, Vec<i64>);

/// Matchups of that age are no longer open, so no vote on them can be under way.
async fn drop_unvoted(
    connection: &mut PgConnection,
    from: OffsetDateTime,
    to: OffsetDateTime,
) -> sqlx::Result<SeenByVoters> {
    let rows = sqlx::query!(
        "
        WITH unvoted AS (
            SELECT id
            FROM matchups
            WHERE id >= $1 AND id < $2
              AND NOT EXISTS (SELECT FROM votes WHERE matchup_id = matchups.id)
        )
        DELETE FROM matchups
        USING unvoted
        WHERE matchups.id = unvoted.id
        RETURNING voter_id, pair
        ",
        first_id(from),
        first_id(to),
    )
    .fetch_all(connection)
    .await?;
    Ok(rows.into_iter().map(|row| (row.voter_id, row.pair)).unzip())
}

async fn remember_seen_pairs(
    connection: &mut PgConnection,
    (voters, pairs): &SeenByVoters,
) -> sqlx::Result<()> {
    sqlx::query!(
        "
        INSERT INTO seen_pairs (voter_id, pairs, last_at)
        SELECT voter_id, array_agg(pair), now()
        FROM unnest($1::uuid[], $2::bigint[]) AS seen (voter_id, pair)
        GROUP BY voter_id
        ON CONFLICT (voter_id) DO UPDATE
        SET pairs = seen_pairs.pairs || excluded.pairs, last_at = excluded.last_at
        ",
        voters,
        pairs,
    )
    .execute(connection)
    .await?;
    Ok(())
}
