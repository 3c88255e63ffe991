//! One job, from its claim to its end. What only one kind of job needs is in its [`WorkerJob`].

mod builds;
mod judgements;
mod recorder;

pub(super) use self::judgements::JudgeTask;

use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use sqlx::PgPool;
use tokio::sync::{Notify, watch};
use tokio::time::{sleep, timeout};
use uuid::Uuid;
use voxel::codec::Digest;

use self::recorder::{StreamBuffer, UsedSoFar};
use super::{LEASE, Worker};
use crate::arena::catalog::Model;
use crate::arena::jobs::attempts::{self, RequestSetup};
use crate::arena::jobs::pauses::ProviderTrouble;
use crate::arena::jobs::{self, Claim, JobFailure, JobState, LeaseError};
use crate::generate::attempts::{AttemptLoop, Generated, Task};
use crate::generate::{GenerateError, ModelProvider, cost};
use crate::work::WorkClient;

/// How often the lease is renewed.
const HEARTBEAT: Duration = Duration::from_secs(3);

/// How long an answer that was paid for stays in memory while the database does not accept it. The fence makes sure
/// that it does not get in another worker's way.
const STORE_TIMEOUT: Duration = Duration::from_secs(10 * 60);

/// How long the last statement of a job may take to return.
const FINISH_GRACE: Duration = Duration::from_millis(500);

/// How long storing what came may take after the server is told to stop.
const SHUTDOWN_GRACE: Duration = Duration::from_secs(2);

/// A claimed job of some kind: what the model is asked for, and how what comes of it is stored.
pub(super) trait WorkerJob: Sync {
    type Task: Task<Output: Sync>;

    fn claim(&self) -> &Claim;

    /// What it is about, for people.
    fn about(&self) -> String;

    /// The digest of what the model is told beside the prompt.
    fn template(&self) -> Digest;

    fn task(&self, worker: &Worker) -> impl Future<Output = Result<Self::Task, JobTaskError>> + Send;

    /// Stores what the model was asked for and ends the job, both or neither.
    fn finish(
        &self,
        pool: &PgPool,
        generated: &Generated<<Self::Task as Task>::Output>,
    ) -> impl Future<Output = Result<(), LeaseError>> + Send;
}

/// Why nobody is asked.
pub(super) enum JobTaskError {
    Database(sqlx::Error),
    /// This server has no room for it now, and says why.
    Busy(String),
    Failed(JobFailure<'static>),
}

struct JobRun<'a, J> {
    worker: &'a Worker,
    job: &'a J,
    claim: &'a Claim,
    model: &'a Model,
    setup: &'a RequestSetup,
    buffer: Mutex<StreamBuffer>,
    phase: watch::Sender<RequestPhase>,
    /// Notified when the provider's id of an answer in the background is known, so that it is stored at once.
    remote_known: Notify,
}

/// Whether a job is worth waiting for when the server stops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RequestPhase {
    /// Before and after requests: something is read or stored, which takes no time.
    Between,
    /// The request is sent, so it costs something.
    Sent,
    /// The provider was busy; the request is repeated after a while.
    Waiting,
}

pub(super) async fn run_job<J: WorkerJob>(worker: &Worker, job: &J, model: &Model, setup: &RequestSetup) {
    let claim = job.claim();
    tracing::info!(provider = claim.provider, "asking");
    let phase = watch::Sender::new(RequestPhase::Between);
    let buffer = Mutex::default();
    let run = JobRun { worker, job, claim, model, setup, buffer, phase, remote_known: Notify::new() };
    let result = {
        let mut asking = pin!(run.ask_and_store());
        tokio::select! {
            result = &mut asking => Some(result),
            // The lease also ends when the job does, which this very future may just have brought about.
            lost = run.keep_lease() => Some(timeout(FINISH_GRACE, asking).await.unwrap_or(Err(lost))),
            phase = run.stopped() => match phase {
                // The request would be repeated only to be cut off.
                RequestPhase::Waiting => None,
                // An answer that is complete is stored; one that is not is left to the next worker.
                RequestPhase::Between | RequestPhase::Sent => timeout(SHUTDOWN_GRACE, asking).await.ok(),
            },
        }
    };
    let result = match result {
        Some(result) => result,
        None => run.release().await,
    };
    match result {
        Ok(()) => worker.wake(),
        Err(LeaseError::Lost) => run.keep_end_of_cancelled().await,
        Err(LeaseError::Database(error)) => tracing::error!(%error, "the job could not be stored"),
    }
}

