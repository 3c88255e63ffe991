//! Polling shared by all watchers of the same value. One task reads it repeatedly while anybody watches, so a hundred
//! watchers cost no more than one.

use std::future::Future;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::{Notify, watch};
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

/// A value that can be watched. Clones share the task that reads it.
pub(super) struct SharedPoller<T> {
    /// None while nobody watches.
    task: Arc<Mutex<Option<Arc<PollTask<T>>>>>,
    pause: Duration,
}

/// Shared by the task and its watchers.
struct PollTask<T> {
    readings: watch::Sender<PollResult<T>>,
    /// How many readings have begun.
    started: AtomicU64,
    /// Ends the pause, because a new watcher waits for a first reading.
    wake: Notify,
}

struct PollResult<T> {
    number: u64,
    /// The same `Arc` while the value does not change; none before the first reading.
    value: Option<Arc<T>>,
}

/// A watcher, until it is dropped.
pub(super) struct Watcher<T> {
    readings: watch::Receiver<PollResult<T>>,
    /// Readings up to this one had begun before the watcher came, so they may miss what it has just changed.
    outdated: u64,
    seen: Option<Arc<T>>,
}

impl<T> Clone for SharedPoller<T> {
    fn clone(&self) -> Self {
        Self { task: Arc::clone(&self.task), pause: self.pause }
    }
}

impl<T: PartialEq + Send + Sync + 'static> SharedPoller<T> {
    /// Pauses this long after each reading.
    pub fn every(pause: Duration) -> Self {
        Self { task: Arc::default(), pause }
    }

    /// The watcher's first value is from a reading that begins from now on, so an admin who has just changed something
    /// sees the change. A reading that fails is repeated after the pause.
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

/// Held by the task while it runs. When the task ends, even by a panic, dropping this closes the channel of its
/// watchers, and the next watcher starts another task.
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

    /// Checks and clears under the lock: otherwise somebody could subscribe in between, to a task that ends.
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
    /// The next value that differs from the last one; none once the task has ended. Cancel-safe.
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

    /// A value, and how often it was read.
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
    async fn many_watchers_share_one_reader() {
        let (source, shared) = (TestSource::default(), SharedPoller::every(Duration::from_millis(1)));
        let mut watchers: Vec<_> = (0..100).map(|_| source.watch(&shared)).collect();
        for watcher in &mut watchers {
            assert_eq!(watcher.changed().await.as_deref(), Some(&0));
        }
        assert!(source.readings() < 20, "a hundred watchers caused {} readings", source.readings());
        source.value.store(7, Ordering::SeqCst);
        for watcher in &mut watchers {
            assert_eq!(watcher.changed().await.as_deref(), Some(&7));
        }
    }

    #[tokio::test]
    async fn a_later_watcher_gets_the_current_value_without_waiting() {
        let (source, shared) = (TestSource::default(), SharedPoller::every(LONG));
        let mut first = source.watch(&shared);
        assert_eq!(first.changed().await.as_deref(), Some(&0));
        source.value.store(1, Ordering::SeqCst);
        let mut second = source.watch(&shared);
        assert_eq!(second.changed().await.as_deref(), Some(&1));
        assert_eq!(first.changed().await.as_deref(), Some(&1));
        // A new watcher gets the value even if it has not changed.
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
    async fn watching_ends_with_the_server_or_when_the_reader_panics() {
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
