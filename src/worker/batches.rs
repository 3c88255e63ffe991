//! Batches, step by step: reserve, submit, look whether the provider is done, collect the answers.
//!
//! Every step can be cut off at any moment, and is then taken again by whoever claims the batch next. Only a submission
//! must not happen twice: so it is written down before it begins, and one that was cut off is looked for at the provider.
//! A draining server takes no further steps and waits for no batch.

mod collecting;

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use time::OffsetDateTime;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};
use tracing::{Instrument, info_span};
use uuid::Uuid;
use voxel::codec::Digest;

use self::collecting::BatchVerdict;
use super::{POLL_INTERVAL, SHUTDOWN_GRACE, Worker, log_panic};
use crate::arena::catalog::{self, ListedModel, Model};
use crate::arena::jobs::batches::{
    self, BatchLeaseError, BatchRoute, BatchState, ClaimedBatch, LeavingJob, Submission, SubmissionPermit,
};
use crate::arena::jobs::pauses::{self, ProviderTrouble};
use crate::arena::jobs::{BatchedBuild, JobFailure};
use crate::generate::build::BuildTask;
use crate::generate::{
    Adjustment, BatchApi, BatchEnd, BatchStatus, CompletionRequest, EndedBatch, GenerateError,
    GenerateErrorKind, LostBatch, ModelProvider, Note,
};

/// How long a batch stays with a server that takes a step of it.
const BATCH_LEASE: Duration = Duration::from_secs(10 * 60);

/// How long a step may take, so that it ends before its lease does. What it has done counts.
const STEP_TIMEOUT: Duration = Duration::from_secs(9 * 60);

/// How many steps a server takes at once.
const MAX_STEPS: usize = 4;

/// When a batch is given up. Providers promise a day or two.
const MAX_AGE: time::Duration = time::Duration::days(3);

const MODEL_CHANGED: &str = "The model is asked differently now.";

/// Why a step came to no end.
#[derive(Debug, thiserror::Error)]
enum StepError {
    #[error(transparent)]
    Lease(#[from] BatchLeaseError),
    #[error("{0}")]
    Provider(GenerateError),
    #[error("it took longer than its lease allows")]
    TooSlow,
    #[error(transparent)]
    Database(#[from] sqlx::Error),
}

/// Requests by their jobs, and the digests of what the model is told in each beside the prompt.
type MadeRequests = (Vec<(Uuid, CompletionRequest)>, HashMap<Uuid, Digest>);

/// What a step is about.
struct BatchStep<'a> {
    worker: &'a Worker,
    batch: ClaimedBatch,
    model: Model,
    provider: &'a Arc<dyn ModelProvider>,
    api: Box<dyn BatchApi + 'a>,
}

impl Worker {
    pub(super) async fn run_batches(&self) {
        let mut steps = JoinSet::new();
        while !self.is_draining() {
            let woken = self.wake.notified();
            if let Err(error) = self.start_steps(&mut steps).await {
                tracing::warn!(%error, "batches could not be claimed");
            }
            tokio::select! {
                () = self.draining.cancelled() => {}
                () = woken => {}
                () = sleep(POLL_INTERVAL) => {}
                Some(ended) = steps.join_next() => log_panic(ended),
            }
        }
        let all = async { while steps.join_next().await.is_some() {} };
        if timeout(SHUTDOWN_GRACE, all).await.is_err() {
            tracing::warn!("a step of a batch was cut off; another server continues when its lease expires");
        }
    }

    async fn start_steps(&self, steps: &mut JoinSet<()>) -> sqlx::Result<()> {
        if batches::any_waiting(&self.pool).await? {
            let routes = self.batch_routes().await?;
            let limits = &self.config.budgets.limits;
            while !self.is_draining() && batches::reserve(&self.pool, &routes, limits).await? {}
        }
        let known = self.providers();
        let keys = known.known().iter().map(|provider| provider.key.clone());
        let providers: Vec<String> = keys.filter(|key| known.can_ask(key)).collect();
        while !self.is_draining() && steps.len() < MAX_STEPS {
            let Some(batch) = batches::claim(&self.pool, &providers, BATCH_LEASE).await? else { break };
            let span = info_span!("batch", id = %batch.id, model = %batch.model, provider = batch.provider);
            let worker = self.clone();
            steps.spawn(async move { worker.take_step(batch).await }.instrument(span));
        }
        Ok(())
    }

