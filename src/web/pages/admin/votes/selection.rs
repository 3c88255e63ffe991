//! `/admin/votes/selection`: a look at votes before a decision about them, and the decision.

use askama::Template;
use askama_web::WebTemplate;
use axum::Router;
use axum::extract::{Form, RawQuery, State};
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::{get, post};
use serde::Deserialize;
use time::{Duration, OffsetDateTime};
use url::form_urlencoded;
use uuid::Uuid;

use crate::app::App;
use crate::arena::alarms::VoteReport;
use crate::arena::audit::{Admin, AdminChannel};
use crate::arena::decisions::{self, MAX_REASON, MatchingVote, SelectedVotes, VoteSelection, VoteVerdict};
use crate::arena::{Choice, Exclusion, ModelKey};
use crate::web::api::admin::votes::check_bounds;
use crate::web::pages::admin::session::SignedIn;
use crate::web::pages::decisions::format_votes_and_judgements;
use crate::web::voter::Visitor;
use crate::web::{Error, ErrorCode, Page, filters};

/// The most votes that are listed.
const LISTED: i64 = 100;

/// The page has no more boxes to check.
const MAX_PARAMETERS: usize = 100;

const MAX_HOURS: i64 = 30 * 24;

pub(super) fn routes() -> Router<App> {
    Router::new().route("/admin/votes/selection", get(show)).route("/admin/votes/decisions", post(decide))
}

#[derive(Template, WebTemplate)]
#[template(path = "admin/selection.html")]
struct SelectionPage {
    page: Page,
    /// What the alarm says, if the votes are those of one.
    alarm: Option<String>,
    /// None if nothing was selected, or the alarm is over.
    selected: Option<SelectedView>,
    reason: String,
    /// Why a decision was not made.
    problem: Option<&'static str>,
}

struct SelectedView {
    selection: VoteSelection,
    /// The votes that each verdict would change.
    withdraw: SelectedVotes,
    set_aside: SelectedVotes,
    count_again: SelectedVotes,
    latest: Vec<MatchingVote>,
}

#[derive(Deserialize)]
struct DecisionForm {
    verdict: VoteVerdict,
    #[serde(default)]
    reason: String,
    /// As JSON: what the admin has looked at, and nothing that came in since.
    selection: String,
}

async fn show(
    State(app): State<App>,
    _: SignedIn,
    RawQuery(query): RawQuery,
) -> Result<SelectionPage, Error> {
    let report = app.arena.vote_report().await?;
    let query = query.unwrap_or_default();
    let (selection, alarm) = requested(&query, &report, OffsetDateTime::now_utc());
    SelectionPage::of(&app, selection, alarm).await
}

async fn decide(
    State(app): State<App>,
    _: SignedIn,
    visitor: Visitor,
    Form(DecisionForm { verdict, reason, selection }): Form<DecisionForm>,
) -> Result<Response, Error> {
    let selection: VoteSelection =
        serde_json::from_str(&selection).map_err(|_| Error::bad_request("The selection is not readable."))?;
    check_bounds(&selection)?;
    let admin = Admin { via: AdminChannel::Console, address: Some(visitor.address()) };
    let code = match decisions::decide(&app.pool, &selection, verdict, &reason, admin).await {
        Ok(decision) => {
            return Ok(Redirect::to(&format!("/admin/votes?decided={}", decision.id)).into_response());
        }
        Err(decisions::DecisionError::Database(error)) => return Err(error.into()),
        Err(decisions::DecisionError::BadReason) => ErrorCode::BadReason,
        Err(decisions::DecisionError::NoVotes) => ErrorCode::NoVotes,
        Err(decisions::DecisionError::TooManyVotes) => ErrorCode::TooManyVotes,
    };
    let page = SelectionPage::of(&app, Some(selection), None).await?;
    Ok((code.status(), SelectionPage { reason, problem: Some(code.sentence()), ..page }).into_response())
}

