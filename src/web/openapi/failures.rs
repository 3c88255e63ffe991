//! What can go wrong. A handler names a status and its codes, as in
//! `(status = CONFLICT, description = "not_seeded, all_voted")`; here these get their sentences, their body, and the
//! company of what can go wrong anywhere. Other words about that status follow after a colon.

use std::collections::BTreeMap;

use serde_json::{Value, json};

/// Every code and what it means, whoever says it.
const CODES: [(&str, &str); 57] = [
    ("admin_off", "No `ADMIN_TOKEN` is set, so the admin’s side is closed."),
    ("all_voted", "There is no pair left that you have not seen."),
    ("already_voted", "You have voted on this matchup already, and that vote stands."),
    ("bad_choice", "A choice is A, B, TIE or BOTH_BAD."),
    ("bad_file", "It is a file of another tool, and broken, or of a kind that is not read."),
    ("bad_json", "It holds no JSON that can be read."),
    ("bad_request", "A parameter or the body is not as described."),
    ("bad_spec", "What it holds is no spec; the place is told."),
    ("bad_token", "That is not the admin’s token."),
    ("body_cut_off", "The body ended before it was whole."),
    ("body_stalled", "The body stopped coming."),
    ("build_damaged", "The stored build cannot be read."),
    ("busy", "There is a lot to do just now. `Retry-After` says when to try again."),
    ("cross_site", "Another site sent this request, so it was not done."),
    ("does_not_fit", "It is a file of another tool, and larger than the grid."),
    ("ended", "The job has ended already."),
    ("equal_models", "Both sides name the same model."),
    ("exists", "There is a build already."),
    ("footprint_too_small", "It is too small along x and z."),
    ("gone", "A build of the run is not there any more."),
    ("height_too_small", "It is too low."),
    ("internal", "Something broke on our side. It has been logged under the number in `x-request-id`."),
    ("matchup_over", "It was skipped, or its half hour has passed."),
    ("no_blocks", "There are no blocks."),
    ("no_build", "There is no such build."),
    ("no_draft", "There is no such build in the sandbox, or its time is over."),
    ("no_job", "There is no such job."),
    ("no_key", "The model cannot be asked: there is no key of its provider."),
    ("no_model", "There is no such model."),
    ("no_prompt", "There is no such prompt."),
    ("no_run", "Nobody keeps such a run, or its thirty days are over."),
    ("no_such_matchup", "There is no such matchup, or it was served to somebody else."),
    ("no_such_prompt", "There is no such prompt."),
    ("no_token", "Send the token as `Authorization: Bearer`, or sign in at /admin."),
    ("not_exported", "The build does not fit into that format; the reason is told."),
    ("not_found", "There is nothing at this address."),
    ("not_one_run", "The two are not of one run."),
    ("not_ready", "The database does not answer, or is not of this version."),
    ("not_seeded", "There is nothing to compare: that needs builds of one prompt by two models."),
    ("not_yours", "Somebody else keeps it."),
    ("nothing_to_read", "Only a failed job whose place is still empty is read again."),
    ("rate_limited", "You asked too much in a short time. `Retry-After` says when to go on."),
    ("retired", "The build is retired already."),
    ("text_is_fixed", "The prompt has builds, and its text stays as it is."),
    ("timed_out", "It took too long, and was stopped."),
    ("too_few_blocks", "It has too few blocks."),
    ("too_large", "The body is larger than this address accepts."),
    ("too_many_blocks", "It has more blocks than the grid may hold."),
    ("too_many_cells", "The build has too many blocks to list them all here."),
    ("too_many_kept", "You keep a hundred runs already; delete one first."),
    ("too_many_runs", "Several runs of yours are under way."),
    ("too_much_work", "It would write too many blocks."),
    ("try_again", "You asked several times at once."),
    ("under_way", "It is being made already."),
    ("unknown_model", "There is no such model or provider here, or it cannot be asked."),
    ("unsupported_encoding", "A body may be plain or gzipped, not encoded otherwise."),
    ("unsupported_media_type", "The body has to come as application/json."),
];

pub(super) fn meaning(code: &str) -> Option<&'static str> {
    CODES.iter().find(|(known, _)| *known == code).map(|(_, meaning)| *meaning)
}

/// Tells all of every operation.
pub(super) fn tell(document: &mut Value) {
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
    let mut failures: BTreeMap<String, Failure> =
        named.map(|(status, answer)| (status.clone(), Failure::read(answer))).collect();
    for (status, code) in implied {
        let failure = failures.entry(status.to_owned()).or_default();
        if !failure.codes.iter().any(|known| known == code) {
            failure.codes.push(code.to_owned());
        }
    }
    all.extend(failures.into_iter().map(|(status, failure)| (status, failure.told())));
    answers.extend(all);
}

/// What one status may mean.
#[derive(Default)]
struct Failure {
    codes: Vec<String>,
    /// What else there is to say.
    words: String,
    /// A body that holds more than an error does.
    own: Option<Value>,
}

impl Failure {
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

    fn told(self) -> Value {
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
