//! Blocks as task files name them: `oak_door[half=lower]`.

use crate::block::{Axis, Facing, WorldBlock};

/// Why a text is no block of the world.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum NoBlock {
    /// The game has it, and this world does not.
    NotBuilt(String),
    Wrong(String),
}

impl NoBlock {
    pub fn words(&self) -> String {
        match self {
            Self::NotBuilt(id) => format!("the world has no {id} yet"),
            Self::Wrong(words) => words.clone(),
        }
    }
}

/// Reads a block with its properties.
pub(super) fn read_block(text: &str) -> Result<WorldBlock, NoBlock> {
    let shown: String = text.chars().take(60).collect();
    let (id, properties) = match text.split_once('[') {
        None => (text, ""),
        Some((id, rest)) => {
            let wrong = || NoBlock::Wrong(format!("{shown:?} has no ] after its properties"));
            (id, rest.strip_suffix(']').ok_or_else(wrong)?)
        }
    };
    let Some(mut block) = WorldBlock::of(id) else {
        let plain = id.strip_prefix("minecraft:").unwrap_or(id);
        return Err(if craft::is_block(plain) {
            NoBlock::NotBuilt(plain.to_owned())
        } else {
            NoBlock::Wrong(format!("there is no block {shown:?}"))
        });
    };
    for property in properties.split(',').filter(|property| !property.is_empty()) {
        let Some((name, value)) = property.split_once('=') else {
            return Err(NoBlock::Wrong(format!("{property:?} is not a property with a value")));
        };
        block = match (name.trim(), value.trim()) {
            ("facing", "north") => block.facing(Facing::North),
            ("facing", "south") => block.facing(Facing::South),
            ("facing", "west") => block.facing(Facing::West),
            ("facing", "east") => block.facing(Facing::East),
            ("axis", "x") => block.along(Axis::X),
            ("axis", "y") => block.along(Axis::Y),
            ("axis", "z") => block.along(Axis::Z),
            // What the world's blocks do not tell apart.
            _ => block,
        };
    }
    Ok(block)
}

/// Whether a door, a gate or a trapdoor stands open.
pub(super) fn is_open(_block: WorldBlock) -> bool {
    false
}
