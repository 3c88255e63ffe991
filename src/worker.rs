//! The worker: claims jobs and runs them, as many at once as the limits per provider allow.
//!
//! Every server has a worker, and so has the `seed` command. They share the jobs through the leases of [`claims`]. A
//! worker that stops waits for the answers that stream, which are paid for, and releases its other jobs. If a worker is
//! killed, others take over when its leases expire, with what had streamed in until then.

mod batches;
pub mod estimate;
mod job;
pub mod judging;
pub mod probe;
pub mod reparse;
pub mod seeding;

use std::collections::BTreeMap;
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use sqlx::PgPool;
use tokio::sync::Notify;
use tokio::task::{JoinError, JoinSet};
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;
use tracing::{Instrument, info_span};
use uuid::Uuid;

use self::job::WorkerJob;
use crate::arena::agents;
use crate::arena::catalog::{self, ListedModel, Model};
use crate::arena::jobs::LeaseError;
use crate::arena::jobs::attempts::RequestSetup;
use crate::arena::jobs::claims::{self, ClaimedJob, ModelRoute};
use crate::config::Config;
use crate::generate::{ProviderRegister, Providers};
use crate::work::{MemoryBudget, WorkPool};

/// How long a job stays with a worker that does not renew its lease.
const LEASE: Duration = Duration::from_secs(30);

/// How often a worker looks for jobs that other servers have queued.
const POLL_INTERVAL: Duration = Duration::from_secs(2);

/// How long releasing the jobs may take.
const SHUTDOWN_GRACE: Duration = Duration::from_secs(5);

/// Enough to draw two builds of the largest grid at once for judges.
const PICTURE_MEMORY: usize = 80 << 20;

/// Cheap to clone.
#[derive(Clone)]
pub struct Worker {
    pool: PgPool,
    work: WorkPool,
    config: Arc<Config>,
    providers: Arc<ProviderRegister>,
    wake: Arc<Notify>,
    /// Cancelled when no further job is to be claimed.
    draining: CancellationToken,
    /// Cancelled when no answer is waited for any longer.
    stopping: CancellationToken,
    running: RunningJobs,
    /// For drawing what judges are shown.
    picture_memory: MemoryBudget,
}

/// What the jobs under way are about.
#[derive(Clone, Default)]
struct RunningJobs(Arc<Mutex<BTreeMap<Uuid, String>>>);

/// A job under way, until this is dropped.
struct RunningJob(RunningJobs, Uuid);

impl Worker {
    pub fn new(pool: PgPool, work: WorkPool, config: Arc<Config>, providers: ProviderRegister) -> Self {
        Self {
            pool,
            work,
            config,
            providers: Arc::new(providers),
            wake: Arc::default(),
            draining: CancellationToken::new(),
            stopping: CancellationToken::new(),
            running: RunningJobs::default(),
            picture_memory: MemoryBudget::new(PICTURE_MEMORY),
        }
    }

    /// The providers that can be asked now.
    pub fn providers(&self) -> Arc<Providers> {
        self.providers.current()
    }

    /// Looks at the register of agents again.
    pub async fn refresh_agents(&self) -> sqlx::Result<()> {
        self.providers.set_agents(agents::all(&self.pool).await?);
        Ok(())
    }

    /// Makes the worker look for new jobs, and running jobs for their cancellation, at once.
    pub fn wake(&self) {
        self.wake.notify_waiters();
    }

    /// Claims nothing more, and lets [`Self::run`] end when the answers that stream have come, at the latest after
    /// `STOP_WAIT`.
    pub fn drain(&self) {
        self.draining.cancel();
    }

    /// Ends [`Self::run`] without waiting for answers.
    pub fn stop(&self) {
        self.draining.cancel();
        self.stopping.cancel();
    }

    /// How long [`Self::drain`] waits at most.
    pub fn stop_wait(&self) -> Duration {
        self.config.generation.stop_wait
    }

    pub fn is_draining(&self) -> bool {
        self.draining.is_cancelled()
    }

    /// The jobs under way, such as "lighthouse by gpt", or "gpt judges lighthouse by opus".
    pub fn running(&self) -> Vec<String> {
        self.running.lock().values().cloned().collect()
    }