/// None if the provider of the claim does not offer the model.
pub(super) fn request_setup(job: &impl WorkerJob, model: &Model) -> Option<RequestSetup> {
    let claim = job.claim();
    let (provider, name) = model.routes().find(|(provider, _)| *provider == claim.provider)?;
    Some(RequestSetup {
        provider: provider.to_owned(),
        model_id: name.to_owned(),
        options: model.options,
        template: job.template(),
    })
}

impl<J: WorkerJob> JobRun<'_, J> {
    async fn ask_and_store(&self) -> Result<(), LeaseError> {
        let task = match self.job.task(self.worker).await {
            Ok(task) => task,
            Err(JobTaskError::Database(error)) => return Err(error.into()),
            Err(JobTaskError::Busy(reason)) => {
                tracing::warn!(reason, "the job goes back to the queue");
                return self.release().await;
            }
            Err(JobTaskError::Failed(JobFailure { code, message })) => return self.fail(code, message).await,
        };
        let Some(attempt_loop) = self.attempt_loop(task).await? else {
            let message = format!("This server cannot generate with {} any more.", self.claim.provider);
            return self.fail("no_provider", &message).await;
        };
        match attempt_loop.run(&mut &*self).await {
            Ok(generated) => {
                with_retries(|| self.job.finish(&self.worker.pool, &generated)).await?;
                tracing::info!(attempts = generated.attempts, "the answer is stored");
                Ok(())
            }
            Err(GenerateError { cancelled_by: Some(error), .. }) => {
                Err(error.downcast().unwrap_or(LeaseError::Database(sqlx::Error::WorkerCrashed)))
            }
            Err(error) => match error.kind.provider_trouble() {
                Some(trouble) => self.set_back(trouble, &error.message).await,
                None => {
                    let code = error.kind.code();
                    tracing::info!(code, "no answer: {error}");
                    self.fail(code, &error.message).await
                }
            },
        }
    }

    /// Leaves the job to later, since its provider is in trouble that is not the job's.
    async fn set_back(&self, trouble: ProviderTrouble, message: &str) -> Result<(), LeaseError> {
        let (pool, provider) = (&self.worker.pool, &self.claim.provider);
        let state = with_retries(|| self.claim.lease.set_back(pool, provider, trouble, message)).await?;
        let (code, job) = (trouble.code(), state.name());
        tracing::warn!(provider, code, job, "the provider is paused: {message}");
        Ok(())
    }

    fn buffer(&self) -> MutexGuard<'_, StreamBuffer> {
        self.buffer.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn enter(&self, phase: RequestPhase) {
        self.phase.send_replace(phase);
    }

    /// Resolves when the server stops and there is no answer to wait for, or no time left to wait for it.
    async fn stopped(&self) -> RequestPhase {
        self.worker.draining.cancelled().await;
        let mut phase = self.phase.subscribe();
        tokio::select! {
            () = self.worker.stopping.cancelled() => {}
            _ = phase.wait_for(|phase| *phase != RequestPhase::Sent) => {}
        }
        *self.phase.borrow()
    }

    /// None if this server has no client for the provider.
    async fn attempt_loop(&self, task: J::Task) -> Result<Option<AttemptLoop<J::Task>>, LeaseError> {
        let Self { worker, claim, model, setup, .. } = self;
        let providers = worker.providers();
        let Some(provider) = providers.get(&setup.provider) else { return Ok(None) };
        let mut attempt_loop =
            worker.attempt_loop(claim.lease.job, task, setup, model.vision, provider).await?;
        let past = &mut attempt_loop.past;
        if past.answer.is_none() {
            // If the last attempt allowed failed without an answer, it is made again.
            past.count = past.count.min(attempt_loop.max_attempts - 1);
        }
        Ok(Some(attempt_loop))
    }

    async fn fail(&self, code: &str, message: &str) -> Result<(), LeaseError> {
        with_retries(|| self.claim.lease.fail(&self.worker.pool, JobFailure { code, message })).await
    }

    /// Renews the lease until it is lost.
    async fn keep_lease(&self) -> LeaseError {
        loop {
            tokio::select! {
                // A job may have been cancelled.
                () = self.worker.wake.notified() => {}
                () = self.remote_known.notified() => {}
                () = sleep(HEARTBEAT) => {}
            }
            if let Err(lost) = self.renew_lease().await {
                return lost;
            }
        }
    }

    /// Renews the lease, and stores what has streamed in since the last time.
    async fn renew_lease(&self) -> Result<(), LeaseError> {
        let (pool, lease) = (&self.worker.pool, &self.claim.lease);
        let (progress, used) = self.buffer().snapshot();
        with_retries(|| lease.renew(pool, LEASE, &progress)).await?;
        self.buffer().mark_stored(&progress);
        if let Some(used) = used {
            let (attempt, cost) = (progress.attempt, self.least_cost(&used));
            with_retries(|| attempts::record_usage(pool, lease, attempt, &used.reported, cost)).await?;
            self.buffer().mark_usage_stored(attempt, used);
        }
        Ok(())
    }

    /// Returns the job to the queue, with everything that has streamed in.
    async fn release(&self) -> Result<(), LeaseError> {
        self.renew_lease().await?;
        self.claim.lease.release(&self.worker.pool).await
    }

    async fn keep_end_of_cancelled(&self) {
        tracing::info!("the job was cancelled or taken over");
        let (progress, _) = self.buffer().snapshot();
        let job = self.claim.lease.job;
        if let Err(error) = attempts::append_to_cancelled(&self.worker.pool, job, &progress).await {
            tracing::warn!(%error, "the end of a cancelled answer could not be stored");
        }
        if let Some(id) = progress.remote_id {
            self.cancel_in_background(&id).await;
        }
    }

    /// Ends an answer at the provider that goes on without us. If the job was taken over instead, the answer is read by
    /// somebody else.
    async fn cancel_in_background(&self, id: &str) {
        let jobs = jobs::find(&self.worker.pool, &[self.claim.lease.job]).await;
        let is_cancelled = jobs.is_ok_and(|jobs| jobs.iter().any(|job| job.state == JobState::Cancelled));
        let providers = self.worker.providers();
        let provider = providers.get(&self.claim.provider);
        if let Some(provider) = provider.filter(|_| is_cancelled)
            && let Err(error) = provider.cancel(id).await
        {
            tracing::warn!(%error, "the answer could not be cancelled at the provider");
        }
    }

    /// What an answer under way has cost so far at least, in millionths of a dollar.
    fn least_cost(&self, used: &UsedSoFar) -> Option<i64> {
        let usage = cost::least_usage(&used.reported, 0, used.chars);
        i64::try_from(cost::cost(self.model.prices, &usage)?.0).ok()
    }
}

