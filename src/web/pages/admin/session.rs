//! Signing in to the console: the admin enters the token, and the session remembers it for some hours.

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
use crate::limits::TokenUse;
use crate::web::query::{self, escaped};
use crate::web::voter::Visitor;
use crate::web::{Error, Page};

const HOME: &str = "/admin";

pub(super) fn routes() -> Router<App> {
    Router::new().route("/admin/session", post(sign_in)).route("/admin/sign-out", post(sign_out))
}

/// Accepts requests of signed-in admins only. Others get the sign-in page.
pub(super) struct SignedIn;

#[derive(Deserialize)]
struct SignInForm {
    token: String,
    #[serde(default)]
    next: String,
}

/// The page to open after signing in.
#[derive(Default, Deserialize)]
#[serde(default)]
struct SignInQuery {
    next: String,
}

#[derive(Template, WebTemplate)]
#[template(path = "admin/sign_in.html")]
struct SignInPage {
    page: Page,
    next: String,
    /// Why signing in failed.
    problem: &'static str,
}

#[derive(Template, WebTemplate)]
#[template(path = "admin/disabled.html")]
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

async fn sign_in(
    State(app): State<App>,
    visitor: Visitor,
    Form(form): Form<SignInForm>,
) -> Result<Response, Response> {
    let token = app.config.admin_token.as_ref().ok_or_else(admin_disabled)?;
    let knows_token = visitor.client_address().knows_token(&app, TokenUse::SignIn, token, &form.token);
    if !knows_token.map_err(Error::into_response)? {
        let problem = match form.token.trim() {
            "" => "Enter the value of ADMIN_TOKEN.",
            _ => "Wrong token. Enter the value of ADMIN_TOKEN.",
        };
        // This is not in the audit log, because strangers could fill it.
        tracing::warn!(address = %visitor.address(), "sign-in with a wrong admin token");
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

/// An address, if it is inside the console. A link must not redirect to another site after signing in.
fn console_path(next: &str) -> &str {
    let rest = next.strip_prefix(HOME);
    let is_inside = rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['/', '?']));
    if is_inside && !next.contains(|c: char| c.is_control() || c == '\\') { next } else { HOME }
}

#[cfg(test)]
mod tests {
    #[test]
    fn signing_in_never_leads_out_of_the_console() {
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
