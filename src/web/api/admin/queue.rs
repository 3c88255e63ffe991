//! `/api/admin/queue` and `/api/admin/providers/{key}/resume`: what is paused, and pausing and resuming.

use std::collections::HashMap;

use axum::Json;
use axum::extract::{Path, State};
use serde::{Deserialize, Serialize};
use serde_json::json;
use time::OffsetDateTime;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::RequireAdmin;
use super::budgets::BudgetView;
use crate::app::App;
use crate::arena::audit::{self, Admin};
use crate::arena::budgets::Budgets;
use crate::arena::catalog::{self, ListedModel, Model};
use crate::arena::jobs::pauses::{self, PauseEnd, Pauses, ProviderPause};
use crate::arena::status;
use crate::web::openapi::codes;
use crate::web::views::unavailable_reason;
use crate::web::{Error, ErrorCode};

pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(show))
        .routes(routes!(pause))
        .routes(routes!(resume))
        .routes(routes!(resume_provider))
}

/// What holds jobs back. Those that run go on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Pauses)]
pub struct PausesView {
    /// When an admin paused the whole queue; null while it is not paused.
    #[serde(with = "time::serde::rfc3339::option")]
    #[schema(required, example = json!(null))]
    pub queue_paused_at: Option<OffsetDateTime>,
    /// The providers that are in trouble.
    pub providers: Vec<ProviderPauseView>,
    /// What asking models may cost. Jobs that a budget stops wait in the queue.
    #[serde(default)]
    pub budgets: Vec<BudgetView>,
}

/// A provider in trouble. Its jobs wait in the queue.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ProviderPause)]
pub struct ProviderPauseView {
    #[schema(example = "openai")]
    pub key: String,
    pub display_name: String,
    /// bad_key, no_credit, rate_limited, overloaded, unreachable or stalled.
    #[schema(example = "no_credit")]
    pub code: String,
    /// In the provider’s words.
    pub message: String,
    #[serde(with = "time::serde::rfc3339")]
    pub paused_at: OffsetDateTime,
    /// When the pause ends; null if it has ended, or ends when an admin resumes the provider.
    #[serde(with = "time::serde::rfc3339::option")]
    #[schema(required, example = json!(null))]
    pub until: Option<OffsetDateTime>,
    /// Whether the pause is over, and one job at a time tries whether the trouble is, too.
    pub probing: bool,
    /// At all settings.
    pub queued_jobs: i64,
    /// The above, for people.
    pub sentence: String,
}

/// Get what is paused
///
/// Whether the queue is paused, which providers are, and the budgets.
#[utoipa::path(
    get, path = "/api/admin/queue", tag = "Admin", operation_id = "queue",
    responses((status = OK, description = "What is paused.", body = PausesView)),
)]
async fn show(State(app): State<App>, _admin: RequireAdmin) -> Result<Json<PausesView>, Error> {
    Ok(Json(PausesView::read(&app).await?))
}

/// Pause the queue
///
/// No server starts a job until the queue is resumed. Jobs that run go on.
#[utoipa::path(
    post, path = "/api/admin/queue/pause", tag = "Admin", operation_id = "pauseQueue",
    responses((status = OK, description = "What is paused now.", body = PausesView)),
)]
async fn pause(State(app): State<App>, RequireAdmin(admin): RequireAdmin) -> Result<Json<PausesView>, Error> {
    set_queue_paused(&app, admin, true).await
}

/// Resume the queue
///
/// Starts jobs again, except those of providers that are paused themselves.
#[utoipa::path(
    post, path = "/api/admin/queue/resume", tag = "Admin", operation_id = "resumeQueue",
    responses((status = OK, description = "What is paused now.", body = PausesView)),
)]
async fn resume(
    State(app): State<App>,
    RequireAdmin(admin): RequireAdmin,
) -> Result<Json<PausesView>, Error> {
    set_queue_paused(&app, admin, false).await
}

/// Resume a provider
///
/// Ends its pause. One job tries the provider first; the others follow once it has answered.
#[utoipa::path(
    post, path = "/api/admin/providers/{key}/resume", tag = "Admin", operation_id = "resumeProvider",
    params(("key" = String, Path, description = "The provider.")),
    responses((status = OK, description = "What is paused now.", body = PausesView)),
    extensions(("x-errors" = json!(codes([ErrorCode::NotFound])))),
)]
async fn resume_provider(
    State(app): State<App>,
    RequireAdmin(admin): RequireAdmin,
    Path(key): Path<String>,
) -> Result<Json<PausesView>, Error> {
    let mut transaction = app.pool.begin().await?;
    let resumed = pauses::resume_provider(&mut transaction, &key).await?;
    if !resumed && !app.worker.providers().known().iter().any(|known| known.key == key) {
        return Err(Error::not_found("This provider does not exist."));
    }
    if resumed {
        audit::record(&mut transaction, admin, "resume", &key, json!({})).await?;
    }
    transaction.commit().await?;
    app.worker.wake();
    Ok(Json(PausesView::read(&app).await?))
}

async fn set_queue_paused(app: &App, admin: Admin, paused: bool) -> Result<Json<PausesView>, Error> {
    let mut transaction = app.pool.begin().await?;
    if pauses::set_queue_paused(&mut transaction, paused).await? {
        let action = if paused { "pause" } else { "resume" };
        audit::record(&mut transaction, admin, action, "the queue", json!({})).await?;
    }
    transaction.commit().await?;
    app.worker.wake();
    Ok(Json(PausesView::read(app).await?))
}

