//! What every handler can reach.

use std::sync::Arc;

use axum::body::Bytes;
use moka::future::Cache;
use sqlx::PgPool;
use tokio_util::sync::CancellationToken;

use crate::arena::Arena;
use crate::config::Config;
use crate::db::Sessions;
use crate::limits::Limits;
use crate::meters::Meters;
use crate::sandbox::Line;
use crate::turntables::Turntables;
use crate::work::{Memory, Work};
use crate::workshop::Workshop;

/// What all large bodies together may take.
const LARGE_BODIES: usize = 256 << 20;

/// Bytes of pictures that are kept.
const PICTURES: u64 = 128 << 20;

/// Cheap to clone; every field is a handle.
#[derive(Clone)]
pub struct App {
    pub config: Arc<Config>,
    pub pool: PgPool,
    /// For reading what may lag behind.
    pub replica: PgPool,
    pub sessions: Sessions,
    pub arena: Arc<Arena>,
    pub limits: Arc<Limits>,
    pub meters: Meters,
    pub work: Work,
    pub workshop: Workshop,
    /// For runs in the sandbox.
    pub line: Line,
    pub memory: Memory,
    /// Pictures of builds, by what they show and how.
    pub pictures: Cache<Arc<str>, Bytes>,
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
        let weigh =
            |name: &Arc<str>, bytes: &Bytes| u32::try_from(name.len() + bytes.len()).unwrap_or(u32::MAX);
        let pictures = Cache::builder().weigher(weigh).max_capacity(PICTURES).build();
        let memory = Memory::new(LARGE_BODIES.max(config.check_max_bytes).max(config.import_max_bytes));
        let arena = Arena::new(pool.clone(), config.arena.clone(), config.references, config.min_dwell)
            .with_replica(replica.clone());
        let limits = Limits::new(config.rate_limits);
        let work = Work::of_this_machine();
        let closing = CancellationToken::new();
        Self {
            line: Line::new(config.sandbox.at_once),
            workshop: Workshop::new(pool.clone(), work.clone(), Arc::clone(&config)),
            config,
            sessions: Sessions::new(pool.clone()),
            pool,
            replica,
            arena: Arc::new(arena),
            limits: Arc::new(limits),
            meters: Meters::default(),
            turntables: Turntables::new(work.clone(), closing.clone()),
            work,
            memory,
            pictures,
            closing,
        }
    }
}
