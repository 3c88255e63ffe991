//! `/api/sandbox/drafts`: what the sandbox made or was brought, for an hour, or for as long as its run is kept.

use axum::Json;
use axum::extract::{Extension, Path, Query, Request, State};
use axum::http::HeaderMap;
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
use crate::web::api::builds::stored_grid_response;
use crate::web::api::exports;
use crate::web::body::{self, rejection_error, too_large};
use crate::web::derived::Representation;
use crate::web::encoding::Encoding;
use crate::web::openapi::shapes;
use crate::web::pictures::{self, hex};
use crate::web::voter::{ClientAddress, Visitor};
use crate::web::{Error, layers};
use crate::work::WorkClient;
use voxel::{GridSize, Palette, Warning};

/// It is gone sooner or later, here too.
const DRAFT_CACHE_CONTROL: &str = "private, max-age=3600, immutable";

/// Who built what somebody brings.
const PASTED_MODEL: &str = "pasted";

pub(in crate::web) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(grid)).routes(routes!(image)).routes(routes!(export))
}

/// What takes as long as its body does.
pub(in crate::web) fn upload_routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(upload)).layer(layers::deadline(body::BODY_TIMEOUT))
}

#[derive(Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct DraftQuery {
    /// The grid to draw in; the arena’s unless said.
    #[param(inline, example = 32)]
    grid_size: Option<GridSize>,
    /// The blocks there are; the arena’s unless said.
    #[param(inline, example = "simple")]
    palette: Option<Palette>,
    /// What it is to be, in at most 800 characters.
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

/// Bring a build into the sandbox
///
/// Any text that holds a spec, or a file of another tool, as for `/api/check`, and with the same rules. It is there for an hour, and never enters
/// the arena.
#[utoipa::path(
    post, path = "/api/sandbox/drafts", tag = "Sandbox", operation_id = "bringDraft",
    params(DraftQuery),
    request_body(
        description = "The text, or a schem, litematic or vox file. Its content type does not matter; what it is shows by its first bytes.",
        content((shapes::SpecSchema = "application/json"), (String = "text/plain"), ("application/octet-stream")),
    ),
    responses(
        (status = OK, description = "It is there.", body = DraftResponse),
        (status = BAD_REQUEST, description = "bad_json, bad_spec, bad_file, does_not_fit, too_much_work, body_cut_off"),
        (status = REQUEST_TIMEOUT, description = "body_stalled"),
        (status = PAYLOAD_TOO_LARGE, description = "too_large"),
        (status = UNSUPPORTED_MEDIA_TYPE, description = "unsupported_encoding"),
        (status = UNPROCESSABLE_ENTITY, description = "no_blocks, too_many_blocks, too_few_blocks, footprint_too_small, height_too_small"),
        (status = TOO_MANY_REQUESTS, description = "rate_limited"),
    ),
)]
async fn upload(
    State(app): State<App>,
    visitor: Visitor,
    Query(parameters): Query<DraftQuery>,
    request: Request,
) -> Result<Json<DraftResponse>, Error> {
    visitor.check_limit(&app, LimitedAction::Generate, None)?;
    let origin = parameters.origin(&app.config.arena)?;
    let limit = app.config.check_max_bytes;
    let large = body::read(&app.memory, request, limit).await?.ok_or_else(|| too_large(limit))?;
    let settings = origin.settings.clone();
    // The body's share of the memory goes with it.
    let read = move || {
        let whole = &large;
        PackedBuild::read(&whole.bytes, &settings, limit)
    };
    let build = app.work.run(WorkClient::visitor(visitor.address()), read).await?.map_err(rejection_error)?;
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
    fn origin(self, usual: &Settings) -> Result<DraftOrigin, Error> {
        let prompt = self.prompt.as_deref().map(str::trim).filter(|prompt| !prompt.is_empty());
        let prompt = prompt.unwrap_or("a build of one’s own").to_owned();
        if let Some(problem) = prompt_problem(&prompt) {
            return Err(Error::bad_request("bad_request", problem));
        }
        let settings = Settings {
            grid: self.grid_size.unwrap_or(usual.grid),
            palette: self.palette.unwrap_or(usual.palette),
            mode: usual.mode.clone(),
        };
        Ok(DraftOrigin {
            prompt,
            settings,
            model: PASTED_MODEL.to_owned(),
            generation: GenerationInfo::default(),
        })
    }
}

