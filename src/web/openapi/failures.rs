//! What can go wrong. A handler names a status and its codes, as in
//! `(status = CONFLICT, description = "not_seeded, all_voted")`; here these get what they mean, their body, and the
//! company of what can go wrong anywhere. Other words about that status follow after a colon.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::web::error::codes::ErrorCode;

pub(super) fn meaning(code: &str) -> Option<&'static str> {
    ErrorCode::find(code).map(|known| known.meaning)
}

/// Tells all of every operation.
pub(super) fn add_failures(document: &mut Value) {
    let paths = document["paths"].as_object_mut().into_iter().flatten();
    for (path, item) in paths {
        for (method, operation) in item.as_object_mut().into_iter().flatten() {
            let mut implied = if path.starts_with("/api/") { implied(method, operation) } else { Vec::new() };
            if path.starts_with("/api/admin/") {
                implied.extend([
                    ("401", "no_token"),
                    ("401", "bad_token"),
                    ("403", "admin_off"),
                    ("429", "rate_limited"),
                ]);
            }
            complete(operation, implied);
        }
    }
}

/// What follows from how an operation is asked, and from where it runs.
fn implied(method: &str, operation: &Value) -> Vec<(&'static str, &'static str)> {
    let mut codes = vec![("500", "internal"), ("503", "busy"), ("503", "timed_out")];
    let mut parameters = operation["parameters"].as_array().into_iter().flatten();
    if parameters.any(|parameter| parameter["in"] == "query") {
        codes.push(("400", "bad_request"));
    }
    let body = operation["requestBody"]["content"].as_object();
    if body.is_some_and(|kinds| kinds.keys().eq(["application/json"])) {
        codes.extend([("400", "bad_request"), ("422", "bad_request")]);
        codes.extend([("413", "too_large"), ("415", "unsupported_media_type")]);
    }
    if method != "get" {
        codes.push(("403", "cross_site"));
    }
    codes
}

fn complete(operation: &mut Value, implied: Vec<(&'static str, &'static str)>) {
    let Some(answers) = operation["responses"].as_object_mut() else { return };
    let mut all: BTreeMap<String, Value> = std::mem::take(answers).into_iter().collect();
    let named = all.iter().filter(|(status, _)| status.as_str() >= "400");
    let mut failures: BTreeMap<String, DocumentedFailure> =
        named.map(|(status, answer)| (status.clone(), DocumentedFailure::read(answer))).collect();
    for (status, code) in implied {
        let failure = failures.entry(status.to_owned()).or_default();
        if !failure.codes.iter().any(|known| known == code) {
            failure.codes.push(code.to_owned());
        }
    }
    all.extend(failures.into_iter().map(|(status, failure)| (status, failure.to_json())));
    answers.extend(all);
}

/// What one status may mean.
#[derive(Default)]
struct DocumentedFailure {
    codes: Vec<String>,
    /// What else there is to say.
    words: String,
    /// A body that holds more than an error does.
    own: Option<Value>,
}

impl DocumentedFailure {
    fn read(answer: &Value) -> Self {
        let said = answer["description"].as_str().unwrap_or_default();
        let (names, rest) = said.split_once(": ").unwrap_or((said, ""));
        let codes: Vec<_> = names.split(", ").map(str::to_owned).collect();
        let own = answer.pointer("/content/application~1json/schema").cloned();
        match codes.iter().all(|code| meaning(code).is_some()) {
            true => Self { codes, words: rest.to_owned(), own },
            false => Self { codes: Vec::new(), words: said.to_owned(), own },
        }
    }

    fn to_json(self) -> Value {
        let meant = self.codes.iter().map(|code| format!("`{code}`: {}", meaning(code).unwrap_or_default()));
        let words = (!self.words.is_empty()).then(|| self.words.clone());
        let description: Vec<_> = words.into_iter().chain(meant).collect();
        let error = json!({
            "allOf": [
                { "$ref": "#/components/schemas/Error" },
                { "type": "object", "properties": { "code": { "enum": self.codes } } },
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
