//! Seeding: the catalog's prompts and models into the database, then the builds that are missing.

use std::time::Duration;

use serde_json::json;
use sqlx::{Connection, PgConnection};
use tokio::time::{Instant, sleep};
use uuid::Uuid;

use super::Workshop;
use super::estimate::{Estimate, estimate};
use crate::arena::audit::{self, Admin};
use crate::arena::builds::BuildSlot;
use crate::arena::coverage::{Coverage, CoverageSummary};
use crate::arena::jobs::{self, Job};

/// How long a caller waits for builds.
pub const PATIENCE: Duration = Duration::from_secs(120);

/// Between looks at how the jobs stand.
const GLANCE: Duration = Duration::from_millis(200);

/// How much is to be done.
#[derive(Clone, Copy, Debug)]
pub struct Order {
    pub what: What,
    /// Tells what would be done, and does nothing.
    pub dry_run: bool,
    /// What has failed or was cancelled is missing like all else.
    pub retry_failed: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    Catalog,
    /// The next builds, and waits for them.
    Batch(usize),
    /// All that are missing, without waiting.
    Everything,
}

/// What seeding has set going.
#[derive(Clone, Debug)]
pub struct Begun {
    /// What was wanted, or was under way already and taken into the batch.
    pub jobs: Vec<Uuid>,
    waits: bool,
    /// What a dry run has found.
    would: Option<Seeded>,
}

/// How things stand after seeding.
#[derive(Clone, Debug)]
pub struct Seeded {
    pub sum: CoverageSummary,
    pub jobs: Vec<Job>,
    /// What a dry run would have wanted.
    pub next: Vec<BuildSlot>,
    /// And what that may cost.
    pub estimate: Option<Estimate>,
}

impl Workshop {
    /// What is under way already comes first, so that a caller who went away finds it again.
    pub async fn seed(&self, admin: Admin, order: Order) -> anyhow::Result<Begun> {
        let mut connection = self.pool.acquire().await?;
        let mut transaction = connection.begin().await?;
        self.config.catalog.seed(&mut transaction).await?;
        if order.retry_failed {
            jobs::allow_retry(&mut transaction, &self.config.arena).await?;
        }
        let sum = self.sum(&mut transaction).await?;
        if order.dry_run {
            let next = if order.what == What::Catalog { Vec::new() } else { sum.open.clone() };
            let estimate = estimate(&mut transaction, &next).await?;
            transaction.rollback().await?;
            let would = Seeded { sum, jobs: Vec::new(), next, estimate: Some(estimate) };
            return Ok(Begun { jobs: Vec::new(), waits: false, would: Some(would) });
        }
        let jobs = self.batch(&mut transaction, &sum, order.what.size()).await?;
        let detail = json!({
            "jobs": jobs.len(), "what": order.what.name(), "retryFailed": order.retry_failed,
        });
        audit::record(&mut transaction, admin, "seed", &self.config.arena.slug(), detail).await?;
        transaction.commit().await?;
        self.wake();
        Ok(Begun { jobs, waits: matches!(order.what, What::Batch(_)), would: None })
    }

    /// Waits for a batch, and tells what came of it. Nothing but the answer is lost when a caller leaves.
    pub async fn settle(&self, begun: Begun) -> anyhow::Result<Seeded> {
        let Begun { jobs, waits, would } = begun;
        if let Some(would) = would {
            return Ok(would);
        }
        let since = Instant::now();
        while waits && since.elapsed() < PATIENCE && jobs::any_under_way(&self.pool, &jobs).await? {
            sleep(GLANCE).await;
        }
        let sum = self.sum(&mut *self.pool.acquire().await?).await?;
        Ok(Seeded { sum, jobs: jobs::find(&self.pool, &jobs).await?, next: Vec::new(), estimate: None })
    }

    /// How the arena stands.
    async fn sum(&self, connection: &mut PgConnection) -> sqlx::Result<CoverageSummary> {
        let coverage = Coverage::read(connection, &self.config.arena).await?;
        Ok(coverage.summary(|model| self.providers().can_generate(model)))
    }

    async fn batch(
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

impl What {
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
