//! Pictures, which are drawn on request and cached.
//!
//! Many requests can want the same picture at once, and any of them can be dropped. Each client waits for its own turn in
//! the work queue, so that it never waits in the longer queue of another client for the same picture. The client whose
//! turn comes first draws for all of them, and finishes even if its request is dropped.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};

use axum::body::Bytes;
use moka::future::Cache;
use tokio::runtime::Handle;

use crate::work::{WorkClient, WorkError, WorkPool};

/// Bytes of pictures that are kept for everybody, and for matchups.
const PUBLIC_CACHE_BYTES: u64 = 96 << 20;
const MATCHUP_CACHE_BYTES: u64 = 32 << 20;

#[derive(Clone)]
pub struct Pictures {
    work: WorkPool,
    cached: Cache<Arc<str>, Bytes>,
    pending: Arc<Mutex<HashMap<Arc<str>, Weak<PendingPicture>>>>,
}

/// A picture that is requested but not drawn yet. It is dropped with the last request for it.
#[derive(Default)]
struct PendingPicture {
    /// A lock per client, so that many requests of one client take only one place in the work queue.
    client_locks: Mutex<HashMap<WorkClient, Arc<tokio::sync::Mutex<()>>>>,
    /// Locked while the picture is drawn, so that no other thread draws it, too.
    drawing: Mutex<()>,
    drawn: OnceLock<Bytes>,
}

impl Pictures {
    pub fn for_everybody(work: WorkPool) -> Self {
        Self::new(work, PUBLIC_CACHE_BYTES)
    }

    /// The pictures of matchups share nothing with the others: if they did, a picture that comes fast would tell which
    /// public build it shows.
    pub fn for_matchups(work: WorkPool) -> Self {
        Self::new(work, MATCHUP_CACHE_BYTES)
    }

    fn new(work: WorkPool, max_bytes: u64) -> Self {
        let weigh =
            |name: &Arc<str>, bytes: &Bytes| u32::try_from(name.len() + bytes.len()).unwrap_or(u32::MAX);
        let cached = Cache::builder().weigher(weigh).max_capacity(max_bytes).build();
        Self { work, cached, pending: Arc::default() }
    }

    /// The picture with a name. If it is not cached, `load` returns the closure that draws it.
    ///
    /// # Errors
    /// Errors of `load` and of drawing, and if too much work is queued.
    pub async fn get<D, E>(
        &self,
        client: WorkClient,
        name: Arc<str>,
        load: impl Future<Output = Result<D, E>>,
    ) -> Result<Bytes, E>
    where
        D: FnOnce() -> Result<Vec<u8>, E> + Send + 'static,
        E: From<WorkError> + Send + 'static,
    {
        if let Some(cached) = self.cached.get(&name).await {
            return Ok(cached);
        }
        let pending = self.pending(&name);
        let client_lock = pending.client_lock(client).lock_owned().await;
        // Another request of this client may have drawn it while this one waited for the lock.
        if let Some(drawn) = pending.drawn.get() {
            return Ok(drawn.clone());
        }
        let draw = load.await?;
        let (cached, runtime) = (self.cached.clone(), Handle::current());
        let make = move || {
            // Other requests of this client wait until this one has ended.
            let _client_lock = client_lock;
            // If another client is drawing it already, wait for that picture instead of drawing it again.
            let _drawing = locked(&pending.drawing);
            if let Some(drawn) = pending.drawn.get() {
                return Ok(drawn.clone());
            }
            let bytes = Bytes::from(draw()?);
            let _ = pending.drawn.set(bytes.clone());
            // The picture is cached here and not by the caller, which may have been dropped.
            runtime.block_on(cached.insert(name, bytes.clone()));
            Ok(bytes)
        };
        self.work.run(client, make).await?
    }

    fn pending(&self, name: &Arc<str>) -> Arc<PendingPicture> {
        let mut all = locked(&self.pending);
        if let Some(pending) = all.get(name).and_then(Weak::upgrade) {
            return pending;
        }
        all.retain(|_, pending| pending.strong_count() > 0);
        let pending = Arc::new(PendingPicture::default());
        all.insert(Arc::clone(name), Arc::downgrade(&pending));
        pending
    }
}

impl PendingPicture {
    fn client_lock(&self, client: WorkClient) -> Arc<tokio::sync::Mutex<()>> {
        Arc::clone(locked(&self.client_locks).entry(client).or_default())
    }
}

