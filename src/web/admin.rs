//! The admin's console at `/admin`: pages over the admin's API. Without script they say how everything stands;
//! with it they are live, and what the API does can be done.

mod audit;
mod jobs;
mod matrix;
mod models;
mod places;
mod prompts;
mod session;

use axum::Router;
use axum::http::HeaderValue;
use axum::http::header::CACHE_CONTROL;
use axum::middleware::map_response;
use axum::response::Response;

use crate::app::App;

pub(super) fn routes() -> Router<App> {
    Router::new()
        .merge(session::routes())
        .merge(matrix::routes())
        .merge(places::routes())
        .merge(jobs::routes())
        .merge(models::routes())
        .merge(prompts::routes())
        .merge(audit::routes())
        .layer(map_response(no_store))
}

async fn no_store(mut response: Response) -> Response {
    response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}
