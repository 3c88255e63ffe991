//! A budget for the memory of large bodies.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::timeout;

use super::WorkClient;
use crate::client_network::ClientNetwork;

/// Bodies up to this size are not counted, so that they never wait for memory that large ones hold. How many there can
/// be is bounded by the number of connections.
pub const FREE_BYTES: usize = 1 << 14;

/// The part of the budget that one network may have.
const NETWORK_SHARE: usize = 8;

/// Bodies of one network that may wait for memory.
const MAX_WAITING_PER_NETWORK: usize = 16;

/// The memory that large bodies may take together while they are read, processed and sent. Clones share it.
///
/// A network may have an eighth of it. Only one body may be larger than that at a time, and no larger than half of the
/// budget, so that something is left for everybody else whatever one network does.
#[derive(Clone)]
pub struct MemoryBudget(Arc<SharedBudget>);

struct SharedBudget {
    bytes: usize,
    held: Mutex<HeldMemory>,
    freed: Notify,
}

#[derive(Default)]
struct HeldMemory {
    total: usize,
    by_network: HashMap<ClientNetwork, NetworkMemory>,
}

#[derive(Default)]
struct NetworkMemory {
    bytes: usize,
    waiting: usize,
}

/// The memory of one body. It is free again when this is dropped.
pub struct MemoryReservation {
    budget: MemoryBudget,
    network: Option<ClientNetwork>,
    bytes: usize,
}

/// The reason why there is no memory for a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MemoryError {
    #[error("too much memory is in use")]
    Busy,
    #[error("the body is larger than a visitor may have")]
    TooLarge,
}

impl MemoryBudget {
    pub fn new(bytes: usize) -> Self {
        Self(Arc::new(SharedBudget { bytes, held: Mutex::default(), freed: Notify::new() }))
    }

    /// The number of reserved bytes.
    pub fn reserved(&self) -> usize {
        self.held().total
    }

    /// The most bytes that a body of a visitor may have.
    pub fn max_bytes(&self) -> usize {
        self.0.bytes / 2
    }

    /// An empty reservation, for a body from or for this client.
    pub fn of_client(&self, client: WorkClient) -> MemoryReservation {
        MemoryReservation { budget: self.clone(), network: client.network, bytes: 0 }
    }

    /// An empty reservation for an admin, bounded by the whole budget.
    pub fn of_admin(&self) -> MemoryReservation {
        MemoryReservation { budget: self.clone(), network: None, bytes: 0 }
    }

    fn held(&self) -> MutexGuard<'_, HeldMemory> {
        self.0.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl MemoryReservation {
    /// Reserves memory for a body of this size, beside what is reserved for it already, and waits until it is free.
    ///
    /// # Errors
    /// If not enough is free within this time, or if too many bodies of the same network wait already.
    pub async fn grow(&mut self, bytes: usize, max_wait: Duration) -> Result<(), MemoryError> {
        match self.resize(bytes.max(self.bytes)) {
            Err(MemoryError::Busy) => {}
            done => return done,
        }
        let _waiting = WaitingBody::enter(&self.budget, self.network)?;
        let budget = self.budget.clone();
        let granted = async {
            loop {
                let freed = budget.0.freed.notified();
                tokio::pin!(freed);
                // Registered before the next look, so that nothing is missed in between.
                freed.as_mut().enable();
                match self.resize(bytes) {
                    Err(MemoryError::Busy) => freed.await,
                    done => return done,
                }
            }
        };
        timeout(max_wait, granted).await.unwrap_or(Err(MemoryError::Busy))
    }

    /// Reserves memory for a body of exactly this size, without waiting. Less memory than before is always granted.
    ///
    /// # Errors
    /// If not enough is free. What is reserved already stays so.
    pub fn resize(&mut self, bytes: usize) -> Result<(), MemoryError> {
        let bytes = if bytes > FREE_BYTES { bytes } else { 0 };
        let mut held = self.budget.held();
        if bytes > self.bytes {
            self.admit(&held, bytes)?;
        }
        held.replace(self.network, self.bytes, bytes);
        drop(held);
        let is_less = bytes < self.bytes;
        self.bytes = bytes;
        if is_less {
            self.budget.0.freed.notify_waiters();
        }
        Ok(())
    }

    fn admit(&self, held: &HeldMemory, bytes: usize) -> Result<(), MemoryError> {
        let budget = self.budget.0.bytes;
        let max = if self.network.is_some() { self.budget.max_bytes() } else { budget };
        if bytes > max {
            return Err(MemoryError::TooLarge);
        }
        let is_free = held.total - self.bytes + bytes <= budget;
        let is_fair = self.network.is_none_or(|network| {
            let share = budget / NETWORK_SHARE;
            let others = held.of(network) - self.bytes;
            let is_within = others + bytes <= share;
            is_within || (others == 0 && !held.has_other_above(share, network))
        });
        if is_free && is_fair { Ok(()) } else { Err(MemoryError::Busy) }
    }
}

impl Drop for MemoryReservation {
    fn drop(&mut self) {
        // Less memory is always granted.
        let _ = self.resize(0);
    }
}

impl HeldMemory {
    fn of(&self, network: ClientNetwork) -> usize {
        self.by_network.get(&network).map_or(0, |held| held.bytes)
    }

