//! Bad input: each is rejected with a message and a place, in bounded time and memory.

use std::io::Write;

use flate2::{Compression, write::GzEncoder};
use proptest::prelude::*;
use serde_json::{Value, json};
use voxel::{GridSize, Palette, Report, check};

use super::{count, error, simple};

const NO_SPEC: &str =
    "the text contains no JSON object with boxes, lines or blocks (searched from line 1, column 1)";

fn boxes(fields: &str) -> String {
    format!(r#"{{"version":"1.0","boxes":[{{{fields}}}]}}"#)
}

fn block(x: &str) -> String {
    format!(
        r#"{{"version":"1.0","blocks":[{{"x":0,"y":0,"z":0,"type":"stone"}},{{"x":{x},"y":1,"z":2,"type":"stone"}}]}}"#
    )
}

#[test]
fn what_is_wrong_is_told_with_its_place() {
    let nested = format!(r#"{{"version":"1.0","extra":{}1{}}}"#, "[".repeat(200), "]".repeat(200));
    let long_name = block("1").replace("stone", &"x".repeat(2 << 20));
    for (text, code, message) in [
        (block("3.5"), "bad_spec", "blocks[1].x: expected a whole number, got 3.5"),
        (block("\"3\""), "bad_spec", "blocks[1].x: expected a whole number, got \"3\""),
        (block("null"), "bad_spec", "blocks[1].x: expected a whole number, got null"),
        (block("true"), "bad_spec", "blocks[1].x: expected a whole number, got true"),
        (block("[1]"), "bad_spec", "blocks[1].x: expected a whole number, got a list"),
        (block("{}"), "bad_spec", "blocks[1].x: expected a whole number, got an object"),
        (
            block("1e400"),
            "bad_spec",
            "blocks[1].x: expected a whole number, got a number that is out of range",
        ),
        (
            block("1e30"),
            "bad_spec",
            "blocks[1].x: expected a whole number, got 1e30, which does not fit in 64 bits",
        ),
        (
            block("9223372036854775808"),
            "bad_spec",
            "blocks[1].x: expected a whole number, got 9223372036854775808, which does not fit in 64 bits",
        ),
        (block("NaN"), "bad_json", "invalid JSON at line 1, column 68: expected value"),
        (block("01"), "bad_json", "invalid JSON at line 1, column 69: invalid number"),
        (boxes(r#""x1":1"#), "bad_spec", "boxes[0].y1: expected a whole number, got nothing"),
        (
            boxes(r#""x1":1,"y1":1,"z1":1,"x2":1,"y2":1,"z2":1"#),
            "bad_spec",
            "boxes[0].type: expected a block name, got nothing",
        ),
        (
            boxes(r#""x1":1,"y1":1,"z1":1,"x2":1,"y2":1,"z2":1,"type":7"#),
            "bad_spec",
            "boxes[0].type: expected a block name, got 7",
        ),
        (r#"{"boxes":{}}"#.into(), "bad_spec", "boxes: expected a list, got an object"),
        (r#"{"lines":"none"}"#.into(), "bad_spec", "lines: expected a list, got \"none\""),
        (r#"{"lines":null}"#.into(), "bad_spec", "lines: expected a list, got null"),
        (r#"{"blocks":[1]}"#.into(), "bad_spec", "blocks[0]: expected an object, got 1"),
        (
            r#"{"lines":[{"from":1}]}"#.into(),
            "bad_spec",
            "lines[0].from: expected an object with x, y and z, got 1",
        ),
        (
            r#"{"lines":[{"from":{"x":1,"y":1,"z":"a"},"to":{"x":1,"y":1,"z":1},"type":"stone"}]}"#.into(),
            "bad_spec",
            "lines[0].from.z: expected a whole number, got \"a\"",
        ),
        (
            r#"{"lines":[{"from":{"x":1,"y":1,"z":1},"type":"stone"}]}"#.into(),
            "bad_spec",
            "lines[0].to.x: expected a whole number, got nothing",
        ),
        (r#"{"version":1.0,"blocks":[]}"#.into(), "bad_spec", "version: expected \"1.0\", got 1"),
        (r#"{"version":"2.0","blocks":[]}"#.into(), "bad_spec", "version: expected \"1.0\", got \"2.0\""),
        (nested, "bad_json", "lists and objects are nested more than 32 levels deep"),
        (long_name, "bad_spec", "blocks[0].type: expected a name of at most 256 bytes, got 2097152 bytes"),
        (
            r#"{"version":"1.0","blocks":[{"x":0,"#.into(),
            "bad_json",
            "the JSON ends too early at line 1, column 34: it may be cut off",
        ),
        (
            r#"{"response":{"version":"1.0","boxes":[{"x1":3.5}]}}"#.into(),
            "bad_spec",
            "boxes[0].x1: expected a whole number, got 3.5",
        ),
        (
            r#"{"response":{"version":"2.0","boxes":[]}}"#.into(),
            "bad_spec",
            "version: expected \"1.0\", got \"2.0\"",
        ),
        ("".into(), "bad_json", NO_SPEC),
        ("[]".into(), "bad_json", NO_SPEC),
        ("{'boxes': []}".into(), "bad_json", NO_SPEC),
    ] {
        let report = simple(&text);
        let shown: String = text.chars().take(120).collect();
        assert_eq!(error(&report), (code, message), "{shown}");
        assert!(report["error"]["line"].is_u64() && report["error"]["column"].is_u64(), "{shown}");
        assert_eq!(report["blockCount"], 0, "{shown}");
        assert_eq!(report["bounds"], Value::Null, "{shown}");
    }
}

#[test]
fn positions_are_those_of_the_whole_text() {
    let text = "Here you go:\n```json\n{\n  \"version\": \"1.0\",\n  \"blocks\": [\n    { \"x\": oops }\n  ]\n}\n```\n";
    let report = simple(text);
    assert_eq!(error(&report), ("bad_json", "invalid JSON at line 6, column 12: expected value"));
    assert_eq!((&report["error"]["line"], &report["error"]["column"]), (&json!(6), &json!(12)));

    let wrong = simple(
        "Look: {\"version\": \"1.0\",\n\"blocks\": [{\"x\": 1.5, \"y\": 0, \"z\": 0, \"type\": \"stone\"}]} done",
    );
    assert_eq!(error(&wrong).1, "blocks[0].x: expected a whole number, got 1.5");
    assert_eq!(wrong["error"]["line"], 2);

    let spread = simple("{\"boxes\": [\n{\n \"x1\": 1,\n \"y1\": \"one\",\n \"z1\": 1}]}");
    assert_eq!(error(&spread).1, "boxes[0].y1: expected a whole number, got \"one\"");
    assert_eq!((&spread["error"]["line"], &spread["error"]["column"]), (&json!(4), &json!(8)));

    let not_utf8 = simple(b"{\"version\":\n \"1.\xff0\"}");
    assert_eq!(error(&not_utf8), ("bad_json", "the text is not valid UTF-8 at line 2, column 5"));
    let picture = simple(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR");
    let said = "this is an image, not a build: use a spec, a .schem, a .litematic or a .vox";
    assert_eq!(error(&picture), ("bad_file", said));
}

#[test]
fn whole_floats_are_numbers_and_the_last_of_duplicate_keys_counts() {
    let text = r#"{
        "version": 7, "blocks": [{"x": 9, "y": 9, "z": 9, "type": "glass"}],
        "version": "1.0",
        "blocks": [{"x": 0.5, "x": 10.0, "y": -0.0, "z": 1e1, "type": 4, "type": "stone", "comment": {"a": [1]}}]
    }"#;
    let report = simple(text);
    assert_eq!(report["cells"], json!([[10, 0, 10, "stone"]]));
    assert_eq!(report["warnings"], json!([]));
}

/// Unknown keys are ignored with any value, down to the allowed depth.
#[test]
fn unknown_keys_are_passed_over() {
    let text = r#"{"version":"1.0","meta":{"cost":1e999,"q":"\"[{"},"blocks":[
        {"x":0,"y":0,"z":0,"type":"stone","note":1e400,"from":"[[[["}],"lines":[
        {"from":{"x":1,"y":0,"z":0,"w":1e400},"to":{"x":1,"y":0,"z":0},"type":"stone","x":null}]}"#;
    assert_eq!(simple(text)["cells"], json!([[0, 0, 0, "stone"], [1, 0, 0, "stone"]]));
    let deep = |levels| {
        format!(r#"{{"version":"1.0","a":{}{},"blocks":[]}}"#, "[".repeat(levels), "]".repeat(levels))
    };
    assert_eq!(error(&simple(deep(31))).0, "no_blocks");
    assert_eq!(error(&simple(deep(32))).0, "bad_json");
}

#[test]
fn names_may_be_escaped_and_depth_32_is_allowed() {
    let nested = format!("{}1{}", "[".repeat(31), "]".repeat(31));
    let text =
        format!(r#"{{"version":"1.0","x":{nested},"blocks":[{{"x":0,"y":0,"z":0,"type":"\u0073tone"}}]}}"#);
    assert_eq!(simple(text)["cells"], json!([[0, 0, 0, "stone"]]));
}

#[test]
fn there_is_an_end_to_the_kinds_of_blocks() {
    let blocks: Vec<Value> =
        (0..70_000).map(|i| json!({ "x": 0, "y": 0, "z": 0, "type": format!("kind{i}") })).collect();
    let report = simple(json!({ "version": "1.0", "blocks": blocks }).to_string());
    let expected = "blocks[65536].type: expected at most 65536 different names, got one more";
    assert_eq!(error(&report), ("bad_spec", expected));
}

#[test]
fn text_is_bounded_plain_and_gzipped() {
    let text = format!("{}{}", block("1"), " ".repeat(100));
    let code = |input: &[u8], limit| {
        let verdict = check(input, GridSize::G32, Palette::Simple, limit);
        let report =
            serde_json::to_value(Report::new(&verdict, GridSize::G32, Palette::Simple, false)).unwrap();
        (error(&report).0.to_owned(), report.get("cells").is_some())
    };
    let zipped = gzip(text.as_bytes());
    assert_eq!(code(text.as_bytes(), text.len()), ("too_few_blocks".into(), false));
    assert_eq!(code(text.as_bytes(), text.len() - 1).0, "too_large");
    assert_eq!(code(&zipped, text.len()).0, "too_few_blocks");
    assert_eq!(code(&zipped, text.len() - 1).0, "too_large");
    assert_eq!(code(&zipped[..zipped.len() - 9], 1 << 20).0, "bad_json");

    let bomb = gzip(&vec![b' '; 300 << 20]);
    assert!(bomb.len() < 4 << 20);
    assert_eq!(code(&bomb, 32 << 20).0, "too_large");
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// Texts that are made to slow down the search for a spec.
#[test]
fn searching_a_hostile_text_ends() {
    let unclosed = r#"{"a":["#.repeat(200_000);
    let siblings = format!(r#"{{"a":[{}"#, "{},".repeat(300_000));
    let layers = format!("{}{}", r#"{"a":[{},"#.repeat(28), "{},".repeat(300_000));
    let quotes = r#"{""#.repeat(500_000);
    for text in ["{".repeat(1_000_000), unclosed, siblings, layers, quotes] {
        assert_eq!(error(&simple(text)).0, "bad_json");
    }
}

fn json_like() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "{",
        "}",
        "[",
        "]",
        ",",
        ":",
        "\"boxes\"",
        "\"lines\"",
        "\"blocks\"",
        "\"version\"",
        "\"1.0\"",
        "\"x\"",
        "\"x1\"",
        "\"from\"",
        "\"type\"",
        "\"stone\"",
        "1",
        "-3",
        "2.0",
        "1e99",
        "null",
        "\"",
        "\\",
        " ",
        "\u{feff}",
        "é",
    ]);
    prop::collection::vec(piece, 0..60).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn reading_any_bytes_never_panics(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        simple(&bytes);
    }

    #[test]
    fn reading_what_looks_like_json_never_panics(text in json_like()) {
        let report = simple(&text);
        prop_assert_eq!(report["ok"] == true, report["error"].is_null());
        let kinds = report["warnings"].as_array().unwrap().iter().filter(|w| w["code"] == "unknown_block").count();
        prop_assert!(kinds <= 5 && count(&report, "out_of_bounds", None) <= 60);
    }
}
