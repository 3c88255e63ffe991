//! Expansion by example.

use serde::Deserialize;
use serde_json::{Value, json};
use voxel::{GridSize, Palette};

use super::{count, error, report, simple};

/// The largest whole number that every JSON reader keeps exact.
const MAX_COUNT: u64 = (1 << 53) - 1;

/// A small spec with its expected result.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Case {
    name: String,
    grid_size: GridSize,
    palette: Palette,
    spec: Value,
    error: Option<String>,
    block_count: u64,
    out_of_bounds: u64,
    unknown: std::collections::BTreeMap<String, u64>,
    #[serde(default)]
    cells: Option<Value>,
}

#[test]
fn the_reference_cases_come_out_as_they_should() {
    let cases: Vec<Case> = serde_json::from_str(include_str!("../data/cases.json")).unwrap();
    assert_eq!(cases.len(), 16);
    for case in cases {
        let name = &case.name;
        let report = report(case.spec.to_string(), case.grid_size, case.palette);
        assert_eq!(report["error"]["code"].as_str(), case.error.as_deref(), "{name}");
        assert_eq!(report["ok"], case.error.is_none(), "{name}");
        assert_eq!(report["blockCount"], case.block_count, "{name}");
        assert_eq!(count(&report, "out_of_bounds", None), case.out_of_bounds, "{name}");
        assert_eq!(count(&report, "unknown_block", None), case.unknown.values().sum::<u64>(), "{name}");
        for (kind, writes) in case.unknown {
            assert_eq!(count(&report, "unknown_block", Some(&kind)), writes, "{name}: {kind}");
        }
        if let Some(cells) = case.cells {
            assert_eq!(sorted(&report["cells"]), sorted(&cells), "{name}");
        }
    }
}

fn sorted(cells: &Value) -> Vec<String> {
    let mut cells: Vec<String> = cells.as_array().unwrap().iter().map(Value::to_string).collect();
    cells.sort();
    cells
}

#[test]
fn a_report_is_the_object_of_the_design() {
    let text = json!({
        "blocks": [
            { "x": 40, "y": 0, "z": 0, "type": "stone" },
            { "x": 16, "y": 9, "z": 16, "type": "glass" },
            { "x": 0, "y": 0, "z": 0, "type": "stone" },
            { "x": 1, "y": 0, "z": 0, "type": "air" },
        ],
    });
    assert_eq!(
        simple(text.to_string()),
        json!({
            "ok": false, "gridSize": 32, "palette": "simple", "blockCount": 2,
            "bounds": { "min": [0, 0, 0], "max": [16, 9, 16] },
            "blocks": { "glass": 1, "stone": 1 },
            "warnings": [
                { "code": "missing_version", "message": "version is missing: add \"version\": \"1.0\"" },
                { "code": "out_of_bounds", "count": 1, "message": "1 write outside the grid was dropped" },
                { "code": "unknown_block", "type": "air", "count": 1,
                  "message": "air does not remove blocks: 1 write was dropped; leave the space empty instead" },
            ],
            "error": { "code": "too_few_blocks", "message": "the build has 2 blocks, but at least 80 are required: add detail" },
            "cells": [[0, 0, 0, "stone"], [16, 9, 16, "glass"]],
        })
    );
}

#[test]
fn cells_come_by_y_then_z_then_x() {
    let text = r#"{"version":"1.0","boxes":[{"x1":0,"y1":0,"z1":0,"x2":1,"y2":1,"z2":1,"type":"sand"}]}"#;
    let expected = [[0, 0, 0], [1, 0, 0], [0, 0, 1], [1, 0, 1], [0, 1, 0], [1, 1, 0], [0, 1, 1], [1, 1, 1]];
    let expected: Vec<Value> = expected.iter().map(|[x, y, z]| json!([x, y, z, "sand"])).collect();
    assert_eq!(simple(text)["cells"], Value::from(expected));
}

