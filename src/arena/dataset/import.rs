//! Storing the records of a dataset in this installation. What is there already stays as it is, so an import can be
//! repeated.

use std::collections::HashMap;

use serde_json::json;
use sqlx::types::Json;
use sqlx::{PgConnection, PgPool};
use uuid::Uuid;

use super::{DatasetBuild, DatasetModel, DatasetPrompt, DatasetRequest};
use crate::arena::audit::{self, Admin};
use crate::arena::builds::{BuildSlot, PackedBuild};
use crate::arena::catalog::{Model, Prompt};
use crate::arena::{PromptId, Settings, jobs};

/// What became of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StoredRecord {
    Stored,
    /// It was here already.
    Present,
}

#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    #[error("{0}")]
    Unsound(String),
    #[error("prompt {0} has another text in this installation")]
    OtherText(PromptId),
    #[error("another build has its id in this installation")]
    IdTaken,
    #[error("another build is in force in its place")]
    SlotTaken,
    #[error(transparent)]
    Database(#[from] sqlx::Error),
}

/// Adds a prompt, unless there is one with its id.
pub async fn store_prompt(pool: &PgPool, prompt: &DatasetPrompt) -> Result<StoredRecord, RecordError> {
    let DatasetPrompt { id, text: Some(text), tags, active, held_out, created_at } = prompt else {
        return Err(RecordError::Unsound("the file does not have its text".to_owned()));
    };
    let checked = Prompt { id: id.clone(), text: text.clone(), tags: tags.clone(), held_out: None };
    if let Some(problem) = checked.problem() {
        return Err(RecordError::Unsound(problem));
    }
    let stored = sqlx::query!(
        "
        INSERT INTO prompts (id, text, tags, active, held_out, created_at)
        VALUES ($1, $2, $3, $4, $5, $6)
        ON CONFLICT (id) DO NOTHING
        ",
        id as _,
        text,
        tags,
        active,
        held_out,
        created_at,
    )
    .execute(pool)
    .await?;
    if stored.rows_affected() > 0 {
        return Ok(StoredRecord::Stored);
    }
    let present = sqlx::query_scalar!("SELECT text FROM prompts WHERE id = $1", id as _);
    match present.fetch_one(pool).await? == *text {
        true => Ok(StoredRecord::Present),
        false => Err(RecordError::OtherText(id.clone())),
    }
}

/// Adds a model, unless there is one with its key.
pub async fn store_model(pool: &PgPool, model: &DatasetModel) -> Result<StoredRecord, RecordError> {
    let DatasetModel {
        key,
        provider,
        model_id,
        display_name,
        about,
        via,
        options,
        vision,
        enabled,
        created_at,
    } = model;
    let checked = Model {
        key: key.clone(),
        provider: provider.clone(),
        model_id: model_id.clone(),
        display_name: display_name.clone(),
        about: about.clone(),
        via: via.clone(),
        prices: None,
        options: *options,
        vision: *vision,
        budget: None,
    };
    if let Some(problem) = checked.problem() {
        return Err(RecordError::Unsound(problem));
    }
    let stored = sqlx::query!(
        "
        INSERT INTO models (
            key, provider, model_id, display_name, about, via, options, enabled, created_at, vision
        )
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
        ON CONFLICT (key) DO NOTHING
        ",
        key as _,
        provider,
        model_id,
        display_name,
        about,
        Json(via) as _,
        Json(options) as _,
        enabled,
        created_at,
        vision,
    )
    .execute(pool)
    .await?;
    Ok(if stored.rows_affected() > 0 { StoredRecord::Stored } else { StoredRecord::Present })
}

/// The builds of the file that are in this installation, by their names in the vote log.
pub type ImportedBuilds = HashMap<Uuid, ImportedSlot>;

/// A build of this installation that a build of the file stands for.
#[derive(Clone, Debug)]
pub struct ImportedSlot {
    pub id: Uuid,
    pub slot: BuildSlot,
}

