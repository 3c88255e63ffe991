//! How many runs there are at a time, and which ones wait.

use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::watch;

/// How many runs may wait. More are refused.
const MAX_WAITING: usize = 64;

/// How many runs an address may have, running and waiting together.
const MAX_PER_ADDRESS: usize = 4;

/// All runs, running and waiting. Cheap to clone.
#[derive(Clone)]
pub struct SandboxQueue {
    inner: Arc<QueueInner>,
}

struct QueueInner {
    slots: usize,
    state: Mutex<QueueState>,
    /// Changes whenever a ticket is dropped.
    changes: watch::Sender<u64>,
}

#[derive(Default)]
struct QueueState {
    next: u64,
    /// In the order of arrival. The first `slots` of them run.
    tickets: Vec<(u64, IpAddr)>,
}

/// A place in the queue, which dropping it gives up.
pub struct Ticket {
    number: u64,
    inner: Arc<QueueInner>,
    changes: watch::Receiver<u64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum QueueFull {
    #[error("this address already has several runs under way")]
    PerAddress,
    #[error("too many runs are waiting")]
    Total,
}

impl SandboxQueue {
    pub fn new(slots: usize) -> Self {
        let inner = QueueInner { slots, state: Mutex::default(), changes: watch::Sender::new(0) };
        Self { inner: Arc::new(inner) }
    }

    pub fn join(&self, address: IpAddr) -> Result<Ticket, QueueFull> {
        let mut state = self.inner.state();
        let theirs = state.tickets.iter().filter(|(_, other)| *other == address).count();
        if theirs >= MAX_PER_ADDRESS {
            return Err(QueueFull::PerAddress);
        }
        if state.tickets.len() >= self.inner.slots + MAX_WAITING {
            return Err(QueueFull::Total);
        }
        state.next += 1;
        let number = state.next;
        state.tickets.push((number, address));
        drop(state);
        Ok(Ticket { number, changes: self.inner.changes.subscribe(), inner: Arc::clone(&self.inner) })
    }

    /// How many runs are under way.
    pub fn running(&self) -> usize {
        self.inner.state().tickets.len().min(self.inner.slots)
    }

    /// How many runs have not begun yet.
    pub fn waiting(&self) -> usize {
        self.inner.state().tickets.len().saturating_sub(self.inner.slots)
    }
}

impl Ticket {
    /// This run's place among those that wait, from 1, or none when it may begin.
    pub fn position(&self) -> Option<usize> {
        let state = self.inner.state();
        let place = state.tickets.iter().position(|(number, _)| *number == self.number)?;
        (place + 1).checked_sub(self.inner.slots).filter(|before| *before > 0)
    }

    /// Resolves when another ticket has been dropped.
    pub async fn changed(&mut self) {
        let _ = self.changes.changed().await;
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        self.inner.state().tickets.retain(|(number, _)| *number != self.number);
        self.inner.changes.send_modify(|times| *times += 1);
    }
}

impl QueueInner {
    fn state(&self) -> MutexGuard<'_, QueueState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(last: u8) -> IpAddr {
        IpAddr::from([192, 0, 2, last])
    }

    #[tokio::test]
    async fn later_runs_wait_and_move_up() {
        let queue = SandboxQueue::new(2);
        let first = queue.join(address(1)).unwrap();
        let second = queue.join(address(2)).unwrap();
        let mut third = queue.join(address(3)).unwrap();
        let fourth = queue.join(address(4)).unwrap();
        let places = [&first, &second, &third, &fourth].map(Ticket::position);
        assert_eq!(places, [None, None, Some(1), Some(2)]);
        assert_eq!(queue.running(), 2);
        drop(first);
        third.changed().await;
        assert_eq!((third.position(), fourth.position()), (None, Some(1)));
    }

    #[test]
    fn runs_are_bounded_per_address_and_in_total() {
        let queue = SandboxQueue::new(2);
        let mine: Vec<_> = (0..MAX_PER_ADDRESS).map(|_| queue.join(address(1)).unwrap()).collect();
        assert_eq!(queue.join(address(1)).err(), Some(QueueFull::PerAddress));
        let others: Vec<_> = (0..200).filter_map(|n| queue.join(address(n / 2 + 2)).ok()).collect();
        assert_eq!(mine.len() + others.len(), 2 + MAX_WAITING);
        assert_eq!(queue.join(address(250)).err(), Some(QueueFull::Total));
        drop(others);
        assert!(queue.join(address(250)).is_ok());
    }
}
