//! Jobs: builds that are wanted of models, as rows that outlive whoever works on them.
//!
//! A job is queued, running, and then ready, failed or cancelled for good; to want the same again is another
//! job. Two rules are indexes: one job under way for a place, one build in force for it. Whoever takes a job
//! ([`claims`]) has it on a lease and under a fence, a number that rises with every claim and that each later
//! write names: a worker that lost its job can store nothing. What is paid for is in [`attempts`].
//!
//! No queue from elsewhere does this: that a place is wanted once, that the bound on a provider holds over all
//! servers, and that a build and the end of its job are one transaction, are rules of these tables.

pub mod attempts;
mod cancellation;
pub mod claims;
mod lease;

pub use cancellation::{allow_retry, cancel, cancel_all, cancel_for_import, cancel_queued};
pub use lease::{AnswerProgress, Lease, LeaseError};

use std::collections::HashMap;
use std::str::FromStr;

use serde::Serialize;
use sqlx::{PgConnection, PgExecutor, PgPool};
use time::OffsetDateTime;
use uuid::Uuid;

use super::builds::{self, BuildSlot};
use super::{ModelKey, PromptId, Settings};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, sqlx::Type)]
#[serde(rename_all = "snake_case")]
#[sqlx(type_name = "text", rename_all = "snake_case")]
pub enum JobState {
    Queued,
    Running,
    Ready,
    Failed,
    Cancelled,
}

/// A job as it stands.
#[derive(Clone, Debug)]
pub struct Job {
    pub id: Uuid,
    pub prompt_id: String,
    pub prompt_text: String,
    pub model_key: String,
    pub model_name: String,
    pub grid_size: i16,
    pub palette: String,
    pub mode: String,
    pub state: JobState,
    /// Who is asked.
    pub provider: Option<String>,
    pub wanted_at: OffsetDateTime,
    pub started_at: Option<OffsetDateTime>,
    pub ended_at: Option<OffsetDateTime>,
    pub attempts: i32,
    /// Of the answer under way.
    pub chars: i64,
    /// What it waits for.
    pub note: Option<String>,
    pub build_id: Option<Uuid>,
    pub block_count: Option<i32>,
    pub error_code: Option<String>,
    pub error: Option<String>,
    /// Millionths of a dollar, as far as they are known.
    pub cost: i64,
}

/// Why nobody will be asked for a build.
#[derive(Debug, thiserror::Error)]
pub enum EnqueueError {
    #[error("there is a build of this prompt by this model already")]
    HasBuild,
    #[error("it is being made already")]
    InProgress(Uuid),
    #[error("there is no such prompt")]
    NoPrompt,
    #[error("there is no such model")]
    NoModel,
    #[error(transparent)]
    Database(sqlx::Error),
}

impl JobState {
    pub fn name(self) -> &'static str {
        match self {
            Self::Queued => "queued",
            Self::Running => "running",
            Self::Ready => "ready",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
        }
    }
}

impl FromStr for JobState {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let all = [Self::Queued, Self::Running, Self::Ready, Self::Failed, Self::Cancelled];
        all.into_iter()
            .find(|state| state.name() == text)
            .ok_or_else(|| format!("{text:?} is no state of a job"))
    }
}

impl Job {
    pub fn slot(&self) -> sqlx::Result<BuildSlot> {
        let wrong = |problem: String| sqlx::Error::Decode(problem.into());
        let settings = Settings {
            grid: self.grid_size.to_string().parse().map_err(wrong)?,
            palette: self.palette.parse().map_err(wrong)?,
            mode: self.mode.parse().map_err(wrong)?,
        };
        let (prompt, model) =
            (self.prompt_id.parse().map_err(wrong)?, self.model_key.parse().map_err(wrong)?);
        Ok(BuildSlot { prompt, model, settings })
    }

    pub fn seconds(&self, now: OffsetDateTime) -> Option<f64> {
        Some((self.ended_at.unwrap_or(now) - self.started_at?).as_seconds_f64().max(0.0))
    }
}

