//! HTTP: one file per page or API group, in folders as addresses. A file offers `routes()`; this one merges them and dresses them.

// What documents a handler names its types once more.
#![allow(unused_qualifications)]

mod admin;
pub mod assets;
mod body;
mod cards;
mod charts;
mod derived;
mod encoding;
mod error;
mod filters;
mod health;
pub mod layers;
mod metrics;
mod openapi;
mod page;
mod pictures;
mod query;
pub mod server;
mod voter;

/// JSON and files, under `/api`.
mod api {
    pub(in crate::web) mod admin;
    pub(in crate::web) mod arena;
    pub(in crate::web) mod builds;
    pub(in crate::web) mod check;
    pub(in crate::web) mod exports;
    pub(in crate::web) mod generate;
    pub(in crate::web) mod leaderboard;
    pub(in crate::web) mod turntables;
    pub(in crate::web) mod votes;

    pub(in crate::web) mod sandbox {
        pub(in crate::web) mod drafts;
        pub(in crate::web) mod runs;
    }
}

/// What answers with HTML for people.
mod pages {
    pub(in crate::web) mod about;
    pub(in crate::web) mod arena;
    pub(in crate::web) mod blocks;
    pub(in crate::web) mod builds;
    pub(in crate::web) mod chat;
    pub(in crate::web) mod format;
    pub(in crate::web) mod leaderboard;
    pub(in crate::web) mod matchups;
    pub(in crate::web) mod me;
    pub(in crate::web) mod models;
    pub(in crate::web) mod prompts;
    pub(in crate::web) mod sandbox;
}

pub use api::admin::{SeedEstimate, SeedResponse};
pub use error::Error;
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

/// How long a handler may think before the visitor is told that it takes too long.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(30);
/// For whatever does not ask for more.
const BODY_LIMIT: usize = 64 * 1024;

/// Makes what pages need and what takes a moment, before somebody waits for it.
pub fn prepare() {
    pages::blocks::prepare();
}

/// The whole site.
pub fn router(app: App) -> Router {
    with_layers(routes(), app)
}

/// Every page and API group, not yet dressed.
pub fn routes() -> Router<App> {
    let documented_routes =
        documented_routes().into_iter().fold(openapi::base_router(), OpenApiRouter::merge);
    let (routes, document) = documented_routes.split_for_parts();
    let pages = Router::new()
        .merge(pages::me::routes())
        .merge(pages::leaderboard::routes())
        .merge(pages::about::routes())
        .merge(pages::matchups::routes())
        .merge(pages::arena::routes())
        .merge(pages::blocks::routes())
        .merge(pages::builds::routes())
        .merge(cards::routes())
        .merge(pages::prompts::routes())
        .merge(pages::chat::routes())
        .merge(pages::sandbox::routes())
        .merge(admin::routes())
        .merge(assets::routes())
        .merge(openapi::routes(&document));
    pages.layer(layers::deadline(REQUEST_TIMEOUT)).merge(routes)
}

/// Whatever the document tells of, and pages that share a file with it.
fn documented_routes() -> Vec<OpenApiRouter<App>> {
    let with_request_timeout = [
        api::arena::routes(),
        api::leaderboard::routes(),
        pages::models::routes(),
        api::votes::routes(),
        api::builds::routes(),
        api::sandbox::drafts::routes(),
        api::sandbox::runs::routes(),
        api::exports::routes(),
        api::turntables::routes(),
        pages::format::routes(),
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

/// Puts around any routes what holds for every one of them, errors included. From the inside out.
pub fn with_layers(routes: Router<App>, app: App) -> Router {
    let sessions = voter::sessions(&app);
    let site = app.config.public_url.clone();
    let metrics = app.metrics.clone();
    routes
        .fallback(page_not_found)
        .with_state(app)
        .layer(sessions)
        .layer(from_fn(layers::run_to_end))
        .layer(CsrfLayer::new())
        .layer(DefaultBodyLimit::max(BODY_LIMIT))
        .layer(layers::catch_panics())
        .layer(from_fn(error::render))
        .layer(from_fn(move |request, next| page::provide_location(site.clone(), request, next)))
        .layer(layers::compress())
        .layer(map_request(encoding::settle))
        .layer(map_response(layers::add_security_headers))
        .layer(from_fn_with_state(metrics, layers::observe))
}

async fn page_not_found(request: Request) -> Response {
    match without_trailing_slash(&request) {
        Some(address) => Redirect::permanent(&address).into_response(),
        None => Error::not_found("There is no such page here.").into_response(),
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
