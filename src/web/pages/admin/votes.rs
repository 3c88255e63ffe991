//! `/admin/votes`: alarms about recent votes, and the voters, networks and models behind them.

mod selection;

use std::sync::Arc;

use askama::Template;
use askama_web::WebTemplate;
use axum::Router;
use axum::extract::State;
use axum::routing::get;
use serde::Deserialize;

use super::session::SignedIn;
use crate::app::App;
use crate::arena::alarms::{AlarmSeverity, SourceSummary, VoteAlarm, VoteReport};
use crate::arena::decisions::{self, Decision};
use crate::arena::leaderboard::{Leaderboard, StandingChange};
use crate::web::query::{self, PageQuery};
use crate::web::{Error, Page, filters};

/// The latest decisions that the page shows.
const DECISIONS: i64 = 5;

pub(super) fn routes() -> Router<App> {
    Router::new().route("/admin/votes", get(show)).merge(selection::routes())
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct VotesPageQuery {
    /// The decision that was just made.
    #[serde(deserialize_with = "query::id")]
    decided: Option<i64>,
}

#[derive(Template, WebTemplate)]
#[template(path = "admin/votes.html")]
struct VotesPage {
    page: Page,
    report: Arc<VoteReport>,
    models: Vec<DayChange>,
    decisions: Vec<Decision>,
    /// What the admin has just decided.
    decided: Option<Decision>,
}

/// A model's place with and without the newest day.
struct DayChange {
    key: String,
    name: String,
    rank: usize,
    elo: f64,
    votes: i64,
    change: StandingChange,
}

async fn show(
    State(app): State<App>,
    _: SignedIn,
    PageQuery(VotesPageQuery { decided }): PageQuery<VotesPageQuery>,
) -> Result<VotesPage, Error> {
    let report = app.arena.vote_report().await?;
    let decisions = decisions::list(&app.pool, None, DECISIONS).await?;
    let decided = decisions.iter().find(|decision| Some(decision.id) == decided).cloned();
    let models = DayChange::of(&app.arena.leaderboard().await?);
    Ok(VotesPage { page: Page::at("/admin/votes"), report, models, decisions, decided })
}

impl DayChange {
    fn of(ladder: &Leaderboard) -> Vec<Self> {
        let change = |(row, change): (&crate::arena::leaderboard::LadderEntry, _)| Self {
            key: row.model.key.to_string(),
            name: row.model.display_name.clone(),
            rank: row.rank,
            elo: row.standing.elo,
            votes: row.standing.votes(),
            change,
        };
        ladder.rows.iter().zip(ladder.changes()).map(change).collect()
    }

    /// Its Elo and its rank without the newest day; none if it had no votes then.
    fn before(&self) -> Option<(f64, i64)> {
        match self.change {
            StandingChange::New => None,
            StandingChange::Moved { elo, ranks } => Some((self.elo - elo, self.rank as i64 + ranks)),
        }
    }

    fn points(&self) -> f64 {
        match self.change {
            StandingChange::New => 0.0,
            StandingChange::Moved { elo, .. } => elo,
        }
    }
}

impl VoteAlarm {
    /// The tone of its notice.
    fn tone(&self) -> &'static str {
        match self.severity {
            AlarmSeverity::Notice => "",
            AlarmSeverity::Warning => " warn",
            AlarmSeverity::Critical => " bad",
        }
    }

    fn severity_label(&self) -> &'static str {
        match self.severity {
            AlarmSeverity::Notice => "Notice",
            AlarmSeverity::Warning => "Warning",
            AlarmSeverity::Critical => "Critical",
        }
    }
}

impl SourceSummary {
    /// Of the choices of a side, the share of the left one.
    fn left_share(&self) -> Option<f64> {
        let sided = self.choices.a + self.choices.b;
        (sided > 0).then(|| self.choices.a as f64 / sided as f64)
    }

    fn votes(&self) -> i64 {
        self.choices.sum()
    }
}
