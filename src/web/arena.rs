//! `/api/arena/…`: matchups and votes.

use std::str::FromStr;
use std::time::Duration;

use axum::body::Body;
use axum::extract::{Extension, Path, Query, State};
use axum::http::header::{CACHE_CONTROL, CONTENT_ENCODING, CONTENT_TYPE, RETRY_AFTER, VARY};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use serde::{Deserialize, Serialize};
use time::OffsetDateTime;
use uuid::Uuid;

use super::Error;
use super::encoding::Encoding;
use super::layers::AsIs;
use super::pictures::{self, Wanted, damaged};
use super::voter::Visitor;
use crate::app::App;
use crate::arena::builds::StoredGrid;
use crate::arena::{
    Choice, Matchup, NoMatchup, NoVote, NotSkipped, PromptId, Reveal, Revealed, Side, Verdicts,
};
use crate::limits::Asked;
use crate::voxel::Warning;

const NO_STORE: (axum::http::HeaderName, &str) = (CACHE_CONTROL, "no-store");

pub(super) fn routes() -> Router<App> {
    Router::new()
        .route("/api/arena/prompts", get(prompts))
        .route("/api/arena/matchup", get(matchup))
        .route("/api/arena/matchup/{id}/{side}", get(build))
        .route("/api/arena/matchup/{id}/{side}/image", get(image))
        .route("/api/arena/skip", post(skip))
        .route("/api/arena/vote", post(vote))
}

#[derive(Serialize)]
struct Prompts {
    prompts: Vec<Prompt>,
}

#[derive(Serialize)]
struct Prompt {
    id: String,
    text: String,
    tags: Vec<String>,
    eligible: bool,
}