/// A poisoned mutex can be used, because a panic while drawing leaves no partial state behind it.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::net::IpAddr;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::sync::mpsc::{self, Receiver, Sender};

    use tokio::task::JoinHandle;

    use super::*;

    fn visitor(last: u8) -> WorkClient {
        WorkClient::visitor(IpAddr::from([192, 0, last, 2]))
    }

    /// Draws only when the test allows it, and reports when it has started.
    struct FakeRenderer {
        pictures: Pictures,
        drawn: Arc<AtomicUsize>,
        brush: Arc<Mutex<Receiver<()>>>,
        begun: Sender<()>,
    }

    /// With a brush for each picture that may be finished.
    fn fake_renderer(slots: usize) -> (FakeRenderer, Sender<()>, Receiver<()>) {
        let (hand_over, brush) = mpsc::channel();
        let (begun, begins) = mpsc::channel();
        let pictures = Pictures::for_everybody(WorkPool::new(slots));
        let brush = Arc::new(Mutex::new(brush));
        (FakeRenderer { pictures, drawn: Arc::default(), brush, begun }, hand_over, begins)
    }

    impl FakeRenderer {
        fn ask(&self, client: WorkClient, name: &str) -> JoinHandle<Result<Bytes, DrawFailure>> {
            let (pictures, name) = (self.pictures.clone(), Arc::from(name));
            let (drawn, brush, begun) =
                (Arc::clone(&self.drawn), Arc::clone(&self.brush), self.begun.clone());
            tokio::spawn(async move {
                let draw = move || {
                    begun.send(()).unwrap();
                    brush.lock().unwrap().recv().map_err(|_| DrawFailure)?;
                    drawn.fetch_add(1, Ordering::SeqCst);
                    Ok(b"a picture".to_vec())
                };
                pictures.get(client, name, async { Ok(draw) }).await
            })
        }

        fn drawn(&self) -> usize {
            self.drawn.load(Ordering::SeqCst)
        }

        /// Until so many pieces run and so many wait.
        async fn until(&self, running: usize, waiting: usize) {
            while (self.pictures.work.running(), self.pictures.work.waiting()) != (running, waiting) {
                tokio::task::yield_now().await;
            }
        }
    }

    #[derive(Debug)]
    struct DrawFailure;

    impl From<WorkError> for DrawFailure {
        fn from(_: WorkError) -> Self {
            Self
        }
    }

    #[tokio::test]
    async fn whoever_hangs_up_while_a_picture_is_drawn_takes_it_from_nobody_else() {
        let (renderer, brush, begins) = fake_renderer(2);
        let first = renderer.ask(visitor(1), "tower");
        renderer.until(1, 0).await;
        begins.recv().unwrap();
        let same_client = renderer.ask(visitor(1), "tower");
        let another = renderer.ask(visitor(2), "tower");
        renderer.until(2, 0).await;
        first.abort();
        assert!(first.await.unwrap_err().is_cancelled());

        brush.send(()).unwrap();
        for asked in [same_client, another] {
            assert_eq!(asked.await.unwrap().unwrap(), "a picture");
        }
        assert_eq!(renderer.drawn(), 1);
    }

    #[tokio::test]
    async fn what_everybody_has_left_is_drawn_to_the_end_and_kept() {
        let (renderer, brush, begins) = fake_renderer(1);
        let gone = renderer.ask(visitor(1), "tower");
        renderer.until(1, 0).await;
        begins.recv().unwrap();
        gone.abort();
        assert!(gone.await.unwrap_err().is_cancelled());
        brush.send(()).unwrap();
        renderer.until(0, 0).await;
        assert_eq!(renderer.ask(visitor(2), "tower").await.unwrap().unwrap(), "a picture");
        assert_eq!(renderer.drawn(), 1);
    }

    #[tokio::test]
    async fn many_requests_of_one_client_for_one_picture_take_one_place_and_free_it_when_they_leave() {
        let (renderer, brush, _begins) = fake_renderer(1);
        let in_the_way = renderer.ask(visitor(9), "wall");
        renderer.until(1, 0).await;
        let many: Vec<_> = (0..100).map(|_| renderer.ask(visitor(1), "tower")).collect();
        renderer.until(1, 1).await;
        for asked in many {
            asked.abort();
            let _ = asked.await;
        }
        assert_eq!(renderer.pictures.work.waiting(), 0);
        brush.send(()).unwrap();
        in_the_way.await.unwrap().unwrap();
        assert_eq!(renderer.drawn(), 1);
    }

    #[tokio::test]
    async fn what_waits_in_a_long_queue_of_one_client_is_drawn_at_the_turn_of_another() {
        let (renderer, brush, _begins) = fake_renderer(1);
        let in_the_way = renderer.ask(visitor(9), "wall");
        renderer.until(1, 0).await;
        let mut waiting = Vec::new();
        for name in ["a", "b", "c", "tower"] {
            waiting.push(renderer.ask(visitor(1), name));
            renderer.until(1, waiting.len()).await;
        }
        let other = renderer.ask(visitor(2), "tower");
        renderer.until(1, 5).await;
        (0..3).for_each(|_| brush.send(()).unwrap());
        in_the_way.await.unwrap().unwrap();
        assert_eq!(other.await.unwrap().unwrap(), "a picture");
        assert_eq!(renderer.drawn(), 3, "after the wall and the first of the long queue");

        (0..2).for_each(|_| brush.send(()).unwrap());
        for asked in waiting {
            asked.await.unwrap().unwrap();
        }
        assert_eq!(renderer.drawn(), 5, "the tower was there already");
    }

    #[tokio::test]
    async fn after_a_failure_whoever_still_waits_tries_again() {
        let (renderer, brush, begins) = fake_renderer(1);
        let pictures = renderer.pictures.clone();
        let fails = pictures
            .get(visitor(1), "tower".into(), async { Ok(|| -> Result<_, DrawFailure> { panic!("oh") }) });
        assert!(fails.await.is_err());
        let second = renderer.ask(visitor(1), "tower");
        renderer.until(1, 0).await;
        begins.recv().unwrap();
        brush.send(()).unwrap();
        assert_eq!(second.await.unwrap().unwrap(), "a picture");
    }
}
