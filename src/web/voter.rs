//! Who sent a request: a voter, identified by the session, and an address, taken from the connection and trusted
//! proxies.

use std::net::{IpAddr, SocketAddr};

use axum::extract::{ConnectInfo, FromRequestParts, Request};
use axum::http::header::COOKIE;
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue};
use ipnet::IpNet;
use serde::{Deserialize, Serialize};
use time::{Duration, OffsetDateTime};
use tower_sessions::cookie::SameSite;
use tower_sessions::{Expiry, Session, SessionManagerLayer};
use uuid::Uuid;

use super::{Error, ErrorCode};
use crate::app::App;
use crate::arena::Voter;
use crate::db::Sessions;
use crate::generate::Secret;
use crate::limits::{LimitedAction, TokenUse};
use crate::person_check::PersonCheck;
use crate::work::WorkClient;

pub(super) const COOKIE_NAME: &str = "session";
/// The name where the site has an address with https. Browsers take a cookie with this prefix only from the site itself
/// over TLS. A cookie under the old name is still read where there is none under this one, so that voters keep their
/// sessions when a site gets TLS.
pub(super) const HOST_COOKIE_NAME: &str = "__Host-session";
const SESSION_LIFETIME: Duration = Duration::days(365);
/// A session with less time left than this is renewed, so each is written once a month at most.
const RENEW_BELOW: Duration = Duration::days(365 - 30);
const FORWARDED_FOR: &str = "x-forwarded-for";
const VOTER_KEY: &str = "voter";
const ADMIN_KEY: &str = "admin";
/// How long an admin stays signed in.
const ADMIN_SESSION_LIFETIME: Duration = Duration::hours(8);

/// The layer that provides sessions.
pub(super) fn sessions(app: &App) -> SessionManagerLayer<Sessions> {
    let behind_tls = app.config.is_https();
    SessionManagerLayer::new(app.sessions.clone())
        .with_name(if behind_tls { HOST_COOKIE_NAME } else { COOKIE_NAME })
        .with_http_only(true)
        .with_same_site(SameSite::Lax)
        .with_secure(behind_tls)
        .with_expiry(Expiry::OnInactivity(SESSION_LIFETIME))
}

/// A request whose session came in a cookie of the name that is used without https.
#[derive(Clone, Copy)]
struct OldCookieName;

/// Lets a session go on when its site gets an address with https: reads its cookie under the old name, as long as the
/// browser has none under the new one. The session then gets a cookie under the new name, when it is next used.
/// An admin's session that somebody planted under the old name is worth nothing, since signing in changes its id.
pub(super) fn accept_old_cookie_name(mut request: Request) -> Request {
    let lines = request.headers().get_all(COOKIE).iter().filter_map(|line| line.to_str().ok());
    let pairs: Vec<_> =
        lines.flat_map(|line| line.split(';')).filter_map(|pair| pair.trim().split_once('=')).collect();
    let value = |expected: &str| pairs.iter().find(|(name, _)| *name == expected).map(|(_, value)| *value);
    let old = value(COOKIE_NAME).filter(|_| value(HOST_COOKIE_NAME).is_none());
    let renamed = old.map(|id| HeaderValue::try_from(format!("{HOST_COOKIE_NAME}={id}")));
    if let Some(Ok(pair)) = renamed {
        request.headers_mut().append(COOKIE, pair);
        request.extensions_mut().insert(OldCookieName);
    }
    request
}

/// A session's record of a sign-in. It holds a fingerprint of the token, never the token.
#[derive(Serialize, Deserialize)]
struct AdminGrant {
    /// In seconds since 1970.
    until: i64,
    fingerprint: String,
}

/// The sender of a request.
pub(super) struct Visitor {
    session: Session,
    sessions: Sessions,
    has_old_cookie: bool,
    address: IpAddr,
}

impl FromRequestParts<App> for Visitor {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Error> {
        let session = Session::from_request_parts(parts, app).await;
        let session = session.map_err(|(_, why)| Error::internal(anyhow::anyhow!(why)))?;
        let ClientAddress(address) = ClientAddress::from_request_parts(parts, app).await?;
        let has_old_cookie = parts.extensions.get::<OldCookieName>().is_some();
        Ok(Self { session, sessions: app.sessions.clone(), has_old_cookie, address })
    }
}

/// The address of a request, for handlers that need no session.
pub(super) struct ClientAddress(pub IpAddr);

