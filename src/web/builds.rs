//! `/api/builds/{id}` and what derives from it.

use axum::extract::{Extension, Path, Query, State};
use axum::http::HeaderMap;
use axum::response::Response;
use axum::routing::get;
use axum::{Json, Router};
use serde::Serialize;
use time::OffsetDateTime;
use uuid::Uuid;

use super::Error;
use super::derived::{FOREVER, Representation};
use super::encoding::Encoding;
use super::pictures::{self, Wanted, damaged, hex, no_build};
use crate::app::App;
use crate::arena::builds::{self, Build};
use crate::voxel::{self, Bounds, Warning};

pub(super) fn routes() -> Router<App> {
    Router::new()
        .route("/api/builds/{id}", get(facts))
        .route("/api/builds/{id}/grid", get(grid))
        .route("/api/builds/{id}/image", get(image))
        .route("/api/builds/{id}/spec", get(spec))
}

/// The id in an address; what is no id names no build.
pub(super) fn id(text: &str) -> Result<Uuid, Error> {
    Uuid::try_parse(text).map_err(|_| no_build())
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Facts {
    id: String,
    prompt: Prompt,
    model: Model,
    settings: Settings,
    block_count: i32,
    bounds: Option<Bounds>,
    blocks: serde_json::Map<String, serde_json::Value>,
    warnings: Vec<Warning>,
    digest: String,
    attempts: Option<i32>,
    generation_time_ms: Option<i64>,
    #[serde(with = "time::serde::rfc3339")]
    created_at: OffsetDateTime,
    #[serde(with = "time::serde::rfc3339::option")]
    retired_at: Option<OffsetDateTime>,
}

#[derive(Serialize)]
struct Prompt {
    id: String,
    text: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Model {
    key: String,
    provider: String,
    display_name: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Settings {
    grid_size: i16,
    palette: String,
    mode: String,
}

async fn facts(State(app): State<App>, Path(build): Path<String>) -> Result<Json<Facts>, Error> {
    let (build, census) = with_census(&app, id(&build)?).await?;
    let blocks = census.blocks().into_iter().map(|(block, count)| (block.id.clone(), count.into())).collect();
    Ok(Json(Facts {
        id: build.id.to_string(),
        prompt: Prompt { id: build.prompt_id, text: build.prompt_text },
        model: Model { key: build.model_key, provider: build.provider, display_name: build.model_name },
        settings: Settings { grid_size: build.grid_size, palette: build.palette, mode: build.mode },
        block_count: build.block_count,
        bounds: census.bounds,
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
pub(super) async fn with_census(app: &App, id: Uuid) -> Result<(Build, voxel::Census), Error> {
    let build = builds::find(&app.pool, id).await?.ok_or_else(no_build)?;
    let grid = builds::grid(&app.pool, id).await?.ok_or_else(no_build)?;
    let census = app.work.run(move || grid.open().map(|grid| grid.census())).await?.map_err(damaged)?;
    Ok((build, census))
}

async fn grid(
    State(app): State<App>,
    Path(build): Path<String>,
    Extension(encoding): Extension<Encoding>,
    headers: HeaderMap,
) -> Result<Response, Error> {
    grid_answer(&app, id(&build)?, encoding, FOREVER, &headers).await
}

/// The encoded grid as it is stored, which is compressed with brotli; unpacked for those who don't read that.
pub(super) async fn grid_answer(
    app: &App,
    id: Uuid,
    encoding: Encoding,
    keep: &'static str,
    headers: &HeaderMap,
) -> Result<Response, Error> {
    let grid = builds::grid(&app.pool, id).await?.ok_or_else(no_build)?;
    let encoding = if encoding == Encoding::Brotli { encoding } else { Encoding::Identity };
    let name = hex(&grid.digest);
    let representation = Representation { kind: "application/octet-stream", name: &name, encoding, keep };
    if let Some(known) = representation.if_known(headers) {
        return Ok(known);
    }
    let bytes = match encoding {
        Encoding::Brotli => grid.packed,
        _ => app.work.run(move || grid.encoding()).await?.map_err(damaged)?,
    };
    Ok(representation.answer(bytes.into()))
}

async fn image(
    State(app): State<App>,
    Path(build): Path<String>,
    Query(wanted): Query<Wanted>,
    headers: HeaderMap,
) -> Result<Response, Error> {
    pictures::answer(&app, id(&build)?, wanted, FOREVER, &headers).await
}

async fn spec(
    State(app): State<App>,
    Path(build): Path<String>,
    Extension(encoding): Extension<Encoding>,
    headers: HeaderMap,
) -> Result<Response, Error> {
    let id = id(&build)?;
    let packed = builds::spec(&app.pool, id).await?.ok_or_else(no_build)?;
    let encoding = if encoding == Encoding::Brotli { encoding } else { Encoding::Identity };
    // A build's id stands for one spec for ever.
    let name = format!("spec-{id}");
    let representation = Representation { kind: "application/json", name: &name, encoding, keep: FOREVER };
    if let Some(known) = representation.if_known(&headers) {
        return Ok(known);
    }
    let bytes = match encoding {
        Encoding::Brotli => packed,
        _ => app.work.run(move || builds::unpack_spec(&packed)).await?.map_err(damaged)?,
    };
    Ok(representation.answer(bytes.into()))
}
