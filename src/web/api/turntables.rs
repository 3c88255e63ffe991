//! `/api/builds/{id}/turntable`: animated pictures of builds, drawn in the background.

use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::extract::{Path, Query, State};
use axum::http::header::{CONTENT_DISPOSITION, RETRY_AFTER};
use axum::http::{HeaderMap, HeaderName, StatusCode};
use axum::response::{IntoResponse, Response};
use serde::{Deserialize, Serialize};
use tokio::time::timeout;
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::app::App;
use crate::limits::LimitedAction;
use crate::turntables::{TooManyTurntables, TurntableError, TurntableReceiver, TurntableState};
use crate::web::api::builds::{BuildAccess, find_build, find_grid, parse_id};
use crate::web::derived::{NO_STORE, Representation};
use crate::web::encoding::Encoding;
use crate::web::openapi::codes;
use crate::web::pictures::damaged_build;
use crate::web::voter::Visitor;
use crate::web::{Error, ErrorCode};
use voxel::turntable::{Animation, Turntable};

/// How long a request waits that did not ask for an immediate response.
const WAIT_TIMEOUT: Duration = Duration::from_secs(20);

const REFRESH: HeaderName = HeaderName::from_static("refresh");

/// Raised whenever the same grid is drawn differently than before.
const RENDER_VERSION: u8 = 1;

/// When a client should ask again for progress.
const RETRY_SECONDS: &str = "1";

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

/// The progress of a turntable.
#[derive(Serialize, ToSchema)]
#[schema(as = Making)]
struct TurntableProgressView {
    /// The number of frames drawn so far.
    #[schema(example = 12)]
    frame: u8,
    #[schema(example = 36)]
    of: u8,
}

/// Get a build’s turntable
///
/// An animated picture of the build, turned around once. It is drawn on the first request, which takes some seconds.
/// With `Prefer: respond-async`, or after 20 seconds, the response is 202 with the progress; send the request again. A
/// turntable never changes, so it can be cached for ever.
#[utoipa::path(
    get, path = "/api/builds/{id}/turntable", tag = "Builds", operation_id = "buildTurntable",
    params(
        ("id" = Uuid, Path, description = "The build’s id."),
        TurntableQuery,
        ("prefer" = Option<String>, Header, description = "`respond-async`: respond immediately with the progress.", example = "respond-async"),
    ),
    responses(
        (status = OK, description = "The turntable.", content(("image/webp"), ("image/gif"))),
        (status = ACCEPTED, description = "The turntable is being drawn. `Retry-After` says when to try again.", body = TurntableProgressView),
        (status = NOT_MODIFIED, description = "The cached copy is current."),
    ),
    extensions(("x-errors" = json!(codes([ErrorCode::NotFound, ErrorCode::RateLimited])))),
)]
async fn turntable(
    State(app): State<App>,
    Path(build): Path<String>,
    visitor: Visitor,
    access: BuildAccess,
    Query(TurntableQuery { format }): Query<TurntableQuery>,
    headers: HeaderMap,
) -> Result<Response, Error> {
    let (build, cache_control) = find_build(&app, &access, parse_id(&build)?).await?;
    let animation = format.animation();
    let name: Arc<str> = format!("{}-turntable-{RENDER_VERSION}-{}", build.id, animation.name()).into();
    let representation = Representation {
        kind: animation.media_type(),
        name: &name,
        encoding: Encoding::Identity,
        cache_control,
    };
    if let Some(known) = representation.not_modified(&headers) {
        return Ok(known);
    }
    let progress = match app.turntables.find(&name).await {
        Some(progress) => progress,
        None => {
            visitor.check_limit(&app, LimitedAction::Turntable, None)?;
            let grid = find_grid(&app, build.id).await?;
            app.turntables.start(&name, grid, animation).map_err(too_many_turntables)?
        }
    };
    match outcome(progress, wait_limit(&headers)).await? {
        TurntableState::Done(bytes) => {
            let file = format!("{}-{}.{}", build.prompt_id, build.model_key, animation.name());
            let disposition = format!("inline; filename=\"{file}\"");
            Ok(([(CONTENT_DISPOSITION, disposition)], representation.answer(bytes)).into_response())
        }
        TurntableState::Frame(frame) => {
            // `Refresh` makes browsers without script ask again.
            let headers = [(RETRY_AFTER, RETRY_SECONDS), (REFRESH, RETRY_SECONDS), NO_STORE];
            Ok((StatusCode::ACCEPTED, headers, Json(TurntableProgressView { frame, of: Turntable::FRAMES }))
                .into_response())
        }
        TurntableState::Failed(cause) => Err(failed(cause)),
    }
}

/// The state of a turntable once it has ended, or when the time is over.
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

fn too_many_turntables(_: TooManyTurntables) -> Error {
    let message = "Too many turntables are being drawn. Try again in 5 seconds.";
    Error::new(ErrorCode::Busy, message).with_retry_after(5)
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
