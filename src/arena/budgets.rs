//! Budgets: what asking models may cost in a day, in a month, and for a model in all.
//!
//! Days and months are those of UTC. What was spent is the sum of what jobs, probes and lent keys have cost as far as it is
//! known; an answer whose end was lost counts with what it cost at least. Requests of unknown cost are counted beside it.
//!
//! A budget is checked when a job is claimed or a batch is reserved, under the lock of all claims, and when a key is lent.
//! It is checked once more before a batch is submitted. It stops what would begin while nothing is left of it, and nothing
//! that runs. A job under way, or in a batch, counts with what an answer of its model is expected to cost, unless more of
//! that is recorded already. So a budget is exceeded by no more than the last job that began within it, and by what jobs
//! under way cost beyond what was expected, such as for second attempts.
//!
//! What costs nothing, because its prices are zero, goes on.

pub mod alarms;
mod of_models;

use std::collections::{HashMap, HashSet};
use std::fmt;

use sqlx::{PgConnection, PgPool};
use time::{Date, OffsetDateTime};

pub(super) use self::of_models::seed_model_budget;
pub use self::of_models::{model_budget, model_budgets, set_model_budget};
use super::ModelKey;

/// What a build takes as long as nothing is known of its model. Models that think at length use several times as much.
pub const TYPICAL_INPUT_TOKENS: u64 = 4_000;
pub const TYPICAL_OUTPUT_TOKENS: u64 = 15_000;

/// Answers of so many days tell what the next one is expected to cost.
const EXPECTATION_DAYS: i32 = 30;

/// No expectation is higher, whatever a price says, so that sums stay numbers.
const MAX_EXPECTED: f64 = 1e15;

/// The budgets that the environment sets, in millionths of a dollar. None is no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SpendingLimits {
    pub day: Option<i64>,
    pub month: Option<i64>,
    /// For what the sandbox uses of the server's own keys in a day.
    pub sandbox_day: Option<i64>,
}

/// What a budget is for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BudgetScope {
    Day,
    Month,
    /// The server's own keys in the sandbox, for a day.
    Sandbox,
    /// A model, for all times.
    Model(ModelKey),
}

/// A budget and what is left of it. All amounts are millionths of a dollar.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Budget {
    pub scope: BudgetScope,
    pub limit: i64,
    pub spent: i64,
    /// What jobs under way are expected to cost beyond what is recorded of them.
    pub reserved: i64,
    /// Requests that may have cost more than is known.
    pub unpriced: i64,
    /// The first day of its period.
    pub begins: Date,
    pub ends: Option<OffsetDateTime>,
}

/// All budgets at one moment.
#[derive(Clone, Debug)]
pub struct Budgets {
    /// The day, the month, the sandbox, then models by their keys.
    pub all: Vec<Budget>,
    /// What was spent today and in this month, with or without a budget.
    pub spent: [i64; 2],
    /// Models whose prices are zero.
    free: HashSet<ModelKey>,
    /// What an answer of each model is expected to cost at its list price.
    expected: HashMap<ModelKey, f64>,
}

impl BudgetScope {
    /// The name of the kind, for programs.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Day => "day",
            Self::Month => "month",
            Self::Sandbox => "sandbox",
            Self::Model(_) => "model",
        }
    }

    pub fn model(&self) -> Option<&ModelKey> {
        match self {
            Self::Model(model) => Some(model),
            Self::Day | Self::Month | Self::Sandbox => None,
        }
    }
}

/// The end of a phrase that begins with “the budget”.
impl fmt::Display for BudgetScope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Day => f.write_str("for today"),
            Self::Month => f.write_str("for this month"),
            Self::Sandbox => f.write_str("for the sandbox today"),
            Self::Model(model) => write!(f, "for the model {model}"),
        }
    }
}

impl Budget {
    /// How much of it is spent, rounded down.
    pub fn percent(&self) -> i64 {
        if self.limit == 0 {
            return 100;
        }
        i64::try_from(i128::from(self.spent) * 100 / i128::from(self.limit)).unwrap_or(i64::MAX).max(0)
    }

    pub fn is_used_up(&self) -> bool {
        self.spent >= self.limit
    }

