//! Rate limits for each voter, for all visitors from one address, and for those from one network.
//!
//! Each server counts by itself, in memory: these limits slow a flood down. What must hold over all servers is in the
//! database's constraints; docs/scale.md lists which is which.

mod guesses;

use std::net::{IpAddr, Ipv6Addr};
use std::num::NonZeroU32;
use std::time::Duration;

use governor::clock::{Clock, DefaultClock};
use governor::{DefaultKeyedRateLimiter, Quota, RateLimiter};

use self::guesses::GuessLimiter;
use crate::arena::Voter;
use crate::client_network::ClientNetwork;

const MINUTE: Duration = Duration::from_secs(60);

/// How many times the limit of an address its network has: an IPv4 /24 or an IPv6 /48.
const ADDRESSES_PER_NETWORK: u32 = 4;

/// An action with a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LimitedAction {
    /// To become a voter.
    Visit,
    Matchup,
    /// To get the next matchup without a vote.
    Skip,
    Vote,
    /// To answer the check that a voter is a person.
    PersonCheck,
    /// To start a run in the sandbox.
    Generate,
    /// To start one with this server's own keys.
    UseServerKey,
    /// To start drawing a turntable.
    Turntable,
    /// To download the dataset, or a part of it.
    Dataset,
    /// To send a request over the A2A protocol, such as one that looks at a task.
    Agent,
    /// To send a message over it, from which a task may come.
    AgentMessage,
}

/// Where the admin token can be guessed. Each counts by itself, so that guesses at the API do not close the console.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TokenUse {
    Bearer,
    SignIn,
}

pub struct RateLimits {
    /// None if rate limits are switched off.
    limiters: Option<[ActionLimiters; 11]>,
    clock: DefaultClock,
    token_guesses: [GuessLimiter; 2],
}

struct ActionLimiters {
    voters: DefaultKeyedRateLimiter<Voter>,
    addresses: DefaultKeyedRateLimiter<IpAddr>,
    networks: DefaultKeyedRateLimiter<ClientNetwork>,
}

/// The limits per minute for one voter and for one address, in the order of the actions. A person who looks before
/// voting stays below the first, and a class of thirty behind one address below the second.
const PER_MINUTE: [(LimitedAction, [u32; 2]); 11] = [
    (LimitedAction::Visit, [60, 60]),
    (LimitedAction::Matchup, [60, 900]),
    (LimitedAction::Skip, [20, 120]),
    (LimitedAction::Vote, [40, 600]),
    (LimitedAction::PersonCheck, [10, 300]),
    (LimitedAction::Generate, [20, 20]),
    (LimitedAction::UseServerKey, [10, 10]),
    (LimitedAction::Turntable, [8, 8]),
    (LimitedAction::Dataset, [20, 20]),
    (LimitedAction::Agent, [600, 600]),
    (LimitedAction::AgentMessage, [120, 120]),
];

impl RateLimits {
    pub fn new(on: bool) -> Self {
        let limiters = on.then(|| PER_MINUTE.map(|(_, per_minute)| ActionLimiters::new(per_minute)));
        Self { limiters, clock: DefaultClock::default(), token_guesses: Default::default() }
    }

    pub fn is_enabled(&self) -> bool {
        self.limiters.is_some()
    }

    /// Counts a request.
    ///
    /// # Errors
    /// The time to wait, if there were too many.
    pub fn check(
        &self,
        action: LimitedAction,
        voter: Option<Voter>,
        address: IpAddr,
    ) -> Result<(), Duration> {
        let Some(limiters) = &self.limiters else { return Ok(()) };
        let limiters = &limiters[action as usize];
        let wait = |not_until: governor::NotUntil<_>| not_until.wait_time_from(self.clock.now());
        if let Some(voter) = voter {
            limiters.voters.check_key(&voter).map_err(wait)?;
        }
        limiters.addresses.check_key(&network(address)).map_err(wait)?;
        limiters.networks.check_key(&ClientNetwork::site(address)).map_err(wait)
    }

