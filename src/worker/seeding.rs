//! Seeding: the catalog's prompts and models into the database, then the builds that are missing.

use std::time::Duration;

use serde_json::json;
use sqlx::{Connection, PgConnection};
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

/// Between looks at how the jobs stand.
const POLL_INTERVAL: Duration = Duration::from_millis(200);

/// How much is to be done.
#[derive(Clone, Copy, Debug)]
pub struct SeedRequest {
    pub scope: SeedScope,
    /// Tells what would be done, and does nothing.
    pub dry_run: bool,
    /// What has failed or was cancelled is missing like all else.
    pub retry_failed: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SeedScope {
    Catalog,
    /// The next builds, and waits for them.
    Batch(usize),
    /// All that are missing, without waiting.
    Everything,
}

/// What seeding has set going.
#[derive(Clone, Debug)]
pub struct Started {
    /// What was wanted, or was under way already and taken into the batch.
    pub jobs: Vec<Uuid>,
    waits: bool,
    /// What a dry run has found.
    dry_run_result: Option<SeedSummary>,
}

/// How things stand after seeding.
#[derive(Clone, Debug)]
pub struct SeedSummary {
    pub sum: CoverageSummary,
    pub jobs: Vec<Job>,
    /// What a dry run would have wanted.
    pub next: Vec<BuildSlot>,
    /// And what that may cost.
    pub estimate: Option<Estimate>,
}

impl Worker {
    /// What is under way already comes first, so that a caller who went away finds it again.
    pub async fn seed(&self, admin: Admin, request: SeedRequest) -> anyhow::Result<Started> {
        let mut connection = self.pool.acquire().await?;
        let mut transaction = connection.begin().await?;
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

    /// Waits for a batch, and tells what came of it. Nothing but the answer is lost when a caller leaves.
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

    /// How the arena stands.
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
        // What nobody here can ask is not waited for.
        let mut batch = jobs::under_way(&mut *connection, &self.config.arena, &sum.askable).await?;
        batch.truncate(size);
        let wanted: Vec<_> = sum.open.iter().take(size - batch.len()).collect();
        batch.extend(jobs::enqueue_all(connection, &wanted).await?);
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
