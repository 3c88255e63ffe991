//! What a player carries.

use craft::{ItemId, ItemStack};
use serde::{Deserialize, Serialize};

use crate::hash::Mixer;

/// How many slots there are: the nine of the hot bar, which are the first, and 27 more.
pub const SLOTS: usize = 36;

/// How many slots the hot bar has.
pub const HOTBAR: usize = 9;

/// The slots of a player, and what the other hand holds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Inventory {
    slots: Vec<Option<ItemStack>>,
    pub off_hand: Option<ItemStack>,
}

impl Default for Inventory {
    fn default() -> Self {
        Self { slots: vec![None; SLOTS], off_hand: None }
    }
}

impl Inventory {
    /// What one has who only walks about: tools, and a stack of each of some blocks.
    pub fn kit() -> Self {
        let tools = ["iron_pickaxe", "iron_axe", "iron_shovel"];
        let blocks = ["cobblestone", "oak_planks", "oak_log", "glass", "torch", "ladder"];
        let mut kit = Self::default();
        for (id, count) in tools.map(|id| (id, 1)).into_iter().chain(blocks.map(|id| (id, 64))) {
            if let Some(item) = ItemId::of(id) {
                kit.give(item, count);
            }
        }
        kit
    }

    pub fn slot(&self, slot: usize) -> Option<ItemStack> {
        self.slots.get(slot).copied().flatten()
    }

    /// Puts something into a slot. Slots that do not exist stay as they are.
    pub fn set(&mut self, slot: usize, stack: Option<ItemStack>) {
        if let Some(place) = self.slots.get_mut(slot) {
            *place = stack.filter(|stack| stack.count > 0);
        }
    }

    /// All slots, those of the hot bar first.
    pub fn slots(&self) -> &[Option<ItemStack>] {
        &self.slots
    }

    /// How many of an item there are in all slots.
    pub fn count(&self, item: ItemId) -> u32 {
        let stacks = self.slots.iter().flatten().chain(&self.off_hand);
        stacks.filter(|stack| stack.item == item).map(|stack| u32::from(stack.count)).sum()
    }

    /// Adds a stack: to stacks of the same item first, then to the first slots that are free. Returns what does not fit.
    pub fn add(&mut self, mut stack: ItemStack) -> Option<ItemStack> {
        for place in self.slots.iter_mut().flatten() {
            place.merge(&mut stack);
        }
        if stack.count > 0
            && let Some(place) = self.slots.iter_mut().find(|place| place.is_none())
        {
            *place = Some(stack);
            return None;
        }
        Some(stack).filter(|stack| stack.count > 0)
    }

    /// Adds so many of an item, in stacks as large as they may be. What does not fit is lost.
    pub fn give(&mut self, item: ItemId, count: u32) {
        let mut left = count;
        while left > 0 {
            let stack = ItemStack::new(item, left.min(u32::from(item.stack_size())) as u8);
            left -= u32::from(stack.count);
            if self.add(stack).is_some() {
                return;
            }
        }
    }

    /// Takes up to so many items out of a slot.
    pub fn take(&mut self, slot: usize, count: u8) -> Option<ItemStack> {
        let place = self.slots.get_mut(slot)?;
        let taken = place.as_mut()?.split(count);
        *place = place.filter(|stack| stack.count > 0);
        taken
    }

    /// Takes away up to so many of an item, wherever they are. Returns how many there were.
    pub fn remove(&mut self, item: ItemId, count: u32) -> u32 {
        let mut left = count;
        for place in self.slots.iter_mut().filter(|place| place.is_some_and(|stack| stack.item == item)) {
            let Some(stack) = place else { continue };
            let taken = left.min(u32::from(stack.count));
            stack.count -= taken as u8;
            left -= taken;
            *place = place.filter(|stack| stack.count > 0);
        }
        count - left
    }

    /// Wears out the tool in a slot by so many uses, until it breaks.
    pub fn wear(&mut self, slot: usize, by: u16) {
        let Some(place) = self.slots.get_mut(slot) else { return };
        let Some(stack) = place else { return };
        let Some(durability) = stack.item.durability() else { return };
        stack.wear = stack.wear.saturating_add(by);
        if stack.wear >= durability {
            *place = None;
        }
    }

    /// Whether an inventory that was read from a file could be one.
    pub(crate) fn is_possible(&self) -> bool {
        let stacks = || self.slots.iter().flatten().chain(&self.off_hand);
        self.slots.len() == SLOTS && stacks().all(|stack| is_possible(*stack))
    }

    pub(crate) fn mix_into(&self, mixer: &mut Mixer) {
        for stack in self.slots.iter().chain([&self.off_hand]) {
            mix_stack(*stack, mixer);
        }
    }
}

/// Whether a stack that was read from a file could be one.
pub(crate) fn is_possible(stack: ItemStack) -> bool {
    (1..=stack.item.stack_size()).contains(&stack.count)
        && stack.wear <= stack.item.durability().unwrap_or_default()
}

pub(crate) fn mix_stack(stack: Option<ItemStack>, mixer: &mut Mixer) {
    mixer.add(stack.map_or(0, |stack| {
        (stack.item.index() as u64 + 1) << 32 | u64::from(stack.wear) << 8 | u64::from(stack.count)
    }));
}
