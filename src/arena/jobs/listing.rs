//! Finding and listing jobs of every kind.

use sqlx::{PgExecutor, PgPool};
use time::OffsetDateTime;
use uuid::Uuid;

use super::judgements::JudgedBuilds;
use super::{JobKind, JobState};
use crate::arena::builds::BuildSlot;
use crate::arena::{Choice, ModelKey, PromptId, Settings};

/// A job with what is known of it.
#[derive(Clone, Debug)]
pub struct Job {
    pub id: Uuid,
    pub kind: JobKind,
    /// Of what is to be built, or of the build that is judged.
    pub prompt_id: PromptId,
    pub prompt_text: String,
    /// The model that is asked: the builder, or the judge.
    pub model_key: ModelKey,
    pub model_name: String,
    pub settings: Settings,
    pub state: JobState,
    /// The provider that is asked; none before the first claim.
    pub provider: Option<String>,
    pub wanted_at: OffsetDateTime,
    pub started_at: Option<OffsetDateTime>,
    pub ended_at: Option<OffsetDateTime>,
    /// Without interrupted ones, which count for nobody.
    pub attempts: i32,
    /// Of the answer under way.
    pub chars: i64,
    /// What it waits for.
    pub note: Option<String>,
    /// Whether it is asked for in a batch.
    pub batched: bool,
    /// When the batch was submitted that it is part of.
    pub batch_submitted_at: Option<OffsetDateTime>,
    /// What a job that builds has yielded.
    pub build_id: Option<Uuid>,
    pub block_count: Option<i32>,
    /// What a judge is asked about.
    pub judged: Option<JudgedInJob>,
    pub error_code: Option<String>,
    pub error: Option<String>,
    /// In millionths of a dollar. None if nothing is known of it.
    pub cost: Option<i64>,
    /// Whether more may have been spent, or will be.
    pub cost_is_minimum: bool,
}

/// What a judge's job is about, and what has come of it.
#[derive(Clone, Debug)]
pub struct JudgedInJob {
    pub builds: JudgedBuilds,
    pub maker: ModelKey,
    pub maker_name: String,
    /// Of the build on the right.
    pub second_maker: Option<ModelKey>,
    pub second_maker_name: Option<String>,
    /// The mean of the scores, from 0 to 10.
    pub overall: Option<f64>,
    pub choice: Option<Choice>,
}

impl Job {
    /// What a job that builds is for.
    pub fn slot(&self) -> BuildSlot {
        BuildSlot {
            prompt: self.prompt_id.clone(),
            model: self.model_key.clone(),
            settings: self.settings.clone(),
        }
    }

    pub fn seconds(&self, now: OffsetDateTime) -> Option<f64> {
        Some((self.ended_at.unwrap_or(now) - self.started_at?).as_seconds_f64().max(0.0))
    }
}

/// Jobs by their ids, the oldest first.
pub async fn find(pool: &PgPool, ids: &[Uuid]) -> sqlx::Result<Vec<Job>> {
    select(pool, Some(ids), None, None).await
}

/// The jobs of a model that build a prompt, at any settings, the latest first.
pub async fn of_slot(pool: &PgPool, prompt: &PromptId, model: &ModelKey) -> sqlx::Result<Vec<Job>> {
    let mut jobs = select(pool, None, Some(prompt), Some(model)).await?;
    jobs.reverse();
    Ok(jobs)
}

