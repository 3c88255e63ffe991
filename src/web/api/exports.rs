//! `/api/builds/{id}/export`: builds as files for other tools.

use axum::body::Body;
use axum::extract::{Path, Query};
use axum::http::header::CONTENT_DISPOSITION;
use axum::response::{IntoResponse, Response};
use serde::{Deserialize, Deserializer, de};
use utoipa::IntoParams;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;
use uuid::Uuid;

use crate::app::App;
use crate::arena::builds::{Build, StoredGrid};
use crate::web::api::builds::{BuildAccess, find_build, find_grid, parse_id};
use crate::web::body::{MEMORY_TIMEOUT, MeteredBody};
use crate::web::derived::{ContentRequest, Representation};
use crate::web::encoding::Encoding;
use crate::web::filters::capitalised;
use crate::web::openapi::{codes, shapes};
use crate::web::pictures::damaged_build;
use crate::web::{Error, ErrorCode};
use crate::work::MemoryError;
use voxel::{self, ExportError, Format};

/// Raised whenever the same grid is written differently than before.
const EXPORT_VERSION: u8 = 2;

/// The memory that is reserved for a file before its size is known.
const EXPECTED_BYTES: usize = 1 << 20;

pub(in crate::web) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(export))
}

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(in crate::web) struct ExportQuery {
    /// The file format; `obj` comes as a zip.
    #[serde(deserialize_with = "format")]
    #[param(inline)]
    pub format: Format,
}

fn format<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Format, D::Error> {
    String::deserialize(deserializer)?.parse().map_err(de::Error::custom)
}

/// Export a build
///
/// For Minecraft (schem, litematic, nbt), for voxel editors (vox), as a textured model (glb, obj), for printing
/// (stl), or as a spec without overlaps (json). The file contains the exact grid, and is made on request.
#[utoipa::path(
    get, path = "/api/builds/{id}/export", tag = "Builds", operation_id = "exportBuild",
    params(("id" = Uuid, Path, description = "The build’s id."), ExportQuery),
    responses(
        (status = OK, description = "The file.", content(
            ("application/octet-stream"), ("model/gltf-binary"), ("application/zip"), ("model/stl"),
            (shapes::SpecSchema = "application/json"),
        )),
        (status = NOT_MODIFIED, description = "The cached copy is current."),
    ),
    extensions(("x-errors" = json!(codes([
        ErrorCode::NotFound, ErrorCode::RateLimited, ErrorCode::NotExported,
    ])))),
)]
async fn export(
    request: ContentRequest,
    access: BuildAccess,
    Path(build): Path<String>,
    Query(ExportQuery { format }): Query<ExportQuery>,
) -> Result<Response, Error> {
    let (Build { id, prompt_id, model_key, .. }, cache_control) =
        find_build(&request.app, &access, parse_id(&build)?).await?;
    let load = find_grid(&request.app, id);
    let name = format!("{prompt_id}-{model_key}");
    answer(&request, id, load, name, format, cache_control).await
}

/// The grid of the build or draft of this id as a file. `name` is without the extension.
pub(in crate::web) async fn answer(
    ContentRequest { app, client, headers, .. }: &ContentRequest,
    id: Uuid,
    load: impl Future<Output = Result<StoredGrid, Error>>,
    name: String,
    format: Format,
    cache_control: &'static str,
) -> Result<Response, Error> {
    // The name is part of the file's content in some formats.
    let tag = format!("{id}-{name}-{format}-{EXPORT_VERSION}");
    let representation =
        Representation { kind: format.media_type(), name: &tag, encoding: Encoding::Identity, cache_control };
    if let Some(known) = representation.not_modified(headers) {
        return Ok(known);
    }
    let attachment = format!("attachment; filename=\"{name}.{}\"", format.extension());
    let client = *client;
    let mut memory = app.memory.of_client(client);
    memory.grow(EXPECTED_BYTES, MEMORY_TIMEOUT).await?;
    let grid = load.await?;
    let (grids, max_bytes) = (app.unpacked_grids.clone(), app.memory.max_bytes());
    let make = move || {
        let grid = grids.open(client, &grid).map_err(damaged_build)?;
        let bytes = voxel::export(&grid, format, &name).map_err(|reason| export_failed(&reason))?;
        // The exact size is known only now. Files for which there is no memory do not wait for it: so no more of them
        // exist than pieces of work.
        match memory.resize(bytes.len()) {
            Ok(()) => Ok((bytes, memory)),
            Err(MemoryError::TooLarge) => Err(too_large(format, max_bytes)),
            Err(busy) => Err(Error::from(busy)),
        }
    };
    let (bytes, memory) = app.work.run(client, make).await??;
    let body = Body::new(MeteredBody::new(bytes, memory));
    Ok(([(CONTENT_DISPOSITION, attachment)], representation.answer(body)).into_response())
}

fn too_large(format: Format, max_bytes: usize) -> Error {
    let message = format!(
        "As {format}, the build would be larger than {} MiB, the most that this server sends. \
         Use a schem or a litematic, or export it with the command line.",
        max_bytes >> 20
    );
    Error::new(ErrorCode::NotExported, message)
}

fn export_failed(reason: &ExportError) -> Error {
    Error::new(ErrorCode::NotExported, capitalised(&reason.to_string()) + ".")
}
