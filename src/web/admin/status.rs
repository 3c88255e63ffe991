//! `GET /api/admin/status`: how the installation stands.

use axum::Json;
use axum::extract::State;
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;
use uuid::Uuid;

use super::AsAdmin;
use super::coverage::{Cell, Matrix, Sum};
use crate::app::App;
use crate::arena::status;
use crate::web::Error;
use crate::web::leaderboard::api::Settings;

pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(status_now))
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = AdminStatus)]
struct Answer {
    settings: Settings,
    version: &'static str,
    counts: Counts,
    coverage: Sum,
    /// What is queued or running at the arena's settings.
    queue: Vec<Queued>,
    providers: Vec<Provider>,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = AdminCounts)]
struct Counts {
    prompts: i64,
    active_prompts: i64,
    models: i64,
    enabled_models: i64,
    builds: i64,
    retired_builds: i64,
    matchups: i64,
    votes: i64,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = QueuedBuild)]
struct Queued {
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
struct Provider {
    key: String,
    display_name: String,
    /// Where its key is looked for; none for one that wants no key.
    key_variable: Option<String>,
    /// Whether it can be asked.
    has_key: bool,
    running: usize,
}

/// How the installation stands
///
/// Counts, coverage, what is queued or running, and who can be asked.
#[utoipa::path(
    get, path = "/api/admin/status", tag = "Admin", operation_id = "adminStatus",
    security(("adminToken" = [])),
    responses((status = OK, description = "All of it.", body = Answer)),
)]
async fn status_now(State(app): State<App>, _admin: AsAdmin) -> Result<Json<Answer>, Error> {
    let matrix = Matrix::read(&app).await?;
    let counts = status::counts(&app.pool).await?;
    let running = status::running_jobs(&app.pool).await?;
    let queue = matrix.cells().into_iter().filter(|cell| matches!(cell.state, "queued" | "running"));
    let provider = |known: &crate::arena::catalog::Provider| Provider {
        key: known.key.clone(),
        display_name: known.display_name.clone(),
        key_variable: known.key_variable.clone(),
        has_key: app.workshop.providers().can_ask(&known.key),
        running: running.get(&known.key).copied().unwrap_or_default(),
    };
    Ok(Json(Answer {
        settings: Settings::of(&app.config.arena),
        version: env!("CARGO_PKG_VERSION"),
        counts: counts.into(),
        queue: queue.map(Queued::from).collect(),
        providers: app.workshop.providers().known().iter().map(provider).collect(),
        coverage: matrix.sum,
    }))
}

impl From<status::InstallationCounts> for Counts {
    fn from(counts: status::InstallationCounts) -> Self {
        let status::InstallationCounts {
            prompts,
            active_prompts,
            models,
            enabled_models,
            builds,
            retired_builds,
            matchups,
            votes,
        } = counts;
        Self { prompts, active_prompts, models, enabled_models, builds, retired_builds, matchups, votes }
    }
}

impl From<Cell> for Queued {
    fn from(cell: Cell) -> Self {
        let Cell { job_id, prompt_id, model_key, state, since, attempts, chars, note, .. } = cell;
        Self { job_id, prompt_id, model_key, state, since, attempts, chars, note }
    }
}