async fn select(
    pool: &PgPool,
    ids: Option<&[Uuid]>,
    prompt: Option<&PromptId>,
    model: Option<&ModelKey>,
) -> sqlx::Result<Vec<Job>> {
    let rows = sqlx::query!(
        r#"
        SELECT
            jobs.id, kind AS "kind: JobKind", prompts.id AS "prompt_id: PromptId", prompts.text AS prompt_text,
            jobs.model_key AS "model_key: ModelKey", models.display_name AS model_name,
            coalesce(build_jobs.settings, first.settings) AS "settings!: Settings", state AS "state: JobState",
            jobs.provider, wanted_at, started_at, ended_at,
            (
                SELECT count(*)::integer
                FROM attempts
                WHERE job_id = jobs.id AND outcome IS DISTINCT FROM 'interrupted'
            ) AS "attempts!",
            chars, jobs.note, batched,
            (
                SELECT submitting_at
                FROM batches
                WHERE batches.id = batch_id AND batches.state IN ('submitted', 'collecting')
            ) AS batch_submitted_at,
            build_jobs.build_id AS "build_id?", builds.block_count AS "block_count?",
            first.id AS "first?", first.model_key AS "maker?: ModelKey", maker.display_name AS "maker_name?",
            second.id AS "second?", second.model_key AS "second_maker?: ModelKey",
            second_maker.display_name AS "second_maker_name?",
            judgements.overall AS "overall?", judge_votes.choice AS "choice?: Choice",
            error_code, error,
            (SELECT CASE WHEN count(*) = 0 THEN 0 ELSE sum(cost) END::bigint FROM attempts WHERE job_id = jobs.id) AS cost,
            (
                SELECT coalesce(bool_or(cost IS NULL OR cost_is_minimum OR attempts.ended_at IS NULL), false)
                FROM attempts
                WHERE job_id = jobs.id
            ) AS "cost_is_minimum!"
        FROM jobs
        LEFT JOIN build_jobs ON build_jobs.job_id = jobs.id
        LEFT JOIN builds ON builds.id = build_jobs.build_id
        LEFT JOIN judge_jobs ON judge_jobs.job_id = jobs.id
        LEFT JOIN builds AS first ON first.id = judge_jobs.build_id
        LEFT JOIN models AS maker ON maker.key = first.model_key
        LEFT JOIN builds AS second ON second.id = judge_jobs.right_build
        LEFT JOIN models AS second_maker ON second_maker.key = second.model_key
        LEFT JOIN judgements ON judgements.job_id = jobs.id
        LEFT JOIN judge_votes ON judge_votes.job_id = jobs.id
        JOIN prompts ON prompts.id = coalesce(build_jobs.prompt_id, first.prompt_id)
        JOIN models ON models.key = jobs.model_key
        WHERE ($1::uuid[] IS NULL OR jobs.id = ANY ($1))
          AND ($2::text IS NULL OR build_jobs.prompt_id = $2)
          AND ($3::text IS NULL OR jobs.model_key = $3)
        ORDER BY wanted_at, jobs.id
        "#,
        ids,
        prompt as _,
        model as _,
    )
    .fetch_all(pool)
    .await?;
    let jobs = rows.into_iter().map(|row| {
        let judged = row.first.zip(row.maker).map(|(first, maker)| JudgedInJob {
            builds: JudgedBuilds::of(first, row.second),
            maker,
            maker_name: row.maker_name.unwrap_or_default(),
            second_maker: row.second_maker,
            second_maker_name: row.second_maker_name,
            overall: row.overall,
            choice: row.choice,
        });
        Job {
            id: row.id,
            kind: row.kind,
            prompt_id: row.prompt_id,
            prompt_text: row.prompt_text,
            model_key: row.model_key,
            model_name: row.model_name,
            settings: row.settings,
            state: row.state,
            provider: row.provider,
            wanted_at: row.wanted_at,
            started_at: row.started_at,
            ended_at: row.ended_at,
            attempts: row.attempts,
            chars: row.chars,
            note: row.note,
            batched: row.batched,
            batch_submitted_at: row.batch_submitted_at,
            build_id: row.build_id,
            block_count: row.block_count,
            judged,
            error_code: row.error_code,
            error: row.error,
            cost: row.cost,
            cost_is_minimum: row.cost_is_minimum,
        }
    });
    Ok(jobs.collect())
}

/// Which jobs are listed. What is None does not matter.
#[derive(Clone, Debug, Default)]
pub struct JobFilter {
    pub kind: Option<JobKind>,
    pub states: Option<Vec<JobState>>,
    pub models: Option<Vec<ModelKey>>,
    pub prompts: Option<Vec<PromptId>>,
    /// Those that were asked of this provider, and those of `routed_models` that nobody was asked for yet.
    pub provider: Option<String>,
    pub routed_models: Vec<ModelKey>,
    /// The code of the reason for which the job failed or was cancelled.
    pub reason: Option<String>,
    /// Those before this one.
    pub before: Option<Uuid>,
}

