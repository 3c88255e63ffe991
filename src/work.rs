//! Heavy work: a gate in front of the cores, and a measure for the memory that large bodies take.

use std::sync::Arc;
use std::thread;
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;
use tracing::Span;

/// Pieces of heavy work that may wait; more would wait longer than anybody does.
const QUEUE: usize = 256;

/// Runs CPU-heavy closures off the async threads, no more at once than there are cores, so that a burst of
/// big inputs queues instead of starving every other request.
#[derive(Clone)]
pub struct Work {
    permits: usize,
    gate: Arc<Semaphore>,
    queue: Arc<Semaphore>,
}

/// Why a piece of heavy work was not done.
#[derive(Debug, thiserror::Error)]
pub enum WorkLost {
    #[error("too much heavy work is waiting already")]
    Busy,
    /// It panicked, or the runtime is going down.
    #[error("a piece of heavy work did not finish")]
    Unfinished(#[source] Option<tokio::task::JoinError>),
}

impl Work {
    /// As wide as there are cores.
    pub fn of_this_machine() -> Self {
        Self::new(thread::available_parallelism().map_or(1, usize::from))
    }

    pub fn new(permits: usize) -> Self {
        Self { permits, gate: Arc::new(Semaphore::new(permits)), queue: Arc::new(Semaphore::new(QUEUE)) }
    }

    /// Pieces that are being worked on.
    pub fn running(&self) -> usize {
        self.permits - self.gate.available_permits()
    }

    /// Pieces that wait for their turn.
    pub fn waiting(&self) -> usize {
        QUEUE - self.queue.available_permits()
    }

    pub async fn run<T, F>(&self, heavy: F) -> Result<T, WorkLost>
    where
        T: Send + 'static,
        F: FnOnce() -> T + Send + 'static,
    {
        let place = Arc::clone(&self.queue).try_acquire_owned().map_err(|_| WorkLost::Busy)?;
        let permit = self.permit().await?;
        drop(place);
        Self::work(permit, heavy).await
    }

    /// The same for what nobody can ask again: it waits as long as it takes.
    pub async fn run_in_turn<T, F>(&self, heavy: F) -> Result<T, WorkLost>
    where
        T: Send + 'static,
        F: FnOnce() -> T + Send + 'static,
    {
        Self::work(self.permit().await?, heavy).await
    }

    async fn permit(&self) -> Result<OwnedSemaphorePermit, WorkLost> {
        Arc::clone(&self.gate).acquire_owned().await.map_err(|_| WorkLost::Unfinished(None))
    }

    async fn work<T, F>(permit: OwnedSemaphorePermit, heavy: F) -> Result<T, WorkLost>
    where
        T: Send + 'static,
        F: FnOnce() -> T + Send + 'static,
    {
        let span = Span::current();
        let task = tokio::task::spawn_blocking(move || {
            // Kept until the closure ends, even when whoever asked has gone away.
            let _permit = permit;
            span.in_scope(heavy)
        });
        task.await.map_err(|lost| WorkLost::Unfinished(Some(lost)))
    }
}

/// The memory that large bodies may take together, while they are read and worked on.
#[derive(Clone)]
pub struct Memory {
    bytes: usize,
    kibibytes: Arc<Semaphore>,
}

impl Memory {
    pub fn new(bytes: usize) -> Self {
        Self { bytes, kibibytes: Arc::new(Semaphore::new(bytes >> 10)) }
    }

    /// Bytes that are taken.
    pub fn taken(&self) -> usize {
        self.bytes.saturating_sub(self.kibibytes.available_permits() << 10)
    }

    /// A share of the memory, given back when dropped; none if none is free in time.
    pub async fn share(&self, bytes: usize, patience: Duration) -> Option<OwnedSemaphorePermit> {
        let wanted = u32::try_from(bytes.div_ceil(1 << 10)).ok()?;
        let share = Arc::clone(&self.kibibytes).acquire_many_owned(wanted);
        timeout(patience, share).await.ok()?.ok()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::sync::{Barrier, LazyLock};

    use super::*;

    #[tokio::test]
    async fn no_more_closures_run_at_once_than_there_are_permits() {
        static NOW: AtomicUsize = AtomicUsize::new(0);
        static MOST: AtomicUsize = AtomicUsize::new(0);
        // Nobody goes on before two have met.
        static MEETING: LazyLock<Barrier> = LazyLock::new(|| Barrier::new(2));
        let work = Work::new(2);

        let tasks: Vec<_> = (0..8)
            .map(|_| {
                let work = work.clone();
                tokio::spawn(async move {
                    work.run(|| {
                        MOST.fetch_max(NOW.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                        MEETING.wait();
                        NOW.fetch_sub(1, Ordering::SeqCst);
                    })
                    .await
                })
            })
            .collect();
        for task in tasks {
            task.await.unwrap().unwrap();
        }

        assert_eq!(MOST.load(Ordering::SeqCst), 2);
    }

    #[tokio::test]
    async fn a_panic_is_an_error_and_gives_its_permit_back() {
        let work = Work::new(1);

        let lost = work.run(|| panic!("the crane fell over")).await;

        assert!(lost.is_err());
        assert_eq!(work.run(|| 7).await.unwrap(), 7);
    }
}
