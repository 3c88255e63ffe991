//! `/api/admin/votes`: alarms about recent votes, and decisions about votes.

use axum::Json;
use axum::extract::{Query, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde::{Deserialize, Serialize};
use time::OffsetDateTime;
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::RequireAdmin;
use crate::app::App;
use crate::arena::alarms::{AlarmKind, AlarmSeverity, VoteAlarm};
use crate::arena::decisions::{self, DecisionError, MAX_SELECTED, SelectedVotes, VoteSelection, VoteVerdict};
use crate::web::api::decisions::DecisionView;
use crate::web::openapi::codes;
use crate::web::query::flag;
use crate::web::{Error, ErrorCode};

pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(alarms)).routes(routes!(decide))
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Alarms)]
struct AlarmsResponse {
    #[serde(with = "time::serde::rfc3339")]
    computed_at: OffsetDateTime,
    /// How many votes of the last 24 hours were examined.
    votes: usize,
    voters: usize,
    networks: usize,
    /// The most severe first.
    alarms: Vec<AlarmView>,
}

/// Something unusual about recent votes.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Alarm)]
struct AlarmView {
    /// Stays the same while the alarm lasts.
    id: String,
    kind: AlarmKind,
    severity: AlarmSeverity,
    sentence: String,
    /// How many votes the selection has.
    votes: usize,
    /// What to send to `/api/admin/votes/decisions` to decide about just these votes.
    selection: VoteSelection,
}

#[derive(Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct DecideQuery {
    /// 1 only counts the votes that the decision would be about.
    #[serde(default, deserialize_with = "flag")]
    #[param(value_type = u8, minimum = 0, maximum = 1, default = 0)]
    dry_run: bool,
}

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(as = NewDecision)]
struct DecisionRequest {
    verdict: VoteVerdict,
    /// For everybody to read.
    #[serde(default)]
    #[schema(max_length = 500)]
    reason: String,
    selection: VoteSelection,
}

/// The votes that a decision would be about.
#[derive(Serialize, ToSchema)]
#[schema(as = SelectedVotes)]
struct SelectedVotesView {
    votes: i64,
    /// People’s judgements of builds that meet the same conditions.
    judgements: i64,
    /// Of both.
    voters: i64,
    networks: i64,
}

/// List alarms
///
/// What is unusual about the votes of the last 24 hours, as of at most 20 seconds ago. Votes that an admin has decided
/// about raise no alarms.
#[utoipa::path(
    get, path = "/api/admin/votes/alarms", tag = "Admin", operation_id = "alarms",
    security(("adminToken" = [])),
    responses((status = OK, description = "The alarms.", body = AlarmsResponse)),
)]
async fn alarms(State(app): State<App>, _admin: RequireAdmin) -> Result<Json<AlarmsResponse>, Error> {
    let report = app.arena.vote_report().await?;
    Ok(Json(AlarmsResponse {
        computed_at: report.computed_at,
        votes: report.totals.votes,
        voters: report.totals.voters,
        networks: report.totals.networks,
        alarms: report.alarms.iter().map(AlarmView::of).collect(),
    }))
}

/// Decide about votes
///
/// Withdraws votes, sets them aside as suspect, or counts them again. All ratings and statistics become what they would
/// be if these votes had never counted, or always had. New votes wait meanwhile. People’s judgements of builds that meet
/// the same conditions go with the votes. The decision is public.
#[utoipa::path(
    post, path = "/api/admin/votes/decisions", tag = "Admin", operation_id = "decideAboutVotes",
    security(("adminToken" = [])),
    params(DecideQuery),
    request_body = DecisionRequest,
    responses(
        (status = CREATED, description = "The decision.", body = DecisionView),
        (status = OK, description = "With `dryRun=1`: the votes it would be about.", body = SelectedVotesView),
    ),
    extensions(("x-errors" = json!(codes([
        ErrorCode::BadReason, ErrorCode::NoVotes, ErrorCode::TooManyVotes,
    ])))),
)]
async fn decide(
    State(app): State<App>,
    RequireAdmin(admin): RequireAdmin,
    Query(DecideQuery { dry_run }): Query<DecideQuery>,
    Json(DecisionRequest { verdict, reason, selection }): Json<DecisionRequest>,
) -> Result<Response, Error> {
    check_bounds(&selection)?;
    if dry_run {
        let mut connection = app.pool.acquire().await?;
        let SelectedVotes { votes, judgements, voters, networks } =
            selection.count(&mut connection, verdict).await?;
        return Ok(Json(SelectedVotesView { votes, judgements, voters, networks }).into_response());
    }
    let decision = decisions::decide(&app.pool, &selection, verdict, &reason, admin).await?;
    Ok((StatusCode::CREATED, Json(DecisionView::from(decision))).into_response())
}

pub(in crate::web) fn check_bounds(selection: &VoteSelection) -> Result<(), Error> {
    if selection.is_bounded() {
        return Ok(());
    }
    Err(Error::bad_request(format!("Select at most {MAX_SELECTED} networks and {MAX_SELECTED} voters.")))
}

impl AlarmView {
    fn of(alarm: &VoteAlarm) -> Self {
        Self {
            id: alarm.id(),
            kind: alarm.kind,
            severity: alarm.severity,
            sentence: alarm.sentence.clone(),
            votes: alarm.votes,
            selection: alarm.selection.clone(),
        }
    }
}

impl From<DecisionError> for Error {
    fn from(error: DecisionError) -> Self {
        match error {
            DecisionError::NoVotes => ErrorCode::NoVotes.into(),
            DecisionError::TooManyVotes => ErrorCode::TooManyVotes.into(),
            DecisionError::BadReason => ErrorCode::BadReason.into(),
            DecisionError::Database(error) => error.into(),
        }
    }
}