    /// Runs jobs and batches until [`Self::drain`] or [`Self::stop`], then releases those that are not done.
    pub async fn run(&self) {
        tokio::join!(self.run_jobs(), self.run_batches());
    }

    async fn run_jobs(&self) {
        let mut running = JoinSet::new();
        while !self.is_draining() {
            let woken = self.wake.notified();
            if let Err(error) = self.claim_jobs(&mut running).await {
                tracing::warn!(%error, "jobs could not be claimed");
            }
            tokio::select! {
                () = self.draining.cancelled() => {}
                () = woken => {}
                () = sleep(POLL_INTERVAL) => {}
                // The provider may have room for another job now.
                Some(ended) = running.join_next() => log_panic(ended),
            }
        }
        let mut all = pin!(async { while running.join_next().await.is_some() {} });
        tokio::select! {
            () = &mut all => return,
            () = self.stopping.cancelled() => {}
            () = sleep(self.stop_wait()) => self.stop(),
        }
        if timeout(SHUTDOWN_GRACE, all).await.is_err() {
            tracing::warn!(
                "some jobs could not be released in time; another worker takes them over when their leases expire"
            );
        }
    }

    /// Claims jobs as long as their providers have room.
    async fn claim_jobs(&self, running: &mut JoinSet<()>) -> sqlx::Result<()> {
        self.refresh_agents().await?;
        while !self.is_draining() && claims::any_claimable(&self.pool).await? {
            let routes = self.routes(&catalog::models(&self.pool).await?);
            let at_once = self.config.generation.max_concurrent;
            let Some(claimed) =
                claims::claim(&self.pool, &routes, at_once, &self.config.budgets.limits, LEASE).await?
            else {
                break;
            };
            match claimed {
                ClaimedJob::Build(job) => self.start_job(job, running).await?,
                ClaimedJob::Judge(job) => self.start_job(job, running).await?,
            }
        }
        Ok(())
    }

    async fn start_job(
        &self,
        job: impl WorkerJob + Send + 'static,
        running: &mut JoinSet<()>,
    ) -> sqlx::Result<()> {
        let claim = job.claim();
        // Read after the claim: how a model is asked does not change while a job of it runs.
        let model = catalog::find_model(&self.pool, &claim.model).await;
        let setup =
            model.map(|model| model.and_then(|model| Some((job::request_setup(&job, &model)?, model))));
        if let Ok(Some((setup, model))) = setup {
            self.spawn_job(job, model, setup, running);
            return Ok(());
        }
        // The model could not be read, or its provider was changed between the routes and the claim.
        if let Err(LeaseError::Database(error)) = claim.lease.release(&self.pool).await {
            return Err(error);
        }
        setup?;
        Ok(())
    }

    fn routes(&self, models: &[ListedModel]) -> Vec<ModelRoute> {
        let providers = self.providers();
        let route = |listed: &ListedModel| {
            let (provider, _) = providers.route(&listed.model)?;
            Some(ModelRoute { model: listed.model.key.clone(), provider: provider.to_owned() })
        };
        models.iter().filter_map(route).collect()
    }

    fn spawn_job(
        &self,
        job: impl WorkerJob + Send + 'static,
        model: Model,
        setup: RequestSetup,
        running: &mut JoinSet<()>,
    ) {
        let (id, about) = (job.claim().lease.job, job.about());
        let span = info_span!("job", %id, about, model = %model.key);
        let listed = self.running.add(id, about);
        let worker = self.clone();
        let run = async move {
            let _listed = listed;
            job::run_job(&worker, &job, &model, &setup).await;
        };
        running.spawn(run.instrument(span));
    }
}

impl RunningJobs {
    fn add(&self, job: Uuid, about: String) -> RunningJob {
        self.lock().insert(job, about);
        RunningJob(self.clone(), job)
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<Uuid, String>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for RunningJob {
    fn drop(&mut self) {
        self.0.lock().remove(&self.1);
    }
}

/// The job of a task that panicked is taken over when its lease expires.
fn log_panic(ended: Result<(), JoinError>) {
    if let Err(error) = ended {
        tracing::error!(%error, "a job panicked");
    }
}
