//! `/api`: the document as a page.

use std::sync::Arc;

use askama::Template;
use askama_web::WebTemplate;
use axum::http::StatusCode;
use serde_json::Value;

use super::example::{Field, Shapes, plain, written};
use super::failures::meaning;
use crate::web::Page;
use crate::web::query::escaped;

#[derive(Template, WebTemplate)]
#[template(path = "api.html")]
pub(super) struct Api {
    page: Page,
    reference: Arc<Reference>,
    /// Where this visitor found us, so that examples work as they are pasted.
    site: String,
}

impl Api {
    pub fn new(reference: Arc<Reference>, site: String) -> Self {
        Self { page: Page::at("/api"), reference, site }
    }
}

/// All there is to read, made once.
pub(super) struct Reference {
    anywhere: Vec<(&'static str, Code)>,
    groups: Vec<Group>,
}

struct Code {
    name: String,
    meaning: &'static str,
}

/// Told once, and not with every operation.
const ANYWHERE: [(&str, &str); 7] = [
    ("400, 422", "bad_request"),
    ("403", "cross_site"),
    ("413", "too_large"),
    ("415", "unsupported_media_type"),
    ("500", "internal"),
    ("503", "busy"),
    ("503", "timed_out"),
];

struct Group {
    name: String,
    anchor: String,
    description: String,
    operations: Vec<Operation>,
}

struct Operation {
    /// Its id in the document, and its anchor on the page.
    id: String,
    method: String,
    path: String,
    summary: String,
    description: String,
    key: Key,
    parameters: Vec<Parameter>,
    body: Option<Body>,
    answers: Vec<Answer>,
    /// All of an example but the address of the site, which stands between the two.
    command: (String, String),
}

/// What has to be shown at the door.
#[derive(Clone, Copy, PartialEq)]
enum Key {
    None,
    /// A session is opened for whoever has none.
    Opens,
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

struct Body {
    kinds: String,
    description: String,
    shape: Option<Shape>,
}

struct Shape {
    example: String,
    fields: Vec<Field>,
}

struct Answer {
    status: String,
    reason: &'static str,
    words: String,
    codes: Vec<Code>,
    /// None where there is nothing to receive, and for plain errors.
    body: Option<Body>,
}

impl Reference {
    pub fn of(document: &Value) -> Self {
        let shapes = Shapes { document };
        let groups = list(&document["tags"]).map(|tag| {
            let name = text(&tag["name"]);
            let operations =
                operations(document).filter(|(.., operation)| operation["tags"][0] == tag["name"]);
            Group {
                anchor: name.to_lowercase().replace(' ', "-"),
                description: text(&tag["description"]),
                operations: operations
                    .map(|(path, method, told)| Operation::of(shapes, path, method, told))
                    .collect(),
                name,
            }
        });
        let anywhere = ANYWHERE.into_iter().filter_map(|(status, code)| Some((status, Code::named(code)?)));
        Self {
            anywhere: anywhere.collect(),
            groups: groups.filter(|group| !group.operations.is_empty()).collect(),
        }
    }
}

fn operations(document: &Value) -> impl Iterator<Item = (&String, &String, &Value)> {
    let paths = document["paths"].as_object().into_iter().flatten();
    paths.flat_map(|(path, item)| {
        item.as_object().into_iter().flatten().map(move |(method, operation)| (path, method, operation))
    })
}

impl Operation {
    fn of(shapes: Shapes<'_>, path: &str, method: &str, told: &Value) -> Self {
        let key = Key::of(&told["security"]);
        let body = told.get("requestBody").map(|body| Body::of(shapes, body));
        let answers: Vec<_> = told["responses"]
            .as_object()
            .into_iter()
            .flatten()
            .map(|(status, answer)| Answer::of(shapes, status, answer))
            .filter(|answer| !answer.may_come_from_anywhere())
            .collect();
        let receives = answers.first().and_then(|answer| answer.body.as_ref()).map_or("", |body| &body.kinds);
        Self {
            id: text(&told["operationId"]),
            method: method.to_uppercase(),
            path: path.to_owned(),
            summary: text(&told["summary"]),
            description: text(&told["description"]),
            key,
            parameters: list(&told["parameters"]).map(|parameter| Parameter::of(shapes, parameter)).collect(),
            command: (curl(key, method, body.as_ref(), receives, path), format!("{}'", address(path, told))),
            body,
            answers,
        }
    }
}

impl Key {
    fn of(security: &Value) -> Self {
        let asks = |name: &str| list(security).any(|one| one.get(name).is_some());
        let optional = list(security).any(|one| one.as_object().is_some_and(serde_json::Map::is_empty));
        match (asks("adminToken"), asks("session")) {
            (true, _) => Self::Admin,
            (_, true) if optional => Self::Opens,
            (_, true) => Self::Session,
            _ => Self::None,
        }
    }

