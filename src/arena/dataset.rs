//! The public benchmark as records: what the file of `/api/dataset.tar` holds beside votes, specs and grids.
//!
//! A record has what everybody can see on a page or in the API, and nothing else. So withheld builds are left out, and
//! retired ones as well, unless there are votes on them.

mod import;
mod votes;

pub use import::{
    ImportedBuilds, ImportedSlot, RecordError, StoredRecord, record_import, store_build, store_model,
    store_prompt,
};
pub use votes::{VoteImport, VoteImportError, count_present};

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use sqlx::types::Json;
use sqlx::{PgConnection, PgExecutor, PgPool};
use time::OffsetDateTime;
use uuid::Uuid;
use voxel::Warning;

use super::catalog::ModelOptions;
use super::decisions::VoteVerdict;
use super::jobs::attempts::SentOptions;
use super::leaderboard::Published;
use super::{ModelKey, PromptId};

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DatasetPrompt {
    pub id: PromptId,
    /// None for a held-out prompt of which no build is public yet.
    pub text: Option<String>,
    pub tags: Vec<String>,
    pub active: bool,
    pub held_out: bool,
    #[serde(with = "time::serde::rfc3339")]
    pub created_at: OffsetDateTime,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DatasetModel {
    pub key: ModelKey,
    pub provider: String,
    pub model_id: String,
    pub display_name: String,
    pub about: String,
    /// Its names at other providers that offer it. Files of earlier versions have neither these nor options.
    #[serde(default)]
    pub via: BTreeMap<String, String>,
    #[serde(default)]
    pub options: ModelOptions,
    #[serde(default)]
    pub vision: bool,
    pub enabled: bool,
    #[serde(with = "time::serde::rfc3339")]
    pub created_at: OffsetDateTime,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DatasetBuild {
    pub id: Uuid,
    /// Its name in the vote log.
    pub log_id: Uuid,
    pub prompt_id: PromptId,
    pub model_key: ModelKey,
    /// As in the vote log.
    pub settings: String,
    /// The SHA-256 of its encoded grid, in hexadecimal.
    pub digest: String,
    pub block_count: i32,
    pub warnings: Vec<Warning>,
    pub generation: DatasetGeneration,
    #[serde(with = "time::serde::rfc3339")]
    pub created_at: OffsetDateTime,
    #[serde(with = "time::serde::rfc3339::option")]
    pub retired_at: Option<OffsetDateTime>,
}

/// How a build was generated. All of it is null for builds that were imported.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DatasetGeneration {
    pub attempts: Option<i32>,
    pub generation_time_ms: Option<i64>,
    /// Files of earlier versions do not have it.
    pub asked: Option<DatasetRequest>,
}

/// How a model was asked for a build, with tokens and cost of all attempts together. What is null is not known.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DatasetRequest {
    pub provider: String,
    pub model_id: Option<String>,
    pub options: Option<ModelOptions>,
    pub sent: Option<SentOptions>,
    /// The SHA-256 of what the model was told beside the prompt, in hexadecimal.
    pub template: Option<String>,
    pub tokens_in: Option<i64>,
    pub tokens_cached: Option<i64>,
    pub tokens_out: Option<i64>,
    pub tokens_reasoning: Option<i64>,
    pub cost_micro_dollars: Option<i64>,
    pub cost_is_minimum: bool,
    /// How the request was changed because the provider did not take it as it was.
    pub changes: Vec<Value>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DatasetDecision {
    pub id: i64,
    #[serde(with = "time::serde::rfc3339")]
    pub decided_at: OffsetDateTime,
    pub verdict: VoteVerdict,
    /// How many votes it is about.
    pub votes: i32,
    /// How many judgements of people it is about.
    #[serde(default)]
    pub judgements: i32,
    /// None without votes, like its time.
    pub first_vote: Option<i64>,
    #[serde(with = "time::serde::rfc3339::option")]
    pub first_at: Option<OffsetDateTime>,
    pub reason: String,
}

/// Everything of one moment but votes, specs and grids, each kind in an order that depends on nothing else.
#[derive(Clone, Debug)]
pub struct DatasetRecords {
    pub prompts: Vec<DatasetPrompt>,
    pub models: Vec<DatasetModel>,
    pub builds: Vec<DatasetBuild>,
    pub decisions: Vec<DatasetDecision>,
}

impl DatasetRecords {
    /// The latest moment of which the records tell.
    pub fn as_of(&self) -> Option<OffsetDateTime> {
        let prompts = self.prompts.iter().map(|prompt| prompt.created_at);
        let models = self.models.iter().map(|model| model.created_at);
        let builds = self.builds.iter().map(|build| build.retired_at.unwrap_or(build.created_at));
        let decisions = self.decisions.iter().map(|decision| decision.decided_at);
        prompts.chain(models).chain(builds).chain(decisions).max()
    }
}

/// Changes whenever the public benchmark does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DatasetVersion {
    latest_vote: i64,
    decision: i64,
    catalog_revision: i64,
    /// A digest of all prompts and models.
    catalog: String,
    withheld: Vec<Uuid>,
}

pub async fn version(pool: &PgPool, published: Published) -> sqlx::Result<DatasetVersion> {
    let row = sqlx::query!(
        r#"
        SELECT
            least((SELECT coalesce(max(id), 0) FROM votes), $1) AS "latest_vote!",
            catalog_revision,
            md5(concat(
                (SELECT string_agg(prompts::text, ',' ORDER BY id) FROM prompts),
                (SELECT string_agg(models::text, ',' ORDER BY key) FROM models)
            )) AS "catalog!"
        FROM installation
        "#,
        published.through,
    )
    .fetch_one(pool)
    .await?;
    Ok(DatasetVersion {
        latest_vote: row.latest_vote,
        decision: published.decision,
        catalog_revision: row.catalog_revision,
        catalog: row.catalog,
        withheld: withheld_builds(pool).await?,
    })
}

