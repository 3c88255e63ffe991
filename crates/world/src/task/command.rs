//! The commands with which tasks begin, as the game writes them.
//!
//! There is one player, so that `execute as @s at @s run` and the selectors `@s`, `@p` and `@a` all mean that one.

mod read;

use craft::{ItemId, ItemStack};

use super::block_text::NoBlock;
use crate::block::WorldBlock;

/// The most cells that one command fills, as in the game.
pub(super) const MAX_FILL: usize = 32_768;

/// A command, read and checked.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum TaskCommand {
    Give(ItemId, u32),
    ReplaceItem(ItemSlot, Option<ItemStack>),
    SetBlock {
        at: CommandPosition,
        block: WorldBlock,
        keeps: bool,
        content: Vec<(u8, ItemStack)>,
    },
    Fill {
        from: CommandPosition,
        to: CommandPosition,
        block: WorldBlock,
        how: FillHow,
    },
    /// A body or an item that lies about; the tag is what the game calls it.
    Summon {
        entity: String,
        at: CommandPosition,
        item: Option<ItemStack>,
    },
    SetTime(u64),
    AddTime(u64),
    Weather(WorldWeather),
    Effect {
        name: String,
        seconds: u32,
        amplifier: u8,
    },
    ClearEffects,
    Teleport {
        to: CommandPosition,
        look: Option<[CommandAngle; 2]>,
    },
    Experience {
        amount: u32,
        is_levels: bool,
    },
    Clear,
    /// What changes nothing in this world: the usual game mode, a game rule, a difficulty.
    Nothing,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ItemSlot {
    /// One of the 36, those of the hot bar first.
    Carried(usize),
    MainHand,
    OffHand,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FillHow {
    All,
    Keep,
    Hollow,
    Outline,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WorldWeather {
    Clear,
    Rain,
    Thunder,
}

/// A place: as numbers, from the player's (`~`), or along the player's look (`^`).
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum CommandPosition {
    World([CommandCoordinate; 3]),
    /// To the left, up and ahead.
    Look([f64; 3]),
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum CommandCoordinate {
    At(f64),
    By(f64),
}

/// An angle in degrees.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum CommandAngle {
    At(f64),
    By(f64),
}

/// What is wrong with a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct CommandError {
    pub words: String,
    /// The command is right, and speaks of something that this world does not have.
    pub is_missing: bool,
}

impl From<String> for CommandError {
    fn from(words: String) -> Self {
        Self { words, is_missing: false }
    }
}

impl From<NoBlock> for CommandError {
    fn from(error: NoBlock) -> Self {
        Self { words: error.words(), is_missing: matches!(error, NoBlock::NotBuilt(_)) }
    }
}

impl TaskCommand {
    /// What this world lacks for the command to change anything, in words.
    pub(super) fn lack(&self) -> Option<String> {
        match self {
            Self::Summon { entity, item: None, .. } => Some(format!("the world has no {entity} yet")),
            Self::Effect { name, .. } => Some(format!("the world has no effect {name} yet")),
            Self::Experience { .. } => Some("the world has no experience yet".to_owned()),
            _ => None,
        }
    }
}

impl CommandPosition {
    pub const HERE: Self = Self::World([CommandCoordinate::By(0.0); 3]);

    /// The numbers, where they can be compared with those of another position of the same kind.
    fn offsets(self) -> Option<[f64; 3]> {
        match self {
            Self::Look(offsets) => Some(offsets),
            Self::World(parts) => Some(parts.map(|part| match part {
                CommandCoordinate::At(at) => at,
                CommandCoordinate::By(by) => by,
            })),
        }
    }
}