impl FromRequestParts<App> for ClientAddress {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Error> {
        let peer = parts.extensions.get::<ConnectInfo<SocketAddr>>().map(|info| info.0.ip());
        let peer = peer.ok_or_else(|| Error::internal(anyhow::anyhow!("a request has no address")))?;
        let trusted = &app.config.trusted_proxies;
        if !is_trusted(peer, trusted) && parts.headers.contains_key(FORWARDED_FOR) {
            app.untrusted_proxy_warning.call_once(|| {
                tracing::warn!(
                    from = %peer.to_canonical(),
                    "X-Forwarded-For is ignored, because it came from an address outside TRUSTED_PROXIES. If that is your \
                     proxy, add it: all its visitors share one address and its limits until then. This is logged once."
                );
            });
        }
        Ok(Self(address(peer, &parts.headers, trusted)))
    }
}

impl ClientAddress {
    /// The client whose turn heavy work for this request takes.
    pub fn client(&self) -> WorkClient {
        WorkClient::visitor(self.0)
    }

    /// Fails if too many requests of this kind came from the address.
    pub fn check_limit(&self, app: &App, action: LimitedAction) -> Result<(), Error> {
        app.limits.check(action, None, self.0).map_err(rate_limited)
    }

    /// Whether somebody at this address has sent the admin token. Fails if too many wrong ones came from its network;
    /// then even the right one does not count.
    pub fn knows_token(
        &self,
        app: &App,
        token_use: TokenUse,
        token: &Secret,
        sent: &str,
    ) -> Result<bool, Error> {
        app.limits.guess_token(token_use, self.0, || token.matches(sent)).map_err(rate_limited)
    }
}

impl Visitor {
    pub fn address(&self) -> IpAddr {
        self.address
    }

    pub fn client_address(&self) -> ClientAddress {
        ClientAddress(self.address)
    }

    /// Whether this session has signed in recently enough, and the token has not changed since.
    pub async fn is_admin(&self, token: &Secret) -> Result<bool, Error> {
        let known: Option<AdminGrant> = self.session.get(ADMIN_KEY).await.map_err(Error::internal)?;
        let now = OffsetDateTime::now_utc().unix_timestamp();
        Ok(known.is_some_and(|known| now < known.until && known.fingerprint == token.fingerprint(ADMIN_KEY)))
    }

    /// Changes the session's id, so that somebody who knew the old one does not become an admin.
    pub async fn sign_in_admin(&self, token: &Secret) -> Result<(), Error> {
        let until = (OffsetDateTime::now_utc() + ADMIN_SESSION_LIFETIME).unix_timestamp();
        let grant = AdminGrant { until, fingerprint: token.fingerprint(ADMIN_KEY) };
        self.session.insert(ADMIN_KEY, grant).await.map_err(Error::internal)?;
        self.session.cycle_id().await.map_err(Error::internal)
    }

    pub async fn sign_out_admin(&self) -> Result<(), Error> {
        self.session.remove::<AdminGrant>(ADMIN_KEY).await.map_err(Error::internal)?;
        self.session.cycle_id().await.map_err(Error::internal)
    }

    /// None before the first matchup.
    pub async fn voter(&self) -> Result<Option<Voter>, Error> {
        let known: Option<String> = self.session.get(VOTER_KEY).await.map_err(Error::internal)?;
        let voter = known.and_then(|id| Uuid::try_parse(&id).ok()).map(Voter);
        if voter.is_some() {
            self.renew().await;
        }
        Ok(voter)
    }

    /// Extends the session once a month of its year has passed, so that returning voters are not forgotten, or when its
    /// cookie has to be set under its new name. This does not extend the sign-in of an admin, which has its own expiry
    /// in the session.
    async fn renew(&self) {
        let Some(id) = self.session.id() else { return };
        let below = if self.has_old_cookie { Duration::MAX } else { RENEW_BELOW };
        if self.sessions.is_due_for_renewal(&id, below).await {
            self.session.set_expiry(Some(Expiry::OnInactivity(SESSION_LIFETIME)));
        }
    }

    /// The voter of this session, which is created if necessary.
    pub async fn voter_or_new(&self, app: &App) -> Result<Voter, Error> {
        if let Some(voter) = self.voter().await? {
            return Ok(voter);
        }
        self.check_limit(app, LimitedAction::Visit, None)?;
        let voter = Voter(Uuid::new_v4());
        self.session.insert(VOTER_KEY, voter.0.to_string()).await.map_err(Error::internal)?;
        Ok(voter)
    }

