//! The register of agents: programs of others that are asked over the A2A protocol.
//!
//! An agent that builds takes part in the arena as the model of the same key, whose provider is [`AGENT`]. This module
//! keeps the two in step: the agent decides about the model's name, its text, and whether it is enabled.

pub mod tokens;

use hyper::Uri;
use sqlx::types::Json;
use sqlx::{PgConnection, PgExecutor};
use time::OffsetDateTime;

use super::ModelKey;
use super::catalog::{self, AGENT, AgentEntry, AgentSource, EditModelError};
use super::jobs::{self, claims};

/// A program that is asked over the A2A protocol.
#[derive(Clone, Debug, PartialEq)]
pub struct RegisteredAgent {
    pub entry: AgentEntry,
    /// A disabled agent is not asked for anything.
    pub enabled: bool,
    /// Whether its address may be in a private network.
    pub allows_private: bool,
    /// What its card said when it was read last, and when that was.
    pub card: Option<(AgentSource, OffsetDateTime)>,
    /// Why it could not be read since.
    pub card_problem: Option<String>,
}

/// Changes of an agent; fields that are none stay as they are.
#[derive(Clone, Debug, Default)]
pub struct AgentPatch {
    pub name: Option<String>,
    /// With whether it may be in a private network.
    pub address: Option<(String, bool)>,
    /// The inner none removes it.
    pub key_variable: Option<Option<String>>,
    pub note: Option<String>,
    pub enabled: Option<bool>,
    pub builds: Option<bool>,
}

/// Why an agent is not changed.
#[derive(Debug, thiserror::Error)]
pub enum EditAgentError {
    #[error("this agent does not exist")]
    NoAgent,
    #[error("there is an agent or a model with this key already")]
    Exists,
    #[error("the agent has builds or jobs, so it cannot be removed; it can be disabled")]
    InUse,
    #[error("{0}")]
    Invalid(String),
    #[error(transparent)]
    Database(#[from] sqlx::Error),
}

impl AgentPatch {
    fn apply(self, stored: RegisteredAgent) -> RegisteredAgent {
        let RegisteredAgent { entry, enabled, allows_private, card, card_problem } = stored;
        let moved = self.address.as_ref().is_some_and(|(url, _)| *url != entry.url);
        // A secret is sent only to the origin that it was given for.
        let keeps_secret = self.address.as_ref().is_none_or(|(url, _)| has_same_origin(url, &entry.url));
        let (url, allows_private) = self.address.unwrap_or((entry.url, allows_private));
        RegisteredAgent {
            entry: AgentEntry {
                key: entry.key,
                name: self.name.unwrap_or(entry.name),
                url,
                key_variable: self.key_variable.unwrap_or(entry.key_variable.filter(|_| keeps_secret)),
                note: self.note.unwrap_or(entry.note),
                builds: self.builds.unwrap_or(entry.builds),
            },
            enabled: self.enabled.unwrap_or(enabled),
            allows_private,
            card: card.filter(|_| !moved),
            card_problem: card_problem.filter(|_| !moved),
        }
    }
}

fn has_same_origin(one: &str, other: &str) -> bool {
    let (Ok(one), Ok(other)) = (one.parse::<Uri>(), other.parse::<Uri>()) else { return false };
    (one.scheme(), one.authority()) == (other.scheme(), other.authority())
}

/// Every agent, by name.
pub async fn all(executor: impl PgExecutor<'_>) -> sqlx::Result<Vec<RegisteredAgent>> {
    read(executor, None).await
}

pub async fn find(executor: impl PgExecutor<'_>, key: &ModelKey) -> sqlx::Result<Option<RegisteredAgent>> {
    Ok(read(executor, Some(key)).await?.pop())
}

/// All agents, or only one.
async fn read(executor: impl PgExecutor<'_>, only: Option<&ModelKey>) -> sqlx::Result<Vec<RegisteredAgent>> {
    let rows = sqlx::query!(
        r#"
        SELECT
            key AS "key: ModelKey", name, url, key_variable, note, enabled, builds, allows_private,
            card AS "card: Json<AgentSource>", card_read_at, card_problem
        FROM agents
        WHERE $1::text IS NULL OR key = $1
        ORDER BY name, key
        "#,
        only as _,
    )
    .fetch_all(executor)
    .await?;
    let agents = rows.into_iter().map(|row| RegisteredAgent {
        entry: AgentEntry {
            key: row.key,
            name: row.name,
            url: row.url,
            key_variable: row.key_variable,
            note: row.note,
            builds: row.builds,
        },
        enabled: row.enabled,
        allows_private: row.allows_private,
        card: row.card.map(|card| card.0).zip(row.card_read_at),
        card_problem: row.card_problem,
    });
    Ok(agents.collect())
}

/// Adds an agent.
pub async fn add(connection: &mut PgConnection, agent: &RegisteredAgent) -> Result<(), EditAgentError> {
    let RegisteredAgent { entry, enabled, allows_private, .. } = agent;
    claims::hold(&mut *connection).await?;
    if catalog::find_model(&mut *connection, &entry.key).await?.is_some() {
        return Err(EditAgentError::Exists);
    }
    let added = sqlx::query!(
        "
        INSERT INTO agents (key, name, url, key_variable, note, builds, enabled, allows_private, edited_at)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, now())
        ON CONFLICT (key) DO NOTHING
        ",
        entry.key as _,
        entry.name,
        entry.url,
        entry.key_variable,
        entry.note,
        entry.builds,
        enabled,
        allows_private,
    )
    .execute(&mut *connection)
    .await?;
    if added.rows_affected() == 0 {
        return Err(EditAgentError::Exists);
    }
    update_model(connection, agent).await
}

