//! Finding the spec in the answer of a model.

use serde_json::json;

use super::{error, simple};

fn spec(blocks: usize) -> String {
    let blocks: Vec<_> = (0..blocks).map(|x| json!({ "x": x, "y": 0, "z": 0, "type": "stone" })).collect();
    json!({ "version": "1.0", "blocks": blocks }).to_string()
}

#[test]
fn the_spec_is_found_wherever_it_stands() {
    let (one, two, three) = (spec(1), spec(2), spec(3));
    for (text, blocks) in [
        (one.clone(), 1),
        (format!("\u{feff}  {one}\n"), 1),
        (format!("Sure! Here's the build:\n\n```json\n{two}\n```\nEnjoy \"it\"."), 2),
        (format!("```\n{two}\n```"), 2),
        (format!("I'd use {{braces}} and a \"quote, then {two}"), 2),
        (format!("A 5\" pipe {{\"not a spec\": true}} and\n{two}\nand {{}} to end"), 2),
        (format!("Draft: {one} Final: {three} Note: {two}"), 3),
        (format!(r#"{{"thoughts": "a plan", "build": {three}}}"#), 3),
        (format!(r#"[{one}, {three}]"#), 3),
        (format!("{}{two}{}", r#"{"a":"#.repeat(29), "}".repeat(29)), 2),
        (format!("{} {two}", "{}".repeat(500)), 2),
        (format!(r#"{{"broken": {{"boxes": [}} {two}"#), 2),
        (format!(r#"{{"blocks": [{{"x": 1.5}}]}} was wrong, so {two}"#), 2),
        (format!("{one} {{\"blocks\": [{{\"x\": "), 1),
    ] {
        let report = simple(&text);
        assert_eq!(report["blockCount"], blocks, "{text}");
        assert_eq!(error(&report).0, "too_few_blocks", "{text}");
    }
}

#[test]
fn without_a_spec_the_most_telling_error_is_kept() {
    for (text, code, place) in [
        ("I cannot do that.", "bad_json", "no JSON object with boxes"),
        ("Use {} or {braces}.", "bad_json", "no JSON object with boxes"),
        (
            "```json\n{\"version\": \"1.0\", \"blocks\": [{\"x\": 1, \"y\": 1, \"z\": 1, \"type\": \"stone\"},",
            "bad_json",
            "ends too early at line 2",
        ),
        ("{\"a\" 1} and {\"version\": \"1.0\", \"boxes\": [{\"x1\": \"one\"}]}", "bad_spec", "boxes[0].x1"),
    ] {
        let report = simple(text);
        let (found, message) = error(&report);
        assert_eq!(found, code, "{text}");
        assert!(message.contains(place), "{text}: {message}");
    }
}

#[test]
fn of_equally_large_specs_the_last_is_taken() {
    let block =
        |kind: &str| json!({ "version": "1.0", "blocks": [{ "x": 0, "y": 0, "z": 0, "type": kind }] });
    let report = simple(format!("First {} then {}", block("stone"), block("glass")));
    assert_eq!(report["cells"], json!([[0, 0, 0, "glass"]]));
}
