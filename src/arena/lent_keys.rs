//! What visitors of the sandbox have used of the server's own API keys today, over all servers. A day is one in UTC.

use sqlx::{PgConnection, PgPool};
use time::Date;

use super::ModelKey;
use super::budgets::{BudgetScope, Budgets, SpendingLimits};
use super::jobs::claims;
use crate::client_network::ClientNetwork;

/// Why a key is not lent.
#[derive(Debug, thiserror::Error)]
pub enum LendError {
    #[error("the network has used up its runs")]
    NoRunsLeft,
    #[error("the budget is used up")]
    OverBudget(BudgetScope),
    #[error(transparent)]
    Database(#[from] sqlx::Error),
}

/// A run in the sandbox that has not been counted yet.
#[derive(Clone, Copy, Debug)]
pub struct UncountedRun {
    pub network: ClientNetwork,
    /// Of a network in a day.
    pub max_runs: u32,
}

/// Counts a run of a network, unless it has had all its runs of the day.
async fn count_run(connection: &mut PgConnection, run: UncountedRun) -> Result<(), LendError> {
    let today = sqlx::query!(
        "
        INSERT INTO lent_key_days (day)
        VALUES ((now() AT TIME ZONE 'UTC')::date)
        ON CONFLICT (day) DO UPDATE SET day = excluded.day
        RETURNING day, salt
        "
    )
    .fetch_one(&mut *connection)
    .await?;
    let digest = run.network.digest(&today.salt);
    let counted = sqlx::query!(
        "
        INSERT INTO lent_key_runs (day, network, runs)
        VALUES ($1, $2, 1)
        ON CONFLICT (day, network) DO UPDATE SET runs = lent_key_runs.runs + 1
        WHERE lent_key_runs.runs < $3
        ",
        today.day,
        &digest[..],
        i32::try_from(run.max_runs).unwrap_or(i32::MAX),
    )
    .execute(connection)
    .await?;
    if counted.rows_affected() == 0 { Err(LendError::NoRunsLeft) } else { Ok(()) }
}

/// Spends this much on a model, if so much of the sandbox's budget of the day is left, and something of every other budget
/// that pays for the model. What costs nothing is always lent. The first request of a run counts it; what is refused counts
/// nothing. Returns the day. All amounts are millionths of a dollar.
pub async fn spend(
    pool: &PgPool,
    model: &ModelKey,
    amount: i64,
    limits: &SpendingLimits,
    run: Option<UncountedRun>,
) -> Result<Date, LendError> {
    let mut transaction = pool.begin().await?;
    let limit = if amount == 0 { None } else { limits.sandbox_day };
    if amount > 0 {
        claims::hold(&mut transaction).await?;
    }
    if let Some(run) = run {
        count_run(&mut transaction, run).await?;
    }
    if amount > 0 {
        let budgets = Budgets::read(&mut transaction, limits).await?;
        if let Some(budget) = budgets.stop_of(model) {
            return Err(LendError::OverBudget(budget.scope.clone()));
        }
    }
    let day = sqlx::query_scalar!(
        r#"
        INSERT INTO lent_key_days (day, spent)
        SELECT (now() AT TIME ZONE 'UTC')::date, $1
        WHERE $1::bigint <= $2::bigint
        ON CONFLICT (day) DO UPDATE SET spent = lent_key_days.spent + $1
        WHERE lent_key_days.spent <= $2 - $1
        RETURNING day
        "#,
        amount,
        limit.unwrap_or(i64::MAX),
    )
    .fetch_optional(&mut *transaction)
    .await?
    .ok_or(LendError::OverBudget(BudgetScope::Sandbox))?;
    sqlx::query!(
        "
        INSERT INTO spending_days AS known (day, model_key, purpose, spent)
        VALUES ($1, $2, 'sandbox', $3)
        ON CONFLICT (day, model_key, purpose) DO UPDATE SET spent = known.spent + excluded.spent
        ",
        day,
        model as _,
        amount,
    )
    .execute(&mut *transaction)
    .await?;
    transaction.commit().await?;
    Ok(day)
}

/// Replaces an amount that was spent on a day by what it really was. The sandbox forgets a day that is over by more than a
/// day; the budgets of the month and of the model do not.
pub async fn correct(pool: &PgPool, day: Date, model: &ModelKey, from: i64, to: i64) -> sqlx::Result<()> {
    let change = to.saturating_sub(from);
    let mut transaction = pool.begin().await?;
    sqlx::query!("UPDATE lent_key_days SET spent = greatest(spent + $2, 0) WHERE day = $1", day, change)
        .execute(&mut *transaction)
        .await?;
    sqlx::query!(
        "
        UPDATE spending_days
        SET spent = spent + $3
        WHERE day = $1 AND model_key = $2 AND purpose = 'sandbox'
        ",
        day,
        model as _,
        change,
    )
    .execute(&mut *transaction)
    .await?;
    transaction.commit().await
}

/// What is left of the sandbox's budget of the day.
pub async fn left_today(pool: &PgPool, budget: i64) -> sqlx::Result<i64> {
    let spent = sqlx::query_scalar!(
        "SELECT spent FROM lent_key_days WHERE day = (clock_timestamp() AT TIME ZONE 'UTC')::date"
    );
    let spent = spent.fetch_optional(pool).await?.unwrap_or_default();
    Ok(budget.saturating_sub(spent).max(0))
}

/// Deletes the days before yesterday. Runs that began yesterday may still have to be counted.
pub async fn purge(pool: &PgPool) -> sqlx::Result<()> {
    sqlx::query!("DELETE FROM lent_key_days WHERE day < (now() AT TIME ZONE 'UTC')::date - 1")
        .execute(pool)
        .await?;
    Ok(())
}
