//! `/api/arena/…`: matchups and votes.

mod person_check;
mod vote;
mod vote_rejection;

pub(super) use person_check::{PersonCheckRequiredView, PersonCheckView, rejection_response};
pub(in crate::web) use vote::{VoteRejection, cast_vote};
pub(super) use vote_rejection::VoteRejectedResponse;

use std::str::FromStr;
use std::sync::Arc;

use axum::Json;
use axum::body::{Body, Bytes};
use axum::extract::{Extension, Path, Query, State};
use axum::http::header::{CONTENT_ENCODING, CONTENT_TYPE, VARY};
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
use crate::arena::{Matchup, MatchupError, MatchupPrompt, PromptId, Side, SkipError};
use crate::config::Voting;
use crate::limits::LimitedAction;
use crate::web::api::builds::unpacked_grid;
use crate::web::derived::NO_STORE;
use crate::web::encoding::Encoding;
use crate::web::encoding::NoTransform;
use crate::web::openapi::codes;
use crate::web::pictures::{self, PictureQuery};
use crate::web::voter::Visitor;
use crate::web::{Error, ErrorCode};
use crate::work::WorkClient;

pub(in crate::web) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(prompts))
        .routes(routes!(matchup))
        .routes(routes!(build))
        .routes(routes!(image))
        .routes(routes!(skip))
        .merge(vote::routes())
        .merge(person_check::routes())
}

#[derive(Serialize, ToSchema)]
#[schema(as = Prompts)]
struct PromptsResponse {
    prompts: Vec<MatchupPrompt>,
}

/// List prompts
///
/// All active prompts, with or without matchups.
#[utoipa::path(
    get, path = "/api/arena/prompts", tag = "Arena", operation_id = "prompts",
    responses((status = OK, description = "The prompts.", body = PromptsResponse)),
)]
async fn prompts(State(app): State<App>) -> Result<Json<PromptsResponse>, Error> {
    Ok(Json(PromptsResponse { prompts: app.arena.prompts().await? }))
}

#[derive(Deserialize, IntoParams)]
#[serde(rename_all = "camelCase")]
struct MatchupQuery {
    /// The prompt to compare builds of. Default: any prompt with a pair you have not seen, all equally likely.
    #[param(example = "steam-locomotive")]
    prompt_id: Option<String>,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Matchup)]
struct MatchupResponse {
    id: Uuid,
    prompt: PromptTextView,
    a: HiddenBuildView,
    #[schema(example = json!({ "build": { "url": "/api/arena/matchup/0190b6f2-0a4e-7c11-9f5e-3b8f6c1d2e70/b" } }))]
    b: HiddenBuildView,
    /// When the matchup closes.
    #[serde(with = "time::serde::rfc3339")]
    expires_at: OffsetDateTime,
    /// Whether both builds are by reference models, which were made for Buildoff.
    house_only: bool,
    /// What to do before voting; null if you have passed the check, or this server has none.
    #[schema(required)]
    person_check: Option<PersonCheckView>,
}

#[derive(Serialize, ToSchema)]
#[schema(as = PromptText)]
pub(super) struct PromptTextView {
    #[schema(value_type = String, example = "steam-locomotive")]
    pub id: PromptId,
    #[schema(example = "a steam locomotive")]
    pub text: String,
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
    /// The address of the encoded grid.
    #[schema(example = "/api/arena/matchup/0190b6f2-0a4e-7c11-9f5e-3b8f6c1d2e70/a")]
    url: String,
}

