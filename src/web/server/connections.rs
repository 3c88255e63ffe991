//! The open connections: how many there may be, and which one makes room for a new one.
//!
//! Connections are cheap to open and each takes a file descriptor, so whoever opens the most of them could keep
//! everybody else out. A network therefore gets only a part of them. Where a limit is reached, the connection that has
//! been idle for the longest time is closed. Whoever sends a request as soon as the connection is open is hardly ever
//! that one; a client that never finishes a header soon is.

use std::collections::{BTreeSet, HashMap};
use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ipnet::IpNet;
use tokio_util::sync::CancellationToken;

use crate::client_network::ClientNetwork;

/// How many connections may be open at the same time.
#[derive(Clone, Debug)]
pub struct ConnectionLimits {
    pub total: usize,
    /// For one IPv4 /24 or IPv6 /48.
    pub per_network: usize,
    /// Proxies, which connect on behalf of many visitors. They are bounded by the total only, as are connections from
    /// this machine.
    pub trusted_proxies: Vec<IpNet>,
}

pub(super) struct Connections {
    limits: ConnectionLimits,
    table: Mutex<ConnectionTable>,
}

/// An open connection. It leaves the table when it is dropped.
pub(super) struct Connection {
    id: u64,
    connections: Arc<Connections>,
    pub activity: Arc<Activity>,
    /// Cancelled when this connection has to make room.
    pub evicted: CancellationToken,
}

/// What a connection is doing, for its socket.
#[derive(Default)]
pub(super) struct Activity {
    requests: AtomicU64,
    is_busy: AtomicBool,
}

/// A request that is being answered. Its connection is idle again when this is dropped.
pub(super) struct ActiveRequest(Arc<Connection>);

#[derive(Default)]
struct ConnectionTable {
    /// Numbers connections, and the moments at which they became idle.
    sequence: u64,
    open: HashMap<u64, ConnectionEntry>,
    open_by_network: HashMap<ClientNetwork, usize>,
    /// The moment at which each idle connection became idle, and its id.
    idle: BTreeSet<(u64, u64)>,
    idle_by_network: BTreeSet<(ClientNetwork, u64, u64)>,
}

struct ConnectionEntry {
    /// None if its number is not bounded.
    network: Option<ClientNetwork>,
    idle_since: Option<u64>,
    evicted: CancellationToken,
}

impl Connections {
    pub fn new(limits: ConnectionLimits) -> Arc<Self> {
        Arc::new(Self { limits, table: Mutex::default() })
    }

    /// Admits a connection, and closes another if it has to make room. None if there are too many and none is idle.
    pub fn admit(self: &Arc<Self>, peer: IpAddr) -> Option<Connection> {
        let network = self.is_bounded(peer).then(|| ClientNetwork::site(peer));
        let mut table = self.table();
        if let Some(network) = network
            && table.open_by_network.get(&network).is_some_and(|open| *open >= self.limits.per_network)
        {
            let oldest = table.oldest_idle_of(network)?;
            table.evict(oldest);
        }
        if table.open.len() >= self.limits.total {
            let oldest = table.oldest_idle()?;
            table.evict(oldest);
        }
        let evicted = CancellationToken::new();
        let id = table.insert(network, evicted.clone());
        Some(Connection { id, connections: Arc::clone(self), activity: Arc::default(), evicted })
    }

    /// Closes the connection that has been idle for the longest time.
    pub fn evict_oldest_idle(&self) {
        let mut table = self.table();
        if let Some(oldest) = table.oldest_idle() {
            table.evict(oldest);
        }
    }

    fn is_bounded(&self, peer: IpAddr) -> bool {
        let peer = peer.to_canonical();
        !peer.is_loopback() && !self.limits.trusted_proxies.iter().any(|proxy| proxy.contains(&peer))
    }

    fn table(&self) -> MutexGuard<'_, ConnectionTable> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Connection {
    pub fn begin_request(self: &Arc<Self>) -> ActiveRequest {
        self.connections.table().set_idle(self.id, false);
        self.activity.requests.fetch_add(1, Ordering::Relaxed);
        self.activity.is_busy.store(true, Ordering::Relaxed);
        ActiveRequest(Arc::clone(self))
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.connections.table().remove(self.id);
    }
}

impl Drop for ActiveRequest {
    fn drop(&mut self) {
        self.0.activity.is_busy.store(false, Ordering::Relaxed);
        self.0.connections.table().set_idle(self.0.id, true);
    }
}

impl Activity {
    /// How many requests have begun so far.
    pub fn requests(&self) -> u64 {
        self.requests.load(Ordering::Relaxed)
    }

    pub fn is_busy(&self) -> bool {
        self.is_busy.load(Ordering::Relaxed)
    }
}

impl ConnectionTable {
    fn next(&mut self) -> u64 {
        self.sequence += 1;
        self.sequence
    }

    fn insert(&mut self, network: Option<ClientNetwork>, evicted: CancellationToken) -> u64 {
        let id = self.next();
        self.open.insert(id, ConnectionEntry { network, idle_since: None, evicted });
        if let Some(network) = network {
            *self.open_by_network.entry(network).or_default() += 1;
        }
        self.set_idle(id, true);
        id
    }