/// The grid of a sandbox build
///
/// As `/api/builds/{id}/grid` has it; for an hour, or for as long as its run is kept.
#[utoipa::path(
    get, path = "/api/sandbox/drafts/{id}/grid", tag = "Sandbox", operation_id = "draftGrid",
    params(("id" = Uuid, Path, description = "As the run’s `result` names it.")),
    responses(
        (status = OK, description = "The encoded grid.", content_type = "application/octet-stream"),
        (status = NOT_FOUND, description = "no_draft"),
        (status = INTERNAL_SERVER_ERROR, description = "build_damaged"),
        (status = TOO_MANY_REQUESTS, description = "rate_limited"),
    ),
)]
async fn grid(
    State(app): State<App>,
    address: ClientAddress,
    Path(id): Path<String>,
    Extension(encoding): Extension<Encoding>,
    headers: HeaderMap,
) -> Result<Response, Error> {
    let grid = find_grid(&app, parse_id(&id)?).await?;
    stored_grid_response(&app, address.client(), grid, encoding, DRAFT_CACHE_CONTROL, &headers).await
}

/// The picture of a sandbox build
///
/// As `/api/builds/{id}/image` has it.
#[utoipa::path(
    get, path = "/api/sandbox/drafts/{id}/image", tag = "Sandbox", operation_id = "draftImage",
    params(("id" = Uuid, Path, description = "As the run’s `result` names it."), pictures::PictureQuery),
    responses(
        (status = OK, description = "The picture.", content(("image/webp"), ("image/png"))),
        (status = NOT_MODIFIED, description = "You have it already."),
        (status = NOT_FOUND, description = "no_draft"),
        (status = TOO_MANY_REQUESTS, description = "rate_limited"),
    ),
)]
async fn image(
    State(app): State<App>,
    address: ClientAddress,
    Path(id): Path<String>,
    Query(query): Query<pictures::PictureQuery>,
    headers: HeaderMap,
) -> Result<Response, Error> {
    query.check()?;
    let grid = find_grid(&app, parse_id(&id)?).await?;
    let name = format!("{}-{query}", hex(&grid.digest));
    let representation = Representation {
        kind: query.kind(),
        name: &name,
        encoding: Encoding::Identity,
        cache_control: DRAFT_CACHE_CONTROL,
    };
    if let Some(known) = representation.not_modified(&headers) {
        return Ok(known);
    }
    Ok(representation.answer(pictures::draw(&app, address.client(), grid, query).await?))
}

/// A sandbox build as a file
///
/// As `/api/builds/{id}/export` has it.
#[utoipa::path(
    get, path = "/api/sandbox/drafts/{id}/export", tag = "Sandbox", operation_id = "exportDraft",
    params(("id" = Uuid, Path, description = "As the run’s `result` names it."), exports::ExportQuery),
    responses(
        (status = OK, description = "The file.", content(
            ("application/octet-stream"), ("model/gltf-binary"), ("application/zip"), ("model/stl"),
            (shapes::SpecSchema = "application/json"),
        )),
        (status = NOT_MODIFIED, description = "You have it already."),
        (status = NOT_FOUND, description = "no_draft"),
        (status = TOO_MANY_REQUESTS, description = "rate_limited"),
        (status = UNPROCESSABLE_ENTITY, description = "not_exported"),
    ),
)]
async fn export(
    State(app): State<App>,
    address: ClientAddress,
    Path(id): Path<String>,
    Query(query): Query<exports::ExportQuery>,
    headers: HeaderMap,
) -> Result<Response, Error> {
    let id = parse_id(&id)?;
    let Draft { prompt, model, digest, .. } = drafts::find(&app.pool, id).await?.ok_or_else(no_draft)?;
    let name = format!("{}-{}", file_name_slug(&prompt), file_name_slug(&model));
    let load = find_grid(&app, id);
    let file = exports::ExportedFile {
        digest: &digest,
        name,
        format: query.format,
        cache_control: DRAFT_CACHE_CONTROL,
    };
    exports::answer(&app, address.client(), file, load, &headers).await
}

async fn find_grid(app: &App, id: Uuid) -> Result<StoredGrid, Error> {
    drafts::grid(&app.pool, id).await?.ok_or_else(no_draft)
}

fn parse_id(text: &str) -> Result<Uuid, Error> {
    Uuid::try_parse(text).map_err(|_| no_draft())
}

/// No more of a word goes into the name of a file.
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
            Error::unavailable("busy", "The sandbox is full just now. Please try again in an hour.")
        }
        StoreDraftError::Database(error) => error.into(),
    }
}

fn no_draft() -> Error {
    Error::not_found("There is no such build in the sandbox, or its time is over.").with_code("no_draft")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whatever_was_asked_a_file_gets_a_name() {
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
