//! `/api/arena/…`: matchups and votes.

mod vote;

pub(in crate::web) use vote::{TOO_SOON_MESSAGE, VoteRejection, cast_vote};

use std::str::FromStr;
use std::sync::Arc;

use axum::Json;
use axum::body::Body;
use axum::extract::{Extension, Path, Query, State};
use axum::http::header::{CACHE_CONTROL, CONTENT_ENCODING, CONTENT_TYPE, VARY};
use axum::http::{HeaderMap, Method, StatusCode};
use axum::response::{IntoResponse, Response};
use serde::{Deserialize, Serialize};
use time::OffsetDateTime;
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;
use uuid::Uuid;

use crate::app::App;
use crate::arena::builds::StoredGrid;
use crate::arena::{Matchup, MatchupError, PromptId, Side, SkipError};
use crate::limits::LimitedAction;
use crate::web::Error;
use crate::web::encoding::Encoding;
use crate::web::layers::NoTransform;
use crate::web::pictures::{self, PictureQuery, damaged_build};
use crate::web::voter::Visitor;
use crate::work::WorkClient;

const NO_STORE: (axum::http::HeaderName, &str) = (CACHE_CONTROL, "no-store");

pub(in crate::web) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(prompts))
        .routes(routes!(matchup))
        .routes(routes!(build))
        .routes(routes!(image))
        .routes(routes!(skip))
        .merge(vote::routes())
}

#[derive(Serialize, ToSchema)]
#[schema(as = Prompts)]
struct PromptsResponse {
    prompts: Vec<PromptView>,
}

#[derive(Serialize, ToSchema)]
#[schema(as = Prompt)]
struct PromptView {
    /// Its slug.
    #[schema(example = "steam-locomotive")]
    id: String,
    /// What models are asked to build.
    #[schema(example = "a steam locomotive")]
    text: String,
    #[schema(example = json!(["vehicle"]))]
    tags: Vec<String>,
    /// Whether two models that take part have built it, so that there is something to compare.
    eligible: bool,
}

/// The prompts there are
///
/// All that are switched on, whether or not there is something to compare yet.
#[utoipa::path(
    get, path = "/api/arena/prompts", tag = "Arena", operation_id = "prompts",
    responses((status = OK, description = "The prompts.", body = PromptsResponse)),
)]
async fn prompts(State(app): State<App>) -> Result<Json<PromptsResponse>, Error> {
    let prompts = app.arena.prompts().await?.into_iter().map(|prompt| PromptView {
        id: prompt.id.to_string(),
        text: prompt.text,
        tags: prompt.tags,
        eligible: prompt.eligible,
    });
    Ok(Json(PromptsResponse { prompts: prompts.collect() }))
}

#[derive(Deserialize, IntoParams)]
#[serde(rename_all = "camelCase")]
struct MatchupQuery {
    /// The prompt to compare builds of. Without it, any that still has a pair you have not seen, each as likely
    /// as the next.
    #[param(example = "steam-locomotive")]
    prompt_id: Option<String>,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Matchup)]
struct MatchupResponse {
    #[schema(format = Uuid)]
    id: String,
    prompt: PromptTextView,
    a: HiddenBuildView,
    #[schema(example = json!({ "build": { "url": "/api/arena/matchup/0190b6f2-0a4e-7c11-9f5e-3b8f6c1d2e70/b" } }))]
    b: HiddenBuildView,
    /// Until then it can be voted on.
    #[serde(with = "time::serde::rfc3339")]
    expires_at: OffsetDateTime,
    /// Whether both builds are by references, the models shipped with Buildoff.
    house_only: bool,
}

#[derive(Serialize, ToSchema)]
#[schema(as = PromptText)]
struct PromptTextView {
    #[schema(value_type = String, example = "steam-locomotive")]
    id: PromptId,
    #[schema(example = "a steam locomotive")]
    text: String,
}

#[derive(Serialize, ToSchema)]
#[schema(as = HiddenBuild)]
struct HiddenBuildView {
    #[schema(inline)]
    build: HiddenBuildLink,
}

#[derive(Serialize, ToSchema)]
#[schema(as = Address)]
struct HiddenBuildLink {
    /// Where its blocks are, as an encoded grid.
    #[schema(example = "/api/arena/matchup/0190b6f2-0a4e-7c11-9f5e-3b8f6c1d2e70/a")]
    url: String,
}