    fn set_idle(&mut self, id: u64, is_idle: bool) {
        let now = self.next();
        // One that had to make room has left the table already.
        let Some(entry) = self.open.get_mut(&id) else { return };
        let network = entry.network;
        if let Some(since) = entry.idle_since.take() {
            self.idle.remove(&(since, id));
            if let Some(network) = network {
                self.idle_by_network.remove(&(network, since, id));
            }
        }
        if is_idle {
            entry.idle_since = Some(now);
            self.idle.insert((now, id));
            if let Some(network) = network {
                self.idle_by_network.insert((network, now, id));
            }
        }
    }

    fn oldest_idle(&self) -> Option<u64> {
        self.idle.first().map(|(_, id)| *id)
    }

    fn oldest_idle_of(&self, network: ClientNetwork) -> Option<u64> {
        let (first, last) = ((network, 0, 0), (network, u64::MAX, u64::MAX));
        self.idle_by_network.range(first..=last).next().map(|(_, _, id)| *id)
    }

    /// Its task closes the connection a moment later, but it no longer counts.
    fn evict(&mut self, id: u64) {
        if let Some(entry) = self.remove(id) {
            entry.evicted.cancel();
        }
    }

    fn remove(&mut self, id: u64) -> Option<ConnectionEntry> {
        self.set_idle(id, false);
        let entry = self.open.remove(&id)?;
        if let Some(network) = entry.network
            && let Some(open) = self.open_by_network.get_mut(&network)
        {
            *open -= 1;
            if *open == 0 {
                self.open_by_network.remove(&network);
            }
        }
        Some(entry)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn connections(total: usize, per_network: usize) -> Arc<Connections> {
        let trusted_proxies = vec!["10.0.0.0/8".parse().unwrap()];
        Connections::new(ConnectionLimits { total, per_network, trusted_proxies })
    }

    fn admit(connections: &Arc<Connections>, peer: &str) -> Option<Arc<Connection>> {
        connections.admit(peer.parse().unwrap()).map(Arc::new)
    }

    /// Which of them were closed.
    fn evicted(connections: &[&Arc<Connection>]) -> Vec<bool> {
        connections.iter().map(|connection| connection.evicted.is_cancelled()).collect()
    }

    #[test]
    fn the_connection_that_is_idle_for_the_longest_time_makes_room() {
        let all = connections(3, 3);
        let [a, b, c] = ["192.0.2.1", "198.51.100.1", "203.0.113.1"].map(|peer| admit(&all, peer).unwrap());
        // The first is busy, and the second has been since.
        let _active = a.begin_request();
        drop(b.begin_request());
        let d = admit(&all, "192.0.2.2").unwrap();
        assert_eq!(evicted(&[&a, &b, &c, &d]), [false, false, true, false]);
        let _e = admit(&all, "192.0.2.2").unwrap();
        assert_eq!(evicted(&[&a, &b, &c, &d]), [false, true, true, false]);
    }

    #[test]
    fn where_none_is_idle_a_newcomer_is_refused_until_one_ends() {
        let all = connections(2, 2);
        let [a, b] = ["192.0.2.1", "198.51.100.1"].map(|peer| admit(&all, peer).unwrap());
        let active = [a.begin_request(), b.begin_request()];
        assert!(admit(&all, "203.0.113.1").is_none());
        drop(active);
        drop(a);
        assert!(admit(&all, "203.0.113.1").is_some());
        assert!(!b.evicted.is_cancelled());
    }

    #[test]
    fn a_network_has_a_share_and_makes_room_for_itself() {
        let all = connections(100, 2);
        let other = admit(&all, "203.0.113.1").unwrap();
        for (first, second, third) in [
            ("192.0.2.1", "192.0.2.2", "192.0.2.3"),
            ("2001:db8:1:1::1", "2001:db8:1:2::1", "2001:db8:1:3::1"),
        ] {
            let [a, b] = [first, second].map(|peer| admit(&all, peer).unwrap());
            let c = admit(&all, third).unwrap();
            assert_eq!(evicted(&[&other, &a, &b, &c]), [false, true, false, false], "{third}");
            let _active = [b.begin_request(), c.begin_request()];
            assert!(admit(&all, third).is_none(), "{third}");
        }
        assert!(admit(&all, "203.0.113.1").is_some());
    }

    #[test]
    fn this_machine_and_trusted_proxies_are_bounded_by_the_total_only() {
        for peer in ["127.0.0.1", "::1", "::ffff:127.0.0.1", "10.1.2.3", "::ffff:10.1.2.3"] {
            let all = connections(8, 2);
            let open: Vec<_> = (0..8).map(|_| admit(&all, peer).unwrap()).collect();
            assert!(open.iter().all(|connection| !connection.evicted.is_cancelled()), "{peer}");
            admit(&all, peer).unwrap();
            assert!(open[0].evicted.is_cancelled(), "{peer}");
        }
    }

    #[test]
    fn whoever_leaves_is_forgotten() {
        let all = connections(8, 2);
        let open: Vec<_> = (0..8).map(|n| admit(&all, &format!("192.0.{n}.1")).unwrap()).collect();
        let active: Vec<_> = open.iter().take(4).map(Connection::begin_request).collect();
        drop((active, open));
        let table = all.table();
        let left =
            (table.open.len(), table.open_by_network.len(), table.idle.len(), table.idle_by_network.len());
        assert_eq!(left, (0, 0, 0, 0));
    }
}
