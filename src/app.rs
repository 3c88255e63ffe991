//! What every handler can reach.

use std::ops::Deref;
use std::sync::{Arc, Once};

use sqlx::PgPool;
use tokio_util::sync::CancellationToken;

use crate::agent::{self, ArenaAgent, ArenaAgentServer};
use crate::arena::a2a_tasks::PgTaskStore;
use crate::arena::{Arena, Pace};
use crate::assess::WorldThreads;
use crate::assessor::Assessor;
use crate::config::Config;
use crate::dataset::{DatasetCache, DatasetExport};
use crate::db::{DatabaseHealth, Sessions};
use crate::generate::{ProviderRegister, Providers, RequestLimits};
use crate::limits::RateLimits;
use crate::metrics::HttpMetrics;
use crate::person_check::PersonChecks;
use crate::pictures::Pictures;
use crate::sandbox::SandboxQueue;
use crate::turntables::Turntables;
use crate::unpacked_grids::UnpackedGrids;
use crate::work::{MemoryBudget, WorkPool};
use crate::worker::Worker;

/// How much memory all large bodies together may take.
const LARGE_BODY_MEMORY: usize = 256 << 20;

/// Cheap to clone: every request clones it several times.
#[derive(Clone)]
pub struct App(Arc<AppInner>);

/// What an [`App`] is made of.
pub struct AppInner {
    pub config: Arc<Config>,
    pub pool: PgPool,
    /// For reads that may lag behind.
    pub replica: PgPool,
    pub database_health: DatabaseHealth,
    pub sessions: Sessions,
    pub arena: Arc<Arena>,
    pub limits: Arc<RateLimits>,
    /// Logged at the first request of a proxy that is not trusted.
    pub untrusted_proxy_warning: Once,
    pub person_checks: PersonChecks,
    pub metrics: HttpMetrics,
    pub work: WorkPool,
    pub worker: Worker,
    pub assessor: Assessor,
    /// For runs in the sandbox.
    pub sandbox_queue: SandboxQueue,
    pub memory: MemoryBudget,
    pub pictures: Pictures,
    pub matchup_pictures: Pictures,
    pub turntables: Turntables,
    pub unpacked_grids: UnpackedGrids,
    pub dataset: DatasetCache,
    /// Buildoff as an agent, and its card.
    pub agent: ArenaAgentServer,
    pub agent_card: String,
    /// Cancelled when the server shuts down, for responses that would not end by themselves.
    pub shutdown: CancellationToken,
}

impl App {
    /// # Errors
    /// If a provider of the catalog cannot be reached as it is configured.
    pub fn new(config: Arc<Config>, pool: PgPool) -> anyhow::Result<Self> {
        let replica = pool.clone();
        Self::with_replica(config, pool, replica)
    }

    /// # Errors
    /// If a provider of the catalog cannot be reached as it is configured.
    pub fn with_replica(config: Arc<Config>, pool: PgPool, replica: PgPool) -> anyhow::Result<Self> {
        let generation = &config.generation;
        let request_limits =
            RequestLimits { max_bytes: generation.answer_max_bytes, ..RequestLimits::default() };
        let providers =
            Providers::new(&config.catalog.providers, &generation.keys, request_limits, generation.log_raw)?;
        let secrets = generation.agent_secrets.clone();
        let providers = ProviderRegister::new(providers, secrets.clone(), request_limits, generation.log_raw);
        // A visitor's body may take half of it, and an admin's all.
        let memory =
            MemoryBudget::new(LARGE_BODY_MEMORY.max(2 * config.check_max_bytes).max(config.import_max_bytes));
        let arena = Arena::new(pool.clone(), config.arena.clone(), config.references, config.min_dwell)
            .with_replica(replica.clone())
            .with_vote_budgets(config.vote_budgets)
            .with_cohort_percent(config.cohort_percent)
            .with_results_delay(config.results_delay);
        let limits = RateLimits::new(config.rate_limits);
        let work = WorkPool::per_core();
        let arena = Arc::new(arena);
        let dataset = DatasetExport {
            arena: Arc::clone(&arena),
            pool: replica.clone(),
            work: work.clone(),
            pace: Pace::Background,
            source: config.public_url.clone(),
            license: config.dataset_license.clone(),
        };
        let a2a_tasks = PgTaskStore::new(pool.clone());
        let (threads, times) = (WorldThreads::new()?, config.assess.times);
        let assessor = Assessor::new(pool.clone(), threads, secrets, a2a_tasks.clone(), times);
        let agent = ArenaAgent {
            settings: config.arena.clone(),
            check_max_bytes: config.check_max_bytes,
            work: work.clone(),
            assessor: assessor.clone(),
        };
        let agent_card = agent::card(&config.site_url(), config.card_url.as_deref()).write();
        let shutdown = CancellationToken::new();
        Ok(Self(Arc::new(AppInner {
            sandbox_queue: SandboxQueue::new(config.sandbox.max_concurrent),
            worker: Worker::new(pool.clone(), work.clone(), Arc::clone(&config), providers),
            person_checks: PersonChecks::new(pool.clone(), &config.person_check)?,
            dataset: DatasetCache::new(dataset, pool.clone(), config.data_dir.clone()),
            agent: ArenaAgentServer::new(agent, a2a_tasks),
            assessor,
            agent_card: agent_card.get().to_owned(),
            config,
            database_health: DatabaseHealth::default(),
            sessions: Sessions::new(pool.clone()),
            pool,
            replica,
            arena,
            limits: Arc::new(limits),
            untrusted_proxy_warning: Once::new(),
            metrics: HttpMetrics::default(),
            turntables: Turntables::new(work.clone(), shutdown.clone()),
            pictures: Pictures::for_everybody(work.clone()),
            matchup_pictures: Pictures::for_matchups(work.clone()),
            unpacked_grids: UnpackedGrids::default(),
            work,
            memory,
            shutdown,
        })))
    }
}

impl Deref for App {
    type Target = AppInner;

    fn deref(&self) -> &AppInner {
        &self.0
    }
}
