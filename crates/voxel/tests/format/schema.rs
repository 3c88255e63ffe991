//! The JSON Schema, compared with what is read.

use serde_json::{Value, json};
use voxel::{GridSize, Palette, schema};

use super::{error, report};

/// The smallest document of a schema that has an entry in every list.
fn smallest(schema: &Value, root: &Value) -> Value {
    if let Some(name) = schema["$ref"].as_str() {
        return smallest(root.pointer(name.trim_start_matches('#')).unwrap(), root);
    }
    if let Some(value) = schema.get("const") {
        return value.clone();
    }
    match schema["type"].as_str().unwrap() {
        "object" => {
            let properties = schema["properties"].as_object().unwrap();
            let required: Vec<&str> =
                schema["required"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
            assert_eq!(required.len(), properties.len(), "structured outputs want every key required");
            assert_eq!(schema["additionalProperties"], false);
            properties.iter().map(|(key, value)| (key.clone(), smallest(value, root))).collect()
        }
        "array" => json!([smallest(&schema["items"], root)]),
        "integer" => schema["maximum"].clone(),
        "string" => schema["enum"][0].clone(),
        other => panic!("no document for {other}"),
    }
}

#[test]
fn what_fits_the_schema_is_read_without_a_warning() {
    for size in GridSize::ALL {
        for palette in Palette::ALL {
            let schema = schema(size, palette);
            let report = report(smallest(&schema, &schema).to_string(), size, palette);
            assert_eq!(error(&report).0, "too_few_blocks");
            assert_eq!(report["warnings"], json!([]));
            assert_eq!(report["bounds"]["max"], json!([size.get() - 1, size.get() - 1, size.get() - 1]));
            assert_eq!(schema["$defs"]["type"]["enum"].as_array().unwrap().len(), palette.blocks().len());
        }
    }
}