/// The ids of the latest jobs at any settings, the latest first. Ids are in the order in which jobs were queued.
pub async fn list(pool: &PgPool, filter: &JobFilter, limit: i64) -> sqlx::Result<Vec<Uuid>> {
    let JobFilter { kind, states, models, prompts, provider, routed_models, reason, before } = filter;
    let states: Option<Vec<_>> =
        states.as_ref().map(|states| states.iter().map(|state| state.name().to_owned()).collect());
    sqlx::query_scalar!(
        "
        SELECT jobs.id
        FROM jobs
        LEFT JOIN build_jobs ON build_jobs.job_id = jobs.id
        LEFT JOIN judge_jobs ON judge_jobs.job_id = jobs.id
        LEFT JOIN builds AS judged ON judged.id = judge_jobs.build_id
        WHERE ($1::text[] IS NULL OR state = ANY ($1))
          AND ($2::text[] IS NULL OR jobs.model_key = ANY ($2))
          AND ($3::text[] IS NULL OR coalesce(build_jobs.prompt_id, judged.prompt_id) = ANY ($3))
          AND ($4::text IS NULL OR provider = $4 OR (provider IS NULL AND jobs.model_key = ANY ($5::text[])))
          AND ($6::text IS NULL OR error_code = $6)
          AND ($7::uuid IS NULL OR jobs.id < $7)
          AND ($8::text IS NULL OR kind = $8)
        ORDER BY jobs.id DESC
        LIMIT $9
        ",
        states.as_deref(),
        models.as_deref() as _,
        prompts.as_deref() as _,
        provider.as_deref(),
        routed_models as _,
        reason.as_deref(),
        *before,
        kind.map(JobKind::name),
        limit,
    )
    .fetch_all(pool)
    .await
}

/// The jobs under way of this kind, or of any, and of these models for these prompts, at any settings; of all, where the
/// list is empty.
pub async fn under_way(
    executor: impl PgExecutor<'_>,
    kind: Option<JobKind>,
    models: &[ModelKey],
    prompts: &[PromptId],
) -> sqlx::Result<Vec<Uuid>> {
    sqlx::query_scalar!(
        "
        SELECT jobs.id
        FROM jobs
        LEFT JOIN build_jobs ON build_jobs.job_id = jobs.id
        LEFT JOIN judge_jobs ON judge_jobs.job_id = jobs.id
        LEFT JOIN builds AS judged ON judged.id = judge_jobs.build_id
        WHERE state IN ('queued', 'running')
          AND (cardinality($1::text[]) = 0 OR jobs.model_key = ANY ($1))
          AND (cardinality($2::text[]) = 0 OR coalesce(build_jobs.prompt_id, judged.prompt_id) = ANY ($2))
          AND ($3::text IS NULL OR kind = $3)
        ORDER BY jobs.id
        ",
        models as _,
        prompts as _,
        kind.map(JobKind::name),
    )
    .fetch_all(executor)
    .await
}

/// Failed and cancelled jobs that build, without a build in force in their place, the latest first: their answers may be
/// parsed again. Where no job is named, only those with an answer.
pub async fn reparsable(pool: &PgPool, only: Option<Uuid>) -> sqlx::Result<Vec<Uuid>> {
    sqlx::query_scalar!(
        "
        SELECT id
        FROM jobs
        JOIN build_jobs ON job_id = id
        WHERE state IN ('failed', 'cancelled')
          AND CASE
              WHEN $1::uuid IS NULL
              THEN EXISTS (SELECT FROM attempts WHERE attempts.job_id = jobs.id AND octet_length(answer) > 0)
              ELSE id = $1
          END
          AND NOT EXISTS (
              SELECT FROM builds
              WHERE builds.prompt_id = build_jobs.prompt_id AND builds.model_key = jobs.model_key
                AND builds.settings = build_jobs.settings AND retired_at IS NULL
          )
        ORDER BY wanted_at DESC, id DESC
        ",
        only
    )
    .fetch_all(pool)
    .await
}
