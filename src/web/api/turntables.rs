//! `/api/builds/{id}/turntable`: a build that turns.

use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::extract::{Path, Query, State};
use axum::http::header::{CACHE_CONTROL, CONTENT_DISPOSITION, RETRY_AFTER};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use serde::{Deserialize, Serialize};
use tokio::time::timeout;
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::app::App;
use crate::arena::builds;
use crate::limits::LimitedAction;
use crate::turntables::{TooManyTurntables, TurntableError, TurntableReceiver, TurntableState};
use crate::web::Error;
use crate::web::api::builds::id;
use crate::web::derived::{IMMUTABLE, Representation};
use crate::web::encoding::Encoding;
use crate::web::pictures::{damaged_build, hex, no_build};
use crate::web::voter::Visitor;
use voxel::turntable::{Animation, Turntable};

/// How long somebody waits who did not ask for anything else.
const WAIT_TIMEOUT: Duration = Duration::from_secs(20);

const REFRESH: HeaderName = HeaderName::from_static("refresh");
const NO_STORE: HeaderValue = HeaderValue::from_static("no-store");

/// Raised whenever one and the same grid is drawn otherwise than before.
const RENDER_VERSION: u8 = 1;

/// Seconds until it is worth asking again.
const RETRY_SECONDS: HeaderValue = HeaderValue::from_static("1");

pub(in crate::web) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(turntable))
}

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct TurntableQuery {
    #[serde(default)]
    #[param(inline)]
    format: TurntableFormat,
}

#[derive(Clone, Copy, Debug, Default, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
#[schema(as = Format, default = "webp")]
enum TurntableFormat {
    #[default]
    Webp,
    Gif,
}

/// How far a turntable is.
#[derive(Serialize, ToSchema)]
#[schema(as = Making)]
struct TurntableProgressView {
    /// So many frames are drawn.
    #[schema(example = 12)]
    frame: u8,
    #[schema(example = 36)]
    of: u8,
}

/// A build’s turntable
///
/// The build turned once around, as a picture that moves. It is drawn when it is first asked for, which takes some
/// seconds: who says `Prefer: respond-async`, or has waited for 20 seconds, is told how far it is, and asks again. It
/// never changes, so it may be kept for ever.
#[utoipa::path(
    get, path = "/api/builds/{id}/turntable", tag = "Builds", operation_id = "buildTurntable",
    params(
        ("id" = Uuid, Path, description = "The build’s id."),
        TurntableQuery,
        ("prefer" = Option<String>, Header, description = "`respond-async`: do not wait for it.", example = "respond-async"),
    ),
    responses(
        (status = OK, description = "The turntable.", content(("image/webp"), ("image/gif"))),
        (status = ACCEPTED, description = "It is being drawn. `Retry-After` says when to ask again.", body = TurntableProgressView),
        (status = NOT_MODIFIED, description = "You have it already."),
        (status = NOT_FOUND, description = "not_found"),
        (status = TOO_MANY_REQUESTS, description = "rate_limited"),
    ),
)]
async fn turntable(
    State(app): State<App>,
    Path(build): Path<String>,
    visitor: Visitor,
    Query(TurntableQuery { format }): Query<TurntableQuery>,
    headers: HeaderMap,
) -> Result<Response, Error> {
    let build = builds::find(&app.pool, id(&build)?).await?.ok_or_else(no_build)?;
    let animation = format.animation();
    let name: Arc<str> =
        format!("{}-turntable-{RENDER_VERSION}-{}", hex(&build.digest), animation.name()).into();
    let representation = Representation {
        kind: animation.media_type(),
        name: &name,
        encoding: Encoding::Identity,
        cache_control: IMMUTABLE,
    };
    if let Some(known) = representation.not_modified(&headers) {
        return Ok(known);
    }
    let progress = match app.turntables.find(&name).await {
        Some(progress) => progress,
        None => {
            visitor.check_limit(&app, LimitedAction::Turntable, None)?;
            let grid = builds::grid(&app.pool, build.id).await?.ok_or_else(no_build)?;
            app.turntables.start(&name, grid, animation).map_err(busy)?
        }
    };
    match outcome(progress, wait_limit(&headers)).await? {
        TurntableState::Done(bytes) => {
            let file = format!("{}-{}.{}", build.prompt_id, build.model_key, animation.name());
            let disposition = format!("inline; filename=\"{file}\"");
            Ok(([(CONTENT_DISPOSITION, disposition)], representation.answer(bytes)).into_response())
        }
        TurntableState::Frame(frame) => {
            // A browser without script asks again by itself.
            let headers = [(RETRY_AFTER, RETRY_SECONDS), (REFRESH, RETRY_SECONDS), (CACHE_CONTROL, NO_STORE)];
            Ok((StatusCode::ACCEPTED, headers, Json(TurntableProgressView { frame, of: Turntable::FRAMES }))
                .into_response())
        }
        TurntableState::Failed(cause) => Err(failed(cause)),
    }
}

/// What has become of it when it is done, or when the time is over.
async fn outcome(mut progress: TurntableReceiver, limit: Duration) -> Result<TurntableState, Error> {
    let done = progress.wait_for(|stage| !matches!(stage, TurntableState::Frame(_)));
    if let Ok(Err(gone)) = timeout(limit, done).await.map(|done| done.map(drop)) {
        return Err(Error::internal(gone));
    }
    let stage = progress.borrow().clone();
    Ok(stage)
}

fn wait_limit(headers: &HeaderMap) -> Duration {
    let preferences = headers.get_all("prefer").iter().filter_map(|value| value.to_str().ok());
    let mut all = preferences.flat_map(|value| value.split([',', ';']));
    let respond_async = all.any(|word| word.trim().eq_ignore_ascii_case("respond-async"));
    if respond_async { Duration::ZERO } else { WAIT_TIMEOUT }
}

fn busy(_: TooManyTurntables) -> Error {
    let sentence = "Many turntables are being drawn just now. Try again in a moment.";
    Error::unavailable("busy", sentence).with_header(RETRY_AFTER, HeaderValue::from_static("5"))
}

fn failed(cause: Arc<TurntableError>) -> Error {
    if matches!(*cause, TurntableError::Corrupt(_)) { damaged_build(cause) } else { Error::internal(cause) }
}

impl TurntableFormat {
    fn animation(self) -> Animation {
        match self {
            Self::Webp => Animation::Webp,
            Self::Gif => Animation::Gif,
        }
    }
}
