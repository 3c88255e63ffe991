//! The assessor: runs the assessments that were ordered, a few at once.
//!
//! Every server has one. They share the assessments through the leases of [`assessments`], and write down each run as it
//! ends, so that another server goes on where one was killed. An assessment that was ordered over the A2A protocol tells
//! its A2A task how it goes, and ends together with it, in one transaction.

mod orders;
mod running;

use std::sync::Arc;
use std::time::Duration;

use sqlx::PgPool;
use tokio::sync::Notify;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;
use tracing::{Instrument, info_span};
use uuid::Uuid;

pub use self::orders::{OrderRights, PlaceError};
use crate::arena::a2a_tasks::PgTaskStore;
use crate::arena::agents::{self, RegisteredAgent};
use crate::arena::assessments::{self, ClaimedAssessment};
use crate::assess::WorldThreads;
use crate::assess::run::RunTimes;
use crate::generate::AgentSecrets;

/// How long an assessment stays with a server that does not renew its lease.
const LEASE: Duration = Duration::from_secs(30);

/// How often an assessor looks for assessments that were ordered at other servers.
const POLL_INTERVAL: Duration = Duration::from_secs(2);

/// How long giving assessments back may take.
const SHUTDOWN_GRACE: Duration = Duration::from_secs(5);

/// Assessments at once, on each server.
const AT_ONCE: usize = 8;

/// Cheap to clone.
#[derive(Clone)]
pub struct Assessor {
    pool: PgPool,
    threads: WorldThreads,
    secrets: AgentSecrets,
    a2a_tasks: PgTaskStore,
    times: RunTimes,
    wake: Arc<Notify>,
    stopping: CancellationToken,
}

impl Assessor {
    pub fn new(
        pool: PgPool,
        threads: WorldThreads,
        secrets: AgentSecrets,
        a2a_tasks: PgTaskStore,
        times: RunTimes,
    ) -> Self {
        let (wake, stopping) = (Arc::default(), CancellationToken::new());
        Self { pool, threads, secrets, a2a_tasks, times, wake, stopping }
    }

    /// Cancels the assessment that was ordered in an A2A task, if there is one.
    pub async fn cancel_of_a2a_task(&self, task: Uuid) -> sqlx::Result<()> {
        if let Some(assessment) = assessments::of_a2a_task(&self.pool, task).await? {
            assessments::cancel(&self.pool, assessment).await?;
        }
        Ok(())
    }

    /// Ends [`Self::run`]; assessments under way go back to the queue.
    pub fn stop(&self) {
        self.stopping.cancel();
    }

    /// Runs assessments until [`Self::stop`].
    pub async fn run(&self) {
        let mut running = JoinSet::new();
        while !self.stopping.is_cancelled() {
            let woken = self.wake.notified();
            if let Err(error) = self.claim_all(&mut running).await {
                tracing::warn!(%error, "assessments could not be claimed");
            }
            tokio::select! {
                () = self.stopping.cancelled() => {}
                () = woken => {}
                () = sleep(POLL_INTERVAL) => {}
                Some(ended) = running.join_next() => if let Err(error) = ended {
                    tracing::error!(%error, "an assessment panicked");
                },
            }
        }
        let all = async { while running.join_next().await.is_some() {} };
        if timeout(SHUTDOWN_GRACE, all).await.is_err() {
            tracing::warn!("some assessments go on when their leases expire");
        }
    }

    /// Claims assessments as long as there is room.
    async fn claim_all(&self, running: &mut JoinSet<()>) -> sqlx::Result<()> {
        if running.len() >= AT_ONCE {
            return Ok(());
        }
        let agents = agents::all(&self.pool).await?;
        let askable: Vec<_> =
            agents.into_iter().filter(|agent| self.can_ask(agent)).map(|agent| agent.entry.key).collect();
        while running.len() < AT_ONCE && !self.stopping.is_cancelled() {
            let Some(claimed) = assessments::claim(&self.pool, &askable, LEASE).await? else { break };
            self.start(claimed, running);
        }
        Ok(())
    }

    /// Whether the agent takes part, and its secret is known here if it has one.
    fn can_ask(&self, agent: &RegisteredAgent) -> bool {
        let variable = agent.entry.key_variable.as_deref();
        agent.enabled && variable.is_none_or(|variable| self.secrets.get(variable).is_some())
    }

    fn start(&self, claimed: ClaimedAssessment, running: &mut JoinSet<()>) {
        let span = info_span!("assessment", id = %claimed.lease.assessment, url = claimed.url);
        let assessor = self.clone();
        running.spawn(async move { assessor.assess(&claimed).await }.instrument(span));
    }
}
