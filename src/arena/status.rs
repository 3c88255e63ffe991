//! How much an installation contains.

use std::collections::HashMap;

use serde::Serialize;
use sqlx::{PgExecutor, PgPool};
use utoipa::ToSchema;

use super::budgets::{Budgets, SpendingLimits};
use super::jobs::pauses::Pauses;
use super::{Exclusion, ModelKey};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = AdminCounts)]
pub struct InstallationCounts {
    pub prompts: i64,
    pub active_prompts: i64,
    pub models: i64,
    pub enabled_models: i64,
    pub builds: i64,
    pub retired_builds: i64,
    pub matchups: i64,
    pub votes: i64,
    /// What judges are asked about now, and what waits for them.
    pub running_judging: i64,
    pub queued_judging: i64,
}

/// On every ladder.
pub async fn counts(pool: &PgPool) -> sqlx::Result<InstallationCounts> {
    sqlx::query_as!(
        InstallationCounts,
        r#"
        SELECT
            (SELECT count(*) FROM prompts) AS "prompts!",
            (SELECT count(*) FROM prompts WHERE active) AS "active_prompts!",
            (SELECT count(*) FROM models) AS "models!",
            (SELECT count(*) FROM models WHERE enabled) AS "enabled_models!",
            (SELECT count(*) FROM builds WHERE retired_at IS NULL) AS "builds!",
            (SELECT count(*) FROM builds WHERE retired_at IS NOT NULL) AS "retired_builds!",
            (SELECT coalesce(sum(times), 0)::bigint / 2 FROM shown) AS "matchups!",
            (SELECT coalesce(sum(wins + losses + ties), 0)::bigint / 2 FROM ratings) AS "votes!",
            (SELECT count(*) FROM jobs WHERE kind = 'judge' AND state = 'running') AS "running_judging!",
            (SELECT count(*) FROM jobs WHERE kind = 'judge' AND state = 'queued') AS "queued_judging!"
        "#
    )
    .fetch_one(pool)
    .await
}

/// The numbers for monitoring. They are read often, so votes and matchups are read where they are already summed up.
#[derive(Clone, Debug)]
pub struct MetricCounts {
    pub votes: i64,
    pub matchups: i64,
    pub builds: i64,
    /// Jobs by state. Only the latest job of each subject counts, so that one whose retry succeeded has not failed.
    pub jobs: Vec<(String, i64)>,
    pub pauses: Pauses,
    pub budgets: Budgets,
}

/// On every ladder.
pub async fn metric_counts(pool: &PgPool, limits: &SpendingLimits) -> sqlx::Result<MetricCounts> {
    let row = sqlx::query!(
        r#"
        SELECT
            (SELECT coalesce(sum(wins + losses + ties), 0)::bigint / 2 FROM ratings) AS "votes!",
            (SELECT coalesce(sum(times), 0)::bigint / 2 FROM shown) AS "matchups!",
            (SELECT count(*) FROM builds WHERE retired_at IS NULL) AS "builds!"
        "#
    )
    .fetch_one(pool)
    .await?;
    let jobs = sqlx::query!(
        r#"
        WITH latest AS (
            SELECT DISTINCT ON (kind, model_key, subject) state
            FROM jobs
            ORDER BY kind, model_key, subject, wanted_at DESC, id DESC
        )
        SELECT state, count(*) AS "jobs!"
        FROM latest
        GROUP BY state
        ORDER BY state
        "#
    )
    .fetch_all(pool)
    .await?;
    let mut connection = pool.acquire().await?;
    Ok(MetricCounts {
        votes: row.votes,
        matchups: row.matchups,
        builds: row.builds,
        jobs: jobs.into_iter().map(|row| (row.state, row.jobs)).collect(),
        pauses: Pauses::read(&mut connection).await?,
        budgets: Budgets::read(&mut connection, limits).await?,
    })
}

/// Votes that do not count, on every ladder.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ExcludedVotes {
    pub withdrawn: i64,
    pub suspect: i64,
    pub over_budget: i64,
}

impl ExcludedVotes {
    pub fn total(&self) -> i64 {
        self.withdrawn + self.suspect + self.over_budget
    }

    pub fn of(&self, exclusion: Exclusion) -> i64 {
        match exclusion {
            Exclusion::Withdrawn => self.withdrawn,
            Exclusion::Suspect => self.suspect,
            Exclusion::OverBudget => self.over_budget,
        }
    }
}

/// Reads only the votes that do not count.
pub async fn excluded_votes(executor: impl PgExecutor<'_>) -> sqlx::Result<ExcludedVotes> {
    sqlx::query_as!(
        ExcludedVotes,
        r#"
        SELECT
            count(*) FILTER (WHERE exclusion = 'withdrawn') AS "withdrawn!",
            count(*) FILTER (WHERE exclusion = 'suspect') AS "suspect!",
            count(*) FILTER (WHERE exclusion = 'over_budget') AS "over_budget!"
        FROM votes
        WHERE exclusion IS NOT NULL
        "#
    )
    .fetch_one(executor)
    .await
}

/// Queued jobs by model, at all settings, without those in a batch.
pub async fn queued_jobs(pool: &PgPool) -> sqlx::Result<HashMap<ModelKey, i64>> {
    let rows = sqlx::query!(
        r#"
        SELECT model_key AS "model: ModelKey", count(*) AS "jobs!"
        FROM jobs
        WHERE state = 'queued' AND batch_id IS NULL
        GROUP BY model_key
        "#
    )
    .fetch_all(pool)
    .await?;
    Ok(rows.into_iter().map(|row| (row.model, row.jobs)).collect())
}

/// Running jobs by provider, over all servers and settings.
pub async fn running_jobs(pool: &PgPool) -> sqlx::Result<HashMap<String, usize>> {
    let rows = sqlx::query!(
        r#"
        SELECT provider AS "provider!", count(*) AS "jobs!"
        FROM jobs
        WHERE state = 'running' AND provider IS NOT NULL
        GROUP BY provider
        "#
    )
    .fetch_all(pool)
    .await?;
    Ok(rows.into_iter().map(|row| (row.provider, usize::try_from(row.jobs).unwrap_or_default())).collect())
}
