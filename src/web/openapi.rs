//! `/openapi.json`, the whole HTTP API for programs, and `/api`, the same for people.
//!
//! What is said of an address stands at its handler: `#[utoipa::path]` and the comments over it, over its parameters
//! and over what it answers with. `web::routes` collects that while it collects the routes themselves.

mod example;
mod failures;
mod page;
#[expect(dead_code, reason = "they are looked at, not made")]
pub(super) mod shapes;

use std::sync::Arc;

use axum::Router;
use axum::body::Bytes;
use axum::extract::{Extension, State};
use axum::http::HeaderMap;
use axum::response::Response;
use axum::routing::get;
use serde_json::{Value, json};
use tokio::sync::OnceCell;
use utoipa::openapi::security::{ApiKey, ApiKeyValue, HttpAuthScheme, HttpBuilder, SecurityScheme};
use utoipa::{Modify, OpenApi};
use utoipa_axum::router::OpenApiRouter;

use self::page::ApiReference;
use super::Error;
use super::derived::Representation;
use super::encoding::Encoding;
use super::pages::format::host;
use super::pictures::hex;
use super::{error, voter};
use crate::app::App;
use crate::work::WorkClient;
use voxel::codec::{CompressionLevel, Digest, pack};

#[derive(OpenApi)]
#[openapi(
    info(
        title = "Buildoff",
        description = "A voxel build arena: AI models answer the same prompt with blocks, and people vote blind on pairs \
            of builds. JSON is camelCase, but for the vote log, which is snake_case. An error has a sentence for people \
            and a code for programs.",
    ),
    tags(
        (name = "Arena", description = "Matchups and votes. They belong to a session: the first matchup sets its cookie."),
        (name = "Results", description = "What the votes say, and the votes themselves."),
        (name = "Builds", description = "Builds, and what derives from them."),
        (name = "Task format", description = "How a build is written down, and whether it is valid."),
        (name = "Sandbox", description = "Two models side by side, without touching the ladder."),
        (name = "Admin", description = "Prompts, models and builds, for whoever holds the token."),
        (name = "Service", description = "Whether this server is well."),
    ),
    components(schemas(error::ErrorResponse)),
    modifiers(&SecuritySchemes),
)]
struct ApiDocument;

/// What opens doors.
struct SecuritySchemes;

impl Modify for SecuritySchemes {
    fn modify(&self, document: &mut utoipa::openapi::OpenApi) {
        let session = ApiKeyValue::with_description(
            voter::COOKIE,
            "A random number that stands for a voter of whom nothing is known. The first matchup sets it; \
             send it with everything that follows.",
        );
        let admin = HttpBuilder::new().scheme(HttpAuthScheme::Bearer).description(Some(
            "The `ADMIN_TOKEN` of this installation, as `Authorization: Bearer …`. Without one in its environment \
             there is no admin API.",
        ));
        document.info.license = None;
        let components = document.components.get_or_insert_default();
        components.add_security_scheme("session", SecurityScheme::ApiKey(ApiKey::Cookie(session)));
        components.add_security_scheme("adminToken", SecurityScheme::Http(admin.build()));
    }
}

/// The document before any address is in it.
pub(super) fn base_router() -> OpenApiRouter<App> {
    OpenApiRouter::with_openapi(ApiDocument::openapi())
}

/// Serves what was collected.
pub(super) fn routes(document: &utoipa::openapi::OpenApi) -> Router<App> {
    let document = Arc::new(complete(document));
    let reference = Arc::new(ApiReference::of(&document));
    let served = Arc::new(OnceCell::new());
    let json = move |app, encoding, headers| answer(app, encoding, headers, document, served);
    let page = move |State(app): State<App>, headers: HeaderMap| async move {
        page::ApiPage::new(reference, site(&app, &headers))
    };
    Router::new().route("/openapi.json", get(json)).route("/api", get(page))
}

fn complete(document: &utoipa::openapi::OpenApi) -> Value {
    let mut document = serde_json::to_value(document).unwrap_or_default();
    for operation in operations(&mut document) {
        let parameters = operation.get_mut("parameters").and_then(Value::as_array_mut);
        for schema in parameters.into_iter().flatten().filter_map(|parameter| parameter.get_mut("schema")) {
            drop_null(schema);
        }
    }
    failures::add_failures(&mut document);
    document
}

fn operations(document: &mut Value) -> impl Iterator<Item = &mut Value> {
    let items = document["paths"].as_object_mut().into_iter().flatten();
    items.flat_map(|(_, item)| item.as_object_mut().into_iter().flatten().map(|(_, operation)| operation))
}

/// An address has no null: what is optional there is left out.
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

/// Where this visitor finds us, so that examples work as they are pasted.
fn site(app: &App, headers: &HeaderMap) -> String {
    app.config.public_url.clone().unwrap_or_else(|| format!("http://{}", host(headers)))
}

/// The document as bytes.
struct DocumentBytes {
    name: String,
    plain: Bytes,
    packed: Bytes,
}

async fn answer(
    State(app): State<App>,
    Extension(encoding): Extension<Encoding>,
    headers: HeaderMap,
    document: Arc<Value>,
    served: Arc<OnceCell<DocumentBytes>>,
) -> Result<Response, Error> {
    let write = || async {
        let url = app.config.public_url.clone();
        let write = move || DocumentBytes::of(&document, url);
        app.work.run(WorkClient::EVERYBODY, write).await?.map_err(Error::internal)
    };
    let served = served.get_or_try_init(write).await?;
    let (encoding, bytes) = match encoding {
        Encoding::Brotli => (encoding, &served.packed),
        _ => (Encoding::Identity, &served.plain),
    };
    let representation =
        Representation { kind: "application/json", name: &served.name, encoding, cache_control: "no-cache" };
    Ok(representation.not_modified(&headers).unwrap_or_else(|| representation.answer(bytes.clone())))
}

impl DocumentBytes {
    fn of(document: &Value, url: Option<String>) -> serde_json::Result<Self> {
        let mut document = document.clone();
        if let Some(url) = url {
            document["servers"] = json!([{ "url": url }]);
        }
        let plain = serde_json::to_vec(&document)?;
        let name = hex(&Digest::of(&plain).0[..8]);
        Ok(Self { name, packed: pack(&plain, CompressionLevel::Best).into(), plain: plain.into() })
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
