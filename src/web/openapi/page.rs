//! `/api`: the document as a page.

use std::sync::Arc;

use askama::Template;
use askama_web::WebTemplate;
use axum::Router;
use axum::http::StatusCode;
use axum::routing::get;
use serde_json::Value;

use super::example::{SchemaField, SchemaResolver, plain_text, pretty_json};
use crate::app::App;
use crate::web::query::escaped;
use crate::web::{ErrorCode, Page};

#[derive(Template, WebTemplate)]
#[template(path = "api.html")]
struct ApiPage {
    page: Page,
    reference: Arc<ApiReference>,
}

pub(super) fn routes(document: &Value) -> Router<App> {
    let reference = Arc::new(ApiReference::of(document));
    let page = move || async move { ApiPage { page: Page::at("/api"), reference } };
    Router::new().route("/api", get(page))
}

/// The whole document, prepared for the template once.
struct ApiReference {
    groups: Vec<OperationGroup>,
}

/// Listed once, and not with every operation.
const COMMON_ERRORS: [(&str, ErrorCode); 7] = [
    ("400, 422", ErrorCode::BadRequest),
    ("403", ErrorCode::CrossSite),
    ("413", ErrorCode::TooLarge),
    ("415", ErrorCode::UnsupportedMediaType),
    ("500", ErrorCode::Internal),
    ("503", ErrorCode::Busy),
    ("503", ErrorCode::TimedOut),
];

struct OperationGroup {
    name: String,
    anchor: String,
    description: String,
    operations: Vec<Operation>,
}

struct Operation {
    /// The operation's id, which is also its anchor on the page.
    id: String,
    method: String,
    path: String,
    summary: String,
    description: String,
    key: Credential,
    parameters: Vec<Parameter>,
    body: Option<DocumentedBody>,
    answers: Vec<DocumentedResponse>,
    /// The parts of the example before and after the site's address.
    command: (String, String),
}

/// What a request has to be sent with.
#[derive(Clone, Copy, PartialEq)]
enum Credential {
    None,
    /// The response sets a session, if the request has none.
    OpensSession,
    Session,
    Admin,
}

struct Parameter {
    name: String,
    place: &'static str,
    kind: String,
    required: bool,
    default: Option<String>,
    description: String,
}

struct DocumentedBody {
    kinds: String,
    description: String,
    shape: Option<DocumentedShape>,
}

struct DocumentedShape {
    example: String,
    fields: Vec<SchemaField>,
}

struct DocumentedResponse {
    status: String,
    reason: &'static str,
    words: String,
    codes: Vec<ErrorCode>,
    /// None without a body, and for plain errors.
    body: Option<DocumentedBody>,
}

impl ApiReference {
    pub fn of(document: &Value) -> Self {
        let schemas = SchemaResolver { document };
        let groups = list(&document["tags"]).map(|tag| {
            let name = text(&tag["name"]);
            let operations =
                operations(document).filter(|(.., operation)| operation["tags"][0] == tag["name"]);
            OperationGroup {
                anchor: name.to_lowercase().replace(' ', "-"),
                description: text(&tag["description"]),
                operations: operations
                    .map(|(path, method, node)| Operation::of(schemas, path, method, node))
                    .collect(),
                name,
            }
        });
        Self { groups: groups.filter(|group| !group.operations.is_empty()).collect() }
    }
}

fn operations(document: &Value) -> impl Iterator<Item = (&String, &String, &Value)> {
    let paths = document["paths"].as_object().into_iter().flatten();
    paths.flat_map(|(path, item)| {
        item.as_object().into_iter().flatten().map(move |(method, operation)| (path, method, operation))
    })
}

impl Operation {
    fn of(schemas: SchemaResolver<'_>, path: &str, method: &str, node: &Value) -> Self {
        let key = Credential::of(&node["security"]);
        let body = node.get("requestBody").map(|body| DocumentedBody::of(schemas, body));
        let answers: Vec<_> = node["responses"]
            .as_object()
            .into_iter()
            .flatten()
            .map(|(status, answer)| DocumentedResponse::of(schemas, status, answer))
            .filter(|answer| !answer.is_common_error())
            .collect();
        let receives = answers.first().and_then(|answer| answer.body.as_ref()).map_or("", |body| &body.kinds);
        Self {
            id: text(&node["operationId"]),
            method: method.to_uppercase(),
            path: path.to_owned(),
            summary: text(&node["summary"]),
            description: text(&node["description"]),
            key,
            parameters: list(&node["parameters"])
                .map(|parameter| Parameter::of(schemas, parameter))
                .collect(),
            command: (curl(key, method, body.as_ref(), receives, path), format!("{}'", address(path, node))),
            body,
            answers,
        }
    }
}

impl Credential {
    fn of(security: &Value) -> Self {
        let needs = |name: &str| list(security).any(|one| one.get(name).is_some());
        let optional = list(security).any(|one| one.as_object().is_some_and(serde_json::Map::is_empty));
        match (needs("adminToken"), needs("session")) {
            (true, _) => Self::Admin,
            (_, true) if optional => Self::OpensSession,
            (_, true) => Self::Session,
            _ => Self::None,
        }
    }

