//! The admin's API, which the console uses too. One file per thing that can be done.

mod builds;
pub(super) mod catalog;
pub(super) mod coverage;
mod events;
mod import;
pub(super) mod jobs;
pub(super) mod record;
mod seed;
mod session;
mod shared;
mod status;

use std::time::Duration;

use utoipa_axum::router::OpenApiRouter;

use super::layers;
use crate::app::App;
use crate::worker::seeding;

pub use self::seed::{SeedEstimate, SeedResponse};
pub(super) use self::session::RequireAdmin;

/// For the largest import over a slow line; a body that stalls ends sooner.
const UPLOAD_TIMEOUT: Duration = Duration::from_secs(15 * 60);

pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .merge(status::routes())
        .merge(coverage::routes())
        .merge(catalog::routes())
        .merge(jobs::routes())
        .merge(builds::routes())
        .merge(record::routes())
        .merge(events::routes())
        .layer(layers::deadline(super::REQUEST_TIMEOUT))
        .merge(seed::routes().layer(layers::deadline(seeding::SEED_TIMEOUT + Duration::from_secs(20))))
        .merge(import::routes().layer(layers::deadline(UPLOAD_TIMEOUT)))
}
