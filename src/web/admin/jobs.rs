//! `/admin/jobs/{id}`: a job, and every question of it with its answer.

use askama::Template;
use askama_web::WebTemplate;
use axum::Router;
use axum::extract::{Path, State};
use axum::routing::get;
use serde_json::Value;
use uuid::Uuid;

use super::session::SignedIn;
use crate::app::App;
use crate::web::api::admin::jobs::{AttemptView, JobView};
use crate::web::{Error, Page, filters};

pub(super) fn routes() -> Router<App> {
    Router::new().route("/admin/jobs/{id}", get(show))
}

#[derive(Template, WebTemplate)]
#[template(path = "admin/job.html")]
struct JobPage {
    page: Page,
    job: JobView,
}

async fn show(State(app): State<App>, _: SignedIn, Path(id): Path<String>) -> Result<JobPage, Error> {
    let id = Uuid::try_parse(&id).map_err(|_| Error::not_found("There is no such job."))?;
    Ok(JobPage { page: Page::without_address(), job: JobView::read(&app, id).await? })
}

impl JobView {
    fn is_under_way(&self) -> bool {
        matches!(self.state, "queued" | "running")
    }
}

impl AttemptView {
    fn outcome(&self) -> &str {
        self.outcome.as_deref().unwrap_or("under way")
    }

    fn tone(&self) -> &'static str {
        match self.outcome.as_deref() {
            Some("accepted") => "good",
            Some("refused" | "failed" | "unread") => "bad",
            _ => "soft",
        }
    }

    fn notes(&self) -> Vec<String> {
        self.notes.as_array().into_iter().flatten().map(note_text).collect()
    }
}

/// A step that was taken down, by its name, and why.
fn note_text(note: &Value) -> String {
    let step = &note["step"];
    let step = step.as_str().or_else(|| step.as_object()?.keys().next().map(String::as_str));
    let step = step.unwrap_or("asked otherwise").replace('_', " ");
    match note["why"].as_str() {
        Some(why) if !why.is_empty() => format!("Asked again with {step}: {why}"),
        _ => format!("Asked again with {step}."),
    }
}
