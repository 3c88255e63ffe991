//! Whether a visitor sits at this machine. Such a visitor may use addresses of this machine and the API keys that it has.

use std::net::IpAddr;

use axum::http::HeaderMap;
use axum::http::header::{HOST, ORIGIN};

use crate::app::App;

/// Whether a request seems to come from this machine: from a loopback address, to a loopback name, by no proxy, from no
/// other site's page, and to an installation that is not set up for others. That excludes other machines, and pages of
/// other sites whose name was rebound to a loopback address. A proxy that changes nothing but the `Host` can still look
/// like that, so what costs money asks for [`has_local_origin`], too.
pub(in crate::web) fn is_at_this_machine(app: &App, headers: &HeaderMap, peer: IpAddr) -> bool {
    let is_for_others = app.config.public_url.is_some() || !app.config.trusted_proxies.is_empty();
    let is_direct = headers.keys().all(|name| !tells_of_proxy(name.as_str()));
    let host = headers.get(HOST).and_then(|host| host.to_str().ok());
    let is_foreign = headers.contains_key(ORIGIN) && !has_local_origin(headers);
    !is_for_others
        && peer.to_canonical().is_loopback()
        && is_direct
        && host.is_some_and(is_local_host)
        && !is_foreign
}

/// Whether the page that sent the request was opened at a loopback name. Browsers say so; a proxy cannot make it up by
/// accident.
pub(in crate::web) fn has_local_origin(headers: &HeaderMap) -> bool {
    let origin = headers.get(ORIGIN).and_then(|origin| origin.to_str().ok());
    let host = origin.and_then(|origin| origin.split_once("://")).map(|(_, host)| host);
    host.is_some_and(is_local_host)
}

fn tells_of_proxy(header: &str) -> bool {
    header.starts_with("x-forwarded")
        || matches!(header, "forwarded" | "via" | "x-real-ip" | "cf-connecting-ip")
}

fn is_local_host(host: &str) -> bool {
    let name = host.rsplit_once(':').filter(|(_, port)| port.bytes().all(|digit| digit.is_ascii_digit()));
    let name = name.map_or(host, |(name, _)| name).trim_matches(['[', ']']);
    name.eq_ignore_ascii_case("localhost")
        || name.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}
