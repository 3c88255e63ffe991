//! Items of Minecraft 1.16.5: what there is, what is made of what, and what falls out of blocks.
//!
//! Everything here is a fact that never changes while a program runs. There is no I/O, clock, thread or dice inside: who
//! asks decides what happens when.
//!
//! An [`ItemId`] is a kind of item, and a number; its name, the size of its stacks, and what it is good for as food, fuel or
//! tool are asked of it. An [`ItemStack`] is some of one kind.
//!
//! ```
//! use craft::{ItemId, find_recipe};
//!
//! let planks = ItemId::of("oak_planks").unwrap();
//! assert_eq!(planks.fuel_ticks(), Some(300));
//!
//! // Two planks, one above the other, anywhere in a grid two cells wide, make sticks.
//! let recipe = find_recipe(&[None, Some(planks), None, Some(planks)], 2).unwrap();
//! assert_eq!((recipe.result().item.id(), recipe.result().count), ("stick", 4));
//! ```
//!
//! | question | where |
//! |---|---|
//! | What is made in a crafting grid, of what, and what stays behind? | [`find_recipe`], [`recipes_for`], [`recipes`]; [`ItemId::remainder`] |
//! | … in a furnace, a stonecutter, a brewing stand, on a smithing table? | [`smelting`], [`stonecutting`], [`brewing`], [`smithing`] |
//! | What falls out of a block? | [`block_drops`] |
//! | Which items can stand for each other? | [`group`] |
//!
//! # Potions
//!
//! In the game all potions are one item, `potion`, and a tag tells them apart. Here each kind is an item of its own, such as
//! `water_bottle`, `awkward_potion` or `fire_resistance_potion`, so that a stack needs no tag and a recipe names what it
//! means. [`ItemId::game_id`] and [`ItemId::potion`] lead to the game's words, [`ItemId::of_potion`] back. The item `potion`
//! is a potion without a tag, which cannot be made.
//!
//! # What is left out
//!
//! Potions that are thrown, last longer or are stronger; recipes whose result depends on more than ids (dyed leather and
//! shulker boxes, fireworks, suspicious stew, maps, patterns of banners, tipped arrows, two worn tools that make one); what
//! enchantments change; which tool a block wants, since that belongs to the block; and what creatures drop.
//!
//! # Data
//!
//! The tables in `data/*.tsv` are made by `scripts/minecraft-data` from the npm package `minecraft-data` (MIT License);
//! `data/extra.toml` has what that package lacks or has wrong. They are part of the program and are parsed when they are
//! first needed: items in one step, recipes and drops each in one of their own.

mod data;
mod drops;
mod item;
mod recipe;
mod stations;
mod tool;

pub use drops::{Drop, block_drops, is_block};
pub use item::{Food, ItemId, ItemStack, group, groups};
pub use recipe::{Ingredient, Recipe, find_recipe, recipes, recipes_for};
pub use stations::{
    BREWING_TICKS, BREWS_PER_BLAZE_POWDER, SMELTING_TICKS, Smelting, brewing, smelting, smithing,
    stonecutting,
};
pub use tool::{Tool, ToolKind, ToolMaterial};