/// The builds that nothing but matchups may show now.
pub async fn withheld_builds(executor: impl PgExecutor<'_>) -> sqlx::Result<Vec<Uuid>> {
    sqlx::query_scalar!("SELECT id FROM builds WHERE withheld ORDER BY id").fetch_all(executor).await
}

/// Reads the records. `voted` names the builds that votes refer to, as the log does.
pub async fn read(pool: &PgPool, voted: &[Uuid]) -> sqlx::Result<DatasetRecords> {
    let mut snapshot = pool.begin_with("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY").await?;
    let builds = read_builds(&mut snapshot, voted).await?;
    let prompts = read_prompts(&mut snapshot, &builds).await?;
    let models = read_models(&mut snapshot, &builds).await?;
    let decisions = read_decisions(&mut snapshot).await?;
    snapshot.rollback().await?;
    Ok(DatasetRecords { prompts, models, builds, decisions })
}

async fn read_builds(connection: &mut PgConnection, voted: &[Uuid]) -> sqlx::Result<Vec<DatasetBuild>> {
    let rows = sqlx::query!(
        r#"
        SELECT
            id, log_id, prompt_id AS "prompt_id: PromptId", model_key AS "model_key: ModelKey", settings, digest,
            block_count, warnings AS "warnings: Json<Vec<Warning>>", attempts, generation_time_ms,
            -- Without the provider's words, which can name the account.
            (
                SELECT jsonb_build_object(
                    'provider', provider, 'modelId', model_id, 'options', options, 'sent', sent,
                    'template', encode(template, 'hex'), 'tokensIn', input_tokens, 'tokensCached', cached_tokens,
                    'tokensOut', output_tokens, 'tokensReasoning', reasoning_tokens, 'costMicroDollars', cost,
                    'costIsMinimum', cost_is_minimum, 'changes', jsonb_path_query_array(notes, '$[*].step')
                )
                FROM generations
                WHERE build_id = builds.id
            ) AS "asked: Json<DatasetRequest>",
            created_at, retired_at
        FROM builds
        WHERE NOT withheld AND (retired_at IS NULL OR log_id = ANY($1))
        ORDER BY prompt_id COLLATE "C", model_key COLLATE "C", settings COLLATE "C", created_at, id
        "#,
        voted,
    )
    .fetch_all(connection)
    .await?;
    let builds = rows.into_iter().map(|row| DatasetBuild {
        id: row.id,
        log_id: row.log_id,
        prompt_id: row.prompt_id,
        model_key: row.model_key,
        settings: row.settings,
        digest: hex::encode(row.digest),
        block_count: row.block_count,
        warnings: row.warnings.0,
        generation: DatasetGeneration {
            attempts: row.attempts,
            generation_time_ms: row.generation_time_ms,
            asked: row.asked.map(|asked| asked.0),
        },
        created_at: row.created_at,
        retired_at: row.retired_at,
    });
    Ok(builds.collect())
}

/// The active prompts, and those of the builds.
async fn read_prompts(
    connection: &mut PgConnection,
    builds: &[DatasetBuild],
) -> sqlx::Result<Vec<DatasetPrompt>> {
    let mut built: Vec<_> = builds.iter().map(|build| build.prompt_id.to_string()).collect();
    built.dedup();
    sqlx::query_as!(
        DatasetPrompt,
        r#"
        SELECT
            id AS "id: PromptId", CASE WHEN NOT held_out OR id = ANY($1) THEN text END AS text,
            tags, active, held_out, created_at
        FROM prompts
        WHERE active OR id = ANY($1)
        ORDER BY id COLLATE "C"
        "#,
        &built,
    )
    .fetch_all(connection)
    .await
}

/// The enabled models, and those of the builds.
async fn read_models(
    connection: &mut PgConnection,
    builds: &[DatasetBuild],
) -> sqlx::Result<Vec<DatasetModel>> {
    let mut built: Vec<_> = builds.iter().map(|build| build.model_key.to_string()).collect();
    built.sort();
    built.dedup();
    let rows = sqlx::query!(
        r#"
        SELECT
            key AS "key: ModelKey", provider, model_id, display_name, about, vision,
            via AS "via: Json<BTreeMap<String, String>>", options AS "options: Json<ModelOptions>", enabled, created_at
        FROM models
        WHERE enabled OR key = ANY($1)
        ORDER BY key COLLATE "C"
        "#,
        &built,
    )
    .fetch_all(connection)
    .await?;
    let models = rows.into_iter().map(|row| DatasetModel {
        key: row.key,
        provider: row.provider,
        model_id: row.model_id,
        display_name: row.display_name,
        about: row.about,
        vision: row.vision,
        via: row.via.0,
        options: row.options.0,
        enabled: row.enabled,
        created_at: row.created_at,
    });
    Ok(models.collect())
}

async fn read_decisions(connection: &mut PgConnection) -> sqlx::Result<Vec<DatasetDecision>> {
    sqlx::query_as!(
        DatasetDecision,
        r#"
        SELECT
            id, decided_at, verdict AS "verdict: VoteVerdict", votes, judgements, first_vote, first_at, reason
        FROM vote_decisions
        ORDER BY id
        "#
    )
    .fetch_all(connection)
    .await
}
