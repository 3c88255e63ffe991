//! The JSON Schema of a spec, for one grid and palette.
//!
//! It is stricter than what is read: a document that matches it is read without a warning. It uses only what structured
//! outputs of providers support: every key is required, and no others are allowed.

use serde_json::{Value, json};

use super::{grid::GridSize, palette::Palette};

/// A JSON Schema for writing specs. A document that matches it is read without a warning.
pub fn schema(size: GridSize, palette: Palette) -> Value {
    let ids: Vec<&str> = palette.blocks().iter().map(|block| block.id.as_str()).collect();
    let list = |of: &str, what: &str| json!({ "type": "array", "description": what, "items": { "$ref": format!("#/$defs/{of}") } });
    let point = json!({ "$ref": "#/$defs/point" });
    let axis = json!({ "$ref": "#/$defs/coordinate" });
    let block_type = json!({ "$ref": "#/$defs/type" });
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": format!("A build in a {size}³ grid with the {palette} palette"),
        "description": "Drawn in order: boxes, then lines, then blocks. The last write to a cell wins. y is up.",
        "$defs": {
            "coordinate": { "type": "integer", "minimum": 0, "maximum": size.get() - 1 },
            "type": { "type": "string", "enum": ids },
            "point": object(&[("x", &axis), ("y", &axis), ("z", &axis)]),
            "box": object(&[
                ("x1", &axis), ("y1", &axis), ("z1", &axis),
                ("x2", &axis), ("y2", &axis), ("z2", &axis),
                ("type", &block_type),
            ]),
            "line": object(&[("from", &point), ("to", &point), ("type", &block_type)]),
            "block": object(&[("x", &axis), ("y", &axis), ("z", &axis), ("type", &block_type)]),
        },
        "type": "object",
        "properties": {
            "version": { "type": "string", "const": "1.0" },
            "boxes": list("box", "Filled boxes, both corners included."),
            "lines": list("line", "Straight lines, both ends included."),
            "blocks": list("block", "Single blocks."),
        },
        "required": ["version", "boxes", "lines", "blocks"],
        "additionalProperties": false,
    })
}

fn object(properties: &[(&str, &Value)]) -> Value {
    let required: Vec<&str> = properties.iter().map(|&(name, _)| name).collect();
    let properties: serde_json::Map<String, Value> =
        properties.iter().map(|&(name, schema)| (name.to_owned(), schema.clone())).collect();
    json!({ "type": "object", "properties": properties, "required": required, "additionalProperties": false })
}
