//! Claims: who works on a job, for how long, and how that ends.

use std::time::Duration;

use sqlx::postgres::types::PgInterval;
use sqlx::{Connection, PgConnection, PgPool};
use uuid::Uuid;

use super::attempts::{self, Broken};
use super::lease::{Heard, Lease, Lost, storable};
use crate::arena::builds::{self, Making, Packed, Place, StoreError};
use crate::arena::{ModelKey, PromptId, Settings};

/// Claims are made one at a time, so that the bounds on providers hold over all servers.
const LOCK: i64 = 0x6a6f_6273_0000_0000;

/// A job that so many servers did not survive is not for anybody.
const MOST_BREAKS: i32 = 5;

/// Whom a server can ask for whose builds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Offer {
    pub model: ModelKey,
    pub provider: String,
}

#[derive(Clone, Debug)]
pub struct Claim {
    pub lease: Lease,
    pub place: Place,
    pub prompt_text: String,
    pub provider: String,
}

/// How a job ends without a build.
#[derive(Clone, Copy, Debug)]
pub struct Failed<'a> {
    pub code: &'a str,
    pub message: &'a str,
}

/// Whether somebody should try to claim.
pub async fn any(pool: &PgPool) -> sqlx::Result<bool> {
    sqlx::query_scalar!(
        r#"
        SELECT EXISTS (
            SELECT FROM jobs
            WHERE state IN ('queued', 'running') AND (leased_until IS NULL OR leased_until <= now())
        ) AS "any!"
        "#
    )
    .fetch_one(pool)
    .await
}

/// Takes the job that was wanted first, of those with room at their provider: one that is queued, or one
/// whose worker has let its lease run out.
pub async fn claim(
    pool: &PgPool,
    offers: &[Offer],
    at_once: u32,
    lease: Duration,
) -> sqlx::Result<Option<Claim>> {
    loop {
        match claim_next(pool, offers, at_once, lease).await? {
            Next::Nothing => return Ok(None),
            Next::Ended => {}
            Next::Claimed(claim) => return Ok(Some(claim)),
        }
    }
}

enum Next {
    Nothing,
    /// There is nothing to do for it any more.
    Ended,
    Claimed(Claim),
}

async fn claim_next(pool: &PgPool, offers: &[Offer], at_once: u32, lease: Duration) -> sqlx::Result<Next> {
    let models: Vec<_> = offers.iter().map(|offer| offer.model.as_str().to_owned()).collect();
    let providers: Vec<_> = offers.iter().map(|offer| offer.provider.clone()).collect();
    let mut connection = pool.acquire().await?;
    let mut transaction = connection.begin().await?;
    sqlx::query!("SELECT pg_advisory_xact_lock($1)", LOCK).execute(&mut *transaction).await?;
    let row = sqlx::query!(
        r#"
        WITH offers AS (
            SELECT * FROM unnest($1::text[], $2::text[]) AS offers (model_key, provider)
        ), busy AS (
            SELECT provider, count(*) AS jobs
            FROM jobs
            WHERE state = 'running' AND leased_until > clock_timestamp()
            GROUP BY provider
        ), next AS (
            SELECT jobs.id, offers.provider
            FROM jobs
            JOIN offers ON offers.model_key = jobs.model_key
            LEFT JOIN busy ON busy.provider = offers.provider
            WHERE state IN ('queued', 'running')
              AND (leased_until IS NULL OR leased_until <= clock_timestamp())
              AND coalesce(busy.jobs, 0) < $3
            ORDER BY wanted_at, jobs.id
            LIMIT 1
            FOR UPDATE OF jobs SKIP LOCKED
        )
        UPDATE jobs
        SET state = 'running', fence = fence + 1, leased_until = clock_timestamp() + $4, provider = next.provider,
            breaks = breaks + CASE WHEN state = 'running' THEN 1 ELSE 0 END,
            started_at = coalesce(started_at, clock_timestamp()), chars = 0, note = NULL
        FROM next, prompts
        WHERE jobs.id = next.id AND prompts.id = prompt_id
        RETURNING
            jobs.id, fence, breaks, prompt_id, text, model_key, grid_size, palette, mode, jobs.provider AS "provider!"
        "#,
        &models,
        &providers,
        i64::from(at_once),
        interval(lease),
    )
    .fetch_optional(&mut *transaction)
    .await?;
    let Some(row) = row else { return Ok(Next::Nothing) };
    attempts::break_off(&mut transaction, row.id, Broken::Interrupted).await?;
    let wrong = |problem: String| sqlx::Error::Decode(problem.into());
    let settings = Settings {
        grid: row.grid_size.to_string().parse().map_err(wrong)?,
        palette: row.palette.parse().map_err(wrong)?,
        mode: row.mode.parse().map_err(wrong)?,
    };
    let prompt: PromptId = row.prompt_id.parse().map_err(wrong)?;
    let model: ModelKey = row.model_key.parse().map_err(wrong)?;
    let lease = Lease { job: row.id, fence: row.fence };
    let place = Place { prompt, model, settings };
    let moot = if builds::is_there(&mut transaction, &place).await? {
        Some(("cancelled", "exists", "A build was brought in meanwhile, so nobody was asked.".to_owned()))
    } else if row.breaks > MOST_BREAKS {
        let message = format!("Buildoff stopped in the middle of it {MOST_BREAKS} times.");
        Some(("failed", "interrupted", message))
    } else {
        None
    };
    if let Some((state, code, message)) = &moot {
        end_as(&mut transaction, &lease, state, Some(code), Some(message)).await?;
    }
    transaction.commit().await?;
    Ok(match moot {
        Some(_) => Next::Ended,
        None => Next::Claimed(Claim { lease, place, prompt_text: row.text, provider: row.provider }),
    })
}

