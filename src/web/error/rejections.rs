//! What axum says of a request that it cannot read, without the words of parsers.
//!
//! Its messages begin with what failed, then name the field, and end with what serde says and the place in the JSON:
//! `Failed to deserialize the JSON body into the target type: options: unknown field `x`, expected `y` at line 1
//! column 9`. A sentence for people names the field, what is wrong with it, and the place.

const PREFIXES: [&str; 4] = [
    "Failed to deserialize query string: ",
    "Failed to deserialize the JSON body into the target type: ",
    "Failed to parse the request body as JSON: ",
    "Failed to deserialize form body: ",
];

/// Wordings of parsers, and what people say.
const WORDINGS: [(&str, &str); 19] = [
    ("invalid digit found in string", "not a whole number"),
    ("invalid float literal", "not a number"),
    ("number too large to fit in target type", "too large"),
    ("cannot parse integer from empty string", "empty"),
    ("cannot parse float from empty string", "empty"),
    ("expected ident", "This is not JSON"),
    ("expected value", "This is not JSON"),
    ("key must be a string", "names in JSON are in quotes"),
    ("trailing characters", "there is more after the end of the JSON"),
    ("trailing comma", "a comma too many"),
    (
        "control character (\\u0000-\\u001F) found while parsing a string",
        "a line break or control character in a text",
    ),
    ("a sequence", "a list"),
    ("a map", "an object"),
    ("a boolean", "true or false"),
    ("a string", "a text"),
    ("map", "an object"),
    ("sequence", "a list"),
    ("f64", "a number"),
    ("i64", "a whole number"),
];

pub(super) fn in_plain_words(message: &str) -> String {
    let message = PREFIXES.iter().find_map(|prefix| message.strip_prefix(prefix)).unwrap_or(message);
    let (message, place) = split_place(message.trim_end());
    let (field, message) = split_field(message);
    let said = problem(message, &field);
    match place {
        Some((line, column)) => format!("{said} (line {line}, column {column})."),
        None => format!("{}.", said.trim_end_matches('.')),
    }
}

/// Without ` at line 1 column 9` at the end.
fn split_place(message: &str) -> (&str, Option<(u64, u64)>) {
    let split = message.rsplit_once(" at line ").and_then(|(rest, place)| {
        let (line, column) = place.split_once(" column ")?;
        Some((rest, (line.parse().ok()?, column.parse().ok()?)))
    });
    split.map_or((message, None), |(rest, place)| (rest, Some(place)))
}

/// The path of the field before the first colon, such as `options.effort`.
fn split_field(message: &str) -> (String, &str) {
    let is_path = |text: &str| {
        !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_.[]-".contains(&byte))
    };
    match message.split_once(": ") {
        Some((path, rest)) if is_path(path) => (path.trim_matches('.').to_owned(), rest),
        _ => (String::new(), message),
    }
}

fn problem(message: &str, field: &str) -> String {
    let within = |name: &str| match field {
        "" | "." => name.to_owned(),
        _ if field == name || field.ends_with(&format!(".{name}")) => field.to_owned(),
        _ => format!("{field}.{name}"),
    };
    let quoted = |rest: &str| rest.split('`').nth(1).map(str::to_owned);
    if let Some(name) = message.strip_prefix("missing field ").and_then(quoted) {
        return format!("{} is missing", within(&name));
    }
    if let Some(name) = message.strip_prefix("duplicate field ").and_then(quoted) {
        return format!("{} is there twice", within(&name));
    }
    if let Some(rest) = message.strip_prefix("unknown field ") {
        let name = quoted(rest).unwrap_or_default();
        return format!("{} is not known here{}", within(&name), known(rest));
    }
    if let Some(rest) = message.strip_prefix("unknown variant ") {
        let name = quoted(rest).unwrap_or_default();
        let field = if field.is_empty() { String::new() } else { format!("{field}: ") };
        return format!("{field}“{name}” is not possible{}", known(rest));
    }
    if message.starts_with("EOF while parsing") {
        return "The JSON ends too early".to_owned();
    }
    let field = if field.is_empty() { String::new() } else { format!("{field}: ") };
    // An array in place of an object is read like one, by position.
    if message.starts_with("invalid length ") && message.contains(", expected struct ") {
        return format!("{field}an object is needed here, not a list");
    }
    let found = message.strip_prefix("invalid type: ").or_else(|| message.strip_prefix("invalid value: "));
    if let Some((found, wanted)) = found.and_then(|rest| rest.split_once(", expected ")) {
        return format!("{field}{} is needed here, not {}", plain(wanted), plain(&value(found)));
    }
    format!("{field}{}", plain(message))
}

