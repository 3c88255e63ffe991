//! Alarms about budgets: each is raised once over all servers, and sent once where a webhook is set.

use sqlx::PgPool;
use time::{Date, OffsetDateTime};

use super::{Budget, BudgetScope, Budgets};

/// The shares of a budget, in percent, at which an alarm is raised.
const THRESHOLDS: [i16; 2] = [80, 100];

/// The tries to send an alarm, and the seconds after each before the next may begin.
const RETRY_SECONDS: [i64; 4] = [60, 60, 5 * 60, 30 * 60];

/// An older alarm is not sent any more, such as to a webhook that was set later.
const SEND_HOURS: i32 = 1;

/// A budget of which a share is spent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BudgetAlarm {
    pub scope: BudgetScope,
    /// Millionths of a dollar, as is `spent`.
    pub limit: i64,
    pub percent: i16,
    pub spent: i64,
    pub raised_at: OffsetDateTime,
    begins: Date,
}

impl BudgetScope {
    fn id(&self) -> String {
        match self.model() {
            Some(model) => format!("model:{model}"),
            None => self.name().to_owned(),
        }
    }

    fn from_id(id: &str) -> Option<Self> {
        match id {
            "day" => Some(Self::Day),
            "month" => Some(Self::Month),
            "sandbox" => Some(Self::Sandbox),
            _ => Some(Self::Model(id.strip_prefix("model:")?.parse().ok()?)),
        }
    }
}

/// Raises the alarms that are due, and returns those that no server had raised.
pub async fn raise(pool: &PgPool, budgets: &Budgets) -> sqlx::Result<Vec<BudgetAlarm>> {
    let mut raised = Vec::new();
    for budget in &budgets.all {
        for percent in THRESHOLDS {
            if budget.percent() >= i64::from(percent) {
                raised.extend(raise_one(pool, budget, percent).await?);
            }
        }
    }
    Ok(raised)
}

async fn raise_one(pool: &PgPool, budget: &Budget, percent: i16) -> sqlx::Result<Option<BudgetAlarm>> {
    let raised_at = sqlx::query_scalar!(
        "
        INSERT INTO budget_alarms (budget, period, amount, percent, spent)
        VALUES ($1, $2, $3, $4, $5)
        ON CONFLICT DO NOTHING
        RETURNING raised_at
        ",
        budget.scope.id(),
        budget.begins,
        budget.limit,
        percent,
        budget.spent,
    )
    .fetch_optional(pool)
    .await?;
    Ok(raised_at.map(|raised_at| BudgetAlarm {
        scope: budget.scope.clone(),
        limit: budget.limit,
        percent,
        spent: budget.spent,
        raised_at,
        begins: budget.begins,
    }))
}

/// Takes an alarm that is to be sent now. No server takes it again before its next try, and none at all once it is
/// [`BudgetAlarm::mark_delivered`]. A server that is killed between sending and marking lets another send it twice.
pub async fn take_unsent(pool: &PgPool) -> sqlx::Result<Option<BudgetAlarm>> {
    let row = sqlx::query!(
        "
        WITH next AS MATERIALIZED (
            SELECT budget, period, amount, percent
            FROM budget_alarms
            WHERE delivered_at IS NULL AND next_try_at <= clock_timestamp() AND tries < cardinality($1::bigint[])
              AND raised_at > clock_timestamp() - $2::integer * interval '1 hour'
            ORDER BY raised_at, percent
            LIMIT 1
            FOR UPDATE SKIP LOCKED
        )
        UPDATE budget_alarms AS alarm
        SET tries = tries + 1, next_try_at = clock_timestamp() + ($1::bigint[])[tries + 1] * interval '1 second'
        FROM next
        WHERE alarm.budget = next.budget AND alarm.period = next.period AND alarm.amount = next.amount
          AND alarm.percent = next.percent
        RETURNING alarm.budget, alarm.period, alarm.amount, alarm.percent, spent, raised_at
        ",
        &RETRY_SECONDS as &[i64],
        SEND_HOURS,
    )
    .fetch_optional(pool)
    .await?;
    Ok(row.and_then(|row| {
        Some(BudgetAlarm {
            scope: BudgetScope::from_id(&row.budget)?,
            limit: row.amount,
            percent: row.percent,
            spent: row.spent,
            raised_at: row.raised_at,
            begins: row.period,
        })
    }))
}

impl BudgetAlarm {
    pub async fn mark_delivered(&self, pool: &PgPool) -> sqlx::Result<()> {
        sqlx::query!(
            "
            UPDATE budget_alarms
            SET delivered_at = clock_timestamp()
            WHERE budget = $1 AND period = $2 AND amount = $3 AND percent = $4
            ",
            self.scope.id(),
            self.begins,
            self.limit,
            self.percent,
        )
        .execute(pool)
        .await?;
        Ok(())
    }
}
