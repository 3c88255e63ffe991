//! Drafts: builds of the sandbox. They last for an hour, or as long as their run is kept, and never enter the arena.

use sqlx::types::Json;
use sqlx::{PgExecutor, PgPool};
use time::{Duration, OffsetDateTime};
use uuid::Uuid;

use super::Settings;
use super::builds::{GenerationInfo, PackedBuild, StoredGrid};
use voxel::Warning;

/// How long a draft lasts, unless its run is kept.
const DRAFT_LIFETIME: Duration = Duration::hours(1);

/// The most bytes of all drafts that are not kept.
const MAX_BYTES: i64 = 2 << 30;

/// What a draft was made from.
#[derive(Clone, Debug)]
pub struct DraftOrigin {
    pub prompt: String,
    pub settings: Settings,
    pub model: String,
    pub generation: GenerationInfo,
}

/// A stored draft, without its grid and spec.
#[derive(Clone, Debug)]
pub struct Draft {
    pub id: Uuid,
    pub prompt: String,
    pub settings: Settings,
    pub model: String,
    /// The model's name in the catalog; its key where the catalog does not know it.
    pub model_name: String,
    pub digest: Vec<u8>,
    pub block_count: i32,
    pub warnings: Json<Vec<Warning>>,
    pub attempts: Option<i32>,
    pub generation_time_ms: Option<i64>,
    pub created_at: OffsetDateTime,
    pub expires_at: OffsetDateTime,
}

#[derive(Debug, thiserror::Error)]
pub enum StoreDraftError {
    #[error("the sandbox is full")]
    Full,
    #[error(transparent)]
    Database(#[from] sqlx::Error),
}

pub async fn store(
    pool: &PgPool,
    origin: &DraftOrigin,
    build: &PackedBuild,
) -> Result<Uuid, StoreDraftError> {
    let id = Uuid::new_v4();
    let expires_at = OffsetDateTime::now_utc() + DRAFT_LIFETIME;
    let stored = sqlx::query!(
        "
        INSERT INTO drafts (
            id, prompt, settings, model, digest, grid, warnings, block_count, attempts, generation_time_ms,
            expires_at
        )
        SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11
        WHERE $12 > (SELECT coalesce(sum(octet_length(grid)), 0) FROM drafts WHERE expires_at <= $11)
        ",
        id,
        origin.prompt,
        origin.settings as _,
        origin.model,
        &build.digest.0[..],
        build.grid,
        Json(&build.warnings) as _,
        build.block_count as i32,
        origin.generation.attempts,
        origin.generation.generation_time_ms,
        expires_at,
        MAX_BYTES,
    )
    .execute(pool)
    .await?;
    if stored.rows_affected() == 0 { Err(StoreDraftError::Full) } else { Ok(id) }
}

pub async fn grid(pool: &PgPool, id: Uuid) -> sqlx::Result<Option<StoredGrid>> {
    sqlx::query_as!(
        StoredGrid,
        "SELECT digest, grid AS packed FROM drafts WHERE id = $1 AND expires_at > now()",
        id
    )
    .fetch_optional(pool)
    .await
}

pub async fn find(executor: impl PgExecutor<'_>, id: Uuid) -> sqlx::Result<Option<Draft>> {
    sqlx::query_as!(
        Draft,
        r#"
        SELECT
            id, prompt, settings AS "settings: Settings", model,
            coalesce((SELECT display_name FROM models WHERE key = model), model) AS "model_name!",
            digest, block_count, warnings AS "warnings: Json<Vec<Warning>>",
            attempts, generation_time_ms, created_at, expires_at
        FROM drafts
        WHERE id = $1 AND expires_at > now()
        "#,
        id
    )
    .fetch_optional(executor)
    .await
}

/// Deletes expired drafts.
pub async fn purge(pool: &PgPool) -> sqlx::Result<()> {
    sqlx::query!("DELETE FROM drafts WHERE expires_at <= now()").execute(pool).await?;
    Ok(())
}
