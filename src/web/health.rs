//! `/healthz`: the process answers. `/readyz`: and so does what it stands on.

use axum::extract::State;
use axum::http::header::CACHE_CONTROL;
use axum::response::IntoResponse;
use axum::routing::get;
use axum::{Json, Router};
use serde::Serialize;

use super::Error;
use crate::app::App;
use crate::db;

pub(super) fn routes() -> Router<App> {
    Router::new().route("/healthz", get(healthz)).route("/readyz", get(readyz))
}

#[derive(Serialize)]
struct Health {
    status: &'static str,
}

async fn healthz() -> impl IntoResponse {
    told("ok")
}

async fn readyz(State(app): State<App>) -> Result<impl IntoResponse, Error> {
    match db::ready(&app.pool).await {
        Ok(()) => Ok(told("ready")),
        Err(not_ready) => Err(Error::unavailable("not_ready", not_ready.to_string())),
    }
}

fn told(status: &'static str) -> impl IntoResponse {
    ([(CACHE_CONTROL, "no-store")], Json(Health { status }))
}