/// Stores a build under the ids that it has in the file. A build with the same grid that is in force in its place here
/// stands for it.
pub async fn store_build(
    pool: &PgPool,
    record: &DatasetBuild,
    settings: &Settings,
    build: &PackedBuild,
) -> Result<(StoredRecord, ImportedSlot), RecordError> {
    let slot = BuildSlot {
        prompt: record.prompt_id.clone(),
        model: record.model_key.clone(),
        settings: settings.clone(),
    };
    let mut transaction = pool.begin().await?;
    if let Some(id) = find_present(&mut transaction, record, &slot, build).await? {
        return Ok((StoredRecord::Present, ImportedSlot { id, slot }));
    }
    if record.retired_at.is_none() {
        jobs::cancel_for_import(&mut transaction, &slot).await?;
    }
    sqlx::query!(
        "
        INSERT INTO builds (
            id, log_id, prompt_id, model_key, settings, digest, grid, grid_is_best, spec,
            warnings, block_count, block_kinds, attempts, generation_time_ms, created_at, retired_at
        )
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16)
        ",
        record.id,
        record.log_id,
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
        record.generation.attempts,
        record.generation.generation_time_ms,
        record.created_at,
        record.retired_at,
    )
    .execute(&mut *transaction)
    .await?;
    if let Some(asked) = &record.generation.asked {
        store_request(&mut transaction, record.id, asked).await?;
    }
    // The file is public, so withholding the build here would hide it from nobody.
    sqlx::query!("UPDATE builds SET withheld = false WHERE id = $1 AND withheld", record.id)
        .execute(&mut *transaction)
        .await?;
    transaction.commit().await?;
    Ok((StoredRecord::Stored, ImportedSlot { id: record.id, slot }))
}

async fn store_request(
    connection: &mut PgConnection,
    build: Uuid,
    asked: &DatasetRequest,
) -> Result<(), RecordError> {
    let template = asked.template.as_ref().map(hex::decode).transpose();
    let template = template.ok().filter(|digest| digest.as_ref().is_none_or(|digest| digest.len() == 32));
    let Some(template) = template else {
        return Err(RecordError::Unsound("the template is not a SHA-256".to_owned()));
    };
    let notes: Vec<_> = asked.changes.iter().map(|step| json!({ "step": step })).collect();
    sqlx::query!(
        "
        INSERT INTO generations (
            build_id, provider, model_id, options, template, sent,
            input_tokens, cached_tokens, output_tokens, reasoning_tokens, cost, cost_is_minimum, notes
        )
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)
        ",
        build,
        asked.provider,
        asked.model_id,
        asked.options.map(Json) as _,
        template,
        asked.sent.as_ref().map(Json) as _,
        asked.tokens_in,
        asked.tokens_cached,
        asked.tokens_out,
        asked.tokens_reasoning,
        asked.cost_micro_dollars,
        asked.cost_is_minimum,
        Json(notes) as _,
    )
    .execute(connection)
    .await?;
    Ok(())
}

/// The build here that a build of the file is, or that stands for it.
async fn find_present(
    connection: &mut PgConnection,
    record: &DatasetBuild,
    slot: &BuildSlot,
    build: &PackedBuild,
) -> Result<Option<Uuid>, RecordError> {
    let rows = sqlx::query!(
        r#"
        SELECT
            id, id = $1 OR log_id = $5 AS "has_its_id!",
            (prompt_id, model_key, settings, digest) = ($2, $3, $4, $6) AS "is_same!"
        FROM builds
        WHERE id = $1 OR log_id = $5
           OR (prompt_id = $2 AND model_key = $3 AND settings = $4 AND retired_at IS NULL AND NOT $7)
        ORDER BY id = $1 DESC, log_id = $5 DESC
        "#,
        record.id,
        slot.prompt as _,
        slot.model as _,
        slot.settings as _,
        record.log_id,
        &build.digest.0[..],
        record.retired_at.is_some(),
    )
    .fetch_all(connection)
    .await?;
    match rows.first() {
        None => Ok(None),
        Some(row) if row.is_same => Ok(Some(row.id)),
        Some(row) if row.has_its_id => Err(RecordError::IdTaken),
        Some(_) => Err(RecordError::SlotTaken),
    }
}

/// Notes an import in the audit log.
pub async fn record_import(pool: &PgPool, admin: Admin, builds: u64, votes: u64) -> sqlx::Result<()> {
    let mut connection = pool.acquire().await?;
    let detail = json!({ "builds": builds, "votes": votes });
    audit::record(&mut connection, admin, "import", "dataset", detail).await
}
