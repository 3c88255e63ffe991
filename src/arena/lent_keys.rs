//! What visitors of the sandbox have used of the server's own API keys today, over all servers. A day is one in UTC.

use sqlx::PgPool;
use time::Date;

use crate::client_network::ClientNetwork;

/// Counts a run of a network, unless it has had all its runs of the day.
pub async fn count_run(pool: &PgPool, network: ClientNetwork, max_runs: u32) -> sqlx::Result<bool> {
    let today = sqlx::query!(
        "
        INSERT INTO lent_key_days (day)
        VALUES ((now() AT TIME ZONE 'UTC')::date)
        ON CONFLICT (day) DO UPDATE SET day = excluded.day
        RETURNING day, salt
        "
    )
    .fetch_one(pool)
    .await?;
    let digest = network.digest(&today.salt);
    let counted = sqlx::query!(
        "
        INSERT INTO lent_key_runs (day, network, runs)
        VALUES ($1, $2, 1)
        ON CONFLICT (day, network) DO UPDATE SET runs = lent_key_runs.runs + 1
        WHERE lent_key_runs.runs < $3
        ",
        today.day,
        &digest[..],
        i32::try_from(max_runs).unwrap_or(i32::MAX),
    )
    .execute(pool)
    .await?;
    Ok(counted.rows_affected() == 1)
}

/// Spends this much of the day's budget, if so much of it is left. Returns the day. All amounts are millionths of a
/// dollar.
pub async fn spend(pool: &PgPool, amount: i64, budget: i64) -> sqlx::Result<Option<Date>> {
    sqlx::query_scalar!(
        r#"
        INSERT INTO lent_key_days (day, spent)
        SELECT (now() AT TIME ZONE 'UTC')::date, $1
        WHERE $1::bigint <= $2::bigint
        ON CONFLICT (day) DO UPDATE SET spent = lent_key_days.spent + $1
        WHERE lent_key_days.spent <= $2 - $1
        RETURNING day
        "#,
        amount,
        budget,
    )
    .fetch_optional(pool)
    .await
}

/// Replaces an amount that was spent on a day by what it really was. A day that is over by more than a day is forgotten.
pub async fn correct(pool: &PgPool, day: Date, from: i64, to: i64) -> sqlx::Result<()> {
    sqlx::query!(
        "
        UPDATE lent_key_days
        SET spent = greatest(spent + $2, 0)
        WHERE day = $1
        ",
        day,
        to.saturating_sub(from),
    )
    .execute(pool)
    .await?;
    Ok(())
}

/// Deletes the days before yesterday. Runs that began yesterday may still have to be counted.
pub async fn purge(pool: &PgPool) -> sqlx::Result<()> {
    sqlx::query!("DELETE FROM lent_key_days WHERE day < (now() AT TIME ZONE 'UTC')::date - 1")
        .execute(pool)
        .await?;
    Ok(())
}
