//! Tests of the format: reading, drawing, rejecting and storing.

#![allow(clippy::unwrap_used, clippy::expect_used)]

mod codec;
mod expansion;
mod image;
mod naive;
mod prose;
mod reading;
mod rules;
mod schema;
mod textures;
mod turntable;

use serde_json::Value;
use voxel::{GridSize, Palette, Report, check};

/// The report on a text, with cells.
fn report(text: impl AsRef<[u8]>, size: GridSize, palette: Palette) -> Value {
    let verdict = check(text.as_ref(), size, palette, 64 << 20);
    serde_json::to_value(Report::new(&verdict, size, palette, true)).unwrap()
}

fn simple(text: impl AsRef<[u8]>) -> Value {
    report(text, GridSize::G32, Palette::Simple)
}

/// The code and the message of the error in a report.
fn error(report: &Value) -> (&str, &str) {
    let error = &report["error"];
    (error["code"].as_str().unwrap_or_default(), error["message"].as_str().unwrap_or_default())
}

/// The sum of the counts of a report's warnings with a code, and with a type if one is given.
fn count(report: &Value, code: &str, kind: Option<&str>) -> u64 {
    let all = report["warnings"].as_array().unwrap().iter();
    let ours = all.filter(|w| w["code"] == code && kind.is_none_or(|kind| w["type"] == kind));
    ours.map(|w| w["count"].as_u64().unwrap()).sum()
}
