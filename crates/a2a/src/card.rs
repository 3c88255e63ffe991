//! Cards: what an agent is, where it can be reached, and in which versions.
//!
//! [`AgentCard::parse`] reads a card of either version, or one that serves both. [`CardDescription::write`] writes one
//! that serves both: the fields of 0.3 and those of 1.0 stand beside each other.

mod check;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

pub use self::check::{CardFinding, FindingSeverity, check_card};
use crate::types::Json;
use crate::version::ProtocolVersion;
use crate::wire::json;

/// Where a card is served.
pub const CARD_PATH: &str = "/.well-known/agent-card.json";

/// Where agents before 0.3 serve it.
pub const OLD_CARD_PATH: &str = "/.well-known/agent.json";

/// How large a card may be.
pub const MAX_CARD_BYTES: usize = 1 << 20;

/// How many interfaces, skills, extensions or security schemes of a card are read.
const MAX_ITEMS: usize = 200;

const JSON_RPC: &str = "JSONRPC";

/// A card, as far as a client needs it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentCard {
    pub name: String,
    pub description: String,
    /// The agent's own version.
    pub version: String,
    pub interfaces: Vec<CardInterface>,
    pub streaming: bool,
    /// The addresses of extensions that a client must support.
    pub required_extensions: Vec<String>,
    pub skills: Vec<CardSkill>,
    /// Where a secret goes, if the agent takes one.
    pub credential: Option<CredentialPlace>,
}

/// A way to reach an agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CardInterface {
    pub url: String,
    /// `JSONRPC`, `GRPC` or `HTTP+JSON`.
    pub transport: String,
    /// Of the protocol, in the card's words.
    pub protocol_version: String,
    pub tenant: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CardSkill {
    pub id: String,
    pub name: String,
    pub description: String,
}

/// How a secret is sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CredentialPlace {
    /// As `Authorization: Bearer …`.
    Bearer,
    /// As the value of a header.
    Header(String),
}

/// The interface by which an agent is asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChosenInterface {
    pub url: String,
    pub version: ProtocolVersion,
    pub tenant: Option<String>,
}

