//! Blocks as task files name them: `oak_door[half=lower]`.

use crate::block::BlockTextError;
use crate::block::WorldBlock;

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
    let id = text.split('[').next().unwrap_or_default();
    let id = id.strip_prefix("minecraft:").unwrap_or(id);
    WorldBlock::parse(text).map_err(|error| match error {
        BlockTextError::UnknownId(_) if craft::is_block(id) => NoBlock::NotBuilt(id.to_owned()),
        error => NoBlock::Wrong(error.to_string()),
    })
}

/// Whether a door, a gate or a trapdoor stands open.
pub(super) fn is_open(block: WorldBlock) -> bool {
    block.is("open", "true")
}
