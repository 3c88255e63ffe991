//! The answers of a batch, and what becomes of the jobs that they are for.

use std::collections::HashMap;

use sqlx::types::Json;
use uuid::Uuid;

use super::{BatchStep, StepError, pause};
use crate::arena::builds::GenerationInfo;
use crate::arena::jobs::attempts::{Attempt, Outcome, RequestSetup};
use crate::arena::jobs::batches::LeavingJob;
use crate::arena::jobs::pauses::ProviderTrouble;
use crate::arena::jobs::{BatchedBuild, JobFailure};
use crate::generate::attempts::AttemptLoop;
use crate::generate::build::BuildTask;
use crate::generate::cost::attempt_cost;
use crate::generate::{BatchAnswer, CompletionResponse, EndedBatch, GenerateError, GenerateErrorKind};

/// What a failure means for a job of a batch.
pub(super) struct BatchVerdict<'a> {
    pub failure: JobFailure<'a>,
    /// The trouble that the provider is in, if it is.
    pub trouble: Option<ProviderTrouble>,
}

impl<'a> BatchVerdict<'a> {
    pub fn of_code(code: &'a str, message: &'a str) -> Self {
        Self { failure: JobFailure { code, message }, trouble: ProviderTrouble::from_code(code) }
    }

    /// What others of the provider would meet, too, is not the job's fault. Nor is what nobody has answered.
    pub fn leaving(&self) -> LeavingJob<'a> {
        let is = |kind: GenerateErrorKind| self.failure.code == kind.code();
        match self.trouble {
            Some(trouble) if trouble.needs_admin() => LeavingJob::Next,
            Some(_) => LeavingJob::SetBack(self.failure),
            None if is(GenerateErrorKind::Expired) => LeavingJob::SetBack(self.failure),
            None if is(GenerateErrorKind::Cancelled) => LeavingJob::Cancel(self.failure),
            None => LeavingJob::Fail(self.failure),
        }
    }
}

impl BatchStep<'_> {
    pub(super) async fn attempt_loop(
        &self,
        build: &BatchedBuild,
    ) -> Result<AttemptLoop<BuildTask>, StepError> {
        let (worker, batch) = (self.worker, &self.batch);
        let BatchedBuild { job, slot, prompt_text } = build;
        let setup = RequestSetup {
            provider: batch.provider.clone(),
            model_id: batch.model_id.clone(),
            options: self.model.options,
            template: BuildTask::template_digest(&slot.settings),
        };
        let task = worker.build_task(slot, prompt_text);
        Ok(worker.attempt_loop(*job, task, &setup, self.model.vision, self.provider).await?)
    }

    /// Reads all answers and stores each with its job. Returns whether some were of this batch.
    pub(super) async fn collect_answers(&self, ended: EndedBatch) -> Result<bool, StepError> {
        let builds = self.batch.builds(&self.worker.pool).await?;
        let mut waiting: HashMap<Uuid, BatchedBuild> =
            builds.into_iter().map(|build| (build.job, build)).collect();
        let (mut known, mut strangers) = (0, 0);
        let mut answers =
            self.api.answers(ended, self.batch.requests.clone()).await.map_err(StepError::Provider)?;
        while let Some(BatchAnswer { request, result }) = answers.next().await.map_err(StepError::Provider)? {
            // Nobody vouches for the ids. A job that was cancelled or is answered already is not part of the batch now.
            let id = Uuid::try_parse(&request).ok().filter(|id| self.batch.requests.contains(id));
            let Some(id) = id else {
                strangers += 1;
                continue;
            };
            known += 1;
            if let Some(build) = waiting.remove(&id) {
                self.store(&build, result).await?;
            }
        }
        tracing::info!(known, strangers, "collected the answers of a batch");
        Ok(known > 0)
    }

    /// Stores one answer, unless its job has left the batch meanwhile.
    async fn store(
        &self,
        build: &BatchedBuild,
        result: Result<CompletionResponse, GenerateError>,
    ) -> Result<(), StepError> {
        let (pool, batch) = (&self.worker.pool, &self.batch);
        let attempt_loop = self.attempt_loop(build).await?;
        let (attempt, generated) = attempt_loop.read_response(result).await;
        let trouble = attempt.code.and_then(ProviderTrouble::from_code);
        let attempt = Attempt {
            outcome: if trouble.is_some() { Outcome::Interrupted } else { attempt.outcome },
            sent: batch.sent.as_ref().map(|Json(sent)| sent.clone()).unwrap_or_default(),
            notes: batch.notes.0.clone(),
            ..attempt
        };
        let prices = self.model.prices.map(|prices| prices.times(batch.price_part));
        let cost = attempt_cost(prices, &attempt);
        match generated {
            Ok(Some(generated)) => {
                let info = GenerationInfo { generation_time_ms: None, ..generated.info() };
                batch.finish_build(pool, build, &attempt, cost, &generated.output.build, info).await?
            }
            Ok(None) => batch.release_job(pool, build.job, Some((&attempt, cost)), LeavingJob::Next).await?,
            Err(error) => {
                let verdict = BatchVerdict::of_code(error.kind.code(), &error.message);
                if let Some(trouble) = verdict.trouble.filter(|trouble| trouble.needs_admin()) {
                    pause(self.worker, &batch.provider, trouble, &error.message).await?;
                }
                batch.release_job(pool, build.job, Some((&attempt, cost)), verdict.leaving()).await?
            }
        };
        Ok(())
    }
}
