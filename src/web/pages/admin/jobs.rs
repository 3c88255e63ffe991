//! `/admin/jobs/{id}`: a job and its attempts.

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
use crate::web::{Error, ErrorCode, Page, filters};

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
    let id = Uuid::try_parse(&id).map_err(|_| ErrorCode::NoJob)?;
    Ok(JobPage { page: Page::without_address(), job: JobView::read(&app, id).await? })
}

impl JobView {
    fn is_under_way(&self) -> bool {
        matches!(self.state, "queued" | "running")
    }

    fn cost_text(&self) -> String {
        filters::format_cost(self.cost, self.cost_is_minimum)
    }
}

impl AttemptView {
    fn outcome(&self) -> &str {
        self.outcome.as_deref().unwrap_or("in progress")
    }

    fn tone(&self) -> &'static str {
        match self.outcome.as_deref() {
            Some("accepted") => "good",
            Some("refused" | "failed" | "unread") => "bad",
            _ => "soft",
        }
    }

    fn cost_text(&self) -> String {
        filters::format_cost(self.cost, self.cost_is_minimum)
    }

    fn notes(&self) -> Vec<String> {
        self.notes.as_array().into_iter().flatten().map(note_text).collect()
    }
}

/// What was sent differently from what was asked for, and why.
fn note_text(note: &Value) -> String {
    if note["step"] == "batch" {
        return "Sent in a batch.".to_owned();
    }
    let changed = format!("Sent with {}", filters::format_adjustment(&note["step"]));
    match note["why"].as_str() {
        Some(why) if !why.is_empty() => format!("{changed}: {why}"),
        _ => format!("{changed}."),
    }
}
