//! How fast blocks are broken with what a hand holds.

use craft::ItemId;
pub use craft::{Tool, ToolKind, ToolMaterial};

use crate::block::BlockKind;

/// What shears and swords both cut.
const COBWEB: &str = "cobweb";

/// Plants that do not break at once, besides leaves.
const FLESHY: [&str; 5] = ["carved_pumpkin", "jack_o_lantern", "melon", "pumpkin", "vine"];

/// The state of whoever breaks a block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Footing {
    pub is_under_water: bool,
    pub is_off_ground: bool,
}

/// How much of a block is broken in a tick; none if it cannot be. A whole one and more breaks at once.
pub fn breaking(kind: &BlockKind, held: Option<ItemId>, footing: Footing) -> Option<f64> {
    let hardness = kind.hardness?;
    if hardness == 0.0 {
        return Some(f64::INFINITY);
    }
    let mut speed = held.and_then(ItemId::tool).map_or(1.0, |tool| speed(kind, tool));
    if footing.is_under_water {
        speed /= 5.0;
    }
    if footing.is_off_ground {
        speed /= 5.0;
    }
    Some(speed / hardness / if yields(kind, held) { 30.0 } else { 100.0 })
}

/// Whether something is got out of a block with what a hand holds.
pub fn yields(kind: &BlockKind, held: Option<ItemId>) -> bool {
    let Some(tier) = kind.tier else { return true };
    let tool = held.and_then(ItemId::tool);
    tool.is_some_and(|tool| {
        let is_right = kind.tool == Some(tool.kind) || (kind.id == COBWEB && tool.kind == ToolKind::Shears);
        is_right && tool.material.tier() >= tier
    })
}

fn speed(kind: &BlockKind, Tool { kind: tool, material }: Tool) -> f64 {
    let is_leaves = kind.id.ends_with("_leaves");
    match tool {
        ToolKind::Shears | ToolKind::Sword if kind.id == COBWEB => 15.0,
        ToolKind::Shears if is_leaves => 15.0,
        ToolKind::Shears if kind.id.ends_with("_wool") => 5.0,
        ToolKind::Sword if is_leaves || FLESHY.contains(&kind.id) => 1.5,
        ToolKind::Shears | ToolKind::Sword => 1.0,
        tool if kind.tool == Some(tool) => material.speed(),
        _ => 1.0,
    }
}

/// In how many ticks a block is broken.
pub fn ticks_to_break(kind: &BlockKind, held: Option<ItemId>, footing: Footing) -> Option<u32> {
    let part = breaking(kind, held, footing)?;
    // Sums of parts fall short of the whole by rounding.
    Some(((1.0 / part) - 1e-9).ceil().max(1.0) as u32)
}