    async fn batch_routes(&self) -> sqlx::Result<Vec<BatchRoute>> {
        let route = |listed: &ListedModel| {
            let (provider, model_id) = self.providers().batch_route(&listed.model)?;
            let price_part = self.providers().batch_price(provider)?;
            let (provider, model_id) = (provider.to_owned(), model_id.to_owned());
            Some(BatchRoute { model: listed.model.key.clone(), provider, model_id, price_part })
        };
        Ok(catalog::models(&self.pool).await?.iter().filter_map(route).collect())
    }

    async fn take_step(&self, batch: ClaimedBatch) {
        let step = async {
            let models = catalog::models(&self.pool).await?;
            let model = models.into_iter().find(|listed| listed.model.key == batch.model);
            let providers = self.providers();
            let provider = providers.get(&batch.provider);
            let api = provider.and_then(|provider| Some((provider, provider.batches()?)));
            let (Some(ListedModel { model, .. }), Some((provider, api))) = (model, api) else {
                tracing::warn!("the catalog has no such model or batch API any more");
                return Ok(batch.wait(&self.pool).await?);
            };
            BatchStep { worker: self, batch: batch.clone(), model, provider, api }.run().await
        };
        let error = match timeout(STEP_TIMEOUT, step).await {
            Ok(Ok(())) => return self.wake(),
            Ok(Err(error)) => error,
            Err(_) => StepError::TooSlow,
        };
        tracing::warn!(%error, "a step of a batch failed and is taken again later");
        let (pool, provider) = (&self.pool, &batch.provider);
        let written = async {
            if let StepError::Provider(error) = &error
                && let Some(trouble) = error.kind.provider_trouble()
                && (trouble.needs_admin()
                    || matches!(batch.state, BatchState::Reserved | BatchState::Submitting))
            {
                pause(self, provider, trouble, &error.message).await?;
            }
            if matches!(error, StepError::Lease(BatchLeaseError::Lost)) {
                return Ok(());
            }
            batch.wait(pool).await
        };
        if let Err(error) = written.await {
            tracing::warn!(%error, "the batch waits for its lease to expire");
        }
    }
}

async fn pause(
    worker: &Worker,
    provider: &str,
    trouble: ProviderTrouble,
    message: &str,
) -> Result<(), BatchLeaseError> {
    let code = trouble.code();
    tracing::warn!(provider, code, "the provider is paused: {message}");
    let mut connection = worker.pool.acquire().await?;
    Ok(pauses::pause_for_batch(&mut connection, provider, trouble, message).await?)
}

impl BatchStep<'_> {
    async fn run(&self) -> Result<(), StepError> {
        let batch = &self.batch;
        match (batch.state, &batch.remote_id) {
            (BatchState::Reserved, _) => self.probe_and_submit().await,
            (BatchState::Submitting, _) => self.find_or_submit().await,
            (BatchState::Submitted, Some(id)) if batch.jobs == 0 => self.abandon(id).await,
            (BatchState::Submitted | BatchState::Collecting, Some(id)) => self.look(id).await,
            (BatchState::Submitted | BatchState::Collecting, None) | (BatchState::Ended, _) => Ok(()),
        }
    }

    /// One tiny request tells what is wrong with a batch, before all that is in it fails for that after hours, and which
    /// options the model does not take.
    async fn probe_and_submit(&self) -> Result<(), StepError> {
        let ClaimedBatch { provider, model_id, .. } = &self.batch;
        if !self.model.routes().any(|route| route == (provider.as_str(), model_id.as_str())) {
            return self.put_back(MODEL_CHANGED).await;
        }
        let probe = self.worker.probe_at(&self.model, provider, model_id).await;
        let Some(failure) = probe.and_then(|probe| probe.failure) else { return self.submit().await };
        let verdict = BatchVerdict::of_code(failure.code, &failure.message);
        self.dissolve(verdict, "failed", &failure.message).await
    }

