//! Screens: what is worked with a pointer, which the camera moves.
//!
//! While a screen is open, the body gets no buttons and does not turn. Attack clicks at what the pointer is over, use is a
//! click with the other button, and with sneak either is one with shift. A key of the hot bar swaps with that slot, and drop
//! throws one item out.

mod clicks;
mod layout;
mod shortcut;

use craft::{ItemId, ItemStack, find_recipe};
use serde::{Deserialize, Serialize};

use self::clicks::Desk;
pub use self::layout::{SLOT, ScreenLayout, ScreenSlot, SlotPlace};
pub use self::shortcut::CraftProblem;
use crate::action::{Action, Button};
use crate::containers::Container;
use crate::events::{Event, EventKind};
use crate::hash::Mixer;
use crate::inventory::{is_possible, mix_stack};
use crate::player::cell_of;
use crate::volume::{Cell, contains};
use crate::world::World;

/// The window, in pixels, which the picture is squeezed from.
pub const WINDOW: [i32; 2] = [640, 360];

/// How far the camera turns, in thousandths of a degree, while the pointer moves by a pixel.
pub const TURN_PER_PIXEL: i32 = 150;

/// A screen closes when the middle of its block is farther from the feet than this.
const FARTHEST: f64 = 8.0;

/// What a screen shows above the player's own slots.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ScreenKind {
    /// A grid of two by two.
    Inventory,
    /// A grid of three by three.
    CraftingTable(Cell),
    Chest(Cell),
    Furnace(Cell),
}

/// A screen that is open.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Screen {
    kind: ScreenKind,
    /// Where the pointer is in the window, in thousandths of a degree that the camera has turned.
    pointer: [i32; 2],
    /// What the pointer carries.
    carried: Option<ItemStack>,
    /// The crafting grid, row by row; empty if the screen has none.
    grid: Vec<Option<ItemStack>>,
}

impl ScreenKind {
    /// The screen that a block opens, in its cell.
    pub fn of_block(id: &str, cell: Cell) -> Option<Self> {
        match id {
            "crafting_table" => Some(Self::CraftingTable(cell)),
            "chest" | "trapped_chest" | "barrel" => Some(Self::Chest(cell)),
            "furnace" => Some(Self::Furnace(cell)),
            _ => None,
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            Self::Inventory => "inventory",
            Self::CraftingTable(_) => "crafting_table",
            Self::Chest(_) => "chest",
            Self::Furnace(_) => "furnace",
        }
    }

    /// The cell of its block.
    pub fn cell(self) -> Option<Cell> {
        match self {
            Self::Inventory => None,
            Self::CraftingTable(cell) | Self::Chest(cell) | Self::Furnace(cell) => Some(cell),
        }
    }

    /// How wide and high its crafting grid is.
    fn grid(self) -> usize {
        match self {
            Self::Inventory => 2,
            Self::CraftingTable(_) => 3,
            Self::Chest(_) | Self::Furnace(_) => 0,
        }
    }
}

impl Screen {
    /// A screen that has just been opened, with the pointer in the middle of the window.
    fn new(kind: ScreenKind) -> Self {
        Self {
            kind,
            pointer: WINDOW.map(|edge| edge / 2 * TURN_PER_PIXEL),
            carried: None,
            grid: vec![None; kind.grid() * kind.grid()],
        }
    }

    pub fn kind(&self) -> ScreenKind {
        self.kind
    }

    pub fn layout(&self) -> &'static ScreenLayout {
        ScreenLayout::of(self.kind)
    }

    /// The pixel of the window that the pointer is on.
    pub fn pointer(&self) -> [i32; 2] {
        self.pointer.map(|at| at / TURN_PER_PIXEL)
    }

    /// The slot that the pointer is over.
    pub fn hovered(&self) -> Option<ScreenSlot> {
        self.layout().slot_at(self.pointer())
    }

    pub fn carried(&self) -> Option<ItemStack> {
        self.carried
    }

    /// The stacks of the crafting grid, row by row.
    pub fn grid(&self) -> &[Option<ItemStack>] {
        &self.grid
    }

    /// What the grid makes.
    pub fn result(&self) -> Option<ItemStack> {
        let items: Vec<Option<ItemId>> = self.grid.iter().map(|cell| cell.map(|stack| stack.item)).collect();
        find_recipe(&items, self.kind.grid()).map(craft::Recipe::result)
    }

    fn move_pointer(&mut self, action: Action) {
        let [down, right] = action.turn();
        for (axis, by) in [right, down].into_iter().enumerate() {
            self.pointer[axis] = (self.pointer[axis] + by).clamp(0, WINDOW[axis] * TURN_PER_PIXEL - 1);
        }
    }

    /// Whether a screen that was read from a file could be one.
    fn is_possible(&self) -> bool {
        let edge = self.kind.grid();
        self.grid.len() == edge * edge
            && self.grid.iter().chain([&self.carried]).flatten().all(|stack| is_possible(*stack))
            && (0..2).all(|axis| (0..WINDOW[axis] * TURN_PER_PIXEL).contains(&self.pointer[axis]))
            && self.kind.cell().is_none_or(contains)
    }

    fn mix_into(&self, mixer: &mut Mixer) {
        mixer.add(self.kind.grid() as u64 + 1);
        for part in self.kind.cell().unwrap_or_default().iter().chain(&self.pointer) {
            mixer.add(*part as u64);
        }
        for stack in self.grid.iter().chain([&self.carried]) {
            mix_stack(*stack, mixer);
        }
    }
}

