//! What lies in chests and furnaces, and how furnaces work.

use std::collections::BTreeMap;

use craft::{ItemId, ItemStack, smelting};
use serde::{Deserialize, Serialize};

use crate::hash::Mixer;
use crate::inventory::{is_possible, mix_stack};
use crate::volume::{Cell, contains};
use crate::world::World;

/// How many slots a chest has.
pub const CHEST_SLOTS: usize = 27;

/// How many ticks a furnace takes for an item.
pub const SMELTING: u32 = 200;

/// By how much an item gets colder in a tick without fire.
pub const COOLING: u32 = 2;

/// The slots of a furnace.
pub const INPUT: usize = 0;
pub const FUEL: usize = 1;
pub const FURNACE_RESULT: usize = 2;

/// The longest that anything burns.
const LONGEST_BURN: u32 = 20_000;

/// The most containers of a save.
const MAX_CONTAINERS: usize = 1 << 16;

/// Chests and furnaces, by their cells.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(from = "Vec<(Cell, Container)>", into = "Vec<(Cell, Container)>")]
pub struct Containers(BTreeMap<Cell, Container>);

/// A block that holds stacks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Container {
    Chest(Vec<Option<ItemStack>>),
    Furnace(Furnace),
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Furnace {
    slots: [Option<ItemStack>; 3],
    /// For how many ticks the fuel still burns, and for how many it has burned in all.
    burn: u32,
    whole_burn: u32,
    /// What is being smelted, and for how many ticks so far.
    cooking: Option<ItemId>,
    progress: u32,
}

impl Container {
    /// The empty container that a block is.
    pub fn of_block(id: &str) -> Option<Self> {
        match id {
            "chest" | "trapped_chest" | "barrel" => Some(Self::Chest(vec![None; CHEST_SLOTS])),
            "furnace" => Some(Self::Furnace(Furnace::default())),
            _ => None,
        }
    }

    pub fn slots(&self) -> &[Option<ItemStack>] {
        match self {
            Self::Chest(slots) => slots,
            Self::Furnace(furnace) => &furnace.slots,
        }
    }

    pub(crate) fn slots_mut(&mut self) -> &mut [Option<ItemStack>] {
        match self {
            Self::Chest(slots) => slots,
            Self::Furnace(furnace) => &mut furnace.slots,
        }
    }

    /// How many of an item a slot takes from the player.
    pub(crate) fn room(&self, slot: usize, item: ItemId) -> u8 {
        let takes = match self {
            Self::Chest(_) => true,
            Self::Furnace(_) => slot == INPUT || (slot == FUEL && item.fuel_ticks().is_some()),
        };
        if takes { item.stack_size() } else { 0 }
    }

    fn is(&self, id: &str) -> bool {
        let same = |other: Self| std::mem::discriminant(self) == std::mem::discriminant(&other);
        Self::of_block(id).is_some_and(same)
    }

    fn is_possible(&self) -> bool {
        let count = match self {
            Self::Chest(_) => CHEST_SLOTS,
            Self::Furnace(_) => 3,
        };
        let is_sound = match self {
            Self::Chest(_) => true,
            Self::Furnace(furnace) => {
                furnace.burn <= furnace.whole_burn
                    && furnace.whole_burn <= LONGEST_BURN
                    && furnace.progress < SMELTING
            }
        };
        is_sound
            && self.slots().len() == count
            && self.slots().iter().flatten().all(|stack| is_possible(*stack))
    }

    fn mix_into(&self, mixer: &mut Mixer) {
        for stack in self.slots() {
            mix_stack(*stack, mixer);
        }
        if let Self::Furnace(furnace) = self {
            let cooking = furnace.cooking.map_or(0, |item| item.index() as u64 + 1);
            mixer.add(u64::from(furnace.burn) << 32 | u64::from(furnace.whole_burn));
            mixer.add(cooking << 32 | u64::from(furnace.progress));
        }
    }
}

impl Furnace {
    pub fn is_lit(&self) -> bool {
        self.burn > 0
    }

    /// How much of the fuel is left, from 0 to so many parts.
    pub fn flame(&self, parts: u32) -> u32 {
        (self.burn * parts).div_ceil(self.whole_burn.max(1))
    }

    /// How far the item is smelted, from 0 to so many parts.
    pub fn arrow(&self, parts: u32) -> u32 {
        self.progress * parts / SMELTING
    }

    fn work(&mut self) {
        let input = self.slots[INPUT].map(|stack| stack.item);
        if input.is_some() && input != self.cooking {
            (self.cooking, self.progress) = (input, 0);
        }
        self.burn = self.burn.saturating_sub(1);
        let made = input.and_then(smelting).map(|made| ItemStack::new(made.result, 1));
        let made = made.filter(|made| self.takes(*made));
        if self.burn == 0 && made.is_some() {
            self.light();
        }
        match made {
            Some(made) if self.burn > 0 => {
                self.progress += 1;
                if self.progress == SMELTING {
                    self.progress = 0;
                    self.finish(made);
                }
            }
            _ if self.burn > 0 => self.progress = 0,
            _ => self.progress = self.progress.saturating_sub(COOLING),
        }
    }