impl PausesView {
    pub(in crate::web) async fn read(app: &App) -> Result<Self, Error> {
        let mut connection = app.pool.acquire().await?;
        let pauses = Pauses::read(&mut connection).await?;
        let budgets = Budgets::read(&mut connection, &app.config.budgets.limits).await?;
        drop(connection);
        let models = if pauses.providers.is_empty() && budgets.all.is_empty() {
            Vec::new()
        } else {
            catalog::models(&app.pool).await?
        };
        let mut queued = HashMap::new();
        if !pauses.providers.is_empty() {
            let jobs = status::queued_jobs(&app.pool).await?;
            for ListedModel { model, .. } in &models {
                if let Some((provider, _)) = app.worker.providers().route(model) {
                    *queued.entry(provider.to_owned()).or_default() +=
                        jobs.get(&model.key).copied().unwrap_or_default();
                }
            }
        }
        let view = |pause: ProviderPause| {
            let queued_jobs = queued.get(&pause.provider).copied().unwrap_or_default();
            ProviderPauseView::new(pause, queued_jobs, app)
        };
        Ok(Self {
            queue_paused_at: pauses.queue_paused_at,
            providers: pauses.providers.into_iter().map(view).collect(),
            budgets: budgets.all.iter().map(|budget| BudgetView::of(budget, &models)).collect(),
        })
    }

    pub fn is_empty(&self) -> bool {
        self.queue_paused_at.is_none() && self.providers.is_empty() && self.notices().next().is_none()
    }

    /// What is said about budgets.
    pub(in crate::web) fn notices(&self) -> impl Iterator<Item = &str> {
        self.budgets.iter().filter_map(|budget| budget.sentence.as_deref())
    }

    /// For a terminal.
    pub fn lines(&self) -> Vec<String> {
        let queue = self
            .queue_paused_at
            .map(|_| "The queue is paused. Jobs start again after: buildoff queue resume".to_owned());
        let providers = self.providers.iter().flat_map(|pause| {
            let resume =
                (!pause.probing).then(|| format!("  Resume it with: buildoff queue resume {}", pause.key));
            [Some(pause.sentence.clone()), Some(format!("  {}", pause.message)), resume]
        });
        let budgets = self.notices().map(ToOwned::to_owned);
        queue.into_iter().chain(providers.flatten()).chain(budgets).collect()
    }

    /// What a queued job of the model waits for that is asked for in a batch.
    pub(in crate::web) fn batch_wait(
        &self,
        model: &Model,
        submitted_at: Option<OffsetDateTime>,
        app: &App,
    ) -> String {
        if let Some(at) = submitted_at {
            let (date, time) = (at.date(), at.time());
            return format!("In a batch since {date} {:02}:{:02} UTC.", time.hour(), time.minute());
        }
        if app.worker.providers().batch_route(model).is_none() {
            return "No provider of this model with a key has a batch API.".to_owned();
        }
        self.wait_reason(model, app).unwrap_or_else(|| "Waits for the next batch.".to_owned())
    }

    /// Why a queued job of the model is not started.
    pub(in crate::web) fn wait_reason(&self, model: &Model, app: &App) -> Option<String> {
        let providers = app.worker.providers();
        if let Some(reason) = unavailable_reason(model, &providers) {
            return Some(reason);
        }
        if self.queue_paused_at.is_some() {
            return Some("The queue is paused.".to_owned());
        }
        let (key, _) = providers.route(model)?;
        let pause = self.providers.iter().find(|pause| pause.key == key && !pause.probing);
        pause
            .map(|pause| format!("{} is paused.", pause.display_name))
            .or_else(|| self.budgets.iter().find_map(|budget| budget.wait_reason(model)))
    }
}

impl ProviderPauseView {
    fn new(pause: ProviderPause, queued_jobs: i64, app: &App) -> Self {
        let providers = app.worker.providers();
        let known = providers.known().iter().find(|known| known.key == pause.provider);
        let display_name = known.map_or(&pause.provider, |known| &known.display_name).clone();
        let (until, probing) = match pause.end {
            PauseEnd::At(until) => (Some(until), false),
            PauseEnd::WhenResumed => (None, false),
            PauseEnd::Probing => (None, true),
        };
        Self {
            sentence: sentence(&pause, &display_name, queued_jobs),
            code: pause.trouble.code().to_owned(),
            key: pause.provider,
            display_name,
            message: pause.message,
            paused_at: pause.paused_at,
            until,
            probing,
            queued_jobs,
        }
    }
}

fn sentence(pause: &ProviderPause, name: &str, queued_jobs: i64) -> String {
    let reason = pause.trouble.reason();
    let paused = match pause.end {
        PauseEnd::At(until) => {
            format!("{name} is paused until {:02}:{:02} UTC: {reason}.", until.hour(), until.minute())
        }
        PauseEnd::WhenResumed => format!("{name} is paused until you resume it: {reason}."),
        PauseEnd::Probing => format!("{name} was paused: {reason}. One job tries it before the others."),
    };
    match queued_jobs {
        0 => paused,
        1 => format!("{paused} One job waits."),
        several => format!("{paused} {several} jobs wait."),
    }
}