/// Two builds to compare
///
/// Your open matchup, or else a new one. You have one at a time, for half an hour: asking again gives the same one, and
/// asking for another prompt closes it as skipped. Nothing in it tells which model made which build. The first call
/// opens a session; keep its cookie.
#[utoipa::path(
    get, path = "/api/arena/matchup", tag = "Arena", operation_id = "matchup",
    params(MatchupQuery),
    responses(
        (status = OK, description = "The matchup.", body = MatchupResponse),
        (status = FORBIDDEN, description = "cross_site"),
        (status = NOT_FOUND, description = "no_such_prompt"),
        (status = CONFLICT, description = "not_seeded, all_voted, try_again"),
        (status = TOO_MANY_REQUESTS, description = "rate_limited"),
    ),
    security((), ("session" = [])),
)]
async fn matchup(
    State(app): State<App>,
    visitor: Visitor,
    Query(query): Query<MatchupQuery>,
    headers: HeaderMap,
) -> Result<Response, Error> {
    // Asking may close what is open: a link elsewhere must not.
    if headers.get("sec-fetch-site").is_some_and(|site| site == "cross-site") {
        return Ok(StatusCode::FORBIDDEN.into_response());
    }
    let prompt = query.prompt_id.filter(|id| !id.is_empty());
    let matchup = open_matchup(&app, &visitor, prompt.as_deref()).await?;
    let build = |side| HiddenBuildView {
        build: HiddenBuildLink { url: format!("/api/arena/matchup/{}/{side}", matchup.id) },
    };
    let (a, b) = (build("a"), build("b"));
    let Matchup { id, prompt, text, expires_at, only_references: house_only } = matchup;
    let response = MatchupResponse {
        id: id.to_string(),
        prompt: PromptTextView { id: prompt, text },
        a,
        b,
        expires_at,
        house_only,
    };
    Ok(([NO_STORE], Json(response)).into_response())
}

/// The visitor's matchup, by whichever way it is asked for.
pub(in crate::web) async fn open_matchup(
    app: &App,
    visitor: &Visitor,
    prompt: Option<&str>,
) -> Result<Matchup, Error> {
    let prompt = prompt.map(PromptId::from_str).transpose().map_err(|_| no_prompt())?;
    let voter = visitor.voter_or_new(app).await?;
    visitor.check_limit(app, LimitedAction::Matchup, Some(voter))?;
    // Asking for another prompt closes what is open, which is skipping it.
    if let Some(prompt) = &prompt
        && app.arena.open_prompt(voter).await?.is_some_and(|open| open != *prompt)
    {
        visitor.check_limit(app, LimitedAction::Skip, Some(voter))?;
    }
    Ok(app.arena.matchup(voter, prompt.as_ref()).await?)
}

/// A build of a matchup, as it is addressed.
#[derive(Deserialize, IntoParams)]
struct MatchupBuildPath {
    /// The matchup’s id.
    #[param(value_type = Uuid)]
    id: String,
    /// Which of the two: a is shown on the left.
    #[param(value_type = Side, inline)]
    side: String,
}

/// A build of a matchup
///
/// The encoded grid, without a word on who made it, for the voter it was served to. Looking time counts from when
/// both have been fetched. The format of the bytes is described in the source, in voxel/codec.rs.
#[utoipa::path(
    get, path = "/api/arena/matchup/{id}/{side}", tag = "Arena", operation_id = "matchupBuild",
    params(MatchupBuildPath),
    responses(
        (status = OK, description = "The encoded grid.", content(("application/octet-stream"))),
        (status = NOT_FOUND, description = "no_such_matchup, not_found"),
        (status = TOO_MANY_REQUESTS, description = "rate_limited"),
    ),
    security(("session" = [])),
)]
async fn build(
    State(app): State<App>,
    Path(path): Path<MatchupBuildPath>,
    visitor: Visitor,
    method: Method,
    Extension(encoding): Extension<Encoding>,
) -> Result<Response, Error> {
    let grid = fetch(&app, &visitor, &path, &method).await?;
    let about = [NO_STORE, (CONTENT_TYPE, "application/octet-stream"), (VARY, "accept-encoding")];
    let mut response = if encoding == Encoding::Brotli {
        (about, [(CONTENT_ENCODING, "br")], Body::from(grid.packed)).into_response()
    } else {
        let bytes = app
            .work
            .run(WorkClient::voter(visitor.address()), move || grid.encoding())
            .await?
            .map_err(damaged_build)?;
        (about, Body::from(bytes)).into_response()
    };
    response.extensions_mut().insert(NoTransform);
    Ok(response)
}

