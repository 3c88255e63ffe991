//! Screens, which are worked with the pointer.
//!
//! The pointer starts in the middle of 640 × 360 when a screen opens, and the camera moves it. Windows are 176 wide, stand in
//! the middle, and have their slots where Minecraft 1.16.5 has them.

use crate::compact::{CompactKeys, steps_of, sums, turns};
use crate::solver::{Solved, Solver};

/// The kinds of screens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScreenKind {
    Inventory,
    CraftingTable,
    Furnace,
    /// Three rows of nine.
    Chest,
    BrewingStand,
    EnchantingTable,
}

/// A slot of a screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScreenSlot {
    /// A slot of the inventory as the world counts them: the nine of the hot bar first.
    Carried(usize),
    /// A slot of the grid, row by row: two by two in the inventory, three by three at a table.
    Grid(usize),
    /// What the grid or the furnace makes.
    Result,
    /// What is smelted, brewed with, or enchanted.
    Input,
    Fuel,
    /// A slot of the chest, row by row, or a bottle of the brewing stand.
    Stored(usize),
    /// The lapis of the enchanting table.
    Lapis,
    /// An offer of the enchanting table, from the top.
    Offer(usize),
}

/// The size of what the agent looks at, in pixels.
const SCREEN: [i32; 2] = [640, 360];

/// How far a degree moves the pointer, in pixels.
const PIXELS: f64 = 1.0 / 0.15;

/// How far beside the middle of a slot a click still counts, in pixels.
const SLACK: f64 = 6.0;

impl ScreenKind {
    /// How tall the window is.
    fn height(self) -> i32 {
        match self {
            Self::Chest => 168,
            _ => 166,
        }
    }

    /// The upper left corner of its window, in pixels.
    pub fn corner(self) -> [i32; 2] {
        [(SCREEN[0] - 176) / 2, (SCREEN[1] - self.height()) / 2]
    }

    /// The middle of a slot, in pixels of the screen. None if the screen has no such slot.
    pub fn slot(self, slot: ScreenSlot) -> Option<[i32; 2]> {
        let grid = |[left, top]: [i32; 2], columns: usize, rows: usize, index: usize| {
            let place = [left + index as i32 % columns as i32 * 18, top + index as i32 / columns as i32 * 18];
            (index < columns * rows).then_some(place)
        };
        let place = match (self, slot) {
            (_, ScreenSlot::Carried(index @ 0..9)) => grid([8, self.height() - 24], 9, 1, index),
            (_, ScreenSlot::Carried(index)) => grid([8, self.height() - 82], 9, 3, index - 9),
            (Self::Inventory, ScreenSlot::Grid(index)) => grid([98, 18], 2, 2, index),
            (Self::Inventory, ScreenSlot::Result) => Some([154, 28]),
            (Self::CraftingTable, ScreenSlot::Grid(index)) => grid([30, 17], 3, 3, index),
            (Self::CraftingTable, ScreenSlot::Result) => Some([124, 35]),
            (Self::Furnace, ScreenSlot::Input) => Some([56, 17]),
            (Self::Furnace, ScreenSlot::Fuel) => Some([56, 53]),
            (Self::Furnace, ScreenSlot::Result) => Some([116, 35]),
            (Self::Chest, ScreenSlot::Stored(index)) => grid([8, 18], 9, 3, index),
            (Self::BrewingStand, ScreenSlot::Stored(index)) => {
                [[56, 51], [79, 58], [102, 51]].get(index).copied()
            }
            (Self::BrewingStand, ScreenSlot::Input) => Some([79, 17]),
            (Self::BrewingStand, ScreenSlot::Fuel) => Some([17, 17]),
            (Self::EnchantingTable, ScreenSlot::Input) => Some([15, 47]),
            (Self::EnchantingTable, ScreenSlot::Lapis) => Some([35, 47]),
            (Self::EnchantingTable, ScreenSlot::Offer(index @ 0..3)) => Some([106, 15 + 19 * index as i32]),
            _ => None,
        };
        let corner = self.corner();
        place.map(|[x, y]| [corner[0] + x + 8, corner[1] + y + 8])
    }
}

/// The turns of the camera that move the pointer by so many pixels to the right and down.
pub fn pointer_turns([right, down]: [f64; 2]) -> Vec<[i16; 2]> {
    let hundredths = [down, right].map(|pixels| (pixels / PIXELS * 100.0).round() as i32);
    let sums = sums(hundredths, (SLACK / PIXELS * 100.0) as i32);
    debug_assert!(steps_of(sums) < 16);
    turns(sums, 0)
}

impl Solver<'_> {
    /// Opens or closes the inventory, or closes whichever screen is open.
    pub fn press_inventory(&mut self) -> Solved {
        self.press(CompactKeys { inventory: true, ..CompactKeys::default() })
    }

    /// Moves the pointer from a place on the screen to another one, in pixels.
    pub fn move_pointer(&mut self, from: [f64; 2], to: [f64; 2]) -> Solved {
        let way = pointer_turns([to[0] - from[0], to[1] - from[1]]);
        way.into_iter().try_for_each(|turn| self.press(CompactKeys::turn(turn)))
    }

    /// A click: the button goes down and up again, so that the next click is one of its own.
    pub fn click(&mut self, keys: CompactKeys) -> Solved {
        self.press(keys)?;
        self.press(CompactKeys::default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_are_where_the_game_has_them() {
        use ScreenKind::{Chest, CraftingTable, EnchantingTable, Furnace, Inventory};
        use ScreenSlot::{Carried, Grid, Offer, Result, Stored};
        for (kind, slot, expected) in [
            (Inventory, Grid(0), Some([338, 123])),
            (Inventory, Grid(3), Some([356, 141])),
            (Inventory, Grid(4), None),
            (Inventory, Carried(0), Some([248, 247])),
            (Inventory, Carried(9), Some([248, 189])),
            (Inventory, Carried(35), Some([392, 225])),
            (Inventory, Carried(36), None),
            (CraftingTable, Grid(8), Some([306, 158])),
            (CraftingTable, Result, Some([364, 140])),
            (Furnace, Result, Some([356, 140])),
            (Chest, Stored(26), Some([392, 158])),
            (Chest, Carried(8), Some([392, 248])),
            (Chest, Result, None),
            (EnchantingTable, Offer(2), Some([346, 158])),
        ] {
            assert_eq!(kind.slot(slot), expected, "{kind:?} {slot:?}");
        }
    }

    #[test]
    fn the_pointer_comes_to_every_slot_in_few_steps() {
        for kind in [ScreenKind::Inventory, ScreenKind::CraftingTable, ScreenKind::Chest] {
            for slot in (0..36).map(ScreenSlot::Carried).chain((0..9).map(ScreenSlot::Grid)) {
                let Some(to) = kind.slot(slot) else { continue };
                let way = [0, 1].map(|axis| f64::from(to[axis] - SCREEN[axis] / 2));
                let turns = pointer_turns(way);
                let moved = [1, 0]
                    .map(|axis| turns.iter().map(|turn| f64::from(turn[axis])).sum::<f64>() / 100.0 * PIXELS);
                assert!(turns.len() <= 4, "{slot:?} takes {}", turns.len());
                assert!((0..2).all(|axis| (moved[axis] - way[axis]).abs() < 7.0), "{slot:?}: {moved:?}");
            }
        }
    }
}
