//! The admin's console at `/admin`. Its pages show the data of the admin's API. With JavaScript they are live, and call
//! the API to make changes.

mod agents;
mod audit;
mod jobs;
mod matrix;
mod models;
mod places;
mod prompts;
mod session;
mod votes;

use axum::Router;
use axum::middleware::map_response;
use axum::response::{IntoResponse, Response};

use crate::app::App;
use crate::web::derived::NO_STORE;

pub(in crate::web) fn routes() -> Router<App> {
    Router::new()
        .merge(session::routes())
        .merge(matrix::routes())
        .merge(places::routes())
        .merge(jobs::routes())
        .merge(models::routes())
        .merge(agents::routes())
        .merge(prompts::routes())
        .merge(votes::routes())
        .merge(audit::routes())
        .layer(map_response(no_store))
}

async fn no_store(response: Response) -> impl IntoResponse {
    ([NO_STORE], response)
}