/// Changes some fields of an agent, and returns it as it is then.
pub async fn patch(
    connection: &mut PgConnection,
    key: &ModelKey,
    patch: AgentPatch,
) -> Result<RegisteredAgent, EditAgentError> {
    claims::hold(&mut *connection).await?;
    let stored = find(&mut *connection, key).await?.ok_or(EditAgentError::NoAgent)?;
    let agent = patch.apply(stored);
    if let Some(problem) = agent.entry.problem() {
        return Err(EditAgentError::Invalid(problem));
    }
    let (card, card_read_at) = agent.card.clone().unzip();
    sqlx::query!(
        "
        UPDATE agents
        SET name = $2, url = $3, key_variable = $4, note = $5, builds = $6, enabled = $7, allows_private = $8,
            card = $9, card_read_at = $10, card_problem = $11, edited_at = now()
        WHERE key = $1
        ",
        key as _,
        agent.entry.name,
        agent.entry.url,
        agent.entry.key_variable,
        agent.entry.note,
        agent.entry.builds,
        agent.enabled,
        agent.allows_private,
        card.map(Json) as _,
        card_read_at,
        agent.card_problem,
    )
    .execute(&mut *connection)
    .await?;
    update_model(connection, &agent).await?;
    Ok(agent)
}

/// Removes an agent that has neither builds nor jobs.
pub async fn remove(connection: &mut PgConnection, key: &ModelKey) -> Result<(), EditAgentError> {
    claims::hold(&mut *connection).await?;
    let removed =
        sqlx::query!("DELETE FROM agents WHERE key = $1", key as _).execute(&mut *connection).await?;
    if removed.rows_affected() == 0 {
        return Err(EditAgentError::NoAgent);
    }
    match catalog::delete_model(connection, key).await {
        Ok(()) | Err(EditModelError::NoModel) => Ok(()),
        Err(EditModelError::Database(error)) => Err(error.into()),
        Err(_) => Err(EditAgentError::InUse),
    }
}

/// Keeps what an agent's card says, or else why it could not be read, if the agent is still where it was read.
pub async fn keep_card(
    executor: impl PgExecutor<'_>,
    key: &ModelKey,
    url: &str,
    card: Result<&AgentSource, &str>,
) -> sqlx::Result<()> {
    sqlx::query!(
        "
        UPDATE agents
        SET card = coalesce($3, card), card_problem = $4,
            card_read_at = CASE WHEN $3::jsonb IS NULL THEN card_read_at ELSE now() END
        WHERE key = $1 AND url = $2
        ",
        key as _,
        url,
        card.ok().map(Json) as _,
        card.err(),
    )
    .execute(executor)
    .await?;
    Ok(())
}

/// An agent has answered under this card, which may be another one than before.
pub async fn saw_card(executor: impl PgExecutor<'_>, key: &ModelKey, card: &AgentSource) -> sqlx::Result<()> {
    sqlx::query!(
        "
        UPDATE agents
        SET card = $2, card_read_at = now(), card_problem = NULL
        WHERE key = $1 AND (card IS NULL OR card_problem IS NOT NULL OR card ->> 'digest' <> $3)
        ",
        key as _,
        Json(card) as _,
        card.digest,
    )
    .execute(executor)
    .await?;
    Ok(())
}

/// Brings the model of an agent in step with it.
async fn update_model(connection: &mut PgConnection, agent: &RegisteredAgent) -> Result<(), EditAgentError> {
    let AgentEntry { key, name, note, builds, .. } = &agent.entry;
    match catalog::find_model(&mut *connection, key).await? {
        None if !builds => return Ok(()),
        Some(model) if !model.is_agent() => {
            return if *builds { Err(EditAgentError::Exists) } else { Ok(()) };
        }
        _ => {}
    }
    let takes_part = *builds && agent.enabled;
    sqlx::query!(
        "
        INSERT INTO models (key, provider, model_id, display_name, about, enabled, edited_at)
        VALUES ($1, $2, $1, $3, $4, $5, now())
        ON CONFLICT (key) DO UPDATE
        SET display_name = $3, about = $4, enabled = $5, edited_at = now()
        ",
        key as _,
        AGENT,
        name,
        note,
        takes_part,
    )
    .execute(&mut *connection)
    .await?;
    if !takes_part {
        jobs::cancel_queued(connection, Some(key), None).await?;
    }
    Ok(())
}
