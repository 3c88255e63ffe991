//! One reading for everybody who watches the same thing. It is made again and again in a task of its own, while
//! somebody watches and no longer, and costs the same for one watcher as for a hundred.

use std::future::Future;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::{Notify, watch};
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

/// What is watched; clones are the same.
pub(super) struct SharedPoller<T> {
    /// None while nobody watches.
    task: Arc<Mutex<Option<Arc<PollTask<T>>>>>,
    pause: Duration,
}

/// What watchers and the task that reads for them have in common.
struct PollTask<T> {
    readings: watch::Sender<PollResult<T>>,
    /// How many readings have begun.
    started: AtomicU64,
    /// Somebody waits for a reading, and not only for a change.
    wake: Notify,
}

struct PollResult<T> {
    number: u64,
    /// The very same while nothing changes; none before the first.
    value: Option<Arc<T>>,
}

/// Somebody who watches, until dropped.
pub(super) struct Watcher<T> {
    readings: watch::Receiver<PollResult<T>>,
    /// Readings up to this one may be older than what the watcher knows already.
    outdated: u64,
    seen: Option<Arc<T>>,
}

impl<T> Clone for SharedPoller<T> {
    fn clone(&self) -> Self {
        Self { task: Arc::clone(&self.task), pause: self.pause }
    }
}

impl<T: PartialEq + Send + Sync + 'static> SharedPoller<T> {
    /// Reads this long after it has read.
    pub fn every(pause: Duration) -> Self {
        Self { task: Arc::default(), pause }
    }

    /// The first thing it tells is read from now on: an admin who has just done something finds it done. A reading
    /// that fails gives nothing, and is made again after the pause.
    pub fn watch<F>(&self, read: impl Fn() -> F + Send + 'static, closing: CancellationToken) -> Watcher<T>
    where
        F: Future<Output = Option<T>> + Send,
    {
        let mut running = self.lock();
        let is_new = running.is_none();
        let task = Arc::clone(running.get_or_insert_with(|| {
            let (readings, _) = watch::channel(PollResult { number: 0, value: None });
            Arc::new(PollTask { readings, started: AtomicU64::new(0), wake: Notify::new() })
        }));
        let watcher = Watcher {
            readings: task.readings.subscribe(),
            outdated: task.started.load(Ordering::SeqCst),
            seen: None,
        };
        drop(running);
        if is_new {
            let guard = PollGuard { shared: self.clone(), task };
            tokio::spawn(async move { guard.read(read, closing).await });
        } else {
            task.wake.notify_one();
        }
        watcher
    }

    fn lock(&self) -> MutexGuard<'_, Option<Arc<PollTask<T>>>> {
        self.task.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The task while it runs. Once it has ended, however that came, its watchers are told, and the next one who comes
/// begins another.
struct PollGuard<T> {
    shared: SharedPoller<T>,
    task: Arc<PollTask<T>>,
}

impl<T: PartialEq + Send + Sync + 'static> PollGuard<T> {
    async fn read<F: Future<Output = Option<T>> + Send>(
        &self,
        read: impl Fn() -> F + Send,
        closing: CancellationToken,
    ) {
        loop {
            let number = self.task.started.fetch_add(1, Ordering::SeqCst) + 1;
            if let Some(value) = read().await {
                self.task.readings.send_modify(|latest| {
                    latest.number = number;
                    if latest.value.as_deref() != Some(&value) {
                        latest.value = Some(Arc::new(value));
                    }
                });
            }
            tokio::select! {
                () = sleep(self.shared.pause) => {}
                () = self.task.wake.notified() => {}
                () = self.task.readings.closed() => {}
                () = closing.cancelled() => return,
            }
            if self.stop_if_unwatched() {
                return;
            }
        }
    }

    /// Under the lock, so that nobody begins to watch what has just ended.
    fn stop_if_unwatched(&self) -> bool {
        let mut running = self.shared.lock();
        let is_unwatched = self.task.readings.receiver_count() == 0;
        if is_unwatched {
            *running = None;
        }
        is_unwatched
    }
}

impl<T> Drop for PollGuard<T> {
    fn drop(&mut self) {
        let mut running = self.shared.task.lock().unwrap_or_else(PoisonError::into_inner);
        if running.as_ref().is_some_and(|task| Arc::ptr_eq(task, &self.task)) {
            *running = None;
        }
    }
}

