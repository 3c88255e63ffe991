//! The workshop: takes jobs and carries them out, as many at once as the providers' bounds allow.
//!
//! Every server has one, and so has a command that seeds; they share the work through the leases of
//! [`jobs::claims`]. One that stops gives its jobs back; of one that was killed, others take them over when
//! its leases have run out, with what had streamed in.

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

/// How long a job is kept from others by a worker that shows no sign of life.
const LEASE: Duration = Duration::from_secs(30);

/// Between looks for what other servers have queued.
const POLL_INTERVAL: Duration = Duration::from_secs(2);

/// How long giving jobs back may take.
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

    /// Tells the workshop that there is something new, or something to stop.
    pub fn wake(&self) {
        self.wake.notify_waiters();
    }

    /// Works until `stop`, then gives back what is not done.
    pub async fn run(&self, stop: CancellationToken) {
        let mut running = JoinSet::new();
        while !stop.is_cancelled() {
            let woken = self.wake.notified();
            if let Err(error) = self.claim_jobs(&mut running, &stop).await {
                tracing::warn!(%error, "jobs could not be looked for");
            }
            tokio::select! {
                () = stop.cancelled() => {}
                () = woken => {}
                () = sleep(POLL_INTERVAL) => {}
                // There may be room for another.
                Some(ended) = running.join_next() => log_panic(ended),
            }
        }
        let all = async { while running.join_next().await.is_some() {} };
        if timeout(SHUTDOWN_GRACE, all).await.is_err() {
            tracing::warn!("some jobs could not be given back in time; others take them over in a while");
        }
    }

    /// Takes every job for which there is room.
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

/// One that fell over leaves its job to whoever takes it when the lease has run out.
fn log_panic(ended: Result<(), JoinError>) {
    if let Err(error) = ended {
        tracing::error!(%error, "a job fell over");
    }
}