    /// The submission was cut off: if it has arrived, the batch is at the provider.
    async fn find_or_submit(&self) -> Result<(), StepError> {
        let (pool, batch) = (&self.worker.pool, &self.batch);
        let lost = LostBatch {
            key: batch.id,
            submitting_at: batch.submitting_at.unwrap_or(batch.reserved_at),
            requests: batch.requests.len(),
            others: batch.others(pool).await?,
        };
        match self.api.find(&lost).await {
            Ok(Some(id)) => {
                tracing::info!(remote = id, "found a batch whose submission was cut off");
                Ok(batch.set_submitted(pool, &id, self.api.finds_by_guess()).await?)
            }
            Ok(None) => self.submit().await,
            Err(error) if self.is_too_old() => self.give_up(&error.message).await,
            Err(error) => Err(StepError::Provider(error)),
        }
    }

    fn is_too_old(&self) -> bool {
        let since = self.batch.submitting_at.unwrap_or(self.batch.reserved_at);
        OffsetDateTime::now_utc() - since > MAX_AGE
    }

    async fn submit(&self) -> Result<(), StepError> {
        let (pool, batch) = (&self.worker.pool, &self.batch);
        let (requests, templates) = self.requests().await?;
        if requests.is_empty() {
            return Ok(batch.end(pool, "cancelled", "No job was left.").await?);
        }
        let prepared = match self.api.prepare(requests) {
            Ok(prepared) => prepared,
            Err(error) => return self.dissolve_after(&error).await,
        };
        let mut notes: Vec<_> = prepared.notes.iter().map(|note| json!(note)).collect();
        notes.push(json!(Note { step: Adjustment::Batch, why: String::new() }));
        let ids = prepared.ids();
        for build in self.batch.builds(pool).await?.iter().filter(|build| !ids.contains(&build.job)) {
            batch.release_job(pool, build.job, None, LeavingJob::Next).await?;
        }
        let requests: Vec<_> = ids.into_iter().filter_map(|job| Some((job, *templates.get(&job)?))).collect();
        let (count, options) = (requests.len(), self.model.options);
        let submission = Submission { requests, options, sent: prepared.sent.clone(), notes: notes.into() };
        match batch.begin_submission(pool, &submission, &self.worker.config.budgets.limits).await? {
            SubmissionPermit::Given => {}
            SubmissionPermit::ModelChanged => return self.put_back(MODEL_CHANGED).await,
            SubmissionPermit::OverBudget => return self.put_back("A budget was used up meanwhile.").await,
        }
        match self.api.submit(batch.id, prepared).await {
            Ok(id) => {
                batch.set_submitted(pool, &id, false).await?;
                tracing::info!(remote = id, jobs = count, "submitted a batch");
                Ok(())
            }
            Err(error) if error.is_rejection() => self.dissolve_after(&error).await,
            // It may have arrived all the same.
            Err(error) => Err(StepError::Provider(error)),
        }
    }

    /// The requests of the jobs. One whose past answer turns out to be a build, or that may not be asked again, is left
    /// to a worker, who ends it without a request.
    async fn requests(&self) -> Result<MadeRequests, StepError> {
        let pool = &self.worker.pool;
        let (mut requests, mut templates) = (Vec::new(), HashMap::new());
        for build in self.batch.builds(pool).await? {
            match self.attempt_loop(&build).await?.next_request().await {
                Ok(Some(request)) => {
                    templates.insert(build.job, BuildTask::template_digest(&build.slot.settings));
                    requests.push((build.job, request));
                }
                Ok(None) => self.batch.release_to_worker(pool, build.job).await?,
                Err(error) => {
                    let failure = JobFailure { code: error.kind.code(), message: &error.message };
                    self.batch.release_job(pool, build.job, None, LeavingJob::Fail(failure)).await?;
                }
            }
        }
        Ok((requests, templates))
    }

    /// Ends a batch that was not submitted. Its jobs wait for the next.
    async fn put_back(&self, message: &str) -> Result<(), StepError> {
        let pool = &self.worker.pool;
        for build in self.batch.builds(pool).await? {
            self.batch.release_job(pool, build.job, None, LeavingJob::Next).await?;
        }
        tracing::info!("a batch is not submitted: {message}");
        Ok(self.batch.end(pool, "cancelled", message).await?)
    }