    /// Whether nothing may begin that it pays for. If it is not used up, jobs under way may still leave some of it.
    pub fn has_nothing_left(&self) -> bool {
        self.spent.saturating_add(self.reserved) >= self.limit
    }

    fn pays_for(&self, asked: &ModelKey) -> bool {
        match &self.scope {
            BudgetScope::Day | BudgetScope::Month => true,
            BudgetScope::Sandbox => false,
            BudgetScope::Model(model) => model == asked,
        }
    }
}

impl Budgets {
    pub async fn read(connection: &mut PgConnection, limits: &SpendingLimits) -> sqlx::Result<Self> {
        // Read before what is spent: a cost that is recorded in between then counts twice rather than not at all.
        let expected = expected_costs(&mut *connection).await?;
        let reserved = reserved(&mut *connection, &expected).await?;
        let spent = sqlx::query!(
            r#"
            WITH clock AS (
                SELECT
                    (clock_timestamp() AT TIME ZONE 'UTC')::date AS today,
                    date_trunc('month', clock_timestamp() AT TIME ZONE 'UTC') AS month
            )
            SELECT
                today AS "today!", month::date AS "month!",
                (today + 1)::timestamp AT TIME ZONE 'UTC' AS "tomorrow!",
                (month + interval '1 month') AT TIME ZONE 'UTC' AS "next_month!",
                coalesce(sum(spent) FILTER (WHERE day = today), 0)::bigint AS "in_day!",
                coalesce(sum(unpriced) FILTER (WHERE day = today), 0)::bigint AS "unpriced_in_day!",
                coalesce(sum(spent), 0)::bigint AS "in_month!",
                coalesce(sum(unpriced), 0)::bigint AS "unpriced_in_month!",
                coalesce((SELECT spent FROM lent_key_days WHERE day = today), 0) AS "in_sandbox!"
            FROM clock
            LEFT JOIN spending_days ON day >= month
            GROUP BY today, month
            "#
        )
        .fetch_one(&mut *connection)
        .await?;
        let reserved_for_all = reserved.values().fold(0, |sum: i64, one| sum.saturating_add(*one));
        let day = limits.day.map(|limit| Budget {
            scope: BudgetScope::Day,
            limit,
            spent: spent.in_day,
            reserved: reserved_for_all,
            unpriced: spent.unpriced_in_day,
            begins: spent.today,
            ends: Some(spent.tomorrow),
        });
        let month = limits.month.map(|limit| Budget {
            scope: BudgetScope::Month,
            limit,
            spent: spent.in_month,
            reserved: reserved_for_all,
            unpriced: spent.unpriced_in_month,
            begins: spent.month,
            ends: Some(spent.next_month),
        });
        // Where nothing is lent, its budget says nothing.
        let sandbox = limits.sandbox_day.filter(|_| spent.in_sandbox > 0).map(|limit| Budget {
            scope: BudgetScope::Sandbox,
            limit,
            spent: spent.in_sandbox,
            reserved: 0,
            unpriced: 0,
            begins: spent.today,
            ends: Some(spent.tomorrow),
        });
        let models = of_models::read(&mut *connection, &reserved).await?;
        let free = free_models(connection).await?;
        let all = day.into_iter().chain(month).chain(sandbox).chain(models).collect();
        Ok(Self { all, spent: [spent.in_day, spent.in_month], free, expected })
    }

    /// The budget for which no job of the model may begin, the used up ones first.
    pub fn stop_of(&self, model: &ModelKey) -> Option<&Budget> {
        if self.free.contains(model) {
            return None;
        }
        let stops = self.all.iter().filter(|budget| budget.pays_for(model) && budget.has_nothing_left());
        stops.max_by_key(|budget| budget.is_used_up())
    }