#[test]
fn the_five_most_frequent_unknown_kinds_are_named_and_the_rest_counted() {
    let mut blocks = Vec::new();
    for (kind, times) in [("a", 7), ("b", 6), ("c", 5), ("d", 4), ("e", 4), ("f", 2), ("g", 1)] {
        blocks.extend(std::iter::repeat_n(json!({ "x": 0, "y": 0, "z": 0, "type": kind }), times));
    }
    // Another spelling is the same kind.
    blocks.push(json!({ "x": 99, "y": 0, "z": 0, "type": "minecraft:B" }));
    let report = simple(json!({ "version": "1.0", "blocks": blocks }).to_string());
    let warnings: Vec<(&str, u64)> = report["warnings"]
        .as_array()
        .unwrap()
        .iter()
        .map(|w| (w["type"].as_str().unwrap_or("more"), w["count"].as_u64().unwrap()))
        .collect();
    assert_eq!(warnings, [("a", 7), ("b", 7), ("c", 5), ("d", 4), ("e", 4), ("more", 3)]);
    assert_eq!(report["warnings"][5]["message"], "2 more unknown types: 3 writes were dropped");
}

/// A box over the whole range of 64 bits is clipped, and what lies outside is counted, not walked.
#[test]
fn huge_coordinates_are_clipped_and_counts_saturate() {
    let huge = |kind: &str| {
        let (min, max) = (i64::MIN, i64::MAX);
        let corner = json!({ "x1": min, "y1": 0, "z1": min, "x2": max, "y2": 3, "z2": max, "type": kind });
        let ends =
            json!({ "from": { "x": min, "y": 5, "z": 5 }, "to": { "x": max, "y": 5, "z": 5 }, "type": kind });
        let block = json!({ "x": max, "y": min, "z": 0, "type": kind });
        json!({ "version": "1.0", "boxes": [corner], "lines": [ends], "blocks": [block] }).to_string()
    };
    let known = simple(huge("stone"));
    assert_eq!(known["blockCount"], 32 * 4 * 32 + 32);
    assert_eq!(count(&known, "out_of_bounds", None), MAX_COUNT);

    let unknown = simple(huge("air"));
    assert_eq!(unknown["blockCount"], 0);
    assert_eq!(count(&unknown, "unknown_block", Some("air")), MAX_COUNT);
    assert_eq!(count(&unknown, "out_of_bounds", None), 0);
}

#[test]
fn a_spec_may_write_eight_times_the_volume_and_no_more() {
    let boxes = |n: usize, kind: &str| {
        let full = json!({ "x1": 0, "y1": 0, "z1": -9, "x2": 31, "y2": 31, "z2": 99, "type": kind });
        json!({ "version": "1.0", "boxes": vec![full; n] }).to_string()
    };
    assert_eq!(error(&simple(boxes(8, "stone"))).0, "too_many_blocks");
    // Unknown types write nothing.
    assert_eq!(error(&simple(boxes(9, "air"))).0, "no_blocks");

    let refused = simple(boxes(9, "stone"));
    assert_eq!(error(&refused).0, "too_much_work");
    assert_eq!(refused["blockCount"], 0);
    assert_eq!(refused["bounds"], Value::Null);
    assert_eq!(refused["cells"], json!([]));
}

#[test]
fn a_million_overlapping_boxes_are_refused_before_they_are_drawn() {
    let full = r#"{"x1":0,"y1":0,"z1":0,"x2":255,"y2":255,"z2":255,"type":"stone"},"#;
    let text = format!(r#"{{"version":"1.0","boxes":[{}]}}"#, full.repeat(1_000_000).trim_end_matches(','));
    let verdict = voxel::check(text.as_bytes(), GridSize::G256, Palette::Simple, 256 << 20);
    assert_eq!(verdict.rejection().unwrap().code, voxel::RejectionCode::TooMuchWork);
}
