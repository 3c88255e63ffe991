//! Seeding: the catalog's prompts and models into the database, then the builds that are missing. A batch leaves out
//! whatever is paused or has no budget left, so that one provider's trouble does not hold up the others.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::time::Duration;

use serde_json::{Value, json};
use sqlx::{PgConnection, Postgres, Transaction};
use tokio::time::{Instant, sleep};
use uuid::Uuid;

use super::Worker;
use super::estimate::{BuildPrices, Estimate};
use crate::arena::ModelKey;
use crate::arena::audit::{self, Admin};
use crate::arena::budgets::{Budget, Budgets};
use crate::arena::builds::BuildSlot;
use crate::arena::catalog::{self, ListedModel};
use crate::arena::coverage::{Coverage, CoverageSummary, SlotJob, SlotSelection, UnknownInSelection};
use crate::arena::jobs::pauses::Pauses;
use crate::arena::jobs::{self, Job, batches};
use crate::generate::cost::MicroDollars;

/// Jobs are queued by one call at a time.
const LOCK: i64 = 0x7365_6564_0000_0000;

/// How long a caller waits for builds.
pub const SEED_TIMEOUT: Duration = Duration::from_secs(120);

/// How often the jobs' states are looked up.
const POLL_INTERVAL: Duration = Duration::from_millis(200);

/// How often the pauses are looked up while nothing else can be done.
const PAUSE_POLL_INTERVAL: Duration = Duration::from_secs(1);

/// What to seed.
#[derive(Clone, Debug)]
pub struct SeedRequest {
    pub scope: SeedScope,
    /// The slots that this is about.
    pub selection: SlotSelection,
    /// Reports what would be done without doing it.
    pub dry_run: bool,
    pub retry: SeedRetry,
    /// What the builds that are queued now may cost, together with those of the selection that are under way.
    pub max_cost: Option<MicroDollars>,
}

/// Whether builds whose jobs failed or were cancelled are asked for again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SeedRetry {
    Never,
    /// Like those that nobody was asked for.
    WithMissing,
    /// And nothing else: those that ended for these reasons, or all if none is named.
    Only(Vec<String>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SeedScope {
    Catalog,
    /// Queues so many of the missing builds, and waits for them.
    Batch(usize),
    /// Queues all missing builds without waiting.
    Everything,
    /// Queues all missing builds for batches, without waiting.
    BatchApi,
}

/// What seeding has started.
#[derive(Clone, Debug, Default)]
pub struct Started {
    /// Jobs that were queued now, or were under way already and are part of the batch.
    pub jobs: Vec<Uuid>,
    waits: bool,
    selection: SlotSelection,
    left: Option<LeftOut>,
    without_batch_api: Vec<ModelKey>,
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
    /// What was left out, if the cost was limited.
    pub left: Option<LeftOut>,
    /// Whether nothing can go on before an admin resumes what is paused, or a budget is raised or begins anew.
    pub waits_for_admin: bool,
    /// Models that were left out because they cannot be asked in batches.
    pub without_batch_api: Vec<ModelKey>,
}

/// Missing builds that were not queued because of their cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LeftOut {
    pub builds: usize,
    pub estimate: Estimate,
}