    /// How many jobs of the model may begin together, at this part of the list price. As with jobs that begin one by
    /// one, the last may exceed what is left.
    pub fn room_for(&self, model: &ModelKey, price_part: f64) -> i64 {
        let budgets = self.all.iter().filter(|budget| budget.pays_for(model));
        let left =
            budgets.map(|budget| budget.limit.saturating_sub(budget.spent).saturating_sub(budget.reserved));
        let Some(left) = left.min().filter(|_| !self.free.contains(model)) else { return i64::MAX };
        let each = self.expected.get(model).copied().unwrap_or_default() * price_part;
        // What is expected to cost nothing has unlimited room as long as anything is left.
        if left > 0 { (left as f64 / each).ceil() as i64 } else { 0 }
    }
}

/// What an answer of each model is expected to cost at its list price.
async fn expected_costs(connection: &mut PgConnection) -> sqlx::Result<HashMap<ModelKey, f64>> {
    let rows = sqlx::query!(
        r#"
        SELECT
            key AS "model: ModelKey",
            least(
                coalesce(
                    (
                        SELECT sum(answers_cost)::float8 / nullif(sum(answers), 0)::float8
                        FROM spending_days
                        WHERE spending_days.model_key = key
                          AND day > (clock_timestamp() AT TIME ZONE 'UTC')::date - $1::integer
                    ),
                    (prices ->> 'input')::float8 * $2 + (prices ->> 'output')::float8 * $3,
                    0
                ),
                $4
            ) AS "cost!"
        FROM models
        "#,
        EXPECTATION_DAYS,
        TYPICAL_INPUT_TOKENS as f64,
        TYPICAL_OUTPUT_TOKENS as f64,
        MAX_EXPECTED,
    )
    .fetch_all(connection)
    .await?;
    Ok(rows.into_iter().map(|row| (row.model, row.cost)).collect())
}

/// What jobs under way are expected to cost beyond what is recorded of their attempts, by model. Jobs of a batch are under
/// way.
async fn reserved(
    connection: &mut PgConnection,
    expected: &HashMap<ModelKey, f64>,
) -> sqlx::Result<HashMap<ModelKey, i64>> {
    let rows = sqlx::query!(
        r#"
        SELECT
            jobs.model_key AS "model: ModelKey", coalesce(attempts.cost, 0) AS "recorded!",
            coalesce(batches.price_part, 1) AS "price_part!", count(*) AS "jobs!"
        FROM jobs
        LEFT JOIN attempts ON attempts.job_id = jobs.id AND attempts.ended_at IS NULL
        LEFT JOIN batches ON batches.id = batch_id
        WHERE (jobs.state = 'running' AND jobs.leased_until > clock_timestamp())
           OR (jobs.state = 'queued' AND batch_id IS NOT NULL)
        GROUP BY 1, 2, 3
        "#
    )
    .fetch_all(connection)
    .await?;
    let mut reserved: HashMap<ModelKey, i64> = HashMap::new();
    for row in rows {
        let each = expected.get(&row.model).copied().unwrap_or_default() * row.price_part;
        let beyond = (each as i64).saturating_sub(row.recorded).max(0);
        let sum = reserved.entry(row.model).or_default();
        *sum = sum.saturating_add(beyond.saturating_mul(row.jobs));
    }
    Ok(reserved)
}

async fn free_models(connection: &mut PgConnection) -> sqlx::Result<HashSet<ModelKey>> {
    let keys = sqlx::query_scalar!(
        r#"
        SELECT key AS "key: ModelKey"
        FROM models
        WHERE (prices ->> 'input')::float8 = 0 AND (prices ->> 'output')::float8 = 0
        "#
    )
    .fetch_all(connection)
    .await?;
    Ok(keys.into_iter().collect())
}

/// Records what a probe has cost, if that is known.
pub async fn record_probe(pool: &PgPool, model: &ModelKey, cost: Option<i64>) -> sqlx::Result<()> {
    sqlx::query!(
        "
        INSERT INTO spending_days AS known (day, model_key, purpose, spent, unpriced)
        VALUES ((clock_timestamp() AT TIME ZONE 'UTC')::date, $1, 'probe', $2, $3)
        ON CONFLICT (day, model_key, purpose) DO UPDATE
        SET spent = known.spent + excluded.spent, unpriced = known.unpriced + excluded.unpriced
        ",
        model as _,
        cost.unwrap_or_default(),
        i64::from(cost.is_none()),
    )
    .execute(pool)
    .await?;
    Ok(())
}
