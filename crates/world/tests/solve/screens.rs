//! Screens, which are worked with the pointer: it starts in the middle of the window when a screen opens, and the camera
//! moves it.

use craft::{Recipe, recipes_for};
use world::screen::{ScreenKind, ScreenSlot, TURN_PER_PIXEL};
use world::{Cell, ItemId};

use crate::compact::{CompactKeys, sums, turns};
use crate::solver::{Solved, Solver};

/// How far beside the middle of a slot the pointer may stop, in pixels.
const SLACK: i32 = 6;

/// The slots of a furnace.
const FURNACE_INPUT: ScreenSlot = ScreenSlot::Container(0);
const FURNACE_FUEL: ScreenSlot = ScreenSlot::Container(1);
const FURNACE_RESULT: ScreenSlot = ScreenSlot::Container(2);

/// The turns of the camera that move the pointer by so many pixels to the right and down.
pub fn pointer_turns([right, down]: [i32; 2]) -> Vec<[i16; 2]> {
    let by_pixel = TURN_PER_PIXEL / 10;
    turns(sums([down * by_pixel, right * by_pixel], SLACK * by_pixel), 0)
}

impl Solver<'_> {
    /// Opens the inventory, or closes whichever screen is open.
    pub fn press_inventory(&mut self) -> Solved {
        self.press(CompactKeys { inventory: true, ..CompactKeys::default() })?;
        self.press(CompactKeys::default())
    }

    /// Closes the screen that is open, if any is.
    pub fn close_screen(&mut self) -> Solved {
        if self.world().screen().is_some() { self.press_inventory() } else { Ok(()) }
    }

    /// Walks to a block and opens its screen.
    pub fn open(&mut self, cell: Cell) -> Solved {
        self.doing(format!("open {cell:?}"), |solver| {
            solver.close_screen()?;
            let eyes = solver.world().player().eyes();
            if !solver.can_aim_from(eyes, cell, None) {
                solver.approach(cell, None)?;
            }
            solver.aim_at(cell, None)?;
            solver.click(CompactKeys { uses: true, ..CompactKeys::default() })?;
            match solver.world().screen().and_then(|screen| screen.kind().cell()) {
                Some(opened) if opened == cell => Ok(()),
                _ => solver.fail("its screen is not open"),
            }
        })
    }

    /// Moves the pointer over a slot of the open screen.
    pub fn point_at(&mut self, slot: ScreenSlot) -> Solved {
        let Some(screen) = self.world().screen() else { return self.fail("no screen is open") };
        if screen.hovered() == Some(slot) {
            return Ok(());
        }
        let from = screen.pointer();
        let Some(to) = screen.layout().middle_of(slot) else {
            return self.fail(format!("there is no {slot:?} in the {}", screen.kind().name()));
        };
        for turn in pointer_turns([to[0] - from[0], to[1] - from[1]]) {
            self.press(CompactKeys::turn(turn))?;
        }
        match self.world().screen().and_then(world::Screen::hovered) {
            Some(hovered) if hovered == slot => Ok(()),
            hovered => self.fail(format!("the pointer is over {hovered:?} instead of {slot:?}")),
        }
    }

    /// A click: keys go down and up again, so that the next click is one of its own.
    pub fn click(&mut self, keys: CompactKeys) -> Solved {
        self.press(keys)?;
        self.press(CompactKeys::default())
    }

    /// Clicks at a slot: all of a stack is picked up or put down.
    pub fn click_at(&mut self, slot: ScreenSlot) -> Solved {
        self.point_at(slot)?;
        self.click(CompactKeys { attack: true, ..CompactKeys::default() })
    }

    /// Clicks at a slot with the other button: half of a stack is picked up, or one is put down.
    pub fn right_click_at(&mut self, slot: ScreenSlot) -> Solved {
        self.point_at(slot)?;
        self.click(CompactKeys { uses: true, ..CompactKeys::default() })
    }

    /// Clicks at a slot with shift: its stack goes to the other part of the screen.
    pub fn shift_click_at(&mut self, slot: ScreenSlot) -> Solved {
        self.point_at(slot)?;
        self.click(CompactKeys { attack: true, sneak: true, ..CompactKeys::default() })
    }

    /// The slot of the inventory with the most of an item for which something holds.
    fn slot_with(&self, is_wanted: impl Fn(ItemId) -> bool) -> Option<usize> {
        let slots = self.world().inventory().slots().iter().enumerate();
        let full = slots.filter_map(|(slot, stack)| Some((slot, (*stack)?)));
        let wanted = full.filter(|(_, stack)| is_wanted(stack.item));
        wanted.max_by_key(|(slot, stack)| (stack.count, usize::MAX - slot)).map(|(slot, _)| slot)
    }

    /// Puts so many of an item of the inventory into a slot of the open screen, and the rest back.
    pub fn put_in_slot(&mut self, is_wanted: impl Fn(ItemId) -> bool, count: u8, to: ScreenSlot) -> Solved {
        let Some(slot) = self.slot_with(is_wanted) else { return self.fail(format!("nothing fits {to:?}")) };
        self.click_at(ScreenSlot::Inventory(slot))?;
        for _ in 0..count {
            self.right_click_at(to)?;
        }
        if self.world().screen().is_some_and(|screen| screen.carried().is_some()) {
            self.click_at(ScreenSlot::Inventory(slot))?;
        }
        Ok(())
    }

    /// Makes an item once, in the inventory, or at a table that is opened if the recipe needs one. The screen stays open.
    pub fn craft(&mut self, id: &str, table: Option<Cell>) -> Solved {
        self.doing(format!("craft {id}"), |solver| {
            let Some(item) = ItemId::of(id) else { return solver.fail("there is no such item") };
            let recipe = recipes_for(item)
                .find(|recipe| (table.is_some() || !recipe.needs_table()) && solver.has_ingredients(recipe));
            let Some(recipe) = recipe else { return solver.fail("the ingredients are not there") };
            let width = solver.open_grid(recipe.needs_table().then_some(table).flatten())?;
            let before = solver.world().inventory().count(item);
            solver.fill_grid(recipe, width)?;
            solver.shift_click_at(ScreenSlot::Result)?;
            let made = solver.world().inventory().count(item) > before;
            if made { Ok(()) } else { solver.fail("nothing was made") }
        })
    }

    /// Opens a crafting grid, if it is not open. Returns how wide it is.
    fn open_grid(&mut self, table: Option<Cell>) -> Solved<usize> {
        let wanted = table.map_or(ScreenKind::Inventory, ScreenKind::CraftingTable);
        if self.world().screen().map(world::Screen::kind) != Some(wanted) {
            match table {
                Some(cell) => self.open(cell)?,
                None => {
                    self.close_screen()?;
                    self.press_inventory()?;
                }
            }
        }
        Ok(if table.is_some() { 3 } else { 2 })
    }

    /// What lies in the grid for a recipe: for each ingredient, the cell and an item that is there. None if something is
    /// missing.
    fn plan(&self, recipe: &Recipe, width: usize) -> Option<Vec<(usize, ItemId)>> {
        let mut left: Vec<_> = self.world().inventory().slots().iter().flatten().copied().collect();
        let columns = if recipe.is_shapeless() { width } else { recipe.width() };
        let cells = recipe.ingredients().iter().enumerate();
        let wanted =
            cells.filter_map(|(at, wanted)| Some((at / columns * width + at % columns, wanted.as_ref()?)));
        wanted
            .map(|(cell, wanted)| {
                let fits = left.iter_mut().filter(|stack| stack.count > 0 && wanted.contains(stack.item));
                let stack = fits.max_by_key(|stack| stack.count)?;
                stack.count -= 1;
                Some((cell, stack.item))
            })
            .collect()
    }

    fn has_ingredients(&self, recipe: &Recipe) -> bool {
        self.plan(recipe, 3).is_some()
    }

    /// Lays out a recipe: picks up each item once, and puts one down in each of its cells.
    fn fill_grid(&mut self, recipe: &Recipe, width: usize) -> Solved {
        let Some(mut plan) = self.plan(recipe, width) else {
            return self.fail("the ingredients are not there");
        };
        while let Some(&(_, item)) = plan.first() {
            let Some(slot) = self.slot_with(|known| known == item) else {
                return self.fail(format!("no {} is left", item.id()));
            };
            self.click_at(ScreenSlot::Inventory(slot))?;
            let mut later = Vec::new();
            for (cell, wanted) in plan {
                let carries = self.world().screen().is_some_and(|screen| screen.carried().is_some());
                if wanted == item && carries {
                    self.right_click_at(ScreenSlot::Grid(cell))?;
                } else {
                    later.push((cell, wanted));
                }
            }
            plan = later;
            if self.world().screen().is_some_and(|screen| screen.carried().is_some()) {
                self.click_at(ScreenSlot::Inventory(slot))?;
            }
        }
        Ok(())
    }

    /// Puts so many of an item and of a fuel into a furnace.
    pub fn put_in_furnace(&mut self, cell: Cell, input: &str, count: u8, fuel: &str, fuels: u8) -> Solved {
        self.doing(format!("smelt {count} {input}"), |solver| {
            solver.open(cell)?;
            solver.put_in_slot(|item| item.id() == input, count, FURNACE_INPUT)?;
            solver.put_in_slot(|item| item.id() == fuel, fuels, FURNACE_FUEL)
        })
    }

    /// Waits at an open furnace until it has made something, and takes it.
    pub fn take_from_furnace(&mut self, bound: usize) -> Solved {
        self.wait_until(bound, |solver| solver.world().screen_slot(FURNACE_RESULT).is_some())?;
        self.shift_click_at(FURNACE_RESULT)
    }

    /// Swaps an item of the inventory into a slot of the hot bar, from 0.
    pub fn bring_to_hand(&mut self, id: &str, hotbar: usize) -> Solved {
        let Some(slot) = self.slot_with(|item| item.id() == id) else {
            return self.fail(format!("there is no {id}"));
        };
        if slot >= 9 {
            self.open_grid(None)?;
            self.point_at(ScreenSlot::Inventory(slot))?;
            self.click(CompactKeys { hotbar: hotbar as u8 + 1, ..CompactKeys::default() })?;
            self.close_screen()?;
            return self.select_slot(hotbar);
        }
        self.close_screen()?;
        self.select_slot(slot)
    }
}

