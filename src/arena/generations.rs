//! How builds were generated: at which provider and with which options a model was asked, what that used, and what it
//! cost. A build that a model was asked for has a row, which is written with it and never changes. A build without one
//! was imported. One that came in a dataset has the row that it had where it was made.

use serde_json::Value;
use sqlx::types::Json;
use sqlx::{PgConnection, PgPool};
use uuid::Uuid;

use super::ModelKey;
use super::catalog::{self, ModelOptions};
use super::jobs::attempts::SentOptions;

/// What is known of how a build was generated. Some of it is unknown for builds of older versions.
#[derive(Clone, Debug)]
pub struct Generation {
    /// The provider that was asked, by its key.
    pub provider: String,
    /// The provider's name for the model.
    pub model_id: Option<String>,
    /// As they stood in the catalog.
    pub options: Option<Json<ModelOptions>>,
    pub sent: Option<Json<SentOptions>>,
    /// The SHA-256 of what the model was told beside the prompt.
    pub template: Option<Vec<u8>>,
    /// Tokens and cost are those of all attempts together.
    pub input_tokens: Option<i64>,
    pub cached_tokens: Option<i64>,
    pub output_tokens: Option<i64>,
    pub reasoning_tokens: Option<i64>,
    /// In millionths of a dollar, as far as it is known.
    pub cost: Option<i64>,
    pub cost_is_minimum: bool,
    /// How the request was changed because the provider did not take it as it was.
    pub notes: Json<Value>,
}

/// None if the build was imported.
pub async fn find(pool: &PgPool, build: Uuid) -> sqlx::Result<Option<Generation>> {
    sqlx::query_as!(
        Generation,
        r#"
        SELECT
            provider, model_id, options AS "options: Json<ModelOptions>", sent AS "sent: Json<SentOptions>", template,
            input_tokens, cached_tokens, output_tokens, reasoning_tokens, cost, cost_is_minimum,
            notes AS "notes: Json<Value>"
        FROM generations
        WHERE build_id = $1
        "#,
        build
    )
    .fetch_optional(pool)
    .await
}

/// Whether the model of a job would be asked now as it was for an attempt. Attempts of older versions do not know how it
/// was asked; they pass.
pub(super) async fn is_current(connection: &mut PgConnection, job: Uuid, attempt: i32) -> sqlx::Result<bool> {
    let asked = sqlx::query!(
        r#"
        SELECT
            model_key AS "model_key: ModelKey", attempts.provider, model_id,
            options AS "options: Json<ModelOptions>"
        FROM attempts
        JOIN jobs ON jobs.id = job_id
        WHERE job_id = $1 AND number = $2
        "#,
        job,
        attempt,
    )
    .fetch_one(&mut *connection)
    .await?;
    let (Some(provider), Some(model_id), Some(options)) = (asked.provider, asked.model_id, asked.options)
    else {
        return Ok(true);
    };
    let model = catalog::find_model(connection, &asked.model_key).await?;
    Ok(model.is_some_and(|model| model.is_asked_as(&provider, &model_id, options.0)))
}

/// Stores how a job has led to a build: by this attempt, or else by its last one that counts.
pub(super) async fn store(
    connection: &mut PgConnection,
    build: Uuid,
    job: Uuid,
    attempt: Option<i32>,
) -> sqlx::Result<()> {
    sqlx::query!(
        "
        INSERT INTO generations (
            build_id, provider, model_id, options, template, sent,
            input_tokens, cached_tokens, output_tokens, reasoning_tokens, cost, cost_is_minimum, notes
        )
        SELECT
            $1, coalesce(answered.provider, jobs.provider, models.provider),
            answered.model_id, answered.options, answered.template, answered.sent,
            used.input, used.cached, used.output, used.reasoning, used.cost, used.cost_is_minimum,
            coalesce(answered.notes, '[]')
        FROM jobs
        JOIN models ON models.key = model_key
        LEFT JOIN LATERAL (
            SELECT
                attempts.provider, attempts.model_id, attempts.options, attempts.template, attempts.sent,
                attempts.notes
            FROM attempts
            WHERE attempts.job_id = jobs.id
              AND CASE
                  WHEN $3::integer IS NULL THEN outcome IN ('accepted', 'refused', 'failed', 'unread')
                  ELSE number = $3
              END
            ORDER BY number DESC
            LIMIT 1
        ) AS answered ON true
        CROSS JOIN LATERAL (
            SELECT
                sum(input_tokens)::bigint AS input, sum(cached_tokens)::bigint AS cached,
                sum(output_tokens)::bigint AS output, sum(reasoning_tokens)::bigint AS reasoning,
                sum(cost)::bigint AS cost,
                coalesce(bool_or(cost IS NULL OR attempts.cost_is_minimum), true) AS cost_is_minimum
            FROM attempts
            WHERE attempts.job_id = jobs.id
        ) AS used
        WHERE jobs.id = $2
        ",
        build,
        job,
        attempt,
    )
    .execute(connection)
    .await?;
    Ok(())
}
