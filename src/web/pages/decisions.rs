//! `/decisions`: what admins have decided about votes, for everybody.

use askama::Template;
use askama_web::WebTemplate;
use axum::Router;
use axum::extract::State;
use axum::routing::get;
use serde::Deserialize;

use crate::app::App;
use crate::arena::decisions::{self, Decision, VoteVerdict};
use crate::web::query::{self, PageQuery};
use crate::web::{Error, Page, filters};

const PAGE_SIZE: usize = 50;

pub(in crate::web) fn routes() -> Router<App> {
    Router::new().route("/decisions", get(show))
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct DecisionsPageQuery {
    /// Shows only decisions older than the one with this id.
    #[serde(deserialize_with = "query::id")]
    before: Option<i64>,
}

#[derive(Template, WebTemplate)]
#[template(path = "decisions.html")]
struct DecisionsPage {
    page: Page,
    decisions: Vec<Decision>,
    /// Where this page starts; none for the first.
    before: Option<i64>,
    /// Where the next page starts.
    older: Option<i64>,
}

async fn show(
    State(app): State<App>,
    PageQuery(DecisionsPageQuery { before }): PageQuery<DecisionsPageQuery>,
) -> Result<DecisionsPage, Error> {
    let mut decisions = decisions::list(&app.pool, before, PAGE_SIZE as i64 + 1).await?;
    let is_more = decisions.len() > PAGE_SIZE;
    decisions.truncate(PAGE_SIZE);
    let older = decisions.last().filter(|_| is_more).map(|decision| decision.id);
    Ok(DecisionsPage { page: Page::at("/about"), decisions, before, older })
}

impl Decision {
    /// As in "Withdrawn: 159 votes."
    pub(in crate::web) fn verdict_label(&self) -> &'static str {
        match self.verdict {
            VoteVerdict::Withdrawn => "Withdrawn",
            VoteVerdict::Suspect => "Set aside",
            VoteVerdict::Counted => "Counted again",
        }
    }

    pub(in crate::web) fn subject(&self) -> String {
        format_votes_and_judgements(self.votes.into(), self.judgements.into())
    }
}

/// As in "159 votes", "3 judgements" or "159 votes and 3 judgements".
pub(in crate::web) fn format_votes_and_judgements(votes: i64, judgements: i64) -> String {
    let count = |count: i64, word: &str| {
        let plural = if count == 1 { "" } else { "s" };
        format!("{} {word}{plural}", filters::format_count(count))
    };
    match (votes, judgements) {
        (votes, 0) => count(votes, "vote"),
        (0, judgements) => count(judgements, "judgement"),
        (votes, judgements) => format!("{} and {}", count(votes, "vote"), count(judgements, "judgement")),
    }
}
