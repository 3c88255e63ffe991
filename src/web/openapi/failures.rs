//! The errors of the document. A handler lists a status with its codes, as in
//! `(status = CONFLICT, description = codes([ErrorCode::NotSeeded]))`, perhaps followed by a colon and a sentence. Here
//! each gets its description and its schema, and every operation the errors that any request can have.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::web::ErrorCode;

/// The description of a response with one of these codes, as [`DocumentedFailure::read`] takes it apart.
pub(in crate::web) fn codes<const N: usize>(codes: [ErrorCode; N]) -> String {
    codes.map(ErrorCode::name).join(", ")
}

/// Completes the errors of every operation.
pub(super) fn add_failures(document: &mut Value) {
    let paths = document["paths"].as_object_mut().into_iter().flatten();
    for (path, item) in paths {
        for (method, operation) in item.as_object_mut().into_iter().flatten() {
            let mut implied = if path.starts_with("/api/") { implied(method, operation) } else { Vec::new() };
            if path.starts_with("/api/admin/") {
                implied.extend([
                    (401, ErrorCode::NoToken),
                    (401, ErrorCode::BadToken),
                    (403, ErrorCode::AdminOff),
                    (429, ErrorCode::RateLimited),
                ]);
            }
            complete(operation, implied);
        }
    }
}

/// The errors that follow from the method, the parameters and the body of an operation.
fn implied(method: &str, operation: &Value) -> Vec<(u16, ErrorCode)> {
    let mut codes = vec![(500, ErrorCode::Internal), (503, ErrorCode::Busy), (503, ErrorCode::TimedOut)];
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

fn complete(operation: &mut Value, implied: Vec<(u16, ErrorCode)>) {
    let Some(answers) = operation["responses"].as_object_mut() else { return };
    let mut all: BTreeMap<String, Value> = std::mem::take(answers).into_iter().collect();
    let named = all.iter().filter(|(status, _)| status.as_str() >= "400");
    let mut failures: BTreeMap<String, DocumentedFailure> =
        named.map(|(status, answer)| (status.clone(), DocumentedFailure::read(answer))).collect();
    for (status, code) in implied {
        let failure = failures.entry(status.to_string()).or_default();
        if !failure.codes.contains(&code) {
            failure.codes.push(code);
        }
    }
    all.extend(failures.into_iter().map(|(status, failure)| (status, failure.into_json())));
    answers.extend(all);
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
        let description = answer["description"].as_str().unwrap_or_default();
        let (names, sentence) = description.split_once(": ").unwrap_or((description, ""));
        let codes: Option<Vec<_>> = names.split(", ").map(ErrorCode::find).collect();
        let own = answer.pointer("/content/application~1json/schema").cloned();
        match codes {
            Some(codes) => Self { codes, words: sentence.to_owned(), own },
            None => Self { codes: Vec::new(), words: description.to_owned(), own },
        }
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
