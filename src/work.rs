//! CPU-heavy work, and a budget for the memory of large bodies.
//!
//! Checking, drawing and compressing take up to seconds of a core, and any visitor can request them. So they run off
//! the async threads, about as many at once as there are cores, each for a [`WorkClient`].
//!
//! - Clients take turns. A client is the network of a visitor (an IPv4 /24 or an IPv6 /48) and has a queue of its own, so
//!   400 requests of one client delay another client by one piece of work per core, and not by 400.
//! - Voters come first, then other visitors, then background work. A lower priority that waits still gets every ninth
//!   turn, so that it never starves. Pieces can be long and cannot be interrupted: so one slot is never given to
//!   background work, and one slot more than there are cores is given to voters alone.
//! - Queues are bounded. A client with too many waiting pieces is refused, and others are not. If too many pieces wait
//!   in all, the client with the longest queue loses its newest piece. The server's own work has at most one piece
//!   waiting at a time and is never refused.
//! - A caller that is dropped leaves the queue immediately. A piece that has begun keeps its slot until it ends, even
//!   if nobody waits for the result any more.

mod memory;
mod queue;

pub use self::memory::{FREE_BYTES, MemoryBudget, MemoryError, MemoryReservation};

use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

use tokio::sync::oneshot;
use tracing::Span;

use self::queue::{QueueHandle, WorkQueue};
use crate::client_network::ClientNetwork;

/// Runs CPU-heavy closures off the async threads, about as many at once as there are cores. Cheap to clone.
#[derive(Clone)]
pub struct WorkPool {
    queue: Arc<Mutex<WorkQueue<oneshot::Sender<WorkSlot>>>>,
}

/// The client of a piece of work, which decides when its turn comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct WorkClient {
    priority: Priority,
    /// None for the server's own work.
    network: Option<ClientNetwork>,
}

/// The priority of a piece of work, the highest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Priority {
    Voter,
    Visitor,
    Background,
}

impl Priority {
    const ALL: [Self; 3] = [Self::Voter, Self::Visitor, Self::Background];
}

impl WorkClient {
    /// Work that no visitor waits for.
    pub const BACKGROUND: Self = Self { priority: Priority::Background, network: None };

    /// Work that every page needs, done once after a start.
    pub const EVERYBODY: Self = Self { priority: Priority::Voter, network: None };

    /// A voter with an open matchup, for the builds of this matchup.
    pub fn voter(address: IpAddr) -> Self {
        Self { priority: Priority::Voter, network: Some(ClientNetwork::site(address)) }
    }

    /// A visitor who waits for anything else.
    pub fn visitor(address: IpAddr) -> Self {
        Self { priority: Priority::Visitor, network: Some(ClientNetwork::site(address)) }
    }

    /// Whether this client waits for the builds of a matchup.
    pub fn is_voter(self) -> bool {
        self.priority == Priority::Voter
    }

    fn is_bounded(self) -> bool {
        self.network.is_some()
    }
}

/// The reason why a piece of work was not done.
#[derive(Debug, thiserror::Error)]
pub enum WorkError {
    #[error("too much work is queued")]
    Busy,
    #[error("this client has too much work queued")]
    ClientQueueFull,
    /// The work panicked, or the runtime is shutting down.
    #[error("the work did not finish")]
    Unfinished(#[source] tokio::task::JoinError),
}

impl WorkPool {
    /// A pool with one slot per core.
    pub fn per_core() -> Self {
        Self::new(thread::available_parallelism().map_or(1, usize::from))
    }

    pub fn new(slots: usize) -> Self {
        Self { queue: Arc::new(Mutex::new(WorkQueue::new(slots))) }
    }

    /// The number of pieces that are running.
    pub fn running(&self) -> usize {
        self.queue().running()
    }

    /// The number of pieces that wait for their turn.
    pub fn waiting(&self) -> usize {
        self.queue().waiting()
    }

    /// Runs a closure when it is this client's turn.
    ///
    /// # Errors
    /// If too much is queued, or if the closure panicked.
    pub async fn run<T, F>(&self, client: WorkClient, heavy: F) -> Result<T, WorkError>
    where
        T: Send + 'static,
        F: FnOnce() -> T + Send + 'static,
    {
        let slot = self.slot(client).await?;
        let span = Span::current();
        let task = tokio::task::spawn_blocking(move || {
            // The slot is kept until the closure ends, even if the caller was dropped.
            let _slot = slot;
            span.in_scope(heavy)
        });
        task.await.map_err(WorkError::Unfinished)
    }