    /// Whether somebody knows the admin token, as `is_right` finds out.
    ///
    /// # Errors
    /// The time to wait, if there were too many wrong ones from that network. This one was not looked at then.
    pub fn guess_token(
        &self,
        token_use: TokenUse,
        address: IpAddr,
        is_right: impl FnOnce() -> bool,
    ) -> Result<bool, Duration> {
        if !self.is_enabled() {
            return Ok(is_right());
        }
        self.token_guesses[token_use as usize].guess(address, is_right)
    }

    /// Forgets voters and addresses whose limits have fully recovered, so that memory does not grow.
    pub fn drop_idle(&self) {
        for limiters in self.limiters.iter().flatten() {
            limiters.voters.retain_recent();
            limiters.addresses.retain_recent();
            limiters.networks.retain_recent();
        }
        self.token_guesses.iter().for_each(GuessLimiter::drop_idle);
    }
}

impl ActionLimiters {
    fn new(per_minute: [u32; 2]) -> Self {
        let [voter, address] = per_minute;
        Self {
            voters: RateLimiter::keyed(quota(voter)),
            addresses: RateLimiter::keyed(quota(address)),
            networks: RateLimiter::keyed(quota(address.saturating_mul(ADDRESSES_PER_NETWORK))),
        }
    }
}

/// Up to half of a minute's requests may come at once.
fn quota(per_minute: u32) -> Quota {
    let burst = NonZeroU32::new(per_minute / 2).unwrap_or(NonZeroU32::MIN);
    Quota::with_period(MINUTE / per_minute.max(1))
        .map_or(Quota::per_minute(burst), |quota| quota.allow_burst(burst))
}

/// The network of an address. A visitor with IPv6 usually has a whole /64 network, which counts as one address.
pub fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => Ipv6Addr::from_bits(address.to_bits() >> 64 << 64).into(),
        v4 => v4,
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    fn granted(
        limits: &RateLimits,
        action: LimitedAction,
        voter: impl Fn(u32) -> Voter,
        address: impl Fn(u32) -> IpAddr,
    ) -> u32 {
        let mut granted = 0;
        while granted < 2000 && limits.check(action, Some(voter(granted)), address(granted)).is_ok() {
            granted += 1;
        }
        granted
    }

    #[test]
    fn a_voter_an_address_and_a_network_each_have_their_limit() {
        let one = Voter(Uuid::from_u128(1));
        let many = |index: u32| Voter(Uuid::from_u128(u128::from(index) + 2));
        let here = |_| IpAddr::from([192, 0, 2, 1]);
        let nearby = |index: u32| IpAddr::from([192, 0, 2, index as u8]);
        let anywhere = |index: u32| IpAddr::from((index << 8).to_be_bytes());
        let own_subnet = |index: u32| IpAddr::from([0x2001, 0xdb8, 1, index as u16, 0, 0, 0, 1]);

        assert_eq!(granted(&RateLimits::new(true), LimitedAction::Vote, |_| one, anywhere), 20);
        assert_eq!(granted(&RateLimits::new(true), LimitedAction::Vote, many, here), 300);
        assert_eq!(granted(&RateLimits::new(true), LimitedAction::Vote, many, nearby), 1200);
        assert_eq!(granted(&RateLimits::new(true), LimitedAction::Vote, many, own_subnet), 1200);
        assert_eq!(granted(&RateLimits::new(true), LimitedAction::Vote, many, anywhere), 2000);
        assert_eq!(granted(&RateLimits::new(false), LimitedAction::Vote, |_| one, here), 2000);
    }

    #[test]
    fn a_refusal_says_when_to_come_back() {
        let limits = RateLimits::new(true);
        let address = IpAddr::from([192, 0, 2, 1]);
        let refusal = (0..100).find_map(|_| limits.check(LimitedAction::Visit, None, address).err());
        let wait = refusal.unwrap();
        assert!(wait > Duration::ZERO && wait <= Duration::from_secs(1), "{wait:?}");
    }

    #[test]
    fn neighbours_in_an_ipv6_network_count_as_one_and_mapped_addresses_as_what_they_are() {
        for (address, counted) in [
            ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::"),
            ("::ffff:192.0.2.7", "192.0.2.7"),
            ("192.0.2.7", "192.0.2.7"),
        ] {
            let address: IpAddr = address.parse().unwrap();
            assert_eq!(network(address), counted.parse::<IpAddr>().unwrap(), "{address}");
        }
    }
}
