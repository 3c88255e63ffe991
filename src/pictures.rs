//! Pictures that are drawn when they are asked for, and kept while there is room.
//!
//! Many ask for the same one at the same time, and any of them may leave. Each client waits for its own turn, so
//! that nobody who wants what a busier client wants, too, waits in that one's queue. Whoever's turn comes first
//! draws for all of them, to the end, even when the request that began it is gone by then.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};

use axum::body::Bytes;
use moka::future::Cache;
use tokio::runtime::Handle;

use crate::work::{Client, Work, WorkLost};

/// Bytes of those that are kept.
const KEPT: u64 = 128 << 20;

#[derive(Clone)]
pub struct Pictures {
    work: Work,
    kept: Cache<Arc<str>, Bytes>,
    wanted: Arc<Mutex<HashMap<Arc<str>, Weak<Wanted>>>>,
}

/// A picture that somebody waits for. It is forgotten when nobody does any more.
#[derive(Default)]
struct Wanted {
    /// One place in the queue for each client, however many of its requests want it.
    places: Mutex<HashMap<Client, Arc<tokio::sync::Mutex<()>>>>,
    /// Locked while it is drawn, for others of the threads that draw.
    drawing: Mutex<()>,
    drawn: OnceLock<Bytes>,
}

impl Pictures {
    pub fn new(work: Work) -> Self {
        let weigh =
            |name: &Arc<str>, bytes: &Bytes| u32::try_from(name.len() + bytes.len()).unwrap_or(u32::MAX);
        let kept = Cache::builder().weigher(weigh).max_capacity(KEPT).build();
        Self { work, kept, wanted: Arc::default() }
    }

    /// The picture of this name. If it is not there, `load` finds out what draws it, which is heavy work.
    ///
    /// # Errors
    /// Those of `load` and of drawing, and if there is too much heavy work.
    pub async fn get<D, E>(
        &self,
        client: Client,
        name: Arc<str>,
        load: impl Future<Output = Result<D, E>>,
    ) -> Result<Bytes, E>
    where
        D: FnOnce() -> Result<Vec<u8>, E> + Send + 'static,
        E: From<WorkLost> + Send + 'static,
    {
        if let Some(kept) = self.kept.get(&name).await {
            return Ok(kept);
        }
        let wanted = self.wanted(&name);
        let place = wanted.place(client).lock_owned().await;
        // Another request of this client may have had the place before.
        if let Some(drawn) = wanted.drawn.get() {
            return Ok(drawn.clone());
        }
        let draw = load.await?;
        let (kept, runtime) = (self.kept.clone(), Handle::current());
        let make = move || {
            // Nobody else of this client takes its place before this has ended.
            let _place = place;
            // If another client's turn has come already, its picture is there in a moment.
            let _drawing = locked(&wanted.drawing);
            if let Some(drawn) = wanted.drawn.get() {
                return Ok(drawn.clone());
            }
            let bytes = Bytes::from(draw()?);
            let _ = wanted.drawn.set(bytes.clone());
            // Kept from here, as whoever asked may have left.
            runtime.block_on(kept.insert(name, bytes.clone()));
            Ok(bytes)
        };
        self.work.run(client, make).await?
    }

    fn wanted(&self, name: &Arc<str>) -> Arc<Wanted> {
        let mut all = locked(&self.wanted);
        if let Some(wanted) = all.get(name).and_then(Weak::upgrade) {
            return wanted;
        }
        all.retain(|_, wanted| wanted.strong_count() > 0);
        let wanted = Arc::new(Wanted::default());
        all.insert(Arc::clone(name), Arc::downgrade(&wanted));
        wanted
    }
}

impl Wanted {
    fn place(&self, client: Client) -> Arc<tokio::sync::Mutex<()>> {
        Arc::clone(locked(&self.places).entry(client).or_default())
    }
}

/// A panic while drawing leaves nothing half done.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
