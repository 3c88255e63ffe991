//! `/api/sandbox/drafts`: builds of the sandbox. They expire after an hour, or with the run that keeps them.

use axum::Json;
use axum::extract::{Path, Query, Request, State};
use axum::response::Response;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;
use uuid::Uuid;

use crate::app::App;
use crate::arena::Settings;
use crate::arena::builds::{GenerationInfo, PackedBuild, StoredGrid};
use crate::arena::catalog::prompt_problem;
use crate::arena::drafts::{self, Draft, DraftOrigin, StoreDraftError};
use crate::limits::LimitedAction;
use crate::web::api::builds::grid_response;
use crate::web::api::exports;
use crate::web::body::{self, read_build};
use crate::web::derived::ContentRequest;
use crate::web::openapi::{codes, shapes};
use crate::web::pictures::{self, PictureQuery};
use crate::web::voter::Visitor;
use crate::web::{Error, ErrorCode, layers};
use crate::work::WorkClient;
use voxel::{GridSize, Palette, Warning};

/// A draft expires, so caches keep it for no longer than an hour.
const DRAFT_CACHE_CONTROL: &str = "private, max-age=3600, immutable";

/// Stands for the model of an imported build.
const PASTED_MODEL: &str = "pasted";

pub(in crate::web) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(grid)).routes(routes!(image)).routes(routes!(export))
}

/// With a timeout of its own: an upload takes as long as its body.
pub(in crate::web) fn upload_routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(upload)).layer(layers::deadline(body::BODY_TIMEOUT))
}

#[derive(Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct DraftQuery {
    /// The grid to build in. Default: the arena’s.
    #[param(inline, example = 32)]
    grid_size: Option<GridSize>,
    /// The blocks to build with. Default: the arena’s.
    #[param(inline, example = "simple")]
    palette: Option<Palette>,
    /// What it is a build of, in at most 800 characters.
    #[param(example = "a steam locomotive")]
    prompt: Option<String>,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Draft)]
struct DraftResponse {
    draft_id: Uuid,
    grid_url: String,
    block_count: u32,
    #[schema(value_type = Vec<shapes::WarningSchema>)]
    warnings: Vec<Warning>,
}

/// Import a build into the sandbox
///
/// Takes any text that contains a spec, or a file of another tool, as `/api/check` does, with the same rules. The build
/// is kept for an hour, and never enters the arena.
#[utoipa::path(
    post, path = "/api/sandbox/drafts", tag = "Sandbox", operation_id = "bringDraft",
    params(DraftQuery),
    request_body(
        description = "The text, or a schem, litematic or vox file. The content type is ignored; the first bytes decide.",
        content((shapes::SpecSchema = "application/json"), (String = "text/plain"), ("application/octet-stream")),
    ),
    responses((status = OK, description = "The imported build.", body = DraftResponse)),
    extensions(("x-errors" = json!(codes([
        ErrorCode::BadJson, ErrorCode::BadSpec, ErrorCode::BadFile, ErrorCode::DoesNotFit,
        ErrorCode::TooMuchWork, ErrorCode::BodyCutOff, ErrorCode::BodyStalled, ErrorCode::TooLarge,
        ErrorCode::UnsupportedEncoding, ErrorCode::NoBlocks, ErrorCode::TooManyBlocks,
        ErrorCode::TooFewBlocks, ErrorCode::FootprintTooSmall, ErrorCode::HeightTooSmall,
        ErrorCode::RateLimited,
    ])))),
)]
async fn upload(
    State(app): State<App>,
    visitor: Visitor,
    Query(query): Query<DraftQuery>,
    request: Request,
) -> Result<Json<DraftResponse>, Error> {
    visitor.check_limit(&app, LimitedAction::Generate, None)?;
    let origin = query.origin(&app.config.arena)?;
    let client = WorkClient::visitor(visitor.address());
    let memory = app.memory.of_client(client);
    let limit = app.config.check_max_bytes;
    let build = read_build(&app, client, memory, request, &origin.settings, limit).await?;
    let id = drafts::store(&app.pool, &origin, &build).await.map_err(store_error)?;
    let PackedBuild { block_count, warnings, .. } = build;
    Ok(Json(DraftResponse {
        draft_id: id,
        grid_url: format!("/api/sandbox/drafts/{id}/grid"),
        block_count,
        warnings,
    }))
}

impl DraftQuery {
    fn origin(self, arena: &Settings) -> Result<DraftOrigin, Error> {
        let prompt = self.prompt.as_deref().map(str::trim).filter(|prompt| !prompt.is_empty());
        let prompt = prompt.unwrap_or("an imported build").to_owned();
        Error::bad_request_if(prompt_problem(&prompt))?;
        Ok(DraftOrigin {
            prompt,
            settings: arena.with(self.grid_size, self.palette),
            model: PASTED_MODEL.to_owned(),
            generation: GenerationInfo::default(),
        })
    }
}