    /// All jobs were cancelled, so nobody needs the answers.
    async fn abandon(&self, id: &str) -> Result<(), StepError> {
        if !self.batch.is_guess {
            match self.api.cancel(id).await {
                Err(error) if !error.is_rejection() => return Err(StepError::Provider(error)),
                // It has ended, or is gone.
                Err(error) => tracing::info!(%error, "the batch could not be cancelled"),
                Ok(()) => {}
            }
        }
        Ok(self.batch.end(&self.worker.pool, "cancelled", "All its jobs were cancelled.").await?)
    }

    async fn look(&self, id: &str) -> Result<(), StepError> {
        let (pool, batch) = (&self.worker.pool, &self.batch);
        let is_too_old = self.is_too_old();
        match self.api.status(id).await {
            Ok(BatchStatus::Ended(ended)) => {
                batch.begin_collection(pool).await?;
                match self.collect(ended).await {
                    Err(StepError::Provider(error)) if is_too_old => self.give_up(&error.message).await,
                    Err(StepError::Database(error)) if is_too_old => self.give_up(&error.to_string()).await,
                    result => result,
                }
            }
            Ok(BatchStatus::InProgress) if is_too_old => {
                if !batch.is_guess
                    && let Err(error) = self.api.cancel(id).await
                {
                    tracing::warn!(%error, "an expired batch could not be cancelled");
                }
                self.give_up("The provider did not end the batch.").await
            }
            Ok(BatchStatus::InProgress) => Ok(batch.wait(pool).await?),
            Err(error) if error.is_gone() => self.give_up(&error.message).await,
            Err(error) if is_too_old => self.give_up(&error.message).await,
            Err(error) => Err(StepError::Provider(error)),
        }
    }

    async fn give_up(&self, message: &str) -> Result<(), StepError> {
        let verdict = BatchVerdict::of_code(GenerateErrorKind::Expired.code(), message);
        self.dissolve(verdict, "lost", message).await
    }

    async fn collect(&self, mut ended: EndedBatch) -> Result<(), StepError> {
        let end = std::mem::replace(&mut ended.end, BatchEnd::Completed);
        match self.collect_answers(ended).await {
            Ok(false) if self.batch.is_guess => {
                let message = "This is somebody else's batch: the submission was cut off before it arrived.";
                let verdict = BatchVerdict::of_code(GenerateErrorKind::Expired.code(), message);
                return self.dissolve(verdict, "lost", message).await;
            }
            // What was read until then counts, and nothing more can be read another time.
            Err(StepError::Provider(error)) if error.kind == GenerateErrorKind::TooLarge => {
                return self.dissolve_after(&error).await;
            }
            result => result?,
        };
        let message = end.to_string();
        let verdict = match &end {
            BatchEnd::Completed => {
                let message = "The provider has ended the batch without an answer to this request.";
                BatchVerdict::of_code(GenerateErrorKind::BadAnswer.code(), message)
            }
            BatchEnd::Expired => BatchVerdict::of_code(GenerateErrorKind::Expired.code(), &message),
            BatchEnd::Cancelled => BatchVerdict::of_code(GenerateErrorKind::Cancelled.code(), &message),
            BatchEnd::Failed(error) => BatchVerdict::of_code(error.kind.code(), &message),
        };
        self.dissolve(verdict, end.name(), &message).await
    }

    async fn dissolve_after(&self, error: &GenerateError) -> Result<(), StepError> {
        let verdict = BatchVerdict::of_code(error.kind.code(), &error.message);
        self.dissolve(verdict, "failed", &error.message).await
    }

    /// Ends the batch. Jobs that are still part of it meet the verdict.
    async fn dissolve(
        &self,
        verdict: BatchVerdict<'_>,
        outcome: &str,
        message: &str,
    ) -> Result<(), StepError> {
        let pool = &self.worker.pool;
        let left = self.batch.builds(pool).await?;
        if !left.is_empty() {
            if let Some(trouble) = verdict.trouble {
                pause(self.worker, &self.batch.provider, trouble, verdict.failure.message).await?;
            }
            tracing::info!(
                outcome,
                jobs = left.len(),
                code = verdict.failure.code,
                "not answered: {message}"
            );
        }
        for BatchedBuild { job, .. } in left {
            self.batch.release_job(pool, job, None, verdict.leaving()).await?;
        }
        Ok(self.batch.end(pool, outcome, message).await?)
    }
}
