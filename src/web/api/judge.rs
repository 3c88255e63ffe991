//! `/api/judge`: people score builds by the criteria, without knowing who built them.

mod request;
mod result;

pub(in crate::web) use request::{FieldProblem, JudgementFields};
pub(in crate::web) use result::JudgedBuildParts;

use axum::Json;
use axum::body::{Body, Bytes};
use axum::extract::{Extension, Path, Query, State};
use axum::http::header::{CONTENT_ENCODING, CONTENT_TYPE, VARY};
use axum::http::{HeaderMap, Method, StatusCode};
use axum::response::{IntoResponse, Response};
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use time::OffsetDateTime;
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;
use uuid::Uuid;

use self::request::JudgementRequest;
use self::result::JudgedBuildView;
use super::arena::{
    PackedGrid, PersonCheckRequiredView, PersonCheckView, PromptTextView, VoteRejectedResponse, check_voting,
    rejection_response,
};
use crate::app::App;
use crate::arena::Voter;
use crate::arena::builds::StoredGrid;
use crate::arena::judgements::{Judging, JudgingError, PersonScores, SentJudgement};
use crate::judge::criteria::{CriteriaText, Criterion};
use crate::limits::LimitedAction;
use crate::person_check::PersonCheck;
use crate::web::api::builds::unpacked_grid;
use crate::web::derived::NO_STORE;
use crate::web::encoding::{Encoding, NoTransform};
use crate::web::openapi::codes;
use crate::web::pictures::{self, PictureQuery};
use crate::web::views::SettingsView;
use crate::web::voter::Visitor;
use crate::web::{Error, ErrorCode};
use crate::work::WorkClient;

pub(in crate::web) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(next))
        .routes(routes!(grid))
        .routes(routes!(image))
        .routes(routes!(judge))
        .routes(routes!(skip))
}

#[derive(Deserialize, IntoParams)]
struct NextQuery {
    /// The build to judge. Default: any build that you have not judged, and that few people have.
    #[param(value_type = Option<Uuid>, example = "0190b6f2-0a4e-7c11-9f5e-3b8f6c1d2e70")]
    build: Option<String>,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Judging)]
struct JudgingResponse {
    /// Names what you judge. It is not the id of the build, which comes with the answer to your judgement.
    id: Uuid,
    prompt: PromptTextView,
    settings: SettingsView,
    /// The address of the encoded grid.
    #[schema(example = "/api/judge/0190b6f2-0a4e-7c11-9f5e-3b8f6c1d2e70/grid")]
    grid_url: String,
    /// The criteria that apply.
    criteria: Vec<CriterionView>,
    /// When the build is no longer open to you.
    #[serde(with = "time::serde::rfc3339")]
    expires_at: OffsetDateTime,
    /// How many builds you have judged today, in UTC.
    #[schema(example = 3)]
    judged_today: i64,
    /// What to do before judging; null if you have passed the check, or this server has none.
    #[schema(required)]
    person_check: Option<PersonCheckView>,
}

#[derive(Serialize, ToSchema)]
#[schema(as = AppliedCriterion)]
struct CriterionView {
    key: Criterion,
    #[schema(example = "Task Progress")]
    title: &'static str,
    /// In percent of all that apply.
    #[schema(example = 53.3)]
    weight: f64,
    /// What earns which score, in Markdown.
    #[schema(example = "How fully the build shows what the prompt names.")]
    text: &'static str,
}

/// Get a build to judge
///
/// The build that is open to you, or a new one. It stays open for two hours; naming another build replaces it. Nothing
/// in it reveals which model made it. The first call opens a session; keep its cookie.
#[utoipa::path(
    get, path = "/api/judge/next", tag = "Judging", operation_id = "nextToJudge",
    params(NextQuery),
    responses((status = OK, description = "The build, without its maker.", body = JudgingResponse)),
    extensions(("x-errors" = json!(codes([
        ErrorCode::CrossSite, ErrorCode::NoBuild, ErrorCode::AllJudged, ErrorCode::AlreadyJudged,
        ErrorCode::BuildRetired, ErrorCode::TryAgain, ErrorCode::RateLimited,
    ])))),
    security((), ("session" = [])),
)]
async fn next(
    State(app): State<App>,
    visitor: Visitor,
    Query(query): Query<NextQuery>,
    headers: HeaderMap,
) -> Result<Response, Error> {
    // This GET may replace the open build, which a link on another site must not do.
    if headers.get("sec-fetch-site").is_some_and(|site| site == "cross-site") {
        return Ok(StatusCode::FORBIDDEN.into_response());
    }
    let build = query.build.filter(|id| !id.is_empty());
    let (voter, judging) = open_judging(&app, &visitor, build.as_deref()).await?;
    let person_check = visitor.person_check(&app).await?.map(PersonCheckView::from);
    let Judging { id, prompt, text, settings, expires_at, build: _ } = judging;
    let response = JudgingResponse {
        id,
        prompt: PromptTextView { id: prompt, text },
        settings: SettingsView::of(&settings),
        grid_url: format!("/api/judge/{id}/grid"),
        criteria: applied_criteria(),
        expires_at,
        judged_today: app.arena.own_judgement_counts(voter).await?.today,
        person_check,
    };
    Ok(([NO_STORE], Json(response)).into_response())
}

