//! `/admin/places/{prompt}/{model}`: what there is of a prompt by a model, and every job for it.

use askama::Template;
use askama_web::WebTemplate;
use axum::Router;
use axum::extract::{Path, State};
use axum::routing::get;
use time::OffsetDateTime;
use uuid::Uuid;

use super::models::unavailable_reason;
use super::session::SignedIn;
use crate::app::App;
use crate::arena::catalog::{ListedModel, ListedPrompt};
use crate::arena::jobs::{self, Job};
use crate::web::api::admin::coverage::{CoverageCellView, CoverageMatrix};
use crate::web::{Error, Page, filters};

pub(super) fn routes() -> Router<App> {
    Router::new().route("/admin/places/{prompt}/{model}", get(show))
}

#[derive(Template, WebTemplate)]
#[template(path = "admin/place.html")]
struct PlacePage {
    page: Page,
    settings: String,
    prompt: ListedPrompt,
    model: ListedModel,
    cell: CoverageCellView,
    unavailable_reason: Option<String>,
    /// What was made here, where it is in force no more.
    retired: Option<Uuid>,
    /// The latest first.
    jobs: Vec<Job>,
}

async fn show(
    State(app): State<App>,
    _: SignedIn,
    Path((prompt, model)): Path<(String, String)>,
) -> Result<PlacePage, Error> {
    let matrix = CoverageMatrix::read(&app).await?;
    let coverage = &matrix.coverage;
    let prompt = coverage.prompts.iter().find(|listed| listed.prompt.id.as_str() == prompt);
    let model = coverage.models.iter().find(|listed| listed.model.key.as_str() == model);
    let (Some(prompt), Some(model)) = (prompt, model) else {
        return Err(Error::not_found("There is no such prompt, or no such model."));
    };
    let cell = matrix.cell(prompt, model);
    let jobs = jobs::of_slot(&app.pool, &prompt.prompt.id, &model.model.key).await?;
    let latest = jobs.iter().find(|job| Some(job.id) == cell.job_id);
    Ok(PlacePage {
        page: Page::without_address(),
        settings: coverage.settings.to_string(),
        unavailable_reason: unavailable_reason(&model.model, app.worker.providers()),
        retired: latest.filter(|_| cell.state == "missing").and_then(|job| job.build_id),
        cell,
        jobs,
        prompt: prompt.clone(),
        model: model.clone(),
    })
}

impl Job {
    fn ms(&self) -> Option<i64> {
        self.seconds(OffsetDateTime::now_utc()).map(|seconds| (seconds * 1000.0) as i64)
    }

    fn dollars(&self) -> f64 {
        self.cost as f64 / 1e6
    }
}
