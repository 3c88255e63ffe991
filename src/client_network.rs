//! The networks that visitors come from, as far as limits and statistics tell them apart.
//!
//! An address says little about how many people are behind it. Somebody who rents a server can have 256 IPv4 addresses,
//! and everybody with IPv6 has at least a /64 network of them, often a /48. So whatever must hold against one person with
//! many addresses counts by network.

use std::fmt::{self, Display};
use std::net::IpAddr;

use hmac::{Hmac, KeyInit, Mac};
use ipnet::{IpNet, Ipv4Net, Ipv6Net};
use sha2::Sha256;

const V4_PREFIX: u8 = 24;
const V6_SUBNET_PREFIX: u8 = 64;
const V6_SITE_PREFIX: u8 = 48;

/// A network of visitors. An IPv4 address that is written as an IPv6 one counts as IPv4.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ClientNetwork(IpNet);

impl ClientNetwork {
    /// The network that one connection to the internet usually has: an IPv4 /24 or an IPv6 /64.
    pub fn subnet(address: IpAddr) -> Self {
        Self::containing(address, V6_SUBNET_PREFIX)
    }

    /// The network that one customer can have: an IPv4 /24 or an IPv6 /48.
    pub fn site(address: IpAddr) -> Self {
        Self::containing(address, V6_SITE_PREFIX)
    }

    /// Every network that an address counts in, the smallest first: an IPv4 /24, or an IPv6 /64 and its /48.
    pub fn all(address: IpAddr) -> impl Iterator<Item = Self> {
        let (subnet, site) = (Self::subnet(address), Self::site(address));
        [subnet].into_iter().chain((site != subnet).then_some(site))
    }

    fn containing(address: IpAddr, v6_prefix: u8) -> Self {
        let network = match address.to_canonical() {
            IpAddr::V4(address) => Ipv4Net::new_assert(address, V4_PREFIX).into(),
            IpAddr::V6(address) => Ipv6Net::new_assert(address, v6_prefix).into(),
        };
        Self(IpNet::trunc(&network))
    }

    /// What is stored in place of a network. Without the key it cannot be traced back, although there are few enough
    /// networks to try them all.
    pub fn digest(self, key: &[u8]) -> [u8; 32] {
        #[expect(clippy::expect_used, reason = "HMAC takes keys of every length")]
        let mut hmac = Hmac::<Sha256>::new_from_slice(key).expect("HMAC takes any key");
        match self.0 {
            IpNet::V4(network) => hmac.update(&network.network().octets()),
            IpNet::V6(network) => hmac.update(&network.network().octets()),
        }
        // An IPv6 /64 may have the same first address as its /48.
        hmac.update(&[self.0.prefix_len()]);
        hmac.finalize().into_bytes().into()
    }
}

impl Display for ClientNetwork {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Display::fmt(&self.0, f)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    fn networks(address: &str) -> Vec<String> {
        ClientNetwork::all(address.parse().unwrap()).map(|network| network.to_string()).collect()
    }

    #[test]
    fn an_address_counts_in_its_ipv4_24_or_in_its_ipv6_64_and_48() {
        for (address, expected) in [
            ("192.0.2.7", &["192.0.2.0/24"][..]),
            ("::ffff:192.0.2.255", &["192.0.2.0/24"]),
            ("2001:db8:1:2:3:4:5:6", &["2001:db8:1:2::/64", "2001:db8:1::/48"]),
            ("2001:db8:1::6", &["2001:db8:1::/64", "2001:db8:1::/48"]),
        ] {
            assert_eq!(networks(address), expected, "{address}");
        }
    }

    #[test]
    fn a_digest_tells_networks_and_keys_apart_and_not_the_addresses_within_one() {
        let digest =
            |address: &str, key: &str| ClientNetwork::subnet(address.parse().unwrap()).digest(key.as_bytes());
        assert_eq!(digest("192.0.2.7", "key"), digest("::ffff:192.0.2.8", "key"));
        let site = ClientNetwork::site("2001:db8:1::6".parse().unwrap()).digest(b"key");
        let different = HashSet::from([
            digest("192.0.2.7", "key"),
            digest("192.0.2.7", "another key"),
            digest("192.0.3.7", "key"),
            digest("2001:db8:1::6", "key"),
            site,
        ]);
        assert_eq!(different.len(), 5);
    }
}
