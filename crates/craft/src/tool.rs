//! Tools: what breaks some blocks faster than a hand, and gets something out of them.

use serde::{Deserialize, Serialize};

/// What breaks some blocks faster than a hand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ToolKind {
    Pickaxe,
    Axe,
    Shovel,
    Hoe,
    Sword,
    Shears,
}

/// What tools are made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ToolMaterial {
    Wood,
    Stone,
    Iron,
    Diamond,
    Netherite,
    Gold,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Tool {
    pub kind: ToolKind,
    pub material: ToolMaterial,
}

impl ToolKind {
    pub const ALL: [Self; 6] = [Self::Pickaxe, Self::Axe, Self::Shovel, Self::Hoe, Self::Sword, Self::Shears];

    pub fn name(self) -> &'static str {
        match self {
            Self::Pickaxe => "pickaxe",
            Self::Axe => "axe",
            Self::Shovel => "shovel",
            Self::Hoe => "hoe",
            Self::Sword => "sword",
            Self::Shears => "shears",
        }
    }
}

impl ToolMaterial {
    pub const ALL: [Self; 6] =
        [Self::Wood, Self::Stone, Self::Iron, Self::Diamond, Self::Netherite, Self::Gold];

    /// How much faster than a hand it is.
    pub fn speed(self) -> f64 {
        match self {
            Self::Wood => 2.0,
            Self::Stone => 4.0,
            Self::Iron => 6.0,
            Self::Diamond => 8.0,
            Self::Netherite => 9.0,
            Self::Gold => 12.0,
        }
    }

    /// How the ids of its tools begin.
    pub fn prefix(self) -> &'static str {
        match self {
            Self::Wood => "wooden",
            Self::Stone => "stone",
            Self::Iron => "iron",
            Self::Diamond => "diamond",
            Self::Netherite => "netherite",
            Self::Gold => "golden",
        }
    }

    /// What it gets something out of: 0 stone, 1 iron ore, 2 diamond ore, 3 obsidian.
    pub fn tier(self) -> u8 {
        match self {
            Self::Wood | Self::Gold => 0,
            Self::Stone => 1,
            Self::Iron => 2,
            Self::Diamond | Self::Netherite => 3,
        }
    }
}

impl Tool {
    /// The tool with an item's id. Shears count as iron.
    pub(crate) fn of(id: &str) -> Option<Self> {
        if id == ToolKind::Shears.name() {
            return Some(Self { kind: ToolKind::Shears, material: ToolMaterial::Iron });
        }
        let (prefix, name) = id.split_once('_')?;
        let material = ToolMaterial::ALL.into_iter().find(|material| material.prefix() == prefix)?;
        let kind = ToolKind::ALL.into_iter().find(|kind| kind.name() == name)?;
        Some(Self { kind, material })
    }
}
