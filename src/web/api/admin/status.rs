//! `GET /api/admin/status`: the state of the installation.

use axum::Json;
use axum::extract::State;
use serde::Serialize;
use time::OffsetDateTime;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;
use uuid::Uuid;

use super::RequireAdmin;
use super::coverage::{CoverageCellView, CoverageMatrix, CoverageSumView, WaitingModelView};
use super::queue::PausesView;
use crate::app::App;
use crate::arena::catalog::Provider;
use crate::arena::status::{self, InstallationCounts};
use crate::web::Error;
use crate::web::views::SettingsView;

pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(status_now))
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = AdminStatus)]
struct AdminStatusResponse {
    settings: SettingsView,
    version: &'static str,
    counts: InstallationCounts,
    coverage: CoverageSumView,
    /// Jobs that are queued or running at the arena's settings.
    queue: Vec<QueuedBuildView>,
    pauses: PausesView,
    /// Models whose builds are not voted on yet.
    waiting: Vec<WaitingModelView>,
    providers: Vec<ProviderStatusView>,
    /// A note that the list of models may be out of date; null while it is recent.
    catalog_note: Option<String>,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = QueuedBuild)]
struct QueuedBuildView {
    job_id: Option<Uuid>,
    prompt_id: String,
    model_key: String,
    state: &'static str,
    since: Option<i64>,
    attempts: i32,
    chars: i64,
    note: Option<String>,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = AskableProvider)]
struct ProviderStatusView {
    key: String,
    display_name: String,
    /// The environment variable of its API key; null if it needs no key.
    key_variable: Option<String>,
    /// Whether its models can generate builds: the key is set, or none is needed.
    has_key: bool,
    running: usize,
}

/// Get the status
///
/// Counts, coverage, queued and running jobs, what is paused, and which providers can be used.
#[utoipa::path(
    get, path = "/api/admin/status", tag = "Admin", operation_id = "adminStatus",
    responses((status = OK, description = "The status.", body = AdminStatusResponse)),
)]
async fn status_now(
    State(app): State<App>,
    _admin: RequireAdmin,
) -> Result<Json<AdminStatusResponse>, Error> {
    let matrix = CoverageMatrix::read(&app).await?;
    let running = status::running_jobs(&app.pool).await?;
    let queue = matrix.cells().into_iter().filter(|cell| matches!(cell.state, "queued" | "running"));
    let provider = |known: &Provider| ProviderStatusView {
        key: known.key.clone(),
        display_name: known.display_name.clone(),
        key_variable: known.key_variable.clone(),
        has_key: app.worker.providers().can_ask(&known.key),
        running: running.get(&known.key).copied().unwrap_or_default(),
    };
    Ok(Json(AdminStatusResponse {
        settings: SettingsView::of(&app.config.arena),
        version: env!("CARGO_PKG_VERSION"),
        counts: status::counts(&app.pool).await?,
        queue: queue.map(QueuedBuildView::from).collect(),
        providers: app.worker.providers().known().iter().map(provider).collect(),
        catalog_note: catalog_note(&app),
        coverage: matrix.sum,
        waiting: matrix.waiting,
        pauses: matrix.pauses,
    }))
}

pub(in crate::web) fn catalog_note(app: &App) -> Option<String> {
    app.config.catalog.age_note(OffsetDateTime::now_utc().date())
}

impl From<CoverageCellView> for QueuedBuildView {
    fn from(cell: CoverageCellView) -> Self {
        let CoverageCellView { job_id, prompt_id, model_key, state, since, attempts, chars, note, .. } = cell;
        Self { job_id, prompt_id, model_key, state, since, attempts, chars, note }
    }
}