    async fn slot(&self, client: WorkClient) -> Result<WorkSlot, WorkError> {
        let (sender, receiver) = oneshot::channel();
        let (handle, evicted) = self.queue().enter(client, sender)?;
        drop(evicted);
        let mut waiting = QueuedWork { work: self.clone(), handle, receiver };
        self.assign_slots();
        // The sender was dropped without a slot, because this piece had to make room for another client's.
        (&mut waiting.receiver).await.map_err(|_| WorkError::Busy)
    }

    /// Gives free slots to the pieces whose turn it is.
    fn assign_slots(&self) {
        loop {
            // The guard ends with this statement: dropping a slot locks the queue again, which would deadlock.
            let Some((priority, sender)) = self.queue().next() else { return };
            // If the receiver is gone, the slot comes back, and dropping it gives it to the next piece.
            drop(sender.send(WorkSlot { work: self.clone(), priority }));
        }
    }

    fn queue(&self) -> MutexGuard<'_, WorkQueue<oneshot::Sender<WorkSlot>>> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A slot, held by a piece of work until it ends.
struct WorkSlot {
    work: WorkPool,
    priority: Priority,
}

impl Drop for WorkSlot {
    fn drop(&mut self) {
        self.work.queue().free(self.priority);
        self.work.assign_slots();
    }
}

/// A caller that waits for a slot. When it is dropped, it leaves the queue; a slot that has already arrived is dropped
/// with the receiver, which gives it back.
struct QueuedWork {
    work: WorkPool,
    handle: QueueHandle,
    receiver: oneshot::Receiver<WorkSlot>,
}

impl Drop for QueuedWork {
    fn drop(&mut self) {
        let left = self.work.queue().leave(self.handle);
        drop(left);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::sync::{Barrier, LazyLock, mpsc};

    use tokio::task::JoinHandle;

    use super::*;

    fn visitor(last: u8) -> WorkClient {
        WorkClient::visitor(IpAddr::from([192, 0, last, 2]))
    }

    /// Takes a slot, and keeps it until the sender is dropped.
    async fn occupied(work: &WorkPool) -> mpsc::Sender<()> {
        occupied_by(work, visitor(255)).await
    }

    async fn occupied_by(work: &WorkPool, client: WorkClient) -> mpsc::Sender<()> {
        let (keep, kept) = mpsc::channel::<()>();
        let (begin, begun) = oneshot::channel();
        let work = work.clone();
        tokio::spawn(async move {
            let piece = move || {
                begin.send(()).unwrap();
                let _ = kept.recv();
            };
            work.run(client, piece).await
        });
        begun.await.unwrap();
        keep
    }

    /// Has a piece wait that notes its number.
    async fn waits(
        work: &WorkPool,
        client: WorkClient,
        number: u32,
        done: &mpsc::Sender<u32>,
    ) -> JoinHandle<Result<(), WorkError>> {
        let before = work.waiting();
        let (done, its) = (done.clone(), work.clone());
        let task = tokio::spawn(async move { its.run(client, move || done.send(number).unwrap()).await });
        while work.waiting() == before {
            tokio::task::yield_now().await;
        }
        task
    }

    #[tokio::test]
    async fn no_more_closures_run_at_once_than_there_are_slots() {
        static NOW: AtomicUsize = AtomicUsize::new(0);
        static MOST: AtomicUsize = AtomicUsize::new(0);
        // Nobody goes on before two have met.
        static MEETING: LazyLock<Barrier> = LazyLock::new(|| Barrier::new(2));
        let work = WorkPool::new(2);

        let tasks: Vec<_> = (0..8)
            .map(|_| {
                let work = work.clone();
                tokio::spawn(async move {
                    work.run(visitor(1), || {
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
        assert_eq!((work.running(), work.waiting()), (0, 0));
    }

    #[tokio::test]
    async fn a_panic_is_an_error_and_gives_its_slot_back() {
        let work = WorkPool::new(1);

        let lost = work.run(visitor(1), || panic!("the crane fell over")).await;

        assert!(lost.is_err());
        assert_eq!(work.run(visitor(1), || 7).await.unwrap(), 7);
    }

    #[tokio::test]
    async fn those_who_wait_are_served_in_turns_and_voters_first() {
        let work = WorkPool::new(1);
        let busy = occupied(&work).await;
        let _slot_of_voters = occupied_by(&work, WorkClient::voter(IpAddr::from([192, 0, 255, 2]))).await;
        let (done, order) = mpsc::channel();
        let voter = WorkClient::voter(IpAddr::from([192, 0, 1, 2]));
        let mut tasks = Vec::new();
        for (client, number) in [
            (WorkClient::BACKGROUND, 5),
            (visitor(1), 1),
            (visitor(1), 3),
            (visitor(1), 4),
            (visitor(2), 2),
            (voter, 0),
        ] {
            tasks.push(waits(&work, client, number, &done).await);
        }
        drop((busy, done));
        for task in tasks {
            task.await.unwrap().unwrap();
        }
        assert_eq!(order.iter().collect::<Vec<_>>(), [0, 1, 2, 3, 4, 5]);
    }

    #[tokio::test]
    async fn whoever_stops_waiting_leaves_at_once_and_gives_back_nothing_it_does_not_hold() {
        let work = WorkPool::new(1);
        let busy = occupied(&work).await;
        let (done, order) = mpsc::channel();
        let leaves = waits(&work, visitor(1), 0, &done).await;
        let stays = waits(&work, visitor(1), 1, &done).await;

        leaves.abort();
        assert!(leaves.await.unwrap_err().is_cancelled());
        assert_eq!((work.running(), work.waiting()), (1, 1));

        drop((busy, done));
        stays.await.unwrap().unwrap();
        assert_eq!(order.iter().collect::<Vec<_>>(), [1]);
        assert_eq!((work.running(), work.waiting()), (0, 0));
    }

    #[tokio::test]
    async fn a_slot_that_is_handed_out_to_somebody_who_leaves_goes_to_the_next() {
        let work = WorkPool::new(1);
        let busy = occupied(&work).await;
        let mut leaves = Box::pin(work.run(visitor(1), || 0));
        assert!(futures_util::poll!(&mut leaves).is_pending());
        drop(busy);
        // Its slot arrives, and nobody takes it.
        while work.waiting() > 0 {
            tokio::task::yield_now().await;
        }
        drop(leaves);
        assert_eq!(work.run(visitor(2), || 7).await.unwrap(), 7);
        assert_eq!((work.running(), work.waiting()), (0, 0));
    }

    #[tokio::test]
    async fn a_slot_is_taken_until_the_work_ends_even_if_nobody_waits_for_it() {
        let work = WorkPool::new(1);
        let (keep, kept) = mpsc::channel::<()>();
        let (begin, begun) = oneshot::channel();
        let abandoned = tokio::spawn({
            let work = work.clone();
            let piece = move || {
                begin.send(()).unwrap();
                let _ = kept.recv();
            };
            async move { work.run(visitor(1), piece).await }
        });
        begun.await.unwrap();
        abandoned.abort();
        assert!(abandoned.await.unwrap_err().is_cancelled());
        assert_eq!(work.running(), 1);

        let (done, order) = mpsc::channel();
        let next = waits(&work, visitor(2), 1, &done).await;
        assert!(order.try_recv().is_err());
        drop(keep);
        next.await.unwrap().unwrap();
        assert_eq!(order.recv().unwrap(), 1);
    }

    #[tokio::test]
    async fn a_client_with_too_much_waiting_is_refused_alone() {
        let work = WorkPool::new(1);
        let busy = occupied(&work).await;
        let (done, order) = mpsc::channel();
        let mut tasks = Vec::new();
        for number in 0..queue::MAX_WAITING_PER_CLIENT as u32 {
            tasks.push(waits(&work, visitor(1), number, &done).await);
        }
        assert!(matches!(work.run(visitor(1), || ()).await, Err(WorkError::ClientQueueFull)));
        tasks.push(waits(&work, visitor(2), 1000, &done).await);
        drop((busy, done));
        for task in tasks {
            task.await.unwrap().unwrap();
        }
        assert_eq!(order.iter().position(|number| number == 1000), Some(1));
    }

    #[test]
    fn neighbours_in_a_network_share_a_queue() {
        for pair in [["2001:db8:1:2::5", "2001:db8:1:ffff:3:4:5:6"], ["192.0.2.1", "192.0.2.255"]] {
            let [one, other] = pair.map(|text| text.parse().unwrap());
            assert_eq!(WorkClient::visitor(one), WorkClient::visitor(other));
            assert_ne!(WorkClient::visitor(one), WorkClient::voter(one));
        }
    }
}