/// A picture of a build of a matchup
///
/// For use without WebGL or script. It counts as looking, just as fetching the build does.
#[utoipa::path(
    get, path = "/api/arena/matchup/{id}/{side}/image", tag = "Arena", operation_id = "matchupImage",
    params(MatchupBuildPath, PictureQuery),
    responses(
        (status = OK, description = "The picture.", content(("image/webp"), ("image/png"))),
        (status = NOT_FOUND, description = "no_such_matchup, not_found"),
        (status = TOO_MANY_REQUESTS, description = "rate_limited"),
    ),
    security(("session" = [])),
)]
async fn image(
    State(app): State<App>,
    Path(path): Path<MatchupBuildPath>,
    visitor: Visitor,
    method: Method,
    Query(query): Query<PictureQuery>,
) -> Result<Response, Error> {
    query.check()?;
    let grid = fetch(&app, &visitor, &path, &method).await?;
    let bytes = pictures::draw(&app, WorkClient::voter(visitor.address()), grid, query).await?;
    Ok(([NO_STORE, (CONTENT_TYPE, query.kind())], Body::from(bytes)).into_response())
}

/// Nothing that goes out with it may tell whose it is: no tag, and no name but the matchup's. Asking for the
/// header alone is not looking.
async fn fetch(
    app: &App,
    visitor: &Visitor,
    path: &MatchupBuildPath,
    method: &Method,
) -> Result<StoredGrid, Error> {
    let side: Side = path.side.parse().map_err(|_| Error::not_found("A matchup has the sides a and b."))?;
    let voter = visitor.voter().await?.ok_or_else(no_matchup)?;
    let grid = app.arena.fetch(voter, id(&path.id)?, side, *method == Method::GET).await?;
    grid.map(Arc::unwrap_or_clone).ok_or_else(no_matchup)
}

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Skip)]
struct SkipRequest {
    #[schema(format = Uuid)]
    matchup_id: String,
}

/// Skip a matchup
///
/// Closes it without a vote. Skipping one that was skipped already changes nothing.
#[utoipa::path(
    post, path = "/api/arena/skip", tag = "Arena", operation_id = "skip",
    responses(
        (status = NO_CONTENT, description = "It is closed."),
        (status = NOT_FOUND, description = "no_such_matchup"),
        (status = CONFLICT, description = "already_voted"),
        (status = TOO_MANY_REQUESTS, description = "rate_limited"),
    ),
    security(("session" = [])),
)]
async fn skip(
    State(app): State<App>,
    visitor: Visitor,
    Json(request): Json<SkipRequest>,
) -> Result<StatusCode, Error> {
    let voter = visitor.voter().await?.ok_or_else(no_matchup)?;
    visitor.check_limit(&app, LimitedAction::Skip, Some(voter))?;
    app.arena.skip(voter, id(&request.matchup_id)?).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// The id in an address; what is no id names no matchup.
pub(in crate::web) fn id(text: &str) -> Result<Uuid, Error> {
    Uuid::try_parse(text).map_err(|_| no_matchup())
}

pub(in crate::web) fn no_matchup() -> Error {
    Error::from_code("no_such_matchup")
}

fn no_prompt() -> Error {
    Error::from_code("no_such_prompt")
}

impl From<MatchupError> for Error {
    fn from(reason: MatchupError) -> Self {
        match reason {
            MatchupError::NoPrompt => no_prompt(),
            MatchupError::NotSeeded => Self::new(
                StatusCode::CONFLICT,
                "not_seeded",
                "There is nothing to compare here yet: a matchup needs builds of one prompt by two models.",
            ),
            MatchupError::AllVoted => Self::new(
                StatusCode::CONFLICT,
                "all_voted",
                "There is no pair left that you have not seen. Come back when there are new builds.",
            ),
            MatchupError::Conflict => Self::new(
                StatusCode::CONFLICT,
                "try_again",
                "You asked several times at once. Please ask once more.",
            ),
            MatchupError::Database(error) => error.into(),
        }
    }
}

impl From<SkipError> for Error {
    fn from(reason: SkipError) -> Self {
        match reason {
            SkipError::Unknown => no_matchup(),
            SkipError::AlreadyVoted => Self::new(
                StatusCode::CONFLICT,
                "already_voted",
                "You have voted on this matchup already. That vote stands.",
            ),
            SkipError::Database(error) => error.into(),
        }
    }
}
