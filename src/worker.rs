//! The worker: claims jobs and runs them, as many at once as the limits per provider allow.
//!
//! Every server has a worker, and so has the `seed` command. They share the jobs through the leases of [`claims`]. A
//! worker that stops releases its jobs. If a worker is killed, others take over when its leases expire, with what had
//! streamed in until then.

pub mod estimate;
mod job;
pub mod reparse;
pub mod seeding;

use std::sync::Arc;
use std::time::Duration;

use sqlx::PgPool;
use tokio::sync::Notify;
use tokio::task::{JoinError, JoinSet};
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;
use tracing::{Instrument, info_span};

use crate::arena::catalog::{self, ListedModel, Model};
use crate::arena::jobs::ClaimedBuild;
use crate::arena::jobs::claims::{self, ClaimedJob, ModelRoute};
use crate::config::Config;
use crate::generate::Providers;
use crate::work::WorkPool;

/// How long a job stays with a worker that does not renew its lease.
const LEASE: Duration = Duration::from_secs(30);

/// How often a worker looks for jobs that other servers have queued.
const POLL_INTERVAL: Duration = Duration::from_secs(2);

/// How long releasing the jobs may take.
const SHUTDOWN_GRACE: Duration = Duration::from_secs(5);

/// Cheap to clone.
#[derive(Clone)]
pub struct Worker {
    pool: PgPool,
    work: WorkPool,
    config: Arc<Config>,
    providers: Arc<Providers>,
    wake: Arc<Notify>,
}

impl Worker {
    pub fn new(pool: PgPool, work: WorkPool, config: Arc<Config>, providers: Providers) -> Self {
        Self { pool, work, config, providers: Arc::new(providers), wake: Arc::default() }
    }

    pub fn providers(&self) -> &Providers {
        &self.providers
    }

    /// Makes the worker look for new jobs, and running jobs for their cancellation, at once.
    pub fn wake(&self) {
        self.wake.notify_waiters();
    }

    /// Runs jobs until `stop`, then releases those that are not done.
    pub async fn run(&self, stop: CancellationToken) {
        let mut running = JoinSet::new();
        while !stop.is_cancelled() {
            let woken = self.wake.notified();
            if let Err(error) = self.claim_jobs(&mut running, &stop).await {
                tracing::warn!(%error, "jobs could not be claimed");
            }
            tokio::select! {
                () = stop.cancelled() => {}
                () = woken => {}
                () = sleep(POLL_INTERVAL) => {}
                // The provider may have room for another job now.
                Some(ended) = running.join_next() => log_panic(ended),
            }
        }
        let all = async { while running.join_next().await.is_some() {} };
        if timeout(SHUTDOWN_GRACE, all).await.is_err() {
            tracing::warn!(
                "some jobs could not be released in time; another worker takes them over when their leases expire"
            );
        }
    }

    /// Claims jobs as long as their providers have room.
    async fn claim_jobs(&self, running: &mut JoinSet<()>, stop: &CancellationToken) -> sqlx::Result<()> {
        while !stop.is_cancelled() && claims::any_claimable(&self.pool).await? {
            let models = catalog::models(&self.pool).await?;
            let routes = self.routes(&models);
            let at_once = self.config.generation.max_concurrent;
            let Some(claimed) = claims::claim(&self.pool, &routes, at_once, LEASE).await? else { break };
            let ClaimedJob::Build(claim) = claimed;
            let Some(model) = models.into_iter().find(|listed| listed.model.key == claim.slot.model) else {
                break;
            };
            self.spawn_job(claim, model.model, running, stop);
        }
        Ok(())
    }

    fn routes(&self, models: &[ListedModel]) -> Vec<ModelRoute> {
        let route = |listed: &ListedModel| {
            let (provider, _) = self.providers().route(&listed.model)?;
            Some(ModelRoute { model: listed.model.key.clone(), provider: provider.to_owned() })
        };
        models.iter().filter_map(route).collect()
    }

    fn spawn_job(
        &self,
        claim: ClaimedBuild,
        model: Model,
        running: &mut JoinSet<()>,
        stop: &CancellationToken,
    ) {
        let span = info_span!("job", id = %claim.lease.job, prompt = %claim.slot.prompt, model = %model.key);
        let (worker, stop) = (self.clone(), stop.clone());
        running.spawn(async move { job::run_job(&worker, &claim, &model, &stop).await }.instrument(span));
    }
}

/// The job of a task that panicked is taken over when its lease expires.
fn log_panic(ended: Result<(), JoinError>) {
    if let Err(error) = ended {
        tracing::error!(%error, "a job panicked");
    }
}