    fn words(self) -> Option<&'static str> {
        match self {
            Self::None => None,
            Self::Opens => Some("Opens a session"),
            Self::Session => Some("Needs your session"),
            Self::Admin => Some("Needs the admin token"),
        }
    }
}

impl Parameter {
    fn of(shapes: Shapes<'_>, told: &Value) -> Self {
        let schema = &told["schema"];
        Self {
            name: text(&told["name"]),
            place: if told["in"] == "path" { "path" } else { "query" },
            kind: shapes.kind(schema),
            required: told["required"] == true,
            default: schema.get("default").map(plain),
            description: text(&told["description"]),
        }
    }
}

impl Body {
    fn of(shapes: Shapes<'_>, told: &Value) -> Self {
        let content = told["content"].as_object().into_iter().flatten();
        let kinds: Vec<_> = content.clone().map(|(kind, _)| kind.as_str()).collect();
        let json = content.filter(|(kind, _)| kind.contains("json")).find_map(|(_, told)| told.get("schema"));
        Self {
            kinds: kinds.join(", "),
            description: text(&told["description"]),
            shape: json.map(|schema| Shape {
                example: written(&shapes.example(schema), 0),
                fields: shapes.fields(schema),
            }),
        }
    }
}

impl Answer {
    fn of(shapes: Shapes<'_>, status: &str, told: &Value) -> Self {
        let description = text(&told["description"]);
        let said = description.split("\n\n").map(|line| line.split_once("`: ").unwrap_or((line, "")).0);
        let codes: Vec<_> = said.filter_map(|start| Code::named(start.strip_prefix('`')?)).collect();
        let schema = told.pointer("/content/application~1json/schema");
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
            body: told.get("content").filter(|_| !is_plain).map(|_| Body::of(shapes, told)),
        }
    }

    fn may_come_from_anywhere(&self) -> bool {
        let is_common = |code: &Code| ANYWHERE.iter().any(|(_, common)| code.name == *common);
        self.body.is_none() && !self.codes.is_empty() && self.codes.iter().all(is_common)
    }
}

impl Code {
    fn named(name: &str) -> Option<Self> {
        Some(Self { name: name.to_owned(), meaning: meaning(name)? })
    }
}

fn reason(status: &str) -> &'static str {
    let status = status.parse().ok().and_then(|status| StatusCode::from_u16(status).ok());
    status.and_then(|status| status.canonical_reason()).unwrap_or_default()
}

/// A path with examples in it; a name in capitals is yours to fill in.
fn address(path: &str, told: &Value) -> String {
    let example = |parameter: &Value| {
        let said = parameter.get("example").or_else(|| parameter["schema"].get("example"));
        said.or_else(|| parameter["schema"]["enum"].get(0)).map(plain)
    };
    let mut address = path.to_owned();
    let mut query = Vec::new();
    for parameter in list(&told["parameters"]) {
        let name = text(&parameter["name"]);
        if parameter["in"] == "path" {
            let value = example(parameter).unwrap_or_else(|| name.to_uppercase());
            address = address.replace(&format!("{{{name}}}"), &value);
        } else if let Some(value) = parameter.get("example").or_else(|| parameter["schema"].get("example")) {
            query.push(format!("{name}={}", escaped(&plain(value))));
        }
    }
    let query = query.join("&");
    if query.is_empty() { address } else { format!("{address}?{query}") }
}

/// How to ask, up to the address, whose quotation mark is open.
fn curl(key: Key, method: &str, body: Option<&Body>, receives: &str, path: &str) -> String {
    let mut words = vec!["curl".to_owned()];
    match (method, body) {
        ("get", _) | ("post", Some(_)) => {}
        (other, _) => words.push(format!("-X {}", other.to_uppercase())),
    }
    match key {
        Key::None => {}
        Key::Opens => words.push("-b cookies.txt -c cookies.txt".to_owned()),
        Key::Session => words.push("-b cookies.txt".to_owned()),
        Key::Admin => words.push("-H \"Authorization: Bearer $ADMIN_TOKEN\"".to_owned()),
    }
    match body {
        Some(Body { kinds, shape: Some(shape), .. }) if kinds == "application/json" => {
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

/// What stands between marks is code.
fn pieces(text: &str) -> impl Iterator<Item = (bool, &str)> {
    text.split('`').enumerate().map(|(at, piece)| (at % 2 == 1, piece))
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}
