//! `/api/builds/{id}` and what derives from it.

use axum::Json;
use axum::extract::{Extension, Path, Query, State};
use axum::http::HeaderMap;
use axum::response::Response;
use serde::Serialize;
use time::OffsetDateTime;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;
use uuid::Uuid;

use crate::app::App;
use crate::arena::builds::{self, Build, StoredGrid};
use crate::web::Error;
use crate::web::derived::{IMMUTABLE, Representation};
use crate::web::encoding::Encoding;
use crate::web::openapi::shapes;
use crate::web::pictures::{self, PictureQuery, damaged_build, hex, no_build};
use crate::web::voter::ClientAddress;
use crate::work::WorkClient;
use voxel::{self, Bounds, Warning};

pub(in crate::web) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(show))
        .routes(routes!(grid))
        .routes(routes!(image))
        .routes(routes!(spec))
}

/// The id in an address; what is no id names no build.
pub(in crate::web) fn id(text: &str) -> Result<Uuid, Error> {
    Uuid::try_parse(text).map_err(|_| no_build())
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Build)]
struct BuildResponse {
    #[schema(format = Uuid)]
    id: String,
    prompt: BuildPromptView,
    model: BuildModelView,
    settings: BuildSettingsView,
    #[schema(example = 1320)]
    block_count: i32,
    #[schema(required, value_type = Option<shapes::BoundsSchema>)]
    bounds: Option<Bounds>,
    /// How many there are of each block, most first.
    #[schema(value_type = BTreeMap<String, u32>, example = json!({ "stone": 1200, "glass": 120 }))]
    blocks: serde_json::Map<String, serde_json::Value>,
    /// What in its spec was passed over.
    #[schema(value_type = Vec<shapes::WarningSchema>)]
    warnings: Vec<Warning>,
    /// The SHA-256 of the encoded grid, in hexadecimal.
    digest: String,
    /// How often the model was asked; null for a build that was imported.
    #[schema(required)]
    attempts: Option<i32>,
    /// How long the model took; null for a build that was imported.
    #[schema(required)]
    generation_time_ms: Option<i64>,
    #[serde(with = "time::serde::rfc3339")]
    created_at: OffsetDateTime,
    /// Since when it takes no part any more; null while it does.
    #[serde(with = "time::serde::rfc3339::option")]
    #[schema(required, example = json!(null))]
    retired_at: Option<OffsetDateTime>,
}

#[derive(Serialize, ToSchema)]
#[schema(as = PromptOfBuild)]
struct BuildPromptView {
    #[schema(example = "steam-locomotive")]
    id: String,
    #[schema(example = "a steam locomotive")]
    text: String,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ModelOfBuild)]
struct BuildModelView {
    #[schema(example = "reference_architect")]
    key: String,
    #[schema(example = "reference")]
    provider: String,
    #[schema(example = "Architect")]
    display_name: String,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = SettingsOfBuild)]
struct BuildSettingsView {
    #[schema(example = 32)]
    grid_size: i16,
    #[schema(example = "simple")]
    palette: String,
    #[schema(example = "precise")]
    mode: String,
}

/// A build
///
/// What is known of it. Its blocks, its picture and its spec have addresses of their own below this one.
#[utoipa::path(
    get, path = "/api/builds/{id}", tag = "Builds", operation_id = "build",
    params(("id" = Uuid, Path, description = "The build’s id.")),
    responses(
        (status = OK, description = "The build.", body = BuildResponse),
        (status = NOT_FOUND, description = "not_found"),
        (status = TOO_MANY_REQUESTS, description = "rate_limited"),
    ),
)]
async fn show(
    State(app): State<App>,
    address: ClientAddress,
    Path(build): Path<String>,
) -> Result<Json<BuildResponse>, Error> {
    let (build, stats) = with_stats(&app, address.client(), id(&build)?).await?;
    let blocks = stats.blocks().into_iter().map(|(block, count)| (block.id.clone(), count.into())).collect();
    Ok(Json(BuildResponse {
        id: build.id.to_string(),
        prompt: BuildPromptView { id: build.prompt_id.to_string(), text: build.prompt_text },
        model: BuildModelView {
            key: build.model_key.to_string(),
            provider: build.provider,
            display_name: build.model_name,
        },
        settings: BuildSettingsView {
            grid_size: build.settings.grid.get() as i16,
            palette: build.settings.palette.name().to_owned(),
            mode: build.settings.mode.as_str().to_owned(),
        },
        block_count: build.block_count,
        bounds: stats.bounds,
        blocks,
        warnings: build.warnings.0,
        digest: hex(&build.digest),
        attempts: build.attempts,
        generation_time_ms: build.generation_time_ms,
        created_at: build.created_at,
        retired_at: build.retired_at,
    }))
}

/// A build, and what its grid holds.
pub(in crate::web) async fn with_stats(
    app: &App,
    client: WorkClient,
    id: Uuid,
) -> Result<(Build, voxel::GridStats), Error> {
    let build = builds::find(&app.pool, id).await?.ok_or_else(no_build)?;
    let grid = builds::grid(&app.pool, id).await?.ok_or_else(no_build)?;
    let count = move || grid.open().map(|grid| grid.stats());
    let stats = app.work.run(client, count).await?.map_err(damaged_build)?;
    Ok((build, stats))
}