    fn has_other_above(&self, share: usize, network: ClientNetwork) -> bool {
        self.by_network.iter().any(|(other, held)| *other != network && held.bytes > share)
    }

    fn replace(&mut self, network: Option<ClientNetwork>, before: usize, after: usize) {
        self.total = self.total - before + after;
        self.update(network, |held| held.bytes = held.bytes - before + after);
    }

    fn update(&mut self, network: Option<ClientNetwork>, change: impl FnOnce(&mut NetworkMemory)) {
        let Some(network) = network else { return };
        let held = self.by_network.entry(network).or_default();
        change(held);
        if held.bytes == 0 && held.waiting == 0 {
            self.by_network.remove(&network);
        }
    }
}

/// A body that waits for memory. It leaves when this is dropped.
struct WaitingBody {
    budget: MemoryBudget,
    network: Option<ClientNetwork>,
}

impl WaitingBody {
    fn enter(budget: &MemoryBudget, network: Option<ClientNetwork>) -> Result<Self, MemoryError> {
        let mut held = budget.held();
        let waiting =
            network.and_then(|network| held.by_network.get(&network)).map_or(0, |held| held.waiting);
        if waiting >= MAX_WAITING_PER_NETWORK {
            return Err(MemoryError::Busy);
        }
        held.update(network, |held| held.waiting += 1);
        Ok(Self { budget: budget.clone(), network })
    }
}

impl Drop for WaitingBody {
    fn drop(&mut self) {
        self.budget.held().update(self.network, |held| held.waiting -= 1);
    }
}

#[cfg(test)]
mod tests {
    use std::net::IpAddr;

    use super::*;

    const MIB: usize = 1 << 20;
    const NOW: Duration = Duration::ZERO;

    /// An empty reservation of a client in a network with this number.
    fn of(budget: &MemoryBudget, network: u8) -> MemoryReservation {
        budget.of_client(WorkClient::visitor(IpAddr::from([192, 0, network, 1])))
    }

    fn reserved(budget: &MemoryBudget, network: u8, bytes: usize) -> Result<MemoryReservation, MemoryError> {
        let mut reservation = of(budget, network);
        reservation.resize(bytes).map(|()| reservation)
    }

    #[test]
    fn a_network_has_an_eighth_and_what_is_small_needs_none() {
        let budget = MemoryBudget::new(80 * MIB);
        let held: Vec<_> = (0..10).map(|_| reserved(&budget, 1, MIB).unwrap()).collect();
        assert_eq!(reserved(&budget, 1, MIB).err(), Some(MemoryError::Busy));
        assert!(reserved(&budget, 1, FREE_BYTES).is_ok());
        assert!(reserved(&budget, 2, 10 * MIB).is_ok(), "others have a share of their own");
        drop(held);
        assert_eq!(budget.reserved(), 0);
        assert!(budget.held().by_network.is_empty());
    }

    #[test]
    fn one_large_body_may_have_more_and_leaves_half_to_others() {
        let budget = MemoryBudget::new(80 * MIB);
        assert_eq!(reserved(&budget, 1, 41 * MIB).err(), Some(MemoryError::TooLarge));
        let large = reserved(&budget, 1, 40 * MIB).unwrap();
        assert_eq!(reserved(&budget, 1, MIB).err(), Some(MemoryError::Busy), "it counts for its network");
        assert_eq!(reserved(&budget, 2, 11 * MIB).err(), Some(MemoryError::Busy), "one at a time");
        let others: Vec<_> = (2..6).map(|network| reserved(&budget, network, 10 * MIB).unwrap()).collect();
        assert_eq!(reserved(&budget, 9, MIB).err(), Some(MemoryError::Busy), "nothing is left");
        drop((large, others));
        let mut import = budget.of_admin();
        assert_eq!(import.resize(80 * MIB), Ok(()));
    }

    #[tokio::test]
    async fn a_body_waits_until_another_leaves() {
        let budget = MemoryBudget::new(80 * MIB);
        let held = reserved(&budget, 1, 10 * MIB).unwrap();
        let mut waits = of(&budget, 1);
        assert_eq!(waits.grow(5 * MIB, NOW).await, Err(MemoryError::Busy));
        let waiting = tokio::spawn(async move { waits.grow(5 * MIB, Duration::from_secs(60)).await });
        while budget.held().by_network.values().all(|held| held.waiting == 0) {
            tokio::task::yield_now().await;
        }
        drop(held);
        assert_eq!(waiting.await.unwrap(), Ok(()));
        assert_eq!(budget.reserved(), 0);
        assert!(budget.held().by_network.is_empty());
    }

    #[tokio::test]
    async fn few_bodies_of_a_network_wait_and_whoever_gives_up_leaves() {
        let budget = MemoryBudget::new(80 * MIB);
        let held = reserved(&budget, 1, 10 * MIB).unwrap();
        let mut waiting: Vec<_> = (0..MAX_WAITING_PER_NETWORK)
            .map(|_| {
                let mut body = of(&budget, 1);
                Box::pin(async move { body.grow(MIB, Duration::from_secs(60)).await })
            })
            .collect();
        for body in &mut waiting {
            assert!(futures_util::poll!(body).is_pending());
        }
        assert_eq!(of(&budget, 1).grow(MIB, Duration::from_secs(60)).await, Err(MemoryError::Busy));
        drop((waiting, held));
        assert!(budget.held().by_network.is_empty());
    }
}