fn applied_criteria() -> Vec<CriterionView> {
    let criteria = CriteriaText::build();
    let sum: f64 = criteria.applicable().iter().map(Criterion::weight).sum();
    let view = |criterion: Criterion| CriterionView {
        key: criterion,
        title: criterion.title(),
        weight: (1000.0 * criterion.weight() / sum).round() / 10.0,
        text: criteria.text(criterion).unwrap_or_default(),
    };
    criteria.applicable().iter().map(view).collect()
}

/// The build that a visitor judges next, for the API and for pages.
pub(in crate::web) async fn open_judging(
    app: &App,
    visitor: &Visitor,
    build: Option<&str>,
) -> Result<(Voter, Judging), Error> {
    check_voting(app)?;
    let build = build.map(Uuid::try_parse).transpose().map_err(|_| ErrorCode::NoBuild)?;
    let voter = visitor.voter_or_new(app).await?;
    visitor.check_limit(app, LimitedAction::Matchup, Some(voter))?;
    Ok((voter, app.arena.open_judging(voter, build).await?))
}

/// The id of what is judged.
#[derive(Deserialize, IntoParams)]
struct JudgingPath {
    #[param(value_type = Uuid)]
    id: String,
}

/// Get the grid of the build you judge
///
/// The encoded grid, for you alone. The time to look counts from when it, or a picture, was first fetched.
#[utoipa::path(
    get, path = "/api/judge/{id}/grid", tag = "Judging", operation_id = "judgedGrid",
    params(JudgingPath),
    responses((status = OK, description = "The encoded grid.", content(("application/octet-stream")))),
    extensions(("x-errors" = json!(codes([ErrorCode::NoSuchJudging, ErrorCode::RateLimited])))),
    security(("session" = [])),
)]
async fn grid(
    State(app): State<App>,
    Path(path): Path<JudgingPath>,
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

/// Get a picture of the build you judge
///
/// For use without WebGL or JavaScript. It counts as looking, as fetching the grid does.
#[utoipa::path(
    get, path = "/api/judge/{id}/image", tag = "Judging", operation_id = "judgedImage",
    params(JudgingPath, PictureQuery),
    responses((status = OK, description = "The picture.", content(("image/webp"), ("image/png")))),
    extensions(("x-errors" = json!(codes([ErrorCode::NoSuchJudging, ErrorCode::RateLimited])))),
    security(("session" = [])),
)]
async fn image(
    State(app): State<App>,
    Path(path): Path<JudgingPath>,
    visitor: Visitor,
    method: Method,
    Query(query): Query<PictureQuery>,
) -> Result<Response, Error> {
    query.check()?;
    let grid = Arc::unwrap_or_clone(fetch(&app, &visitor, &path, &method).await?);
    let bytes = pictures::draw_for_matchup(&app, WorkClient::voter(visitor.address()), grid, query).await?;
    Ok(([NO_STORE, (CONTENT_TYPE, query.kind())], Body::from(bytes)).into_response())
}

/// Callers must not send anything that identifies the build, such as an `ETag` or a digest. HEAD does not count as
/// looking.
async fn fetch(
    app: &App,
    visitor: &Visitor,
    path: &JudgingPath,
    method: &Method,
) -> Result<Arc<StoredGrid>, Error> {
    let voter = visitor.voter().await?.ok_or(ErrorCode::NoSuchJudging)?;
    let grid = app.arena.judging_grid(voter, parse_judging(&path.id)?, *method == Method::GET).await?;
    Ok(grid.ok_or(ErrorCode::NoSuchJudging)?)
}

/// The id in an address. Nothing that can be judged has an id that is not a UUID.
pub(in crate::web) fn parse_judging(text: &str) -> Result<Uuid, ErrorCode> {
    Uuid::try_parse(text).map_err(|_| ErrorCode::NoSuchJudging)
}

#[derive(Serialize, ToSchema)]
#[schema(as = StoredJudgement)]
struct JudgementResponse {
    ok: bool,
    #[serde(flatten)]
    body: JudgedBuildView,
}