/// Wants a build, once.
pub async fn enqueue(connection: &mut PgConnection, slot: &BuildSlot) -> Result<Uuid, EnqueueError> {
    let Settings { grid, palette, mode } = &slot.settings;
    let (prompt, model) = (slot.prompt.as_str(), slot.model.as_str());
    let (grid, palette, mode) = (grid.get() as i16, palette.name(), mode.as_str());
    if builds::exists(connection, slot).await? {
        return Err(EnqueueError::HasBuild);
    }
    let wanted = sqlx::query_scalar!(
        "
        INSERT INTO jobs (id, prompt_id, model_key, grid_size, palette, mode)
        VALUES ($1, $2, $3, $4, $5, $6)
        ON CONFLICT (prompt_id, model_key, grid_size, palette, mode) WHERE state IN ('queued', 'running')
        DO NOTHING
        RETURNING id
        ",
        Uuid::now_v7(),
        prompt,
        model,
        grid,
        palette,
        mode,
    )
    .fetch_optional(&mut *connection)
    .await?;
    if let Some(id) = wanted {
        return Ok(id);
    }
    let under_way = sqlx::query_scalar!(
        "
        SELECT id
        FROM jobs
        WHERE prompt_id = $1 AND model_key = $2 AND grid_size = $3 AND palette = $4 AND mode = $5
        ORDER BY wanted_at DESC
        LIMIT 1
        ",
        prompt,
        model,
        grid,
        palette,
        mode,
    )
    .fetch_one(connection)
    .await?;
    Err(EnqueueError::InProgress(under_way))
}

impl From<sqlx::Error> for EnqueueError {
    fn from(error: sqlx::Error) -> Self {
        match error.as_database_error().and_then(sqlx::error::DatabaseError::constraint) {
            Some("jobs_prompt_id_fkey") => Self::NoPrompt,
            Some("jobs_model_key_fkey") => Self::NoModel,
            _ => Self::Database(error),
        }
    }
}

/// Wants those of many builds that nobody has wanted or brought meanwhile, and returns their jobs. An admin who
/// switches a model or a prompt off waits for this, or this for the admin.
pub async fn enqueue_all(connection: &mut PgConnection, slots: &[&BuildSlot]) -> sqlx::Result<Vec<Uuid>> {
    let Some(first) = slots.first() else { return Ok(Vec::new()) };
    let Settings { grid, palette, mode } = &first.settings;
    let ids: Vec<_> = slots.iter().map(|_| Uuid::now_v7()).collect();
    let prompts: Vec<_> = slots.iter().map(|slot| slot.prompt.to_string()).collect();
    let models: Vec<_> = slots.iter().map(|slot| slot.model.to_string()).collect();
    sqlx::query_scalar!(
        "
        INSERT INTO jobs (id, prompt_id, model_key, grid_size, palette, mode)
        SELECT wanted.id, wanted.prompt_id, wanted.model_key, $4, $5, $6
        FROM unnest($1::uuid[], $2::text[], $3::text[]) AS wanted (id, prompt_id, model_key)
        JOIN prompts ON prompts.id = wanted.prompt_id AND prompts.active
        JOIN models ON models.key = wanted.model_key AND models.enabled
        WHERE NOT EXISTS (
            SELECT FROM builds
            WHERE builds.prompt_id = wanted.prompt_id AND builds.model_key = wanted.model_key
              AND builds.grid_size = $4 AND builds.palette = $5 AND builds.mode = $6 AND retired_at IS NULL
        )
        ORDER BY wanted.id
        FOR SHARE OF prompts, models
        ON CONFLICT (prompt_id, model_key, grid_size, palette, mode) WHERE state IN ('queued', 'running')
        DO NOTHING
        RETURNING id
        ",
        &ids,
        &prompts,
        &models,
        grid.get() as i16,
        palette.name(),
        mode.as_str(),
    )
    .fetch_all(connection)
    .await
}

/// Jobs by their ids, the first wanted first.
pub async fn find(pool: &PgPool, ids: &[Uuid]) -> sqlx::Result<Vec<Job>> {
    select(pool, Some(ids), None, None).await
}

/// The jobs of a place, the latest first.
pub async fn of_slot(pool: &PgPool, prompt: &PromptId, model: &ModelKey) -> sqlx::Result<Vec<Job>> {
    let mut jobs = select(pool, None, Some(prompt.as_str()), Some(model.as_str())).await?;
    jobs.reverse();
    Ok(jobs)
}

/// Whether one of these is still under way.
pub async fn any_under_way(pool: &PgPool, ids: &[Uuid]) -> sqlx::Result<bool> {
    sqlx::query_scalar!(
        r#"SELECT EXISTS (SELECT FROM jobs WHERE id = ANY ($1) AND state IN ('queued', 'running')) AS "any!""#,
        ids
    )
    .fetch_one(pool)
    .await
}

