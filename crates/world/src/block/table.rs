//! The table of all blocks, made from `data/blocks.toml`.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::Deserialize;
use toml::Value;
use voxel::textures::Layer;

use super::form::{ShapeName, lay, turn};
use super::{
    Axis, BlockForm, BlockKind, BlockProperties, BlockProperty, BlockSupport, BoxEdges, Facing, Look, Shape,
    ToolKind, Turned,
};

/// The table of all blocks.
#[derive(Default)]
pub(crate) struct Table {
    pub kinds: Vec<BlockKind>,
    pub states: Vec<BlockProperties>,
    pub looks: Vec<BlockLook>,
    by_id: BTreeMap<&'static str, usize>,
}

/// How a kind is painted, and its states where they look otherwise.
#[derive(Debug, Default)]
pub(crate) struct BlockLook {
    pub faces: FaceRecipes,
    pub states: Vec<(BTreeMap<String, String>, FaceRecipes)>,
    /// Whether top and bottom turn with the block.
    pub turns: bool,
    /// How high a cross between its boxes begins, in sixteenths.
    pub cross_from: u8,
    /// What stands for it in a build, if the palette lacks it.
    pub build: Option<String>,
}

/// The recipes of faces, or none where the palette has them.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct FaceRecipes {
    pub top: Vec<Layer>,
    pub side: Vec<Layer>,
    pub bottom: Vec<Layer>,
    /// The side that it faces to.
    pub front: Vec<Layer>,
    /// Two planes from corner to corner, between its boxes.
    pub cross: Vec<Layer>,
    /// It looks like another one.
    pub like: Option<String>,
    /// Its cross looks like the tile of another one.
    pub cross_like: Option<String>,
    /// An ore: specks of this colour in stone.
    pub ore: Option<String>,
}

#[derive(Deserialize)]
struct File {
    #[serde(default)]
    families: BTreeMap<String, Vec<BTreeMap<String, Value>>>,
    block: Vec<Value>,
}

#[derive(Deserialize)]
struct Entry {
    id: String,
    hardness: Option<f64>,
    tool: Option<ToolKind>,
    tier: Option<u8>,
    #[serde(default)]
    light: u8,
    filter: Option<u8>,
    #[serde(default)]
    shape: ShapeName,
    #[serde(default)]
    boxes: Vec<BoxEdges>,
    collision: Option<Vec<BoxEdges>>,
    outline: Option<Vec<BoxEdges>>,
    solid: Option<bool>,
    slip: Option<f64>,
    #[serde(default)]
    replaceable: bool,
    #[serde(default)]
    climbable: bool,
    #[serde(default)]
    properties: Vec<BlockProperty>,
    #[serde(default)]
    ignores: Vec<String>,
    #[serde(default)]
    look: Look,
    #[serde(default)]
    support: BlockSupport,
    #[serde(default)]
    turned: Turned,
    on_wall: Option<String>,
    #[serde(default)]
    falls: bool,
    #[serde(default)]
    opens: bool,
    #[serde(default)]
    toggles: bool,
    holds: Option<bool>,
    joins: Option<bool>,
    #[serde(default)]
    shades: bool,
    #[serde(default)]
    turns: bool,
    #[serde(default)]
    cross_from: u8,
    build: Option<String>,
    #[serde(flatten)]
    faces: FaceRecipes,
    #[serde(default)]
    when: Vec<When>,
}

/// What is otherwise for some states.
#[derive(Deserialize)]
struct When {
    is: BTreeMap<String, String>,
    light: Option<u8>,
    boxes: Option<Vec<BoxEdges>>,
    #[serde(flatten)]
    faces: FaceRecipes,
}

/// The files, in the order in which their blocks have their numbers.
const FILES: [&str; 4] = [
    include_str!("../../data/blocks.toml"),
    include_str!("../../data/families.toml"),
    include_str!("../../data/furnishings.toml"),
    include_str!("../../data/plants.toml"),
];

