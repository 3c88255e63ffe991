//! Blocks: what a cell can hold, and the facts about it, from `data/blocks.toml`.
//!
//! A [`WorldBlock`] is a state, such as a ladder that faces east. Its number is an index into the table of states, which is made
//! when it is first needed and never changes. Numbers are the same on every machine, but not between versions of the
//! engine, so files have ids.

mod form;
mod join;
mod property;
mod table;
mod text;

pub use craft::ToolKind;
use serde::Deserialize;

pub(crate) use self::form::{BlockForm, BoxEdges, CUBE};
pub(crate) use self::join::form_at;
pub(crate) use self::property::BlockProperty;
pub(crate) use self::table::{FaceRecipes, table};
pub use self::text::BlockTextError;

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
    Boxes(Vec<BoxEdges>),
    /// Boxes that depend on what stands around.
    Joined,
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

/// What a block needs to stay where it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BlockSupport {
    #[default]
    Nothing,
    /// Anything below it.
    Below,
    /// A whole face below it.
    Floor,
    /// The middle of a face below it.
    Post,
    /// A whole face behind it.
    Wall,
    /// The middle of a face below it, or above it if it hangs.
    Lantern,
    /// Earth below it.
    Soil,
    /// Sand, terracotta or earth below it.
    Desert,
    Farmland,
    SoulSand,
    /// Earth or sand beside water below it, or more of itself.
    Cane,
    /// Sand below it, or more of itself, and nothing beside it.
    Cactus,
    Water,
}

/// Which way a block is turned when it is put somewhere.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Turned {
    /// Its front looks at whoever puts it.
    #[default]
    Back,
    /// It faces where they look.
    Ahead,
    /// To the right of where they look.
    Right,
    /// Away from the block that it is put against.
    Outward,
}

/// How a block's boxes depend on the blocks around it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Joint {
    Fence,
    Pane,
    Wall,
    Stairs,
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
    pub support: BlockSupport,
    pub turned: Turned,
    /// The id of what stands for it at a wall.
    pub on_wall: Option<&'static str>,
    /// Whether it falls if there is nothing below it.
    pub falls: bool,
    /// Whether a use of it opens a screen.
    pub opens: bool,
    /// Whether a use of it opens it or closes it.
    pub toggles: bool,
    /// Whether other blocks hold on to its faces.
    pub holds: bool,
    /// Whether fences and panes join its faces.
    pub joins: bool,
    pub(crate) joint: Option<Joint>,
    pub(crate) properties: Vec<BlockProperty>,
    /// Names of properties that Minecraft has, and this world works out or does without.
    pub(crate) ignores: Vec<String>,
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
    /// The faces that let no light through, though the cell does: a bit for each of -x, +x, -y, +y, -z and +z.
    pub(crate) shade: u8,
    /// Its boxes; several if they depend on what stands around.
    pub(crate) forms: Vec<BlockForm>,
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

    /// The direction to the right of it.
    pub fn right(self) -> Self {
        match self {
            Self::North => Self::East,
            Self::East => Self::South,
            Self::South => Self::West,
            Self::West => Self::North,
        }
    }

    pub fn left(self) -> Self {
        self.right().opposite()
    }

    /// The direction that is nearest to a look, by its yaw in thousandths of a degree.
    pub fn of_yaw(yaw: i32) -> Self {
        match (yaw.rem_euclid(360_000) + 45_000) / 90_000 {
            1 => Self::West,
            2 => Self::North,
            3 => Self::East,
            _ => Self::South,
        }
    }

    /// The direction of a step in the plane.
    pub fn of_step(step: [i32; 3]) -> Option<Self> {
        Self::ALL.into_iter().find(|facing| facing.step() == step)
    }

    pub fn is_along_x(self) -> bool {
        matches!(self, Self::West | Self::East)
    }

    pub fn name(self) -> &'static str {
        match self {
            Self::North => "north",
            Self::South => "south",
            Self::West => "west",
            Self::East => "east",
        }
    }

    /// The number of the face that looks there, of -x, +x, -y, +y, -z and +z.
    pub(crate) fn face(self) -> usize {
        match self {
            Self::West => 0,
            Self::East => 1,
            Self::North => 4,
            Self::South => 5,
        }
    }
}

impl Axis {
    pub const ALL: [Self; 3] = [Self::Y, Self::X, Self::Z];

    pub fn name(self) -> &'static str {
        match self {
            Self::Y => "y",
            Self::X => "x",
            Self::Z => "z",
        }
    }
}

impl WorldBlock {
    pub const AIR: Self = Self(0);

    /// The first state of a kind, by its id.
    pub fn of(id: &str) -> Option<Self> {
        let id = id.strip_prefix("minecraft:").unwrap_or(id);
        let kind = table().kind(id)?;
        Some(Self(table().kinds[kind].first))
    }

    /// All states, in the order of their numbers.
    pub fn all() -> impl Iterator<Item = Self> {
        (0..table().states.len() as u16).map(Self)
    }

    pub fn facing(self, facing: Facing) -> Self {
        self.with("facing", facing.name())
    }

    pub fn along(self, axis: Axis) -> Self {
        self.with("axis", axis.name())
    }

    /// What a property is. None if the block has no such property.
    pub fn property(self, name: &str) -> Option<&'static str> {
        let mut rest = usize::from(self.0 - self.kind().first);
        let mut found = None;
        for property in self.kind().properties.iter().rev() {
            let values = property.values();
            if property.name() == name {
                found = Some(values[rest % values.len()]);
            }
            rest /= values.len();
        }
        found
    }

    /// Whether a property has a value.
    pub fn is(self, name: &str, value: &str) -> bool {
        self.property(name) == Some(value)
    }

    /// The state of the same kind with another value of a property; itself if there is none.
    #[must_use]
    pub fn with(self, name: &str, value: &str) -> Self {
        let mut weight = 1;
        let number = usize::from(self.0 - self.kind().first);
        for property in self.kind().properties.iter().rev() {
            let values = property.values();
            if property.name() == name {
                let Some(wanted) = values.iter().position(|known| *known == value) else { return self };
                let now = number / weight % values.len();
                return Self(self.kind().first + (number + wanted * weight - now * weight) as u16);
            }
            weight *= values.len();
        }
        self
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

    /// Whether a face of it is whole, whatever stands around: one of -x, +x, -y, +y, -z and +z.
    pub(crate) fn has_whole_face(self, face: usize) -> bool {
        self.kind().holds && self.state().forms[0].whole >> face & 1 == 1
    }

    /// Whether the middle of its face is there.
    pub(crate) fn has_middle_of_face(self, face: usize) -> bool {
        self.kind().holds && self.state().forms[0].middle >> face & 1 == 1
    }

    pub fn is_liquid(self) -> bool {
        self.state().shape == Shape::Liquid
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
        assert!(table.states.len() < 16_384);
        for kind in &table.kinds {
            assert!(kind.hardness.is_none_or(|hardness| hardness >= 0.0), "{}", kind.id);
            assert!((0.6..1.0).contains(&kind.slip), "{}", kind.id);
        }
    }
}
