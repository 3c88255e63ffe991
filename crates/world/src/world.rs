//! A world that goes on step by step.

use craft::{ItemId, ItemStack};
use serde::{Deserialize, Serialize};

use crate::action::{Action, Button, StepInput};
use crate::aim::{REACH, Target, aim};
use crate::block::WorldBlock;
use crate::body::Aabb;
use crate::containers::Containers;
use crate::events::Event;
use crate::food::Hunger;
use crate::hands::Hands;
use crate::hash::Mixer;
use crate::inventory::Inventory;
use crate::player::Player;
use crate::scene::Terrain;
use crate::screen::{CraftProblem, Screen};
use crate::things::Things;
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
#[derive(Clone, Serialize, Deserialize)]
pub struct World {
    /// Saves have only what differs from the terrain.
    #[serde(skip)]
    pub(crate) volume: Volume,
    pub(crate) player: Player,
    pub(crate) inventory: Inventory,
    pub(crate) screen: Option<Screen>,
    pub(crate) containers: Containers,
    pub(crate) bodies: Vec<Body>,
    pub(crate) things: Things,
    pub(crate) hunger: Hunger,
    pub(crate) hands: Hands,
    /// The action of the step before.
    previous: Action,
    pub(crate) seed: u64,
    pub(crate) tick: u64,
    /// The time of day at the start.
    pub(crate) dawn: u64,
}

impl World {
    /// A world that begins on a terrain at noon, with the things of one who only walks about. The seed decides everything that is left to chance.
    pub fn new(terrain: &Terrain, seed: u64) -> Self {
        Self {
            volume: terrain.volume.clone(),
            player: Player::new(terrain.start, terrain.yaw),
            inventory: Inventory::kit(),
            screen: None,
            containers: Containers::default(),
            bodies: Vec::new(),
            things: Things::default(),
            hunger: Hunger::default(),
            hands: Hands::default(),
            previous: Action::default(),
            seed,
            tick: 0,
            dawn: NOON,
        }
    }

    /// Goes on by a step. The dead do nothing.
    pub fn step(&mut self, action: &Action) -> Vec<Event> {
        self.step_with(&StepInput::from(*action)).0
    }

    /// Goes on by a step, in which something may be crafted without the pointer. Returns also why it was not.
    pub fn step_with(&mut self, input: &StepInput) -> (Vec<Event>, Option<CraftProblem>) {
        self.tick += 1;
        self.volume.forget_changes();
        let (mut events, mut problem) = (Vec::new(), None);
        if !self.player.is_alive() {
            return (events, problem);
        }
        let action = &input.action;
        match input.craft.map(|item| self.craft_directly(item)) {
            Some(Ok(crafted)) => events.extend(crafted),
            Some(Err(error)) => problem = Some(error),
            None => {}
        }
        let left = self.use_screen(*action, &mut events);
        self.player.turn(left);
        self.use_hands(left, &mut events);
        self.move_player(left);
        self.pick_up(&mut events);
        self.things.advance(&self.volume, &self.bodies);
        self.work_containers();
        self.previous = *action;
        (events, problem)
    }

    pub fn player(&self) -> &Player {
        &self.player
    }

    pub fn volume(&self) -> &Volume {
        &self.volume
    }

    /// Whether a button is down that was not in the step before.
    pub fn is_newly_down(&self, action: Action, button: Button) -> bool {
        action.is_down(button) && !self.previous.is_down(button)
    }

    /// The slot of the hot bar, from 0, whose key is down and was not in the step before.
    pub(crate) fn newly_chosen(&self, action: Action) -> Option<usize> {
        let slot = action.hotbar().filter(|slot| self.previous.hotbar() != Some(*slot))?;
        Some(usize::from(slot - 1))
    }

    pub fn inventory(&self) -> &Inventory {
        &self.inventory
    }

    /// What the hand holds.
    pub fn held(&self) -> Option<ItemStack> {
        self.inventory.slot(self.player.slot)
    }

    /// Gives the player items. What does not fit is lost.
    pub fn give(&mut self, item: ItemId, count: u32) {
        self.inventory.give(item, count);
    }

    /// Puts something into a slot of the player, in place of what was there. Slots that do not exist stay as they are.
    pub fn set_slot(&mut self, slot: usize, stack: Option<ItemStack>) {
        self.inventory.set(slot, stack);
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

    /// Puts a block into a cell; what loses its support falls off. Cells outside the world stay as they are.
    pub fn set_block(&mut self, cell: Cell, block: WorldBlock) {
        if contains(cell) {
            self.change_block(cell, block);
        }
    }

    /// Moves the player, who is at rest there.
    pub fn place_player(&mut self, position: [f64; 3], yaw: i32, pitch: i32) {
        let Player { health, food, slot, .. } = self.player;
        self.player = Player::new(position, yaw);
        (self.player.health, self.player.food, self.player.slot) = (health, food, slot);
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
        self.inventory.mix_into(&mut mixer);
        self.mix_screen_into(&mut mixer);
        self.containers.mix_into(&mut mixer);
        self.hands.mix_into(&mut mixer);
        self.things.mix_into(&mut mixer);
        self.hunger.mix_into(&mut mixer);
        mixer.add(self.previous.number());
        for body in &self.bodies {
            for part in body.bounds.low.iter().chain(&body.bounds.high) {
                mixer.add_f64(*part);
            }
        }
        mixer.finish()
    }
}
