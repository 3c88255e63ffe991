//! `/api/builds/{id}`: a build, its grid, picture and spec.

mod access;
mod generation;

pub(in crate::web) use access::BuildAccess;
pub(in crate::web) use generation::GenerationView;

use std::borrow::Borrow;

use axum::Json;
use axum::body::{Body, Bytes};
use axum::extract::{Path, Query, State};
use axum::http::HeaderName;
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use time::OffsetDateTime;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;
use uuid::Uuid;

use crate::app::App;
use crate::arena::builds::{self, Build, StoredGrid};
use crate::arena::generations;
use crate::web::body::MeteredBody;
use crate::web::derived::{ContentRequest, NO_STORE, Representation};
use crate::web::encoding::Encoding;
use crate::web::openapi::{codes, shapes};
use crate::web::pictures::{self, PictureQuery, damaged_build};
use crate::web::voter::ClientAddress;
use crate::web::{Error, ErrorCode};
use crate::work::WorkClient;
use voxel::{self, Bounds, Warning};

pub(in crate::web) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(show))
        .routes(routes!(grid))
        .routes(routes!(image))
        .routes(routes!(spec))
}

/// The id in an address. No build has an id that is not a UUID.
pub(in crate::web) fn parse_id(text: &str) -> Result<Uuid, Error> {
    Uuid::try_parse(text).map_err(|_| no_build())
}

/// A build that may be shown, and how long caches may keep what is made of it.
pub(in crate::web) async fn find_build(
    app: &App,
    access: &BuildAccess,
    id: Uuid,
) -> Result<(Build, &'static str), Error> {
    let build = builds::find(&app.pool, id).await?.ok_or_else(no_build)?;
    let cache_control = access.check(app, build.withheld).await?;
    Ok((build, cache_control))
}

/// How long caches may keep what is made of a build; an error if it may not be shown.
async fn check_access(app: &App, access: &BuildAccess, id: Uuid) -> Result<&'static str, Error> {
    access.check(app, builds::is_withheld(&app.pool, id).await?.ok_or_else(no_build)?).await
}

/// The grid of a build, once it is clear that it may be shown.
pub(in crate::web) async fn find_grid(app: &App, id: Uuid) -> Result<StoredGrid, Error> {
    builds::grid(&app.pool, id).await?.ok_or_else(no_build)
}

/// With the general code: programs already rely on it here.
pub(in crate::web) fn no_build() -> Error {
    Error::not_found("This build does not exist.")
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Build)]
struct BuildResponse {
    id: Uuid,
    prompt: BuildPromptView,
    model: BuildModelView,
    settings: BuildSettingsView,
    #[schema(example = 1320)]
    block_count: i32,
    #[schema(required, value_type = Option<shapes::BoundsSchema>)]
    bounds: Option<Bounds>,
    /// The number of each block, the most frequent first.
    #[schema(value_type = BTreeMap<String, u32>, example = json!({ "stone": 1200, "glass": 120 }))]
    blocks: serde_json::Map<String, serde_json::Value>,
    /// What was ignored or replaced in its spec.
    #[schema(value_type = Vec<shapes::WarningSchema>)]
    warnings: Vec<Warning>,
    /// The SHA-256 of the encoded grid, in hexadecimal. Null for everybody but admins until the build is retired: it
    /// would name the build to voters who compare it with what a matchup shows.
    #[schema(required)]
    digest: Option<String>,
    /// generated, if a model was asked for it by this installation, or imported.
    #[schema(example = "imported")]
    origin: &'static str,
    /// How the model was asked; null for an imported build.
    #[schema(required)]
    generation: Option<GenerationView>,
    /// The number of attempts the model needed; null for an imported build.
    #[schema(required)]
    attempts: Option<i32>,
    /// How long the model took; null for an imported build.
    #[schema(required)]
    generation_time_ms: Option<i64>,
    #[serde(with = "time::serde::rfc3339")]
    created_at: OffsetDateTime,
    /// When the build was retired; null while it is in the arena.
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

/// Get a build
///
/// Everything known about the build. Its grid, picture and spec have addresses of their own.
#[utoipa::path(
    get, path = "/api/builds/{id}", tag = "Builds", operation_id = "build",
    params(("id" = Uuid, Path, description = "The build’s id.")),
    responses((status = OK, description = "The build.", body = BuildResponse)),
    extensions(("x-errors" = json!(codes([ErrorCode::NotFound, ErrorCode::RateLimited])))),
)]
async fn show(
    State(app): State<App>,
    address: ClientAddress,
    access: BuildAccess,
    Path(build): Path<String>,
) -> Result<Response, Error> {
    let BuildDetails { build, generation, stats, digest, cache_control } =
        find_details(&app, address.client(), &access, parse_id(&build)?).await?;
    let blocks = stats.blocks().into_iter().map(|(block, count)| (block.id.clone(), count.into())).collect();
    let response = BuildResponse {
        id: build.id,
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
        digest,
        origin: if generation.is_some() { "generated" } else { "imported" },
        generation,
        attempts: build.attempts,
        generation_time_ms: build.generation_time_ms,
        created_at: build.created_at,
        retired_at: build.retired_at,
    };
    Ok((cache_control, Json(response)).into_response())
}

