//! Examples of schemas, and lists of their fields.

use serde_json::{Map, Value, json};

/// A field of a schema.
pub(super) struct SchemaField {
    /// From the outermost object: `models[].skill.rating`.
    pub path: String,
    pub kind: String,
    pub required: bool,
    pub description: String,
}

/// Schemas refer to each other by names, which the document resolves.
#[derive(Clone, Copy)]
pub(super) struct SchemaResolver<'a> {
    pub document: &'a Value,
}

impl<'a> SchemaResolver<'a> {
    fn resolved(self, schema: &'a Value) -> &'a Value {
        let named =
            schema["$ref"].as_str().and_then(|name| self.document.pointer(name.trim_start_matches('#')));
        named.unwrap_or(schema)
    }

    /// The schema without the alternative null, and whether it had one.
    fn present(self, schema: &'a Value) -> (&'a Value, bool) {
        let schema = self.resolved(schema);
        let Some(choices) = schema["oneOf"].as_array() else {
            return (schema, kinds(schema).any(|kind| kind == "null"));
        };
        let nullable = choices.iter().any(|choice| choice["type"] == "null");
        let first = choices.iter().find(|choice| choice["type"] != "null");
        (first.map_or(schema, |first| self.present(first).0), nullable)
    }

    pub fn example(self, schema: &'a Value) -> Value {
        let outer = self.resolved(schema);
        let (schema, _) = self.present(outer);
        let value = [outer, schema].into_iter().find_map(|schema| schema.get("example"));
        if let Some(value) = value.or_else(|| schema["enum"].get(0)).or_else(|| schema.get("default")) {
            return value.clone();
        }
        if let Some(parts) = schema["allOf"].as_array() {
            let parts = parts.iter().filter_map(|part| match self.example(part) {
                Value::Object(fields) => Some(fields),
                _ => None,
            });
            return Value::Object(parts.flatten().collect());
        }
        match kinds(schema).find(|kind| *kind != "null") {
            Some("object") => Value::Object(self.example_object(schema)),
            Some("array") => json!([self.example(&schema["items"])]),
            Some("string") => text(schema["format"].as_str()).into(),
            Some("boolean") => true.into(),
            Some("integer") => 0.into(),
            Some("number") => 0.5.into(),
            _ => json!("…"),
        }
    }

    fn example_object(self, schema: &'a Value) -> Map<String, Value> {
        let properties = schema["properties"].as_object().into_iter().flatten();
        properties.map(|(name, property)| (name.clone(), self.example(property))).collect()
    }

    pub fn fields(self, schema: &'a Value) -> Vec<SchemaField> {
        let mut fields = Vec::new();
        self.gather(schema, "", &mut fields);
        fields
    }

    fn gather(self, schema: &'a Value, prefix: &str, fields: &mut Vec<SchemaField>) {
        let (schema, _) = self.present(schema);
        for part in schema["allOf"].as_array().into_iter().flatten() {
            self.gather(part, prefix, fields);
        }
        if schema["items"].is_object() {
            return self.gather(&schema["items"], &format!("{prefix}[]"), fields);
        }
        let required =
            |name: &str| schema["required"].as_array().is_some_and(|all| all.contains(&name.into()));
        for (name, property) in schema["properties"].as_object().into_iter().flatten() {
            let separator = if prefix.is_empty() { "" } else { "." };
            let path = format!("{prefix}{separator}{name}");
            let description = [property, self.present(property).0]
                .into_iter()
                .find_map(|schema| schema["description"].as_str())
                .unwrap_or_default();
            fields.push(SchemaField {
                kind: self.kind(property),
                required: required(name),
                description: description.to_owned(),
                path: path.clone(),
            });
            self.gather(property, &path, fields);
        }
    }

    /// In words: `integer, at least 64, at most 1024`.
    pub fn kind(self, schema: &'a Value) -> String {
        let (schema, nullable) = self.present(schema);
        let mut words = match kinds(schema).find(|kind| *kind != "null") {
            Some("array") => format!("list of {}", self.kind(&schema["items"])),
            Some("string") => match schema["format"].as_str() {
                Some("uuid") => "UUID".to_owned(),
                Some("date-time") => "date and time".to_owned(),
                _ => "string".to_owned(),
            },
            Some(kind) => kind.to_owned(),
            None if schema["allOf"].is_array() => "object".to_owned(),
            None => "anything".to_owned(),
        };
        if let Some(values) = schema["enum"].as_array() {
            let values: Vec<_> = values.iter().map(plain_text).collect();
            words = format!("one of {}", values.join(", "));
        }
        for (name, bound) in [("minimum", "at least"), ("maximum", "at most")] {
            if let Some(limit) = schema[name].as_f64().filter(|limit| *limit != 0.0) {
                words += &format!(", {bound} {limit}");
            }
        }
        if nullable { words + ", or null" } else { words }
    }
}

fn kinds(schema: &Value) -> impl Iterator<Item = &str> {
    let several = schema["type"].as_array().into_iter().flatten();
    several.chain([&schema["type"]]).filter_map(Value::as_str)
}

fn text(format: Option<&str>) -> &'static str {
    match format {
        Some("uuid") => "0190b6f2-0a4e-7c11-9f5e-3b8f6c1d2e70",
        Some("date-time") => "2026-11-21T17:30:00Z",
        _ => "…",
    }
}

