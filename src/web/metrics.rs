//! `/metrics`: measurements of this server and of the installation, for Prometheus.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::time::Duration;

use axum::Router;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::http::header::{ACCEPT, CONTENT_TYPE, VARY};
use axum::response::IntoResponse;
use axum::routing::get;
use tokio::time::timeout;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::derived::NO_STORE;
use super::{Error, ErrorCode};
use crate::app::App;
use crate::arena::Exclusion;
use crate::arena::alarms::{AlarmKind, AlarmSeverity, VoteReport};
use crate::arena::budgets::Budgets;
use crate::arena::jobs::pauses::{PauseEnd, ProviderPause, ProviderTrouble};
use crate::arena::status::{self, MetricCounts};
use crate::metrics::{MetricSample, MetricValue};

/// Monitoring has to notice soon that the database does not answer.
const TALLY_TIMEOUT: Duration = Duration::from_secs(2);

const OPEN_METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(metrics))
}

/// For a listener that serves nothing else.
pub(super) fn own_routes() -> Router<App> {
    Router::new().route("/metrics", get(answer))
}

/// Get metrics
///
/// Responses and their durations by route, status and error code, work in progress, and the size of the installation,
/// for Prometheus and other readers of OpenMetrics. Votes, alarms about votes, matchups, builds, jobs, pauses and spending are those
/// of all servers, and are missing while the database does not answer; everything else is about this server. No label
/// names a model. If `METRICS_BIND` is set, the metrics are at that address only, and this one does not exist.
#[utoipa::path(
    get, path = "/metrics", tag = "Service", operation_id = "metrics",
    responses((status = OK, description = "The metrics, as text.", content(
        (String = "application/openmetrics-text"), (String = "text/plain")))),
)]
async fn metrics(app: State<App>, headers: HeaderMap) -> Result<impl IntoResponse, Error> {
    if app.config.metrics_bind.is_some() {
        return Err(ErrorCode::NotFound.into());
    }
    answer(app, headers).await
}

async fn answer(State(app): State<App>, headers: HeaderMap) -> Result<impl IntoResponse, Error> {
    let (tally, report) = tokio::join!(
        timeout(TALLY_TIMEOUT, status::metric_counts(&app.pool, &app.config.budgets.limits)),
        timeout(TALLY_TIMEOUT, app.arena.vote_report()),
    );
    let tally = tally.ok().and_then(Result::ok);
    let report = report.ok().and_then(Result::ok);
    let mut readings = server_readings(&app);
    let writable = usize::from(app.database_health.is_writable());
    readings.push(gauge("database_writable", "Whether this server's last write did not fail", writable));
    readings.push(gauge("database_up", "Whether the database answers", usize::from(tally.is_some())));
    readings.extend(tally.into_iter().flat_map(installation_readings));
    readings.extend(report.iter().flat_map(|report| vote_readings(report)));
    let text = app.metrics.encode(readings).map_err(Error::internal)?;
    let head = [(CONTENT_TYPE, kind(&headers)), NO_STORE, (VARY, "accept")];
    Ok((head, text))
}

/// A browser shows plain text, but would download OpenMetrics.
fn kind(headers: &HeaderMap) -> &'static str {
    let accepted = headers.get(ACCEPT).and_then(|value| value.to_str().ok()).unwrap_or_default();
    if accepted.contains("application/openmetrics-text") { OPEN_METRICS } else { "text/plain; charset=utf-8" }
}

fn server_readings(app: &App) -> Vec<MetricSample> {
    let connections = app.pool.size() as usize;
    let idle = app.pool.num_idle();
    vec![
        gauge_by_state(
            "database_connections",
            "Connections of this server to the database",
            [("idle", idle), ("used", connections.saturating_sub(idle))],
        ),
        gauge_by_state(
            "heavy_work",
            "Pieces of CPU-heavy work of this server",
            [("running", app.work.running()), ("waiting", app.work.waiting())],
        ),
        gauge_by_state(
            "sandbox_runs",
            "Runs in the sandbox of this server",
            [("running", app.sandbox_queue.running()), ("waiting", app.sandbox_queue.waiting())],
        ),
        gauge(
            "large_bodies_bytes",
            "Memory used by large request and response bodies on this server",
            app.memory.reserved(),
        ),
        MetricSample {
            name: "person_checks",
            help: "Checks of this server that a voter is a person, by their kind and result",
            value: MetricValue::TotalsByResult(app.person_checks.counts()),
        },
    ]
}

