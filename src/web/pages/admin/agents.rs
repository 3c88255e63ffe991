//! `/admin/agents`: the register of agents, and tokens for their owners.

use askama::Template;
use askama_web::WebTemplate;
use axum::Router;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::routing::get;

use super::session::SignedIn;
use crate::app::App;
use crate::arena::agents;
use crate::arena::agents::tokens::{DEFAULT_RUNS_PER_DAY, MAX_NAME_CHARS, MAX_RUNS_PER_DAY};
use crate::web::api::admin::agents::AdminAgentView;
use crate::web::this_machine::is_at_this_machine;
use crate::web::voter::ClientAddress;
use crate::web::{Error, Page, filters};

pub(super) fn routes() -> Router<App> {
    Router::new().route("/admin/agents", get(agents))
}

#[derive(Template, WebTemplate)]
#[template(path = "admin/agents.html")]
struct AdminAgentsPage {
    page: Page,
    agents: Vec<AdminAgentView>,
    /// Whether addresses in private networks are taken.
    takes_private: bool,
}

async fn agents(
    State(app): State<App>,
    _: SignedIn,
    ClientAddress(peer): ClientAddress,
    headers: HeaderMap,
) -> Result<AdminAgentsPage, Error> {
    app.worker.refresh_agents().await?;
    let agents = agents::all(&app.pool).await?.iter().map(|agent| AdminAgentView::of(&app, agent)).collect();
    let takes_private = app.config.sandbox.local || is_at_this_machine(&app, &headers, peer);
    Ok(AdminAgentsPage { page: Page::at("/admin/agents"), agents, takes_private })
}