/// A value without quotation marks.
pub(super) fn plain_text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// Wider values are broken into several lines.
const WIDTH: usize = 72;

/// JSON in which every object and list that fits is on one line.
pub(super) fn pretty_json(value: &Value, indent: usize) -> String {
    let (open, close, entries): (_, _, Vec<String>) = match value {
        Value::Array(items) => ('[', ']', items.iter().map(|item| pretty_json(item, indent + 2)).collect()),
        Value::Object(fields) => {
            let entry = |(name, value): (&String, &Value)| {
                format!("{}: {}", Value::from(name.as_str()), pretty_json(value, indent + 2))
            };
            ('{', '}', fields.iter().map(entry).collect())
        }
        other => return other.to_string(),
    };
    let line = entries.join(", ");
    if !line.contains('\n') && indent + line.len() < WIDTH {
        let space = if open == '{' && !line.is_empty() { " " } else { "" };
        return format!("{open}{space}{line}{space}{close}");
    }
    let margin = " ".repeat(indent);
    let lines: Vec<_> = entries.iter().map(|entry| format!("{margin}  {entry}")).collect();
    format!("{open}\n{}\n{margin}{close}", lines.join(",\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_example_has_what_the_schema_says_and_no_more() {
        let document = json!({ "shapes": {
            "Elo": { "type": "object", "properties": { "before": { "type": "number", "example": 1500.0 } } },
        }});
        let schemas = SchemaResolver { document: &document };
        let elo = json!({ "$ref": "#/shapes/Elo" });
        for (schema, example) in [
            (json!({ "type": "string", "enum": ["A", "B"] }), json!("A")),
            (json!({ "type": ["integer", "null"] }), json!(0)),
            (json!({ "type": "array", "items": elo }), json!([{ "before": 1500.0 }])),
            (json!({ "oneOf": [{ "type": "null" }, elo] }), json!({ "before": 1500.0 })),
            (
                json!({ "allOf": [elo, { "type": "object", "properties": { "ok": { "type": "boolean" } } }] }),
                json!({ "before": 1500.0, "ok": true }),
            ),
        ] {
            assert_eq!(schemas.example(&schema), example, "{schema}");
        }
    }

    #[test]
    fn what_fits_stands_on_one_line() {
        let short = json!({ "min": [0, 0, 0], "max": [16, 9, 16], "none": {} });
        assert_eq!(pretty_json(&short, 0), r#"{ "min": [0, 0, 0], "max": [16, 9, 16], "none": {} }"#);
        let long = json!({ "a": "x".repeat(60), "b": [1, 2] });
        assert_eq!(
            pretty_json(&long, 0),
            format!("{{\n  \"a\": \"{}\",\n  \"b\": [1, 2]\n}}", "x".repeat(60))
        );
    }
}
