//! What is thrown: it flies until it meets something.

use craft::{ItemId, ItemStack};
use serde::{Deserialize, Serialize};

use crate::action::{Action, Button};
use crate::body::{Aabb, solid_boxes};
use crate::events::{Event, EventKind};
use crate::hands::USE_PAUSE;
use crate::hash::{DiceRow, Mixer, purpose};
use crate::player::is_water_at;
use crate::things::constants::EDGE;
use crate::things::{MAX_SPEED, is_place};
use crate::volume::Volume;
use crate::world::{Body, World};

/// Numbers of the game, which tests name.
pub mod constants {
    /// What remains of the speed in a tick.
    pub const DRAG: f64 = 0.99;
    pub const WATER_DRAG: f64 = 0.8;
    /// How far a throw strays, times a die that is bell-shaped.
    pub const SPREAD: f64 = 0.007_5;
    /// How far below the eyes it begins.
    pub const BELOW_EYES: f64 = 0.1;
    /// How far around a body it is hit.
    pub const HIT_MARGIN: f64 = 0.3;
    /// The most that flies. The oldest goes for the newest.
    pub const MAX_THROWN: usize = 64;
}

use constants::*;

/// A kind of thing that is thrown by using it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ThrownKind {
    Snowball,
}

/// Something that flies.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ThrownBody {
    pub(crate) id: u64,
    pub kind: ThrownKind,
    pub position: [f64; 3],
    pub velocity: [f64; 3],
}

impl ThrownKind {
    pub const ALL: [Self; 1] = [Self::Snowball];

    /// The id of the item that is thrown.
    pub fn id(self) -> &'static str {
        match self {
            Self::Snowball => "snowball",
        }
    }

    /// The kind that an item is thrown as, if it is.
    pub fn of(item: ItemId) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.id() == item.id())
    }

    /// How fast it is thrown.
    pub fn speed(self) -> f64 {
        match self {
            Self::Snowball => 1.5,
        }
    }

    pub fn gravity(self) -> f64 {
        match self {
            Self::Snowball => 0.03,
        }
    }
}

impl ThrownBody {
    pub fn bounds(&self) -> Aabb {
        Aabb::standing(self.position, EDGE, EDGE)
    }

    /// Moves for a tick. Returns whether it still flies.
    pub(crate) fn advance(&mut self, volume: &Volume, bodies: &[Body]) -> bool {
        let Self { position, velocity, .. } = *self;
        let meets_body = |body: &Body| {
            let Aabb { low, high } = body.bounds;
            let wide = Aabb { low: low.map(|at| at - HIT_MARGIN), high: high.map(|at| at + HIT_MARGIN) };
            wide.is_crossed(position, velocity)
        };
        if meets_block(volume, position, velocity) || bodies.iter().any(meets_body) {
            return false;
        }
        let drag = if is_water_at(volume, position) { WATER_DRAG } else { DRAG };
        self.position = [0, 1, 2].map(|axis| position[axis] + velocity[axis]);
        self.velocity = velocity.map(|part| part * drag);
        self.velocity[1] -= self.kind.gravity();
        true
    }

    pub(crate) fn is_possible(&self) -> bool {
        is_place(self.position, self.velocity)
    }

    pub(crate) fn mix_into(&self, mixer: &mut Mixer) {
        mixer.add(self.id << 8 | self.kind as u64);
        for part in self.position.iter().chain(&self.velocity) {
            mixer.add_f64(*part);
        }
    }
}

/// Whether a way leads through something solid.
fn meets_block(volume: &Volume, from: [f64; 3], by: [f64; 3]) -> bool {
    let point = Aabb { low: from.map(|at| at - 1e-7), high: from.map(|at| at + 1e-7) };
    let way = point.swept(by);
    way.cells().any(|cell| solid_boxes(volume, cell).into_iter().any(|solid| solid.is_crossed(from, by)))
}

impl World {
    /// Throws what the hand holds, if it is something to throw and the button for use is down.
    pub(crate) fn throw_held(&mut self, action: Action, events: &mut Vec<Event>) {
        if !action.is_down(Button::Use) || self.hands.use_pause > 0 {
            return;
        }
        let Some(ItemStack { item, .. }) = self.held() else { return };
        let Some(kind) = ThrownKind::of(item) else { return };
        self.inventory.take(self.player.slot, 1);
        self.throw(kind);
        events.push(Event::new(EventKind::UseItem, item.id()));
        self.hands.use_pause = USE_PAUSE;
        self.hands.swing = 0;
    }

    /// Lets something fly along the look. The thrower's own speed is added; who stands on ground does not fall.
    fn throw(&mut self, kind: ThrownKind) {
        let id = self.things.new_id();
        let mut dice = DiceRow::new(self.seed, purpose::SPREAD, self.tick, id);
        let (look, [x, y, z]) = (self.player.look(), self.player.eyes());
        let mut own = self.player.velocity;
        if self.player.is_on_ground {
            own[1] = 0.0;
        }
        let velocity = [0, 1, 2].map(|axis| {
            let along = (look[axis] + dice.bell() * SPREAD) * kind.speed();
            (along + own[axis]).clamp(-MAX_SPEED, MAX_SPEED)
        });
        if self.things.thrown.len() >= MAX_THROWN {
            self.things.thrown.remove(0);
        }
        let position = [x, y - BELOW_EYES, z];
        self.things.thrown.push(ThrownBody { id, kind, position, velocity });
    }
}