impl World {
    /// The screen that is open.
    pub fn screen(&self) -> Option<&Screen> {
        self.screen.as_ref()
    }

    /// What lies in a slot of the open screen.
    pub fn screen_slot(&self, slot: ScreenSlot) -> Option<ItemStack> {
        let screen = self.screen.as_ref()?;
        match slot {
            ScreenSlot::Inventory(slot) => self.inventory.slot(slot),
            ScreenSlot::OffHand => self.inventory.off_hand,
            ScreenSlot::Grid(cell) => screen.grid.get(cell).copied().flatten(),
            ScreenSlot::Result => screen.result(),
            ScreenSlot::Container(slot) => {
                let container = self.containers.get(screen.kind.cell()?)?;
                container.slots().get(slot).copied().flatten()
            }
        }
    }

    /// Opens a screen, in place of one that is open.
    pub(crate) fn open_screen(&mut self, kind: ScreenKind, events: &mut Vec<Event>) {
        self.close_screen();
        if let Some(cell) = kind.cell() {
            self.spill_broken_containers();
            let block = self.volume.block(cell).id();
            self.containers.open(cell, block);
            events.push(Event::new(EventKind::Open, block));
        }
        self.screen = Some(Screen::new(kind));
    }

    /// Closes the screen. What it held goes back to the player, and falls to the ground where that is full.
    pub(crate) fn close_screen(&mut self) {
        let Some(screen) = self.screen.take() else { return };
        let feet = cell_of(self.player.position);
        for stack in screen.grid.into_iter().chain([screen.carried]).flatten() {
            if let Some(left) = self.inventory.add(stack) {
                self.spill(feet, left);
            }
        }
    }

    /// Lets the buttons work on the screen, if one is open or is opened by them. Returns what is left for the body to do.
    pub(crate) fn use_screen(&mut self, action: Action, events: &mut Vec<Event>) -> Action {
        let inventory = self.is_newly_down(action, Button::Inventory);
        let Some(screen) = &mut self.screen else {
            if !inventory {
                return action;
            }
            self.open_screen(ScreenKind::Inventory, events);
            return action.only_turn();
        };
        screen.move_pointer(action);
        if self.is_screen_in_reach() {
            self.click(action, events);
        }
        if inventory || !self.is_screen_in_reach() {
            self.close_screen();
        }
        Action::default()
    }

    /// Whether the screen's block is there, and near enough.
    fn is_screen_in_reach(&self) -> bool {
        let Some(kind) = self.screen.as_ref().map(Screen::kind) else { return false };
        let Some(cell) = kind.cell() else { return true };
        let away = [0, 1, 2].map(|axis| f64::from(cell[axis]) + 0.5 - self.player.position[axis]);
        let distance = away.iter().map(|part| part * part).sum::<f64>();
        ScreenKind::of_block(self.volume.block(cell).id(), cell) == Some(kind)
            && distance <= FARTHEST * FARTHEST
    }

    /// Does what the buttons that are newly down want, at the pointer.
    fn click(&mut self, action: Action, events: &mut Vec<Event>) {
        let is_down = |button| self.is_newly_down(action, button);
        let clicks = [is_down(Button::Attack), is_down(Button::Use)];
        let (drops, swaps) = (is_down(Button::Drop), is_down(Button::SwapHands));
        let hotbar = self.newly_chosen(action);
        let Some(screen) = &mut self.screen else { return };
        let container = screen.kind.cell().and_then(|cell| self.containers.get_mut(cell));
        let mut desk = Desk { screen, inventory: &mut self.inventory, container, events, thrown: Vec::new() };
        for is_right in [false, true] {
            if clicks[usize::from(is_right)] {
                desk.click(is_right, action.is_down(Button::Sneak));
            }
        }
        if let Some(slot) = hotbar {
            desk.swap(ScreenSlot::Inventory(slot));
        }
        if swaps {
            desk.swap(ScreenSlot::OffHand);
        }
        if drops {
            desk.drop_one();
        }
        for stack in desk.thrown {
            self.throw_item(stack, events);
        }
    }

    /// Whether the screen of a world that was read from a file could be one.
    pub(crate) fn is_screen_possible(&self) -> bool {
        let Some(screen) = &self.screen else { return true };
        let container = screen.kind.cell().and_then(|cell| self.containers.get(cell));
        let fits = match screen.kind {
            ScreenKind::Inventory | ScreenKind::CraftingTable(_) => true,
            ScreenKind::Chest(_) => matches!(container, Some(Container::Chest(_))),
            ScreenKind::Furnace(_) => matches!(container, Some(Container::Furnace(_))),
        };
        fits && screen.is_possible()
    }

    pub(crate) fn mix_screen_into(&self, mixer: &mut Mixer) {
        match &self.screen {
            None => mixer.add(0),
            Some(screen) => screen.mix_into(mixer),
        }
    }
}
