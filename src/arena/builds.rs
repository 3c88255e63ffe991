//! Builds: stored, read back, retired.

use std::io::Read;

use sqlx::types::Json;
use sqlx::{PgConnection, PgExecutor, PgPool};
use time::OffsetDateTime;
use uuid::Uuid;

use super::{ModelKey, PromptId, Settings};
use voxel::codec::{self, CompressionLevel, DecodeError, Digest};
use voxel::{self, Grid, Rejection, ValidGrid, Verdict, Warning};

/// Encodings up to this size are compressed best when they are stored, which takes some milliseconds. Larger ones are
/// compressed fast first, and best in the background.
const SMALL_GRID_BYTES: usize = 1 << 15;

/// How many grids are read at a time to count their kinds of blocks. The largest have some megabytes.
const COUNTED_AT_A_TIME: i64 = 32;

/// The most bytes that a stored spec may unpack to.
const MAX_SPEC_BYTES: usize = 2 << 30;

/// What a build is for. At most one build is in force for each slot.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct BuildSlot {
    pub prompt: PromptId,
    pub model: ModelKey,
    pub settings: Settings,
}

/// A valid build as it is stored. Packing one is heavy work.
pub struct PackedBuild {
    pub digest: Digest,
    /// The encoded grid, compressed.
    pub(super) grid: Vec<u8>,
    pub(super) grid_is_best: bool,
    pub(super) spec: Vec<u8>,
    pub warnings: Vec<Warning>,
    pub block_count: u32,
    /// The number of different blocks.
    pub block_kinds: u8,
}

/// How a build was generated; unknown for imports.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GenerationInfo {
    pub attempts: Option<i32>,
    pub generation_time_ms: Option<i64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StoredBuild {
    pub id: Uuid,
    /// Whether another build was retired for it.
    pub overwritten: bool,
}

#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    #[error("this model already has a build of this prompt")]
    Exists,
    #[error("this prompt does not exist")]
    NoPrompt,
    #[error("this model does not exist")]
    NoModel,
    #[error(transparent)]
    Database(sqlx::Error),
}

/// A stored build, without its grid and spec.
#[derive(Clone, Debug)]
pub struct Build {
    pub id: Uuid,
    pub prompt_id: PromptId,
    pub prompt_text: String,
    pub model_key: ModelKey,
    pub model_name: String,
    pub provider: String,
    pub settings: Settings,
    pub digest: Vec<u8>,
    pub block_count: i32,
    pub warnings: Json<Vec<Warning>>,
    pub attempts: Option<i32>,
    pub generation_time_ms: Option<i64>,
    pub created_at: OffsetDateTime,
    pub retired_at: Option<OffsetDateTime>,
    /// Whether only matchups show it, since its prompt is held out.
    pub withheld: bool,
}

/// A grid as it is stored: its compressed encoding, and the digest of the encoding.
#[derive(Clone, Debug)]
pub struct StoredGrid {
    pub digest: Vec<u8>,
    pub packed: Vec<u8>,
}

/// How a stored grid is damaged.
#[derive(Debug, thiserror::Error)]
pub enum CorruptGridError {
    #[error(transparent)]
    Decode(#[from] DecodeError),
    #[error("the grid does not match its digest")]
    Digest,
}

impl PackedBuild {
    /// Reads any text that contains a spec, or a file of another tool, as [`voxel::check`] does.
    ///
    /// # Errors
    /// If it is not a valid build at these settings, or its spec would be too large.
    pub fn read(input: &[u8], settings: &Settings, max_bytes: usize) -> Result<Self, Rejection> {
        match voxel::check(input, settings.grid, settings.palette, max_bytes) {
            Verdict::Accepted { build, spec, warnings } => {
                let spec = spec.map_or_else(|| build.write_spec(max_bytes), Ok)?;
                Ok(Self::new(&build, &spec, warnings))
            }
            Verdict::Rejected { rejection, .. } | Verdict::Unreadable(rejection) => Err(rejection),
        }
    }

    /// `spec` is the JSON that the build was read from.
    pub fn new(build: &ValidGrid, spec: &str, warnings: Vec<Warning>) -> Self {
        let encoded = codec::encode(build.grid());
        let grid_is_best = encoded.len() <= SMALL_GRID_BYTES;
        let stats = build.stats();
        let level = if grid_is_best { CompressionLevel::Best } else { CompressionLevel::Fast };
        Self {
            digest: Digest::of(&encoded),
            grid: codec::pack(&encoded, level),
            grid_is_best,
            spec: codec::pack(spec.as_bytes(), CompressionLevel::Fast),
            warnings,
            block_count: stats.block_count,
            block_kinds: stats.kind_count(),
        }
    }
}

/// Stores a build in the caller's transaction. With `overwrite`, the build in force is retired.
pub async fn store(
    connection: &mut PgConnection,
    slot: &BuildSlot,
    build: &PackedBuild,
    generation: GenerationInfo,
    overwrite: bool,
) -> Result<StoredBuild, StoreError> {
    let overwritten = overwrite && {
        lock_slot(connection, slot).await?;
        retire_in_force(connection, slot).await?
    };
    let id = Uuid::new_v4();
    sqlx::query!(
        "
        INSERT INTO builds (
            id, prompt_id, model_key, settings, digest, grid, grid_is_best, spec,
            warnings, block_count, block_kinds, attempts, generation_time_ms
        )
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)
        ",
        id,
        slot.prompt as _,
        slot.model as _,
        slot.settings as _,
        &build.digest.0[..],
        build.grid,
        build.grid_is_best,
        build.spec,
        Json(&build.warnings) as _,
        build.block_count as i32,
        i16::from(build.block_kinds),
        generation.attempts,
        generation.generation_time_ms,
    )
    .execute(connection)
    .await?;
    Ok(StoredBuild { id, overwritten })
}

