//! The properties by which states of a block differ.

use serde::Deserialize;

/// A property, with its name and its values; the first one is what a block has if nothing is said.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum BlockProperty {
    Facing,
    /// A facing that may be up or down.
    Direction,
    Axis,
    /// The upper or the lower half of a cell.
    Half,
    /// The upper or the lower of two cells.
    Storey,
    /// The head or the foot of a bed.
    Part,
    /// Which halves of a cell a slab fills.
    Type,
    Open,
    Hinge,
    Lit,
    /// As lit, of what burns when it is put somewhere.
    Burning,
    Hanging,
    Layers,
    Bites,
    Age,
    /// The age of what grows in four steps.
    Stage,
    Moisture,
    Level,
    Rotation,
    /// Where it is fastened.
    Attachment,
}

impl BlockProperty {
    pub fn name(self) -> &'static str {
        match self {
            Self::Facing | Self::Direction => "facing",
            Self::Axis => "axis",
            Self::Half | Self::Storey => "half",
            Self::Part => "part",
            Self::Type => "type",
            Self::Open => "open",
            Self::Hinge => "hinge",
            Self::Lit | Self::Burning => "lit",
            Self::Hanging => "hanging",
            Self::Layers => "layers",
            Self::Bites => "bites",
            Self::Age | Self::Stage => "age",
            Self::Moisture => "moisture",
            Self::Level => "level",
            Self::Rotation => "rotation",
            Self::Attachment => "face",
        }
    }

    pub fn values(self) -> &'static [&'static str] {
        const NUMBERS: [&str; 16] =
            ["0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11", "12", "13", "14", "15"];
        match self {
            Self::Facing => &["north", "south", "west", "east"],
            Self::Direction => &["north", "south", "west", "east", "up", "down"],
            Self::Axis => &["y", "x", "z"],
            Self::Half => &["bottom", "top"],
            Self::Storey => &["lower", "upper"],
            Self::Part => &["foot", "head"],
            Self::Type => &["bottom", "top", "double"],
            Self::Open | Self::Lit | Self::Hanging => &["false", "true"],
            Self::Burning => &["true", "false"],
            Self::Hinge => &["left", "right"],
            Self::Layers => &NUMBERS[1..9],
            Self::Bites => &NUMBERS[..7],
            Self::Age | Self::Moisture => &NUMBERS[..8],
            Self::Stage | Self::Level => &NUMBERS[..4],
            Self::Rotation => &NUMBERS,
            Self::Attachment => &["wall", "floor", "ceiling"],
        }
    }
}