/// Everything known about a build.
pub(in crate::web) struct BuildDetails {
    pub build: Build,
    /// None if it was imported.
    pub generation: Option<GenerationView>,
    pub stats: voxel::GridStats,
    /// None if it is not for this visitor.
    pub digest: Option<String>,
    /// Set where an admin is told more than others.
    pub cache_control: Option<[(HeaderName, &'static str); 1]>,
}

pub(in crate::web) async fn find_details(
    app: &App,
    client: WorkClient,
    access: &BuildAccess,
    id: Uuid,
) -> Result<BuildDetails, Error> {
    let (build, _) = find_build(app, access, id).await?;
    let is_admin = access.is_admin(app).await?;
    let digest = (is_admin || build.retired_at.is_some()).then(|| hex::encode(&build.digest));
    let grid = find_grid(app, id).await?;
    let grids = app.unpacked_grids.clone();
    let count = move || grids.open(client, &grid).map(|grid| grid.stats());
    let stats = app.work.run(client, count).await?.map_err(damaged_build)?;
    let generation = generations::find(&app.pool, id).await?.map(GenerationView::of);
    Ok(BuildDetails { build, generation, stats, digest, cache_control: is_admin.then_some([NO_STORE]) })
}

/// Get a build’s grid
///
/// The encoded grid. It never changes, so it can be cached for ever. The format of the bytes is described in the
/// source, in voxel/codec.rs.
#[utoipa::path(
    get, path = "/api/builds/{id}/grid", tag = "Builds", operation_id = "buildGrid",
    params(("id" = Uuid, Path, description = "The build’s id.")),
    responses(
        (status = OK, description = "The encoded grid.", content(("application/octet-stream"))),
        (status = NOT_MODIFIED, description = "The cached copy is current."),
    ),
    extensions(("x-errors" = json!(codes([ErrorCode::NotFound, ErrorCode::RateLimited])))),
)]
async fn grid(
    request: ContentRequest,
    access: BuildAccess,
    Path(build): Path<String>,
) -> Result<Response, Error> {
    let id = parse_id(&build)?;
    let cache_control = check_access(&request.app, &access, id).await?;
    grid_response(&request, id, find_grid(&request.app, id), cache_control).await
}

/// The encoded grid of a build. It is stored compressed with brotli, and unpacked here for clients that do not accept it.
pub(in crate::web) async fn grid_response(
    ContentRequest { app, client, encoding, headers }: &ContentRequest,
    id: Uuid,
    load: impl Future<Output = Result<StoredGrid, Error>>,
    cache_control: &'static str,
) -> Result<Response, Error> {
    let encoding = encoding.brotli_or_plain();
    let name = format!("grid-{id}");
    let bytes = async {
        let grid = load.await?;
        let bytes = match encoding {
            Encoding::Brotli => grid.packed.into(),
            _ => unpacked_grid(app, *client, grid).await?,
        };
        Ok(Body::new(MeteredBody::reserved(app, *client, bytes).await?))
    };
    let kind = "application/octet-stream";
    Representation { kind, name: &name, encoding, cache_control }.respond(headers, bytes).await
}

/// The encoding of a grid, for a client that does not accept brotli.
pub(in crate::web) async fn unpacked_grid(
    app: &App,
    client: WorkClient,
    grid: impl Borrow<StoredGrid> + Send + 'static,
) -> Result<Bytes, Error> {
    if let Some(unpacked) = app.unpacked_grids.cached(client, grid.borrow()) {
        return Ok(unpacked);
    }
    let grids = app.unpacked_grids.clone();
    app.work.run(client, move || grids.unpack(client, grid.borrow())).await?.map_err(damaged_build)
}

/// Get a picture of a build
///
/// Drawn on request. It never changes, so it can be cached for ever.
#[utoipa::path(
    get, path = "/api/builds/{id}/image", tag = "Builds", operation_id = "buildImage",
    params(("id" = Uuid, Path, description = "The build’s id."), PictureQuery),
    responses(
        (status = OK, description = "The picture.", content(("image/webp"), ("image/png"))),
        (status = NOT_MODIFIED, description = "The cached copy is current."),
    ),
    extensions(("x-errors" = json!(codes([ErrorCode::NotFound, ErrorCode::RateLimited])))),
)]
async fn image(
    request: ContentRequest,
    access: BuildAccess,
    Path(build): Path<String>,
    Query(query): Query<PictureQuery>,
) -> Result<Response, Error> {
    query.check()?;
    let id = parse_id(&build)?;
    let cache_control = check_access(&request.app, &access, id).await?;
    pictures::answer(&request, id, find_grid(&request.app, id), query, cache_control).await
}

/// Get a build’s spec
///
/// The JSON that its model returned: boxes, lines and blocks. It never changes, so it can be cached for ever.
#[utoipa::path(
    get, path = "/api/builds/{id}/spec", tag = "Builds", operation_id = "buildSpec",
    params(("id" = Uuid, Path, description = "The build’s id.")),
    responses(
        (status = OK, description = "The spec.", body = shapes::SpecSchema),
        (status = NOT_MODIFIED, description = "The cached copy is current."),
    ),
    extensions(("x-errors" = json!(codes([ErrorCode::NotFound, ErrorCode::RateLimited])))),
)]
async fn spec(
    ContentRequest { app, client, encoding, headers }: ContentRequest,
    access: BuildAccess,
    Path(build): Path<String>,
) -> Result<Response, Error> {
    let id = parse_id(&build)?;
    let cache_control = check_access(&app, &access, id).await?;
    let packed = builds::spec(&app.pool, id).await?.ok_or_else(no_build)?;
    let encoding = encoding.brotli_or_plain();
    // The spec of a build never changes, so the id is enough.
    let name = format!("spec-{id}");
    let bytes = async {
        let bytes = match encoding {
            Encoding::Brotli => packed,
            _ => app.work.run(client, move || builds::unpack_spec(&packed)).await?.map_err(damaged_build)?,
        };
        Ok(Body::new(MeteredBody::reserved(&app, client, bytes).await?))
    };
    let representation = Representation { kind: "application/json", name: &name, encoding, cache_control };
    representation.respond(&headers, bytes).await
}
