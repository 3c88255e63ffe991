//! `POST /api/check`: whether a text or a file is a valid build.

use axum::body::Body;
use axum::extract::{Extension, Query, Request, State};
use axum::http::header::{CONTENT_ENCODING, CONTENT_TYPE, VARY};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;
use utoipa::IntoParams;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::app::App;
use crate::arena::Settings;
use crate::web::body::{self, LargeBody, MeteredBody};
use crate::web::encoding::Encoding;
use crate::web::encoding::NoTransform;
use crate::web::openapi::{codes, shapes};
use crate::web::query::flag;
use crate::web::voter::ClientAddress;
use crate::web::{Error, ErrorCode, layers};
use voxel::codec::{self, CompressionLevel};
use voxel::{self, Grid, GridSize, Palette, RejectionCode, Report, Verdict};

/// The cells of a full 64³ grid. A list of cells is far larger than the spec it comes from.
const MAX_CELLS: u32 = 1 << 18;

/// Shorter answers are not worth compressing.
const COMPRESSION_MIN_BYTES: usize = 1 << 10;

pub(in crate::web) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(check)).layer(layers::deadline(body::BODY_TIMEOUT))
}

#[derive(Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct CheckQuery {
    /// The grid to build in. Default: the arena’s.
    #[param(inline, example = 32)]
    grid_size: Option<GridSize>,
    /// The blocks to build with. Default: the arena’s.
    #[param(inline, example = "simple")]
    palette: Option<Palette>,
    /// 1 lists every block with its position, up to 262,144 blocks.
    #[serde(default, deserialize_with = "flag")]
    #[param(value_type = u8, minimum = 0, maximum = 1, default = 0)]
    cells: bool,
    /// 1 adds the encoded grid in base64, as from `/api/builds/{id}/grid`, even if the build breaks a rule.
    #[serde(default, deserialize_with = "flag")]
    #[param(value_type = u8, minimum = 0, maximum = 1, default = 0)]
    encoded: bool,
}

/// Check a build
///
/// Takes any text that contains a spec, with or without prose around it, plain or gzipped, or a .schem, .litematic or
/// .vox file. Reports whether the build is valid, the number of each block, what was ignored or replaced, and which rule
/// it breaks. Nothing is stored.
#[utoipa::path(
    post, path = "/api/check", tag = "Task format", operation_id = "check",
    params(CheckQuery),
    request_body(
        description = "The text or the file. The content type is ignored; the first bytes decide.",
        content(
            (shapes::SpecSchema = "application/json"), (String = "text/plain"), ("application/gzip"),
            ("application/octet-stream"),
        ),
    ),
    responses(
        (status = OK, description = "The report. `ok` says whether the build is valid, `error` which rule it breaks: \
            `no_blocks`, `too_many_blocks`, `too_few_blocks`, `footprint_too_small` or `height_too_small`.",
            body = shapes::ReportSchema),
        (status = BAD_REQUEST, description = "The input \
            could not be read. `error` says why: `bad_json`, `bad_spec`, `bad_file`, `does_not_fit` or `too_much_work`.", body = shapes::ReportSchema),
        (status = PAYLOAD_TOO_LARGE, description = "The input is too large (`too_large`).", body = shapes::ReportSchema),
    ),
    extensions(("x-errors" = json!(codes([
        ErrorCode::BodyStalled, ErrorCode::UnsupportedEncoding, ErrorCode::RateLimited,
        ErrorCode::TooManyCells, ErrorCode::BodyCutOff,
    ])))),
)]
async fn check(
    State(app): State<App>,
    address: ClientAddress,
    Query(CheckQuery { grid_size, palette, cells, encoded }): Query<CheckQuery>,
    Extension(encoding): Extension<Encoding>,
    request: Request,
) -> Result<Response, Error> {
    let limit = app.config.check_max_bytes;
    let Settings { grid: size, palette, .. } = app.config.arena.with(grid_size, palette);
    let client = address.client();
    let body = body::read(app.memory.of_client(client), request, limit).await?;
    let empty = app.memory.of_client(client);
    let judge = move || {
        let (verdict, mut memory) = match body {
            Some(LargeBody { bytes, memory }) => (voxel::check(&bytes, size, palette, limit), memory),
            None => (Verdict::too_large(limit), empty),
        };
        let mut json = report(&verdict, size, palette, cells)?;
        if let Some(grid) = verdict.grid().filter(|_| encoded) {
            add_grid(&mut json, grid);
        }
        // On a worker thread, because the report may be large.
        let is_packed = encoding == Encoding::Brotli && json.len() > COMPRESSION_MIN_BYTES;
        if is_packed {
            json = codec::pack(&json, CompressionLevel::Fast);
        }
        // The body is gone by now, and its memory becomes that of the report.
        memory.resize(json.len())?;
        Ok::<_, Error>((status(&verdict), json, is_packed, memory))
    };
    let (status, json, is_packed, memory) = app.work.run(client, judge).await??;
    let body = Body::new(MeteredBody::new(json, memory));
    let headers = [(CONTENT_TYPE, "application/json"), (VARY, "accept-encoding")];
    let mut response = (status, headers, body).into_response();
    if is_packed {
        response.headers_mut().insert(CONTENT_ENCODING, HeaderValue::from_static("br"));
    }
    response.extensions_mut().insert(NoTransform);
    Ok(response)
}

fn report(verdict: &Verdict, size: GridSize, palette: Palette, cells: bool) -> Result<Vec<u8>, Error> {
    let block_count = verdict.stats().map_or(0, |stats| stats.block_count);
    if cells && block_count > MAX_CELLS {
        let message = format!(
            "The build has {block_count} blocks, but cells=1 lists at most {MAX_CELLS}. \
             To list them all, run buildoff check --cells."
        );
        return Err(Error::new(ErrorCode::TooManyCells, message));
    }
    serde_json::to_vec(&Report::new(verdict, size, palette, cells)).map_err(Error::internal)
}

/// Adds the encoded grid as the last field of a JSON object.
fn add_grid(json: &mut Vec<u8>, grid: &Grid) {
    json.pop();
    json.extend(br#","grid":""#);
    json.extend(STANDARD.encode(codec::encode(grid)).into_bytes());
    json.extend(br#""}"#);
}

/// A report on what could be read is a success, even if the build is invalid.
fn status(verdict: &Verdict) -> StatusCode {
    match verdict.rejection().map(|rejection| rejection.code) {
        Some(RejectionCode::TooLarge) => StatusCode::PAYLOAD_TOO_LARGE,
        Some(code) if !code.is_rule() => StatusCode::BAD_REQUEST,
        _ => StatusCode::OK,
    }
}
