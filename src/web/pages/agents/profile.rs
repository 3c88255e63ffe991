//! `/agents/{key}`: an agent, its places on the boards, and its assessments.

use askama::Template;
use askama_web::WebTemplate;
use axum::Router;
use axum::extract::{Path, State};
use axum::routing::get;
use buildoff_world::ENGINE;
use serde::Deserialize;
use time::OffsetDateTime;
use uuid::Uuid;

use super::super::assessments::{asked_title, state_in_words};
use super::super::tasks::words_of;
use crate::app::App;
use crate::arena::ModelKey;
use crate::arena::agents::{self, RegisteredAgent};
use crate::arena::assessments::board::{self, BoardPlace};
use crate::assess::report::Band;
use crate::judge::scores::Revision;
use crate::outbound;
use crate::web::api::assessments::ListedAssessmentView;
use crate::web::api::boards::{self, BoardQuery};
use crate::web::filters::capitalised;
use crate::web::query::{self, PageQuery};
use crate::web::{Error, ErrorCode, Page, ShareCard, filters};

/// Assessments on a page of the list.
const PAGE: usize = 20;

pub(super) fn routes() -> Router<App> {
    Router::new().route("/agents/{key}", get(page))
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct AgentQuery {
    /// Only assessments that were ordered before this one.
    before: Option<Uuid>,
}

#[derive(Template, WebTemplate)]
#[template(path = "agent.html")]
struct AgentPage {
    page: Page,
    agent: RegisteredAgent,
    places: Vec<AgentPlaces>,
    assessments: Vec<ListedAssessmentView>,
    before: Option<Uuid>,
    /// Where the next page of the list begins.
    older: Option<Uuid>,
}

/// The places of an agent on boards whose results are alike in everything but their category.
pub(in crate::web) struct AgentPlaces {
    revision: String,
    judge: Option<String>,
    assisted: bool,
    /// All categories together first.
    pub places: Vec<AgentPlace>,
}

/// A place on a board.
pub(in crate::web) struct AgentPlace {
    /// Empty for the sum over all categories.
    pub category: String,
    pub rank: i64,
    pub agents: i64,
    pub total: f64,
    pub max: f64,
    tasks: i64,
    tries: i64,
    assessment: Uuid,
    ended_at: OffsetDateTime,
}

async fn page(
    State(app): State<App>,
    Path(key): Path<String>,
    PageQuery(AgentQuery { before }): PageQuery<AgentQuery>,
) -> Result<AgentPage, Error> {
    let agent = find(&app, &key).await?;
    let (assessments, older) =
        ListedAssessmentView::page(&app, Some(&agent.entry.key), None, before, PAGE).await?;
    let alt = format!("{}: its places on the boards of agents.", agent.entry.name);
    let card = ShareCard::of("agents", &agent.entry.key, agent.entry.name.clone(), alt);
    Ok(AgentPage {
        page: Page::at("/agents").with_card(card),
        places: places(&app, &agent.entry.key).await?,
        agent,
        assessments,
        before,
        older,
    })
}

/// # Errors
/// If there is no such agent.
pub(in crate::web) async fn find(app: &App, key: &str) -> Result<RegisteredAgent, Error> {
    let key: ModelKey = key.parse().map_err(|_| ErrorCode::NoAgent)?;
    Ok(agents::find(&app.pool, &key).await?.ok_or(ErrorCode::NoAgent)?)
}

/// The places of an agent on all boards of this world, in groups of boards that differ in their category alone.
pub(in crate::web) async fn places(app: &App, agent: &ModelKey) -> Result<Vec<AgentPlaces>, Error> {
    let mut groups: Vec<AgentPlaces> = Vec::new();
    for place in board::places(&app.replica, agent, ENGINE).await? {
        match groups.last_mut() {
            Some(group) if group.holds(&place) => group.places.push(AgentPlace::of(place)),
            _ => groups.push(AgentPlaces {
                revision: place.revision.clone(),
                judge: place.judge.clone(),
                assisted: place.assisted,
                places: vec![AgentPlace::of(place)],
            }),
        }
    }
    for group in &mut groups {
        let query = BoardQuery {
            category: None,
            revision: group.revision.parse().ok(),
            judge: group.judge.clone(),
            assisted: group.assisted,
        };
        let rows = boards::rows(app, &query).await?;
        if let Some(row) = rows.iter().find(|row| row.key == agent.as_str()) {
            let all = AgentPlace {
                category: String::new(),
                rank: row.rank,
                agents: rows.len() as i64,
                total: row.total,
                max: row.max_total,
                tasks: row.tasks,
                tries: row.tries,
                assessment: row.assessment,
                ended_at: row.ended_at,
            };
            group.places.insert(0, all);
        }
    }
    Ok(groups)
}

impl AgentPlaces {
    fn holds(&self, place: &BoardPlace) -> bool {
        (&self.revision, &self.judge, self.assisted) == (&place.revision, &place.judge, place.assisted)
    }

    /// What is special about these boards; empty for the usual ones.
    fn kind(&self) -> String {
        let mut words = Vec::new();
        if self.revision != Revision::default().name() {
            words.push(self.revision.clone());
        }
        if let Some(judge) = &self.judge {
            words.push(format!("judged by {judge}"));
        }
        if self.assisted {
            words.push("with the crafting shortcut".to_owned());
        }
        words.join(", ")
    }

    fn kind_title(&self) -> String {
        capitalised(&self.kind())
    }

    fn address(&self, place: &AgentPlace) -> String {
        let revision = if self.revision == Revision::default().name() { "" } else { &self.revision };
        let judge = self.judge.as_deref().unwrap_or_default();
        let assisted = if self.assisted { "1" } else { "" };
        let fields = [
            ("category", &*place.category),
            ("revision", revision),
            ("judge", judge),
            ("assisted", assisted),
        ];
        query::address("/agents", &fields)
    }
}

impl AgentPlace {
    fn of(place: BoardPlace) -> Self {
        Self {
            category: place.category,
            rank: place.rank,
            agents: place.agents,
            total: place.total,
            max: place.max,
            tasks: place.tasks.into(),
            tries: place.tries.into(),
            assessment: place.assessment,
            ended_at: place.ended_at,
        }
    }

    pub fn title(&self) -> String {
        if self.category.is_empty() { "All categories".to_owned() } else { words_of(&self.category) }
    }

    /// The mean score of a task, out of 10.
    fn mean(&self) -> f64 {
        if self.max > 0.0 { 10.0 * self.total / self.max } else { 0.0 }
    }

    fn band(&self) -> Band {
        Band::of(self.mean())
    }
}

impl AgentPage {
    fn host(&self) -> String {
        outbound::host_and_port(&self.agent.entry.url).unwrap_or_default()
    }
}
