//! Turntables, which are drawn in the background, a few at a time, and each only once for all requests.
//!
//! A turntable is dozens of pieces of work that wait for their turns one by one, so that pictures are drawn in between.
//! Drawing continues even if all requests for it are dropped.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::body::Bytes;
use moka::future::Cache;
use moka::policy::EvictionPolicy;
use tokio::sync::{Semaphore, watch};
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

use crate::arena::builds::{CorruptGridError, StoredGrid};
use crate::work::{WorkClient, WorkError, WorkPool};
use voxel::turntable::{Animation, EncodeError, Turntable};

/// Turntables that are drawn at the same time.
const MAX_DRAWING: usize = 2;
/// Turntables that are drawn or waiting.
const MAX_PENDING: usize = 12;
/// Bytes of turntables that are kept.
const CACHE_BYTES: u64 = 64 << 20;
/// How long a failure is reported before the next request tries again.
const FAILURE_TTL: Duration = Duration::from_secs(60);

#[derive(Clone)]
pub struct Turntables {
    work: WorkPool,
    cached: Cache<Arc<str>, Bytes>,
    closing: CancellationToken,
    permits: Arc<Semaphore>,
    slots: Arc<Semaphore>,
    pending: Arc<Mutex<HashMap<Arc<str>, TurntableReceiver>>>,
}

/// The progress of a turntable, now and from now on.
pub type TurntableReceiver = watch::Receiver<TurntableState>;

#[derive(Clone, Debug)]
pub enum TurntableState {
    /// The number of frames drawn so far.
    Frame(u8),
    Done(Bytes),
    Failed(Arc<TurntableError>),
}

#[derive(Debug, thiserror::Error)]
pub enum TurntableError {
    #[error(transparent)]
    Corrupt(#[from] CorruptGridError),
    #[error(transparent)]
    Work(#[from] WorkError),
    #[error(transparent)]
    Encode(#[from] EncodeError),
    #[error("the server is shutting down")]
    Closing,
}

#[derive(Debug, thiserror::Error)]
#[error("too many turntables are being drawn")]
pub struct TooManyTurntables;

impl Turntables {
    pub fn new(work: WorkPool, closing: CancellationToken) -> Self {
        let weigh = |_: &Arc<str>, bytes: &Bytes| u32::try_from(bytes.len()).unwrap_or(u32::MAX);
        // With LRU, a new turntable is always admitted to the cache, so that those who waited for it find it there.
        let cached =
            Cache::builder().weigher(weigh).max_capacity(CACHE_BYTES).eviction_policy(EvictionPolicy::lru());
        Self {
            work,
            cached: cached.build(),
            closing,
            permits: Arc::new(Semaphore::new(MAX_PENDING)),
            slots: Arc::new(Semaphore::new(MAX_DRAWING)),
            pending: Arc::default(),
        }
    }

    /// A turntable that is cached or being drawn.
    pub async fn find(&self, name: &str) -> Option<TurntableReceiver> {
        // The list must be read first: a turntable is cached before it leaves the list, so it is always in one of them.
        let pending = self.list().get(name).cloned();
        match pending {
            Some(progress) => Some(progress),
            None => self.cached.get(name).await.map(|bytes| watch::channel(TurntableState::Done(bytes)).1),
        }
    }

    /// Starts to draw a turntable, unless another request has just done so.
    ///
    /// # Errors
    /// If too many are drawn or waiting.
    pub fn start(
        &self,
        name: &Arc<str>,
        grid: StoredGrid,
        animation: Animation,
    ) -> Result<TurntableReceiver, TooManyTurntables> {
        let mut list = self.list();
        if let Some(progress) = list.get(name) {
            return Ok(progress.clone());
        }
        let permit = Arc::clone(&self.permits).try_acquire_owned().map_err(|_| TooManyTurntables)?;
        let (state, progress) = watch::channel(TurntableState::Frame(0));
        list.insert(Arc::clone(name), progress.clone());
        let entry = PendingTurntable { turntables: self.clone(), name: Arc::clone(name) };
        tokio::spawn(async move {
            let closing = entry.turntables.closing.clone();
            let work = async {
                let made = entry.make(&grid, animation, &state).await;
                drop(permit);
                let has_failed = made.is_err();
                state.send_replace(
                    made.map_or_else(|failed| TurntableState::Failed(Arc::new(failed)), TurntableState::Done),
                );
                if has_failed {
                    sleep(FAILURE_TTL).await;
                }
            };
            tokio::select! {
                () = work => {}
                () = closing.cancelled() => drop(state.send_replace(TurntableState::Failed(Arc::new(TurntableError::Closing)))),
            }
        });
        Ok(progress)
    }

    fn list(&self) -> MutexGuard<'_, HashMap<Arc<str>, TurntableReceiver>> {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The entry of a turntable in the list. It is removed when this is dropped: after drawing, or some time after a
/// failure.
struct PendingTurntable {
    turntables: Turntables,
    name: Arc<str>,
}

impl PendingTurntable {
    async fn make(
        &self,
        stored: &StoredGrid,
        animation: Animation,
        state: &watch::Sender<TurntableState>,
    ) -> Result<Bytes, TurntableError> {
        let Turntables { work, cached, slots, .. } = &self.turntables;
        let _slot = slots.acquire().await.map_err(|_| TurntableError::Closing)?;
        let stored = stored.clone();
        let grid = Arc::new(work.run(WorkClient::BACKGROUND, move || stored.open()).await??);
        let mut turntable = Turntable::new(animation);
        while !turntable.is_whole() {
            let grid = Arc::clone(&grid);
            let draw = move || turntable.draw(&grid, 1).map(|()| turntable);
            turntable = work.run(WorkClient::BACKGROUND, draw).await??;
            state.send_replace(TurntableState::Frame(turntable.frames()));
        }
        let bytes = Bytes::from(work.run(WorkClient::BACKGROUND, move || turntable.finish()).await??);
        cached.insert(Arc::clone(&self.name), bytes.clone()).await;
        Ok(bytes)
    }
}

impl Drop for PendingTurntable {
    fn drop(&mut self) {
        self.turntables.list().remove(&self.name);
    }
}