#[cfg(test)]
mod tests {
    use world::block::WorldBlock;
    use world::{Terrain, Volume, World};

    use super::*;

    const TABLE: Cell = [128, 10, 132];
    const FURNACE: Cell = [130, 10, 131];

    fn workshop(items: &[(&str, u32)]) -> World {
        let terrain = Terrain { volume: Volume::empty(), start: [128.5, 10.0, 128.5], yaw: 0 };
        let mut world = World::new(&terrain, 1);
        for x in 120..=136 {
            for z in 120..=136 {
                world.set_block([x, 9, z], WorldBlock::of("stone").unwrap());
            }
        }
        world.set_block(TABLE, WorldBlock::of("crafting_table").unwrap());
        if let Some(furnace) = WorldBlock::of("furnace") {
            world.set_block(FURNACE, furnace);
        }
        for (id, count) in items {
            world.give(ItemId::of(id).unwrap(), *count);
        }
        world
    }

    #[test]
    fn things_are_crafted_with_the_pointer() {
        for (made, count, items) in [
            ("oak_planks", 4, vec![("birch_log", 1)]),
            ("crafting_table", 1, vec![]),
            ("stick", 4, vec![]),
            ("furnace", 1, vec![("cobblestone", 20)]),
            ("ladder", 3, vec![("stick", 15)]),
            ("diorite", 2, vec![("cobblestone", 10), ("quartz", 4)]),
            ("clock", 1, vec![("gold_ingot", 5), ("redstone", 3)]),
            ("enchanting_table", 1, vec![("obsidian", 5), ("diamond", 3), ("book", 1)]),
            ("stonecutter", 1, vec![("stone", 5), ("iron_ingot", 2)]),
            ("oak_fence_gate", 1, vec![("stick", 9)]),
            ("white_carpet", 3, vec![("white_wool", 20)]),
            ("beehive", 1, vec![("honeycomb", 3)]),
            ("jack_o_lantern", 1, vec![("carved_pumpkin", 2)]),
        ] {
            let mut world = workshop(&items);
            let item = ItemId::of(made).unwrap();
            let before = world.inventory().count(item);
            let mut solver = Solver::new(&mut world, 300);
            solver.settle().unwrap();
            let begun = solver.steps();
            solver.craft(made, Some(TABLE)).unwrap();
            let took = solver.steps() - begun;
            println!("{made}: {took} steps");
            assert_eq!(solver.world().inventory().count(item) - before, count, "{made}");
            solver.close_screen().unwrap();
            assert!(took <= 90, "{made} takes {took}");
        }
    }

    #[test]
    fn beef_is_smelted() {
        let mut world = workshop(&[("beef", 15), ("coal", 2)]);
        let mut solver = Solver::new(&mut world, 600);
        solver.settle().unwrap();
        solver.put_in_furnace(FURNACE, "beef", 2, "coal", 1).unwrap();
        solver.take_from_furnace(300).unwrap();
        println!("smelting takes {} steps", solver.steps());
        assert_eq!(solver.world().inventory().count(ItemId::of("cooked_beef").unwrap()), 1);
    }
}
