//! `/admin/places/{prompt}/{model}`: the build of a prompt by a model, and all its jobs.

use askama::Template;
use askama_web::WebTemplate;
use axum::Router;
use axum::extract::{Path, State};
use axum::routing::get;
use uuid::Uuid;

use super::session::SignedIn;
use crate::app::App;
use crate::arena::catalog::{ListedModel, ListedPrompt};
use crate::arena::jobs::{self, Job};
use crate::web::api::admin::coverage::{CoverageCellView, CoverageMatrix};
use crate::web::api::admin::jobs::{dollars, elapsed_ms};
use crate::web::views::unavailable_reason;
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
    /// The build of the latest job, if it is retired.
    retired: Option<Uuid>,
    /// Newest first.
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
        return Err(Error::not_found("This prompt or this model does not exist."));
    };
    let cell = matrix.cell(prompt, model);
    let jobs = jobs::of_slot(&app.pool, &prompt.prompt.id, &model.model.key).await?;
    let latest = jobs.iter().find(|job| Some(job.id) == cell.job_id);
    Ok(PlacePage {
        page: Page::without_address(),
        settings: coverage.settings.to_string(),
        unavailable_reason: unavailable_reason(&model.model, &app.worker.providers()),
        retired: latest.filter(|_| cell.state == "missing").and_then(|job| job.build_id),
        cell,
        jobs,
        prompt: prompt.clone(),
        model: model.clone(),
    })
}

impl Job {
    fn ms(&self) -> Option<i64> {
        elapsed_ms(self)
    }

    fn cost_text(&self) -> String {
        filters::format_cost(self.cost.map(dollars), self.cost_is_minimum)
    }
}
