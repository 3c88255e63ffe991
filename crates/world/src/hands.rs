//! What the buttons for attack and use do: breaking and placing blocks.

use craft::ItemStack;
use serde::{Deserialize, Serialize};

use crate::action::{Action, Button};
use crate::aim::Target;
use crate::body::{Aabb, box_in};
use crate::events::{Event, EventKind};
use crate::food::constants::DIG;
use crate::hash::Mixer;
use crate::interact::{UseOutcome, interact};
use crate::item::{Footing, breaking};
use crate::place::{PlacementContext, block_of_item, placement};
use crate::player::is_water_at;
use crate::screen::ScreenKind;
use crate::volume::{Cell, contains};
use crate::world::World;

/// The ticks after a block is broken before the next one is begun.
const BREAK_PAUSE: u8 = 5;

/// The ticks between two uses while the button is held.
pub(crate) const USE_PAUSE: u8 = 4;

/// How many ticks a swing of the hand takes.
pub(crate) const SWING: u8 = 6;

/// What two hands are at.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Hands {
    /// The block that is being broken, and how much of it is.
    breaking: Option<(Cell, f64)>,
    break_pause: u8,
    pub use_pause: u8,
    /// The ticks since the hand was last swung.
    pub swing: u8,
}

impl Hands {
    /// How far a block is broken, from 0 to 1.
    pub fn cracks(&self) -> Option<(Cell, f64)> {
        self.breaking.filter(|(_, part)| *part > 0.0)
    }

    /// Whether hands that were read from a file could be some.
    pub fn are_possible(&self) -> bool {
        self.breaking.is_none_or(|(cell, part)| contains(cell) && (0.0..=1.0).contains(&part))
    }

    pub fn mix_into(&self, mixer: &mut Mixer) {
        if let Some((cell, part)) = self.breaking {
            mixer.add(((cell[1] << 16) | (cell[2] << 8) | cell[0]) as u64);
            mixer.add_f64(part);
        }
        mixer.add(u64::from(self.break_pause) << 16 | u64::from(self.use_pause) << 8 | u64::from(self.swing));
    }
}

impl World {
    /// Lets the hands do what the buttons want.
    pub(crate) fn use_hands(&mut self, action: Action, events: &mut Vec<Event>) {
        self.hands.swing = self.hands.swing.saturating_add(1);
        let target = self.target();
        // Whoever eats does nothing else with the hands.
        let is_eating = self.player.is_using && action.is_down(Button::Use);
        self.attack(if is_eating { action.release(Button::Attack) } else { action }, target, events);
        let is_spent = self.place(action, target, events);
        let left = if is_spent { action.release(Button::Use) } else { action };
        self.throw_held(left, events);
        self.eat(left, events);
        self.move_items(action, target, events);
    }

    fn attack(&mut self, action: Action, target: Option<Target>, events: &mut Vec<Event>) {
        let hands = &mut self.hands;
        if !action.is_down(Button::Attack) {
            hands.breaking = None;
            hands.break_pause = 0;
            return;
        }
        if hands.swing >= SWING {
            hands.swing = 0;
        }
        let Some(Target { cell, .. }) = target else {
            hands.breaking = None;
            return;
        };
        if hands.break_pause > 0 {
            hands.break_pause -= 1;
            return;
        }
        let block = self.volume.block(cell);
        let footing = Footing {
            is_under_water: is_water_at(&self.volume, self.player.eyes()),
            is_off_ground: !self.player.is_on_ground,
        };
        let held = self.inventory.slot(self.player.slot).map(|stack| stack.item);
        let Some(part) = breaking(block.kind(), held, footing) else {
            hands.breaking = None;
            return;
        };
        let before = hands.breaking.filter(|(known, _)| *known == cell).map_or(0.0, |(_, part)| part);
        let broken = before + part;
        if broken < 1.0 - 1e-9 {
            hands.breaking = Some((cell, broken));
            return;
        }
        hands.breaking = None;
        hands.break_pause = if part >= 1.0 { 0 } else { BREAK_PAUSE };
        self.break_with(cell, held);
        events.push(Event::new(EventKind::MineBlock, block.id()));
        self.hunger.exhaust(DIG);
        if block.kind().hardness != Some(0.0) {
            self.inventory.wear(self.player.slot, 1);
        }
    }

    /// Puts a block. Returns whether the use is spent on that, also if it cannot be put there.
    fn place(&mut self, action: Action, target: Option<Target>, events: &mut Vec<Event>) -> bool {
        self.hands.use_pause = self.hands.use_pause.saturating_sub(1);
        if !action.is_down(Button::Use) {
            self.hands.use_pause = 0;
            return false;
        }
        if self.hands.use_pause > 0 {
            return true;
        }
        let Some(target) = target else { return false };
        if !action.is_down(Button::Sneak) {
            match interact(&mut self.volume, target.cell, self.player.yaw) {
                UseOutcome::None => {}
                UseOutcome::Opened(cell) => {
                    self.open_block(cell, action, events);
                    return true;
                }
                UseOutcome::Toggled(_) | UseOutcome::Bed(_) => {
                    self.hands.use_pause = USE_PAUSE;
                    self.hands.swing = 0;
                    return true;
                }
            }
        }
        if self.carve(target, events) {
            self.hands.use_pause = USE_PAUSE;
            self.hands.swing = 0;
            return true;
        }
        let Some(ItemStack { item, .. }) = self.held() else { return false };
        let Some(block) = block_of_item(item.id()) else { return false };
        let context = PlacementContext { target, yaw: self.player.yaw, look: self.player.look() };
        let Some(cells) = placement(&self.volume, block, &context) else { return true };
        let mut others = self.bodies.iter().map(|body| body.bounds).chain([self.player.bounds()]);
        let is_in = |other: Aabb| {
            cells.iter().any(|(cell, block)| {
                let collision = &block.state().forms[0].collision;
                collision.iter().any(|edges| other.overlaps(box_in(*cell, *edges)))
            })
        };
        if others.any(is_in) {
            return true;
        }
        self.change_blocks(&cells);
        self.inventory.take(self.player.slot, 1);
        events.push(Event::new(EventKind::UseItem, item.id()));
        self.hands.use_pause = USE_PAUSE;
        self.hands.swing = 0;
        true
    }

    /// Opens the screen of a block, if it has one. A held button opens it once.
    fn open_block(&mut self, cell: Cell, action: Action, events: &mut Vec<Event>) {
        if self.is_newly_down(action, Button::Use)
            && let Some(kind) = ScreenKind::of_block(self.volume.block(cell).id(), cell)
        {
            self.open_screen(kind, events);
            self.hands.swing = 0;
        }
    }
}
