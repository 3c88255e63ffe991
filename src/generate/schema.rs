//! One JSON Schema in the dialects that providers hold models to.

use serde_json::{Map, Value, json};

const PLAN: &str = "Written first, and not drawn: the idea in one line or, where nothing was thought before, at most fifteen \
                    short lines with each part's ranges of x, y and z and its material.";

/// With a place to think in, before the first coordinate.
pub(super) fn with_plan(mut schema: Value) -> Value {
    if let Some(properties) = schema["properties"].as_object_mut() {
        properties.shift_insert(0, "plan".to_owned(), json!({ "type": "string", "description": PLAN }));
    }
    if let Some(required) = schema["required"].as_array_mut() {
        required.insert(0, json!("plan"));
    }
    schema
}

/// For OpenAI, those like it, and Google: without a declaration of the dialect, and with `const` as an
/// `enum`, which all of them know.
pub(super) fn plain(schema: &Value) -> Value {
    rewrite(schema, &|object| {
        object.shift_remove("$schema");
        if let Some(only) = object.shift_remove("const") {
            object.insert("enum".to_owned(), json!([only]));
        }
    })
}

/// For Anthropic, which refuses bounds: they go into the description, where the model may still heed them.
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

/// Applies an edit to every schema within a schema, and to nothing that merely looks like one: the names of
/// properties and definitions, and the values of an `enum`, are data.
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
    use voxel::{self, GridSize, Palette, Verdict};

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
    fn a_plan_comes_before_all_else_and_does_not_matter_to_the_reader() {
        let schema = with_plan(voxel::schema(GridSize::G32, Palette::Simple));
        let first = schema["properties"].as_object().and_then(|properties| properties.keys().next());
        assert_eq!((first.map(String::as_str), &schema["required"][0]), (Some("plan"), &json!("plan")));
        let wall = r#"{"x1":0,"y1":0,"z1":0,"x2":20,"y2":9,"z2":0,"type":"stone"}"#;
        let text = format!(
            r#"{{"plan":"a {{\"boxes\":[]}} wall\n","version":"1.0","boxes":[{wall}],"lines":[],"blocks":[]}}"#
        );
        let verdict = voxel::check(text.as_bytes(), GridSize::G32, Palette::Simple, 1 << 20);
        let Verdict::Accepted { warnings, .. } = verdict else { panic!("a wall, planned: {verdict:?}") };
        assert_eq!(warnings, []);
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