    /// Whether the result's slot has room for one more.
    fn takes(&self, made: ItemStack) -> bool {
        self.slots[FURNACE_RESULT].is_none_or(|there| {
            (there.item, there.wear) == (made.item, made.wear) && there.count < made.item.stack_size()
        })
    }

    /// Sets fire to the next piece of fuel.
    fn light(&mut self) {
        let Some(fuel) = &mut self.slots[FUEL] else { return };
        let Some(ticks) = fuel.item.fuel_ticks() else { return };
        (self.burn, self.whole_burn) = (ticks, ticks);
        fuel.count -= 1;
        if fuel.count == 0 {
            self.slots[FUEL] = fuel.item.remainder().map(|item| ItemStack::new(item, 1));
        }
    }

    fn finish(&mut self, made: ItemStack) {
        if let Some(input) = &mut self.slots[INPUT] {
            input.count -= 1;
        }
        self.slots[INPUT] = self.slots[INPUT].filter(|input| input.count > 0);
        let before = self.slots[FURNACE_RESULT].map_or(0, |there| there.count);
        self.slots[FURNACE_RESULT] = Some(ItemStack { count: before + made.count, ..made });
    }
}

impl Containers {
    pub fn get(&self, cell: Cell) -> Option<&Container> {
        self.0.get(&cell)
    }

    pub(crate) fn get_mut(&mut self, cell: Cell) -> Option<&mut Container> {
        self.0.get_mut(&cell)
    }

    /// The container of a cell with such a block, which is empty if it was never opened.
    pub(crate) fn open(&mut self, cell: Cell, block: &str) -> Option<&mut Container> {
        let empty = Container::of_block(block)?;
        Some(self.0.entry(cell).or_insert(empty))
    }

    pub fn iter(&self) -> impl Iterator<Item = (Cell, &Container)> {
        self.0.iter().map(|(cell, container)| (*cell, container))
    }

    /// Whether containers that were read from a file could be some.
    pub(crate) fn are_possible(&self) -> bool {
        self.0.len() <= MAX_CONTAINERS
            && self.0.iter().all(|(cell, container)| contains(*cell) && container.is_possible())
    }

    pub(crate) fn mix_into(&self, mixer: &mut Mixer) {
        for (cell, container) in &self.0 {
            mixer.add(((cell[1] << 16) | (cell[2] << 8) | cell[0]) as u64);
            container.mix_into(mixer);
        }
    }
}

impl From<Vec<(Cell, Container)>> for Containers {
    fn from(list: Vec<(Cell, Container)>) -> Self {
        Self(list.into_iter().collect())
    }
}

impl From<Containers> for Vec<(Cell, Container)> {
    fn from(containers: Containers) -> Self {
        containers.0.into_iter().collect()
    }
}

impl World {
    /// Chests and furnaces that were opened or filled.
    pub fn containers(&self) -> &Containers {
        &self.containers
    }

    /// Puts something into a slot of a chest or a furnace. Returns whether there is such a slot.
    pub fn put_into(&mut self, cell: Cell, slot: usize, stack: Option<ItemStack>) -> bool {
        self.spill_broken_containers();
        let container = self.containers.open(cell, self.volume.block(cell).id());
        let place = container.and_then(|container| container.slots_mut().get_mut(slot));
        let Some(place) = place else { return false };
        *place = stack.filter(|stack| stack.count > 0);
        true
    }

    /// Lets furnaces work, and lets fall what was in containers that are gone.
    pub(crate) fn work_containers(&mut self) {
        self.spill_broken_containers();
        let mut flames = Vec::new();
        for (cell, container) in &mut self.containers.0 {
            if let Container::Furnace(furnace) = container {
                let was_lit = furnace.is_lit();
                furnace.work();
                if furnace.is_lit() != was_lit {
                    flames.push((*cell, if was_lit { "false" } else { "true" }));
                }
            }
        }
        for (cell, is_lit) in flames {
            let block = self.volume.block(cell).with("lit", is_lit);
            self.change_block(cell, block);
        }
    }

    /// Lets fall what was in containers whose block is gone, whatever has taken it away, and closes their screen.
    pub(crate) fn spill_broken_containers(&mut self) {
        let is_gone = |(cell, container): &(&Cell, &Container)| !container.is(self.volume.block(**cell).id());
        let gone: Vec<Cell> = self.containers.0.iter().filter(is_gone).map(|(cell, _)| *cell).collect();
        for cell in gone {
            let Some(container) = self.containers.0.remove(&cell) else { continue };
            for stack in container.slots().iter().flatten() {
                self.spill(cell, *stack);
            }
            if self.screen().is_some_and(|screen| screen.kind().cell() == Some(cell)) {
                self.close_screen();
            }
        }
    }
}