/// Get a matchup
///
/// Your open matchup, or a new one. A matchup stays open for 30 minutes: until then, you get the same one again, and
/// requesting another prompt skips it. Nothing in it reveals which model made which build. The first call opens a
/// session; keep its cookie.
#[utoipa::path(
    get, path = "/api/arena/matchup", tag = "Arena", operation_id = "matchup",
    params(MatchupQuery),
    responses((status = OK, description = "The matchup.", body = MatchupResponse)),
    extensions(("x-errors" = json!(codes([
        ErrorCode::CrossSite, ErrorCode::NoSuchPrompt, ErrorCode::NotSeeded, ErrorCode::AllVoted,
        ErrorCode::TryAgain, ErrorCode::RateLimited,
    ])))),
    security((), ("session" = [])),
)]
async fn matchup(
    State(app): State<App>,
    visitor: Visitor,
    Query(query): Query<MatchupQuery>,
    headers: HeaderMap,
) -> Result<Response, Error> {
    // This GET may skip the open matchup, which a link on another site must not do.
    if headers.get("sec-fetch-site").is_some_and(|site| site == "cross-site") {
        return Ok(StatusCode::FORBIDDEN.into_response());
    }
    let prompt = query.prompt_id.filter(|id| !id.is_empty());
    let matchup = open_matchup(&app, &visitor, prompt.as_deref()).await?;
    let person_check = visitor.person_check(&app).await?.map(PersonCheckView::from);
    let build = |side| HiddenBuildView {
        build: HiddenBuildLink { url: format!("/api/arena/matchup/{}/{side}", matchup.id) },
    };
    let (a, b) = (build("a"), build("b"));
    let Matchup { id, prompt, text, expires_at, only_references: house_only } = matchup;
    let prompt = PromptTextView { id: prompt, text };
    let response = MatchupResponse { id, prompt, a, b, expires_at, house_only, person_check };
    Ok(([NO_STORE], Json(response)).into_response())
}

/// The visitor's matchup, for the API and for pages.
pub(in crate::web) async fn open_matchup(
    app: &App,
    visitor: &Visitor,
    prompt: Option<&str>,
) -> Result<Matchup, Error> {
    check_voting(app)?;
    let prompt = prompt.map(PromptId::from_str).transpose().map_err(|_| ErrorCode::NoSuchPrompt)?;
    let voter = visitor.voter_or_new(app).await?;
    visitor.check_limit(app, LimitedAction::Matchup, Some(voter))?;
    // Another prompt closes the open matchup, so the limit of skips applies.
    if let Some(prompt) = &prompt
        && app.arena.open_prompt(voter).await?.is_some_and(|open| open != *prompt)
    {
        visitor.check_limit(app, LimitedAction::Skip, Some(voter))?;
    }
    Ok(app.arena.matchup(voter, prompt.as_ref()).await?)
}

/// Fails while the arena takes no votes.
pub(in crate::web) fn check_voting(app: &App) -> Result<(), Error> {
    match &app.config.voting {
        Voting::Open => Ok(()),
        Voting::Closed { notice: None } => Err(ErrorCode::ArenaClosed.into()),
        Voting::Closed { notice: Some(notice) } => Err(Error::new(ErrorCode::ArenaClosed, notice.clone())),
    }
}

/// The address of a build of a matchup.
#[derive(Deserialize, IntoParams)]
struct MatchupBuildPath {
    /// The matchup’s id.
    #[param(value_type = Uuid)]
    id: String,
    /// The side: a is on the left.
    #[param(value_type = Side, inline)]
    side: String,
}

/// Get a build of a matchup
///
/// The encoded grid, without its model, for the voter of the matchup only. The time to look counts from when both
/// builds have been fetched. The format of the bytes is described in the source, in voxel/codec.rs.
#[utoipa::path(
    get, path = "/api/arena/matchup/{id}/{side}", tag = "Arena", operation_id = "matchupBuild",
    params(MatchupBuildPath),
    responses((status = OK, description = "The encoded grid.", content(("application/octet-stream")))),
    extensions(("x-errors" = json!(codes([
        ErrorCode::NoSuchMatchup, ErrorCode::NotFound, ErrorCode::RateLimited,
    ])))),
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
    let headers = [NO_STORE, (CONTENT_TYPE, "application/octet-stream"), (VARY, "accept-encoding")];
    let mut response = if encoding == Encoding::Brotli {
        let packed = Bytes::from_owner(PackedGrid(grid));
        (headers, [(CONTENT_ENCODING, "br")], Body::from(packed)).into_response()
    } else {
        let bytes = unpacked_grid(&app, WorkClient::voter(visitor.address()), grid).await?;
        (headers, Body::from(bytes)).into_response()
    };
    response.extensions_mut().insert(NoTransform);
    Ok(response)
}

