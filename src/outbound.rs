//! Requests to other machines: where they may go, and the HTTP client that sends them.
//!
//! An address that a user names could lead into the operator's own network: to a database, to another service's
//! admin pages, or to a cloud's metadata server. Three steps keep requests on the public internet:
//!
//! 1. [`resolve`] parses the address, looks its host up once, and refuses it unless everything it found is public
//!    ([`is_public`]).
//! 2. The result is a [`PublicEndpoint`], whose [`PinnedHost`] holds exactly the addresses that were judged.
//! 3. [`client_builder`] makes a client that connects to those and no others. A name that leads somewhere private
//!    a moment later (DNS rebinding) changes nothing, and neither does a redirect, because none is followed.
//!
//! Addresses from the operator's own configuration may be private. They only pass [`parse_base_url`], and their
//! client pins nothing. No client decompresses, so that a bound on the bytes it reads is a bound on memory.
//!
//! Nothing here knows what is requested.

mod address;
mod networks;
mod tls;

use std::net::SocketAddr;
use std::time::Duration;

use reqwest::redirect::Policy;
use reqwest::{Client, ClientBuilder};

pub use self::address::{OutboundRefused, PublicEndpoint, host_and_port, parse_base_url, resolve};
pub use self::networks::is_public;

const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

const USER_AGENT: &str = concat!("buildoff/", env!("CARGO_PKG_VERSION"));

/// A host and the only addresses at which it is contacted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PinnedHost {
    pub host: String,
    pub addresses: Vec<SocketAddr>,
}

/// A client as every request to elsewhere needs it, with timeouts and headers still to be set.
///
/// # Errors
/// If TLS cannot be set up on this machine.
pub fn client_builder(pinned: Option<&PinnedHost>) -> Result<ClientBuilder, &'static rustls::Error> {
    let client = Client::builder()
        .tls_backend_preconfigured(tls::config()?)
        .user_agent(USER_AGENT)
        .connect_timeout(CONNECT_TIMEOUT)
        .redirect(Policy::none())
        .no_gzip()
        .no_brotli()
        .no_zstd()
        .no_deflate();
    Ok(match pinned {
        // A proxy would look the name up again by itself.
        Some(PinnedHost { host, addresses }) => client.resolve_to_addrs(host, addresses).no_proxy(),
        None => client,
    })
}