async fn select(
    pool: &PgPool,
    ids: Option<&[Uuid]>,
    prompt: Option<&str>,
    model: Option<&str>,
) -> sqlx::Result<Vec<Job>> {
    sqlx::query_as!(
        Job,
        r#"
        SELECT
            jobs.id, jobs.prompt_id, prompts.text AS prompt_text, jobs.model_key,
            models.display_name AS model_name, jobs.grid_size, jobs.palette, jobs.mode,
            state AS "state: JobState", jobs.provider, wanted_at, started_at, ended_at,
            (SELECT count(*)::integer FROM attempts WHERE job_id = jobs.id) AS "attempts!",
            chars, note, build_id, builds.block_count AS "block_count?", error_code, error,
            (SELECT coalesce(sum(cost), 0)::bigint FROM attempts WHERE job_id = jobs.id) AS "cost!"
        FROM jobs
        JOIN prompts ON prompts.id = jobs.prompt_id
        JOIN models ON models.key = jobs.model_key
        LEFT JOIN builds ON builds.id = build_id
        WHERE ($1::uuid[] IS NULL OR jobs.id = ANY ($1))
          AND ($2::text IS NULL OR jobs.prompt_id = $2)
          AND ($3::text IS NULL OR jobs.model_key = $3)
        ORDER BY wanted_at, jobs.id
        "#,
        ids,
        prompt,
        model,
    )
    .fetch_all(pool)
    .await
}

/// The jobs of these models under way at these settings, the first wanted first.
pub async fn under_way(
    executor: impl PgExecutor<'_>,
    settings: &Settings,
    models: &[String],
) -> sqlx::Result<Vec<Uuid>> {
    sqlx::query_scalar!(
        "
        SELECT id
        FROM jobs
        WHERE state IN ('queued', 'running') AND grid_size = $1 AND palette = $2 AND mode = $3
          AND model_key = ANY ($4)
        ORDER BY wanted_at, id
        ",
        settings.grid.get() as i16,
        settings.palette.name(),
        settings.mode.as_str(),
        models,
    )
    .fetch_all(executor)
    .await
}

/// Failed jobs whose place still has no build, the latest first: what may be read again. Of all, those with an answer.
pub async fn reparsable(pool: &PgPool, only: Option<Uuid>) -> sqlx::Result<Vec<Uuid>> {
    sqlx::query_scalar!(
        "
        SELECT id
        FROM jobs
        WHERE state IN ('failed', 'cancelled')
          AND CASE
              WHEN $1::uuid IS NULL
              THEN EXISTS (SELECT FROM attempts WHERE job_id = jobs.id AND octet_length(answer) > 0)
              ELSE id = $1
          END
          AND NOT EXISTS (
              SELECT FROM builds
              WHERE builds.prompt_id = jobs.prompt_id AND builds.model_key = jobs.model_key
                AND builds.grid_size = jobs.grid_size AND builds.palette = jobs.palette
                AND builds.mode = jobs.mode AND retired_at IS NULL
          )
        ORDER BY wanted_at DESC, id DESC
        ",
        only
    )
    .fetch_all(pool)
    .await
}

/// What a build of each model has cost on average, in millionths of a dollar, where all of it is known.
pub async fn average_costs(connection: &mut PgConnection) -> sqlx::Result<HashMap<String, u64>> {
    let rows = sqlx::query!(
        r#"
        WITH asked AS (
            SELECT model_key, sum(cost) AS cost
            FROM jobs
            JOIN attempts ON job_id = id
            WHERE state IN ('ready', 'failed')
            GROUP BY id
            HAVING count(*) = count(cost)
        )
        SELECT model_key, round(avg(cost))::bigint AS "cost!"
        FROM asked
        GROUP BY model_key
        "#
    )
    .fetch_all(connection)
    .await?;
    Ok(rows.into_iter().map(|row| (row.model_key, row.cost.unsigned_abs())).collect())
}

/// What all attempts have cost, in millionths of a dollar, as far as it is known; and how many are not. A trigger
/// keeps both sums with the attempts, in the transactions that price and end them.
pub async fn total_spent(pool: &PgPool) -> sqlx::Result<(i64, i64)> {
    let row = sqlx::query!(
        r#"
        SELECT spent, unpriced_attempts
        FROM installation
        "#
    )
    .fetch_one(pool)
    .await?;
    Ok((row.spent, row.unpriced_attempts))
}
