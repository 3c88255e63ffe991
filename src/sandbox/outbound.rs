//! Doors to elsewhere that users name. What they name must be out in the open: an address of the public
//! internet, found out once and then held to, so that a name cannot lead somewhere else a moment later.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::Duration;

use ipnet::{Ipv4Net, Ipv6Net};
use reqwest::Url;
use tokio::net::lookup_host;
use tokio::time::timeout;
use url::Host;

/// How long a name may take to be found.
const DNS_TIMEOUT: Duration = Duration::from_secs(5);

/// An address that may be asked, and where it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PublicEndpoint {
    /// Without a slash at its end.
    pub base_url: String,
    pub host: String,
    /// The only places that are asked.
    pub addresses: Vec<SocketAddr>,
}

/// Why an address is not asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OutboundRefused {
    #[error("that is not an address such as https://api.example.com/v1")]
    BadAddress,
    #[error("only https:// addresses are asked from here")]
    NotEncrypted,
    #[error("an address must not hold a name or password; the key has a field of its own")]
    KeyInAddress,
    #[error("there is no such host")]
    UnknownHost,
    #[error("that address is not on the public internet, and is not asked from here")]
    NotPublic,
}

/// Opens a door. With `local`, also to machines nearby, and without encryption: for people who run Buildoff
/// for themselves.
pub async fn resolve(address: &str, local: bool) -> Result<PublicEndpoint, OutboundRefused> {
    let url = Url::parse(address.trim()).map_err(|_| OutboundRefused::BadAddress)?;
    match url.scheme() {
        "https" => {}
        "http" if local => {}
        "http" => return Err(OutboundRefused::NotEncrypted),
        _ => return Err(OutboundRefused::BadAddress),
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(OutboundRefused::KeyInAddress);
    }
    if url.query().is_some() || url.fragment().is_some() {
        return Err(OutboundRefused::BadAddress);
    }
    let port = url.port_or_known_default().ok_or(OutboundRefused::BadAddress)?;
    // Numbers in any spelling are addresses by now, not names.
    let addresses: Vec<SocketAddr> = match url.host().ok_or(OutboundRefused::BadAddress)? {
        Host::Ipv4(ip) => vec![SocketAddr::new(ip.into(), port)],
        Host::Ipv6(ip) => vec![SocketAddr::new(ip.into(), port)],
        Host::Domain(name) => lookup(name, port).await?,
    };
    if !local && !addresses.iter().all(|socket| is_public(socket.ip())) {
        return Err(OutboundRefused::NotPublic);
    }
    let host = url.host_str().unwrap_or_default().to_owned();
    Ok(PublicEndpoint { base_url: url.as_str().trim_end_matches('/').to_owned(), host, addresses })
}

async fn lookup(name: &str, port: u16) -> Result<Vec<SocketAddr>, OutboundRefused> {
    let found = timeout(DNS_TIMEOUT, lookup_host((name, port))).await;
    let addresses: Vec<_> = found.ok().and_then(Result::ok).ok_or(OutboundRefused::UnknownHost)?.collect();
    if addresses.is_empty() { Err(OutboundRefused::UnknownHost) } else { Ok(addresses) }
}

/// Whether an address is somebody's on the public internet, and not a way around to somewhere private.
pub fn is_public(address: IpAddr) -> bool {
    match address.to_canonical() {
        IpAddr::V4(address) => !NON_PUBLIC_V4.iter().any(|network| network.contains(&address)),
        IpAddr::V6(address) => {
            GLOBAL_V6.contains(&address) && !NON_PUBLIC_V6.iter().any(|network| network.contains(&address))
        }
    }
}

const fn v4(a: u8, b: u8, c: u8, d: u8, length: u8) -> Ipv4Net {
    Ipv4Net::new_assert(Ipv4Addr::new(a, b, c, d), length)
}

const fn v6(first: u16, second: u16, length: u8) -> Ipv6Net {
    Ipv6Net::new_assert(Ipv6Addr::new(first, second, 0, 0, 0, 0, 0, 0), length)
}

