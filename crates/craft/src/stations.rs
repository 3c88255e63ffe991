//! What is made in a furnace, a stonecutter, a brewing stand and on a smithing table.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use crate::data::{alternatives, broken, extra, item, number};
use crate::item::{ItemId, ItemStack};

/// How long a furnace takes over an item.
pub const SMELTING_TICKS: u32 = 200;
/// How long a brewing stand takes over its bottles.
pub const BREWING_TICKS: u32 = 400;
/// How often a brewing stand brews on one blaze powder.
pub const BREWS_PER_BLAZE_POWDER: u8 = 20;

/// What a furnace makes of one item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Smelting {
    pub result: ItemId,
    /// In hundredths of a point.
    pub experience: u16,
}

/// What a furnace makes of an item in [`SMELTING_TICKS`].
pub fn smelting(input: ItemId) -> Option<Smelting> {
    static SMELTING: LazyLock<BTreeMap<ItemId, Smelting>> = LazyLock::new(|| {
        let mut table = BTreeMap::new();
        for (inputs, (result, experience)) in &extra().smelting {
            let made = Smelting { result: item(result), experience: *experience };
            table.extend(alternatives(inputs).iter().map(|&input| (input, made)));
        }
        table
    });
    SMELTING.get(&input).copied()
}

/// What a stonecutter makes of one item: one of these, as chosen. In the order of their ids.
pub fn stonecutting(input: ItemId) -> &'static [ItemStack] {
    static STONECUTTING: LazyLock<BTreeMap<ItemId, Vec<ItemStack>>> = LazyLock::new(|| {
        let stack = |text: &String| match text.split_once(' ') {
            Some((id, count)) => ItemStack::new(item(id), number(count)),
            None => ItemStack::new(item(text), 1),
        };
        let sorted = |results: &Vec<String>| {
            let mut stacks: Vec<ItemStack> = results.iter().map(stack).collect();
            stacks.sort_unstable_by_key(|stack| stack.item);
            stacks
        };
        extra().stonecutting.iter().map(|(input, results)| (item(input), sorted(results))).collect()
    });
    STONECUTTING.get(&input).map_or(&[], Vec::as_slice)
}

/// What a bottle becomes in a brewing stand with an ingredient on top, in [`BREWING_TICKS`]. One ingredient serves up to
/// three bottles.
pub fn brewing(bottle: ItemId, ingredient: ItemId) -> Option<ItemId> {
    static BREWING: LazyLock<BTreeMap<(ItemId, ItemId), ItemId>> = LazyLock::new(|| {
        let inputs = |key: &str| {
            let (bottle, ingredient) = key.split_once(" + ").unwrap_or_else(|| broken(key));
            (item(bottle), item(ingredient))
        };
        extra().brewing.iter().map(|(key, result)| (inputs(key), item(result))).collect()
    });
    BREWING.get(&(bottle, ingredient)).copied()
}

/// What a smithing table makes of an item and a netherite ingot.
pub fn smithing(base: ItemId) -> Option<ItemId> {
    static SMITHING: LazyLock<BTreeMap<ItemId, ItemId>> =
        LazyLock::new(|| extra().smithing.iter().map(|(base, result)| (item(base), item(result))).collect());
    SMITHING.get(&base).copied()
}
