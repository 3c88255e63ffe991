//! The gallery: builds in force, filtered, sorted and paged. It never lists withheld ones.

use serde::{Deserialize, Serialize};
use sqlx::PgPool;
use uuid::Uuid;
use voxel::{GridSize, Palette};

use super::catalog::{AGENT, ContestantKind};
use super::{ModelKey, PromptId, Settings};

/// Builds on a page.
pub const PAGE: i64 = 24;

/// The most builds that are listed of one prompt, and of one model.
const MAX_PER_PROMPT: i64 = 200;
const MAX_PER_MODEL: i64 = 500;

/// Which builds to show; without filters, all.
#[derive(Clone, Debug, Default)]
pub struct GalleryFilter {
    pub prompt: Option<String>,
    pub model: Option<String>,
    pub grid_size: Option<GridSize>,
    pub palette: Option<Palette>,
    pub kind: ContestantKind,
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
    pub prompt_id: PromptId,
    pub prompt_text: String,
    pub model_key: ModelKey,
    pub model_name: String,
    pub is_agent: bool,
    pub settings: Settings,
    pub block_count: i32,
}

/// A prompt with its number of builds.
#[derive(Clone, Debug)]
pub struct PromptCard {
    pub id: String,
    pub text: String,
    pub tags: Vec<String>,
    pub builds: i64,
    /// Its builds that only matchups show.
    pub withheld: i64,
    /// Its largest build, for a picture.
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
    let cards = select(pool, filter, CardOrder::Gallery(filter.sort), PAGE, page * PAGE).await?;
    Ok((cards, count(pool, filter).await?))
}

async fn count(pool: &PgPool, filter: &GalleryFilter) -> sqlx::Result<i64> {
    sqlx::query_scalar!(
        r#"
        SELECT count(*) AS "count!"
        FROM builds
        WHERE retired_at IS NULL AND NOT withheld
          AND ($1::text IS NULL OR prompt_id = $1)
          AND ($2::text IS NULL OR model_key = $2)
          AND ($3::smallint IS NULL OR grid_size = $3)
          AND ($4::text IS NULL OR palette = $4)
          AND ($5::boolean IS NULL OR (SELECT provider = $6 FROM models WHERE key = model_key) = $5)
        "#,
        filter.prompt,
        filter.model,
        filter.grid_size as _,
        filter.palette as _,
        filter.kind.only_agents(),
        AGENT,
    )
    .fetch_one(pool)
    .await
}

/// The builds in force of one prompt, by settings and then by model.
pub async fn of_prompt(pool: &PgPool, prompt: &str) -> sqlx::Result<Vec<BuildCard>> {
    let filter = GalleryFilter { prompt: Some(prompt.to_owned()), ..GalleryFilter::default() };
    select(pool, &filter, CardOrder::Settings { first: None }, MAX_PER_PROMPT, 0).await
}

/// The builds in force of one model, those at some settings `first`, and then by settings and prompt.
pub async fn of_model(pool: &PgPool, model: &ModelKey, first: &Settings) -> sqlx::Result<Vec<BuildCard>> {
    let filter = GalleryFilter { model: Some(model.to_string()), ..GalleryFilter::default() };
    select(pool, &filter, CardOrder::Settings { first: Some(first) }, MAX_PER_MODEL, 0).await
}

#[derive(Clone, Copy)]
enum CardOrder<'a> {
    Gallery(GallerySort),
    Settings { first: Option<&'a Settings> },
}

/// Postgres plans this anew for the filters that are given, since a plan for all of them would cost more than planning
/// does. So a prompt's builds and a model's are found by their indexes.
async fn select(
    pool: &PgPool,
    filter: &GalleryFilter,
    order: CardOrder<'_>,
    limit: i64,
    offset: i64,
) -> sqlx::Result<Vec<BuildCard>> {
    let (order, first) = match order {
        CardOrder::Gallery(sort) => (sort.name(), None),
        CardOrder::Settings { first } => ("settings", first),
    };
    sqlx::query_as!(
        BuildCard,
        r#"
        SELECT
            builds.id, prompt_id AS "prompt_id: PromptId", prompts.text AS prompt_text,
            model_key AS "model_key: ModelKey", models.display_name AS model_name,
            models.provider = $10 AS "is_agent!", settings AS "settings: Settings", block_count
        FROM builds
        JOIN prompts ON prompts.id = prompt_id
        JOIN models ON models.key = model_key
        WHERE retired_at IS NULL AND NOT withheld
          AND ($1::text IS NULL OR prompt_id = $1)
          AND ($2::text IS NULL OR model_key = $2)
          AND ($3::smallint IS NULL OR grid_size = $3)
          AND ($4::text IS NULL OR palette = $4)
          AND ($9::boolean IS NULL OR (models.provider = $10) = $9)
        ORDER BY
            CASE WHEN $5 = 'oldest' THEN builds.created_at END,
            CASE WHEN $5 = 'largest' THEN block_count END DESC,
            CASE WHEN $5 = 'smallest' THEN block_count END,
            CASE WHEN $5 = 'settings' THEN settings = $6 END DESC,
            CASE WHEN $5 = 'settings' THEN grid_size END,
            CASE WHEN $5 = 'settings' THEN palette END DESC,
            CASE WHEN $5 = 'settings' THEN settings END,
            CASE WHEN $5 = 'settings' THEN models.display_name END,
            CASE WHEN $5 = 'settings' THEN prompts.text END,
            CASE WHEN $5 = 'settings' THEN builds.id END,
            builds.created_at DESC,
            builds.id
        LIMIT $7
        OFFSET $8
        "#,
        filter.prompt,
        filter.model,
        filter.grid_size as _,
        filter.palette as _,
        order,
        first as _,
        limit,
        offset,
        filter.kind.only_agents(),
        AGENT,
    )
    .fetch_all(pool)
    .await
}

/// All active prompts; those with builds first.
pub async fn prompts(pool: &PgPool) -> sqlx::Result<Vec<PromptCard>> {
    select_prompts(pool, None).await
}

/// One prompt, active or not.
pub async fn prompt(pool: &PgPool, id: &str) -> sqlx::Result<Option<PromptCard>> {
    Ok(select_prompts(pool, Some(id)).await?.pop())
}

async fn select_prompts(pool: &PgPool, id: Option<&str>) -> sqlx::Result<Vec<PromptCard>> {
    sqlx::query_as!(
        PromptCard,
        r#"
        SELECT
            prompts.id, text, tags,
            count(builds.id) FILTER (WHERE NOT withheld) AS "builds!",
            count(builds.id) FILTER (WHERE withheld) AS "withheld!",
            (array_agg(builds.id ORDER BY block_count DESC, builds.id) FILTER (WHERE NOT withheld))[1] AS cover
        FROM prompts
        LEFT JOIN builds ON prompt_id = prompts.id AND retired_at IS NULL
        WHERE CASE WHEN $1::text IS NULL THEN active ELSE prompts.id = $1 END
        GROUP BY prompts.id
        ORDER BY count(builds.id) FILTER (WHERE NOT withheld) = 0, text
        "#,
        id,
    )
    .fetch_all(pool)
    .await
}
