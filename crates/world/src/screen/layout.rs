//! Where the slots of screens are: those of the game at a scale of 1, in pixels from the screen's corner at the top left.

use std::sync::LazyLock;

use super::ScreenKind;
use super::WINDOW;
use crate::inventory::HOTBAR;

/// How large a slot is for the pointer. Its picture is a pixel less on each side.
pub const SLOT: i32 = 18;

/// A place for a stack, as it is seen on a screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ScreenSlot {
    Inventory(usize),
    OffHand,
    /// A cell of the crafting grid, row by row.
    Grid(usize),
    /// What the grid makes.
    Result,
    /// A slot of the container that the screen shows. Those of a furnace are input, fuel and result.
    Container(usize),
}

/// A slot, and the corner of its picture at the top left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SlotPlace {
    pub slot: ScreenSlot,
    pub at: [i32; 2],
}

/// A screen's size, and its slots.
#[derive(Debug)]
pub struct ScreenLayout {
    pub size: [i32; 2],
    pub slots: Vec<SlotPlace>,
}

/// A rectangle of slots: what they are, the number of the first, the corner of the first, columns and rows.
type SlotBlock = (fn(usize) -> ScreenSlot, usize, [i32; 2], usize, usize);

impl ScreenLayout {
    pub fn of(kind: ScreenKind) -> &'static Self {
        static LAYOUTS: LazyLock<[ScreenLayout; 4]> = LazyLock::new(|| {
            use ScreenSlot::{Container, Grid, OffHand, Result};
            [
                ScreenLayout::new(
                    166,
                    84,
                    &[
                        (Grid, 0, [98, 18], 2, 2),
                        (|_| Result, 0, [154, 28], 1, 1),
                        (|_| OffHand, 0, [77, 62], 1, 1),
                    ],
                ),
                ScreenLayout::new(166, 84, &[(Grid, 0, [30, 17], 3, 3), (|_| Result, 0, [124, 35], 1, 1)]),
                ScreenLayout::new(168, 85, &[(Container, 0, [8, 18], 9, 3)]),
                ScreenLayout::new(
                    166,
                    84,
                    &[
                        (Container, 0, [56, 17], 1, 1),
                        (Container, 1, [56, 53], 1, 1),
                        (Container, 2, [116, 35], 1, 1),
                    ],
                ),
            ]
        });
        match kind {
            ScreenKind::Inventory => &LAYOUTS[0],
            ScreenKind::CraftingTable(_) => &LAYOUTS[1],
            ScreenKind::Chest(_) => &LAYOUTS[2],
            ScreenKind::Furnace(_) => &LAYOUTS[3],
        }
    }

    /// The player's own rows begin at a height; the hot bar is 58 pixels below.
    fn new(height: i32, rows: i32, own: &[SlotBlock]) -> Self {
        let players: [SlotBlock; 2] = [
            (ScreenSlot::Inventory, HOTBAR, [8, rows], 9, 3),
            (ScreenSlot::Inventory, 0, [8, rows + 58], 9, 1),
        ];
        let mut slots = Vec::new();
        for (slot, first, [x, y], columns, count) in own.iter().chain(&players) {
            for index in 0..columns * count {
                let (column, row) = ((index % columns) as i32, (index / columns) as i32);
                slots.push(SlotPlace { slot: slot(first + index), at: [x + column * SLOT, y + row * SLOT] });
            }
        }
        Self { size: [176, height], slots }
    }

    /// The screen's corner at the top left, in the window.
    pub fn corner(&self) -> [i32; 2] {
        [0, 1].map(|axis| (WINDOW[axis] - self.size[axis]) / 2)
    }

    pub fn contains(&self, point: [i32; 2]) -> bool {
        let corner = self.corner();
        (0..2).all(|axis| (0..self.size[axis]).contains(&(point[axis] - corner[axis])))
    }

    /// The slot at a point of the window.
    pub fn slot_at(&self, point: [i32; 2]) -> Option<ScreenSlot> {
        let corner = self.corner();
        let is_there = |place: &&SlotPlace| {
            (0..2).all(|axis| (0..SLOT).contains(&(point[axis] - corner[axis] - place.at[axis] + 1)))
        };
        self.slots.iter().find(is_there).map(|place| place.slot)
    }

    /// The middle of a slot in the window; none if the screen does not have it.
    pub fn middle_of(&self, slot: ScreenSlot) -> Option<[i32; 2]> {
        let place = self.slots.iter().find(|place| place.slot == slot)?;
        let corner = self.corner();
        Some([0, 1].map(|axis| corner[axis] + place.at[axis] + 8))
    }
}
