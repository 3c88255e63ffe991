//! `/admin`: the coverage, prompts by models.

use askama::Template;
use askama_web::WebTemplate;
use axum::Router;
use axum::extract::State;
use axum::routing::get;
use time::OffsetDateTime;

use super::models::sorted_for_display;
use super::session::SignedIn;
use crate::app::App;
use crate::arena::ReferencePolicy;
use crate::arena::catalog::{ListedModel, ListedPrompt, Provider, REFERENCE};
use crate::web::api::admin::coverage::{CoverageCellView, CoverageMatrix, CoverageSumView, WaitingModelView};
use crate::web::api::admin::queue::PausesView;
use crate::web::api::admin::status::catalog_note;
use crate::web::views::unavailable_reason;
use crate::web::{Error, Page, filters};

pub(super) fn routes() -> Router<App> {
    Router::new().route("/admin", get(show))
}

#[derive(Template, WebTemplate)]
#[template(path = "admin/matrix.html")]
struct MatrixPage {
    page: Page,
    settings: String,
    sum: CoverageSumView,
    pauses: PausesView,
    /// Models whose builds are not voted on yet.
    waiting: Vec<WaitingModelView>,
    columns: Vec<MatrixColumn>,
    rows: Vec<MatrixRow>,
    /// Those that can be used, and those without an API key.
    providers: [Vec<Provider>; 2],
    references_are_off: bool,
    /// A note that the list of models may be out of date.
    catalog_note: Option<String>,
    /// The number of attempts at a build.
    attempts: u32,
    /// The time of the server's clock, in milliseconds since 1970.
    now: i64,
}

/// A model.
struct MatrixColumn {
    key: String,
    name: String,
    provider: String,
    /// The name of the provider that requests go to.
    asked_at: Option<String>,
    unavailable_reason: Option<String>,
    enabled: bool,
}

/// A prompt.
struct MatrixRow {
    id: String,
    text: String,
    active: bool,
    cells: Vec<CoverageCellView>,
}

async fn show(State(app): State<App>, _: SignedIn) -> Result<MatrixPage, Error> {
    let matrix = CoverageMatrix::read(&app).await?;
    let providers = app.worker.providers();
    let models = sorted_for_display(&matrix.coverage.models, &providers);
    let row = |prompt: &ListedPrompt| MatrixRow {
        id: prompt.prompt.id.to_string(),
        text: prompt.prompt.text.clone(),
        active: prompt.active,
        cells: models.iter().map(|model| matrix.cell(prompt, model)).collect(),
    };
    let now = OffsetDateTime::now_utc().unix_timestamp_nanos() / 1_000_000;
    let (usable, without_key) =
        providers.known().iter().cloned().partition(|known| providers.can_ask(&known.key));
    Ok(MatrixPage {
        page: Page::at("/admin"),
        settings: matrix.coverage.settings.to_string(),
        columns: models.iter().map(|model| MatrixColumn::of(model, &app)).collect(),
        rows: matrix.coverage.prompts.iter().map(row).collect(),
        providers: [usable, without_key],
        catalog_note: catalog_note(&app),
        references_are_off: app.config.references == ReferencePolicy::Off,
        attempts: app.config.generation.attempts,
        now: now as i64,
        sum: matrix.sum,
        pauses: matrix.pauses,
        waiting: matrix.waiting,
    })
}

impl MatrixColumn {
    fn of(listed: &ListedModel, app: &App) -> Self {
        let (model, providers) = (&listed.model, app.worker.providers());
        let route = providers.route(model).map(|(key, _)| key);
        let provider = providers.known().iter().find(|known| Some(known.key.as_str()) == route);
        Self {
            key: model.key.to_string(),
            name: model.display_name.clone(),
            provider: model.provider.clone(),
            asked_at: provider.map(|known| known.display_name.clone()),
            unavailable_reason: unavailable_reason(model, &providers),
            enabled: listed.enabled,
        }
    }

    /// For a model that cannot generate builds: whether it is a reference.
    fn cannot_generate(&self) -> Option<bool> {
        self.unavailable_reason.is_some().then(|| self.provider == REFERENCE)
    }
}

impl MatrixPage {
    /// Whether there are enabled models, but none of them can generate builds.
    fn none_can_generate(&self) -> bool {
        let mut enabled = self.columns.iter().filter(|column| column.enabled).peekable();
        enabled.peek().is_some() && enabled.all(|column| column.asked_at.is_none())
    }

    fn provider_summary(&self) -> String {
        let [usable, without_key] = self.providers.each_ref().map(Vec::len);
        let plural = if usable == 1 { "" } else { "s" };
        match without_key {
            0 => format!("{usable} provider{plural} ready"),
            _ => format!("{usable} provider{plural} ready, {without_key} without an API key"),
        }
    }

    /// The builds that the sum leaves out, because their models cannot generate: those by references, and the others.
    fn uncounted_builds(&self) -> [(&'static str, &'static str, usize); 2] {
        let count = |are_references: bool| {
            let cells =
                self.rows.iter().filter(|row| row.active).flat_map(|row| row.cells.iter().zip(&self.columns));
            let counts = |(cell, column): &(&CoverageCellView, &MatrixColumn)| {
                cell.state == "ready" && column.enabled && column.cannot_generate() == Some(are_references)
            };
            cells.filter(counts).count()
        };
        [("reference", "by references", count(true)), ("", "by models that cannot generate", count(false))]
    }

    /// What is disabled, if anything is.
    fn switched_off(&self) -> Option<String> {
        let prompts = self.rows.iter().filter(|row| !row.active).count();
        let models = self.columns.iter().filter(|column| !column.enabled).count();
        let counted = [(prompts, "prompt"), (models, "model")];
        let counted = counted.iter().filter(|(count, _)| *count > 0);
        let what: Vec<_> = counted
            .map(|(count, what)| format!("{count} {what}{}", if *count == 1 { "" } else { "s" }))
            .collect();
        (!what.is_empty()).then(|| what.join(", "))
    }
}

impl CoverageCellView {
    fn is_untouched(&self) -> bool {
        self.state == "missing" && self.job_id.is_none()
    }

    /// The state, or the time that a running job has taken.
    fn state_label(&self, now: &i64) -> String {
        match (self.state, self.since) {
            ("running", Some(since)) => clock(now - since),
            (state, _) => state.to_owned(),
        }
    }

    /// Details of the state.
    pub(super) fn detail(&self) -> String {
        match self.state {
            "running" => {
                let note = self.note.clone().filter(|note| !note.is_empty());
                let chars = (self.chars > 0).then(|| format!("{} chars", short(self.chars)));
                let again = (self.attempts > 1).then(|| format!("try {}", self.attempts));
                [note, chars, again].into_iter().flatten().collect::<Vec<_>>().join(", ")
            }
            "queued" => self.note.clone().unwrap_or_default(),
            "failed" => self.code.as_deref().unwrap_or_default().replace('_', " "),
            _ => String::new(),
        }
    }
}

/// 840, 3.2k
fn short(number: i64) -> String {
    if number < 1000 { number.to_string() } else { format!("{:.1}k", number as f64 / 1000.0) }
}

/// 0:42, 12:05, 1:02:03
fn clock(ms: i64) -> String {
    let seconds = (ms / 1000).max(0);
    match seconds / 3600 {
        0 => format!("{}:{:02}", seconds / 60, seconds % 60),
        hours => format!("{hours}:{:02}:{:02}", seconds / 60 % 60, seconds % 60),
    }
}