impl Lease {
    /// Prolongs the lease, and keeps what has streamed in since the last time.
    pub async fn renew(&self, pool: &PgPool, lease: Duration, heard: &Heard) -> Result<(), Lost> {
        let mut connection = pool.acquire().await?;
        let mut transaction = connection.begin().await?;
        self.hold(&mut transaction).await?;
        sqlx::query!(
            "
            UPDATE jobs
            SET leased_until = clock_timestamp() + $2, chars = $3, note = $4
            WHERE id = $1
            ",
            self.job,
            interval(lease),
            heard.chars,
            heard.note.as_deref().map(storable),
        )
        .execute(&mut *transaction)
        .await?;
        if !heard.text.is_empty() {
            sqlx::query!(
                "
                INSERT INTO answer_parts (job_id, number, part, text)
                SELECT job_id, number, $3, $4
                FROM attempts
                WHERE job_id = $1 AND number = $2 AND ended_at IS NULL
                ON CONFLICT (job_id, number, part) DO UPDATE SET text = excluded.text
                ",
                self.job,
                heard.attempt,
                i64::from(heard.from),
                heard.text.as_bytes(),
            )
            .execute(&mut *transaction)
            .await?;
        }
        transaction.commit().await?;
        Ok(())
    }

    /// Stores the build and ends the job, both or neither. A build that somebody has imported meanwhile stays,
    /// and the job has failed.
    pub async fn finish(
        &self,
        pool: &PgPool,
        place: &Place,
        build: &Packed,
        making: Making,
    ) -> Result<(), Lost> {
        let mut connection = pool.acquire().await?;
        let mut transaction = connection.begin().await?;
        self.hold(&mut transaction).await?;
        match builds::store(&mut transaction, place, build, making, false).await {
            Ok(stored) => {
                ready(&mut transaction, self.job, stored.id).await?;
                transaction.commit().await?;
                Ok(())
            }
            Err(StoreError::Database(error)) => Err(error.into()),
            Err(reason) => {
                transaction.rollback().await?;
                let message = format!("The answer is a build, but {reason}.");
                self.fail(pool, Failed { code: "exists", message: &message }).await
            }
        }
    }

    pub async fn fail(&self, pool: &PgPool, failed: Failed<'_>) -> Result<(), Lost> {
        let mut connection = pool.acquire().await?;
        let mut transaction = connection.begin().await?;
        self.hold(&mut transaction).await?;
        let message = storable(failed.message);
        end_as(&mut transaction, self, "failed", Some(failed.code), Some(&message)).await?;
        transaction.commit().await?;
        Ok(())
    }

    /// Leaves the job to others, as when the server is going down.
    pub async fn give_back(&self, pool: &PgPool) -> Result<(), Lost> {
        let mut connection = pool.acquire().await?;
        let mut transaction = connection.begin().await?;
        self.hold(&mut transaction).await?;
        attempts::break_off(&mut transaction, self.job, Broken::Interrupted).await?;
        sqlx::query!(
            "UPDATE jobs SET state = 'queued', leased_until = NULL, note = NULL WHERE id = $1",
            self.job
        )
        .execute(&mut *transaction)
        .await?;
        transaction.commit().await?;
        Ok(())
    }
}

async fn end_as(
    connection: &mut PgConnection,
    lease: &Lease,
    state: &str,
    code: Option<&str>,
    message: Option<&str>,
) -> sqlx::Result<()> {
    sqlx::query!(
        "
        UPDATE jobs
        SET state = $2, ended_at = clock_timestamp(), leased_until = NULL, note = NULL, error_code = $3, error = $4,
            forgiven = $2 = 'cancelled'
        WHERE id = $1
        ",
        lease.job,
        state,
        code,
        message,
    )
    .execute(connection)
    .await?;
    Ok(())
}

async fn ready(connection: &mut PgConnection, job: Uuid, build: Uuid) -> sqlx::Result<()> {
    sqlx::query!(
        "
        UPDATE jobs
        SET state = 'ready', build_id = $2, ended_at = clock_timestamp(), leased_until = NULL, note = NULL,
            error_code = NULL, error = NULL
        WHERE id = $1
        ",
        job,
        build,
    )
    .execute(connection)
    .await?;
    Ok(())
}

/// Gives a failed job the build that its answer turned out to hold. Whoever was asked once more is not needed.
pub async fn redeem(
    connection: &mut PgConnection,
    job: Uuid,
    place: &Place,
    build: &Packed,
    making: Making,
) -> Result<Uuid, StoreError> {
    super::give_way(connection, place).await?;
    let stored = builds::store(connection, place, build, making, false).await?;
    ready(connection, job, stored.id).await?;
    Ok(stored.id)
}

fn interval(duration: Duration) -> PgInterval {
    let microseconds = i64::try_from(duration.as_micros()).unwrap_or(i64::MAX);
    PgInterval { months: 0, days: 0, microseconds }
}
