//! A second implementation of expansion, slow and obvious: a map of cells, in which every write is made.

use std::collections::BTreeMap;

use proptest::prelude::*;
use serde_json::{Value, json};
use voxel::{GridSize, Palette};

use super::{count, report};

#[derive(Clone, Debug)]
enum NaiveEntry {
    Box([i64; 6], &'static str),
    Line([i64; 6], &'static str),
    Block([i64; 3], &'static str),
}

#[derive(Debug, Default, PartialEq)]
struct NaiveGrid {
    cells: BTreeMap<(i64, i64, i64), String>,
    out_of_bounds: u64,
    unknown: BTreeMap<String, u64>,
}

fn expand(entries: &[NaiveEntry], edge: i64) -> NaiveGrid {
    let mut expanded = NaiveGrid::default();
    for wanted in 0..3 {
        for entry in entries {
            let (order, kind, writes) = match entry {
                NaiveEntry::Box(c, kind) => (0, kind, box_cells(*c)),
                NaiveEntry::Line(c, kind) => (1, kind, line_cells(*c)),
                NaiveEntry::Block(c, kind) => (2, kind, vec![*c]),
            };
            if order == wanted {
                writes.into_iter().for_each(|at| expanded.write(at, kind, edge));
            }
        }
    }
    expanded
}

impl NaiveGrid {
    fn write(&mut self, [x, y, z]: [i64; 3], kind: &str, edge: i64) {
        let Some(block) = resolve_kind(kind) else {
            *self.unknown.entry(kind.to_owned()).or_default() += 1;
            return;
        };
        if [x, y, z].iter().all(|v| (0..edge).contains(v)) {
            self.cells.insert((y, z, x), block.to_owned());
        } else {
            self.out_of_bounds += 1;
        }
    }
}

/// A few kinds are enough here; names have their own tests.
fn resolve_kind(kind: &str) -> Option<&str> {
    match kind {
        "stone" | "glass" | "oak_planks" => Some(kind),
        "planks" => Some("oak_planks"),
        _ => None,
    }
}

fn box_cells([x1, y1, z1, x2, y2, z2]: [i64; 6]) -> Vec<[i64; 3]> {
    let mut cells = Vec::new();
    for x in x1.min(x2)..=x1.max(x2) {
        for y in y1.min(y2)..=y1.max(y2) {
            for z in z1.min(z2)..=z1.max(z2) {
                cells.push([x, y, z]);
            }
        }
    }
    cells
}

fn line_cells([x1, y1, z1, x2, y2, z2]: [i64; 6]) -> Vec<[i64; 3]> {
    let d = [x2 - x1, y2 - y1, z2 - z1];
    let n = d.iter().map(|d| d.abs()).max().unwrap();
    if n == 0 {
        return vec![[x1, y1, z1]];
    }
    let axis = |p: i64, d: i64, i: i64| p + (2 * d * i + n).div_euclid(2 * n);
    (0..=n).map(|i| [axis(x1, d[0], i), axis(y1, d[1], i), axis(z1, d[2], i)]).collect()
}

fn json_of(entries: &[NaiveEntry], lists: [usize; 3]) -> String {
    let mut texts = [const { Vec::<Value>::new() }; 3];
    for entry in entries {
        match entry {
            NaiveEntry::Box([x1, y1, z1, x2, y2, z2], kind) => texts[0].push(
                json!({ "x1": x1, "y1": y1, "z1": z1, "x2": x2, "y2": y2, "z2": z2, "type": kind }),
            ),
            NaiveEntry::Line([x1, y1, z1, x2, y2, z2], kind) => texts[1].push(
                json!({ "from": { "x": x1, "y": y1, "z": z1 }, "to": { "x": x2, "y": y2, "z": z2 }, "type": kind }),
            ),
            NaiveEntry::Block([x, y, z], kind) => texts[2].push(json!({ "x": x, "y": y, "z": z, "type": kind })),
        }
    }
    let keys = ["boxes", "lines", "blocks"];
    let list = |i: usize| format!("{:?}:{}", keys[i], Value::from(texts[i].clone()));
    format!("{{\"version\":\"1.0\",{}}}", lists.map(list).join(","))
}

fn kinds() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec!["stone", "glass", "oak_planks", "planks", "air", "obsidian"])
}

fn entries() -> impl Strategy<Value = Vec<NaiveEntry>> {
    let coordinate = -6..40_i64;
    let six = prop::array::uniform6(coordinate.clone());
    let entry = prop_oneof![
        (six.clone(), kinds()).prop_map(|(c, kind)| NaiveEntry::Box(c, kind)),
        (six, kinds()).prop_map(|(c, kind)| NaiveEntry::Line(c, kind)),
        (prop::array::uniform3(coordinate), kinds()).prop_map(|(c, kind)| NaiveEntry::Block(c, kind)),
    ];
    prop::collection::vec(entry, 0..6)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn expansion_is_what_the_naive_one_gives(
        entries in entries(),
        lists in Just([0_usize, 1, 2]).prop_shuffle(),
    ) {
        let report = report(json_of(&entries, lists), GridSize::G32, Palette::Simple);
        let expected = expand(&entries, 32);

        let cells: Vec<Value> =
            expected.cells.iter().map(|((y, z, x), kind)| json!([x, y, z, kind])).collect();
        prop_assert_eq!(&report["cells"], &Value::from(cells));
        prop_assert_eq!(&report["blockCount"], expected.cells.len());
        prop_assert_eq!(count(&report, "out_of_bounds", None), expected.out_of_bounds);
        let unknown = report["warnings"].as_array().unwrap().iter().filter(|w| w["code"] == "unknown_block");
        let unknown: BTreeMap<String, u64> =
            unknown.map(|w| (w["type"].as_str().unwrap().to_owned(), w["count"].as_u64().unwrap())).collect();
        prop_assert_eq!(&unknown, &expected.unknown);
        let by_kind: u64 = report["blocks"].as_object().unwrap().values().map(|n| n.as_u64().unwrap()).sum();
        prop_assert_eq!(by_kind, expected.cells.len() as u64);
    }
}
