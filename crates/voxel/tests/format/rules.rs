//! The rules and their order.

use serde_json::{Value, json};
use voxel::{GridSize, Palette, Report, check};

use super::{error, report};

fn one_box(size: GridSize, [x, y, z]: [usize; 3]) -> Value {
    let corner = json!({ "x1": 0, "y1": 0, "z1": 0, "x2": x - 1, "y2": y - 1, "z2": z - 1, "type": "stone" });
    let text = json!({ "version": "1.0", "boxes": [corner] }).to_string();
    let verdict = check(text.as_bytes(), size, Palette::Simple, text.len());
    serde_json::to_value(Report::new(&verdict, size, Palette::Simple, false)).unwrap()
}

#[test]
fn the_first_rule_that_fails_is_told() {
    use GridSize::{G32, G64, G128, G256};
    for (size, spans, code) in [
        (G32, [32, 32, 24], ""),
        (G32, [32, 32, 25], "too_many_blocks"),
        (G32, [1, 79, 1].map(|v: usize| v.min(32)), "too_few_blocks"),
        (G32, [16, 1, 5], "footprint_too_small"),
        (G32, [17, 1, 5], "height_too_small"),
        (G32, [5, 1, 17], "height_too_small"),
        (G32, [17, 4, 2], ""),
        (G32, [2, 4, 17], ""),
        (G32, [17, 3, 2], "height_too_small"),
        (G64, [34, 8, 34], "footprint_too_small"),
        (G64, [35, 7, 1], "height_too_small"),
        (G64, [35, 8, 1], ""),
        (G128, [69, 17, 69], "footprint_too_small"),
        (G128, [70, 16, 1], "height_too_small"),
        (G128, [70, 17, 1], ""),
        (G256, [139, 35, 139], "footprint_too_small"),
        (G256, [140, 34, 1], "height_too_small"),
        (G256, [140, 35, 1], ""),
        (G256, [256, 256, 193], "too_many_blocks"),
    ] {
        let report = one_box(size, spans);
        assert_eq!(error(&report).0, code, "{size}: {spans:?}");
        assert_eq!(report["blockCount"], spans.iter().product::<usize>(), "{size}: {spans:?}");
        assert_eq!(report["ok"], code.is_empty());
    }
}

#[test]
fn an_empty_build_has_no_blocks_and_no_bounds() {
    for text in ["{}", r#"{"version":"1.0"}"#, r#"{"version":"1.0","boxes":[],"lines":[],"blocks":[]}"#] {
        let report = report(text, GridSize::G32, Palette::Simple);
        assert_eq!(error(&report), ("no_blocks", "the grid contains no blocks"));
        assert_eq!(report["bounds"], Value::Null);
        assert_eq!(report["blocks"], json!({}));
    }
}
