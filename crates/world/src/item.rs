//! What a hand can hold.

use crate::block::{BlockKind, ToolKind, WorldBlock};

/// What tools are made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ToolMaterial {
    Wood,
    Stone,
    Iron,
    Diamond,
    Netherite,
    Gold,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Item {
    Tool(ToolKind, ToolMaterial),
    Block(WorldBlock),
}

impl ToolMaterial {
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

    fn prefix(self) -> &'static str {
        match self {
            Self::Wood => "wooden",
            Self::Stone => "stone",
            Self::Iron => "iron",
            Self::Diamond => "diamond",
            Self::Netherite => "netherite",
            Self::Gold => "golden",
        }
    }

    /// What it gets something out of.
    pub fn tier(self) -> u8 {
        match self {
            Self::Wood | Self::Gold => 0,
            Self::Stone => 1,
            Self::Iron => 2,
            Self::Diamond | Self::Netherite => 3,
        }
    }
}

impl Item {
    /// Its id, such as `iron_pickaxe` or `torch`.
    pub fn id(self) -> String {
        match self {
            Self::Tool(ToolKind::Shears, _) => "shears".to_owned(),
            Self::Tool(kind, material) => format!("{}_{}", material.prefix(), kind.name()),
            Self::Block(block) => block.id().to_owned(),
        }
    }
}

/// The state of whoever breaks a block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Footing {
    pub is_under_water: bool,
    pub is_off_ground: bool,
}

/// How much of a block is broken in a tick; none if it cannot be. A whole one and more breaks at once.
pub fn breaking(kind: &BlockKind, held: Option<Item>, footing: Footing) -> Option<f64> {
    let hardness = kind.hardness?;
    if hardness == 0.0 {
        return Some(f64::INFINITY);
    }
    let tool = match held {
        Some(Item::Tool(tool, material)) => Some((tool, material)),
        _ => None,
    };
    let mut speed = tool.map_or(1.0, |(tool, material)| speed(kind, tool, material));
    if footing.is_under_water {
        speed /= 5.0;
    }
    if footing.is_off_ground {
        speed /= 5.0;
    }
    let yields = match kind.tier {
        None => true,
        Some(tier) => tool.is_some_and(|(tool, material)| kind.tool == Some(tool) && material.tier() >= tier),
    };
    Some(speed / hardness / if yields { 30.0 } else { 100.0 })
}

fn speed(kind: &BlockKind, tool: ToolKind, material: ToolMaterial) -> f64 {
    match tool {
        ToolKind::Shears if kind.id.ends_with("_leaves") => 15.0,
        ToolKind::Shears if kind.id.ends_with("_wool") => 5.0,
        ToolKind::Sword if kind.id.ends_with("_leaves") => 1.5,
        ToolKind::Shears | ToolKind::Sword => 1.0,
        tool if kind.tool == Some(tool) => material.speed(),
        _ => 1.0,
    }
}

/// In how many ticks a block is broken.
pub fn ticks_to_break(kind: &BlockKind, held: Option<Item>, footing: Footing) -> Option<u32> {
    let part = breaking(kind, held, footing)?;
    // Sums of parts fall short of the whole by rounding.
    Some(((1.0 / part) - 1e-9).ceil().max(1.0) as u32)
}