#[derive(Debug, thiserror::Error)]
pub enum SeedError {
    #[error(transparent)]
    Unknown(#[from] UnknownInSelection),
    #[error(transparent)]
    Database(#[from] sqlx::Error),
}

/// What builds may cost.
struct SeedPrices {
    alone: BuildPrices,
    /// Of the models that can be asked in batches.
    in_batches: BuildPrices,
    /// Which part of the list price these cost in batches.
    batch_parts: HashMap<ModelKey, f64>,
}

/// Models whose jobs are not started, by their keys.
#[derive(Default, PartialEq, Eq)]
struct PausedModels {
    all: Vec<String>,
    /// Those that wait for an admin, or for a budget.
    until_resumed: Vec<String>,
}

impl Worker {
    /// Jobs that are under way already are taken into the batch first, so that a caller who repeats a request that was
    /// interrupted gets the same jobs.
    pub async fn seed(&self, admin: Admin, request: SeedRequest) -> Result<Started, SeedError> {
        let SeedRequest { scope, ref selection, dry_run, ref retry, max_cost } = request;
        let mut transaction = self.begin_seeding(dry_run).await?;
        let mut coverage = Coverage::read(&mut transaction, &self.config.arena).await?;
        selection.check(&coverage)?;
        let retried = coverage.allow_retries(selection, retry.reasons());
        let mut sum = coverage.summary(selection, |model| self.providers().can_generate(model));
        if matches!(retry, SeedRetry::Only(_)) {
            let retried: HashSet<_> = retried.iter().map(|job| &job.slot).collect();
            sum.open.retain(|slot| retried.contains(slot));
        }
        let prices = self.seed_prices(&mut transaction).await?;
        let is_batched = scope == SeedScope::BatchApi;
        let without_batch_api = if is_batched { prices.leave_out_unbatched(&mut sum) } else { Vec::new() };
        let price = if is_batched { &prices.in_batches } else { &prices.alone };
        let left = max_cost.map(|max_cost| {
            let limit = MicroDollars(max_cost.0.saturating_sub(prices.under_way(&sum).0));
            let (open, left) = price.split(std::mem::take(&mut sum.open), limit);
            sum.open = open;
            LeftOut { builds: left.len(), estimate: price.estimate(&left) }
        });
        if dry_run {
            let next = if scope == SeedScope::Catalog { Vec::new() } else { sum.open.clone() };
            let estimate = price.estimate(&next);
            transaction.rollback().await?;
            let summary = SeedSummary {
                sum,
                jobs: Vec::new(),
                next,
                estimate: Some(estimate),
                left,
                waits_for_admin: false,
                without_batch_api,
            };
            return Ok(Started { dry_run_result: Some(summary), ..Started::default() });
        }
        // What the limit of the cost leaves out stays failed.
        let open: HashSet<_> = sum.open.iter().collect();
        let retried: Vec<_> =
            retried.iter().filter(|job| open.contains(&job.slot)).map(|job| job.id).collect();
        jobs::allow_retry(&mut transaction, &retried).await?;
        let jobs = match scope {
            SeedScope::BatchApi => {
                let slots: Vec<_> = sum.open.iter().collect();
                let jobs = jobs::enqueue_all(&mut transaction, &slots).await?;
                batches::want(&mut transaction, &jobs).await?;
                jobs
            }
            SeedScope::Catalog | SeedScope::Batch(_) | SeedScope::Everything => {
                self.enqueue_batch(&mut transaction, &sum, scope).await?
            }
        };
        let detail = request.audit_detail(jobs.len());
        audit::record(&mut transaction, admin, "seed", &self.config.arena.slug(), detail).await?;
        transaction.commit().await?;
        self.wake();
        let waits = matches!(scope, SeedScope::Batch(_));
        let selection = request.selection;
        Ok(Started { jobs, waits, selection, left, without_batch_api, dry_run_result: None })
    }

    /// Imports the catalog, and begins the transaction that queues jobs. Of several calls, only one queues jobs at a time,
    /// so that each counts what the others have queued towards its limit of the cost. Jobs are claimed meanwhile.
    async fn begin_seeding(&self, dry_run: bool) -> sqlx::Result<Transaction<'static, Postgres>> {
        let mut transaction = self.pool.begin().await?;
        if dry_run {
            self.config.catalog.preview_seed(&mut transaction).await?;
            return Ok(transaction);
        }
        self.config.catalog.seed(&mut transaction).await?;
        transaction.commit().await?;
        let mut transaction = self.pool.begin().await?;
        sqlx::query!("SELECT pg_advisory_xact_lock($1)", LOCK).execute(&mut *transaction).await?;
        Ok(transaction)
    }

    /// Waits for a batch, and reports on it. If the caller leaves, the jobs go on.
    pub async fn wait_for_jobs(&self, started: Started) -> anyhow::Result<SeedSummary> {
        let Started { jobs, waits, selection, left, without_batch_api, dry_run_result } = started;
        if let Some(dry_run_result) = dry_run_result {
            return Ok(dry_run_result);
        }
        let since = Instant::now();
        while waits && since.elapsed() < SEED_TIMEOUT && self.can_go_on(&jobs).await? {
            sleep(POLL_INTERVAL).await;
        }
        let mut connection = self.pool.acquire().await?;
        let sum = self.sum(&mut connection, &selection).await?;
        let waits_for_admin = self.waits_for_admin(&mut connection, &sum).await?;
        drop(connection);
        if waits && jobs.is_empty() && !sum.is_done() && !waits_for_admin {
            self.wait_for_end_of_pause(since).await?;
        }
        let jobs = jobs::find(&self.pool, &jobs).await?;
        let (next, estimate) = (Vec::new(), None);
        Ok(SeedSummary { sum, jobs, next, estimate, left, waits_for_admin, without_batch_api })
    }

    async fn seed_prices(&self, connection: &mut PgConnection) -> sqlx::Result<SeedPrices> {
        let alone = BuildPrices::read(&mut *connection).await?;
        let part = |ListedModel { model, .. }: ListedModel| {
            let (provider, _) = self.providers().batch_route(&model)?;
            let part = self.providers().batch_price(provider)?;
            Some((model.key, part))
        };
        let batch_parts: HashMap<_, _> =
            catalog::models(connection).await?.into_iter().filter_map(part).collect();
        Ok(SeedPrices { in_batches: alone.times(&batch_parts), alone, batch_parts })
    }

    /// Whether one of the jobs runs, or can be started.
    async fn can_go_on(&self, jobs: &[Uuid]) -> sqlx::Result<bool> {
        let mut connection = self.pool.acquire().await?;
        let paused = self.paused_models(&mut connection).await?;
        jobs::any_in_progress(&mut connection, jobs, &paused.all).await
    }

    async fn waits_for_admin(
        &self,
        connection: &mut PgConnection,
        sum: &CoverageSummary,
    ) -> sqlx::Result<bool> {
        let paused = self.paused_models(&mut *connection).await?.until_resumed;
        let is_startable = |slot: &BuildSlot| !paused.iter().any(|model| model == slot.model.as_str());
        if sum.is_done() || paused.is_empty() || sum.open.iter().any(is_startable) {
            return Ok(false);
        }
        let under_way: Vec<_> = sum.under_way.iter().map(|job| job.id).collect();
        Ok(!jobs::any_in_progress(connection, &under_way, &paused).await?)
    }

    async fn paused_models(&self, connection: &mut PgConnection) -> sqlx::Result<PausedModels> {
        let pauses = Pauses::read(&mut *connection).await?;
        let budgets = Budgets::read(&mut *connection, &self.config.budgets.limits).await?;
        let mut paused = PausedModels::default();
        if pauses == Pauses::default() && !budgets.all.iter().any(Budget::has_nothing_left) {
            return Ok(paused);
        }
        for ListedModel { model, .. } in catalog::models(connection).await? {
            let Some((provider, _)) = self.providers().route(&model) else { continue };
            let stop = budgets.stop_of(&model.key);
            if pauses.stop(provider) || stop.is_some() {
                paused.all.push(model.key.to_string());
            }
            if pauses.need_admin(provider) || stop.is_some_and(Budget::is_used_up) {
                paused.until_resumed.push(model.key.to_string());
            }
        }
        Ok(paused)
    }

    /// Waits until other models are paused than now.
    async fn wait_for_end_of_pause(&self, since: Instant) -> sqlx::Result<()> {
        let read = async || self.paused_models(&mut *self.pool.acquire().await?).await;
        let before = read().await?;
        while since.elapsed() < SEED_TIMEOUT && read().await? == before {
            sleep(PAUSE_POLL_INTERVAL).await;
        }
        Ok(())
    }

    async fn sum(
        &self,
        connection: &mut PgConnection,
        selection: &SlotSelection,
    ) -> sqlx::Result<CoverageSummary> {
        let coverage = Coverage::read(connection, &self.config.arena).await?;
        Ok(coverage.summary(selection, |model| self.providers().can_generate(model)))
    }

    async fn enqueue_batch(
        &self,
        connection: &mut PgConnection,
        sum: &CoverageSummary,
        scope: SeedScope,
    ) -> sqlx::Result<Vec<Uuid>> {
        let paused = if scope == SeedScope::Everything {
            Vec::new()
        } else {
            self.paused_models(&mut *connection).await?.all
        };
        let is_startable = |model: &str| !paused.iter().any(|paused| paused == model);
        let size = scope.size();
        // Jobs that this server cannot run are not part of the batch.
        let startable = sum.under_way.iter().filter(|job| is_startable(job.slot.model.as_str()));
        let mut batch: Vec<_> = startable.map(|job| job.id).collect();
        // Ids are in the order in which jobs were queued.
        batch.sort_unstable();
        batch.truncate(size);
        let missing = sum.open.iter().filter(|slot| is_startable(slot.model.as_str()));
        let missing: Vec<_> = missing.take(size - batch.len()).collect();
        batch.extend(jobs::enqueue_all(connection, &missing).await?);
        Ok(batch)
    }
}

impl SeedRequest {
    fn audit_detail(&self, jobs: usize) -> Value {
        let SlotSelection { models, prompts, tags } = &self.selection;
        json!({
            "jobs": jobs,
            "what": self.scope.name(),
            "models": models,
            "prompts": prompts,
            "tags": tags,
            "retryFailed": self.retry != SeedRetry::Never,
            "reasons": self.retry.reasons(),
            "maxCost": self.max_cost.map(|cost| cost.0 as f64 / 1e6),
        })
    }
}

impl SeedRetry {
    /// None if nothing is asked for again; an empty list stands for all reasons.
    fn reasons(&self) -> Option<&[String]> {
        match self {
            Self::Never => None,
            Self::WithMissing => Some(&[]),
            Self::Only(reasons) => Some(reasons),
        }
    }
}

impl SeedPrices {
    /// Leaves out the models that cannot be asked in batches, and returns them.
    fn leave_out_unbatched(&self, sum: &mut CoverageSummary) -> Vec<ModelKey> {
        let mut left_out = BTreeSet::new();
        sum.open.retain(|slot| {
            let is_batched = self.batch_parts.contains_key(&slot.model);
            if !is_batched {
                left_out.insert(slot.model.clone());
            }
            is_batched
        });
        left_out.into_iter().collect()
    }

    /// What jobs of the selection that are under way may cost. They count, so that a repeated call queues nothing more.
    fn under_way(&self, sum: &CoverageSummary) -> MicroDollars {
        let cost =
            |prices: &BuildPrices, jobs: &[SlotJob]| prices.estimate(jobs.iter().map(|job| &job.slot)).cost.0;
        let alone = cost(&self.alone, &sum.under_way);
        MicroDollars(alone.saturating_add(cost(&self.in_batches, &sum.in_batches)))
    }
}

impl SeedScope {
    fn size(self) -> usize {
        match self {
            Self::Catalog => 0,
            Self::Batch(size) => size,
            Self::Everything | Self::BatchApi => usize::MAX,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Catalog => "catalog",
            Self::Batch(_) => "batch",
            Self::Everything => "background",
            Self::BatchApi => "batch API",
        }
    }
}