/// Makes those who overwrite the same build wait for each other, so that each one retires the build before it.
async fn lock_slot(connection: &mut PgConnection, slot: &BuildSlot) -> sqlx::Result<()> {
    let name = format!("{} {} {}", slot.prompt, slot.model, slot.settings.slug());
    sqlx::query!("SELECT pg_advisory_xact_lock(hashtextextended($1, 0))", name).execute(connection).await?;
    Ok(())
}

async fn retire_in_force(connection: &mut PgConnection, slot: &BuildSlot) -> sqlx::Result<bool> {
    let retired = sqlx::query!(
        "
        UPDATE builds
        SET retired_at = now()
        WHERE prompt_id = $1 AND model_key = $2 AND settings = $3 AND retired_at IS NULL
        ",
        slot.prompt as _,
        slot.model as _,
        slot.settings as _,
    )
    .execute(connection)
    .await?;
    Ok(retired.rows_affected() > 0)
}

/// Whether a build is in force for a slot.
pub async fn exists(connection: &mut PgConnection, slot: &BuildSlot) -> sqlx::Result<bool> {
    sqlx::query_scalar!(
        r#"
        SELECT EXISTS (
            SELECT FROM builds
            WHERE prompt_id = $1 AND model_key = $2 AND settings = $3 AND retired_at IS NULL
        ) AS "is_there!"
        "#,
        slot.prompt as _,
        slot.model as _,
        slot.settings as _,
    )
    .fetch_one(connection)
    .await
}

/// Retires a build. Returns its prompt and model, unless it does not exist or was retired already.
pub async fn retire(connection: &mut PgConnection, id: Uuid) -> sqlx::Result<Option<(PromptId, ModelKey)>> {
    let row = sqlx::query!(
        r#"
        UPDATE builds
        SET retired_at = now()
        WHERE id = $1 AND retired_at IS NULL
        RETURNING prompt_id AS "prompt_id: PromptId", model_key AS "model_key: ModelKey"
        "#,
        id
    )
    .fetch_optional(connection)
    .await?;
    Ok(row.map(|row| (row.prompt_id, row.model_key)))
}

/// Retires all builds of a model. Returns how many.
pub async fn retire_all(connection: &mut PgConnection, model: &ModelKey) -> sqlx::Result<u64> {
    let retired = sqlx::query!(
        "UPDATE builds SET retired_at = now() WHERE model_key = $1 AND retired_at IS NULL",
        model as _,
    )
    .execute(connection)
    .await?;
    Ok(retired.rows_affected())
}

/// The rules are constraints of the table; this maps their violations to errors.
impl From<sqlx::Error> for StoreError {
    fn from(error: sqlx::Error) -> Self {
        match error.as_database_error().and_then(sqlx::error::DatabaseError::constraint) {
            Some("builds_in_force") => Self::Exists,
            Some("builds_prompt_id_fkey") => Self::NoPrompt,
            Some("builds_model_key_fkey") => Self::NoModel,
            _ => Self::Database(error),
        }
    }
}

pub async fn find(pool: &PgPool, id: Uuid) -> sqlx::Result<Option<Build>> {
    sqlx::query_as!(
        Build,
        r#"
        SELECT
            builds.id, prompt_id AS "prompt_id: PromptId", prompts.text AS prompt_text,
            model_key AS "model_key: ModelKey", models.display_name AS model_name, provider,
            settings AS "settings: Settings", digest, block_count,
            warnings AS "warnings: Json<Vec<Warning>>",
            attempts, generation_time_ms, builds.created_at, retired_at, withheld
        FROM builds
        JOIN prompts ON prompts.id = prompt_id
        JOIN models ON models.key = model_key
        WHERE builds.id = $1
        "#,
        id
    )
    .fetch_optional(pool)
    .await
}

/// Whether only matchups show a build; none if it does not exist.
pub async fn is_withheld(pool: &PgPool, id: Uuid) -> sqlx::Result<Option<bool>> {
    sqlx::query_scalar!("SELECT withheld FROM builds WHERE id = $1", id).fetch_optional(pool).await
}

