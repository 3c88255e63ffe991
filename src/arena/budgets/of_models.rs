//! What a model may cost in all.

use std::collections::HashMap;

use sqlx::{PgConnection, PgExecutor, PgPool};
use time::OffsetDateTime;

use super::{Budget, BudgetScope};
use crate::arena::ModelKey;

/// The budget of a model in millionths of a dollar.
pub async fn model_budget(executor: impl PgExecutor<'_>, model: &ModelKey) -> sqlx::Result<Option<i64>> {
    let budget = sqlx::query_scalar!("SELECT budget FROM model_budgets WHERE model_key = $1", model as _);
    Ok(budget.fetch_optional(executor).await?.flatten())
}

/// The budgets of all models that have one, in millionths of a dollar.
pub async fn model_budgets(pool: &PgPool) -> sqlx::Result<HashMap<ModelKey, i64>> {
    let rows = sqlx::query!(
        r#"SELECT model_key AS "model: ModelKey", budget AS "budget!" FROM model_budgets WHERE budget IS NOT NULL"#
    )
    .fetch_all(pool)
    .await?;
    Ok(rows.into_iter().map(|row| (row.model, row.budget)).collect())
}

/// Sets or removes the budget of a model that exists. Seeding leaves it alone from now on.
pub async fn set_model_budget(
    connection: &mut PgConnection,
    model: &ModelKey,
    budget: Option<i64>,
) -> sqlx::Result<()> {
    sqlx::query!(
        "
        INSERT INTO model_budgets (model_key, budget, edited_at)
        VALUES ($1, $2, now())
        ON CONFLICT (model_key) DO UPDATE SET budget = $2, edited_at = now()
        ",
        model as _,
        budget,
    )
    .execute(connection)
    .await?;
    Ok(())
}

/// Updates the budget from the catalog's files, unless an admin has set it.
pub(in crate::arena) async fn seed_model_budget(
    connection: &mut PgConnection,
    model: &ModelKey,
    budget: Option<i64>,
) -> sqlx::Result<()> {
    sqlx::query!(
        "
        INSERT INTO model_budgets AS known (model_key, budget)
        SELECT $1, $2
        WHERE $2::bigint IS NOT NULL OR EXISTS (SELECT FROM model_budgets WHERE model_key = $1)
        ON CONFLICT (model_key) DO UPDATE SET budget = $2
        WHERE known.edited_at IS NULL AND known.budget IS DISTINCT FROM $2
        ",
        model as _,
        budget,
    )
    .execute(connection)
    .await?;
    Ok(())
}

pub(super) async fn read(
    connection: &mut PgConnection,
    reserved: &HashMap<ModelKey, i64>,
) -> sqlx::Result<Vec<Budget>> {
    let rows = sqlx::query!(
        r#"
        SELECT
            model_key AS "model!: ModelKey", budget AS "budget!",
            coalesce(sum(spent), 0)::bigint AS "spent!", coalesce(sum(unpriced), 0)::bigint AS "unpriced!"
        FROM model_budgets
        LEFT JOIN spending_days USING (model_key)
        WHERE budget IS NOT NULL
        GROUP BY model_key, budget
        ORDER BY model_key
        "#
    )
    .fetch_all(connection)
    .await?;
    let budgets = rows.into_iter().map(|row| Budget {
        reserved: reserved.get(&row.model).copied().unwrap_or_default(),
        scope: BudgetScope::Model(row.model),
        limit: row.budget,
        spent: row.spent,
        unpriced: row.unpriced,
        begins: OffsetDateTime::UNIX_EPOCH.date(),
        ends: None,
    });
    Ok(budgets.collect())
}
