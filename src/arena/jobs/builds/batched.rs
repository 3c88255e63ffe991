//! Builds that are asked for in batches.

use sqlx::PgPool;
use uuid::Uuid;

use super::super::JobFailure;
use super::super::attempts::{Attempt, AttemptCost};
use super::super::batches::{ClaimedBatch, LeavingJob};
use super::set_build;
use crate::arena::builds::{self, BuildSlot, GenerationInfo, PackedBuild, StoreError};
use crate::arena::{ModelKey, PromptId, Settings};

/// A job of a batch, with what the model is asked for.
#[derive(Clone, Debug)]
pub struct BatchedBuild {
    pub job: Uuid,
    pub slot: BuildSlot,
    pub prompt_text: String,
}

impl ClaimedBatch {
    /// The builds that the batch is still about.
    pub async fn builds(&self, pool: &PgPool) -> sqlx::Result<Vec<BatchedBuild>> {
        let rows = sqlx::query!(
            r#"
            SELECT
                jobs.id, prompt_id AS "prompt: PromptId", model_key AS "model: ModelKey",
                settings AS "settings: Settings", text
            FROM jobs
            JOIN build_jobs ON job_id = jobs.id
            JOIN prompts ON prompts.id = prompt_id
            WHERE batch_id = $1 AND state = 'queued'
            ORDER BY jobs.id
            "#,
            self.id
        )
        .fetch_all(pool)
        .await?;
        let builds = rows.into_iter().map(|row| BatchedBuild {
            job: row.id,
            slot: BuildSlot { prompt: row.prompt, model: row.model, settings: row.settings },
            prompt_text: row.text,
        });
        Ok(builds.collect())
    }

    /// Stores a build with the attempt that it came from, and ends its job. Where another build was imported meanwhile,
    /// that one stays and the job has failed. Returns whether the job was part of the batch.
    pub async fn finish_build(
        &self,
        pool: &PgPool,
        target: &BatchedBuild,
        attempt: &Attempt,
        cost: Option<AttemptCost>,
        build: &PackedBuild,
        generation: GenerationInfo,
    ) -> sqlx::Result<bool> {
        let attempt = Some((attempt, cost));
        let Some(mut transaction) = self.begin_release(pool, target.job, attempt).await? else {
            return Ok(false);
        };
        match builds::store(&mut transaction, &target.slot, build, generation, false).await {
            Ok(stored) => {
                set_build(&mut transaction, target.job, stored.id, None).await?;
                transaction.commit().await?;
                Ok(true)
            }
            Err(StoreError::Database(error)) => Err(error),
            Err(reason) => {
                transaction.rollback().await?;
                let message = format!("The answer is a build, but {reason}.");
                let failure = JobFailure { code: "exists", message: &message };
                self.release_job(pool, target.job, attempt, LeavingJob::Fail(failure)).await
            }
        }
    }
}
