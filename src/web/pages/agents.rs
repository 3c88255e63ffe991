//! `/agents`: boards of agents that act in the block world, and who else is in the register.

mod connect;
pub(in crate::web) mod profile;

use askama::Template;
use askama_web::WebTemplate;
use axum::Router;
use axum::extract::State;
use axum::routing::get;
use buildoff_world::ENGINE;
use serde::Deserialize;

use super::assessments::{asked_title, state_in_words};
use super::tasks::{available_categories, words_of};
use crate::app::App;
use crate::arena::agents::{self, RegisteredAgent};
use crate::arena::assessments::board;
use crate::judge::scores::Revision;
use crate::outbound;
use crate::web::api::assessments::ListedAssessmentView;
use crate::web::api::boards::{self, BoardQuery, BoardRowView};
use crate::web::query::{self, PageQuery};
use crate::web::{Error, Page, filters};

/// The latest assessments on the page.
const LATEST: usize = 8;

pub(in crate::web) fn routes() -> Router<App> {
    Router::new().route("/agents", get(page)).merge(profile::routes()).merge(connect::routes())
}

/// Which board is shown.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
struct AgentsQuery {
    /// Empty for the sum over all categories.
    category: String,
    revision: Revision,
    /// Empty for results without a judge.
    judge: String,
    #[serde(deserialize_with = "query::flag")]
    assisted: bool,
}

#[derive(Template, WebTemplate)]
#[template(path = "agents.html")]
struct AgentsPage {
    page: Page,
    chosen: AgentsQuery,
    rows: Vec<BoardRowView>,
    /// The models that have judged any runs.
    judges: Vec<String>,
    /// Whether any agent has a result on any board.
    has_results: bool,
    /// Agents without a result on this board.
    others: Vec<RegisteredAgent>,
    latest: Vec<ListedAssessmentView>,
}

async fn page(
    State(app): State<App>,
    PageQuery(chosen): PageQuery<AgentsQuery>,
) -> Result<AgentsPage, Error> {
    let chosen = chosen.without_unknown();
    let rows = boards::rows(&app, &chosen.board()).await?;
    let mut kinds = board::kinds(&app.replica).await?;
    kinds.retain(|(world, ..)| world == ENGINE);
    let mut judges: Vec<String> = kinds.iter().filter_map(|(_, _, judge, _)| judge.clone()).collect();
    judges.sort();
    judges.dedup();
    let mut others = agents::all(&app.replica).await?;
    others.retain(|agent| rows.iter().all(|row| row.key != agent.entry.key.as_str()));
    let (latest, _) = ListedAssessmentView::page(&app, None, None, None, LATEST).await?;
    Ok(AgentsPage {
        page: Page::at("/agents"),
        chosen,
        rows,
        judges,
        has_results: !kinds.is_empty(),
        others,
        latest,
    })
}

impl AgentsQuery {
    fn without_unknown(mut self) -> Self {
        if !available_categories().any(|category| category == self.category) {
            self.category.clear();
        }
        self
    }

    fn board(&self) -> BoardQuery {
        let given = |text: &str| (!text.is_empty()).then(|| text.to_owned());
        BoardQuery {
            category: given(&self.category),
            revision: Some(self.revision),
            judge: given(&self.judge),
            assisted: self.assisted,
        }
    }

    fn is_usual(&self) -> bool {
        self.revision == Revision::default() && self.judge.is_empty() && !self.assisted
    }

    /// The address of the board of a category that is alike in everything else.
    fn address(&self, category: &str) -> String {
        let revision = if self.revision == Revision::default() { "" } else { self.revision.name() };
        let assisted = if self.assisted { "1" } else { "" };
        let fields =
            [("category", category), ("revision", revision), ("judge", &self.judge), ("assisted", assisted)];
        query::address("/agents", &fields)
    }

    fn title(&self) -> String {
        if self.category.is_empty() { "All categories".to_owned() } else { words_of(&self.category) }
    }
}

impl AgentsPage {
    /// The boards, as the keys and titles of their categories; all together first.
    fn boards(&self) -> Vec<(&'static str, String)> {
        let categories = available_categories().map(|category| (category, words_of(category)));
        [("", "All".to_owned())].into_iter().chain(categories).collect()
    }

    fn host(agent: &RegisteredAgent) -> String {
        outbound::host_and_port(&agent.entry.url).unwrap_or_default()
    }
}
