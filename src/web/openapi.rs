//! The documentation of the HTTP API: `/openapi.json` for programs, `/api` for people.
//!
//! The documentation of an address is at its handler: `#[utoipa::path]` and the comments on it, on its parameters and on
//! its response. `web::routes` collects it together with the routes.

mod download;
mod example;
mod failures;
mod page;
#[expect(dead_code, reason = "only their schemas are used")]
pub(super) mod shapes;

use std::sync::Arc;

use axum::Router;
use serde_json::{Value, json};
use utoipa::openapi::security::{ApiKey, ApiKeyValue, HttpAuthScheme, HttpBuilder, SecurityScheme};
use utoipa::{Modify, OpenApi};
use utoipa_axum::router::OpenApiRouter;

pub(super) use self::failures::codes;
use super::{error, voter};
use crate::app::App;

/// Everything below needs the admin token.
const ADMIN_PATH: &str = "/api/admin/";

#[derive(OpenApi)]
#[openapi(
    info(
        title = "Buildoff",
        description = "A voxel build arena: AI models answer the same prompt with blocks, and people vote blind on pairs \
            of builds. JSON uses camelCase; only the vote log uses snake_case. An error has a sentence for people and a \
            code for programs.",
    ),
    tags(
        (name = "Arena", description = "Matchups and votes. They belong to a session; the first matchup sets its cookie."),
        (name = "Judging", description = "People’s scores of single builds, whose makers they learn afterwards."),
        (name = "Results", description = "The leaderboard, the records of models, how good judges are, and all votes and judgements."),
        (name = "Builds", description = "Builds as grids, pictures, specs and files."),
        (name = "Task format", description = "The format of builds, and a check for it."),
        (name = "Sandbox", description = "Two models side by side, without effect on the leaderboard."),
        (name = "Agents", description = "Programs that build for the arena, and are asked over the A2A protocol."),
        (name = "Admin", description = "Prompts, models, builds, jobs and votes. Requires the admin token."),
        (name = "Service", description = "Health and metrics of this server."),
    ),
    components(schemas(error::ErrorResponse)),
    modifiers(&SecuritySchemes),
)]
struct ApiDocument;

/// The session and the admin token.
struct SecuritySchemes;

impl Modify for SecuritySchemes {
    fn modify(&self, document: &mut utoipa::openapi::OpenApi) {
        let session = ApiKeyValue::with_description(
            voter::COOKIE_NAME,
            "A random number that stands for an anonymous voter. The first matchup sets it. Send it with all later \
             requests. On a site with https it is called `__Host-session`.",
        );
        let admin = HttpBuilder::new().scheme(HttpAuthScheme::Bearer).description(Some(
            "The `ADMIN_TOKEN` of this installation, as `Authorization: Bearer …`. On a server without an \
             `ADMIN_TOKEN`, the admin API is off.",
        ));
        document.info.license = None;
        let components = document.components.get_or_insert_default();
        components.add_security_scheme("session", SecurityScheme::ApiKey(ApiKey::Cookie(session)));
        let owner = HttpBuilder::new()
            .scheme(HttpAuthScheme::Bearer)
            .description(Some("An owner's token. An admin makes it for one agent."));
        components.add_security_scheme("agentToken", SecurityScheme::Http(owner.build()));
        components.add_security_scheme("adminToken", SecurityScheme::Http(admin.build()));
    }
}

/// The document without any addresses.
pub(super) fn base_router() -> OpenApiRouter<App> {
    OpenApiRouter::with_openapi(ApiDocument::openapi())
}

/// Serves the collected documentation.
pub(super) fn routes(document: &utoipa::openapi::OpenApi) -> Router<App> {
    let document = Arc::new(complete(document));
    page::routes(&document).merge(download::routes(document))
}

fn complete(document: &utoipa::openapi::OpenApi) -> Value {
    let mut document = serde_json::to_value(document).unwrap_or_default();
    for (path, method, operation) in operations(&mut document) {
        let parameters = operation.get_mut("parameters").and_then(Value::as_array_mut);
        for schema in parameters.into_iter().flatten().filter_map(|parameter| parameter.get_mut("schema")) {
            drop_null(schema);
        }
        failures::add_failures(path, method, operation);
        if path.starts_with(ADMIN_PATH) {
            operation["security"] = json!([{ "adminToken": [] }]);
        }
    }
    document
}

/// Every operation with its path and its method.
fn operations(document: &mut Value) -> impl Iterator<Item = (&String, &String, &mut Value)> {
    let paths = document["paths"].as_object_mut().into_iter().flatten();
    paths.flat_map(|(path, item)| {
        let methods = item.as_object_mut().into_iter().flatten();
        methods.map(move |(method, operation)| (path, method, operation))
    })
}

/// An optional parameter can be left out, but cannot be null.
fn drop_null(schema: &mut Value) {
    if let Some(kinds) = schema.get_mut("type").filter(|kinds| kinds.is_array()) {
        let only = kinds.as_array().and_then(|kinds| kinds.iter().find(|kind| *kind != "null"));
        *kinds = only.cloned().unwrap_or_default();
    }
    let choices = schema.get("oneOf").and_then(Value::as_array);
    if let Some(only) = choices.and_then(|choices| choices.iter().find(|choice| choice["type"] != "null")) {
        *schema = only.clone();
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::super::documented_routes;
    use super::*;

    #[test]
    fn a_name_stands_for_one_shape() {
        let mut shapes = BTreeMap::new();
        for group in documented_routes() {
            let components = group.into_openapi().components.unwrap_or_default();
            for (name, shape) in components.schemas {
                let shape = serde_json::to_value(shape).unwrap();
                let known = shapes.entry(name.clone()).or_insert_with(|| shape.clone());
                assert_eq!(*known, shape, "{name} is two things; say #[schema(as = …)] at one of them");
            }
        }
    }

    #[test]
    fn every_operation_says_what_it_does_and_how_it_fails() {
        let document = complete(
            &documented_routes().into_iter().fold(base_router(), OpenApiRouter::merge).into_openapi(),
        );
        let tags: Vec<_> =
            document["tags"].as_array().unwrap().iter().map(|tag| tag["name"].clone()).collect();
        let mut ids = BTreeMap::new();
        for (path, item) in document["paths"].as_object().unwrap() {
            for (method, operation) in item.as_object().unwrap() {
                let place = format!("{method} {path}");
                for word in ["summary", "description", "operationId"] {
                    assert!(operation[word].as_str().is_some_and(|text| !text.is_empty()), "{place}: {word}");
                }
                assert!(tags.contains(&operation["tags"][0]), "{place}: {}", operation["tags"]);
                assert_eq!(ids.insert(operation["operationId"].to_string(), place.clone()), None, "{place}");
                for parameter in operation["parameters"].as_array().into_iter().flatten() {
                    assert!(parameter["name"].is_string(), "{place}: {parameter}");
                }
                for (status, answer) in operation["responses"].as_object().unwrap() {
                    let fails = status.as_str() >= "400";
                    assert!(
                        !fails || answer["content"]["application/json"]["schema"].is_object(),
                        "{place} {status}"
                    );
                    let codes =
                        answer.pointer("/content/application~1json/schema/allOf/1/properties/code/enum");
                    assert!(
                        codes.is_none_or(|codes| codes != &json!([])),
                        "{place} {status}: an unknown code"
                    );
                }
            }
        }
    }
}