/// Of IANA's special-purpose registry, all that is not reachable for everybody.
const NON_PUBLIC_V4: [Ipv4Net; 15] = [
    v4(0, 0, 0, 0, 8),
    v4(10, 0, 0, 0, 8),
    v4(100, 64, 0, 0, 10),
    v4(127, 0, 0, 0, 8),
    v4(169, 254, 0, 0, 16),
    v4(172, 16, 0, 0, 12),
    v4(192, 0, 0, 0, 24),
    v4(192, 0, 2, 0, 24),
    v4(192, 88, 99, 0, 24),
    v4(192, 168, 0, 0, 16),
    v4(198, 18, 0, 0, 15),
    v4(198, 51, 100, 0, 24),
    v4(203, 0, 113, 0, 24),
    v4(224, 0, 0, 0, 4),
    v4(240, 0, 0, 0, 4),
];

const GLOBAL_V6: Ipv6Net = v6(0x2000, 0, 3);

/// Documentation, and tunnels that carry an IPv4 address inside.
const NON_PUBLIC_V6: [Ipv6Net; 4] =
    [v6(0x2001, 0x0db8, 32), v6(0x2001, 0, 23), v6(0x2002, 0, 16), v6(0x3fff, 0, 20)];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_addresses_of_the_public_internet_are_public() {
        for public in [
            "1.1.1.1",
            "93.184.216.34",
            "172.32.0.1",
            "100.128.0.1",
            "2606:4700:4700::1111",
            "::ffff:8.8.8.8",
        ] {
            assert!(is_public(public.parse().unwrap()), "{public}");
        }
        for hidden in [
            "0.0.0.0",
            "10.1.2.3",
            "100.64.0.1",
            "127.0.0.1",
            "127.255.255.254",
            "169.254.169.254",
            "172.16.0.1",
            "172.31.255.255",
            "192.0.0.8",
            "192.168.1.1",
            "198.18.0.1",
            "224.0.0.1",
            "240.0.0.1",
            "255.255.255.255",
            "::",
            "::1",
            "::ffff:127.0.0.1",
            "::ffff:10.0.0.1",
            "::127.0.0.1",
            "64:ff9b::7f00:1",
            "64:ff9b:1::1",
            "100::1",
            "fc00::1",
            "fd00:ec2::254",
            "fe80::1",
            "fec0::1",
            "ff02::1",
            "2001:db8::1",
            "2001::1",
            "2002:7f00:1::1",
            "3fff::1",
        ] {
            assert!(!is_public(hidden.parse().unwrap()), "{hidden}");
        }
    }

    #[tokio::test]
    async fn a_door_into_a_private_place_stays_closed_however_it_is_spelled() {
        for (address, why) in [
            ("https://127.0.0.1/v1", OutboundRefused::NotPublic),
            ("https://2130706433/v1", OutboundRefused::NotPublic),
            ("https://0x7f000001/v1", OutboundRefused::NotPublic),
            ("https://0177.0.0.1/v1", OutboundRefused::NotPublic),
            ("https://127.1/v1", OutboundRefused::NotPublic),
            ("https://[::1]/v1", OutboundRefused::NotPublic),
            ("https://[::ffff:127.0.0.1]/v1", OutboundRefused::NotPublic),
            ("https://[::ffff:7f00:1]/v1", OutboundRefused::NotPublic),
            ("https://169.254.169.254/latest/meta-data", OutboundRefused::NotPublic),
            ("https://localhost/v1", OutboundRefused::NotPublic),
            ("https://①②⑦.0.0.1/v1", OutboundRefused::NotPublic),
            ("http://1.1.1.1/v1", OutboundRefused::NotEncrypted),
            ("ftp://1.1.1.1/v1", OutboundRefused::BadAddress),
            ("file:///etc/passwd", OutboundRefused::BadAddress),
            ("https://key@1.1.1.1/v1", OutboundRefused::KeyInAddress),
            ("https://1.1.1.1/v1?key=sk", OutboundRefused::BadAddress),
            ("https://no-such-host.invalid/v1", OutboundRefused::UnknownHost),
            ("api.example.com", OutboundRefused::BadAddress),
            ("", OutboundRefused::BadAddress),
        ] {
            assert_eq!(resolve(address, false).await.err(), Some(why), "{address}");
        }
    }

    #[tokio::test]
    async fn a_public_door_opens_where_it_is_and_a_local_one_when_that_is_allowed() {
        let endpoint = resolve("https://1.1.1.1:8443/v1/", false).await.unwrap();
        assert_eq!(endpoint.base_url, "https://1.1.1.1:8443/v1");
        assert_eq!(endpoint.addresses, ["1.1.1.1:8443".parse().unwrap()]);
        assert!(resolve("http://127.0.0.1:11434/v1", true).await.is_ok());
    }
}
