//! `/admin/audit`: the changes that admins made, newest first.

use askama::Template;
use askama_web::WebTemplate;
use axum::Router;
use axum::extract::State;
use axum::routing::get;
use serde::Deserialize;
use serde_json::Value;
use uuid::Uuid;

use super::session::SignedIn;
use crate::app::App;
use crate::arena::audit::{self, AuditLogEntry};
use crate::web::query::{self, PageQuery};
use crate::web::{Error, Page, filters};

const PAGE_SIZE: usize = 50;

pub(super) fn routes() -> Router<App> {
    Router::new().route("/admin/audit", get(show))
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct AuditPageQuery {
    /// Shows only entries older than the one with this id.
    #[serde(deserialize_with = "query::id")]
    before: Option<i64>,
}

#[derive(Template, WebTemplate)]
#[template(path = "admin/audit.html")]
struct AuditPage {
    page: Page,
    entries: Vec<AuditLogEntry>,
    /// Where this page starts; none for the first.
    before: Option<i64>,
    /// Where the next page starts.
    older: Option<i64>,
}

/// A detail of a change.
struct AuditDetail<'a> {
    name: &'a str,
    value: String,
    link: Option<String>,
}

async fn show(
    State(app): State<App>,
    _: SignedIn,
    PageQuery(AuditPageQuery { before }): PageQuery<AuditPageQuery>,
) -> Result<AuditPage, Error> {
    let mut entries = audit::entries(&app.pool, before, PAGE_SIZE as i64 + 1).await?;
    let is_more = entries.len() > PAGE_SIZE;
    entries.truncate(PAGE_SIZE);
    let older = entries.last().filter(|_| is_more).map(|entry| entry.id);
    Ok(AuditPage { page: Page::at("/admin/audit"), entries, before, older })
}

impl AuditLogEntry {
    fn details(&self) -> Vec<AuditDetail<'_>> {
        let fields = self.detail.as_object().into_iter().flatten();
        let known = fields.filter(|(_, value)| !value.is_null());
        known.map(|(name, value)| AuditDetail::of(name, value)).collect()
    }

    fn via_label(&self) -> &str {
        match self.via.as_str() {
            "cli" => "command line",
            via => via,
        }
    }
}

impl<'a> AuditDetail<'a> {
    fn of(name: &'a str, value: &Value) -> Self {
        let id = value.as_str().filter(|text| Uuid::try_parse(text).is_ok());
        let link = match (name, id) {
            ("job", Some(id)) => Some(format!("/admin/jobs/{id}")),
            ("build", Some(id)) => Some(format!("/builds/{id}")),
            _ => None,
        };
        // Ids are shortened to their end: they begin with the time, which many share.
        let value = match (&link, id) {
            _ if name == "selection" => selection_summary(value),
            (Some(_), Some(id)) => id.rsplit('-').next().unwrap_or(id).to_owned(),
            _ => display_value(value),
        };
        Self { name, value, link }
    }
}

/// Votes are selected by up to a thousand digests and ids, which nobody reads.
fn selection_summary(selection: &Value) -> String {
    let list = |name: &str| selection[name].as_array().map_or(0, Vec::len);
    let text = |name: &str| selection[name].as_str().unwrap_or_default().to_owned();
    let parts = [
        (list("networks") > 0).then(|| format!("{} networks", list("networks"))),
        (list("voters") > 0).then(|| format!("{} voters", list("voters"))),
        selection["model"].as_str().map(|model| format!("on {model}")),
        selection["maxDwellMs"].as_i64().map(|ms| format!("at most {ms} ms")),
        Some(format!("{} to {}", text("from"), text("until"))),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

fn display_value(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(items) => items.iter().map(display_value).collect::<Vec<_>>().join(", "),
        other => other.to_string(),
    }
}
