//! `buildoff agents card`: what an agent's card says, and what is wrong with it.

use std::process::ExitCode;

use a2a::{AgentCard, CardFinding, CredentialPlace, FindingSeverity, check_card};
use serde_json::{Value, json};
use tokio::time::timeout;

use crate::cli::{output, runtime};
use crate::generate::a2a::{agent_address, fetch_card};
use crate::generate::{Endpoint, ProviderKind, RequestLimits};

pub(super) fn run(url: &str, json: bool) -> anyhow::Result<ExitCode> {
    let text = runtime()?.block_on(fetch(url))?;
    let findings = check_card(&text);
    let card = AgentCard::parse(text.as_bytes()).ok();
    let is_usable = card.as_ref().is_some_and(|card| card.choose().is_ok());
    if json {
        let card: Value = serde_json::from_str(&text).unwrap_or_default();
        output::json(&json!({ "usable": is_usable, "findings": findings, "card": card }))?;
    } else {
        if let Some(card) = &card {
            explain(card)?;
        }
        report(&findings)?;
    }
    let has_errors = findings.iter().any(|finding| finding.severity == FindingSeverity::Error);
    Ok(if is_usable && !has_errors { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Whoever uses the command line may look at addresses of their own network.
async fn fetch(url: &str) -> anyhow::Result<String> {
    let base_url = agent_address(url)?;
    let endpoint = Endpoint { provider: ProviderKind::A2a, base_url, key: None, pinned: None };
    let limits = RequestLimits::quick();
    let fetched = timeout(limits.total, fetch_card(&endpoint, true, limits)).await;
    let fetched = fetched.map_err(|_| anyhow::anyhow!("the agent did not answer in time"))?;
    fetched.map_err(|error| anyhow::anyhow!("{}", error.message_with_status()))
}

fn explain(card: &AgentCard) -> anyhow::Result<()> {
    output::line(format_args!("{} {}", card.name, card.version))?;
    if !card.description.is_empty() {
        output::line(format_args!("  {}", card.description))?;
    }
    match card.choose() {
        Ok(interface) => {
            let (url, version) = (&interface.url, interface.version.as_str());
            let way = if card.streaming { "its answers stream" } else { "it is polled" };
            output::line(format_args!("  asked at {url} in version {version} of the protocol; {way}"))?;
        }
        Err(why) => output::line(format_args!("  cannot be asked: {why}"))?,
    }
    for interface in &card.interfaces {
        let (transport, version, url) = (&interface.transport, &interface.protocol_version, &interface.url);
        output::line(format_args!("  offers {transport} {version} at {url}"))?;
    }
    for skill in &card.skills {
        output::line(format_args!("  skill {}: {}", skill.id, skill.description))?;
    }
    let secret = match &card.credential {
        Some(CredentialPlace::Bearer) => "takes a secret as bearer token".to_owned(),
        Some(CredentialPlace::Header(name)) => format!("takes a secret in the header {name}"),
        None => "declares no secret".to_owned(),
    };
    Ok(output::line(format_args!("  {secret}"))?)
}

fn report(findings: &[CardFinding]) -> anyhow::Result<()> {
    if findings.is_empty() {
        return Ok(output::line("The card is in order for the versions that it offers.")?);
    }
    for CardFinding { severity, version, field, message } in findings {
        let severity = match severity {
            FindingSeverity::Error => "error",
            FindingSeverity::Warning => "warning",
        };
        let version = version.map_or(String::new(), |version| format!(" ({version})"));
        output::line(format_args!("{severity}{version} at {field}: {message}"))?;
    }
    Ok(())
}
