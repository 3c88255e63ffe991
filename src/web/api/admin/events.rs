//! `GET /api/admin/events`: what changes in the matrix, as it changes.

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
use crate::app::App;
use crate::web::Error;

/// Between looks. Other servers' work is seen as well.
const POLL_INTERVAL: Duration = Duration::from_secs(1);

/// A browser asks again by itself; by then a session that has ended is noticed.
const STREAM_LIFETIME: Duration = Duration::from_secs(10 * 60);

/// How soon it asks again. Browsers would take longer, and tell that the connection is lost.
const RECONNECT_DELAY: Duration = Duration::from_millis(500);

pub(super) fn routes() -> OpenApiRouter<App> {
    // One look for all tabs that are open on this server.
    OpenApiRouter::new()
        .routes(routes!(events))
        .layer(Extension(SharedPoller::<MatrixSnapshot>::every(POLL_INTERVAL)))
}

/// The same, as it changes
///
/// Server-sent events named `matrix`: `{ whole, cells, sum }`. The first holds every cell, each later one only those that
/// have changed.
#[utoipa::path(
    get, path = "/api/admin/events", tag = "Admin", operation_id = "adminEvents",
    security(("adminToken" = [])),
    responses((status = OK, description = "Events, until one side leaves.", body = String, content_type = "text/event-stream")),
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
    // A proxy is not to hold events back until there are many.
    Ok(([("x-accel-buffering", "no")], Sse::new(events).keep_alive(KeepAlive::default())))
}

/// The matrix as it was at one look.
#[derive(PartialEq)]
struct MatrixSnapshot {
    /// By prompt and model.
    cells: HashMap<(String, String), CoverageCellView>,
    sum: CoverageSumView,
}

/// One who watches.
struct MatrixStream {
    watcher: Watcher<MatrixSnapshot>,
    /// What they know.
    sent: Option<Arc<MatrixSnapshot>>,
    until: Instant,
    closing: CancellationToken,
}

impl MatrixSnapshot {
    fn of(matrix: CoverageMatrix) -> Self {
        let cells = matrix.cells().into_iter();
        let cells = cells.map(|cell| ((cell.prompt_id.clone(), cell.model_key.clone()), cell)).collect();
        Self { cells, sum: matrix.sum }
    }

    /// The cells that are other than they were.
    fn changes(&self, before: &Self) -> Vec<CoverageCellView> {
        let changed = self.cells.iter().filter(|(place, cell)| before.cells.get(*place) != Some(cell));
        let gone = before.cells.iter().filter(|(place, _)| !self.cells.contains_key(*place));
        changed.map(|(_, cell)| cell.clone()).chain(gone.map(|(_, cell)| cell.cleared())).collect()
    }
}

impl MatrixStream {
    /// The next event; none when it is time to end.
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
        let sent = json!({ "whole": before.is_none(), "cells": cells, "sum": now.sum });
        Event::default().event("matrix").json_data(sent).ok()
    }
}
