//! What the buttons for attack and use do: breaking and placing blocks.

use serde::{Deserialize, Serialize};

use crate::action::{Action, Button};
use crate::aim::{REACH, Target, aim};
use crate::block::WorldBlock;
use crate::body::{Aabb, box_in};
use crate::events::{Event, EventKind};
use crate::hash::Mixer;
use crate::interact::{UseOutcome, interact};
use crate::item::{Footing, Item, breaking};
use crate::place::{PlacementContext, placement};
use crate::player::{Player, is_water_at};
use crate::support::{change, change_all};
use crate::volume::{Cell, Volume, contains};

/// The ticks after a block is broken before the next one is begun.
const BREAK_PAUSE: u8 = 5;

/// The ticks between two uses while the button is held.
const USE_PAUSE: u8 = 4;

/// How many ticks a swing of the hand takes.
pub(crate) const SWING: u8 = 6;

/// What two hands are at.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Hands {
    /// The block that is being broken, and how much of it is.
    breaking: Option<(Cell, f64)>,
    break_pause: u8,
    use_pause: u8,
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

    pub fn act(
        &mut self,
        volume: &mut Volume,
        player: &Player,
        others: &[Aabb],
        held: Option<Item>,
        action: Action,
        events: &mut Vec<Event>,
    ) {
        self.swing = self.swing.saturating_add(1);
        let target = aim(volume, player.eyes(), player.look(), REACH);
        self.attack(volume, player, held, action, target, events);
        self.place(volume, player, others, held, action, target, events);
    }

    fn attack(
        &mut self,
        volume: &mut Volume,
        player: &Player,
        held: Option<Item>,
        action: Action,
        target: Option<Target>,
        events: &mut Vec<Event>,
    ) {
        if !action.is_down(Button::Attack) {
            self.breaking = None;
            self.break_pause = 0;
            return;
        }
        if self.swing >= SWING {
            self.swing = 0;
        }
        let Some(Target { cell, .. }) = target else {
            self.breaking = None;
            return;
        };
        if self.break_pause > 0 {
            self.break_pause -= 1;
            return;
        }
        let block = volume.block(cell);
        let footing = Footing {
            is_under_water: is_water_at(volume, player.eyes()),
            is_off_ground: !player.is_on_ground,
        };
        let Some(part) = breaking(block.kind(), held, footing) else {
            self.breaking = None;
            return;
        };
        let before = self.breaking.filter(|(known, _)| *known == cell).map_or(0.0, |(_, part)| part);
        let broken = before + part;
        if broken < 1.0 - 1e-9 {
            self.breaking = Some((cell, broken));
            return;
        }
        change(volume, cell, WorldBlock::AIR);
        events.push(Event { kind: EventKind::MineBlock, object: block.id() });
        self.breaking = None;
        self.break_pause = if part >= 1.0 { 0 } else { BREAK_PAUSE };
    }

    #[expect(clippy::too_many_arguments, reason = "each is another part of the world")]
    fn place(
        &mut self,
        volume: &mut Volume,
        player: &Player,
        others: &[Aabb],
        held: Option<Item>,
        action: Action,
        target: Option<Target>,
        events: &mut Vec<Event>,
    ) {
        self.use_pause = self.use_pause.saturating_sub(1);
        if !action.is_down(Button::Use) {
            self.use_pause = 0;
            return;
        }
        if self.use_pause > 0 {
            return;
        }
        let Some(target) = target else { return };
        if !action.is_down(Button::Sneak) && interact(volume, target.cell, player.yaw) != UseOutcome::None {
            self.use_pause = USE_PAUSE;
            self.swing = 0;
            return;
        }
        let Some(Item::Block(block)) = held else { return };
        let context = PlacementContext { target, yaw: player.yaw, look: player.look() };
        let Some(cells) = placement(volume, block, &context) else { return };
        let is_in_the_way = |(cell, block): &(Cell, WorldBlock)| {
            block.state().forms[0].collision.iter().any(|edges| {
                let part = box_in(*cell, *edges);
                player.bounds().overlaps(part) || others.iter().any(|other| other.overlaps(part))
            })
        };
        if cells.iter().any(is_in_the_way) {
            return;
        }
        events.push(Event { kind: EventKind::UseItem, object: block.id() });
        change_all(volume, &cells);
        self.use_pause = USE_PAUSE;
        self.swing = 0;
    }

    pub fn mix_into(&self, mixer: &mut Mixer) {
        if let Some((cell, part)) = self.breaking {
            mixer.add(((cell[1] << 16) | (cell[2] << 8) | cell[0]) as u64);
            mixer.add_f64(part);
        }
        mixer.add(u64::from(self.break_pause) << 16 | u64::from(self.use_pause) << 8 | u64::from(self.swing));
    }
}
