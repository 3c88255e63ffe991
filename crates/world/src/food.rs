//! Hunger: what makes hungry, what food does, and how bodies heal and starve.
//!
//! Saturation and exhaustion are whole numbers of ten-thousandths of a point ([`constants::POINT`]), the least that a
//! centimetre of swimming costs.

use craft::ItemId;
use serde::{Deserialize, Serialize};

use crate::action::{Action, Button};
use crate::events::{Event, EventKind};
use crate::hash::Mixer;
use crate::player::constants::{FOOD, HEALTH};
use crate::player::{Player, Pose, depth_in_water, is_water_at};
use crate::volume::Volume;
use crate::world::World;

/// Numbers of the game, which tests name.
pub mod constants {
    /// A point of food, saturation or exhaustion.
    pub const POINT: i32 = 10_000;
    /// The saturation at the start.
    pub const SATURATION: i32 = 5 * POINT;
    /// More exhaustion than this costs a point of saturation, or of food if there is none.
    pub const EXHAUSTING: i32 = 4 * POINT;
    pub const MAX_EXHAUSTION: i32 = 40 * POINT;
    /// The exhaustion of each centimetre on the ground while sprinting, and in water.
    pub const SPRINT_CENTIMETRE: i32 = POINT / 1_000;
    pub const SWIM_CENTIMETRE: i32 = POINT / 10_000;
    pub const JUMP: i32 = POINT / 20;
    pub const SPRINT_JUMP: i32 = POINT / 5;
    pub const DIG: i32 = POINT / 200;
    pub const HURT: i32 = POINT / 10;
    /// With all food and some saturation, up to so much saturation heals a sixth of itself in so many ticks.
    pub const FAST_HEALING: i32 = 6 * POINT;
    pub const FAST_HEALING_TICKS: u8 = 10;
    /// With this much food, a point is healed in so many ticks, for so much exhaustion.
    pub const HEALING_FOOD: i32 = 18;
    pub const HEALING_TICKS: u8 = 80;
    pub const HEALING: i32 = 6 * POINT;
    /// Without food, a point of health is lost in so many ticks, down to this.
    pub const STARVING_TICKS: u8 = 80;
    pub const STARVED: i32 = 1;
    /// How many ticks eating takes.
    pub const EATING_TICKS: u8 = 32;
}

use constants::*;

/// How hungry a player is, besides the points of food.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Hunger {
    /// In ten-thousandths of a point.
    pub saturation: i32,
    pub exhaustion: i32,
    /// The ticks since the last healing or starving.
    timer: u8,
    /// What has been healed of the next point of health, in parts of which [`FAST_HEALING`] make a point.
    healed: i32,
    meal: Option<Meal>,
}

/// What is being eaten.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Meal {
    slot: usize,
    item: ItemId,
    ticks: u8,
}

impl Default for Hunger {
    fn default() -> Self {
        Self { saturation: SATURATION, exhaustion: 0, timer: 0, healed: 0, meal: None }
    }
}

impl Hunger {
    /// Makes more tired.
    pub(crate) fn exhaust(&mut self, by: i32) {
        self.exhaustion = (self.exhaustion + by).min(MAX_EXHAUSTION);
    }

    /// Goes on by a tick: exhaustion makes hungry, food heals, and hunger hurts.
    fn advance(&mut self, player: &mut Player) {
        if self.exhaustion > EXHAUSTING {
            self.exhaustion -= EXHAUSTING;
            if self.saturation > 0 {
                self.saturation = (self.saturation - POINT).max(0);
            } else {
                player.food = (player.food - 1).max(0);
            }
        }
        let is_hurt = player.health < HEALTH && player.is_alive();
        if is_hurt && player.food >= FOOD && self.saturation > 0 {
            if self.is_time(FAST_HEALING_TICKS) {
                let spent = self.saturation.min(FAST_HEALING);
                self.healed += spent;
                self.exhaust(spent);
            }
        } else if is_hurt && player.food >= HEALING_FOOD {
            if self.is_time(HEALING_TICKS) {
                self.healed += FAST_HEALING;
                self.exhaust(HEALING);
            }
        } else if player.food == 0 {
            if self.is_time(STARVING_TICKS) && player.health > STARVED {
                player.hurt(1);
            }
        } else {
            self.timer = 0;
        }
        if self.healed >= FAST_HEALING {
            self.healed -= FAST_HEALING;
            player.health = (player.health + 1).min(HEALTH);
        }
        if player.health >= HEALTH {
            self.healed = 0;
        }
    }

    /// Counts a tick. Whether there have been enough, so that the count begins anew.
    fn is_time(&mut self, ticks: u8) -> bool {
        self.timer += 1;
        let is_time = self.timer >= ticks;
        if is_time {
            self.timer = 0;
        }
        is_time
    }

