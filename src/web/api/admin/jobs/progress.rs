//! `POST /api/admin/jobs/progress`: how far many jobs are, for those who wait for them.

use std::collections::{BTreeMap, HashMap};

use axum::Json;
use axum::extract::{DefaultBodyLimit, State};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;
use uuid::Uuid;

use crate::app::App;
use crate::arena::ModelKey;
use crate::arena::budgets::{Budget, Budgets};
use crate::arena::catalog::{self, ListedModel};
use crate::arena::jobs::pauses::Pauses;
use crate::arena::jobs::{self, JobState};
use crate::web::Error;
use crate::web::api::admin::RequireAdmin;
use crate::web::api::admin::queue::PausesView;
use crate::web::api::admin::seed::SeedJobView;

/// More builds than any arena has.
const MAX_JOBS: usize = 20_000;

/// Enough for the ids of so many jobs.
const BODY_LIMIT: usize = 1 << 20;

pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(progress)).layer(DefaultBodyLimit::max(BODY_LIMIT))
}

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = FollowedJobs)]
struct JobsProgressRequest {
    /// Ids of at most 20,000 jobs. Leave out those that have ended.
    jobs: Vec<Uuid>,
}

#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = JobsProgress)]
pub struct JobsProgressResponse {
    /// Jobs that have ended. What no longer exists is not listed at all.
    pub ended: Vec<SeedJobView>,
    /// The others, by the provider that is asked.
    pub under_way: Vec<ProviderProgressView>,
    /// Whether nothing can go on before an admin resumes what is paused or sets a key, or a budget is raised or begins
    /// anew.
    pub waits_for_admin: bool,
    pub pauses: PausesView,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ProviderProgress)]
pub struct ProviderProgressView {
    #[schema(example = "openai")]
    pub key: String,
    pub display_name: String,
    pub queued: usize,
    pub running: usize,
    /// Why its queued jobs are not started.
    pub waits_for: Option<String>,
}

/// Follow jobs
///
/// How far jobs are: which have ended, and how many are queued and running at each provider.
#[utoipa::path(
    post, path = "/api/admin/jobs/progress", tag = "Admin", operation_id = "jobsProgress",
    request_body = JobsProgressRequest,
    responses((status = OK, description = "The progress.", body = JobsProgressResponse)),
)]
async fn progress(
    State(app): State<App>,
    _admin: RequireAdmin,
    Json(JobsProgressRequest { jobs: ids }): Json<JobsProgressRequest>,
) -> Result<Json<JobsProgressResponse>, Error> {
    if ids.len() > MAX_JOBS {
        return Err(Error::bad_request(format!("At most {MAX_JOBS} jobs can be followed at a time.")));
    }
    let progress = jobs::progress(&app.pool, &ids).await?;
    let models = catalog::models(&app.pool).await?;
    let models: HashMap<_, _> = models.iter().map(|listed| (&listed.model.key, listed)).collect();
    let mut connection = app.pool.acquire().await?;
    let pauses = Pauses::read(&mut connection).await?;
    let budgets = Budgets::read(&mut connection, &app.config.budgets.limits).await?;
    drop(connection);
    let pauses_view = PausesView::read(&app).await?;
    let (under_way, ended): (Vec<_>, Vec<_>) =
        progress.into_iter().partition(|job| matches!(job.state, JobState::Queued | JobState::Running));

    let mut by_provider = BTreeMap::new();
    let mut waits_for_admin = !under_way.is_empty();
    for job in under_way {
        let listed = models.get(&job.model).copied();
        let is_running = job.state == JobState::Running;
        let key = job.provider.filter(|_| is_running).unwrap_or_else(|| route(&app, listed, &job.model));
        let can_ask = listed.is_some_and(|listed| app.worker.providers().can_generate(&listed.model));
        let is_over_budget = || budgets.stop_of(&job.model).is_some_and(Budget::is_used_up);
        waits_for_admin &= !is_running && (!can_ask || pauses.need_admin(&key) || is_over_budget());
        let view = by_provider.entry(key.clone()).or_insert_with(|| ProviderProgressView::new(&app, key));
        match is_running {
            true => view.running += 1,
            false => {
                view.queued += 1;
                let reason = listed.and_then(|listed| pauses_view.wait_reason(&listed.model, &app));
                view.waits_for = view.waits_for.take().or(reason);
            }
        }
    }
    let ended: Vec<_> = ended.iter().map(|job| job.id).collect();
    let ended = if ended.is_empty() { Vec::new() } else { jobs::find(&app.pool, &ended).await? };
    Ok(Json(JobsProgressResponse {
        ended: ended.into_iter().map(SeedJobView::of).collect(),
        under_way: by_provider.into_values().collect(),
        waits_for_admin,
        pauses: pauses_view,
    }))
}

/// The provider that would be asked; the model's own, if none can be.
fn route(app: &App, listed: Option<&ListedModel>, model: &ModelKey) -> String {
    let Some(ListedModel { model, .. }) = listed else { return model.to_string() };
    app.worker.providers().route(model).map_or_else(|| model.provider.clone(), |(key, _)| key.to_owned())
}

impl ProviderProgressView {
    fn new(app: &App, key: String) -> Self {
        let providers = app.worker.providers();
        let known = providers.known().iter().find(|known| known.key == key);
        let display_name = known.map_or(&key, |known| &known.display_name).clone();
        Self { key, display_name, queued: 0, running: 0, waits_for: None }
    }
}