/// Get the grid of a sandbox build
///
/// Like `/api/builds/{id}/grid`. It expires after an hour, or with the run that keeps it.
#[utoipa::path(
    get, path = "/api/sandbox/drafts/{id}/grid", tag = "Sandbox", operation_id = "draftGrid",
    params(("id" = Uuid, Path, description = "The `draftId` of a run’s `result`.")),
    responses((status = OK, description = "The encoded grid.", content_type = "application/octet-stream")),
    extensions(("x-errors" = json!(codes([
        ErrorCode::NoDraft, ErrorCode::BuildDamaged, ErrorCode::RateLimited,
    ])))),
)]
async fn grid(request: ContentRequest, Path(id): Path<String>) -> Result<Response, Error> {
    let id = parse_id(&id)?;
    // A draft that has expired does not exist any more, not even for those who have it.
    let grid = find_grid(&request.app, id).await?;
    grid_response(&request, id, async { Ok(grid) }, DRAFT_CACHE_CONTROL).await
}

/// Get a picture of a sandbox build
///
/// Like `/api/builds/{id}/image`.
#[utoipa::path(
    get, path = "/api/sandbox/drafts/{id}/image", tag = "Sandbox", operation_id = "draftImage",
    params(("id" = Uuid, Path, description = "The `draftId` of a run’s `result`."), PictureQuery),
    responses(
        (status = OK, description = "The picture.", content(("image/webp"), ("image/png"))),
        (status = NOT_MODIFIED, description = "You have it already."),
    ),
    extensions(("x-errors" = json!(codes([ErrorCode::NoDraft, ErrorCode::RateLimited])))),
)]
async fn image(
    request: ContentRequest,
    Path(id): Path<String>,
    Query(query): Query<PictureQuery>,
) -> Result<Response, Error> {
    query.check()?;
    let id = parse_id(&id)?;
    let grid = find_grid(&request.app, id).await?;
    let load = async { Ok(grid) };
    pictures::answer(&request, id, load, query, DRAFT_CACHE_CONTROL).await
}

/// Export a sandbox build
///
/// Like `/api/builds/{id}/export`.
#[utoipa::path(
    get, path = "/api/sandbox/drafts/{id}/export", tag = "Sandbox", operation_id = "exportDraft",
    params(("id" = Uuid, Path, description = "The `draftId` of a run’s `result`."), exports::ExportQuery),
    responses(
        (status = OK, description = "The file.", content(
            ("application/octet-stream"), ("model/gltf-binary"), ("application/zip"), ("model/stl"),
            (shapes::SpecSchema = "application/json"),
        )),
        (status = NOT_MODIFIED, description = "You have it already."),
    ),
    extensions(("x-errors" = json!(codes([
        ErrorCode::NoDraft, ErrorCode::RateLimited, ErrorCode::NotExported,
    ])))),
)]
async fn export(
    request: ContentRequest,
    Path(id): Path<String>,
    Query(exports::ExportQuery { format }): Query<exports::ExportQuery>,
) -> Result<Response, Error> {
    let (app, id) = (&request.app, parse_id(&id)?);
    let Draft { prompt, model, .. } = drafts::find(&app.pool, id).await?.ok_or(ErrorCode::NoDraft)?;
    let name = format!("{}-{}", file_name_slug(&prompt), file_name_slug(&model));
    exports::answer(&request, id, find_grid(app, id), name, format, DRAFT_CACHE_CONTROL).await
}

async fn find_grid(app: &App, id: Uuid) -> Result<StoredGrid, Error> {
    drafts::grid(&app.pool, id).await?.ok_or(ErrorCode::NoDraft.into())
}

fn parse_id(text: &str) -> Result<Uuid, Error> {
    Uuid::try_parse(text).map_err(|_| ErrorCode::NoDraft.into())
}

/// Longer words are cut in the name of a file.
const MAX_NAME_BYTES: usize = 48;

fn file_name_slug(words: &str) -> String {
    let letters = words.chars().map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { ' ' });
    let words: String = letters.collect();
    let mut name = words.split_whitespace().collect::<Vec<_>>().join("-");
    name.truncate(MAX_NAME_BYTES);
    let name = name.trim_end_matches('-');
    if name.is_empty() { "build".to_owned() } else { name.to_owned() }
}

fn store_error(reason: StoreDraftError) -> Error {
    match reason {
        StoreDraftError::Full => {
            Error::new(ErrorCode::Busy, "The sandbox’s storage is full. Try again in an hour.")
        }
        StoreDraftError::Database(error) => error.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_prompt_makes_a_file_name() {
        for (words, name) in [
            ("A steam locomotive!", "a-steam-locomotive"),
            ("../../etc/passwd", "etc-passwd"),
            ("\"\r\nset-cookie: x", "set-cookie-x"),
            ("雪", "build"),
        ] {
            assert_eq!(file_name_slug(words), name);
        }
        assert_eq!(file_name_slug(&"ab ".repeat(400)).len(), 47);
    }
}