fn installation_readings(tally: MetricCounts) -> [MetricSample; 8] {
    let total =
        |name, help, count: i64| MetricSample { name, help, value: MetricValue::Total(count.unsigned_abs()) };
    let paused = |trouble: ProviderTrouble| {
        let of_trouble = |pause: &&ProviderPause| pause.trouble == trouble && pause.end != PauseEnd::Probing;
        (Cow::Borrowed(trouble.code()), to_i64(tally.pauses.providers.iter().filter(of_trouble).count()))
    };
    let paused = ProviderTrouble::ALL.map(paused);
    let queue_paused = usize::from(tally.pauses.queue_paused_at.is_some());
    let [today, month] = tally.budgets.spent.map(|micros| micros / 10_000);
    let used = budgets_used(&tally.budgets);
    let jobs = tally.jobs.into_iter().map(|(state, jobs)| (Cow::Owned(state), jobs));
    [
        total("votes", "Votes, over all servers", tally.votes),
        total("matchups", "Matchups served, over all servers", tally.matchups),
        MetricSample {
            name: "builds",
            help: "Builds that are not retired, over all servers",
            value: MetricValue::Current(tally.builds),
        },
        MetricSample {
            name: "jobs",
            help: "Builds that models were to generate, by the state of the latest job, over all servers",
            value: MetricValue::ByState(jobs.collect()),
        },
        gauge("queue_paused", "Whether an admin has paused the queue of jobs", queue_paused),
        MetricSample {
            name: "paused_providers",
            help: "Providers that are not asked because they are in trouble, by the trouble, over all servers",
            value: MetricValue::ByState(paused.into()),
        },
        MetricSample {
            name: "spent_cents",
            help: "What asking models has cost in the day and the month in UTC, in cents as far as known, over all servers",
            value: MetricValue::ByState(vec![("day".into(), today), ("month".into(), month)]),
        },
        MetricSample {
            name: "budget_used_percent",
            help: "How much of each budget is spent; of the budgets of models, that of the most used one",
            value: MetricValue::ByState(used),
        },
    ]
}

fn budgets_used(budgets: &Budgets) -> Vec<(Cow<'static, str>, i64)> {
    let mut used = BTreeMap::new();
    for budget in &budgets.all {
        let most = used.entry(budget.scope.name()).or_insert(0);
        *most = budget.percent().max(*most);
    }
    used.into_iter().map(|(name, percent)| (Cow::Borrowed(name), percent)).collect()
}

fn vote_readings(report: &VoteReport) -> [MetricSample; 2] {
    let excluded = Exclusion::ALL.map(|exclusion| (exclusion.name().into(), report.excluded.of(exclusion)));
    let alarms = AlarmKind::ALL.into_iter().flat_map(|kind| {
        AlarmSeverity::ALL.map(|severity| {
            ([kind.name().into(), severity.name().into()], to_i64(report.count(kind, severity)))
        })
    });
    [
        MetricSample {
            name: "excluded_votes",
            help: "Votes that do not count, by the reason, over all servers",
            value: MetricValue::ByState(excluded.into()),
        },
        MetricSample {
            name: "vote_alarms",
            help: "Alarms about the votes of the last day, over all servers",
            value: MetricValue::ByKindAndSeverity(alarms.collect()),
        },
    ]
}

fn gauge(name: &'static str, help: &'static str, count: usize) -> MetricSample {
    MetricSample { name, help, value: MetricValue::Current(to_i64(count)) }
}

fn gauge_by_state(
    name: &'static str,
    help: &'static str,
    states: [(&'static str, usize); 2],
) -> MetricSample {
    let states = states.map(|(state, count)| (Cow::Borrowed(state), to_i64(count)));
    MetricSample { name, help, value: MetricValue::ByState(states.into()) }
}

fn to_i64(count: usize) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}