/// Judge a build
///
/// A build is judged once by each person, and the judgement is final. The response reveals who built it, and what models
/// and other people say of it.
#[utoipa::path(
    post, path = "/api/judge", tag = "Judging", operation_id = "judge",
    request_body = JudgementRequest,
    responses(
        (status = OK, description = "The judgement was stored.", body = JudgementResponse),
        (status = FORBIDDEN, description = "You have to pass a check before judging (`person_check_required`). \
            `personCheck` says which; answer it at `/api/arena/person-check`, then judge again.",
            body = inline(VoteRejectedResponse<PersonCheckRequiredView>)),
        (status = CONFLICT, description = "You have already judged this build (`already_judged`). That judgement stands, \
            and the response repeats what it revealed.", body = inline(VoteRejectedResponse<JudgedBuildView>)),
    ),
    extensions(("x-errors" = json!(codes([
        ErrorCode::BadScores, ErrorCode::NoSuchJudging, ErrorCode::JudgingOver, ErrorCode::VoteFirst,
        ErrorCode::TooSoon, ErrorCode::RateLimited,
    ])))),
    security(("session" = [])),
)]
async fn judge(
    State(app): State<App>,
    visitor: Visitor,
    Json(request): Json<JudgementRequest>,
) -> Result<Response, Error> {
    let id = request.id.clone();
    let said = request.read()?;
    match send_judgement(&app, &visitor, &id, said).await? {
        Ok(build) => {
            let body = result_of(&app, &visitor, build).await?;
            Ok(([NO_STORE], Json(JudgementResponse { ok: true, body })).into_response())
        }
        Err(JudgementRejection::Already(build)) => {
            let body = result_of(&app, &visitor, build).await?;
            let body = VoteRejectedResponse::new(ErrorCode::AlreadyJudged, body);
            Ok((StatusCode::CONFLICT, [NO_STORE], Json(body)).into_response())
        }
        Err(JudgementRejection::PersonCheck(check)) => {
            Ok(rejection_response(ErrorCode::PersonCheckRequired, check))
        }
    }
}

async fn result_of(app: &App, visitor: &Visitor, build: Uuid) -> Result<JudgedBuildView, Error> {
    let voter = visitor.voter().await?.ok_or(ErrorCode::NoSuchJudging)?;
    Ok(JudgedBuildView::read(app, voter, build).await?.ok_or(ErrorCode::NoBuild)?)
}

/// Why a judgement was not taken, where the answer holds more than an error does.
pub(in crate::web) enum JudgementRejection {
    /// The build, which the visitor has judged before.
    Already(Uuid),
    /// The visitor has to do this first.
    PersonCheck(PersonCheck),
}

/// Stores a judgement, for the API and for pages. Returns the build. A rejection is not an error: it has something to
/// show to the visitor.
pub(in crate::web) async fn send_judgement(
    app: &App,
    visitor: &Visitor,
    judging: &str,
    said: PersonScores,
) -> Result<Result<Uuid, JudgementRejection>, Error> {
    check_voting(app)?;
    let voter = visitor.voter().await?.ok_or(ErrorCode::NoSuchJudging)?;
    visitor.check_limit(app, LimitedAction::Vote, Some(voter))?;
    if let Some(check) = app.person_checks.due(voter).await? {
        return Ok(Err(JudgementRejection::PersonCheck(check)));
    }
    let judging = parse_judging(judging)?;
    match app.arena.judge(SentJudgement { voter, judging, said, address: visitor.address() }).await {
        Ok(build) => Ok(Ok(build)),
        Err(JudgingError::AlreadyJudged(build)) => Ok(Err(JudgementRejection::Already(build))),
        Err(reason) => Err(reason.into()),
    }
}

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(as = SkipJudging)]
struct SkipJudgingRequest {
    #[schema(format = Uuid)]
    id: String,
}

/// Skip a build
///
/// Closes it without a judgement; you get it again after a day at the earliest. Skipping it again changes nothing.
#[utoipa::path(
    post, path = "/api/judge/skip", tag = "Judging", operation_id = "skipJudging",
    responses((status = NO_CONTENT, description = "The build is closed.")),
    extensions(("x-errors" = json!(codes([ErrorCode::NoSuchJudging, ErrorCode::RateLimited])))),
    security(("session" = [])),
)]
async fn skip(
    State(app): State<App>,
    visitor: Visitor,
    Json(request): Json<SkipJudgingRequest>,
) -> Result<StatusCode, Error> {
    skip_judging(&app, &visitor, &request.id).await?;
    Ok(StatusCode::NO_CONTENT)
}

pub(in crate::web) async fn skip_judging(app: &App, visitor: &Visitor, judging: &str) -> Result<(), Error> {
    check_voting(app)?;
    let voter = visitor.voter().await?.ok_or(ErrorCode::NoSuchJudging)?;
    visitor.check_limit(app, LimitedAction::Skip, Some(voter))?;
    Ok(app.arena.skip_judging(voter, parse_judging(judging)?).await?)
}

impl From<JudgingError> for Error {
    fn from(reason: JudgingError) -> Self {
        match reason {
            JudgingError::NoBuild => ErrorCode::NoBuild.into(),
            JudgingError::Retired => ErrorCode::BuildRetired.into(),
            JudgingError::AllJudged => ErrorCode::AllJudged.into(),
            JudgingError::Unknown => ErrorCode::NoSuchJudging.into(),
            JudgingError::Over => ErrorCode::JudgingOver.into(),
            JudgingError::TooSoon(wait) => {
                Error::new(ErrorCode::TooSoon, "Please look at the build for a moment first.")
                    .with_retry_after(wait.as_secs() + 1)
            }
            JudgingError::InMatchup => ErrorCode::VoteFirst.into(),
            JudgingError::AlreadyJudged(_) => ErrorCode::AlreadyJudged.into(),
            JudgingError::NoScores => ErrorCode::BadScores.into(),
            JudgingError::Conflict => ErrorCode::TryAgain.into(),
            JudgingError::Database(error) => error.into(),
        }
    }
}
