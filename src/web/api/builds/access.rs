//! Who may see a build: everybody; while it is withheld, admins alone. For others it does not exist then.

use std::convert::Infallible;

use axum::extract::FromRequestParts;
use axum::http::header::{AUTHORIZATION, COOKIE};
use axum::http::request::Parts;

use super::no_build;
use crate::app::App;
use crate::arena::audit::Admin;
use crate::web::Error;
use crate::web::api::admin::RequireAdmin;
use crate::web::derived::{IMMUTABLE, PRIVATE};

/// What a request may see of builds. Whether an admin has sent it is only looked up where it matters, since most
/// requests with a cookie are those of voters.
pub(in crate::web) struct BuildAccess(Option<Box<Parts>>);

impl FromRequestParts<App> for BuildAccess {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &App) -> Result<Self, Infallible> {
        let may_be_admin = parts.extensions.get::<Admin>().is_some()
            || [AUTHORIZATION, COOKIE].iter().any(|name| parts.headers.contains_key(name));
        Ok(Self(may_be_admin.then(|| Box::new(parts.clone()))))
    }
}

impl BuildAccess {
    /// For what everybody gets from a cache.
    pub const EVERYBODY: Self = Self(None);

    /// A wrong token makes a visitor of its sender. It counts as a guess, as anywhere.
    pub async fn is_admin(&self, app: &App) -> Result<bool, Error> {
        let Some(parts) = &self.0 else { return Ok(false) };
        match RequireAdmin::from_request_parts(&mut parts.as_ref().clone(), app).await {
            Ok(_) => Ok(true),
            Err(error) if error.is_refusal() => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// How long caches may keep what is made of a build.
    pub(super) async fn check(&self, app: &App, withheld: bool) -> Result<&'static str, Error> {
        match withheld {
            false => Ok(IMMUTABLE),
            true if self.is_admin(app).await? => Ok(PRIVATE),
            true => Err(no_build()),
        }
    }
}
