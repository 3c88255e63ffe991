//! Owners' tokens: an admin makes one for somebody, who acts for one agent with it.
//!
//! A token is 32 random bytes, and only its SHA-256 is stored: nobody who reads the database can act with it, and looking
//! it up by that digest compares nothing that could be guessed bit by bit.

use serde::Serialize;
use sha2::{Digest, Sha256};
use sqlx::{PgConnection, PgPool};
use time::OffsetDateTime;
use utoipa::ToSchema;
use uuid::Uuid;

use crate::arena::ModelKey;

/// What tokens begin with, so that people and scanners recognise them.
const PREFIX: &str = "buildoff_";

/// How many assessments a token may order in a day, unless somebody says otherwise.
pub const DEFAULT_RUNS_PER_DAY: i32 = 20;

/// The most that a token can be allowed.
pub const MAX_RUNS_PER_DAY: i32 = 100_000;

/// The longest name of a token, in characters.
pub const MAX_NAME_CHARS: usize = 80;

/// An agent's token, without what makes it valid.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct AgentToken {
    pub id: Uuid,
    /// For whom it was made.
    pub name: String,
    /// How many assessments it may order in a day.
    pub runs_per_day: i32,
    #[serde(with = "time::serde::rfc3339")]
    pub created_at: OffsetDateTime,
    #[serde(with = "time::serde::rfc3339::option")]
    #[schema(required)]
    pub used_at: Option<OffsetDateTime>,
    #[serde(with = "time::serde::rfc3339::option")]
    #[schema(required)]
    pub revoked_at: Option<OffsetDateTime>,
}

/// A token that was just made, with the text that is never shown again.
pub struct NewAgentToken {
    pub token: AgentToken,
    pub text: String,
}

/// Makes a token. None if the agent does not exist.
pub async fn make(
    connection: &mut PgConnection,
    agent: &ModelKey,
    name: &str,
    runs_per_day: i32,
) -> sqlx::Result<Option<NewAgentToken>> {
    let text = format!("{PREFIX}{}", hex::encode(rand::random::<[u8; 32]>()));
    let token = sqlx::query_as!(
        AgentToken,
        "
        INSERT INTO agent_tokens (id, agent_key, name, digest, runs_per_day)
        SELECT $1, key, $3, $4, $5
        FROM agents
        WHERE key = $2
        RETURNING id, name, runs_per_day, created_at, used_at, revoked_at
        ",
        Uuid::now_v7(),
        agent as _,
        name,
        &digest(&text)[..],
        runs_per_day,
    )
    .fetch_optional(connection)
    .await?;
    Ok(token.map(|token| NewAgentToken { token, text }))
}

/// The tokens of an agent, the latest first.
pub async fn of_agent(pool: &PgPool, agent: &ModelKey) -> sqlx::Result<Vec<AgentToken>> {
    sqlx::query_as!(
        AgentToken,
        "
        SELECT id, name, runs_per_day, created_at, used_at, revoked_at
        FROM agent_tokens
        WHERE agent_key = $1
        ORDER BY id DESC
        ",
        agent as _,
    )
    .fetch_all(pool)
    .await
}

/// Revokes a token for good. Returns whether the agent has it.
pub async fn revoke(connection: &mut PgConnection, agent: &ModelKey, id: Uuid) -> sqlx::Result<bool> {
    let revoked = sqlx::query!(
        "
        UPDATE agent_tokens
        SET revoked_at = coalesce(revoked_at, now())
        WHERE agent_key = $1 AND id = $2
        ",
        agent as _,
        id,
    )
    .execute(connection)
    .await?;
    Ok(revoked.rows_affected() > 0)
}

/// Whom a token acts for.
pub struct TokenOwner {
    pub token: Uuid,
    pub agent: ModelKey,
    /// For whom it was made.
    pub name: String,
}

/// Whether a text looks like an owner's token, and not like an admin's.
pub fn is_one(text: &str) -> bool {
    text.starts_with(PREFIX)
}

/// None if there is no such token, or it is revoked.
pub async fn owner_of(pool: &PgPool, text: &str) -> sqlx::Result<Option<TokenOwner>> {
    if !is_one(text) {
        return Ok(None);
    }
    sqlx::query_as!(
        TokenOwner,
        r#"
        UPDATE agent_tokens
        SET used_at = now()
        WHERE digest = $1 AND revoked_at IS NULL
        RETURNING id AS token, agent_key AS "agent: ModelKey", name
        "#,
        &digest(text)[..],
    )
    .fetch_optional(pool)
    .await
}

fn digest(text: &str) -> [u8; 32] {
    Sha256::digest(text.as_bytes()).into()
}