impl<T> Watcher<T> {
    /// What is read next that differs from what was told before; none once nobody reads any more. Nothing is lost
    /// when it is dropped before.
    pub async fn changed(&mut self) -> Option<Arc<T>> {
        loop {
            self.readings.changed().await.ok()?;
            let value = {
                let latest = self.readings.borrow_and_update();
                latest.value.clone().filter(|_| latest.number > self.outdated)
            };
            let Some(value) = value else { continue };
            if self.seen.as_ref().is_none_or(|seen| !Arc::ptr_eq(seen, &value)) {
                self.seen = Some(Arc::clone(&value));
                return Some(value);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicUsize;

    use super::*;

    const LONG: Duration = Duration::from_secs(3600);

    /// Something to read, and how often it was.
    #[derive(Clone, Default)]
    struct TestSource {
        value: Arc<AtomicUsize>,
        readings: Arc<AtomicUsize>,
        closing: CancellationToken,
    }

    impl TestSource {
        fn watch(&self, shared: &SharedPoller<usize>) -> Watcher<usize> {
            let Self { value, readings, closing } = self.clone();
            let read = move || {
                readings.fetch_add(1, Ordering::SeqCst);
                let value = value.load(Ordering::SeqCst);
                async move { Some(value) }
            };
            shared.watch(read, closing)
        }

        fn readings(&self) -> usize {
            self.readings.load(Ordering::SeqCst)
        }
    }

    async fn ended(shared: &SharedPoller<usize>) {
        while shared.lock().is_some() {
            tokio::task::yield_now().await;
        }
    }

    #[tokio::test]
    async fn many_watchers_are_one_reader() {
        let (source, shared) = (TestSource::default(), SharedPoller::every(Duration::from_millis(1)));
        let mut watchers: Vec<_> = (0..100).map(|_| source.watch(&shared)).collect();
        for watcher in &mut watchers {
            assert_eq!(watcher.changed().await.as_deref(), Some(&0));
        }
        assert!(source.readings() < 20, "a hundred came at once, for {} readings", source.readings());
        source.value.store(7, Ordering::SeqCst);
        for watcher in &mut watchers {
            assert_eq!(watcher.changed().await.as_deref(), Some(&7));
        }
    }

    #[tokio::test]
    async fn who_comes_later_is_told_what_is_so_by_then_without_waiting() {
        let (source, shared) = (TestSource::default(), SharedPoller::every(LONG));
        let mut first = source.watch(&shared);
        assert_eq!(first.changed().await.as_deref(), Some(&0));
        source.value.store(1, Ordering::SeqCst);
        let mut second = source.watch(&shared);
        assert_eq!(second.changed().await.as_deref(), Some(&1));
        assert_eq!(first.changed().await.as_deref(), Some(&1));
        // What is as before is told to who has not been told yet.
        assert_eq!(source.watch(&shared).changed().await.as_deref(), Some(&1));
        assert_eq!(source.readings(), 3);
    }

    #[tokio::test]
    async fn nothing_is_read_once_the_last_watcher_has_left() {
        let (source, shared) = (TestSource::default(), SharedPoller::every(LONG));
        let mut watchers = [source.watch(&shared), source.watch(&shared)];
        for watcher in &mut watchers {
            watcher.changed().await;
        }
        drop(watchers);
        ended(&shared).await;
        let readings = source.readings();
        assert_eq!(source.watch(&shared).changed().await.as_deref(), Some(&0), "it begins again");
        assert_eq!(source.readings(), readings + 1);
    }

    #[tokio::test]
    async fn watchers_are_told_when_the_server_goes_down_or_the_reader_breaks() {
        let (source, shared) = (TestSource::default(), SharedPoller::every(LONG));
        let mut watcher = source.watch(&shared);
        watcher.changed().await;
        source.closing.cancel();
        assert_eq!(watcher.changed().await, None);
        ended(&shared).await;

        let broken = || -> std::future::Ready<Option<usize>> { panic!("it cannot be read") };
        assert_eq!(shared.watch(broken, CancellationToken::new()).changed().await, None);
        ended(&shared).await;
        let source = TestSource::default();
        assert_eq!(source.watch(&shared).changed().await.as_deref(), Some(&0));
    }
}