    /// What this visitor has to do before voting, to show that a person votes.
    pub async fn person_check(&self, app: &App) -> Result<Option<PersonCheck>, Error> {
        if !app.person_checks.is_on() {
            return Ok(None);
        }
        match self.voter().await? {
            Some(voter) => Ok(app.person_checks.due(voter).await?),
            None => Ok(None),
        }
    }

    /// Fails if this visitor has sent too many requests of this kind.
    pub fn check_limit(&self, app: &App, action: LimitedAction, voter: Option<Voter>) -> Result<(), Error> {
        app.limits.check(action, voter, self.address).map_err(rate_limited)
    }
}

fn rate_limited(wait: std::time::Duration) -> Error {
    let seconds = wait.as_secs() + 1;
    let unit = if seconds == 1 { "second" } else { "seconds" };
    let message = format!("Too many requests. Try again in {seconds} {unit}.");
    Error::new(ErrorCode::RateLimited, message).with_retry_after(seconds)
}

/// The address of the connection, or, if that is a trusted proxy, the last address in `X-Forwarded-For` that is not
/// itself a trusted proxy. Earlier ones can be made up by anybody.
fn address(peer: IpAddr, headers: &HeaderMap, trusted: &[IpNet]) -> IpAddr {
    let lines = headers.get_all(FORWARDED_FOR).iter().map(|line| String::from_utf8_lossy(line.as_bytes()));
    let lines: Vec<_> = lines.collect();
    let hops: Vec<&str> = lines.iter().flat_map(|line| line.split(',')).collect();
    let mut address = peer.to_canonical();
    for hop in hops.into_iter().rev() {
        let Some(next) = hop_address(hop).filter(|_| is_trusted(address, trusted)) else { break };
        address = next.to_canonical();
    }
    address
}

fn is_trusted(address: IpAddr, trusted: &[IpNet]) -> bool {
    let address = address.to_canonical();
    trusted.iter().any(|network| network.contains(&address))
}

/// The address in an item of `X-Forwarded-For`. Some proxies add the port, and some put IPv6 addresses into brackets.
fn hop_address(hop: &str) -> Option<IpAddr> {
    let hop = hop.trim();
    let bare = hop.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(hop);
    bare.parse().ok().or_else(|| hop.parse().ok().map(|socket: SocketAddr| socket.ip()))
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    #[test]
    fn only_trusted_proxies_are_believed_about_where_a_visitor_comes_from() {
        let trusted: Vec<IpNet> = vec!["10.0.0.0/8".parse().unwrap(), "127.0.0.1/32".parse().unwrap()];
        for (peer, forwarded, expected) in [
            ("192.0.2.1", vec![], "192.0.2.1"),
            ("192.0.2.1", vec!["203.0.113.9"], "192.0.2.1"),
            ("127.0.0.1", vec!["203.0.113.9"], "203.0.113.9"),
            ("127.0.0.1", vec!["198.51.100.1, 203.0.113.9"], "203.0.113.9"),
            ("127.0.0.1", vec!["198.51.100.1", "203.0.113.9, 10.1.2.3"], "203.0.113.9"),
            ("127.0.0.1", vec!["203.0.113.9, nonsense"], "127.0.0.1"),
            ("127.0.0.1", vec!["né, 203.0.113.9"], "203.0.113.9"),
            ("127.0.0.1", vec!["203.0.113.9:51234"], "203.0.113.9"),
            ("127.0.0.1", vec!["203.0.113.9:51234, 10.1.2.3:443"], "203.0.113.9"),
            ("127.0.0.1", vec!["[2001:db8::1]:443"], "2001:db8::1"),
            ("127.0.0.1", vec!["[2001:db8::1]"], "2001:db8::1"),
            ("127.0.0.1", vec!["[::ffff:203.0.113.9]:443"], "203.0.113.9"),
            ("127.0.0.1", vec!["203.0.113.9:99999"], "127.0.0.1"),
            ("127.0.0.1", vec!["[2001:db8::1"], "127.0.0.1"),
            ("127.0.0.1", vec!["[203.0.113.9:80]"], "127.0.0.1"),
            ("::ffff:127.0.0.1", vec!["2001:db8::1"], "2001:db8::1"),
            ("127.0.0.1", vec![], "127.0.0.1"),
        ] {
            let mut headers = HeaderMap::new();
            for line in &forwarded {
                headers.append("x-forwarded-for", HeaderValue::from_bytes(line.as_bytes()).unwrap());
            }
            let found = address(peer.parse().unwrap(), &headers, &trusted);
            assert_eq!(found, expected.parse::<IpAddr>().unwrap(), "{peer}, {forwarded:?}");
        }
    }
}
