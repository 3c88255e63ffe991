//! Checks addresses that users enter, and looks up their hosts.

use std::net::SocketAddr;
use std::time::Duration;

use reqwest::Url;
use tokio::net::lookup_host;
use tokio::time::timeout;
use url::Host;

use super::{PinnedHost, is_public};

const DNS_TIMEOUT: Duration = Duration::from_secs(5);

/// An address that was checked, and the IP addresses of its host. It is public, unless its check allowed others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PublicEndpoint {
    /// Without a slash at its end.
    pub base_url: String,
    pub pinned: PinnedHost,
}

/// Why no request goes to an address. The address is not repeated, because a key may have been put into it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OutboundRefused {
    #[error("the address must look like https://api.example.com/v1, without ? or #")]
    BadAddress,
    #[error("the address must begin with https://")]
    NotEncrypted,
    #[error("the address must not contain a user name or password; enter the key separately")]
    KeyInAddress,
    #[error("the host of this address cannot be found")]
    UnknownHost,
    #[error("the address is not on the public internet")]
    NotPublic,
}

/// Finds out where an address leads. With `allow_private`, private networks and unencrypted connections are allowed too, for
/// people who run Buildoff for themselves.
pub async fn resolve(address: &str, allow_private: bool) -> Result<PublicEndpoint, OutboundRefused> {
    let url = parse_base_url(address)?;
    if url.scheme() != "https" && !allow_private {
        return Err(OutboundRefused::NotEncrypted);
    }
    let port = url.port_or_known_default().ok_or(OutboundRefused::BadAddress)?;
    // The parser has turned every spelling of an IP address, such as 2130706433, into an address already.
    let addresses: Vec<SocketAddr> = match url.host().ok_or(OutboundRefused::BadAddress)? {
        Host::Ipv4(ip) => vec![SocketAddr::new(ip.into(), port)],
        Host::Ipv6(ip) => vec![SocketAddr::new(ip.into(), port)],
        Host::Domain(name) => lookup(name, port).await?,
    };
    if !allow_private && !addresses.iter().all(|socket| is_public(socket.ip())) {
        return Err(OutboundRefused::NotPublic);
    }
    let host = url.host_str().unwrap_or_default().to_owned();
    let base_url = url.as_str().trim_end_matches('/').to_owned();
    Ok(PublicEndpoint { base_url, pinned: PinnedHost { host, addresses } })
}

/// Parses the base URL of an API, which has no credentials, query or fragment.
pub fn parse_base_url(address: &str) -> Result<Url, OutboundRefused> {
    let url: Url = address.parse().map_err(|_| OutboundRefused::BadAddress)?;
    if !matches!(url.scheme(), "http" | "https") || !url.has_host() {
        return Err(OutboundRefused::BadAddress);
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(OutboundRefused::KeyInAddress);
    }
    if url.query().is_some() || url.fragment().is_some() {
        return Err(OutboundRefused::BadAddress);
    }
    Ok(url)
}

/// The host of an address, and its port unless it is the usual one.
pub fn host_and_port(address: &str) -> Option<String> {
    let url = parse_base_url(address).ok()?;
    let host = url.host_str()?;
    Some(match url.port() {
        Some(port) => format!("{host}:{port}"),
        None => host.to_owned(),
    })
}

async fn lookup(name: &str, port: u16) -> Result<Vec<SocketAddr>, OutboundRefused> {
    let found = timeout(DNS_TIMEOUT, lookup_host((name, port))).await;
    let addresses: Vec<_> = found.ok().and_then(Result::ok).ok_or(OutboundRefused::UnknownHost)?.collect();
    if addresses.is_empty() { Err(OutboundRefused::UnknownHost) } else { Ok(addresses) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_private_address_is_refused_however_it_is_spelled() {
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
    async fn a_public_address_is_pinned_and_a_local_one_needs_permission() {
        let endpoint = resolve("https://1.1.1.1:8443/v1/", false).await.unwrap();
        assert_eq!(endpoint.base_url, "https://1.1.1.1:8443/v1");
        assert_eq!(endpoint.pinned.addresses, ["1.1.1.1:8443".parse().unwrap()]);
        assert!(resolve("http://127.0.0.1:11434/v1", true).await.is_ok());
    }
}
