//! A JSON Schema in the dialects that providers understand.

use serde_json::{Map, Value, json};

/// For OpenAI, compatible endpoints and Google: without `$schema`, and with `const` written as an `enum`, which all of
/// them know.
pub(super) fn plain(schema: &Value) -> Value {
    rewrite(schema, &|object| {
        object.shift_remove("$schema");
        if let Some(only) = object.shift_remove("const") {
            object.insert("enum".to_owned(), json!([only]));
        }
    })
}

/// For Anthropic, which refuses bounds: they move into the description, where the model may still respect them.
pub(super) fn without_bounds(schema: &Value) -> Value {
    const BOUNDS: [&str; 8] = [
        "minimum",
        "maximum",
        "exclusiveMinimum",
        "exclusiveMaximum",
        "multipleOf",
        "minLength",
        "maxLength",
        "maxItems",
    ];
    rewrite(&plain(schema), &|object| {
        let moved: Vec<String> = BOUNDS
            .iter()
            .filter_map(|bound| object.shift_remove(*bound).map(|value| format!("{bound}: {value}")))
            .collect();
        if moved.is_empty() {
            return;
        }
        let moved = moved.join(", ");
        let description = match object.get("description").and_then(Value::as_str) {
            Some(before) => format!("{before} ({moved})"),
            None => moved,
        };
        object.insert("description".to_owned(), Value::String(description));
    })
}

/// Applies an edit to every schema within a schema. The names of properties and definitions, and the values of an
/// `enum`, are data and stay as they are, even where they look like keywords.
fn rewrite(schema: &Value, edit: &impl Fn(&mut Map<String, Value>)) -> Value {
    let Value::Object(object) = schema else { return schema.clone() };
    let inner = |(key, value): (&String, &Value)| {
        let value = match (key.as_str(), value) {
            ("properties" | "$defs", Value::Object(named)) => {
                Value::Object(named.iter().map(|(name, of)| (name.clone(), rewrite(of, edit))).collect())
            }
            ("anyOf" | "allOf" | "oneOf", Value::Array(several)) => {
                several.iter().map(|one| rewrite(one, edit)).collect()
            }
            ("items", one) => rewrite(one, edit),
            (_, other) => other.clone(),
        };
        (key.clone(), value)
    };
    let mut object = object.iter().map(inner).collect();
    edit(&mut object);
    Value::Object(object)
}

#[cfg(test)]
mod tests {
    use super::*;
    use voxel::{GridSize, Palette};

    #[test]
    fn bounds_move_into_the_description() {
        let given = json!({
            "type": "object",
            "properties": { "minimum": { "type": "integer", "minimum": 0, "maximum": 31 } },
            "enum": [{ "const": 1 }],
        });
        let expected = json!({
            "type": "object",
            "properties": { "minimum": { "type": "integer", "description": "minimum: 0, maximum: 31" } },
            "enum": [{ "const": 1 }],
        });
        assert_eq!(without_bounds(&given), expected);
    }

    #[test]
    fn the_schema_of_a_build_holds_nothing_a_provider_refuses() {
        let schema = voxel::schema(GridSize::G32, Palette::Simple);
        let text = plain(&schema).to_string();
        assert!(!text.contains("$schema") && !text.contains("\"const\""), "{text}");
        let text = without_bounds(&schema).to_string();
        assert!(!text.contains("\"minimum\"") && !text.contains("\"maximum\""), "{text}");
    }
}