impl Worker {
    /// The attempts at a task, after those that were made already.
    pub(super) async fn attempt_loop<T: Task>(
        &self,
        job: Uuid,
        task: T,
        setup: &RequestSetup,
        vision: bool,
        provider: &Arc<dyn ModelProvider>,
    ) -> sqlx::Result<AttemptLoop<T>> {
        let config = &self.config.generation;
        Ok(AttemptLoop {
            task: Arc::new(task),
            provider: Arc::clone(provider),
            model: setup.model_id.clone(),
            vision,
            options: setup.options,
            max_attempts: config.attempts,
            past: attempts::past_attempts(&self.pool, job).await?,
            work: self.work.clone(),
            work_client: WorkClient::BACKGROUND,
        })
    }
}

/// Repeats a write while the database cannot be reached, because an answer may be worth a lot.
async fn with_retries<T, F>(write: impl Fn() -> F) -> Result<T, LeaseError>
where
    F: Future<Output = Result<T, LeaseError>>,
{
    let retrying = async {
        let mut pause = Duration::from_millis(200);
        loop {
            match write().await {
                Err(LeaseError::Database(error)) if !is_permanent(&error) => {
                    tracing::warn!(%error, "a write failed and is repeated");
                    sleep(pause).await;
                    pause = (pause * 2).min(Duration::from_secs(5));
                }
                done => return done,
            }
        }
    };
    timeout(STORE_TIMEOUT, retrying).await.unwrap_or(Err(LeaseError::Database(sqlx::Error::PoolTimedOut)))
}

/// Whether the same write must fail again: the data does not fit, a constraint is broken, or the query is wrong. Unlike
/// for a visitor, a server that is gone counts as passing, as there are minutes to wait for it.
fn is_permanent(error: &sqlx::Error) -> bool {
    let code = error.as_database_error().and_then(sqlx::error::DatabaseError::code);
    matches!(error, sqlx::Error::Decode(_) | sqlx::Error::Encode(_) | sqlx::Error::RowNotFound)
        || code.is_some_and(|code| ["22", "23", "42"].iter().any(|class| code.starts_with(class)))
}
