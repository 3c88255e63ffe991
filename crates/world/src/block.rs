//! Blocks: what a cell can hold, and the facts about it, from `data/blocks.toml`.
//!
//! A [`WorldBlock`] is a state, such as a ladder that faces east. Its number is an index into the table of states, which is made
//! when it is first needed and never changes. Numbers are the same on every machine, but not between versions of the
//! engine, so files have ids.

use std::collections::BTreeMap;
use std::sync::LazyLock;

pub use craft::ToolKind;
use serde::Deserialize;
use voxel::textures::Layer;

/// The state of a cell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct WorldBlock(pub(crate) u16);

/// A direction in the plane.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Facing {
    North,
    South,
    West,
    East,
}

/// The axis along which a log lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Axis {
    Y,
    X,
    Z,
}

/// How the cell is filled, in sixteenths of its edge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Shape {
    None,
    Cube,
    Liquid,
    /// Two planes from corner to corner.
    Cross,
    Boxes(Vec<[u8; 6]>),
}

/// How light goes through its texels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Look {
    #[default]
    Opaque,
    /// Texels are there or not.
    Cutout,
    Translucent,
}

/// A kind of block, whose states differ only in their properties.
#[derive(Debug)]
pub struct BlockKind {
    pub id: &'static str,
    /// None if it cannot be broken.
    pub hardness: Option<f64>,
    pub tool: Option<ToolKind>,
    /// The least tool that gets something out of it. None if a hand does.
    pub tier: Option<u8>,
    pub look: Look,
    /// What the body on it keeps of its speed.
    pub slip: f64,
    /// Whether something can be put into its cell.
    pub replaceable: bool,
    pub climbable: bool,
    pub(crate) first: u16,
}

/// What the engine needs to know about a state.
#[derive(Debug)]
pub struct BlockProperties {
    pub kind: usize,
    pub facing: Option<Facing>,
    pub axis: Axis,
    pub shape: Shape,
    /// Whether bodies stop at it.
    pub solid: bool,
    /// How bright it shines.
    pub light: u8,
    /// How much light it takes away.
    pub filter: u8,
}

/// The table of all blocks.
pub(crate) struct Table {
    pub kinds: Vec<BlockKind>,
    pub states: Vec<BlockProperties>,
    pub looks: Vec<BlockLook>,
    by_id: BTreeMap<&'static str, usize>,
}

/// How a kind is painted: recipes of top, side and bottom, or none where the palette has them.
#[derive(Debug, Default)]
pub(crate) struct BlockLook {
    pub top: Vec<Layer>,
    pub side: Vec<Layer>,
    pub bottom: Vec<Layer>,
    /// It looks like another one.
    pub like: Option<&'static str>,
    /// An ore: specks of this colour in stone.
    pub ore: Option<&'static str>,
    /// What stands for it in a build, if the palette lacks it.
    pub build: Option<&'static str>,
}

#[derive(Deserialize)]
struct File {
    block: Vec<Entry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
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
    boxes: Vec<[u8; 6]>,
    solid: Option<bool>,
    slip: Option<f64>,
    #[serde(default)]
    replaceable: bool,
    #[serde(default)]
    climbable: bool,
    #[serde(default)]
    properties: Vec<Property>,
    #[serde(default)]
    look: Look,
    #[serde(default)]
    top: Vec<Layer>,
    #[serde(default)]
    side: Vec<Layer>,
    #[serde(default)]
    bottom: Vec<Layer>,
    like: Option<String>,
    ore: Option<String>,
    build: Option<String>,
}

#[derive(Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
enum ShapeName {
    #[default]
    Cube,
    Liquid,
    Cross,
}

#[derive(Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Property {
    Facing,
    Axis,
}

impl Facing {
    pub const ALL: [Self; 4] = [Self::North, Self::South, Self::West, Self::East];

    /// The cell that it points to, from a cell.
    pub fn step(self) -> [i32; 3] {
        match self {
            Self::North => [0, 0, -1],
            Self::South => [0, 0, 1],
            Self::West => [-1, 0, 0],
            Self::East => [1, 0, 0],
        }
    }

    pub fn opposite(self) -> Self {
        match self {
            Self::North => Self::South,
            Self::South => Self::North,
            Self::West => Self::East,
            Self::East => Self::West,
        }
    }
}

impl Axis {
    pub const ALL: [Self; 3] = [Self::Y, Self::X, Self::Z];
}

impl WorldBlock {
    pub const AIR: Self = Self(0);

    /// The first state of a kind, by its id.
    pub fn of(id: &str) -> Option<Self> {
        let id = id.strip_prefix("minecraft:").unwrap_or(id);
        let kind = *table().by_id.get(id)?;
        Some(Self(table().kinds[kind].first))
    }

    pub fn facing(self, facing: Facing) -> Self {
        self.with(|state| state.facing == Some(facing))
    }

    pub fn along(self, axis: Axis) -> Self {
        self.with(|state| state.axis == axis)
    }

    /// The state of the same kind for which something holds; itself if there is none.
    fn with(self, holds: impl Fn(&BlockProperties) -> bool) -> Self {
        let first = self.kind().first;
        let states = &table().states;
        let same = states.iter().skip(usize::from(first)).take_while(|state| state.kind == self.state().kind);
        let offset = same.enumerate().find(|(_, state)| holds(state)).map(|(offset, _)| offset);
        offset.map_or(self, |offset| Self(first + offset as u16))
    }

    pub fn is_air(self) -> bool {
        self == Self::AIR
    }