async fn prompts(State(app): State<App>) -> Result<Json<Prompts>, Error> {
    let prompts = app.arena.prompts().await?.into_iter().map(|prompt| Prompt {
        id: prompt.id,
        text: prompt.text,
        tags: prompt.tags,
        eligible: prompt.eligible,
    });
    Ok(Json(Prompts { prompts: prompts.collect() }))
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Asking {
    prompt_id: Option<String>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Served {
    id: String,
    prompt: Question,
    a: Hidden,
    b: Hidden,
    #[serde(with = "time::serde::rfc3339")]
    expires_at: OffsetDateTime,
    house_only: bool,
}

#[derive(Serialize)]
struct Question {
    id: PromptId,
    text: String,
}

#[derive(Serialize)]
struct Hidden {
    build: Address,
}

#[derive(Serialize)]
struct Address {
    url: String,
}

async fn matchup(
    State(app): State<App>,
    visitor: Visitor,
    Query(asking): Query<Asking>,
    headers: HeaderMap,
) -> Result<Response, Error> {
    // Asking may close what is open: a link elsewhere must not.
    if headers.get("sec-fetch-site").is_some_and(|site| site == "cross-site") {
        return Ok(StatusCode::FORBIDDEN.into_response());
    }
    let prompt = asking.prompt_id.filter(|id| !id.is_empty());
    let matchup = open_matchup(&app, &visitor, prompt.as_deref()).await?;
    let build = |side| Hidden { build: Address { url: format!("/api/arena/matchup/{}/{side}", matchup.id) } };
    let (a, b) = (build("a"), build("b"));
    let Matchup { id, prompt, text, expires_at, house_only } = matchup;
    let served =
        Served { id: id.to_string(), prompt: Question { id: prompt, text }, a, b, expires_at, house_only };
    Ok(([NO_STORE], Json(served)).into_response())
}

/// The visitor's matchup, by whichever way it is asked for.
pub(super) async fn open_matchup(
    app: &App,
    visitor: &Visitor,
    prompt: Option<&str>,
) -> Result<Matchup, Error> {
    let prompt = prompt.map(PromptId::from_str).transpose().map_err(|_| no_prompt())?;
    let voter = visitor.welcome(app).await?;
    visitor.ask(app, Asked::Matchup, Some(voter))?;
    Ok(app.arena.matchup(voter, prompt.as_ref()).await?)
}

async fn build(
    State(app): State<App>,
    Path((matchup, side)): Path<(String, String)>,
    visitor: Visitor,
    method: Method,
    Extension(encoding): Extension<Encoding>,
) -> Result<Response, Error> {
    let grid = fetch(&app, &visitor, &matchup, &side, &method).await?;
    let about = [NO_STORE, (CONTENT_TYPE, "application/octet-stream"), (VARY, "accept-encoding")];
    let mut response = if encoding == Encoding::Brotli {
        (about, [(CONTENT_ENCODING, "br")], Body::from(grid.packed)).into_response()
    } else {
        let bytes = app.work.run(move || grid.encoding()).await?.map_err(damaged)?;
        (about, Body::from(bytes)).into_response()
    };
    response.extensions_mut().insert(AsIs);
    Ok(response)
}

async fn image(
    State(app): State<App>,
    Path((matchup, side)): Path<(String, String)>,
    visitor: Visitor,
    method: Method,
    Query(wanted): Query<Wanted>,
) -> Result<Response, Error> {
    wanted.check()?;
    let grid = fetch(&app, &visitor, &matchup, &side, &method).await?;
    let bytes = pictures::draw(&app, grid, wanted).await?;
    Ok(([NO_STORE, (CONTENT_TYPE, wanted.kind())], Body::from(bytes)).into_response())
}

/// Nothing that goes out with it may tell whose it is: no tag, and no name but the matchup's. Asking for the
/// header alone is not looking.
async fn fetch(
    app: &App,
    visitor: &Visitor,
    matchup: &str,
    side: &str,
    method: &Method,
) -> Result<StoredGrid, Error> {
    let side: Side = side.parse().map_err(|_| Error::not_found("A matchup has the sides a and b."))?;
    let voter = visitor.voter().await?.ok_or_else(no_matchup)?;
    app.arena.fetch(voter, id(matchup)?, side, *method == Method::GET).await?.ok_or_else(no_matchup)
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Skipping {
    matchup_id: String,
}

async fn skip(
    State(app): State<App>,
    visitor: Visitor,
    Json(skipping): Json<Skipping>,
) -> Result<StatusCode, Error> {
    let voter = visitor.voter().await?.ok_or_else(no_matchup)?;
    app.arena.skip(voter, id(&skipping.matchup_id)?).await?;
    Ok(StatusCode::NO_CONTENT)
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Voting {
    matchup_id: String,
    choice: String,
}

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
pub(super) async fn cast(
    app: &App,
    visitor: &Visitor,
    matchup: &str,
    choice: Choice,
) -> Result<Result<Box<Reveal>, Refusal>, Error> {
    let voter = visitor.voter().await?.ok_or_else(no_matchup)?;
    visitor.ask(app, Asked::Vote, Some(voter))?;
    match app.arena.vote(voter, id(matchup)?, choice).await {
        Ok(reveal) => Ok(Ok(Box::new(reveal))),
        Err(NoVote::Already(reveal)) => Ok(Err(Refusal::Already(reveal))),
        Err(NoVote::TooSoon(wait)) => Ok(Err(Refusal::TooSoon(wait))),
        Err(NoVote::Unknown) => Err(no_matchup()),
        Err(NoVote::Gone) => Err(Error::new(
            StatusCode::GONE,
            "matchup_over",
            "This matchup is over: it was skipped, or its half hour has passed. The next one is waiting.",
        )),
        Err(NoVote::Database(error)) => Err(error.into()),
    }
}

/// Why a vote did not count, when there is more to say than an error does.
pub(super) enum Refusal {
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

pub(super) const TOO_SOON: &str = "Please look at both builds for a moment first.";

#[derive(Serialize)]
struct Told {
    ok: bool,
    #[serde(flatten)]
    told: Reveals,
}

#[derive(Serialize)]
struct Refused<T> {
    error: &'static str,
    code: &'static str,
    #[serde(flatten)]
    told: T,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Waiting {
    retry_after_ms: u128,
}

/// What comes to light with a vote.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Reveals {
    choice: Choice,
    reveal: Sides,
    others: Counts,
    share_url: String,
}

#[derive(Serialize)]
struct Sides {
    a: Contestant,
    b: Contestant,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Contestant {
    key: String,
    provider: String,
    display_name: String,
    elo: Elo,
    build: Build,
}

#[derive(Serialize)]
struct Elo {
    before: f64,
    after: f64,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Build {
    id: String,
    block_count: i32,
    generation_time_ms: Option<i64>,
    warnings: Vec<Warning>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Counts {
    a: i64,
    b: i64,
    tie: i64,
    both_bad: i64,
}

impl From<Reveal> for Reveals {
    fn from(reveal: Reveal) -> Self {
        let Verdicts { a, b, tie, both_bad } = reveal.others;
        Self {
            choice: reveal.choice,
            reveal: Sides { a: reveal.a.into(), b: reveal.b.into() },
            others: Counts { a, b, tie, both_bad },
            share_url: format!("/matchups/{}", reveal.matchup),
        }
    }
}

impl From<Revealed> for Contestant {
    fn from(side: Revealed) -> Self {
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

/// The id in an address; what is no id names no matchup.
pub(super) fn id(text: &str) -> Result<Uuid, Error> {
    Uuid::try_parse(text).map_err(|_| no_matchup())
}

pub(super) fn no_matchup() -> Error {
    Error::not_found("There is no such matchup, or it was served to somebody else.")
        .with_code("no_such_matchup")
}

fn no_prompt() -> Error {
    Error::not_found("There is no such prompt.").with_code("no_such_prompt")
}

impl From<NoMatchup> for Error {
    fn from(reason: NoMatchup) -> Self {
        match reason {
            NoMatchup::NoPrompt => no_prompt(),
            NoMatchup::NotSeeded => Self::new(
                StatusCode::CONFLICT,
                "not_seeded",
                "There is nothing to compare here yet: a matchup needs builds of one prompt by two models.",
            ),
            NoMatchup::AllVoted => Self::new(
                StatusCode::CONFLICT,
                "all_voted",
                "There is no pair left that you have not seen. Come back when there are new builds.",
            ),
            NoMatchup::Raced => Self::new(
                StatusCode::CONFLICT,
                "try_again",
                "You asked several times at once. Please ask once more.",
            ),
            NoMatchup::Database(error) => error.into(),
        }
    }
}

impl From<NotSkipped> for Error {
    fn from(reason: NotSkipped) -> Self {
        match reason {
            NotSkipped::Unknown => no_matchup(),
            NotSkipped::Voted => Self::new(
                StatusCode::CONFLICT,
                "already_voted",
                "You have voted on this matchup already. That vote stands.",
            ),
            NotSkipped::Database(error) => error.into(),
        }
    }
}
