//! Who sent a request: a voter, identified by the session, and an address, taken from the connection and trusted
//! proxies.

use std::net::{IpAddr, SocketAddr};

use axum::extract::{ConnectInfo, FromRequestParts};
use axum::http::HeaderMap;
use axum::http::request::Parts;
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
use crate::limits::LimitedAction;
use crate::work::WorkClient;

pub(super) const COOKIE: &str = "session";
const SESSION_LIFETIME: Duration = Duration::days(365);
/// A session with less time left than this is renewed, so each is written once a month at most.
const RENEW_BELOW: Duration = Duration::days(365 - 30);
const VOTER_KEY: &str = "voter";
const ADMIN_KEY: &str = "admin";
/// How long an admin stays signed in.
const ADMIN_SESSION_LIFETIME: Duration = Duration::hours(8);

/// The layer that provides sessions.
pub(super) fn sessions(app: &App) -> SessionManagerLayer<Sessions> {
    let behind_tls = app.config.public_url.as_ref().is_some_and(|url| url.starts_with("https:"));
    SessionManagerLayer::new(app.sessions.clone())
        .with_name(COOKIE)
        .with_http_only(true)
        .with_same_site(SameSite::Lax)
        .with_secure(behind_tls)
        .with_expiry(Expiry::OnInactivity(SESSION_LIFETIME))
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
    address: IpAddr,
}

impl FromRequestParts<App> for Visitor {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Error> {
        let session = Session::from_request_parts(parts, app).await;
        let session = session.map_err(|(_, why)| Error::internal(anyhow::anyhow!(why)))?;
        let ClientAddress(address) = ClientAddress::from_request_parts(parts, app).await?;
        Ok(Self { session, sessions: app.sessions.clone(), address })
    }
}

/// The address of a request, for handlers that need no session.
pub(super) struct ClientAddress(pub IpAddr);

impl FromRequestParts<App> for ClientAddress {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Error> {
        let peer = parts.extensions.get::<ConnectInfo<SocketAddr>>().map(|info| info.0.ip());
        let peer = peer.ok_or_else(|| Error::internal(anyhow::anyhow!("a request has no address")))?;
        Ok(Self(address(peer, &parts.headers, &app.config.trusted_proxies)))
    }
}

impl ClientAddress {
    /// The client whose turn heavy work for this request takes.
    pub fn client(&self) -> WorkClient {
        WorkClient::visitor(self.0)
    }
}

impl Visitor {
    pub fn address(&self) -> IpAddr {
        self.address
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

    /// Extends the session once a month of its year has passed, so that returning voters are not forgotten. This does
    /// not extend the sign-in of an admin, which has its own expiry in the session.
    async fn renew(&self) {
        let Some(id) = self.session.id() else { return };
        if self.sessions.is_due_for_renewal(&id, RENEW_BELOW).await {
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

    /// Fails if this visitor has sent too many requests of this kind.
    pub fn check_limit(&self, app: &App, action: LimitedAction, voter: Option<Voter>) -> Result<(), Error> {
        app.limits.check(action, voter, self.address).map_err(|wait| {
            let seconds = wait.as_secs() + 1;
            let unit = if seconds == 1 { "second" } else { "seconds" };
            let message = format!("Too many requests. Try again in {seconds} {unit}.");
            Error::new(ErrorCode::RateLimited, message).with_retry_after(seconds)
        })
    }
}

/// The address of the connection, or, if that is a trusted proxy, the last address in `X-Forwarded-For` that is not
/// itself a trusted proxy. Earlier ones can be made up by anybody.
fn address(peer: IpAddr, headers: &HeaderMap, trusted: &[IpNet]) -> IpAddr {
    let is_trusted = |address: &IpAddr| trusted.iter().any(|network| network.contains(address));
    let lines =
        headers.get_all("x-forwarded-for").iter().map(|line| String::from_utf8_lossy(line.as_bytes()));
    let lines: Vec<_> = lines.collect();
    let hops: Vec<&str> = lines.iter().flat_map(|line| line.split(',')).collect();
    let mut address = peer.to_canonical();
    for hop in hops.into_iter().rev() {
        let Some(next) = hop.trim().parse::<IpAddr>().ok().filter(|_| is_trusted(&address)) else { break };
        address = next.to_canonical();
    }
    address
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
