//! A world that goes on step by step.

use serde::{Deserialize, Serialize};

use crate::action::Action;
use crate::aim::{REACH, Target, aim};
use crate::block::{ToolKind, WorldBlock};
use crate::body::Aabb;
use crate::events::Event;
use crate::hands::Hands;
use crate::hash::Mixer;
use crate::item::{Item, ToolMaterial};
use crate::player::Player;
use crate::scene::Terrain;
use crate::support::change;
use crate::volume::{Cell, Volume, contains};

/// How many steps a day has.
pub const DAY: u64 = 24_000;

/// The time of day at noon.
pub const NOON: u64 = 6_000;

/// Something that stands in the world and has no will.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Body {
    pub bounds: Aabb,
    pub colour: [u8; 3],
}

/// A world with one player.
#[derive(Clone)]
pub struct World {
    pub(crate) volume: Volume,
    pub(crate) player: Player,
    pub(crate) bodies: Vec<Body>,
    pub(crate) hands: Hands,
    hotbar: [Option<Item>; 9],
    pub(crate) seed: u64,
    pub(crate) tick: u64,
    /// The time of day at the start.
    pub(crate) dawn: u64,
}

impl World {
    /// A world that begins on a terrain at noon. The seed decides everything that is left to chance.
    pub fn new(terrain: &Terrain, seed: u64) -> Self {
        Self {
            volume: terrain.volume.clone(),
            player: Player::new(terrain.start, terrain.yaw),
            bodies: Vec::new(),
            hands: Hands::default(),
            hotbar: hotbar(),
            seed,
            tick: 0,
            dawn: NOON,
        }
    }

    /// Goes on by a step. The dead do nothing.
    pub fn step(&mut self, action: &Action) -> Vec<Event> {
        self.tick += 1;
        let mut events = Vec::new();
        if !self.player.is_alive() {
            return events;
        }
        self.player.turn(*action);
        let others: Vec<Aabb> = self.bodies.iter().map(|body| body.bounds).collect();
        let held = self.held();
        self.hands.act(&mut self.volume, &self.player, &others, held, *action, &mut events);
        self.player.advance(&self.volume, *action);
        events
    }

    pub fn player(&self) -> &Player {
        &self.player
    }

    pub fn volume(&self) -> &Volume {
        &self.volume
    }

    /// What is in a slot of the hot bar, from 0.
    pub fn item(&self, slot: usize) -> Option<Item> {
        self.hotbar.get(slot).copied().flatten()
    }

    pub fn held(&self) -> Option<Item> {
        self.item(self.player.slot)
    }

    /// How many steps there have been.
    pub fn tick(&self) -> u64 {
        self.tick
    }

    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// The time of day, from 0 to below 24,000.
    pub fn time(&self) -> u64 {
        (self.dawn + self.tick) % DAY
    }

    /// Sets the time of day.
    pub fn set_time(&mut self, time: u64) {
        self.dawn = (time % DAY + DAY - self.tick % DAY) % DAY;
    }

    /// Puts a block into a cell. Cells outside the world stay as they are.
    pub fn set_block(&mut self, cell: Cell, block: WorldBlock) {
        if contains(cell) {
            change(&mut self.volume, cell, block);
        }
    }

    /// Moves the player, who is at rest there.
    pub fn place_player(&mut self, position: [f64; 3], yaw: i32, pitch: i32) {
        let (health, slot) = (self.player.health, self.player.slot);
        self.player = Player::new(position, yaw);
        (self.player.health, self.player.slot) = (health, slot);
        self.player.pitch = pitch.clamp(-90_000, 90_000);
    }

    pub fn add_body(&mut self, body: Body) {
        self.bodies.push(body);
    }

    /// The block that the player looks at.
    pub fn target(&self) -> Option<Target> {
        aim(&self.volume, self.player.eyes(), self.player.look(), REACH)
    }

    /// A number that depends on the whole state.
    pub fn hash(&self) -> u64 {
        let mut mixer = Mixer::new(self.seed);
        mixer.add(self.volume.hash());
        mixer.add(self.tick);
        mixer.add(self.dawn);
        self.player.mix_into(&mut mixer);
        self.hands.mix_into(&mut mixer);
        for body in &self.bodies {
            for part in body.bounds.low.iter().chain(&body.bounds.high) {
                mixer.add_f64(*part);
            }
        }
        mixer.finish()
    }
}

/// What players have as long as there is no inventory. Blocks never run out.
fn hotbar() -> [Option<Item>; 9] {
    let tool = |kind| Some(Item::Tool(kind, ToolMaterial::Iron));
    let block = |id| WorldBlock::of(id).map(Item::Block);
    [
        tool(ToolKind::Pickaxe),
        tool(ToolKind::Axe),
        tool(ToolKind::Shovel),
        block("cobblestone"),
        block("oak_planks"),
        block("oak_log"),
        block("glass"),
        block("torch"),
        block("ladder"),
    ]
}
