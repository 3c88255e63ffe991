//! What whoever sends a request may have assessed.

use axum::extract::FromRequestParts;
use axum::http::HeaderMap;
use axum::http::request::Parts;

use super::api::admin::has_admin_token;
use super::bearer::bearer_token;
use super::this_machine::is_at_this_machine;
use super::voter::ClientAddress;
use super::{Error, ErrorCode};
use crate::app::App;
use crate::arena::agents::tokens;
use crate::arena::audit::Admin;
use crate::assessor::OrderRights;
use crate::config::AssessAccess;
use crate::limits::LimitedAction;

/// The rights of whoever sends a request to the API.
pub(super) struct MayOrder(pub OrderRights);

impl FromRequestParts<App> for MayOrder {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Error> {
        // Commands call the API in their own process.
        if parts.extensions.get::<Admin>().is_some() {
            return Ok(Self(OrderRights::Admin { allows_private: true }));
        }
        let address = ClientAddress::from_request_parts(parts, app).await?;
        address.check_limit(app, LimitedAction::Agent)?;
        Ok(Self(order_rights(app, &address, &parts.headers).await?))
    }
}

/// With a token, what it allows; a wrong one is refused rather than taken for none. Without one, what is open.
pub(super) async fn order_rights(
    app: &App,
    address: &ClientAddress,
    headers: &HeaderMap,
) -> Result<OrderRights, Error> {
    let is_here = is_at_this_machine(app, headers, address.0);
    if let Some(token) = bearer_token(headers) {
        if tokens::is_one(token) {
            let owner = tokens::owner_of(&app.pool, token).await?.ok_or(ErrorCode::BadAgentToken)?;
            return Ok(OrderRights::Owner { token: owner.token, agent: owner.agent });
        }
        has_admin_token(app, address, headers)?;
        return Ok(OrderRights::Admin { allows_private: is_here || app.config.sandbox.local });
    }
    Ok(match app.config.assess.access {
        AssessAccess::ThisMachine if is_here => OrderRights::ThisMachine,
        AssessAccess::ThisMachine | AssessAccess::Nobody => OrderRights::Nobody,
        AssessAccess::Everybody => OrderRights::Anybody,
    })
}
