//! `/me`: the visitor's own votes.

use askama::Template;
use askama_web::WebTemplate;
use axum::Router;
use axum::extract::State;
use axum::response::IntoResponse;
use axum::routing::get;
use serde::Deserialize;
use time::OffsetDateTime;

use crate::app::App;
use crate::arena::judgements::OwnJudgementCounts;
use crate::arena::voter_history::{self, Agreement, MAX_COMPARED, Opinion, PAGE, PastVote};
use crate::arena::{Choice, Voter};
use crate::web::derived::NO_STORE;
use crate::web::query::{self, PageQuery};
use crate::web::voter::Visitor;
use crate::web::{Error, Page, filters};

pub(in crate::web) fn routes() -> Router<App> {
    Router::new().route("/me", get(me))
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct MeQuery {
    /// Shows only votes older than the one with this id.
    #[serde(deserialize_with = "query::id")]
    before: Option<i64>,
}

#[derive(Template, WebTemplate)]
#[template(path = "me.html")]
struct MePage {
    page: Page,
    /// None without votes.
    own: Option<OwnVotes>,
    judgements: OwnJudgementCounts,
}

struct OwnVotes {
    count: i64,
    since: OffsetDateTime,
    agreement: Agreement,
    opinions: Vec<Opinion>,
    votes: Vec<PastVote>,
    /// Where this page starts; none for the first.
    before: Option<i64>,
    /// Where the next page starts.
    older: Option<i64>,
}

async fn me(
    State(app): State<App>,
    visitor: Visitor,
    PageQuery(query): PageQuery<MeQuery>,
) -> Result<impl IntoResponse, Error> {
    let (own, judgements) = match visitor.voter().await? {
        Some(voter) => {
            let judgements = app.arena.own_judgement_counts(voter).await?;
            (OwnVotes::of(&app, voter, query.before).await?, judgements)
        }
        None => (None, OwnJudgementCounts::default()),
    };
    Ok(([NO_STORE], MePage { page: Page::at("/me"), own, judgements }))
}

impl OwnVotes {
    async fn of(app: &App, voter: Voter, before: Option<i64>) -> Result<Option<Self>, Error> {
        let (count, Some(since)) = voter_history::vote_count(&app.arena, voter).await? else {
            return Ok(None);
        };
        let mut votes = voter_history::votes(&app.arena, voter, before).await?;
        let is_more = votes.len() > PAGE as usize;
        votes.truncate(PAGE as usize);
        Ok(Some(Self {
            count,
            since,
            agreement: voter_history::agreement(&app.arena, voter).await?,
            opinions: voter_history::opinions(&app.arena, voter).await?,
            older: votes.last().filter(|_| is_more).map(|vote| vote.id),
            votes,
            before,
        }))
    }

    /// How many votes the agreement is based on, if not all.
    fn latest(&self) -> Option<i64> {
        (self.count > MAX_COMPARED).then_some(MAX_COMPARED)
    }
}

impl PastVote {
    fn verdict(&self) -> String {
        let [a, b] = &self.names;
        match self.choice {
            Choice::A => format!("{a} over {b}"),
            Choice::B => format!("{b} over {a}"),
            Choice::Tie => format!("A tie of {a} and {b}"),
            Choice::BothBad => format!("Neither {a} nor {b}"),
        }
    }

    fn chose(&self, side: &usize) -> bool {
        matches!((self.choice, side), (Choice::A, 0) | (Choice::B, 1))
    }

    /// 21 November 2026, 14:05
    fn moment(&self) -> String {
        format!("{}, {:02}:{:02}", filters::format_day(self.at), self.at.hour(), self.at.minute())
    }
}
