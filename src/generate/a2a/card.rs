//! Reading the card of an agent.

use ::a2a::{AgentCard, CARD_PATH, ChosenInterface, OLD_CARD_PATH};
use sha2::{Digest, Sha256};
use tokio::time::timeout;

use super::setup;
use crate::arena::catalog::AgentSource;
use crate::generate::client::{HttpTransport, join_url};
use crate::generate::{Endpoint, GenerateError, RequestLimits, Result};
use crate::outbound::{self, OutboundRefused, is_public};

/// A card, and the way that it says to reach the agent by.
pub struct ReadCard {
    /// As the agent sent it.
    pub text: String,
    pub card: AgentCard,
    pub interface: ChosenInterface,
    pub source: AgentSource,
}

/// The base address of an agent, without a trailing slash, of which people may name the card instead.
pub fn agent_address(text: &str) -> Result<String, OutboundRefused> {
    let text = text.trim().trim_end_matches('/');
    let text = [CARD_PATH, OLD_CARD_PATH].iter().find_map(|path| text.strip_suffix(path)).unwrap_or(text);
    Ok(outbound::parse_base_url(text)?.as_str().trim_end_matches('/').to_owned())
}

/// Reads the card of the agent at an address. Cards are public, so the agent's secret stays here.
pub async fn read_card(endpoint: &Endpoint, allows_private: bool, limits: RequestLimits) -> Result<ReadCard> {
    let fetching = timeout(limits.total, fetch_card(endpoint, allows_private, limits));
    let text = fetching.await.unwrap_or_else(|_| Err(GenerateError::stalled(limits.total)))?;
    let card = AgentCard::parse(text.as_bytes()).map_err(unusable)?;
    let interface = card.choose().map_err(unusable)?;
    let source = AgentSource {
        host: outbound::host_and_port(&endpoint.base_url).unwrap_or_default(),
        name: shorten(&card.name),
        version: shorten(&card.version),
        protocol: interface.version.as_str().to_owned(),
        digest: hex::encode(Sha256::digest(text.as_bytes())),
    };
    Ok(ReadCard { text, card, interface, source })
}

/// The text of the card, which need not be one.
pub async fn fetch_card(endpoint: &Endpoint, allows_private: bool, limits: RequestLimits) -> Result<String> {
    let public = match &endpoint.pinned {
        None if !allows_private => {
            let found = outbound::resolve(&endpoint.base_url, false).await.map_err(unusable)?;
            Endpoint { key: None, pinned: Some(found.pinned), ..endpoint.clone() }
        }
        _ => Endpoint { key: None, ..endpoint.clone() },
    };
    let transport = HttpTransport::new(&public, &setup(None, None), limits).map_err(unusable)?;
    let url = |path: &str| join_url(&transport.base, None, path.split('/').filter(|part| !part.is_empty()));
    let text = match transport.get_text(url(CARD_PATH)).await {
        Err(error) if error.is_gone() => transport.get_text(url(OLD_CARD_PATH)).await,
        text => text,
    };
    text.map_err(|error| {
        let message = format!("its card cannot be read: {}", error.message_with_status());
        GenerateError { message, ..error }
    })
}

/// Where a card leads. The same origin is where the secret may go. Another one may be private only if the agent's own
/// address is.
pub(super) async fn endpoint_at(
    agent: &Endpoint,
    allows_private: bool,
    url: &str,
) -> Result<Endpoint, OutboundRefused> {
    let (own, other) = (outbound::parse_base_url(&agent.base_url)?, outbound::parse_base_url(url)?);
    let pinned = match &agent.pinned {
        Some(pinned) => pinned.clone(),
        None => outbound::resolve(&agent.base_url, allows_private).await?.pinned,
    };
    if own.origin() == other.origin() {
        // The operator's own addresses are reached as all others of theirs, through a proxy where there is one.
        let pinned = (agent.pinned.is_some() || !allows_private).then_some(pinned);
        return Ok(Endpoint { base_url: url.to_owned(), pinned, ..agent.clone() });
    }
    let is_private = pinned.addresses.iter().all(|address| !is_public(address.ip()));
    let found = outbound::resolve(url, is_private).await?;
    Ok(Endpoint { provider: agent.provider, base_url: found.base_url, key: None, pinned: Some(found.pinned) })
}

fn shorten(words: &str) -> String {
    words.chars().filter(|c| !c.is_control()).take(100).collect()
}

fn unusable(error: impl std::fmt::Display) -> GenerateError {
    GenerateError::unusable(error.to_string())
}
