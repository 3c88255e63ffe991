//! What the builds of each model cost, and how long they took.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use sqlx::PgConnection;

use super::super::{ModelKey, PromptFilter, Settings};

/// The means over a model's builds in force; what is not known of any build is none.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct BuildExpenses {
    /// In millionths of a dollar.
    pub cost: Option<MeanExpense>,
    pub generation_time_ms: Option<MeanExpense>,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct MeanExpense {
    pub mean: f64,
    /// How many builds it is known of.
    pub builds: i64,
}

impl MeanExpense {
    fn of(mean: Option<f64>, builds: i64) -> Option<Self> {
        mean.filter(|mean| mean.is_finite()).map(|mean| Self { mean, builds })
    }
}

/// Of a ladder, or of some of its prompts. Costs of which only a part is known are left out, since they would make a
/// model look cheaper than it is.
pub(super) async fn read(
    connection: &mut PgConnection,
    settings: &Settings,
    filter: &PromptFilter,
) -> sqlx::Result<BTreeMap<ModelKey, BuildExpenses>> {
    let rows = sqlx::query!(
        r#"
        SELECT
            model_key AS "model: ModelKey",
            avg(cost) FILTER (WHERE NOT cost_is_minimum)::double precision AS cost,
            count(cost) FILTER (WHERE NOT cost_is_minimum) AS "cost_builds!",
            avg(generation_time_ms)::double precision AS time,
            count(generation_time_ms) AS "time_builds!"
        FROM builds
        JOIN prompts ON prompts.id = prompt_id
        LEFT JOIN generations ON build_id = builds.id
        WHERE settings = $1 AND retired_at IS NULL
          AND ($2::text IS NULL OR $2 = ANY(tags))
          AND ($3::boolean IS NULL OR held_out = $3)
        GROUP BY model_key
        HAVING count(generation_time_ms) > 0 OR count(cost) FILTER (WHERE NOT cost_is_minimum) > 0
        "#,
        settings as _,
        filter.tag,
        filter.held_out,
    )
    .fetch_all(connection)
    .await?;
    let expenses = rows.into_iter().map(|row| {
        let expenses = BuildExpenses {
            cost: MeanExpense::of(row.cost, row.cost_builds),
            generation_time_ms: MeanExpense::of(row.time, row.time_builds),
        };
        (row.model, expenses)
    });
    Ok(expenses.collect())
}
