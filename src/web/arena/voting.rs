//! `POST /api/arena/vote`, and what comes to light with a vote.

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

use super::{NO_STORE, id, no_matchup};
use crate::app::App;
use crate::arena::{Choice, ChoiceCounts, Reveal, RevealedSide, VoteError};
use crate::limits::LimitedAction;
use crate::web::Error;
use crate::web::openapi::shapes;
use crate::web::voter::Visitor;
use voxel::Warning;

pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(vote))
}

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Vote)]
struct Voting {
    #[schema(format = Uuid)]
    matchup_id: String,
    #[schema(value_type = Choice)]
    choice: String,
}

/// Vote on a matchup
///
/// One vote for each matchup, by whom it was served to, and it is final. The answer tells who built what, and what the
/// vote did to both ratings.
#[utoipa::path(
    post, path = "/api/arena/vote", tag = "Arena", operation_id = "vote",
    responses(
        (status = OK, description = "The vote counts, and this is what it reveals.", body = Told),
        (status = BAD_REQUEST, description = "bad_choice"),
        (status = NOT_FOUND, description = "no_such_matchup"),
        (status = CONFLICT, description = "You have voted on it already (`already_voted`). That vote stands, and \
            is told again.", body = inline(Refused<Reveals>)),
        (status = GONE, description = "matchup_over"),
        (status = TOO_MANY_REQUESTS, description = "rate_limited: Or it was too soon (`too_soon`): both builds want to \
            be looked at for a moment.", body = inline(Refused<Waiting>)),
    ),
    security(("session" = [])),
)]
async fn vote(
    State(app): State<App>,
    visitor: Visitor,
    Json(voting): Json<Voting>,
) -> Result<Response, Error> {
    let choice = voting.choice.parse();
    let choice =
        choice.map_err(|_| Error::bad_request("bad_choice", "A choice is A, B, TIE or BOTH_BAD."))?;
    match cast(&app, &visitor, &voting.matchup_id, choice).await? {
        Ok(reveal) => Ok(Json(Told { ok: true, told: Reveals::from(*reveal) }).into_response()),
        Err(refusal) => Ok(refused(refusal)),
    }
}

/// A vote, by whichever way it came. What was refused in a way that its voter should see is no error.
pub(in crate::web) async fn cast(
    app: &App,
    visitor: &Visitor,
    matchup: &str,
    choice: Choice,
) -> Result<Result<Box<Reveal>, Refusal>, Error> {
    let voter = visitor.voter().await?.ok_or_else(no_matchup)?;
    visitor.ask(app, LimitedAction::Vote, Some(voter))?;
    match app.arena.vote(voter, id(matchup)?, choice).await {
        Ok(reveal) => Ok(Ok(Box::new(reveal))),
        Err(VoteError::AlreadyVoted(reveal)) => Ok(Err(Refusal::Already(reveal))),
        Err(VoteError::TooSoon(wait)) => Ok(Err(Refusal::TooSoon(wait))),
        Err(VoteError::Unknown) => Err(no_matchup()),
        Err(VoteError::Closed) => Err(Error::new(
            StatusCode::GONE,
            "matchup_over",
            "This matchup is over: it was skipped, or its half hour has passed. The next one is waiting.",
        )),
        Err(VoteError::Database(error)) => Err(error.into()),
    }
}

/// Why a vote did not count, when there is more to say than an error does.
pub(in crate::web) enum Refusal {
    Already(Box<Reveal>),
    TooSoon(Duration),
}

fn refused(refusal: Refusal) -> Response {
    match refusal {
        Refusal::Already(reveal) => {
            let told = Refused {
                error: "You have voted on this matchup already. That vote stands.",
                code: "already_voted",
                told: Reveals::from(*reveal),
            };
            (StatusCode::CONFLICT, [NO_STORE], Json(told)).into_response()
        }
        Refusal::TooSoon(wait) => {
            let told = Refused {
                error: TOO_SOON,
                code: "too_soon",
                told: Waiting { retry_after_ms: wait.as_millis() },
            };
            let seconds = HeaderValue::from(wait.as_millis().div_ceil(1000).max(1) as u64);
            (StatusCode::TOO_MANY_REQUESTS, [NO_STORE], [(RETRY_AFTER, seconds)], Json(told)).into_response()
        }
    }
}

pub(in crate::web) const TOO_SOON: &str = "Please look at both builds for a moment first.";

#[derive(Serialize, ToSchema)]
#[schema(as = Counted)]
struct Told {
    ok: bool,
    #[serde(flatten)]
    told: Reveals,
}

#[derive(Serialize, ToSchema)]
struct Refused<T> {
    /// What is wrong, as a sentence for people.
    error: &'static str,
    /// The same for programs.
    code: &'static str,
    #[serde(flatten)]
    told: T,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Wait)]
struct Waiting {
    /// When to try again, in milliseconds.
    #[schema(value_type = u64, example = 640)]
    retry_after_ms: u128,
}

/// What comes to light with a vote.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Reveal)]
struct Reveals {
    /// The vote that stands.
    choice: Choice,
    reveal: Sides,
    /// How others voted on the same two builds.
    others: Counts,
    /// A page to show to others.
    #[schema(example = "/matchups/0190b6f2-0a4e-7c11-9f5e-3b8f6c1d2e70")]
    share_url: String,
}

#[derive(Serialize, ToSchema)]
struct Sides {
    a: Contestant,
    b: Contestant,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct Contestant {
    #[schema(example = "reference_architect")]
    key: String,
    #[schema(example = "reference")]
    provider: String,
    #[schema(example = "Architect")]
    display_name: String,
    elo: Elo,
    build: Build,
}

/// A rating before and after the vote.
#[derive(Serialize, ToSchema)]
#[schema(as = EloChange)]
struct Elo {
    #[schema(example = 1500.0)]
    before: f64,
    #[schema(example = 1508.0)]
    after: f64,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = RevealedBuild)]
struct Build {
    #[schema(format = Uuid)]
    id: String,
    #[schema(example = 1320)]
    block_count: i32,
    /// How long the model took; null for a build that was imported.
    #[schema(required, example = json!(null))]
    generation_time_ms: Option<i64>,
    /// What in its spec was passed over.
    #[schema(value_type = Vec<shapes::Warning>)]
    warnings: Vec<Warning>,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Verdicts)]
struct Counts {
    a: i64,
    b: i64,
    tie: i64,
    both_bad: i64,
}

impl From<Reveal> for Reveals {
    fn from(reveal: Reveal) -> Self {
        let ChoiceCounts { a, b, tie, both_bad } = reveal.others;
        Self {
            choice: reveal.choice,
            reveal: Sides { a: reveal.a.into(), b: reveal.b.into() },
            others: Counts { a, b, tie, both_bad },
            share_url: format!("/matchups/{}", reveal.matchup),
        }
    }
}

impl From<RevealedSide> for Contestant {
    fn from(side: RevealedSide) -> Self {
        Self {
            key: side.key.to_string(),
            provider: side.provider,
            display_name: side.display_name,
            elo: Elo { before: side.elo_before, after: side.elo_after },
            build: Build {
                id: side.build.to_string(),
                block_count: side.block_count,
                generation_time_ms: side.generation_time_ms,
                warnings: side.warnings,
            },
        }
    }
}
