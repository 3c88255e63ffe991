//! What the buttons for attack and use do: breaking and placing blocks.

use craft::ItemStack;
use serde::{Deserialize, Serialize};

use crate::action::{Action, Button};
use crate::aim::Target;
use crate::block::{Axis, Facing, WorldBlock};
use crate::body::Aabb;
use crate::events::{Event, EventKind};
use crate::hash::Mixer;
use crate::item::{Footing, breaking};
use crate::light::relight;
use crate::player::is_water_at;
use crate::screen::ScreenKind;
use crate::volume::{Cell, Volume, contains};
use crate::world::World;

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
        self.attack(action, target, events);
        self.place(action, target, events);
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
        change(&mut self.volume, cell, WorldBlock::AIR);
        events.push(Event::new(EventKind::MineBlock, block.id()));
        if block.kind().hardness != Some(0.0) {
            self.inventory.wear(self.player.slot, 1);
        }
    }

    fn place(&mut self, action: Action, target: Option<Target>, events: &mut Vec<Event>) {
        self.hands.use_pause = self.hands.use_pause.saturating_sub(1);
        if !action.is_down(Button::Use) {
            self.hands.use_pause = 0;
            return;
        }
        let opened = target.and_then(|Target { cell, .. }| {
            ScreenKind::of_block(self.volume.block(cell).id(), cell)
                .filter(|_| !action.is_down(Button::Sneak))
        });
        if let Some(kind) = opened {
            if self.is_newly_down(action, Button::Use) {
                self.open_screen(kind, events);
                self.hands.swing = 0;
            }
            return;
        }
        let (Some(ItemStack { item, .. }), Some(target)) = (self.held(), target) else { return };
        let Some(block) = WorldBlock::of(item.id()) else { return };
        if self.hands.use_pause > 0 {
            return;
        }
        let is_replaced = self.volume.block(target.cell).kind().replaceable;
        let cell = if is_replaced { target.cell } else { add(target.cell, target.face) };
        let face = if is_replaced { [0, 1, 0] } else { target.face };
        let Some(block) = turned(block, &self.volume, cell, face, self.player.look()) else { return };
        let body = Aabb { low: cell.map(f64::from), high: cell.map(|at| f64::from(at + 1)) };
        let mut others = self.bodies.iter().map(|body| body.bounds).chain([self.player.bounds()]);
        let is_in_the_way = block.state().solid && others.any(|other| other.overlaps(body));
        if !contains(cell) || !self.volume.block(cell).kind().replaceable || is_in_the_way {
            return;
        }
        change(&mut self.volume, cell, block);
        self.inventory.take(self.player.slot, 1);
        events.push(Event::new(EventKind::UseItem, item.id()));
        self.hands.use_pause = USE_PAUSE;
        self.hands.swing = 0;
    }
}

/// Puts a block into a cell, corrects the light, and takes away what the old one has held.
pub(crate) fn change(volume: &mut Volume, cell: Cell, block: WorldBlock) {
    let old = volume.replace(cell, block);
    relight(volume, cell, old, block);
    if block.state().filter < 15 {
        drop_unsupported(volume, cell);
    }
}

/// The state of a block that is put against a face. None if nothing holds it there.
fn turned(
    block: WorldBlock,
    volume: &Volume,
    cell: Cell,
    face: [i32; 3],
    look: [f64; 3],
) -> Option<WorldBlock> {
    let holds = |at: Cell| volume.block(at).state().filter == 15;
    let outward = Facing::ALL.into_iter().find(|facing| facing.step() == face);
    match block.id() {
        "ladder" => {
            let facing = outward?;
            holds(add(cell, facing.opposite().step())).then(|| block.facing(facing))
        }
        "torch" => match outward {
            Some(facing) => {
                let wall = WorldBlock::of("wall_torch")?.facing(facing);
                holds(add(cell, facing.opposite().step())).then_some(wall)
            }
            None => holds(add(cell, [0, -1, 0])).then_some(block),
        },
        id if id.ends_with("_log") => Some(block.along(match face {
            [0, _, 0] => Axis::Y,
            [_, 0, 0] => Axis::X,
            _ => Axis::Z,
        })),
        _ if block.state().facing.is_some() => {
            let away = if look[0].abs() > look[2].abs() {
                if look[0] > 0.0 { Facing::West } else { Facing::East }
            } else if look[2] > 0.0 {
                Facing::North
            } else {
                Facing::South
            };
            Some(block.facing(away))
        }
        _ => Some(block),
    }
}

/// Takes away what a cell has held.
fn drop_unsupported(volume: &mut Volume, cell: Cell) {
    for step in [[0, 1, 0], [0, 0, -1], [0, 0, 1], [-1, 0, 0], [1, 0, 0]] {
        let beside = add(cell, step);
        let block = volume.block(beside);
        let held_by = match block.id() {
            "torch" | "grass" | "dandelion" | "poppy" => Some([0, -1, 0]),
            "ladder" | "wall_torch" => block.state().facing.map(|facing| facing.opposite().step()),
            _ => None,
        };
        if held_by.is_some_and(|held_by| add(beside, held_by) == cell) {
            change(volume, beside, WorldBlock::AIR);
        }
    }
}

pub(crate) fn add(cell: Cell, step: [i32; 3]) -> Cell {
    [cell[0] + step[0], cell[1] + step[1], cell[2] + step[2]]
}