/// Shows the withheld builds on which so many votes are counted. It waits for nobody: rows that another server is
/// changing are left to it, or to the next time. Returns how many it has shown.
pub async fn show_judged(pool: &PgPool, votes: u32) -> sqlx::Result<u64> {
    let shown = sqlx::query!(
        "
        UPDATE builds
        SET withheld = false
        WHERE id IN (
            SELECT id
            FROM builds
            WHERE withheld AND $1 <= (
                SELECT coalesce(sum(a + b + tie + both_bad), 0)
                FROM tallies
                WHERE build_a = builds.id OR build_b = builds.id
            )
            FOR UPDATE SKIP LOCKED
        )
        ",
        i64::from(votes),
    )
    .execute(pool)
    .await?;
    Ok(shown.rows_affected())
}

pub async fn grid(pool: &PgPool, id: Uuid) -> sqlx::Result<Option<StoredGrid>> {
    sqlx::query_as!(StoredGrid, "SELECT digest, grid AS packed FROM builds WHERE id = $1", id)
        .fetch_optional(pool)
        .await
}

/// The compressed text of a build's spec.
pub async fn spec(pool: &PgPool, id: Uuid) -> sqlx::Result<Option<Vec<u8>>> {
    sqlx::query_scalar!("SELECT spec FROM builds WHERE id = $1", id).fetch_optional(pool).await
}

/// The ids of all builds, including retired ones.
pub async fn ids(pool: &PgPool) -> sqlx::Result<Vec<Uuid>> {
    sqlx::query_scalar!("SELECT id FROM builds ORDER BY id").fetch_all(pool).await
}

/// A build whose grid is not compressed best yet.
pub async fn next_to_repack(pool: &PgPool) -> sqlx::Result<Option<(Uuid, StoredGrid)>> {
    let row = sqlx::query!("SELECT id, digest, grid FROM builds WHERE NOT grid_is_best LIMIT 1")
        .fetch_optional(pool)
        .await?;
    Ok(row.map(|row| (row.id, StoredGrid { digest: row.digest, packed: row.grid })))
}

/// Stores the grid that [`next_to_repack`] found, compressed best. Without a grid, as for a damaged one, the stored one
/// is kept and not repacked again.
pub async fn store_repacked(pool: &PgPool, id: Uuid, grid: Option<&[u8]>) -> sqlx::Result<()> {
    sqlx::query!("UPDATE builds SET grid = coalesce($2, grid), grid_is_best = true WHERE id = $1", id, grid)
        .execute(pool)
        .await?;
    Ok(())
}

/// Builds whose kinds of blocks have not been counted, since an older version stored them.
pub async fn next_to_count(pool: &PgPool) -> sqlx::Result<Vec<(Uuid, StoredGrid)>> {
    let rows = sqlx::query!(
        "SELECT id, digest, grid FROM builds WHERE block_kinds IS NULL ORDER BY id LIMIT $1",
        COUNTED_AT_A_TIME,
    )
    .fetch_all(pool)
    .await?;
    let grid = |digest, packed| StoredGrid { digest, packed };
    Ok(rows.into_iter().map(|row| (row.id, grid(row.digest, row.grid))).collect())
}

/// Stores how many kinds of blocks each of these builds has; 0 for a damaged grid, so that it is not counted again.
pub async fn store_kinds(pool: &PgPool, counted: &[(Uuid, u8)]) -> sqlx::Result<()> {
    let (ids, kinds): (Vec<Uuid>, Vec<i16>) =
        counted.iter().map(|(id, kinds)| (*id, i16::from(*kinds))).unzip();
    sqlx::query!(
        "
        UPDATE builds
        SET block_kinds = counted.kinds
        FROM unnest($1::uuid[], $2::smallint[]) AS counted (id, kinds)
        WHERE builds.id = counted.id
        ",
        &ids,
        &kinds,
    )
    .execute(pool)
    .await?;
    Ok(())
}

/// Whether there are builds, including retired ones.
pub async fn any(executor: impl PgExecutor<'_>) -> sqlx::Result<bool> {
    sqlx::query_scalar!(r#"SELECT EXISTS (SELECT FROM builds) AS "any!""#).fetch_one(executor).await
}

impl StoredGrid {
    /// The canonical encoding, checked against the digest.
    pub fn encoding(&self) -> Result<Vec<u8>, CorruptGridError> {
        let encoded = codec::unpack(&self.packed)?;
        match Digest::of(&encoded).0[..] == self.digest[..] {
            true => Ok(encoded),
            false => Err(CorruptGridError::Digest),
        }
    }

    pub fn open(&self) -> Result<Grid, CorruptGridError> {
        Ok(codec::decode(&self.encoding()?)?)
    }
}

/// Reads a spec that [`spec`] returned, without holding all of it in memory.
pub fn spec_reader(packed: &[u8]) -> impl Read {
    codec::reader(packed).take(MAX_SPEC_BYTES as u64)
}

/// Unpacks a spec that [`spec`] returned.
pub fn unpack_spec(packed: &[u8]) -> Result<Vec<u8>, DecodeError> {
    codec::unpack_within(packed, MAX_SPEC_BYTES)
}
