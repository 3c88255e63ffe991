//! `/admin/jobs`: jobs of every kind, and a form that has builds judged. `/admin/jobs/{id}`: a job and its attempts.

use askama::Template;
use askama_web::WebTemplate;
use axum::Router;
use axum::extract::{Path, State};
use axum::routing::get;
use serde::Deserialize;
use serde_json::Value;
use url::form_urlencoded;
use uuid::Uuid;

use super::session::SignedIn;
use crate::app::App;
use crate::arena::catalog::{self, ListedModel, SelectOption};
use crate::arena::jobs::{JobFilter, JobKind, JobState};
use crate::web::api::admin::jobs::{AttemptView, JobListResponse, JobRowView, JobView, JudgedView};
use crate::web::query::PageQuery;
use crate::web::{Error, ErrorCode, Page, filters};

pub(super) fn routes() -> Router<App> {
    Router::new().route("/admin/jobs", get(list)).route("/admin/jobs/{id}", get(show))
}

/// The jobs of a page.
const PAGE_SIZE: u16 = 100;

#[derive(Default, Deserialize)]
#[serde(default)]
struct JobsPageQuery {
    kind: Option<JobKindOption>,
    state: Option<JobState>,
    /// Shows only jobs before this one.
    before: Option<Uuid>,
}

/// A kind of job, as addresses name it.
#[derive(Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum JobKindOption {
    Build,
    Judge,
}

#[derive(Template, WebTemplate)]
#[template(path = "admin/jobs.html")]
struct JobsPage {
    page: Page,
    /// Enabled models that see pictures and can be asked.
    judges: Vec<SelectOption>,
    prompts: Vec<SelectOption>,
    makers: Vec<SelectOption>,
    query: JobsPageQuery,
    jobs: Vec<JobRowView>,
    /// The address of the next page.
    older: Option<String>,
}

async fn list(
    State(app): State<App>,
    _: SignedIn,
    PageQuery(query): PageQuery<JobsPageQuery>,
) -> Result<JobsPage, Error> {
    let models = catalog::models(&app.pool).await?;
    let prompts = catalog::prompts(&app.pool).await?;
    let providers = app.worker.providers();
    let option = |listed: &ListedModel| SelectOption {
        id: listed.model.key.to_string(),
        name: listed.model.display_name.clone(),
    };
    let is_judge = |listed: &&ListedModel| {
        listed.enabled && listed.model.vision && providers.can_generate(&listed.model)
    };
    let judges = models.iter().filter(is_judge).map(option).collect();
    let makers = models.iter().filter(|listed| listed.builds > 0).map(option).collect();
    let prompts = prompts.into_iter().filter(|listed| listed.active && listed.builds > 0);
    let prompts =
        prompts.map(|listed| SelectOption { id: listed.prompt.id.to_string(), name: listed.prompt.text });
    let filter = query.filter();
    let found = JobListResponse::read(&app, &filter, PAGE_SIZE, &models).await?;
    let older = found.jobs.last().filter(|_| found.more).map(|last| query.address(Some(last.id)));
    Ok(JobsPage {
        page: Page::at("/admin/jobs"),
        judges,
        prompts: prompts.collect(),
        makers,
        query,
        jobs: found.jobs,
        older,
    })
}

impl JobsPageQuery {
    fn filter(&self) -> JobFilter {
        let kind = self.kind.map(|kind| match kind {
            JobKindOption::Build => JobKind::Build,
            JobKindOption::Judge => JobKind::Judge,
        });
        JobFilter {
            kind,
            states: self.state.map(|state| vec![state]),
            before: self.before,
            ..JobFilter::default()
        }
    }

    fn address(&self, before: Option<Uuid>) -> String {
        let mut parameters = form_urlencoded::Serializer::new(String::new());
        if let Some(kind) = self.filter().kind {
            parameters.append_pair("kind", kind.name());
        }
        if let Some(state) = self.state {
            parameters.append_pair("state", state.name());
        }
        if let Some(before) = before {
            parameters.append_pair("before", &before.to_string());
        }
        format!("/admin/jobs?{}", parameters.finish())
    }

    fn is_kind(&self, name: &str) -> bool {
        self.filter().kind.is_some_and(|kind| kind.name() == name)
    }

    fn is_filtered(&self) -> bool {
        self.kind.is_some() || self.state.is_some() || self.before.is_some()
    }
}

impl JobRowView {
    fn verdict(&self) -> Option<String> {
        self.judged.as_ref().and_then(JudgedView::verdict)
    }

    fn cost_text(&self) -> String {
        filters::format_cost(self.cost, self.cost_is_minimum)
    }
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
    /// The page with the jobs beside this one.
    fn list_address(&self) -> String {
        match self.judged {
            Some(_) => "/admin/jobs?kind=judge".to_owned(),
            None => format!("/admin/places/{}/{}", self.prompt_id, self.model_key),
        }
    }

    fn is_under_way(&self) -> bool {
        matches!(self.state, "queued" | "running")
    }

    fn cost_text(&self) -> String {
        filters::format_cost(self.cost, self.cost_is_minimum)
    }
}

impl JudgedView {
    /// The judge's choice, by the names of the models.
    fn choice_text(&self) -> Option<String> {
        let right = self.right_of_name.as_deref().unwrap_or_default();
        Some(match self.choice.as_deref()? {
            "A" => format!("{}, on the left", self.of_name),
            "B" => format!("{right}, on the right"),
            "TIE" => "A tie".to_owned(),
            _ => "Both are bad".to_owned(),
        })
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