/// Why an agent cannot be asked by its card.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AgentCardError {
    #[error("the card is larger than {MAX_CARD_BYTES} bytes")]
    TooLarge,
    #[error("the card is not a JSON object with the fields of a card: {0}")]
    NotACard(String),
    #[error("the card names no address at which the agent can be reached")]
    NoInterface,
    #[error("the card offers {0}, but only JSON-RPC in version 0.3 or 1.0 is supported")]
    NoUsableInterface(String),
    #[error("the card requires the extension {0}, which is not supported")]
    RequiredExtension(String),
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct WireCard {
    name: Option<String>,
    description: Option<String>,
    version: Option<String>,
    url: Option<String>,
    preferred_transport: Option<String>,
    protocol_version: Option<String>,
    additional_interfaces: Option<Vec<WireInterface>>,
    supported_interfaces: Option<Vec<WireInterface>>,
    capabilities: Option<WireCapabilities>,
    skills: Option<Vec<WireSkill>>,
    security_schemes: Option<BTreeMap<String, WireScheme>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct WireInterface {
    url: Option<String>,
    transport: Option<String>,
    protocol_binding: Option<String>,
    protocol_version: Option<String>,
    tenant: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct WireCapabilities {
    streaming: Option<bool>,
    extensions: Option<Vec<WireExtension>>,
}

#[derive(Deserialize)]
struct WireExtension {
    uri: Option<String>,
    required: Option<bool>,
}

#[derive(Deserialize)]
struct WireSkill {
    id: Option<String>,
    name: Option<String>,
    description: Option<String>,
}

/// A scheme as 0.3 writes it, with its `type`, or as 1.0 does, in a field that names it.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct WireScheme {
    #[serde(rename = "type")]
    kind: Option<String>,
    scheme: Option<String>,
    #[serde(rename = "in")]
    place: Option<String>,
    name: Option<String>,
    api_key_security_scheme: Option<WireApiKey>,
    http_auth_security_scheme: Option<WireHttpAuth>,
}

#[derive(Deserialize)]
struct WireApiKey {
    location: Option<String>,
    name: Option<String>,
}

#[derive(Deserialize)]
struct WireHttpAuth {
    scheme: Option<String>,
}

impl AgentCard {
    /// Reads a card of either version.
    ///
    /// # Errors
    /// If it is too large or no card at all. What a client can do without may be missing.
    pub fn parse(card: &[u8]) -> Result<Self, AgentCardError> {
        if card.len() > MAX_CARD_BYTES {
            return Err(AgentCardError::TooLarge);
        }
        let wire: WireCard =
            serde_json::from_slice(card).map_err(|error| AgentCardError::NotACard(error.to_string()))?;
        let capabilities = wire.capabilities.unwrap_or_default();
        let extensions = capabilities.extensions.unwrap_or_default().into_iter().take(MAX_ITEMS);
        let required = extensions.filter(|extension| extension.required == Some(true));
        let own = CardInterface {
            url: wire.url.unwrap_or_default(),
            transport: wire.preferred_transport.unwrap_or_else(|| JSON_RPC.to_owned()),
            protocol_version: wire.protocol_version.unwrap_or_else(|| "0.3".to_owned()),
            tenant: None,
        };
        let newer = wire.supported_interfaces.unwrap_or_default().into_iter().take(MAX_ITEMS);
        let older = wire.additional_interfaces.unwrap_or_default().into_iter().take(MAX_ITEMS);
        let old_version = own.protocol_version.clone();
        let newer = newer.map(|wire| wire.read("1.0"));
        let older: Vec<_> = older.map(|wire| wire.read(&old_version)).collect();
        let interfaces = newer.chain([own]).chain(older).filter(|interface| !interface.url.is_empty());
        let skills = wire.skills.unwrap_or_default().into_iter().take(MAX_ITEMS).map(WireSkill::read);
        let schemes = wire.security_schemes.unwrap_or_default();
        let places: Vec<CredentialPlace> =
            schemes.values().take(MAX_ITEMS).filter_map(WireScheme::place).collect();
        let bearer = places.iter().find(|place| **place == CredentialPlace::Bearer);
        Ok(Self {
            name: wire.name.unwrap_or_default(),
            description: wire.description.unwrap_or_default(),
            version: wire.version.unwrap_or_default(),
            interfaces: interfaces.collect(),
            streaming: capabilities.streaming == Some(true),
            required_extensions: required.filter_map(|extension| extension.uri).collect(),
            skills: skills.collect(),
            credential: bearer.or(places.first()).cloned(),
        })
    }

    /// The interface of the highest version that is offered over JSON-RPC.
    ///
    /// # Errors
    /// If there is none, or if the agent requires an extension.
    pub fn choose(&self) -> Result<ChosenInterface, AgentCardError> {
        if let Some(extension) = self.required_extensions.first() {
            return Err(AgentCardError::RequiredExtension(extension.clone()));
        }
        let usable = self.interfaces.iter().filter_map(CardInterface::usable);
        // Of several of the same version, the first is the one that the agent prefers.
        let best = usable.reduce(|best, next| if next.version > best.version { next } else { best });
        best.ok_or_else(|| {
            let offers = self.interfaces.iter().map(|interface| {
                format!("{} in version {}", interface.transport, interface.protocol_version)
            });
            let offers: Vec<String> = offers.take(5).collect();
            if offers.is_empty() {
                AgentCardError::NoInterface
            } else {
                AgentCardError::NoUsableInterface(offers.join(", "))
            }
        })
    }
}

impl CardInterface {
    fn usable(&self) -> Option<ChosenInterface> {
        let version = ProtocolVersion::offered(&self.protocol_version)?;
        let is_json_rpc = self.transport.eq_ignore_ascii_case(JSON_RPC);
        is_json_rpc.then(|| ChosenInterface { url: self.url.clone(), version, tenant: self.tenant.clone() })
    }
}

impl WireInterface {
    fn read(self, version: &str) -> CardInterface {
        CardInterface {
            url: self.url.unwrap_or_default(),
            transport: self.protocol_binding.or(self.transport).unwrap_or_default(),
            protocol_version: self.protocol_version.unwrap_or_else(|| version.to_owned()),
            tenant: self.tenant.filter(|tenant| !tenant.is_empty()),
        }
    }
}

impl WireSkill {
    fn read(self) -> CardSkill {
        CardSkill {
            id: self.id.unwrap_or_default(),
            name: self.name.unwrap_or_default(),
            description: self.description.unwrap_or_default(),
        }
    }
}

impl WireScheme {
    fn place(&self) -> Option<CredentialPlace> {
        let header = |place: Option<&str>, name: Option<&String>| {
            let name = name.filter(|name| !name.is_empty() && place == Some("header"))?;
            Some(CredentialPlace::Header(name.clone()))
        };
        let http = |scheme: Option<&str>| {
            let is_bearer = scheme.is_some_and(|scheme| scheme.eq_ignore_ascii_case("bearer"));
            is_bearer.then_some(CredentialPlace::Bearer)
        };
        if let Some(key) = &self.api_key_security_scheme {
            return header(key.location.as_deref(), key.name.as_ref());
        }
        if let Some(auth) = &self.http_auth_security_scheme {
            return http(auth.scheme.as_deref());
        }
        match self.kind.as_deref()? {
            "apiKey" => header(self.place.as_deref(), self.name.as_ref()),
            "http" => http(self.scheme.as_deref()),
            "oauth2" | "openIdConnect" => Some(CredentialPlace::Bearer),
            _ => None,
        }
    }
}

/// What a server's card says.
#[derive(Clone, Debug)]
pub struct CardDescription {
    pub name: String,
    pub description: String,
    /// Where requests go.
    pub url: String,
    pub version: String,
    pub documentation_url: Option<String>,
    pub provider: Option<CardProvider>,
    pub skills: Vec<DescribedSkill>,
}

#[derive(Clone, Debug, Serialize)]
pub struct CardProvider {
    pub organization: String,
    pub url: String,
}

#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct DescribedSkill {
    pub id: String,
    pub name: String,
    pub description: String,
    pub tags: Vec<String>,
    pub examples: Vec<String>,
    pub input_modes: Vec<String>,
    pub output_modes: Vec<String>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct WrittenCard<'a> {
    name: &'a str,
    description: &'a str,
    version: &'a str,
    supported_interfaces: [WrittenInterface<'a>; 2],
    url: &'a str,
    preferred_transport: &'static str,
    protocol_version: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    provider: Option<&'a CardProvider>,
    #[serde(skip_serializing_if = "Option::is_none")]
    documentation_url: Option<&'a str>,
    capabilities: WrittenCapabilities,
    default_input_modes: [&'static str; 2],
    default_output_modes: [&'static str; 2],
    skills: &'a [DescribedSkill],
    supports_authenticated_extended_card: bool,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct WrittenInterface<'a> {
    url: &'a str,
    protocol_binding: &'static str,
    protocol_version: &'static str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct WrittenCapabilities {
    streaming: bool,
    push_notifications: bool,
}

impl CardDescription {
    /// Writes a card that serves both versions, 1.0 first.
    pub fn write(&self) -> Json {
        const MODES: [&str; 2] = ["text/plain", "application/json"];
        let interface = |version: ProtocolVersion| WrittenInterface {
            url: &self.url,
            protocol_binding: JSON_RPC,
            protocol_version: version.as_str(),
        };
        json(&WrittenCard {
            name: &self.name,
            description: &self.description,
            version: &self.version,
            supported_interfaces: ProtocolVersion::ALL.map(interface),
            url: &self.url,
            preferred_transport: JSON_RPC,
            protocol_version: "0.3.0",
            provider: self.provider.as_ref(),
            documentation_url: self.documentation_url.as_deref(),
            capabilities: WrittenCapabilities { streaming: true, push_notifications: false },
            default_input_modes: MODES,
            default_output_modes: MODES,
            skills: &self.skills,
            supports_authenticated_extended_card: false,
        })
    }
}

/// A card's fields, to look at those that are there.
fn fields(card: &str) -> Option<BTreeMap<String, Box<RawValue>>> {
    serde_json::from_str(card).ok()
}
