//! `POST /api/check`: a verdict on any text that holds a spec.

use axum::Router;
use axum::extract::{Query, Request, State};
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use serde::Deserialize;

use super::body::{self, Large};
use super::query::flag;
use super::{Error, layers};
use crate::app::App;
use crate::voxel::{self, Code, GridSize, Palette, Report, Verdict};

/// A list of cells is far larger than the spec it comes from.
const MAX_CELLS: u32 = 1_000_000;

pub(super) fn routes() -> Router<App> {
    Router::new()
        .route("/api/check", post(check))
        .layer(layers::deadline(body::PATIENCE))
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Parameters {
    grid_size: Option<GridSize>,
    palette: Option<Palette>,
    #[serde(default, deserialize_with = "flag")]
    cells: bool,
}

async fn check(
    State(app): State<App>,
    Query(parameters): Query<Parameters>,
    request: Request,
) -> Result<Response, Error> {
    let limit = app.config.check_max_bytes;
    let size = parameters.grid_size.unwrap_or(app.config.arena.grid);
    let palette = parameters.palette.unwrap_or(app.config.arena.palette);
    let large = body::read(&app.memory, request, limit).await?;
    let answer = move || {
        let verdict = match large {
            Some(Large { bytes, .. }) => voxel::check(&bytes, size, palette, limit),
            None => Verdict::too_large(limit),
        };
        answer(&verdict, size, palette, parameters.cells)
    };
    app.work.run(answer).await?
}

fn answer(verdict: &Verdict, size: GridSize, palette: Palette, cells: bool) -> Result<Response, Error> {
    let block_count = verdict.census().map_or(0, |census| census.block_count);
    if cells && block_count > MAX_CELLS {
        let message = format!(
            "The build has {block_count} blocks, and cells=1 lists at most {MAX_CELLS} here. \
             On the command line, buildoff check --cells lists them all."
        );
        return Err(Error::bad_request("too_many_cells", message));
    }
    let report = Report::new(verdict, size, palette, cells);
    let json = serde_json::to_vec(&report).map_err(Error::internal)?;
    Ok((status(verdict), [(CONTENT_TYPE, "application/json")], json).into_response())
}

/// What could be read is an answer, good or not; what could not is the client's error.
fn status(verdict: &Verdict) -> StatusCode {
    match verdict.refusal().map(|refusal| refusal.code) {
        Some(Code::TooLarge) => StatusCode::PAYLOAD_TOO_LARGE,
        Some(code) if !code.is_rule() => StatusCode::BAD_REQUEST,
        _ => StatusCode::OK,
    }
}
