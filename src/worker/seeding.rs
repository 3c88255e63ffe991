//! Seeding: the catalog's prompts and models into the database, then the builds that are missing.

use std::time::Duration;

use serde_json::json;
use sqlx::PgConnection;
use tokio::time::{Instant, sleep};
use uuid::Uuid;

use super::Worker;
use super::estimate::{Estimate, estimate};
use crate::arena::audit::{self, Admin};
use crate::arena::builds::BuildSlot;
use crate::arena::coverage::{Coverage, CoverageSummary};
use crate::arena::jobs::{self, Job};

/// How long a caller waits for builds.
pub const SEED_TIMEOUT: Duration = Duration::from_secs(120);

/// How often the jobs' states are looked up.
const POLL_INTERVAL: Duration = Duration::from_millis(200);

/// What to seed.
#[derive(Clone, Copy, Debug)]
pub struct SeedRequest {
    pub scope: SeedScope,
    /// Reports what would be done without doing it.
    pub dry_run: bool,
    /// Treats builds whose jobs failed or were cancelled as missing.
    pub retry_failed: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SeedScope {
    Catalog,
    /// Queues so many of the missing builds, and waits for them.
    Batch(usize),
    /// Queues all missing builds without waiting.
    Everything,
}

/// What seeding has started.
#[derive(Clone, Debug)]
pub struct Started {
    /// Jobs that were queued now, or were under way already and are part of the batch.
    pub jobs: Vec<Uuid>,
    waits: bool,
    /// The result of a dry run.
    dry_run_result: Option<SeedSummary>,
}

/// The state after seeding.
#[derive(Clone, Debug)]
pub struct SeedSummary {
    pub sum: CoverageSummary,
    pub jobs: Vec<Job>,
    /// Builds that a dry run would have queued.
    pub next: Vec<BuildSlot>,
    /// What these may cost.
    pub estimate: Option<Estimate>,
}

impl Worker {
    /// Jobs that are under way already are taken into the batch first, so that a caller who repeats a request that was
    /// interrupted gets the same jobs.
    pub async fn seed(&self, admin: Admin, request: SeedRequest) -> anyhow::Result<Started> {
        let mut transaction = self.pool.begin().await?;
        self.config.catalog.seed(&mut transaction).await?;
        if request.retry_failed {
            jobs::allow_retry(&mut transaction, &self.config.arena).await?;
        }
        let sum = self.sum(&mut transaction).await?;
        if request.dry_run {
            let next = if request.scope == SeedScope::Catalog { Vec::new() } else { sum.open.clone() };
            let estimate = estimate(&mut transaction, &next).await?;
            transaction.rollback().await?;
            let dry_run_result = SeedSummary { sum, jobs: Vec::new(), next, estimate: Some(estimate) };
            return Ok(Started { jobs: Vec::new(), waits: false, dry_run_result: Some(dry_run_result) });
        }
        let jobs = self.enqueue_batch(&mut transaction, &sum, request.scope.size()).await?;
        let detail = json!({
            "jobs": jobs.len(), "what": request.scope.name(), "retryFailed": request.retry_failed,
        });
        audit::record(&mut transaction, admin, "seed", &self.config.arena.slug(), detail).await?;
        transaction.commit().await?;
        self.wake();
        Ok(Started { jobs, waits: matches!(request.scope, SeedScope::Batch(_)), dry_run_result: None })
    }

    /// Waits for a batch, and reports on it. If the caller leaves, the jobs go on.
    pub async fn wait_for_jobs(&self, started: Started) -> anyhow::Result<SeedSummary> {
        let Started { jobs, waits, dry_run_result } = started;
        if let Some(dry_run_result) = dry_run_result {
            return Ok(dry_run_result);
        }
        let since = Instant::now();
        while waits && since.elapsed() < SEED_TIMEOUT && jobs::any_under_way(&self.pool, &jobs).await? {
            sleep(POLL_INTERVAL).await;
        }
        let sum = self.sum(&mut *self.pool.acquire().await?).await?;
        Ok(SeedSummary { sum, jobs: jobs::find(&self.pool, &jobs).await?, next: Vec::new(), estimate: None })
    }

    async fn sum(&self, connection: &mut PgConnection) -> sqlx::Result<CoverageSummary> {
        let coverage = Coverage::read(connection, &self.config.arena).await?;
        Ok(coverage.summary(|model| self.providers().can_generate(model)))
    }

    async fn enqueue_batch(
        &self,
        connection: &mut PgConnection,
        sum: &CoverageSummary,
        size: usize,
    ) -> anyhow::Result<Vec<Uuid>> {
        // Jobs that this server cannot run are not part of the batch.
        let mut batch = jobs::under_way(&mut *connection, &self.config.arena, &sum.askable).await?;
        batch.truncate(size);
        let missing: Vec<_> = sum.open.iter().take(size - batch.len()).collect();
        batch.extend(jobs::enqueue_all(connection, &missing).await?);
        Ok(batch)
    }
}

impl SeedScope {
    fn size(self) -> usize {
        match self {
            Self::Catalog => 0,
            Self::Batch(size) => size,
            Self::Everything => usize::MAX,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Catalog => "catalog",
            Self::Batch(_) => "batch",
            Self::Everything => "background",
        }
    }
}