pub(crate) fn table() -> &'static Table {
    static TABLE: LazyLock<Table> = LazyLock::new(|| {
        let mut table = Table::default();
        for text in FILES {
            #[expect(
                clippy::expect_used,
                reason = "the files are part of the program, and a test reads them"
            )]
            let entries = read(text).expect("the files in data/ are sound");
            entries.into_iter().for_each(|entry| table.add(entry));
        }
        table
    });
    &TABLE
}

/// The entries of a file, one for each block.
fn read(text: &str) -> Result<Vec<Entry>, toml::de::Error> {
    let file: File = toml::from_str(text)?;
    let mut entries = Vec::new();
    for entry in file.block {
        let Some(family) = entry.get("each").and_then(Value::as_str) else {
            entries.push(entry.try_into()?);
            continue;
        };
        let members = file.families.get(family);
        let members =
            members.ok_or_else(|| serde::de::Error::custom(format!("there is no family {family}")))?;
        let left_out = entry.get("except").and_then(Value::as_array).cloned().unwrap_or_default();
        let is_left_out =
            |member: &BTreeMap<String, Value>| left_out.iter().any(|name| member.get("name") == Some(name));
        for member in members.iter().filter(|member| !is_left_out(member)) {
            entries.push(filled(&entry, member).try_into()?);
        }
    }
    Ok(entries)
}

/// A copy of a value with what a member of a family has in place of `{key}`.
fn filled(value: &Value, member: &BTreeMap<String, Value>) -> Value {
    match value {
        // Most text is drawings, in which nothing is to be filled.
        Value::String(text) if text.contains('{') => {
            let whole = text.strip_prefix('{').and_then(|text| text.strip_suffix('}'));
            if let Some(known) = whole.and_then(|key| member.get(key)) {
                return known.clone();
            }
            let mut text = text.clone();
            for (key, value) in member {
                if let Some(value) = value.as_str() {
                    text = text.replace(&format!("{{{key}}}"), value);
                }
            }
            Value::String(text)
        }
        Value::Array(values) => Value::Array(values.iter().map(|value| filled(value, member)).collect()),
        Value::Table(table) => {
            Value::Table(table.iter().map(|(key, value)| (key.clone(), filled(value, member))).collect())
        }
        other => other.clone(),
    }
}

impl Table {
    pub fn kind(&self, id: &str) -> Option<usize> {
        self.by_id.get(id).copied()
    }

    fn add(&mut self, entry: Entry) {
        let first = self.states.len() as u16;
        let count: usize = entry.properties.iter().map(|property| property.values().len()).product();
        for number in 0..count {
            self.states.push(entry.state(self.kinds.len(), number));
        }
        let is_leaves = entry.id.ends_with("_leaves");
        // Ids live as long as the table, which is for ever.
        let id: &'static str = entry.id.leak();
        self.by_id.insert(id, self.kinds.len());
        self.kinds.push(BlockKind {
            id,
            hardness: entry.hardness,
            tool: entry.tool,
            tier: entry.tier,
            look: entry.look,
            slip: entry.slip.unwrap_or(0.6),
            replaceable: entry.replaceable || matches!(entry.shape, ShapeName::Liquid),
            climbable: entry.climbable,
            support: entry.support,
            turned: entry.turned,
            on_wall: entry.on_wall.map(|id| &*id.leak()),
            falls: entry.falls,
            opens: entry.opens,
            toggles: entry.toggles,
            holds: entry.holds.unwrap_or(!is_leaves),
            joins: entry.joins.unwrap_or(!is_leaves),
            joint: entry.shape.joint(),
            properties: entry.properties,
            ignores: entry.ignores,
            first,
        });
        self.looks.push(BlockLook {
            faces: entry.faces,
            states: entry.when.into_iter().map(|when| (when.is, when.faces)).collect(),
            turns: entry.turns,
            cross_from: entry.cross_from,
            build: entry.build,
        });
    }
}

