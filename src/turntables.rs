//! Turntables in the making: one for all who ask for the same, a few at a time.
//!
//! Making one is dozens of pieces of heavy work, each of which waits its turn, so that whoever needs a picture in
//! between gets it. It goes on when those who asked have left.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::body::Bytes;
use moka::future::Cache;
use moka::policy::EvictionPolicy;
use tokio::sync::{Semaphore, watch};
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

use crate::arena::builds::{Damaged, StoredGrid};
use crate::work::{Client, Work, WorkLost};
use voxel::{Animation, NotEncoded, Turntable};

/// Drawn at a time.
const AT_ONCE: usize = 2;
/// Under way at a time, those included that wait.
const UNDER_WAY: usize = 12;
/// Bytes of those that are made.
const KEPT: u64 = 64 << 20;
/// How long whoever asks is told that one failed, before it is tried again.
const FAILURE: Duration = Duration::from_secs(60);

#[derive(Clone)]
pub struct Turntables {
    work: Work,
    kept: Cache<Arc<str>, Bytes>,
    closing: CancellationToken,
    places: Arc<Semaphore>,
    lathes: Arc<Semaphore>,
    under_way: Arc<Mutex<HashMap<Arc<str>, Progress>>>,
}

/// How far one is, now and from now on.
pub type Progress = watch::Receiver<Stage>;

#[derive(Clone, Debug)]
pub enum Stage {
    /// So many frames are there.
    Frame(u8),
    Made(Bytes),
    Failed(Arc<Failed>),
}

#[derive(Debug, thiserror::Error)]
pub enum Failed {
    #[error(transparent)]
    Damaged(#[from] Damaged),
    #[error(transparent)]
    Work(#[from] WorkLost),
    #[error(transparent)]
    NotEncoded(#[from] NotEncoded),
    #[error("the server is going down")]
    Closing,
}

#[derive(Debug, thiserror::Error)]
#[error("too many turntables are being made")]
pub struct TooMany;

impl Turntables {
    pub fn new(work: Work, closing: CancellationToken) -> Self {
        let weigh = |_: &Arc<str>, bytes: &Bytes| u32::try_from(bytes.len()).unwrap_or(u32::MAX);
        // Whoever waited for one has to find it, so a new one always gets its place.
        let kept = Cache::builder().weigher(weigh).max_capacity(KEPT).eviction_policy(EvictionPolicy::lru());
        Self {
            work,
            kept: kept.build(),
            closing,
            places: Arc::new(Semaphore::new(UNDER_WAY)),
            lathes: Arc::new(Semaphore::new(AT_ONCE)),
            under_way: Arc::default(),
        }
    }

    /// One that is there, or under way.
    pub async fn find(&self, name: &str) -> Option<Progress> {
        // In this order, as it is kept before it leaves the list.
        let under_way = self.list().get(name).cloned();
        match under_way {
            Some(progress) => Some(progress),
            None => self.kept.get(name).await.map(|bytes| watch::channel(Stage::Made(bytes)).1),
        }
    }

    /// Begins one, unless somebody has just done so.
    ///
    /// # Errors
    /// If there are too many.
    pub fn begin(
        &self,
        name: &Arc<str>,
        grid: StoredGrid,
        animation: Animation,
    ) -> Result<Progress, TooMany> {
        let mut list = self.list();
        if let Some(progress) = list.get(name) {
            return Ok(progress.clone());
        }
        let place = Arc::clone(&self.places).try_acquire_owned().map_err(|_| TooMany)?;
        let (tell, progress) = watch::channel(Stage::Frame(0));
        list.insert(Arc::clone(name), progress.clone());
        let entry = Entry { all: self.clone(), name: Arc::clone(name) };
        tokio::spawn(async move {
            let closing = entry.all.closing.clone();
            let work = async {
                let made = entry.make(&grid, animation, &tell).await;
                drop(place);
                let is_lost = made.is_err();
                tell.send_replace(made.map_or_else(|failed| Stage::Failed(Arc::new(failed)), Stage::Made));
                if is_lost {
                    sleep(FAILURE).await;
                }
            };
            tokio::select! {
                () = work => {}
                () = closing.cancelled() => drop(tell.send_replace(Stage::Failed(Arc::new(Failed::Closing)))),
            }
        });
        Ok(progress)
    }

    fn list(&self) -> MutexGuard<'_, HashMap<Arc<str>, Progress>> {
        self.under_way.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A turntable's entry in the list, until it is made, or has been told to have failed for a while.
struct Entry {
    all: Turntables,
    name: Arc<str>,
}

impl Entry {
    async fn make(
        &self,
        stored: &StoredGrid,
        animation: Animation,
        tell: &watch::Sender<Stage>,
    ) -> Result<Bytes, Failed> {
        let Turntables { work, kept, lathes, .. } = &self.all;
        let _lathe = lathes.acquire().await.map_err(|_| Failed::Closing)?;
        let stored = stored.clone();
        let grid = Arc::new(work.run(Client::BACKGROUND, move || stored.open()).await??);
        let mut turntable = Turntable::new(animation);
        while !turntable.is_whole() {
            let grid = Arc::clone(&grid);
            let draw = move || turntable.draw(&grid, 1).map(|()| turntable);
            turntable = work.run(Client::BACKGROUND, draw).await??;
            tell.send_replace(Stage::Frame(turntable.frames()));
        }
        let bytes = Bytes::from(work.run(Client::BACKGROUND, move || turntable.finish()).await??);
        kept.insert(Arc::clone(&self.name), bytes.clone()).await;
        Ok(bytes)
    }
}

impl Drop for Entry {
    fn drop(&mut self) {
        self.all.list().remove(&self.name);
    }
}