/// A build’s blocks
///
/// The encoded grid. It never changes, so it may be kept for ever. The format of the bytes is described in the
/// source, in voxel/codec.rs.
#[utoipa::path(
    get, path = "/api/builds/{id}/grid", tag = "Builds", operation_id = "buildGrid",
    params(("id" = Uuid, Path, description = "The build’s id.")),
    responses(
        (status = OK, description = "The encoded grid.", content(("application/octet-stream"))),
        (status = NOT_MODIFIED, description = "You have it already."),
        (status = NOT_FOUND, description = "not_found"),
        (status = TOO_MANY_REQUESTS, description = "rate_limited"),
    ),
)]
async fn grid(
    State(app): State<App>,
    address: ClientAddress,
    Path(build): Path<String>,
    Extension(encoding): Extension<Encoding>,
    headers: HeaderMap,
) -> Result<Response, Error> {
    grid_response(&app, address.client(), id(&build)?, encoding, IMMUTABLE, &headers).await
}

/// The encoded grid as it is stored, which is compressed with brotli; unpacked for those who don't read that.
pub(in crate::web) async fn grid_response(
    app: &App,
    client: WorkClient,
    id: Uuid,
    encoding: Encoding,
    cache_control: &'static str,
    headers: &HeaderMap,
) -> Result<Response, Error> {
    let grid = builds::grid(&app.pool, id).await?.ok_or_else(no_build)?;
    stored_grid_response(app, client, grid, encoding, cache_control, headers).await
}

/// The same, wherever it was stored.
pub(in crate::web) async fn stored_grid_response(
    app: &App,
    client: WorkClient,
    grid: StoredGrid,
    encoding: Encoding,
    cache_control: &'static str,
    headers: &HeaderMap,
) -> Result<Response, Error> {
    let encoding = if encoding == Encoding::Brotli { encoding } else { Encoding::Identity };
    let name = hex(&grid.digest);
    let representation =
        Representation { kind: "application/octet-stream", name: &name, encoding, cache_control };
    if let Some(known) = representation.not_modified(headers) {
        return Ok(known);
    }
    let bytes = match encoding {
        Encoding::Brotli => grid.packed,
        _ => app.work.run(client, move || grid.encoding()).await?.map_err(damaged_build)?,
    };
    Ok(representation.answer(bytes.into()))
}

/// A build’s picture
///
/// Drawn when it is asked for. It never changes, so it may be kept for ever.
#[utoipa::path(
    get, path = "/api/builds/{id}/image", tag = "Builds", operation_id = "buildImage",
    params(("id" = Uuid, Path, description = "The build’s id."), PictureQuery),
    responses(
        (status = OK, description = "The picture.", content(("image/webp"), ("image/png"))),
        (status = NOT_MODIFIED, description = "You have it already."),
        (status = NOT_FOUND, description = "not_found"),
        (status = TOO_MANY_REQUESTS, description = "rate_limited"),
    ),
)]
async fn image(
    State(app): State<App>,
    address: ClientAddress,
    Path(build): Path<String>,
    Query(query): Query<PictureQuery>,
    headers: HeaderMap,
) -> Result<Response, Error> {
    pictures::answer(&app, address.client(), id(&build)?, query, IMMUTABLE, &headers).await
}

/// A build’s spec
///
/// The JSON its model returned: boxes, lines and blocks. It never changes, so it may be kept for ever.
#[utoipa::path(
    get, path = "/api/builds/{id}/spec", tag = "Builds", operation_id = "buildSpec",
    params(("id" = Uuid, Path, description = "The build’s id.")),
    responses(
        (status = OK, description = "The spec.", body = shapes::SpecSchema),
        (status = NOT_MODIFIED, description = "You have it already."),
        (status = NOT_FOUND, description = "not_found"),
        (status = TOO_MANY_REQUESTS, description = "rate_limited"),
    ),
)]
async fn spec(
    State(app): State<App>,
    address: ClientAddress,
    Path(build): Path<String>,
    Extension(encoding): Extension<Encoding>,
    headers: HeaderMap,
) -> Result<Response, Error> {
    let id = id(&build)?;
    let packed = builds::spec(&app.pool, id).await?.ok_or_else(no_build)?;
    let encoding = if encoding == Encoding::Brotli { encoding } else { Encoding::Identity };
    // A build's id stands for one spec for ever.
    let name = format!("spec-{id}");
    let representation =
        Representation { kind: "application/json", name: &name, encoding, cache_control: IMMUTABLE };
    if let Some(known) = representation.not_modified(&headers) {
        return Ok(known);
    }
    let bytes = match encoding {
        Encoding::Brotli => packed,
        _ => app
            .work
            .run(address.client(), move || builds::unpack_spec(&packed))
            .await?
            .map_err(damaged_build)?,
    };
    Ok(representation.answer(bytes.into()))
}
