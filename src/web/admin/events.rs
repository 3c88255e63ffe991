//! `GET /api/admin/events`: what changes in the matrix, as it changes.

use std::collections::HashMap;
use std::convert::Infallible;
use std::time::Duration;

use axum::extract::State;
use axum::response::sse::{Event, KeepAlive};
use axum::response::{IntoResponse, Sse};
use futures_util::stream;
use tokio::time::sleep;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::AsAdmin;
use super::coverage::{Cell, Matrix, Sum};
use crate::app::App;
use crate::web::Error;

/// Between looks. Other servers' work is seen as well.
const GLANCE: Duration = Duration::from_secs(1);

/// A browser asks again by itself; by then a session that has ended is noticed.
const GLANCES: u32 = 600;

/// How soon it asks again. Browsers would take longer, and tell that the connection is lost.
const AGAIN: Duration = Duration::from_millis(500);

pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(events))
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
async fn events(State(app): State<App>, _admin: AsAdmin) -> Result<impl IntoResponse, Error> {
    let watch = Watch { app, seen: None, sum: None, glances: 0 };
    let events = stream::unfold(watch, |mut watch| async move {
        let event = watch.next().await?.retry(AGAIN);
        Some((Ok::<_, Infallible>(event), watch))
    });
    // A proxy is not to hold events back until there are many.
    Ok(([("x-accel-buffering", "no")], Sse::new(events).keep_alive(KeepAlive::default())))
}

type Seen = HashMap<(String, String), Cell>;

struct Watch {
    app: App,
    seen: Option<Seen>,
    sum: Option<Sum>,
    glances: u32,
}

impl Watch {
    /// The next event; none when it is time to end.
    async fn next(&mut self) -> Option<Event> {
        while self.glances < GLANCES {
            if self.glances > 0 {
                tokio::select! {
                    () = sleep(GLANCE) => {}
                    () = self.app.closing.cancelled() => return None,
                }
            }
            self.glances += 1;
            let Ok(matrix) = Matrix::read(&self.app).await else { continue };
            if let Some(event) = self.changes(&matrix) {
                return Some(event);
            }
        }
        None
    }

    fn changes(&mut self, matrix: &Matrix) -> Option<Event> {
        let now: Seen = matrix
            .cells()
            .into_iter()
            .map(|cell| ((cell.prompt_id.clone(), cell.model_key.clone()), cell))
            .collect();
        let before = self.seen.replace(now.clone());
        let first = before.is_none();
        let before = before.unwrap_or_default();
        let gone =
            before.iter().filter(|(place, _)| !now.contains_key(*place)).map(|(_, cell)| cell.emptied());
        let changed = now.iter().filter(|(place, cell)| before.get(*place) != Some(cell));
        let cells: Vec<_> = changed.map(|(_, cell)| cell.clone()).chain(gone).collect();
        let same_sum = self.sum.replace(matrix.sum.clone()).as_ref() == Some(&matrix.sum);
        if !first && cells.is_empty() && same_sum {
            return None;
        }
        let told = serde_json::json!({ "whole": first, "cells": cells, "sum": matrix.sum });
        Event::default().event("matrix").json_data(told).ok()
    }
}