    fn words(self) -> Option<&'static str> {
        match self {
            Self::None => None,
            Self::OpensSession => Some("Opens a session"),
            Self::Session => Some("Needs your session"),
            Self::Admin => Some("Needs the admin token"),
        }
    }
}

impl Parameter {
    fn of(schemas: SchemaResolver<'_>, node: &Value) -> Self {
        let schema = &node["schema"];
        Self {
            name: text(&node["name"]),
            place: if node["in"] == "path" { "path" } else { "query" },
            kind: schemas.kind(schema),
            required: node["required"] == true,
            default: schema.get("default").map(plain_text),
            description: text(&node["description"]),
        }
    }
}

impl DocumentedBody {
    fn of(schemas: SchemaResolver<'_>, node: &Value) -> Self {
        let content = node["content"].as_object().into_iter().flatten();
        let kinds: Vec<_> = content.clone().map(|(kind, _)| kind.as_str()).collect();
        let json = content.filter(|(kind, _)| kind.contains("json")).find_map(|(_, node)| node.get("schema"));
        Self {
            kinds: kinds.join(", "),
            description: text(&node["description"]),
            shape: json.map(|schema| DocumentedShape {
                example: pretty_json(&schemas.example(schema), 0),
                fields: schemas.fields(schema),
            }),
        }
    }
}

impl DocumentedResponse {
    fn of(schemas: SchemaResolver<'_>, status: &str, node: &Value) -> Self {
        let description = text(&node["description"]);
        let starts = description.split("\n\n").map(|line| line.split_once("`: ").unwrap_or((line, "")).0);
        let codes: Vec<_> = starts.filter_map(|start| ErrorCode::find(start.strip_prefix('`')?)).collect();
        let schema = node.pointer("/content/application~1json/schema");
        let is_plain =
            schema.is_some_and(|schema| schema["allOf"][1]["properties"]["code"]["enum"].is_array());
        let words = if codes.is_empty() || !description.starts_with('`') {
            description.split("\n\n").next().unwrap_or_default().to_owned()
        } else {
            String::new()
        };
        Self {
            reason: reason(status),
            status: status.to_owned(),
            words,
            codes,
            body: node.get("content").filter(|_| !is_plain).map(|_| DocumentedBody::of(schemas, node)),
        }
    }

    fn is_common_error(&self) -> bool {
        let is_common = |code: &ErrorCode| COMMON_ERRORS.iter().any(|(_, common)| code == common);
        self.body.is_none() && !self.codes.is_empty() && self.codes.iter().all(is_common)
    }
}

fn reason(status: &str) -> &'static str {
    let status = status.parse().ok().and_then(|status| StatusCode::from_u16(status).ok());
    status.and_then(|status| status.canonical_reason()).unwrap_or_default()
}

/// A path filled in with examples. A name in capitals stands for a value without one.
fn address(path: &str, node: &Value) -> String {
    let example = |parameter: &Value| {
        let example = parameter.get("example").or_else(|| parameter["schema"].get("example"));
        example.or_else(|| parameter["schema"]["enum"].get(0)).map(plain_text)
    };
    let mut address = path.to_owned();
    let mut query = Vec::new();
    for parameter in list(&node["parameters"]) {
        let name = text(&parameter["name"]);
        if parameter["in"] == "path" {
            let value = example(parameter).unwrap_or_else(|| name.to_uppercase());
            address = address.replace(&format!("{{{name}}}"), &value);
        } else if let Some(value) = parameter.get("example").or_else(|| parameter["schema"].get("example")) {
            query.push(format!("{name}={}", escaped(&plain_text(value))));
        }
    }
    let query = query.join("&");
    if query.is_empty() { address } else { format!("{address}?{query}") }
}

/// The command up to the address, including its opening quotation mark.
fn curl(key: Credential, method: &str, body: Option<&DocumentedBody>, receives: &str, path: &str) -> String {
    let mut words = vec!["curl".to_owned()];
    match (method, body) {
        ("get", _) | ("post", Some(_)) => {}
        (other, _) => words.push(format!("-X {}", other.to_uppercase())),
    }
    match key {
        Credential::None => {}
        Credential::OpensSession => words.push("-b cookies.txt -c cookies.txt".to_owned()),
        Credential::Session => words.push("-b cookies.txt".to_owned()),
        Credential::Admin => words.push("-H \"Authorization: Bearer $ADMIN_TOKEN\"".to_owned()),
    }
    match body {
        Some(DocumentedBody { kinds, shape: Some(shape), .. }) if kinds == "application/json" => {
            words.push("-H 'Content-Type: application/json'".to_owned());
            words.push(format!("-d '{}'", shape.example));
        }
        Some(_) => words.push("--data-binary @build.json".to_owned()),
        None => {}
    }
    match receives {
        "" | "application/json" => {}
        _ if path.contains('.') => words.push("--compressed -O".to_owned()),
        kind if kind.starts_with("image/") => words.push("-o build.webp".to_owned()),
        _ => words.push("--compressed -o build.bin".to_owned()),
    }
    let separator = if body.is_some() { " \\\n  " } else { " " };
    format!("{}{separator}'", words.join(separator))
}

/// The pieces of a text, and whether each is code: what stands between backticks.
fn code_spans(text: &str) -> impl Iterator<Item = (bool, &str)> {
    text.split('`').enumerate().map(|(at, piece)| (at % 2 == 1, piece))
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}
