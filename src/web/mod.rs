//! HTTP: every page and every address of the API.
//!
//! Folders and files follow the addresses. A file offers `routes()`; this one merges them, and puts the layers around
//! them that hold for every request.

// `#[utoipa::path]` repeats the types of its handler with their full names.
#![allow(unused_qualifications)]

mod a2a;
mod api;
pub mod assets;
mod bearer;
mod body;
mod cards;
mod charts;
mod data_rate;
mod derived;
mod encoding;
mod error;
mod filters;
mod health;
pub mod layers;
mod metrics;
mod openapi;
mod order_rights;
mod page;
mod pager;
mod pages;
mod pictures;
mod query;
pub mod server;
mod terrains;
mod textures;
mod this_machine;
mod views;
mod voter;

pub use api::admin::{
    JobsProgressResponse, JudgeEstimateView, JudgeResponse, JudgedView, LeftOutView, PausesView,
    ProviderProgressView, SeedEstimate, SeedJobView, SeedResponse,
};
pub use error::{Error, ErrorCode};
pub use page::{Page, ShareCard};

use std::time::Duration;

use axum::Router;
use axum::extract::{DefaultBodyLimit, Request};
use axum::http::Method;
use axum::middleware::{from_fn, from_fn_with_state, map_request, map_response};
use axum::response::{IntoResponse, Redirect, Response};

use tower_http::csrf::CsrfLayer;
use utoipa_axum::router::OpenApiRouter;

use crate::app::App;

/// How long a handler may take.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(30);
/// For every address that does not set a limit of its own.
const BODY_LIMIT: usize = 64 * 1024;

/// Paints the textures, so that no visitor has to wait for them.
pub fn prepare() {
    textures::prepare();
}

/// The whole site.
pub fn router(app: App) -> Router {
    with_layers(routes(), app)
}

/// The address of the metrics alone, for a listener of its own.
pub fn metrics_router(app: App) -> Router {
    with_layers(metrics::own_routes(), app)
}

/// Every page and every address of the API, without the layers around them.
pub fn routes() -> Router<App> {
    let documented_routes =
        documented_routes().into_iter().fold(openapi::base_router(), OpenApiRouter::merge);
    let (documented_routes, document) = documented_routes.split_for_parts();
    let undocumented_routes = Router::new()
        .merge(pages::arena::routes())
        .merge(pages::about::routes())
        .merge(pages::admin::routes())
        .merge(pages::agents::routes())
        .merge(pages::assessments::routes())
        .merge(openapi::routes(&document))
        .merge(pages::blocks::routes())
        .merge(pages::builds::routes())
        .merge(cards::routes())
        .merge(pages::decisions::routes())
        .merge(pages::format::routes())
        .merge(pages::judges::routes())
        .merge(pages::judge::routes())
        .merge(pages::leaderboard::routes())
        .merge(pages::matchups::routes())
        .merge(pages::me::routes())
        .merge(pages::models::routes())
        .merge(pages::prompts::routes())
        .merge(pages::runs::routes())
        .merge(pages::chat::routes())
        .merge(pages::sandbox::routes())
        .merge(pages::tasks::routes())
        .merge(pages::world::routes())
        .merge(assets::routes())
        .merge(textures::routes());
    undocumented_routes.layer(layers::deadline(REQUEST_TIMEOUT)).merge(documented_routes).merge(a2a::routes())
}

/// The routes that `/openapi.json` describes, in the order in which it lists them.
fn documented_routes() -> Vec<OpenApiRouter<App>> {
    let with_request_timeout = [
        api::arena::routes(),
        api::judge::routes(),
        api::leaderboard::routes(),
        api::models::routes(),
        api::agents::routes(),
        api::boards::routes(),
        api::assessments::routes(),
        api::runs::routes(),
        api::votes::routes(),
        api::judgements::routes(),
        api::judges::routes(),
        api::decisions::routes(),
        api::dataset::routes(),
        api::builds::routes(),
        api::sandbox::drafts::routes(),
        api::sandbox::runs::routes(),
        api::exports::routes(),
        api::turntables::routes(),
        api::schema::routes(),
        health::routes(),
        metrics::routes(),
    ];
    let with_own_timeouts = [
        api::check::routes(),
        api::admin::routes(),
        api::generate::routes(),
        api::sandbox::drafts::upload_routes(),
    ];
    let with_request_timeout =
        with_request_timeout.map(|group| group.layer(layers::deadline(REQUEST_TIMEOUT)));
    with_request_timeout.into_iter().chain(with_own_timeouts).collect()
}

/// Puts the layers around any routes, from the inside out. They hold for errors, too.
pub fn with_layers(routes: Router<App>, app: App) -> Router {
    let sessions = voter::sessions(&app);
    let is_https = app.config.is_https();
    let site = app.config.public_url.clone();
    let metrics = app.metrics.clone();
    let database = app.database_health.clone();
    routes
        .fallback(page_not_found)
        .with_state(app)
        .layer(sessions)
        .layer(from_fn(layers::report_session_errors))
        .layer(map_request(move |request| async move {
            if is_https { voter::accept_old_cookie_name(request) } else { request }
        }))
        .layer(from_fn(layers::run_to_end))
        .layer(CsrfLayer::new())
        .layer(DefaultBodyLimit::max(BODY_LIMIT))
        .layer(layers::catch_panics())
        .layer(from_fn_with_state(database, error::render))
        .layer(from_fn(move |request, next| page::provide_location(site.clone(), request, next)))
        .layer(layers::compress())
        .layer(map_request(encoding::settle))
        .layer(map_response(move |response| async move { layers::add_security_headers(response, is_https) }))
        .layer(from_fn_with_state(metrics, layers::observe))
}

async fn page_not_found(request: Request) -> Response {
    match without_trailing_slash(&request) {
        Some(address) => Redirect::permanent(&address).into_response(),
        None => Error::from(ErrorCode::NotFound).into_response(),
    }
}

/// The same address with its trailing slashes gone. An address that a browser would take for another host
/// (`//elsewhere/`) is left alone.
fn without_trailing_slash(request: &Request) -> Option<String> {
    let path = request.uri().path();
    let trimmed = path.trim_end_matches('/');
    let is_local = trimmed.starts_with('/') && !trimmed.starts_with("//") && !trimmed.contains('\\');
    let safe_method = matches!(*request.method(), Method::GET | Method::HEAD);
    if trimmed == path || !is_local || !safe_method {
        return None;
    }
    Some(match request.uri().query() {
        Some(query) => format!("{trimmed}?{query}"),
        None => trimmed.to_owned(),
    })
}
