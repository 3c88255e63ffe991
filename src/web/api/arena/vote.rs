//! `POST /api/arena/vote`, and what a vote reveals.

use std::time::Duration;

use axum::Json;
use axum::extract::State;
use axum::http::header::RETRY_AFTER;
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;
use uuid::Uuid;

use super::person_check::{self, PersonCheckRequiredView};
use super::vote_rejection::VoteRejectedResponse;
use super::{check_voting, parse_id};
use crate::app::App;
use crate::arena::{Choice, ChoiceCounts, Reveal, RevealedSide, VoteError};
use crate::limits::LimitedAction;
use crate::person_check::PersonCheck;
use crate::web::derived::NO_STORE;
use crate::web::openapi::{codes, shapes};
use crate::web::voter::Visitor;
use crate::web::{Error, ErrorCode};
use voxel::Warning;

pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(vote))
}

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Vote)]
struct VoteRequest {
    #[schema(format = Uuid)]
    matchup_id: String,
    #[schema(value_type = Choice)]
    choice: String,
}

/// Vote on a matchup
///
/// Each matchup gets one vote, from the voter it was shown to, and the vote is final. The response reveals who built
/// what, and how both ratings moved.
#[utoipa::path(
    post, path = "/api/arena/vote", tag = "Arena", operation_id = "vote",
    responses(
        (status = OK, description = "The vote was stored.", body = VoteResponse),
        (status = FORBIDDEN, description = "You have to pass a check before voting (`person_check_required`). \
            `personCheck` says which; answer it at `/api/arena/person-check`, then vote again.",
            body = inline(VoteRejectedResponse<PersonCheckRequiredView>)),
        (status = CONFLICT, description = "You have already voted on this matchup (`already_voted`). That vote stands, \
            and its reveal is repeated.", body = inline(VoteRejectedResponse<RevealView>)),
        (status = TOO_MANY_REQUESTS, description = "Or it is too soon to vote \
            (`too_soon`): look at both builds for a moment first.", body = inline(VoteRejectedResponse<RetryAfterView>)),
    ),
    extensions(("x-errors" = json!(codes([
        ErrorCode::BadChoice, ErrorCode::NoSuchMatchup, ErrorCode::MatchupOver, ErrorCode::RateLimited,
    ])))),
    security(("session" = [])),
)]
async fn vote(
    State(app): State<App>,
    visitor: Visitor,
    Json(request): Json<VoteRequest>,
) -> Result<Response, Error> {
    let choice = request.choice.parse().map_err(|_| ErrorCode::BadChoice)?;
    match cast_vote(&app, &visitor, &request.matchup_id, choice).await? {
        Ok(reveal) => Ok(Json(VoteResponse { ok: true, body: RevealView::from(*reveal) }).into_response()),
        Err(VoteRejection::Already(reveal)) => {
            let body = VoteRejectedResponse::new(ErrorCode::AlreadyVoted, RevealView::from(*reveal));
            Ok((StatusCode::CONFLICT, [NO_STORE], Json(body)).into_response())
        }
        Err(VoteRejection::TooSoon(wait)) => {
            let body = RetryAfterView { retry_after_ms: wait.as_millis() };
            let body = VoteRejectedResponse::new(ErrorCode::TooSoon, body);
            let seconds = HeaderValue::from(wait.as_millis().div_ceil(1000).max(1) as u64);
            let retry_after = [(RETRY_AFTER, seconds)];
            Ok((StatusCode::TOO_MANY_REQUESTS, [NO_STORE], retry_after, Json(body)).into_response())
        }
        Err(VoteRejection::PersonCheck(check)) => {
            Ok(person_check::rejection_response(ErrorCode::PersonCheckRequired, check))
        }
    }
}

