//! The tables hold what is known of the game, and the recipes in them are found in a grid.

#![allow(clippy::unwrap_used)]

mod drops;
mod items;
mod recipes;
mod stations;
mod tables;

use craft::ItemId;

fn item(id: &str) -> ItemId {
    ItemId::of(id).unwrap_or_else(|| panic!("there is no item {id}"))
}
