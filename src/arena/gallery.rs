//! The gallery: builds in force, filtered, sorted and paged.

use serde::{Deserialize, Serialize};
use sqlx::PgPool;
use uuid::Uuid;

/// Builds on a page.
pub const PAGE: i64 = 24;

/// What to show; nothing given shows all.
#[derive(Clone, Debug, Default)]
pub struct GalleryFilter {
    pub prompt: Option<String>,
    pub model: Option<String>,
    pub grid_size: Option<i16>,
    pub palette: Option<String>,
    pub sort: GallerySort,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum GallerySort {
    #[default]
    Newest,
    Oldest,
    Largest,
    Smallest,
}

/// A build as the gallery shows it.
#[derive(Clone, Debug)]
pub struct BuildCard {
    pub id: Uuid,
    pub prompt_id: String,
    pub prompt_text: String,
    pub model_key: String,
    pub model_name: String,
    pub grid_size: i16,
    pub palette: String,
    pub mode: String,
    pub block_count: i32,
}

/// A prompt with how much there is of it.
#[derive(Clone, Debug)]
pub struct PromptCard {
    pub id: String,
    pub text: String,
    pub tags: Vec<String>,
    pub builds: i64,
    /// The largest of its builds, to show.
    pub cover: Option<Uuid>,
}

impl GallerySort {
    pub const ALL: [Self; 4] = [Self::Newest, Self::Oldest, Self::Largest, Self::Smallest];

    pub fn name(self) -> &'static str {
        match self {
            Self::Newest => "newest",
            Self::Oldest => "oldest",
            Self::Largest => "largest",
            Self::Smallest => "smallest",
        }
    }
}

/// The builds of one page, counted from 0, and how many there are on all.
pub async fn page(pool: &PgPool, filter: &GalleryFilter, page: i64) -> sqlx::Result<(Vec<BuildCard>, i64)> {
    let cards = sqlx::query_as!(
        BuildCard,
        r#"
        SELECT
            builds.id, prompt_id, prompts.text AS prompt_text,
            model_key, models.display_name AS model_name,
            grid_size, palette, mode, block_count
        FROM builds
        JOIN prompts ON prompts.id = prompt_id
        JOIN models ON models.key = model_key
        WHERE retired_at IS NULL
          AND ($1::text IS NULL OR prompt_id = $1)
          AND ($2::text IS NULL OR model_key = $2)
          AND ($3::smallint IS NULL OR grid_size = $3)
          AND ($4::text IS NULL OR palette = $4)
        ORDER BY
            CASE WHEN $5 = 'oldest' THEN builds.created_at END,
            CASE WHEN $5 = 'largest' THEN block_count END DESC,
            CASE WHEN $5 = 'smallest' THEN block_count END,
            builds.created_at DESC,
            builds.id
        LIMIT $6
        OFFSET $7
        "#,
        filter.prompt,
        filter.model,
        filter.grid_size,
        filter.palette,
        filter.sort.name(),
        PAGE,
        page * PAGE,
    )
    .fetch_all(pool)
    .await?;
    Ok((cards, count(pool, filter).await?))
}

async fn count(pool: &PgPool, filter: &GalleryFilter) -> sqlx::Result<i64> {
    sqlx::query_scalar!(
        r#"
        SELECT count(*) AS "count!"
        FROM builds
        WHERE retired_at IS NULL
          AND ($1::text IS NULL OR prompt_id = $1)
          AND ($2::text IS NULL OR model_key = $2)
          AND ($3::smallint IS NULL OR grid_size = $3)
          AND ($4::text IS NULL OR palette = $4)
        "#,
        filter.prompt,
        filter.model,
        filter.grid_size,
        filter.palette,
    )
    .fetch_one(pool)
    .await
}

/// The builds in force of one prompt: by model, the arena's usual size first.
pub async fn of_prompt(pool: &PgPool, prompt: &str) -> sqlx::Result<Vec<BuildCard>> {
    sqlx::query_as!(
        BuildCard,
        "
        SELECT
            builds.id, prompt_id, prompts.text AS prompt_text,
            model_key, models.display_name AS model_name,
            grid_size, palette, mode, block_count
        FROM builds
        JOIN prompts ON prompts.id = prompt_id
        JOIN models ON models.key = model_key
        WHERE retired_at IS NULL AND prompt_id = $1
        ORDER BY grid_size, palette DESC, mode, models.display_name, builds.id
        LIMIT 200
        ",
        prompt
    )
    .fetch_all(pool)
    .await
}

/// All active prompts; those with builds first.
pub async fn prompts(pool: &PgPool) -> sqlx::Result<Vec<PromptCard>> {
    sqlx::query_as!(
        PromptCard,
        r#"
        SELECT
            prompts.id, text, tags, count(builds.id) AS "builds!",
            (array_agg(builds.id ORDER BY block_count DESC, builds.id))[1] AS cover
        FROM prompts
        LEFT JOIN builds ON prompt_id = prompts.id AND retired_at IS NULL
        WHERE active
        GROUP BY prompts.id
        ORDER BY count(builds.id) = 0, text
        "#
    )
    .fetch_all(pool)
    .await
}

/// One prompt, active or not.
pub async fn prompt(pool: &PgPool, id: &str) -> sqlx::Result<Option<PromptCard>> {
    sqlx::query_as!(
        PromptCard,
        r#"
        SELECT
            prompts.id, text, tags, count(builds.id) AS "builds!",
            (array_agg(builds.id ORDER BY block_count DESC, builds.id))[1] AS cover
        FROM prompts
        LEFT JOIN builds ON prompt_id = prompts.id AND retired_at IS NULL
        WHERE prompts.id = $1
        GROUP BY prompts.id
        "#,
        id
    )
    .fetch_optional(pool)
    .await
}