/// Casts a vote, for the API and for pages. A rejection is not an error: it has something to show to the voter.
pub(in crate::web) async fn cast_vote(
    app: &App,
    visitor: &Visitor,
    matchup: &str,
    choice: Choice,
) -> Result<Result<Box<Reveal>, VoteRejection>, Error> {
    check_voting(app)?;
    let voter = visitor.voter().await?.ok_or(ErrorCode::NoSuchMatchup)?;
    visitor.check_limit(app, LimitedAction::Vote, Some(voter))?;
    if let Some(check) = app.person_checks.due(voter).await? {
        return Ok(Err(VoteRejection::PersonCheck(check)));
    }
    match app.arena.vote(voter, parse_id(matchup)?, choice, visitor.address()).await {
        Ok(reveal) => Ok(Ok(Box::new(reveal))),
        Err(VoteError::AlreadyVoted(reveal)) => Ok(Err(VoteRejection::Already(reveal))),
        Err(VoteError::TooSoon(wait)) => Ok(Err(VoteRejection::TooSoon(wait))),
        Err(VoteError::Unknown) => Err(ErrorCode::NoSuchMatchup.into()),
        Err(VoteError::Closed) => Err(ErrorCode::MatchupOver.into()),
        Err(VoteError::Database(error)) => Err(error.into()),
    }
}

/// Why a vote was not taken, where the answer holds more than an error does.
pub(in crate::web) enum VoteRejection {
    Already(Box<Reveal>),
    TooSoon(Duration),
    /// The voter has to do this first.
    PersonCheck(PersonCheck),
}

#[derive(Serialize, ToSchema)]
#[schema(as = Counted)]
struct VoteResponse {
    ok: bool,
    #[serde(flatten)]
    body: RevealView,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Wait)]
struct RetryAfterView {
    /// How long to wait, in milliseconds.
    #[schema(value_type = u64, example = 640)]
    retry_after_ms: u128,
}

/// What a vote reveals.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Reveal)]
struct RevealView {
    /// The vote that counts.
    choice: Choice,
    reveal: RevealedSidesView,
    /// Other people’s votes on the same two builds.
    others: ChoiceCounts,
    /// The page of this vote, for sharing.
    #[schema(example = "/matchups/0190b6f2-0a4e-7c11-9f5e-3b8f6c1d2e70")]
    share_url: String,
}

#[derive(Serialize, ToSchema)]
#[schema(as = Sides)]
struct RevealedSidesView {
    a: RevealedModelView,
    b: RevealedModelView,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Contestant)]
struct RevealedModelView {
    #[schema(example = "reference_architect")]
    key: String,
    #[schema(example = "reference")]
    provider: String,
    #[schema(example = "Architect")]
    display_name: String,
    elo: EloChangeView,
    build: RevealedBuildView,
}

/// A rating before and after the vote.
#[derive(Serialize, ToSchema)]
#[schema(as = EloChange)]
struct EloChangeView {
    #[schema(example = 1500.0)]
    before: f64,
    #[schema(example = 1508.0)]
    after: f64,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = RevealedBuild)]
struct RevealedBuildView {
    id: Uuid,
    /// Whether the build has no page yet: its prompt is held out, and only matchups show it.
    withheld: bool,
    #[schema(example = 1320)]
    block_count: i32,
    /// How long the model took; null for an imported build.
    #[schema(required, example = json!(null))]
    generation_time_ms: Option<i64>,
    /// What was ignored or replaced in its spec.
    #[schema(value_type = Vec<shapes::WarningSchema>)]
    warnings: Vec<Warning>,
}

impl From<Reveal> for RevealView {
    fn from(reveal: Reveal) -> Self {
        Self {
            choice: reveal.choice,
            reveal: RevealedSidesView { a: reveal.a.into(), b: reveal.b.into() },
            others: reveal.others,
            share_url: format!("/matchups/{}", reveal.matchup),
        }
    }
}

impl From<RevealedSide> for RevealedModelView {
    fn from(side: RevealedSide) -> Self {
        Self {
            key: side.key.to_string(),
            provider: side.provider,
            display_name: side.display_name,
            elo: EloChangeView { before: side.elo_before, after: side.elo_after },
            build: RevealedBuildView {
                id: side.build,
                withheld: side.withheld,
                block_count: side.block_count,
                generation_time_ms: side.generation_time_ms,
                warnings: side.warnings,
            },
        }
    }
}