/// The bytes of a grid that all voters share, however many of them are just being sent it.
pub(super) struct PackedGrid(pub Arc<StoredGrid>);

impl AsRef<[u8]> for PackedGrid {
    fn as_ref(&self) -> &[u8] {
        &self.0.packed
    }
}

/// Get a picture of a build of a matchup
///
/// For use without WebGL or JavaScript. It counts as looking, as fetching the build does.
#[utoipa::path(
    get, path = "/api/arena/matchup/{id}/{side}/image", tag = "Arena", operation_id = "matchupImage",
    params(MatchupBuildPath, PictureQuery),
    responses((status = OK, description = "The picture.", content(("image/webp"), ("image/png")))),
    extensions(("x-errors" = json!(codes([
        ErrorCode::NoSuchMatchup, ErrorCode::NotFound, ErrorCode::RateLimited,
    ])))),
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
    let grid = Arc::unwrap_or_clone(fetch(&app, &visitor, &path, &method).await?);
    let bytes = pictures::draw_for_matchup(&app, WorkClient::voter(visitor.address()), grid, query).await?;
    Ok(([NO_STORE, (CONTENT_TYPE, query.kind())], Body::from(bytes)).into_response())
}

/// The grid of one side. Callers must not send anything that identifies the build, such as an `ETag` or a digest.
/// HEAD does not count as looking.
async fn fetch(
    app: &App,
    visitor: &Visitor,
    path: &MatchupBuildPath,
    method: &Method,
) -> Result<Arc<StoredGrid>, Error> {
    let side: Side = path.side.parse().map_err(|_| Error::not_found("A side is a or b."))?;
    let voter = visitor.voter().await?.ok_or(ErrorCode::NoSuchMatchup)?;
    let grid = app.arena.fetch(voter, parse_id(&path.id)?, side, *method == Method::GET).await?;
    Ok(grid.ok_or(ErrorCode::NoSuchMatchup)?)
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
/// Closes it without a vote. Skipping it again changes nothing.
#[utoipa::path(
    post, path = "/api/arena/skip", tag = "Arena", operation_id = "skip",
    responses((status = NO_CONTENT, description = "The matchup is closed.")),
    extensions(("x-errors" = json!(codes([
        ErrorCode::NoSuchMatchup, ErrorCode::AlreadyVoted, ErrorCode::RateLimited,
    ])))),
    security(("session" = [])),
)]
async fn skip(
    State(app): State<App>,
    visitor: Visitor,
    Json(request): Json<SkipRequest>,
) -> Result<StatusCode, Error> {
    check_voting(&app)?;
    let voter = visitor.voter().await?.ok_or(ErrorCode::NoSuchMatchup)?;
    visitor.check_limit(&app, LimitedAction::Skip, Some(voter))?;
    app.arena.skip(voter, parse_id(&request.matchup_id)?).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// The id in an address. No matchup has an id that is not a UUID.
pub(in crate::web) fn parse_id(text: &str) -> Result<Uuid, ErrorCode> {
    Uuid::try_parse(text).map_err(|_| ErrorCode::NoSuchMatchup)
}

impl From<MatchupError> for Error {
    fn from(reason: MatchupError) -> Self {
        match reason {
            MatchupError::NoPrompt => ErrorCode::NoSuchPrompt.into(),
            MatchupError::NotSeeded => ErrorCode::NotSeeded.into(),
            MatchupError::AllVoted => ErrorCode::AllVoted.into(),
            MatchupError::Conflict => ErrorCode::TryAgain.into(),
            MatchupError::Database(error) => error.into(),
        }
    }
}

impl From<SkipError> for Error {
    fn from(reason: SkipError) -> Self {
        match reason {
            SkipError::Unknown => ErrorCode::NoSuchMatchup.into(),
            SkipError::AlreadyVoted => ErrorCode::AlreadyVoted.into(),
            SkipError::Database(error) => error.into(),
        }
    }
}
