//! Authorisation of admins: by the token as a bearer token, or by a session of the console.

use axum::extract::FromRequestParts;
use axum::http::header::WWW_AUTHENTICATE;
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue};

use crate::app::App;
use crate::arena::audit::{Admin, AdminChannel};
use crate::limits::TokenUse;
use crate::web::bearer::bearer_token;
use crate::web::voter::{ClientAddress, Visitor};
use crate::web::{Error, ErrorCode};

/// Accepts requests of admins only.
pub(in crate::web) struct RequireAdmin(pub Admin);

impl FromRequestParts<App> for RequireAdmin {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Error> {
        // Commands put it there when they call the routes in their own process. No request over HTTP can.
        if let Some(admin) = parts.extensions.get::<Admin>() {
            return Ok(Self(*admin));
        }
        let token = app.config.admin_token.as_ref().ok_or(ErrorCode::AdminOff)?;
        let visitor = Visitor::from_request_parts(parts, app).await?;
        let via = match bearer_token(&parts.headers) {
            Some(sent) if visitor.client_address().knows_token(app, TokenUse::Bearer, token, sent)? => {
                AdminChannel::Api
            }
            Some(_) => return Err(unauthorized(ErrorCode::BadToken)),
            None if visitor.is_admin(token).await? => AdminChannel::Console,
            None => return Err(unauthorized(ErrorCode::NoToken)),
        };
        Ok(Self(Admin { via, address: Some(visitor.address()) }))
    }
}

/// Whether a request carries the admin token. One without any token does not, and a wrong one is refused.
pub(in crate::web) fn has_admin_token(
    app: &App,
    address: &ClientAddress,
    headers: &HeaderMap,
) -> Result<bool, Error> {
    let Some(sent) = bearer_token(headers) else { return Ok(false) };
    let token = app.config.admin_token.as_ref().ok_or(ErrorCode::AdminOff)?;
    if address.knows_token(app, TokenUse::Bearer, token, sent)? {
        return Ok(true);
    }
    Err(unauthorized(ErrorCode::BadToken))
}

fn unauthorized(code: ErrorCode) -> Error {
    let message = format!(
        "{} Send the value of ADMIN_TOKEN as Authorization: Bearer, or sign in at /admin.",
        code.sentence()
    );
    Error::new(code, message)
        .with_header(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer realm=\"buildoff\""))
}