/// The names that would have been known.
fn known(rest: &str) -> String {
    let names: Vec<_> = rest.split('`').skip(3).step_by(2).collect();
    match names.as_slice() {
        [] => String::new(),
        [only] => format!("; {only} is"),
        several => format!("; possible: {}", several.join(", ")),
    }
}

/// ``integer `3` `` is the 3 that somebody wrote.
fn value(found: &str) -> String {
    let kinds = ["integer ", "floating point ", "boolean ", "string "];
    let written = kinds.iter().find_map(|kind| found.strip_prefix(kind));
    written.map_or_else(|| found.to_owned(), |written| written.trim_matches('`').to_owned())
}

fn plain(message: &str) -> String {
    let wording = WORDINGS.iter().find(|(words, _)| *words == message);
    let plain = wording.map_or(message, |(_, plain)| *plain);
    match plain.strip_prefix("struct ").or_else(|| plain.strip_prefix("enum ")) {
        Some(_) => "an object".to_owned(),
        None => plain.replace('`', ""),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_in_plain_words() {
        const JSON: &str = "Failed to deserialize the JSON body into the target type: ";
        const QUERY: &str = "Failed to deserialize query string: ";
        const SYNTAX: &str = "Failed to parse the request body as JSON: ";
        for (prefix, message, plain) in [
            (JSON, "missing field `promptId` at line 1 column 2", "promptId is missing (line 1, column 2)."),
            (
                JSON,
                "options: unknown field `x`, expected `effort` or `temperature` at line 3 column 9",
                "options.x is not known here; possible: effort, temperature (line 3, column 9).",
            ),
            (
                JSON,
                "prices.input: invalid type: string \"a\", expected f64 at line 1 column 20",
                "prices.input: a number is needed here, not \"a\" (line 1, column 20).",
            ),
            (
                JSON,
                "enabled: invalid type: integer `3`, expected a boolean at line 1 column 13",
                "enabled: true or false is needed here, not 3 (line 1, column 13).",
            ),
            (
                JSON,
                "invalid length 0, expected struct JudgementRequest with 4 elements at line 1 column 2",
                "an object is needed here, not a list (line 1, column 2).",
            ),
            (
                JSON,
                "tags: invalid type: map, expected a sequence at line 1 column 9",
                "tags: a list is needed here, not an object (line 1, column 9).",
            ),
            (
                QUERY,
                "unknown field `surprise`, expected one of `a`, `b`, `c`",
                "surprise is not known here; possible: a, b, c.",
            ),
            (
                QUERY,
                "surprise: unknown field `surprise`, expected one of `a`, `b`",
                "surprise is not known here; possible: a, b.",
            ),
            (QUERY, "batchSize: invalid digit found in string", "batchSize: not a whole number."),
            (QUERY, "dryRun: \"maybe\" is neither 1 nor 0", "dryRun: \"maybe\" is neither 1 nor 0."),
            (QUERY, "duplicate field `model`", "model is there twice."),
            (SYNTAX, "expected value at line 1 column 1", "This is not JSON (line 1, column 1)."),
            (
                SYNTAX,
                "promptId: EOF while parsing a string at line 1 column 14",
                "The JSON ends too early (line 1, column 14).",
            ),
            (
                "",
                "Expected request with `Content-Type: application/json`",
                "Expected request with Content-Type: application/json.",
            ),
        ] {
            assert_eq!(in_plain_words(&format!("{prefix}{message}")), plain, "{message}");
        }
    }
}