    /// Whether a hunger that was read from a file could be one.
    pub(crate) fn is_possible(&self) -> bool {
        (0..=FOOD * POINT).contains(&self.saturation)
            && (0..=MAX_EXHAUSTION).contains(&self.exhaustion)
            && self.timer < HEALING_TICKS.max(STARVING_TICKS)
            && (0..FAST_HEALING).contains(&self.healed)
            && self.meal.as_ref().is_none_or(|meal| meal.slot < 9 && meal.ticks < EATING_TICKS)
    }

    pub(crate) fn mix_into(&self, mixer: &mut Mixer) {
        for number in [self.saturation, self.exhaustion, self.healed] {
            mixer.add(number as u64);
        }
        let meal = self.meal.as_ref().map_or(0, |meal| {
            (meal.item.index() as u64 + 1) << 16 | (meal.slot as u64) << 8 | u64::from(meal.ticks)
        });
        mixer.add(meal << 8 | u64::from(self.timer));
    }
}

impl World {
    /// How hungry the player is, besides [`Player::food`].
    pub fn hunger(&self) -> &Hunger {
        &self.hunger
    }

    /// Sets the player's health, food, and saturation in ten-thousandths of a point.
    pub fn set_needs(&mut self, health: i32, food: i32, saturation: i32) {
        self.player.health = health.clamp(0, HEALTH);
        self.player.food = food.clamp(0, FOOD);
        self.hunger = Hunger { saturation: saturation.clamp(0, FOOD * POINT), ..Hunger::default() };
    }

    /// Moves the player for a tick, with all that it costs.
    pub(crate) fn move_player(&mut self, action: Action) {
        let (from, health) = (self.player.position, self.player.health);
        self.player.advance(&self.volume, action);
        let mut effort = effort(&self.volume, &self.player, from);
        if self.player.has_just_jumped() {
            effort += if self.player.is_sprinting { SPRINT_JUMP } else { JUMP };
        }
        if self.player.health < health {
            effort += HURT;
        }
        self.hunger.exhaust(effort);
        self.hunger.advance(&mut self.player);
    }

    /// Lets the player eat what the hand holds, as long as the button for use is down.
    pub(crate) fn eat(&mut self, action: Action, events: &mut Vec<Event>) {
        let meal = self.hunger.meal.take();
        self.player.is_using = false;
        let slot = self.player.slot;
        let is_hungry = self.player.food < FOOD && action.is_down(Button::Use);
        let Some(item) = self.held().map(|stack| stack.item).filter(|_| is_hungry) else { return };
        // A cake is put down before it is eaten.
        let Some(food) = item.food().filter(|_| item.id() != "cake") else { return };
        let eaten = meal.filter(|meal| (meal.slot, meal.item) == (slot, item)).map(|meal| meal.ticks);
        if eaten.is_none() && self.hands.use_pause > 0 {
            return;
        }
        let ticks = eaten.unwrap_or(0) + 1;
        if ticks < EATING_TICKS {
            self.hunger.meal = Some(Meal { slot, item, ticks });
            self.player.is_using = true;
            return;
        }
        self.player.food = (self.player.food + i32::from(food.points)).min(FOOD);
        let saturation = (food.saturation * f64::from(POINT)).round() as i32;
        self.hunger.saturation = (self.hunger.saturation + saturation).min(self.player.food * POINT);
        self.inventory.take(slot, 1);
        events.push(Event::new(EventKind::UseItem, item.id()));
        if let Some(vessel) = vessel_of(item) {
            self.keep(slot, vessel);
        }
    }

    /// Puts what is left over into the slot if it is free, else elsewhere, else it is thrown away.
    fn keep(&mut self, slot: usize, item: ItemId) {
        let stack = craft::ItemStack::new(item, 1);
        if self.inventory.slot(slot).is_none() {
            self.inventory.set(slot, Some(stack));
        } else if let Some(left) = self.inventory.add(stack) {
            self.toss(left);
        }
    }
}

/// What remains of an item that is eaten.
fn vessel_of(item: ItemId) -> Option<ItemId> {
    let is_bowl = item.id().ends_with("_stew") || item.id().ends_with("_soup");
    if is_bowl { ItemId::of("bowl") } else { item.remainder() }
}

/// What a move has cost. In the air, on ladders and walking it costs nothing. Ways are rounded to centimetres.
fn effort(volume: &Volume, player: &Player, from: [f64; 3]) -> i32 {
    let [x, y, z] = [0, 1, 2].map(|axis| player.position[axis] - from[axis]);
    let level = x * x + z * z;
    let centimetres = |square: f64| (square.sqrt() * 100.0).round() as i32;
    if level + y * y == 0.0 {
        0
    } else if player.pose == Pose::Swimming || is_water_at(volume, player.eyes()) {
        SWIM_CENTIMETRE * centimetres(level + y * y)
    } else if depth_in_water(volume, player.bounds()) > 0.0 {
        SWIM_CENTIMETRE * centimetres(level)
    } else if player.is_on_ground && player.is_sprinting {
        SPRINT_CENTIMETRE * centimetres(level)
    } else {
        0
    }
}
