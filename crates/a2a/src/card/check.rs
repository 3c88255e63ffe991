//! Whether a card is as each version of the specification demands.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::{AgentCard, AgentCardError, fields};
use crate::version::ProtocolVersion;

/// Something about a card that its author should know.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CardFinding {
    pub severity: FindingSeverity,
    /// The version that demands it; none if it matters to both.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<&'static str>,
    /// The field, as a path like `skills[0].id`.
    pub field: String,
    pub message: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum FindingSeverity {
    /// Clients of that version cannot use the card.
    Error,
    /// Clients may take the card for something else than it is meant to be.
    Warning,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum FieldKind {
    Text,
    List,
    Object,
}

/// The fields that a card must have in both versions.
const COMMON: [(&str, FieldKind); 7] = [
    ("name", FieldKind::Text),
    ("description", FieldKind::Text),
    ("version", FieldKind::Text),
    ("capabilities", FieldKind::Object),
    ("defaultInputModes", FieldKind::List),
    ("defaultOutputModes", FieldKind::List),
    ("skills", FieldKind::List),
];

/// The fields that each entry of a list must have.
const SKILL: [(&str, FieldKind); 4] = [
    ("id", FieldKind::Text),
    ("name", FieldKind::Text),
    ("description", FieldKind::Text),
    ("tags", FieldKind::List),
];

const INTERFACE: [(&str, FieldKind); 3] =
    [("url", FieldKind::Text), ("protocolBinding", FieldKind::Text), ("protocolVersion", FieldKind::Text)];

/// Looks a card through. A card for one version alone is in order: what the other version demands is then not missed.
pub fn check_card(card: &str) -> Vec<CardFinding> {
    let Some(fields) = fields(card) else {
        return vec![error(None, "", "This is not a JSON object.".to_owned())];
    };
    let mut findings = Vec::new();
    require(&fields, &COMMON, "", None, &mut findings);
    for_each(&fields, "skills", |place, skill| require(skill, &SKILL, place, None, &mut findings));
    let (is_new, is_old) = (fields.contains_key("supportedInterfaces"), fields.contains_key("url"));
    if is_new {
        let version = Some(ProtocolVersion::V1_0);
        require(&fields, &[("supportedInterfaces", FieldKind::List)], "", version, &mut findings);
        for_each(&fields, "supportedInterfaces", |place, interface| {
            require(interface, &INTERFACE, place, version, &mut findings);
        });
    }
    if is_old {
        let version = Some(ProtocolVersion::V0_3);
        require(&fields, &[("url", FieldKind::Text)], "", version, &mut findings);
        if !fields.contains_key("protocolVersion") {
            let message = "It is missing, so clients take it for 0.3.0.".to_owned();
            findings.push(warning(version, "protocolVersion", message));
        }
    }
    if is_new && !is_old {
        let message = "Without it and \"protocolVersion\", clients of 0.3 cannot reach the agent.".to_owned();
        findings.push(warning(Some(ProtocolVersion::V0_3), "url", message));
    }
    if let Ok(card) = AgentCard::parse(card.as_bytes())
        && let Err(why) = card.choose()
    {
        let field = match why {
            AgentCardError::RequiredExtension(_) => "capabilities.extensions",
            _ => "supportedInterfaces",
        };
        findings.push(error(None, field, sentence(&why.to_string())));
    }
    findings
}

fn require(
    object: &BTreeMap<String, Box<RawValue>>,
    required: &[(&str, FieldKind)],
    place: &str,
    version: Option<ProtocolVersion>,
    findings: &mut Vec<CardFinding>,
) {
    for &(name, kind) in required {
        let field = if place.is_empty() { name.to_owned() } else { format!("{place}.{name}") };
        let value = object.get(name).and_then(|raw| serde_json::from_str::<Value>(raw.get()).ok());
        let problem = match (value, kind) {
            (None | Some(Value::Null), _) => "It is missing.",
            (Some(Value::String(text)), FieldKind::Text) if text.trim().is_empty() => "It is empty.",
            (Some(Value::String(_)), FieldKind::Text)
            | (Some(Value::Array(_)), FieldKind::List)
            | (Some(Value::Object(_)), FieldKind::Object) => continue,
            (Some(_), FieldKind::Text) => "It must be a text.",
            (Some(_), FieldKind::List) => "It must be a list.",
            (Some(_), FieldKind::Object) => "It must be an object.",
        };
        findings.push(error(version, &field, problem.to_owned()));
    }
}

fn for_each(
    fields: &BTreeMap<String, Box<RawValue>>,
    list: &str,
    mut look: impl FnMut(&str, &BTreeMap<String, Box<RawValue>>),
) {
    let entries = fields.get(list).and_then(|raw| serde_json::from_str::<Vec<Box<RawValue>>>(raw.get()).ok());
    for (index, entry) in entries.unwrap_or_default().iter().take(super::MAX_ITEMS).enumerate() {
        let object = super::fields(entry.get()).unwrap_or_default();
        look(&format!("{list}[{index}]"), &object);
    }
}

fn error(version: Option<ProtocolVersion>, field: &str, message: String) -> CardFinding {
    finding(FindingSeverity::Error, version, field, message)
}

fn warning(version: Option<ProtocolVersion>, field: &str, message: String) -> CardFinding {
    finding(FindingSeverity::Warning, version, field, message)
}

fn finding(
    severity: FindingSeverity,
    version: Option<ProtocolVersion>,
    field: &str,
    message: String,
) -> CardFinding {
    CardFinding { severity, version: version.map(ProtocolVersion::as_str), field: field.to_owned(), message }
}

fn sentence(text: &str) -> String {
    let mut chars = text.chars();
    let first = chars.next().map(|c| c.to_uppercase().to_string()).unwrap_or_default();
    format!("{first}{}.", chars.as_str())
}
