//! `GET /api/admin/events`: changes of the coverage, as a stream.

use std::collections::HashMap;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::{Extension, State};
use axum::response::sse::{Event, KeepAlive};
use axum::response::{IntoResponse, Sse};
use futures_util::stream;
use serde_json::json;
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::RequireAdmin;
use super::coverage::{CoverageCellView, CoverageMatrix, CoverageSumView};
use super::poller::{SharedPoller, Watcher};
use super::queue::PausesView;
use crate::app::App;
use crate::web::Error;

/// Between two readings of the database, which also holds the progress of other servers.
const POLL_INTERVAL: Duration = Duration::from_secs(1);

/// Browsers reconnect by themselves, so a session that has expired is noticed after this time.
const STREAM_LIFETIME: Duration = Duration::from_secs(10 * 60);

/// Browsers would wait longer by default, and the console would say that the connection is lost.
const RECONNECT_DELAY: Duration = Duration::from_millis(500);

pub(super) fn routes() -> OpenApiRouter<App> {
    // All open tabs share one reader.
    OpenApiRouter::new()
        .routes(routes!(events))
        .layer(Extension(SharedPoller::<MatrixSnapshot>::every(POLL_INTERVAL)))
}

/// Stream the coverage
///
/// Server-sent events named `matrix`: `{ whole, cells, sum, pauses }`. The first contains every cell, each later one only the
/// cells that have changed.
#[utoipa::path(
    get, path = "/api/admin/events", tag = "Admin", operation_id = "adminEvents",
    responses((status = OK, description = "Events, for up to ten minutes.", body = String, content_type = "text/event-stream")),
)]
async fn events(
    State(app): State<App>,
    Extension(shared): Extension<SharedPoller<MatrixSnapshot>>,
    _admin: RequireAdmin,
) -> Result<impl IntoResponse, Error> {
    let reader = app.clone();
    let read = move || {
        let app = reader.clone();
        async move { CoverageMatrix::read(&app).await.ok().map(MatrixSnapshot::of) }
    };
    let watcher = shared.watch(read, app.shutdown.clone());
    let watch = MatrixStream {
        watcher,
        sent: None,
        until: Instant::now() + STREAM_LIFETIME,
        closing: app.shutdown.clone(),
    };
    let events = stream::unfold(watch, |mut watch| async move {
        let event = watch.next().await?.retry(RECONNECT_DELAY);
        Some((Ok::<_, Infallible>(event), watch))
    });
    // Asks proxies not to buffer events.
    Ok(([("x-accel-buffering", "no")], Sse::new(events).keep_alive(KeepAlive::default())))
}

/// The coverage at one reading.
#[derive(PartialEq)]
struct MatrixSnapshot {
    /// By prompt and model.
    cells: HashMap<(String, String), CoverageCellView>,
    sum: CoverageSumView,
    pauses: PausesView,
}

/// The stream of one client.
struct MatrixStream {
    watcher: Watcher<MatrixSnapshot>,
    /// The snapshot that the client has.
    sent: Option<Arc<MatrixSnapshot>>,
    until: Instant,
    closing: CancellationToken,
}

impl MatrixSnapshot {
    fn of(matrix: CoverageMatrix) -> Self {
        let cells = matrix.cells().into_iter();
        let cells = cells.map(|cell| ((cell.prompt_id.clone(), cell.model_key.clone()), cell)).collect();
        Self { cells, sum: matrix.sum, pauses: matrix.pauses }
    }

    /// The cells that differ from an earlier snapshot.
    fn changes(&self, before: &Self) -> Vec<CoverageCellView> {
        let changed = self.cells.iter().filter(|(place, cell)| before.cells.get(*place) != Some(cell));
        let gone = before.cells.iter().filter(|(place, _)| !self.cells.contains_key(*place));
        changed.map(|(_, cell)| cell.clone()).chain(gone.map(|(_, cell)| cell.cleared())).collect()
    }
}

impl MatrixStream {
    /// The next event; none when the stream ends.
    async fn next(&mut self) -> Option<Event> {
        let now = tokio::select! {
            now = self.watcher.changed() => now?,
            () = sleep_until(self.until) => return None,
            () = self.closing.cancelled() => return None,
        };
        let before = self.sent.replace(Arc::clone(&now));
        let cells = match &before {
            Some(before) => now.changes(before),
            None => now.cells.values().cloned().collect(),
        };
        let sent = json!({
            "whole": before.is_none(), "cells": cells, "sum": now.sum, "pauses": now.pauses,
        });
        Event::default().event("matrix").json_data(sent).ok()
    }
}
