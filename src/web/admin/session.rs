//! The console's door: the token is typed once, and the session remembers that it was.

use askama::Template;
use askama_web::WebTemplate;
use axum::Router;
use axum::extract::{Form, FromRequestParts, State};
use axum::http::StatusCode;
use axum::http::request::Parts;
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::post;
use serde::Deserialize;
use serde_json::json;

use crate::app::App;
use crate::arena::audit::{self, Admin, AdminChannel};
use crate::limits::LimitedAction;
use crate::web::query::{self, escaped};
use crate::web::voter::Visitor;
use crate::web::{Error, Page};

const HOME: &str = "/admin";

pub(super) fn routes() -> Router<App> {
    Router::new().route("/admin/session", post(sign_in)).route("/admin/sign-out", post(sign_out))
}

/// Somebody who has told the token. Everybody else is answered with the way in.
pub(super) struct SignedIn;

#[derive(Deserialize)]
struct SignInForm {
    token: String,
    #[serde(default)]
    next: String,
}

/// Where somebody wanted to go who had to sign in first.
#[derive(Default, Deserialize)]
#[serde(default)]
struct SignInQuery {
    next: String,
}

#[derive(Template, WebTemplate)]
#[template(path = "admin/door.html")]
struct SignInPage {
    page: Page,
    next: String,
    /// Why nobody was let in.
    problem: &'static str,
}

#[derive(Template, WebTemplate)]
#[template(path = "admin/closed.html")]
struct AdminDisabledPage {
    page: Page,
}

impl FromRequestParts<App> for SignedIn {
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Response> {
        let token = app.config.admin_token.as_ref().ok_or_else(admin_disabled)?;
        let visitor = Visitor::from_request_parts(parts, app).await.map_err(Error::into_response)?;
        match visitor.is_admin(token).await {
            Ok(true) => Ok(Self),
            Ok(false) => Err(sign_in_response(parts)),
            Err(error) => Err(error.into_response()),
        }
    }
}

/// Tries are counted before they are looked at.
async fn sign_in(
    State(app): State<App>,
    visitor: Visitor,
    Form(form): Form<SignInForm>,
) -> Result<Response, Response> {
    let token = app.config.admin_token.as_ref().ok_or_else(admin_disabled)?;
    visitor.check_limit(&app, LimitedAction::Token, None).map_err(Error::into_response)?;
    if !token.matches(&form.token) {
        let problem = match form.token.trim() {
            "" => "Type the value of ADMIN_TOKEN.",
            _ => "That is not the value of ADMIN_TOKEN.",
        };
        // Not in the audit log, which strangers could fill.
        tracing::warn!(address = %visitor.address(), "somebody typed a wrong admin's token");
        return Err((StatusCode::UNAUTHORIZED, sign_in_page(&form.next, problem)).into_response());
    }
    visitor.sign_in_admin(token).await.map_err(Error::into_response)?;
    record_audit(&app, &visitor, "sign in").await.map_err(Error::into_response)?;
    Ok(Redirect::to(console_path(&form.next)).into_response())
}

async fn sign_out(State(app): State<App>, visitor: Visitor) -> Result<Redirect, Error> {
    let was_signed_in = match &app.config.admin_token {
        Some(token) => visitor.is_admin(token).await?,
        None => false,
    };
    visitor.sign_out_admin().await?;
    if was_signed_in {
        record_audit(&app, &visitor, "sign out").await?;
    }
    Ok(Redirect::to(HOME))
}

async fn record_audit(app: &App, visitor: &Visitor, action: &str) -> Result<(), Error> {
    let admin = Admin { via: AdminChannel::Console, address: Some(visitor.address()) };
    let mut connection = app.pool.acquire().await?;
    Ok(audit::record(&mut connection, admin, action, "console", json!({})).await?)
}

/// For a server without a token.
fn admin_disabled() -> Response {
    (StatusCode::FORBIDDEN, AdminDisabledPage { page: Page::without_address() }).into_response()
}

fn sign_in_response(parts: &Parts) -> Response {
    if parts.uri.path() != HOME {
        let here = parts.uri.path_and_query().map_or(HOME, |here| here.as_str());
        return Redirect::to(&format!("{HOME}?next={}", escaped(here))).into_response();
    }
    let SignInQuery { next } = query::read(parts.uri.query().unwrap_or_default());
    sign_in_page(&next, "").into_response()
}

fn sign_in_page(next: &str, problem: &'static str) -> SignInPage {
    SignInPage { page: Page::without_address(), next: console_path(next).to_owned(), problem }
}

/// An address of the console, and of nothing else.
fn console_path(next: &str) -> &str {
    let rest = next.strip_prefix(HOME);
    let is_inside = rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['/', '?']));
    if is_inside && !next.contains(|c: char| c.is_control() || c == '\\') { next } else { HOME }
}

#[cfg(test)]
mod tests {
    #[test]
    fn nobody_is_sent_out_of_the_console() {
        for (next, goes) in [
            ("", "/admin"),
            ("/admin", "/admin"),
            ("/admin/models", "/admin/models"),
            ("/admin?cell=a", "/admin?cell=a"),
            ("/administrator", "/admin"),
            ("//elsewhere", "/admin"),
            ("https://elsewhere/admin", "/admin"),
            ("/admin/\r\nx: y", "/admin"),
        ] {
            assert_eq!(super::console_path(next), goes, "{next:?}");
        }
    }
}
