//! How often a secret can be guessed.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::client_network::ClientNetwork;

/// How far ahead of its time a network may be, as each wrong guess puts it ahead by one of the costs below.
const MAX_AHEAD: Duration = Duration::from_secs(30);

/// What a wrong guess costs an IPv4 /24 or an IPv6 /64: 20 at once, then 40 a minute.
const SUBNET_COST: Duration = Duration::from_millis(1500);

/// What it costs an IPv6 /48, where several people may be: four times as many.
const SITE_COST: Duration = Duration::from_millis(375);

/// More networks than this are refused until some of them have recovered, so that memory does not grow.
const MAX_NETWORKS: usize = 100_000;

/// Counts wrong guesses of a secret by network.
///
/// A guess is counted before it is looked at, so any number of them at once reveals no more than the limit allows, and
/// a network that has used up its guesses learns nothing, not even from the right one. A right one costs nothing.
#[derive(Default)]
pub(super) struct GuessLimiter {
    /// When each network will have recovered.
    networks: Mutex<HashMap<ClientNetwork, Instant>>,
}

impl GuessLimiter {
    /// Whether the guess is right.
    ///
    /// # Errors
    /// The time to wait, if there were too many wrong ones. The guess was not looked at then.
    pub fn guess(&self, address: IpAddr, is_right: impl FnOnce() -> bool) -> Result<bool, Duration> {
        self.guess_at(Instant::now(), address, is_right)
    }

    fn guess_at(
        &self,
        now: Instant,
        address: IpAddr,
        is_right: impl FnOnce() -> bool,
    ) -> Result<bool, Duration> {
        self.charge(now, address)?;
        let is_right = is_right();
        if is_right {
            self.refund(now, address);
        }
        Ok(is_right)
    }

    fn charge(&self, now: Instant, address: IpAddr) -> Result<(), Duration> {
        let mut networks = self.networks();
        if networks.len() >= MAX_NETWORKS {
            networks.retain(|_, recovered| *recovered > now);
        }
        let mut charged = Vec::with_capacity(2);
        for (network, cost) in costs(address) {
            let recovered = match networks.get(&network) {
                Some(recovered) => *recovered.max(&now) + cost,
                None if networks.len() >= MAX_NETWORKS => return Err(MAX_AHEAD),
                None => now + cost,
            };
            if let Some(wait) =
                recovered.checked_duration_since(now + MAX_AHEAD).filter(|wait| !wait.is_zero())
            {
                return Err(wait);
            }
            charged.push((network, recovered));
        }
        networks.extend(charged);
        Ok(())
    }

    fn refund(&self, now: Instant, address: IpAddr) {
        let mut networks = self.networks();
        for (network, cost) in costs(address) {
            let left = networks.get(&network).and_then(|recovered| recovered.checked_sub(cost));
            match left.filter(|recovered| *recovered > now) {
                Some(recovered) => networks.insert(network, recovered),
                None => networks.remove(&network),
            };
        }
    }

    pub fn drop_idle(&self) {
        let now = Instant::now();
        self.networks().retain(|_, recovered| *recovered > now);
    }

    fn networks(&self) -> MutexGuard<'_, HashMap<ClientNetwork, Instant>> {
        self.networks.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn costs(address: IpAddr) -> impl Iterator<Item = (ClientNetwork, Duration)> {
    ClientNetwork::all(address).zip([SUBNET_COST, SITE_COST])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wrong_guesses(limiter: &GuessLimiter, now: Instant, address: impl Fn(u32) -> IpAddr) -> u32 {
        let mut guesses = 0;
        while guesses < 2000 && limiter.guess_at(now, address(guesses), || false).is_ok() {
            guesses += 1;
        }
        guesses
    }

    fn v4(last: u32) -> IpAddr {
        IpAddr::from([192, 0, 2, last as u8])
    }

    fn v6(subnet: u32, host: u32) -> IpAddr {
        IpAddr::from([0x2001, 0xdb8, 1, subnet as u16, 0, 0, 0, host as u16])
    }

    #[test]
    fn a_network_has_its_guesses_whatever_its_addresses_and_recovers() {
        let (limiter, now) = (GuessLimiter::default(), Instant::now());
        assert_eq!(wrong_guesses(&limiter, now, v4), 20);
        assert_eq!(wrong_guesses(&limiter, now, |host| v6(1, host)), 20);
        assert_eq!(wrong_guesses(&limiter, now, |subnet| v6(subnet + 2, 1)), 60, "the /48 has 80 in all");
        assert_eq!(limiter.guess_at(now, v4(1), || true), Err(SUBNET_COST));
        assert_eq!(wrong_guesses(&limiter, now + Duration::from_secs(3), v4), 2);
        assert_eq!(wrong_guesses(&limiter, now + Duration::from_secs(60), v4), 20);
    }

    #[test]
    fn a_limited_network_is_not_looked_at_and_others_are() {
        let (limiter, now) = (GuessLimiter::default(), Instant::now());
        wrong_guesses(&limiter, now, v4);
        let refused = limiter.guess_at(now, v4(7), || panic!("a limited guess must not be looked at"));
        assert_eq!(refused, Err(SUBNET_COST));
        assert_eq!(limiter.guess_at(now, IpAddr::from([192, 0, 3, 7]), || true), Ok(true));
    }

    #[test]
    fn right_ones_cost_nothing_and_do_not_forgive_wrong_ones() {
        let (limiter, now) = (GuessLimiter::default(), Instant::now());
        for _ in 0..19 {
            assert_eq!(limiter.guess_at(now, v4(1), || false), Ok(false));
        }
        for _ in 0..1000 {
            assert_eq!(limiter.guess_at(now, v4(1), || true), Ok(true));
        }
        assert_eq!(wrong_guesses(&limiter, now, v4), 1);
        limiter.guess_at(now, v6(1, 1), || true).unwrap();
        assert_eq!(limiter.networks().len(), 1, "a network without wrong guesses is not kept");
    }

    #[test]
    fn memory_for_networks_is_bounded() {
        let (limiter, now) = (GuessLimiter::default(), Instant::now());
        let network = |n: u32| IpAddr::from((n << 8).to_be_bytes());
        for n in 0..MAX_NETWORKS as u32 {
            limiter.guess_at(now, network(n), || false).unwrap();
        }
        let one_more = network(MAX_NETWORKS as u32);
        assert_eq!(limiter.guess_at(now, one_more, || false), Err(MAX_AHEAD));
        assert_eq!(limiter.guess_at(now, network(0), || false), Ok(false));
        assert_eq!(limiter.guess_at(now + 2 * SUBNET_COST, one_more, || false), Ok(false));
    }
}
