//! The admin's API, which the console uses, too.

pub(in crate::web) mod agents;
mod audit;
mod budgets;
mod builds;
pub(in crate::web) mod catalog;
pub(in crate::web) mod coverage;
mod events;
mod import;
pub(in crate::web) mod jobs;
mod judge;
mod poller;
mod probe;
pub(in crate::web) mod queue;
mod seed;
mod session;
pub(in crate::web) mod status;
pub(in crate::web) mod votes;

use std::time::Duration;

use utoipa_axum::router::OpenApiRouter;

use crate::app::App;
use crate::web::layers;
use crate::worker::seeding;

pub use self::jobs::{JobsProgressResponse, JudgedView, ProviderProgressView};
pub use self::judge::{JudgeEstimateView, JudgeResponse};
pub use self::queue::PausesView;
pub use self::seed::{LeftOutView, SeedEstimate, SeedJobView, SeedResponse};
pub(in crate::web) use self::session::{RequireAdmin, has_admin_token};

/// Long enough for the largest import over a slow connection. A body that stalls ends sooner.
const UPLOAD_TIMEOUT: Duration = Duration::from_secs(15 * 60);

pub(in crate::web) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .merge(status::routes())
        .merge(coverage::routes())
        .merge(catalog::routes())
        .merge(agents::routes())
        .merge(jobs::routes())
        .merge(judge::routes())
        .merge(budgets::routes())
        .merge(queue::routes())
        .merge(builds::routes())
        .merge(audit::routes())
        .merge(votes::routes())
        .merge(events::routes())
        .layer(layers::deadline(crate::web::REQUEST_TIMEOUT))
        .merge(probe::routes().layer(layers::deadline(probe::PROBE_DEADLINE)))
        .merge(seed::routes().layer(layers::deadline(seeding::SEED_TIMEOUT + Duration::from_secs(20))))
        .merge(import::routes().layer(layers::deadline(UPLOAD_TIMEOUT)))
}
