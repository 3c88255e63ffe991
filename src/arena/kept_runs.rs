//! Kept runs of the sandbox: both builds for thirty days, under an id that cannot be guessed.

use sqlx::{PgConnection, PgPool};
use time::{Duration, OffsetDateTime};
use uuid::Uuid;

use super::drafts::{self, Draft};
use super::{Settings, Voter};

/// How long a run is kept.
pub const RETENTION: Duration = Duration::days(30);

/// The most runs that a voter may keep.
pub const MAX_PER_VOTER: i64 = 100;

/// A run with the builds of its sides.
#[derive(Clone, Debug)]
pub struct KeptRun {
    pub id: Uuid,
    pub owner: Voter,
    pub prompt: String,
    pub settings: Settings,
    pub sides: [Option<Draft>; 2],
    pub expires_at: OffsetDateTime,
}

/// A run in a list.
#[derive(Clone, Debug)]
pub struct KeptRunSummary {
    pub id: Uuid,
    pub prompt: String,
    /// A build to show.
    pub cover: Uuid,
    pub expires_at: OffsetDateTime,
}

/// The most bytes of all kept drafts.
const MAX_BYTES: i64 = 8 << 30;

#[derive(Debug, thiserror::Error)]
pub enum KeepRunError {
    #[error("a build of this run has expired")]
    Gone,
    #[error("the two builds belong to different runs")]
    DifferentRuns,
    #[error("another visitor already keeps this run")]
    KeptByAnother,
    #[error("you already keep {MAX_PER_VOTER} runs; delete one first")]
    TooMany,
    #[error("no more runs can be kept at the moment; try again later")]
    Full,
    #[error(transparent)]
    Database(#[from] sqlx::Error),
}

/// Keeps the builds of a run, and returns the id of the kept run. Keeping it again, as after another try of one side,
/// preserves the id and the time, and deletes the build that was replaced.
pub async fn keep(pool: &PgPool, owner: Voter, sides: [Option<Uuid>; 2]) -> Result<Uuid, KeepRunError> {
    let mut transaction = pool.begin().await?;
    let both: Vec<Uuid> = sides.into_iter().flatten().collect();
    lock_drafts(&mut transaction, &both).await?;
    let (id, since) = replace_overlapping(&mut transaction, owner, &both).await?;
    let [a, b] = sides;
    sqlx::query!(
        "INSERT INTO kept_runs (id, voter_id, a, b, created_at) VALUES ($1, $2, $3, $4, $5)",
        id,
        owner.0,
        a,
        b,
        since,
    )
    .execute(&mut *transaction)
    .await?;
    sqlx::query!("UPDATE drafts SET expires_at = $2 WHERE id = ANY ($1)", &both, since + RETENTION)
        .execute(&mut *transaction)
        .await?;
    transaction.commit().await?;
    Ok(id)
}

/// Locks the drafts, so that they do not expire meanwhile, and checks that they belong together.
async fn lock_drafts(connection: &mut PgConnection, drafts: &[Uuid]) -> Result<(), KeepRunError> {
    let held = sqlx::query!(
        r#"
        SELECT prompt, settings AS "settings: Settings"
        FROM drafts
        WHERE id = ANY ($1) AND expires_at > now()
        ORDER BY id
        FOR UPDATE
        "#,
        drafts
    )
    .fetch_all(connection)
    .await?;
    if held.is_empty() || held.len() != drafts.len() {
        return Err(KeepRunError::Gone);
    }
    let task = |index: usize| {
        let Settings { grid, palette, .. } = held[index].settings;
        (&held[index].prompt, grid, palette)
    };
    let is_one_task = (1..held.len()).all(|index| task(index) == task(0));
    if is_one_task { Ok(()) } else { Err(KeepRunError::DifferentRuns) }
}

/// Deletes the kept runs that contain one of these drafts, with their other drafts. Returns the id and the time of the
/// first of them, or new ones.
async fn replace_overlapping(
    connection: &mut PgConnection,
    owner: Voter,
    drafts: &[Uuid],
) -> Result<(Uuid, OffsetDateTime), KeepRunError> {
    let existing = sqlx::query!(
        "
        SELECT id, voter_id, a, b, created_at
        FROM kept_runs
        WHERE a = ANY ($1) OR b = ANY ($1)
        ORDER BY created_at, id
        FOR UPDATE
        ",
        drafts
    )
    .fetch_all(&mut *connection)
    .await?;
    if existing.iter().any(|run| run.voter_id != owner.0) {
        return Err(KeepRunError::KeptByAnother);
    }
    let Some(first) = existing.first() else {
        check_capacity(connection, owner).await?;
        return Ok((Uuid::new_v4(), OffsetDateTime::now_utc()));
    };
    let kept = (first.id, first.created_at);
    let runs: Vec<Uuid> = existing.iter().map(|run| run.id).collect();
    let held: Vec<Uuid> = existing.iter().flat_map(|run| [run.a, run.b]).flatten().collect();
    sqlx::query!("DELETE FROM kept_runs WHERE id = ANY ($1)", &runs).execute(&mut *connection).await?;
    sqlx::query!("DELETE FROM drafts WHERE id = ANY ($1) AND id <> ALL ($2)", &held, drafts)
        .execute(connection)
        .await?;
    Ok(kept)
}

async fn check_capacity(connection: &mut PgConnection, owner: Voter) -> Result<(), KeepRunError> {
    let room = sqlx::query!(
        r#"
        SELECT
            (SELECT count(*) FROM kept_runs WHERE voter_id = $1) AS "runs!",
            (
                SELECT coalesce(sum(octet_length(grid)), 0)::bigint
                FROM drafts
                WHERE id IN (SELECT a FROM kept_runs UNION ALL SELECT b FROM kept_runs)
            ) AS "bytes!"
        "#,
        owner.0
    )
    .fetch_one(connection)
    .await?;
    match (room.runs, room.bytes) {
        (MAX_PER_VOTER.., _) => Err(KeepRunError::TooMany),
        (_, MAX_BYTES..) => Err(KeepRunError::Full),
        _ => Ok(()),
    }
}

pub async fn find(pool: &PgPool, id: Uuid) -> sqlx::Result<Option<KeptRun>> {
    let row = sqlx::query!("SELECT voter_id, a, b FROM kept_runs WHERE id = $1", id);
    let Some(row) = row.fetch_optional(pool).await? else { return Ok(None) };
    let draft = async |id: Option<Uuid>| match id {
        Some(id) => drafts::find(pool, id).await,
        None => Ok(None),
    };
    let sides = [draft(row.a).await?, draft(row.b).await?];
    let Some(any) = sides.iter().flatten().next().cloned() else { return Ok(None) };
    let Draft { prompt, settings, expires_at, .. } = any;
    let owner = Voter(row.voter_id);
    Ok(Some(KeptRun { id, owner, prompt, settings, sides, expires_at }))
}

/// The runs that a voter keeps, the latest first.
pub async fn list(pool: &PgPool, owner: Voter) -> sqlx::Result<Vec<KeptRunSummary>> {
    sqlx::query_as!(
        KeptRunSummary,
        r#"
        SELECT kept_runs.id, prompt, drafts.id AS cover, expires_at
        FROM kept_runs
        JOIN drafts ON drafts.id = coalesce(a, b)
        WHERE voter_id = $1 AND expires_at > now()
        ORDER BY kept_runs.created_at DESC, kept_runs.id
        "#,
        owner.0
    )
    .fetch_all(pool)
    .await
}

/// Deletes a voter's kept run with its builds. Returns whether it existed.
pub async fn delete(pool: &PgPool, owner: Voter, id: Uuid) -> sqlx::Result<bool> {
    let deleted = sqlx::query!(
        "
        DELETE FROM drafts
        USING kept_runs
        WHERE kept_runs.id = $1 AND voter_id = $2 AND (drafts.id = a OR drafts.id = b)
        ",
        id,
        owner.0
    )
    .execute(pool)
    .await?;
    Ok(deleted.rows_affected() > 0)
}
