//! Agents in `models.toml`: providers of the kind `a2a`. What admins and owners do with them is in `arena::agents`.

use std::collections::BTreeMap;

use anyhow::{Context, bail, ensure};
use serde::{Deserialize, Serialize};
use sqlx::{PgConnection, PgExecutor};
use utoipa::ToSchema;

use super::providers::{is_address, is_variable};
use super::{AGENT, Model, ModelOptions, Provider, ProviderKind, check_length};
use crate::arena::ModelKey;

/// An agent as somebody enters it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentEntry {
    pub key: ModelKey,
    pub name: String,
    /// Where its card is, without a trailing slash.
    pub url: String,
    /// The environment variable that holds its secret.
    pub key_variable: Option<String>,
    pub note: String,
    /// Whether it takes part in the arena.
    pub builds: bool,
}

/// Contestants by what they are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
#[schema(default = "all")]
pub enum ContestantKind {
    #[default]
    All,
    Models,
    Agents,
}

impl ContestantKind {
    pub const ALL: [(Self, &str); 3] =
        [(Self::All, "Any"), (Self::Models, "Models"), (Self::Agents, "Agents")];

    pub fn name(self) -> &'static str {
        match self {
            Self::All => "all",
            Self::Models => "models",
            Self::Agents => "agents",
        }
    }

    /// Its name in the address of a page, which leaves out the default.
    pub fn in_address(self) -> &'static str {
        if self == Self::All { "" } else { self.name() }
    }

    /// Whether only agents are meant, or only others; none for both.
    pub fn only_agents(self) -> Option<bool> {
        match self {
            Self::All => None,
            Self::Models => Some(false),
            Self::Agents => Some(true),
        }
    }

    /// Whether models of this provider are of the kind.
    pub fn includes(self, provider: &str) -> bool {
        self.only_agents().is_none_or(|agents| agents == (provider == AGENT))
    }
}

/// What stands in the addresses of pages and of the API where keys of agents do.
const RESERVED_KEYS: [&str; 3] = ["board", "connect", "examples"];

impl AgentEntry {
    /// What is wrong with it, as a sentence.
    pub fn problem(&self) -> Option<String> {
        let address = (!is_address(&self.url) || self.url.len() > 500).then_some(
            "url must be an address of at most 500 characters that begins with http:// or https://, without ? or #",
        );
        // The value may be a secret by mistake, so the message does not repeat it.
        let variable = self
            .key_variable
            .as_deref()
            .filter(|name| !is_variable(name))
            .map(|_| "keyVariable must be the name of an environment variable, made of A-Z, 0-9 and _");
        let key = RESERVED_KEYS
            .contains(&self.key.as_str())
            .then_some("this key is a page of its own; choose another");
        check_length("name", &self.name, 1..=80)
            .or_else(|| check_length("note", &self.note, 0..=1000))
            .or_else(|| address.or(variable).or(key).map(str::to_owned))
    }

    /// The model that it is in the arena.
    fn model(&self) -> Model {
        Model {
            key: self.key.clone(),
            provider: AGENT.to_owned(),
            model_id: self.key.to_string(),
            display_name: self.name.clone(),
            about: self.note.clone(),
            via: BTreeMap::new(),
            prices: None,
            options: ModelOptions::default(),
            vision: false,
            budget: None,
        }
    }
}

/// Who an agent said that it is: its builds keep this, since agents change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AgentSource {
    pub host: String,
    /// The name, version and protocol that the card gives.
    pub name: String,
    pub version: String,
    pub protocol: String,
    /// The SHA-256 of the card, in hexadecimal.
    pub digest: String,
}

/// Takes the agents out of a list of providers. Each has a model with its key, which is added where the file has none.
pub(super) fn split(
    providers: Vec<Provider>,
    models: &mut Vec<Model>,
) -> anyhow::Result<(Vec<AgentEntry>, Vec<Provider>)> {
    let (agents, providers): (Vec<_>, Vec<_>) =
        providers.into_iter().partition(|provider| provider.kind == ProviderKind::A2a);
    let agents: anyhow::Result<Vec<_>> = agents.into_iter().map(|agent| entry(agent, models)).collect();
    Ok((agents?, providers))
}

fn entry(provider: Provider, models: &mut Vec<Model>) -> anyhow::Result<AgentEntry> {
    let Provider { key, display_name: name, base_url: url, key_variable, .. } = provider;
    let key: ModelKey = key.parse().map_err(anyhow::Error::msg).context("the key of an agent")?;
    let mut entry = AgentEntry { key, name, url, key_variable, note: String::new(), builds: true };
    if let Some(problem) = entry.problem() {
        bail!("{}: {problem}", entry.key);
    }
    let key = entry.key.as_str();
    if let Some(stray) = models.iter().find(|model| model.provider == key && model.key != entry.key) {
        bail!("{}: the model of the agent {key} must have the same key as the agent", stray.key);
    }
    match models.iter_mut().find(|model| model.key == entry.key) {
        Some(model) => {
            ensure!(
                model.provider == key,
                "{key}: a model of another provider has the same key as the agent"
            );
            entry.note.clone_from(&model.about);
            entry.name.clone_from(&model.display_name);
            (model.provider, model.model_id) = (AGENT.to_owned(), key.to_owned());
        }
        None => models.push(entry.model()),
    }
    Ok(entry)
}

/// Adds the agents of the catalog's files, and updates those that nobody has edited. Their models are seeded with the
/// other models. An agent that an admin has stopped from building stays so.
pub(super) async fn seed_agents(connection: &mut PgConnection, agents: &[AgentEntry]) -> sqlx::Result<()> {
    for agent in agents {
        sqlx::query!(
            "
            INSERT INTO agents (key, name, url, key_variable, note, builds, allows_private)
            VALUES ($1, $2, $3, $4, $5, $6, true)
            ON CONFLICT (key) DO UPDATE
            SET name = $2, url = $3, key_variable = $4, note = $5, allows_private = true,
                card = CASE WHEN agents.url = $3 THEN agents.card END,
                card_read_at = CASE WHEN agents.url = $3 THEN agents.card_read_at END,
                card_problem = CASE WHEN agents.url = $3 THEN agents.card_problem END
            WHERE agents.edited_at IS NULL
              AND (agents.name, agents.url, agents.key_variable, agents.note) IS DISTINCT FROM ($2, $3, $4, $5)
            ",
            agent.key as _,
            agent.name,
            agent.url,
            agent.key_variable,
            agent.note,
            agent.builds,
        )
        .execute(&mut *connection)
        .await?;
    }
    Ok(())
}

/// An admin has enabled or disabled the model of an agent, so that it builds or builds no more.
pub(super) async fn follow_model(
    executor: impl PgExecutor<'_>,
    model: &ModelKey,
    enabled: bool,
) -> sqlx::Result<()> {
    sqlx::query!("UPDATE agents SET builds = $2 WHERE key = $1", model as _, enabled)
        .execute(executor)
        .await?;
    Ok(())
}
