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
struct Typed {
    token: String,
    #[serde(default)]
    next: String,
}

/// Where somebody wanted to go who had to sign in first.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Wish {
    next: String,
}

#[derive(Template, WebTemplate)]
#[template(path = "admin/door.html")]
struct Door {
    page: Page,
    next: String,
    /// Why nobody was let in.
    problem: &'static str,
}

#[derive(Template, WebTemplate)]
#[template(path = "admin/closed.html")]
struct Closed {
    page: Page,
}

impl FromRequestParts<App> for SignedIn {
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Response> {
        let token = app.config.admin_token.as_ref().ok_or_else(closed)?;
        let visitor = Visitor::from_request_parts(parts, app).await.map_err(Error::into_response)?;
        match visitor.is_admin(token).await {
            Ok(true) => Ok(Self),
            Ok(false) => Err(way_in(parts)),
            Err(error) => Err(error.into_response()),
        }
    }
}

/// Tries are counted before they are looked at.
async fn sign_in(
    State(app): State<App>,
    visitor: Visitor,
    Form(typed): Form<Typed>,
) -> Result<Response, Response> {
    let token = app.config.admin_token.as_ref().ok_or_else(closed)?;
    visitor.ask(&app, LimitedAction::Token, None).map_err(Error::into_response)?;
    if !token.is(&typed.token) {
        let problem = match typed.token.trim() {
            "" => "Type the value of ADMIN_TOKEN.",
            _ => "That is not the value of ADMIN_TOKEN.",
        };
        // Not in the audit log, which strangers could fill.
        tracing::warn!(address = %visitor.address(), "somebody typed a wrong admin's token");
        return Err((StatusCode::UNAUTHORIZED, door(&typed.next, problem)).into_response());
    }
    visitor.admit(token).await.map_err(Error::into_response)?;
    note(&app, &visitor, "sign in").await.map_err(Error::into_response)?;
    Ok(Redirect::to(inside(&typed.next)).into_response())
}

async fn sign_out(State(app): State<App>, visitor: Visitor) -> Result<Redirect, Error> {
    let was_in = match &app.config.admin_token {
        Some(token) => visitor.is_admin(token).await?,
        None => false,
    };
    visitor.dismiss().await?;
    if was_in {
        note(&app, &visitor, "sign out").await?;
    }
    Ok(Redirect::to(HOME))
}

async fn note(app: &App, visitor: &Visitor, action: &str) -> Result<(), Error> {
    let admin = Admin { via: AdminChannel::Console, address: Some(visitor.address()) };
    let mut connection = app.pool.acquire().await?;
    Ok(audit::record(&mut connection, admin, action, "console", json!({})).await?)
}

/// For a server without a token.
fn closed() -> Response {
    (StatusCode::FORBIDDEN, Closed { page: Page::nowhere() }).into_response()
}

fn way_in(parts: &Parts) -> Response {
    if parts.uri.path() != HOME {
        let here = parts.uri.path_and_query().map_or(HOME, |here| here.as_str());
        return Redirect::to(&format!("{HOME}?next={}", escaped(here))).into_response();
    }
    let Wish { next } = query::read(parts.uri.query().unwrap_or_default());
    door(&next, "").into_response()
}

fn door(next: &str, problem: &'static str) -> Door {
    Door { page: Page::nowhere(), next: inside(next).to_owned(), problem }
}

/// An address of the console, and of nothing else.
fn inside(next: &str) -> &str {
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
            assert_eq!(super::inside(next), goes, "{next:?}");
        }
    }
}
