//! Alarms about budgets: raised when a share of a budget is spent, logged, and sent to a webhook if one is set.

use std::time::Duration;

use anyhow::{Context, ensure};
use axum::http::header::CONTENT_TYPE;
use serde_json::json;
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;
use tokio::time::timeout;

use crate::app::App;
use crate::arena::budgets::Budgets;
use crate::arena::budgets::alarms::{self, BudgetAlarm};
use crate::config::BudgetWebhook;
use crate::outbound;

/// A webhook answers within this time, or counts as failed. It is shorter than the time until the next try.
const SEND_TIMEOUT: Duration = Duration::from_secs(15);

/// Raises the alarms that are due, and sends those that were not sent yet.
pub async fn watch_budgets(app: &App) -> sqlx::Result<()> {
    let budgets = Budgets::read(&mut *app.pool.acquire().await?, &app.config.budgets.limits).await?;
    for alarm in alarms::raise(&app.pool, &budgets).await? {
        tracing::warn!("{}", sentence(&alarm));
    }
    let Some(webhook) = &app.config.budgets.webhook else { return Ok(()) };
    while let Some(alarm) = alarms::take_unsent(&app.pool).await? {
        match timeout(SEND_TIMEOUT, send(webhook, &alarm)).await {
            Ok(Ok(())) => alarm.mark_delivered(&app.pool).await?,
            Ok(Err(error)) => {
                tracing::warn!("an alarm could not be sent to BUDGET_WEBHOOK: {error:#}");
            }
            Err(_) => {
                tracing::warn!(
                    "an alarm could not be sent to BUDGET_WEBHOOK: no answer within {SEND_TIMEOUT:?}"
                );
            }
        }
    }
    Ok(())
}

/// Errors never show the address, which may be a secret.
async fn send(webhook: &BudgetWebhook, alarm: &BudgetAlarm) -> anyhow::Result<()> {
    let mut without_query = webhook.url.clone();
    without_query.set_query(None);
    let endpoint = outbound::resolve(without_query.as_str(), webhook.allow_private).await?;
    let client = outbound::client_builder(Some(&endpoint.pinned))?.build().context("no HTTP client")?;
    let request = client.post(webhook.url.clone()).header(CONTENT_TYPE, "application/json");
    let response =
        request.body(message(alarm).to_string()).send().await.map_err(reqwest::Error::without_url)?;
    ensure!(response.status().is_success(), "it answered {}", response.status());
    Ok(())
}

/// Chat services show `text`; the rest is for programs.
fn message(alarm: &BudgetAlarm) -> serde_json::Value {
    json!({
        "text": sentence(alarm),
        "budget": alarm.scope.name(),
        "model": alarm.scope.model().map(ToString::to_string),
        "percent": alarm.percent,
        "spent": dollars(alarm.spent),
        "limit": dollars(alarm.limit),
        "at": format_time(alarm.raised_at),
    })
}

fn sentence(alarm: &BudgetAlarm) -> String {
    let BudgetAlarm { scope, percent, .. } = alarm;
    let (spent, limit) = (dollars(alarm.spent), dollars(alarm.limit));
    format!("Buildoff: {percent} % of the budget {scope} is spent: ${spent:.2} of ${limit:.2}.")
}

fn dollars(micros: i64) -> f64 {
    micros as f64 / 1e6
}

fn format_time(at: OffsetDateTime) -> String {
    at.format(&Rfc3339).unwrap_or_default()
}
