//! What clicks and keys do at a slot.

use craft::{ItemStack, smelting};

use super::{Screen, ScreenKind, ScreenSlot};
use crate::containers::{Container, FUEL, FURNACE_RESULT, INPUT};
use crate::events::{Event, EventKind};
use crate::inventory::{HOTBAR, Inventory, SLOTS};

/// An open screen with all that its slots belong to.
pub(super) struct Desk<'a> {
    pub screen: &'a mut Screen,
    pub inventory: &'a mut Inventory,
    pub container: Option<&'a mut Container>,
    pub events: &'a mut Vec<Event>,
    /// What leaves the screen for the world.
    pub thrown: Vec<ItemStack>,
}

impl Desk<'_> {
    /// A click where the pointer is.
    pub fn click(&mut self, is_right: bool, has_shift: bool) {
        match self.screen.hovered() {
            Some(slot) if has_shift => self.send(slot),
            Some(slot) => self.exchange(slot, is_right),
            None if !self.screen.layout().contains(self.screen.pointer()) => {
                let count = if is_right { 1 } else { u8::MAX };
                self.thrown.extend(split(&mut self.screen.carried, count));
            }
            None => {}
        }
    }

    /// Throws one item of the slot under the pointer.
    pub fn drop_one(&mut self) {
        if let Some(slot) = self.screen.hovered().filter(|_| self.screen.carried.is_none()) {
            let taken = self.take(slot, 1);
            self.thrown.extend(taken);
        }
    }

    /// Swaps the slot under the pointer with one of the player.
    pub fn swap(&mut self, own: ScreenSlot) {
        let Some(slot) = self.screen.hovered().filter(|slot| *slot != own) else { return };
        if self.screen.carried.is_some() {
            return;
        }
        match (self.get(slot), self.get(own)) {
            (Some(there), None) => {
                let taken = self.take(slot, there.count);
                // What is left of an ingredient may have come there meanwhile.
                let left = self.get(own);
                self.set(own, taken);
                left.into_iter().for_each(|left| self.give(left));
            }
            (there, Some(held)) if self.room(slot, held) >= held.count => {
                let taken = there.and_then(|there| self.take(slot, there.count));
                self.set(slot, Some(held));
                self.set(own, taken);
            }
            _ => {}
        }
    }

    /// Picks up, puts down, or both: all of a stack, or half of it and one of it.
    fn exchange(&mut self, slot: ScreenSlot, is_right: bool) {
        let there = self.get(slot);
        let Some(mut carried) = self.screen.carried else {
            if let Some(there) = there {
                let count = if is_right { there.count.div_ceil(2) } else { there.count };
                self.screen.carried = self.take(slot, count);
            }
            return;
        };
        let is_same = there.is_some_and(|there| is_alike(there, carried));
        let room = self.room(slot, carried);
        if room == 0 {
            // From a slot that only gives, what is the same comes to what is carried.
            let count = there.map_or(0, |there| there.count);
            let fits = u16::from(carried.count) + u16::from(count) <= u16::from(carried.item.stack_size());
            if is_same && fits && self.take(slot, count).is_some() {
                carried.count += count;
                self.screen.carried = Some(carried);
            }
        } else if is_same || there.is_none() {
            let before = there.map_or(0, |there| there.count);
            let count = if is_right { 1 } else { carried.count }.min(room.saturating_sub(before));
            self.set(slot, Some(ItemStack { count: before + count, ..carried }));
            carried.count -= count;
            self.screen.carried = Some(carried).filter(|carried| carried.count > 0);
        } else if carried.count <= room {
            self.screen.carried = there;
            self.set(slot, Some(carried));
        }
    }

    /// A click with shift: moves a stack to another part of the screen, or crafts as often as there is room.
    fn send(&mut self, slot: ScreenSlot) {
        if slot == ScreenSlot::Result {
            let Some(first) = self.screen.result() else { return };
            let to = own_slots(true);
            while let Some(mut made) = self.screen.result()
                && made.item == first.item
                && self.fits(made, &to)
                && self.take(slot, made.count).is_some()
            {
                self.fill(&mut made, &to);
                // A bottle that is left may have taken the room.
                self.thrown.extend(Some(made).filter(|made| made.count > 0));
            }
            return;
        }
        let Some(stack) = self.get(slot) else { return };
        let mut left = stack;
        for to in self.ways(slot, stack) {
            self.fill(&mut left, &to);
            if left.count < stack.count {
                break;
            }
        }
        self.take(slot, stack.count - left.count);
    }

    /// Where a click with shift moves a stack to, the first choice first.
    fn ways(&self, slot: ScreenSlot, stack: ItemStack) -> Vec<Vec<ScreenSlot>> {
        let ScreenSlot::Inventory(number) = slot else {
            let gives = matches!(
                (self.screen.kind, slot),
                (ScreenKind::Chest(_), _) | (_, ScreenSlot::Container(FURNACE_RESULT))
            );
            return vec![own_slots(gives)];
        };
        let other = if number < HOTBAR { HOTBAR..SLOTS } else { 0..HOTBAR };
        let other = other.map(ScreenSlot::Inventory).collect();
        let slots = |make: fn(usize) -> ScreenSlot, count: usize| (0..count).map(make).collect();
        match self.screen.kind {
            ScreenKind::Inventory if stack.item.id() == "shield" => vec![vec![ScreenSlot::OffHand], other],
            ScreenKind::Inventory => vec![other],
            ScreenKind::CraftingTable(_) => vec![slots(ScreenSlot::Grid, 9), other],
            ScreenKind::Chest(_) => {
                let count = self.container.as_ref().map_or(0, |container| container.slots().len());
                vec![slots(ScreenSlot::Container, count)]
            }
            ScreenKind::Furnace(_) if smelting(stack.item).is_some() => {
                vec![vec![ScreenSlot::Container(INPUT)]]
            }
            ScreenKind::Furnace(_) if stack.item.fuel_ticks().is_some() => {
                vec![vec![ScreenSlot::Container(FUEL)]]
            }
            ScreenKind::Furnace(_) => vec![other],
        }
    }

    /// Whether all of a stack has a place in slots.
    fn fits(&self, stack: ItemStack, slots: &[ScreenSlot]) -> bool {
        let room = |slot: &ScreenSlot| match self.get(*slot) {
            None => self.room(*slot, stack),
            Some(there) if is_alike(there, stack) => self.room(*slot, stack).saturating_sub(there.count),
            Some(_) => 0,
        };
        slots.iter().map(|slot| u32::from(room(slot))).sum::<u32>() >= u32::from(stack.count)
    }

    /// Puts a stack into slots: to the same items first, then where nothing lies.
    fn fill(&mut self, stack: &mut ItemStack, slots: &[ScreenSlot]) {
        for onto_same in [true, false] {
            for &slot in slots {
                let there = self.get(slot);
                if there.is_some_and(|there| is_alike(there, *stack)) != onto_same
                    || (there.is_some() && !onto_same)
                {
                    continue;
                }
                let before = there.map_or(0, |there| there.count);
                let count = stack.count.min(self.room(slot, *stack).saturating_sub(before));
                if count > 0 {
                    self.set(slot, Some(ItemStack { count: before + count, ..*stack }));
                    stack.count -= count;
                }
                if stack.count == 0 {
                    return;
                }
            }
        }
    }

    fn get(&self, slot: ScreenSlot) -> Option<ItemStack> {
        match slot {
            ScreenSlot::Inventory(slot) => self.inventory.slot(slot),
            ScreenSlot::OffHand => self.inventory.off_hand,
            ScreenSlot::Grid(cell) => self.screen.grid.get(cell).copied().flatten(),
            ScreenSlot::Result => self.screen.result(),
            ScreenSlot::Container(slot) => self.container.as_ref()?.slots().get(slot).copied().flatten(),
        }
    }

    fn set(&mut self, slot: ScreenSlot, stack: Option<ItemStack>) {
        let place = match slot {
            ScreenSlot::Inventory(slot) => return self.inventory.set(slot, stack),
            ScreenSlot::OffHand => Some(&mut self.inventory.off_hand),
            ScreenSlot::Grid(cell) => self.screen.grid.get_mut(cell),
            ScreenSlot::Result => None,
            ScreenSlot::Container(slot) => {
                self.container.as_mut().and_then(|container| container.slots_mut().get_mut(slot))
            }
        };
        if let Some(place) = place {
            *place = stack;
        }
    }

    /// How many of a stack an empty slot takes.
    fn room(&self, slot: ScreenSlot, stack: ItemStack) -> u8 {
        match (slot, self.container.as_deref()) {
            (ScreenSlot::Result, _) => 0,
            (ScreenSlot::Container(slot), Some(container)) => container.room(slot, stack.item),
            (ScreenSlot::Container(_), None) => 0,
            _ => stack.item.stack_size(),
        }
    }

    /// Takes up to so many items out of a slot; from the grid's result, all that is made at once.
    fn take(&mut self, slot: ScreenSlot, count: u8) -> Option<ItemStack> {
        if slot == ScreenSlot::Result {
            let made = self.screen.result()?;
            self.use_up_ingredients();
            self.note(EventKind::CraftItem, made);
            return Some(made);
        }
        let mut there = self.get(slot);
        let taken = split(&mut there, count);
        self.set(slot, there);
        let is_furnace = matches!(self.container.as_deref(), Some(Container::Furnace(_)));
        if let Some(taken) = taken
            && is_furnace
            && slot == ScreenSlot::Container(FURNACE_RESULT)
        {
            self.note(EventKind::Smelt, taken);
        }
        taken
    }

    /// Takes one item from each cell of the grid. A bucket stays where it was if nothing else lies there.
    fn use_up_ingredients(&mut self) {
        for cell in &mut self.screen.grid {
            let Some(used) = split(cell, 1) else { continue };
            let Some(remainder) = used.item.remainder().map(|item| ItemStack::new(item, 1)) else { continue };
            if cell.is_none() {
                *cell = Some(remainder);
            } else if let Some(left) = self.inventory.add(remainder) {
                self.thrown.push(left);
            }
        }
    }

    /// Gives the player a stack, and throws what has no room.
    fn give(&mut self, stack: ItemStack) {
        self.thrown.extend(self.inventory.add(stack));
    }

    /// Tells that something was made. What is made several times with one click is told once.
    fn note(&mut self, kind: EventKind, made: ItemStack) {
        let count = u32::from(made.count);
        match self.events.last_mut() {
            Some(last) if (last.kind, last.object) == (kind, made.item.id()) => last.count += count,
            _ => self.events.push(Event { count, ..Event::new(kind, made.item.id()) }),
        }
    }
}

/// The player's slots as a container counts them: the rows first and the hot bar last, or from the end.
fn own_slots(from_end: bool) -> Vec<ScreenSlot> {
    let mut slots: Vec<ScreenSlot> = (HOTBAR..SLOTS).chain(0..HOTBAR).map(ScreenSlot::Inventory).collect();
    if from_end {
        slots.reverse();
    }
    slots
}

/// Whether two stacks can become one.
fn is_alike(one: ItemStack, other: ItemStack) -> bool {
    (one.item, one.wear) == (other.item, other.wear)
}

/// Takes up to so many out of a place, which is empty when nothing is left.
fn split(place: &mut Option<ItemStack>, count: u8) -> Option<ItemStack> {
    let taken = place.as_mut()?.split(count);
    *place = place.filter(|stack| stack.count > 0);
    taken
}