    pub fn id(self) -> &'static str {
        self.kind().id
    }

    pub fn kind(self) -> &'static BlockKind {
        &table().kinds[self.state().kind]
    }

    pub fn state(self) -> &'static BlockProperties {
        let states = &table().states;
        // Numbers come from the table alone.
        &states[usize::from(self.0).min(states.len() - 1)]
    }

    pub fn is_liquid(self) -> bool {
        self.state().shape == Shape::Liquid
    }
}

pub(crate) fn table() -> &'static Table {
    static TABLE: LazyLock<Table> = LazyLock::new(|| {
        let file: Result<File, _> = toml::from_str(include_str!("../data/blocks.toml"));
        #[expect(clippy::expect_used, reason = "the file is part of the program, and a test reads it")]
        Table::new(file.expect("data/blocks.toml is sound").block)
    });
    &TABLE
}

impl Table {
    fn new(entries: Vec<Entry>) -> Self {
        let mut table =
            Self { kinds: Vec::new(), states: Vec::new(), looks: Vec::new(), by_id: BTreeMap::new() };
        table.add(Entry {
            id: "air".to_owned(),
            shape: ShapeName::Cube,
            filter: Some(0),
            solid: Some(false),
            replaceable: true,
            climbable: false,
            hardness: None,
            tool: None,
            tier: None,
            light: 0,
            boxes: Vec::new(),
            slip: None,
            properties: Vec::new(),
            look: Look::Cutout,
            top: Vec::new(),
            side: Vec::new(),
            bottom: Vec::new(),
            like: None,
            ore: None,
            build: None,
        });
        table.states[0].shape = Shape::None;
        for entry in entries {
            table.add(entry);
        }
        table
    }

    fn add(&mut self, entry: Entry) {
        let has = |property| entry.properties.contains(&property);
        let facings: Vec<Option<Facing>> =
            if has(Property::Facing) { Facing::ALL.map(Some).into() } else { vec![None] };
        let axes = if has(Property::Axis) { Axis::ALL.to_vec() } else { vec![Axis::Y] };
        let kind = self.kinds.len();
        let first = self.states.len() as u16;
        let opaque = entry.look == Look::Opaque && entry.boxes.is_empty();
        for &facing in &facings {
            for &axis in &axes {
                let shape = match entry.shape {
                    _ if !entry.boxes.is_empty() => {
                        let turned = entry.boxes.iter().map(|&edges| turn(edges, facing));
                        Shape::Boxes(turned.collect())
                    }
                    ShapeName::Cube => Shape::Cube,
                    ShapeName::Liquid => Shape::Liquid,
                    ShapeName::Cross => Shape::Cross,
                };
                self.states.push(BlockProperties {
                    kind,
                    facing,
                    axis,
                    shape,
                    solid: entry.solid.unwrap_or(true),
                    light: entry.light,
                    filter: entry.filter.unwrap_or(if opaque { 15 } else { 0 }),
                });
            }
        }
        // Ids live as long as the table, which is for ever.
        let id: &'static str = entry.id.leak();
        self.by_id.insert(id, kind);
        self.kinds.push(BlockKind {
            id,
            hardness: entry.hardness,
            tool: entry.tool,
            tier: entry.tier,
            look: entry.look,
            slip: entry.slip.unwrap_or(0.6),
            replaceable: entry.replaceable || matches!(entry.shape, ShapeName::Liquid),
            climbable: entry.climbable,
            first,
        });
        self.looks.push(BlockLook {
            top: entry.top,
            side: entry.side,
            bottom: entry.bottom,
            like: entry.like.map(|id| &*id.leak()),
            ore: entry.ore.map(|colour| &*colour.leak()),
            build: entry.build.map(|id| &*id.leak()),
        });
    }
}

/// A box as it stands when the block faces north, turned to where it faces.
fn turn([x1, y1, z1, x2, y2, z2]: [u8; 6], facing: Option<Facing>) -> [u8; 6] {
    match facing {
        None | Some(Facing::North) => [x1, y1, z1, x2, y2, z2],
        Some(Facing::South) => [16 - x2, y1, 16 - z2, 16 - x1, y2, 16 - z1],
        Some(Facing::West) => [z1, y1, 16 - x2, z2, y2, 16 - x1],
        Some(Facing::East) => [16 - z2, y1, x1, 16 - z1, y2, x2],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_have_their_ids_and_states() {
        let ladder = WorldBlock::of("minecraft:ladder").unwrap();
        assert_eq!(ladder.id(), "ladder");
        let east = ladder.facing(Facing::East);
        assert_ne!(ladder, east);
        assert_eq!(east.state().shape, Shape::Boxes(vec![[0, 0, 0, 3, 16, 16]]));
        assert_eq!(WorldBlock::of("oak_log").unwrap().along(Axis::Z).state().axis, Axis::Z);
        assert_eq!(WorldBlock::of("diamond_hat"), None);
        assert_eq!((WorldBlock::AIR.id(), WorldBlock::default()), ("air", WorldBlock::AIR));
    }

    #[test]
    fn opaque_cubes_take_all_light_and_the_rest_says_so_itself() {
        let filter = |id| WorldBlock::of(id).unwrap().state().filter;
        assert_eq!((filter("stone"), filter("glass"), filter("oak_leaves"), filter("air")), (15, 0, 1, 0));
    }

    #[test]
    fn numbers_fit_and_every_block_has_a_sound_entry() {
        let table = table();
        assert!(table.states.len() < 4096);
        for kind in &table.kinds {
            assert!(kind.hardness.is_none_or(|hardness| hardness >= 0.0), "{}", kind.id);
            assert!((0.6..1.0).contains(&kind.slip), "{}", kind.id);
        }
    }
}
