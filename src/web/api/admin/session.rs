//! Who is an admin: whoever sends the token, or has typed it into this browser some hours ago at most.

use axum::extract::FromRequestParts;
use axum::http::header::{AUTHORIZATION, WWW_AUTHENTICATE};
use axum::http::request::Parts;
use axum::http::{HeaderValue, StatusCode};

use crate::app::App;
use crate::arena::audit::{Admin, AdminChannel};
use crate::limits::LimitedAction;
use crate::web::Error;
use crate::web::voter::Visitor;

/// A request that an admin has sent.
pub(in crate::web) struct RequireAdmin(pub Admin);

impl FromRequestParts<App> for RequireAdmin {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Error> {
        // Put there by whoever runs the routes in a process of their own; nothing that is sent becomes one.
        if let Some(admin) = parts.extensions.get::<Admin>() {
            return Ok(Self(*admin));
        }
        let token = app.config.admin_token.as_ref().ok_or_else(admin_disabled)?;
        let visitor = Visitor::from_request_parts(parts, app).await?;
        // Any other scheme is a proxy's business.
        let via = match parts.headers.get(AUTHORIZATION).and_then(bearer) {
            Some(said) if token.matches(said) => AdminChannel::Api,
            Some(_) => {
                visitor.check_limit(app, LimitedAction::Token, None)?;
                return Err(unauthorized("bad_token", "That is not the admin's token."));
            }
            None if visitor.is_admin(token).await? => AdminChannel::Console,
            None => return Err(unauthorized("no_token", "This is for admins.")),
        };
        Ok(Self(Admin { via, address: Some(visitor.address()) }))
    }
}

fn bearer(value: &HeaderValue) -> Option<&str> {
    let (scheme, token) = str::from_utf8(value.as_bytes()).ok()?.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}

fn admin_disabled() -> Error {
    let message = "The admin's side is closed: set ADMIN_TOKEN and start Buildoff again to open it.";
    Error::new(StatusCode::FORBIDDEN, "admin_off", message)
}

fn unauthorized(code: &'static str, what: &str) -> Error {
    let message =
        format!("{what} Send the value of ADMIN_TOKEN as Authorization: Bearer, or sign in at /admin.");
    Error::new(StatusCode::UNAUTHORIZED, code, message)
        .with_header(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer realm=\"buildoff\""))
}
