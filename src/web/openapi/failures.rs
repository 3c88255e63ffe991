//! The errors of the document. A handler lists its codes, as in
//! `extensions(("x-errors" = json!(codes([ErrorCode::NotSeeded]))))`. Here each status gets its description and its
//! schema, and every operation the errors that any request can have. A handler describes a status itself only where
//! its body holds more than an error does.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::ADMIN_PATH;
use crate::web::ErrorCode;

/// The names of these codes, for the list of a handler.
pub(in crate::web) fn codes<const N: usize>(codes: [ErrorCode; N]) -> [&'static str; N] {
    codes.map(ErrorCode::name)
}

/// Completes the errors of an operation.
pub(super) fn add_failures(path: &str, method: &str, operation: &mut Value) {
    let mut implied = if path.starts_with("/api/") { implied(method, operation) } else { Vec::new() };
    if path.starts_with(ADMIN_PATH) {
        implied.extend([
            (401, ErrorCode::NoToken),
            (401, ErrorCode::BadToken),
            (403, ErrorCode::AdminOff),
            (429, ErrorCode::RateLimited),
        ]);
    }
    let listed = take_listed(operation);
    let Some(answers) = operation["responses"].as_object_mut() else { return };
    let mut all: BTreeMap<String, Value> = std::mem::take(answers).into_iter().collect();
    let described = all.iter().filter(|(status, _)| status.as_str() >= "400");
    let mut failures: BTreeMap<String, DocumentedFailure> =
        described.map(|(status, answer)| (status.clone(), DocumentedFailure::read(answer))).collect();
    for (status, code) in listed.into_iter().chain(implied) {
        let failure = failures.entry(status.to_string()).or_default();
        if !failure.codes.contains(&code) {
            failure.codes.push(code);
        }
    }
    all.extend(failures.into_iter().map(|(status, failure)| (status, failure.into_json())));
    answers.extend(all);
}

/// The errors that follow from the method, the parameters and the body of an operation.
fn implied(method: &str, operation: &Value) -> Vec<(u16, ErrorCode)> {
    let mut codes = vec![(500, ErrorCode::Internal), (503, ErrorCode::Busy), (503, ErrorCode::TimedOut)];
    codes.extend([(503, ErrorCode::DatabaseUnavailable), (503, ErrorCode::NotWritable)]);
    let mut parameters = operation["parameters"].as_array().into_iter().flatten();
    if parameters.any(|parameter| parameter["in"] == "query") {
        codes.push((400, ErrorCode::BadRequest));
    }
    let body = operation["requestBody"]["content"].as_object();
    if body.is_some_and(|kinds| kinds.keys().eq(["application/json"])) {
        codes.extend([(400, ErrorCode::BadRequest), (422, ErrorCode::BadRequest)]);
        codes.extend([(413, ErrorCode::TooLarge), (415, ErrorCode::UnsupportedMediaType)]);
    }
    if method != "get" {
        codes.push((403, ErrorCode::CrossSite));
    }
    codes
}

/// The codes that the handler lists, with their statuses.
fn take_listed(operation: &mut Value) -> Vec<(u16, ErrorCode)> {
    let listed = operation.as_object_mut().and_then(|fields| fields.shift_remove("x-errors"));
    let names = listed.as_ref().and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
    names.filter_map(ErrorCode::find).map(|code| (code.status().as_u16(), code)).collect()
}

/// What a status means.
#[derive(Default)]
struct DocumentedFailure {
    codes: Vec<ErrorCode>,
    /// A sentence of the handler.
    words: String,
    /// The schema of a body that holds more than an error does.
    own: Option<Value>,
}

impl DocumentedFailure {
    fn read(answer: &Value) -> Self {
        let words = answer["description"].as_str().unwrap_or_default().to_owned();
        let own = answer.pointer("/content/application~1json/schema").cloned();
        Self { codes: Vec::new(), words, own }
    }

    fn into_json(self) -> Value {
        let meanings = self.codes.iter().map(|code| format!("`{}`: {}", code.name(), code.meaning()));
        let words = (!self.words.is_empty()).then(|| self.words.clone());
        let description: Vec<_> = words.into_iter().chain(meanings).collect();
        let names: Vec<_> = self.codes.iter().map(|code| code.name()).collect();
        let error = json!({
            "allOf": [
                { "$ref": "#/components/schemas/Error" },
                { "type": "object", "properties": { "code": { "enum": names } } },
            ],
        });
        let schema = match self.own {
            Some(own) if self.codes.is_empty() => own,
            Some(own) => json!({ "oneOf": [own, error] }),
            None => error,
        };
        json!({
            "description": description.join("\n\n"),
            "content": { "application/json": { "schema": schema } },
        })
    }
}