/// The votes of an alarm, or of the networks, the voters, the model or the time that the query names. Whatever cannot be
/// read is ignored; a query that names nothing selects nothing.
fn requested(
    query: &str,
    report: &VoteReport,
    now: OffsetDateTime,
) -> (Option<VoteSelection>, Option<String>) {
    let mut selection = VoteSelection {
        from: report.from,
        until: now,
        networks: Vec::new(),
        voters: Vec::new(),
        model: None,
        max_dwell_ms: None,
    };
    let mut is_named = false;
    for (name, value) in form_urlencoded::parse(query.as_bytes()).take(MAX_PARAMETERS) {
        match &*name {
            "alarm" => {
                if let Some(alarm) = report.alarm(&value) {
                    return (Some(alarm.selection.clone()), Some(alarm.sentence.clone()));
                }
            }
            "network" if hex::decode(&*value).is_ok_and(|digest| digest.len() == 16) => {
                selection.networks.push(value.into_owned());
                is_named = true;
            }
            "voter" => {
                let voter: Option<Uuid> = value.parse().ok();
                is_named |= voter.is_some();
                selection.voters.extend(voter);
            }
            "model" => {
                let model: Option<ModelKey> = value.parse().ok();
                is_named |= model.is_some();
                selection.model = model.or(selection.model);
            }
            "seconds" => {
                let seconds = value.parse::<f64>().ok().filter(|seconds| (0.0..=86_400.0).contains(seconds));
                is_named |= seconds.is_some();
                selection.max_dwell_ms =
                    seconds.map(|seconds| (seconds * 1000.0) as i64).or(selection.max_dwell_ms);
            }
            "hours" => {
                let hours = value.parse::<i64>().ok().filter(|hours| (1..=MAX_HOURS).contains(hours));
                is_named |= hours.is_some();
                selection.from = hours.map_or(selection.from, |hours| now - Duration::hours(hours));
            }
            _ => {}
        }
    }
    (is_named.then_some(selection), None)
}

impl SelectedVotes {
    fn is_empty(&self) -> bool {
        self.total() == 0
    }

    fn total(&self) -> i64 {
        self.votes + self.judgements
    }

    fn words(&self) -> String {
        format_votes_and_judgements(self.votes, self.judgements)
    }
}

impl SelectionPage {
    async fn of(app: &App, selection: Option<VoteSelection>, alarm: Option<String>) -> Result<Self, Error> {
        let selected = match selection {
            Some(selection) => Some(SelectedView::read(app, selection).await?),
            None => None,
        };
        Ok(Self { page: Page::at("/admin/votes"), alarm, selected, reason: String::new(), problem: None })
    }

    fn max_reason(&self) -> usize {
        MAX_REASON
    }
}

impl SelectedView {
    async fn read(app: &App, selection: VoteSelection) -> Result<Self, Error> {
        let mut connection = app.pool.acquire().await?;
        Ok(Self {
            withdraw: selection.count(&mut connection, VoteVerdict::Withdrawn).await?,
            set_aside: selection.count(&mut connection, VoteVerdict::Suspect).await?,
            count_again: selection.count(&mut connection, VoteVerdict::Counted).await?,
            latest: selection.latest(&mut *connection, LISTED).await?,
            selection,
        })
    }

    /// Whether there may be more votes than those listed.
    fn is_cut(&self) -> bool {
        self.latest.len() as i64 == LISTED
    }

    fn json(&self) -> String {
        serde_json::to_string(&self.selection).unwrap_or_default()
    }

    /// The beginnings of the ids of its networks or voters.
    fn short_ids(ids: impl Iterator<Item = String>) -> String {
        const SHOWN: usize = 12;
        let ids: Vec<String> = ids.map(|id| id.chars().take(8).collect()).collect();
        let shown = ids.iter().take(SHOWN).cloned().collect::<Vec<_>>().join(", ");
        match ids.len().saturating_sub(SHOWN) {
            0 => shown,
            more => format!("{shown} and {more} more"),
        }
    }

    fn networks(&self) -> String {
        Self::short_ids(self.selection.networks.iter().cloned())
    }

    fn voters(&self) -> String {
        Self::short_ids(self.selection.voters.iter().map(ToString::to_string))
    }
}

impl MatchingVote {
    fn choice_label(&self) -> &str {
        match self.choice {
            Choice::A => &self.names[0],
            Choice::B => &self.names[1],
            Choice::Tie => "Tie",
            Choice::BothBad => "Both bad",
        }
    }

    fn side_label(&self) -> &'static str {
        match self.choice {
            Choice::A => "left",
            Choice::B => "right",
            Choice::Tie | Choice::BothBad => "",
        }
    }

    fn short_network(&self) -> String {
        self.network
            .iter()
            .flat_map(|digest| hex::encode(digest).chars().take(8).collect::<Vec<_>>())
            .collect()
    }

    fn short_voter(&self) -> String {
        self.voter.to_string().chars().take(8).collect()
    }

    fn state_label(&self) -> &'static str {
        match self.exclusion {
            None => "Counts",
            Some(Exclusion::Withdrawn) => "Withdrawn",
            Some(Exclusion::Suspect) => "Set aside",
            Some(Exclusion::OverBudget) => "Over budget",
        }
    }
}
