//! What every handler can reach.

use std::ops::Deref;
use std::sync::Arc;

use sqlx::PgPool;
use tokio_util::sync::CancellationToken;

use crate::arena::Arena;
use crate::config::Config;
use crate::db::Sessions;
use crate::limits::RateLimits;
use crate::metrics::HttpMetrics;
use crate::pictures::Pictures;
use crate::sandbox::Line;
use crate::turntables::Turntables;
use crate::work::{MemoryBudget, WorkPool};
use crate::workshop::Workshop;

/// What all large bodies together may take.
const LARGE_BODIES: usize = 256 << 20;

/// Cheap to clone: every request clones it several times.
#[derive(Clone)]
pub struct App(Arc<Parts>);

/// What an [`App`] is made of.
pub struct Parts {
    pub config: Arc<Config>,
    pub pool: PgPool,
    /// For reading what may lag behind.
    pub replica: PgPool,
    pub sessions: Sessions,
    pub arena: Arc<Arena>,
    pub limits: Arc<RateLimits>,
    pub metrics: HttpMetrics,
    pub work: WorkPool,
    pub workshop: Workshop,
    /// For runs in the sandbox.
    pub line: Line,
    pub memory: MemoryBudget,
    pub pictures: Pictures,
    pub turntables: Turntables,
    /// Cancelled when the server is going down, for answers that have no end of their own.
    pub closing: CancellationToken,
}

impl App {
    pub fn new(config: Arc<Config>, pool: PgPool) -> Self {
        let replica = pool.clone();
        Self::with_replica(config, pool, replica)
    }

    pub fn with_replica(config: Arc<Config>, pool: PgPool, replica: PgPool) -> Self {
        let memory = MemoryBudget::new(LARGE_BODIES.max(config.check_max_bytes).max(config.import_max_bytes));
        let arena = Arena::new(pool.clone(), config.arena.clone(), config.references, config.min_dwell)
            .with_replica(replica.clone());
        let limits = RateLimits::new(config.rate_limits);
        let work = WorkPool::per_core();
        let closing = CancellationToken::new();
        Self(Arc::new(Parts {
            line: Line::new(config.sandbox.max_concurrent),
            workshop: Workshop::new(pool.clone(), work.clone(), Arc::clone(&config)),
            config,
            sessions: Sessions::new(pool.clone()),
            pool,
            replica,
            arena: Arc::new(arena),
            limits: Arc::new(limits),
            metrics: HttpMetrics::default(),
            turntables: Turntables::new(work.clone(), closing.clone()),
            pictures: Pictures::new(work.clone()),
            work,
            memory,
            closing,
        }))
    }
}

impl Deref for App {
    type Target = Parts;

    fn deref(&self) -> &Parts {
        &self.0
    }
}