impl Entry {
    /// The state with a number, of those of a kind.
    fn state(&self, kind: usize, number: usize) -> BlockProperties {
        let value = |name: &str| {
            let mut rest = number;
            for property in self.properties.iter().rev() {
                let values = property.values();
                if property.name() == name {
                    return values[rest % values.len()];
                }
                rest /= values.len();
            }
            ""
        };
        let facing = Facing::ALL.into_iter().find(|facing| facing.name() == value("facing"));
        let axis = Axis::ALL.into_iter().find(|axis| axis.name() == value("axis")).unwrap_or(Axis::Y);
        let when =
            || self.when.iter().filter(|when| when.is.iter().all(|(name, wanted)| value(name) == wanted));
        let stand = |boxes: &[BoxEdges]| -> Vec<BoxEdges> {
            boxes.iter().map(|edges| turn(lay(*edges, axis), facing)).collect()
        };
        let boxes = when().find_map(|when| when.boxes.as_ref()).unwrap_or(&self.boxes);
        let mut forms = if boxes.is_empty() {
            self.shape.forms(facing, &value)
        } else {
            vec![BlockForm::of_shape(Shape::Boxes(stand(boxes)))]
        };
        for form in &mut forms {
            let collision = match (&self.collision, self.solid) {
                (Some(boxes), _) => stand(boxes),
                (None, Some(false)) => vec![],
                (None, _) => form.collision.clone(),
            };
            let outline = self.outline.as_ref().map_or_else(|| form.outline.clone(), |boxes| stand(boxes));
            *form = BlockForm::new(form.drawn.clone(), collision, outline);
        }
        let shape = if forms.len() > 1 { Shape::Joined } else { forms[0].drawn.clone() };
        let is_opaque_cube = self.look == Look::Opaque && shape == Shape::Cube;
        let filter = if is_opaque_cube { self.filter.unwrap_or(15) } else { self.filter.unwrap_or(0) };
        BlockProperties {
            kind,
            facing,
            axis,
            solid: forms.iter().any(|form| !form.collision.is_empty()),
            shape,
            light: when().find_map(|when| when.light).unwrap_or(self.light),
            filter,
            shade: if self.shades && filter < 15 { forms[0].whole } else { 0 },
            forms,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_have_no_keys_that_nobody_reads() {
        const KEYS: [&str; 37] = [
            "each",
            "except",
            "id",
            "hardness",
            "tool",
            "tier",
            "light",
            "filter",
            "shape",
            "boxes",
            "collision",
            "outline",
            "solid",
            "slip",
            "replaceable",
            "climbable",
            "properties",
            "ignores",
            "look",
            "support",
            "turned",
            "on_wall",
            "falls",
            "opens",
            "toggles",
            "holds",
            "joins",
            "shades",
            "turns",
            "cross_from",
            "when",
            "top",
            "side",
            "bottom",
            "front",
            "cross",
            "like",
        ];
        for text in FILES {
            let file: File = toml::from_str(text).unwrap();
            for entry in file.block {
                let known = |key: &str| KEYS.contains(&key) || ["cross_like", "ore", "build"].contains(&key);
                let whens = entry.get("when").and_then(Value::as_array).into_iter().flatten();
                let tables = whens.chain([&entry]).filter_map(Value::as_table);
                let unknown: Vec<_> =
                    tables.flat_map(|table| table.keys()).filter(|key| !known(key) && *key != "is").collect();
                assert!(unknown.is_empty(), "{unknown:?} in {entry}");
            }
        }
    }

    #[test]
    fn ids_are_unique_and_states_are_few() {
        let table = table();
        assert_eq!(table.by_id.len(), table.kinds.len());
        assert!(table.states.len() < usize::from(u16::MAX), "{}", table.states.len());
        for kind in &table.kinds {
            assert!(kind.on_wall.is_none_or(|id| table.kind(id).is_some()), "{}", kind.id);
        }
    }
}
