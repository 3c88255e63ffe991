//! The player's body: how it walks, sprints, sneaks, jumps, swims, climbs, falls and breathes. The numbers are those of
//! Minecraft 1.16.5 as far as they are known.

mod liquids;
mod travel;

use serde::{Deserialize, Serialize};

use self::liquids::depth_in;
pub(crate) use self::liquids::{depth_in_water, is_lava_at, is_water_at};
use crate::action::{Action, Button};
use crate::angle::{RIGHT, TURN, cosine, direction, sine};
use crate::body::{Aabb, is_free};
use crate::hash::Mixer;
use crate::volume::{Cell, Volume};

/// Numbers of the game, which tests name.
pub mod constants {
    /// The width of a player.
    pub const WIDTH: f64 = 0.6;
    /// The heights of one who stands, sneaks and swims, and how high the eyes are.
    pub const STANDING: (f64, f64) = (1.8, 1.62);
    pub const SNEAKING: (f64, f64) = (1.5, 1.27);
    pub const SWIMMING: (f64, f64) = (0.6, 0.4);
    /// What remains of a pressed key, also while sneaking, and while something is used.
    pub const INPUT: f64 = 0.98;
    pub const SNEAK: f64 = 0.3;
    pub const USING: f64 = 0.2;
    /// How fast a player gets, on ground and in air, and when sprinting.
    pub const ON_GROUND: f64 = 0.1;
    pub const SPRINT: f64 = 1.3;
    pub const IN_AIR: f64 = 0.02;
    pub const IN_AIR_SPRINTING: f64 = 0.026;
    /// The factor that makes up for how slippery the ground is.
    pub const GRIP: f64 = 0.216;
    pub const GRAVITY: f64 = 0.08;
    pub const DRAG_DOWN: f64 = 0.98;
    pub const DRAG: f64 = 0.91;
    /// A slower movement along an axis is none.
    pub const REST: f64 = 0.003;
    pub const JUMP: f64 = 0.42;
    pub const SPRINT_JUMP: f64 = 0.2;
    /// The ticks after which a held jump jumps again.
    pub const JUMP_PAUSE: u8 = 10;
    /// A fall that does no harm.
    pub const SAFE_FALL: f64 = 3.0;
    pub const IN_WATER: f64 = 0.02;
    pub const WATER_DRAG: f64 = 0.8;
    pub const WATER_DRAG_SPRINTING: f64 = 0.9;
    pub const SINKING: f64 = 0.005;
    pub const SWIM_UP: f64 = 0.04;
    pub const HOP_OUT: f64 = 0.3;
    /// How high liquids stand in their cells.
    pub const LIQUID_LEVEL: f64 = 8.0 / 9.0;
    /// Whoever stands on ground in a liquid that is no deeper jumps as on land.
    pub const WADING: f64 = 0.4;
    /// How fast a player gets in lava, what remains of each speed there, what remains of that up and down where it is no
    /// deeper than [`WADING`], and how it pulls down.
    pub const IN_LAVA: f64 = 0.02;
    pub const LAVA_DRAG: f64 = 0.5;
    pub const LAVA_DRAG_WADING: f64 = 0.8;
    pub const LAVA_GRAVITY: f64 = 0.02;
    /// What remains of a fall for each tick in lava.
    pub const LAVA_FALL: f64 = 0.5;
    /// What lava costs, and for how many ticks it costs nothing more.
    pub const LAVA_DAMAGE: i32 = 4;
    pub const LAVA_PAUSE: u8 = 10;
    /// What a cobweb leaves of moves to the sides, and of those up and down.
    pub const COBWEB: f64 = 0.25;
    pub const COBWEB_UPRIGHT: f64 = 0.05;
    pub const LADDER: f64 = 0.15;
    pub const LADDER_UP: f64 = 0.2;
    /// How long a breath lasts, in ticks, and what lacking air costs every twenty ticks.
    pub const AIR: i32 = 300;
    pub const DROWNING: i32 = 2;
    pub const HEALTH: i32 = 20;
    pub const FOOD: i32 = 20;
    /// Sprinting needs more food than this.
    pub const SPRINT_FOOD: i32 = 6;
}

use constants::*;

/// How a player holds the body.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Pose {
    #[default]
    Standing,
    Sneaking,
    Swimming,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Player {
    /// Where the feet are.
    pub position: [f64; 3],
    pub velocity: [f64; 3],
    /// The look, in thousandths of a degree.
    pub yaw: i32,
    pub pitch: i32,
    pub pose: Pose,
    pub is_sprinting: bool,
    pub is_on_ground: bool,
    /// Hit points; two make a heart.
    pub health: i32,
    pub food: i32,
    /// Ticks until the breath is used up.
    pub air: i32,
    /// How far the player has fallen so far.
    pub fall: f64,
    /// The slot of the hot bar that is chosen, from 0.
    pub slot: usize,
    /// Whether an item is being used, which slows down.
    pub(crate) is_using: bool,
    is_stopped: bool,
    jump_pause: u8,
    /// The ticks until lava hurts again.
    #[serde(default)]
    lava_pause: u8,
}

impl Pose {
    fn size(self) -> (f64, f64) {
        match self {
            Self::Standing => STANDING,
            Self::Sneaking => SNEAKING,
            Self::Swimming => SWIMMING,
        }
    }
}

impl Player {
    pub fn new(position: [f64; 3], yaw: i32) -> Self {
        Self {
            position,
            velocity: [0.0; 3],
            yaw: yaw.rem_euclid(TURN),
            pitch: 0,
            pose: Pose::Standing,
            is_sprinting: false,
            is_on_ground: false,
            health: HEALTH,
            food: FOOD,
            air: AIR,
            fall: 0.0,
            slot: 0,
            is_using: false,
            is_stopped: false,
            jump_pause: 0,
            lava_pause: 0,
        }
    }

    /// Whether a player that was read from a file could be one.
    pub(crate) fn is_possible(&self) -> bool {
        let within = |part: &f64, bound: f64| part.abs() <= bound;
        self.position.iter().all(|part| within(part, 1e4))
            && self.velocity.iter().all(|part| within(part, 100.0))
            && within(&self.fall, 1e4)
            && (0..TURN).contains(&self.yaw)
            && (-90_000..=90_000).contains(&self.pitch)
            && (0..=HEALTH).contains(&self.health)
            && (0..=FOOD).contains(&self.food)
            && (-100..=AIR).contains(&self.air)
            && self.slot < 9
            && self.lava_pause <= LAVA_PAUSE
    }

    pub fn is_alive(&self) -> bool {
        self.health > 0
    }

    pub fn bounds(&self) -> Aabb {
        self.bounds_in(self.pose)
    }

    fn bounds_in(&self, pose: Pose) -> Aabb {
        Aabb::standing(self.position, WIDTH, pose.size().0)
    }

    pub fn eyes(&self) -> [f64; 3] {
        let [x, y, z] = self.position;
        [x, y + self.pose.size().1, z]
    }

    pub fn look(&self) -> [f64; 3] {
        direction(self.yaw, self.pitch)
    }

    /// Turns the look, and chooses a slot.
    pub(crate) fn turn(&mut self, action: Action) {
        let [pitch, yaw] = action.turn();
        self.pitch = (self.pitch + pitch).clamp(-RIGHT, RIGHT);
        self.yaw = (self.yaw + yaw).rem_euclid(TURN);
        if let Some(slot) = action.hotbar() {
            self.slot = usize::from(slot - 1);
        }
    }

    /// Moves for a tick.
    pub(crate) fn advance(&mut self, volume: &Volume, action: Action) {
        let water = depth_in_water(volume, self.bounds());
        let lava = depth_in(volume, self.bounds(), "lava");
        let in_water = water > 0.0;
        let under_water = in_water && is_water_at(volume, self.eyes());
        let forward = f64::from(action.is_down(Button::Forward)) - f64::from(action.is_down(Button::Back));
        self.burn(lava > 0.0);
        self.decide_sprint(action, forward, in_water, under_water);
        self.decide_pose(volume, action, in_water, under_water);
        for part in &mut self.velocity {
            if part.abs() < REST {
                *part = 0.0;
            }
        }
        let sneaks = self.pose == Pose::Sneaking;
        let left = f64::from(action.is_down(Button::Left)) - f64::from(action.is_down(Button::Right));
        let slowed = INPUT * if sneaks { SNEAK } else { 1.0 } * if self.is_using { USING } else { 1.0 };
        let wish = [left * slowed, forward * slowed];
        self.jump(action, water, lava);
        if in_water {
            self.swim(volume, action, wish);
        } else if lava > 0.0 {
            self.wade_in_lava(volume, action, wish, lava);
        } else {
            self.walk(volume, action, wish);
        }
        self.breathe(volume);
    }

    /// Whether the body has left the ground in this very tick by its own strength.
    pub(crate) fn has_just_jumped(&self) -> bool {
        self.jump_pause == JUMP_PAUSE
    }

    /// Hurts, down to no health at all.
    pub(crate) fn hurt(&mut self, by: i32) {
        self.health = (self.health - by).max(0);
    }

    fn decide_sprint(&mut self, action: Action, forward: f64, in_water: bool, under_water: bool) {
        let may = forward > 0.0 && self.food > SPRINT_FOOD;
        let wants = action.is_down(Button::Sprint) && !self.is_using && (!in_water || under_water);
        if wants && may && self.pose != Pose::Sneaking {
            self.is_sprinting = true;
        }
        let is_swimming = self.pose == Pose::Swimming;
        let stops = if is_swimming { !in_water } else { self.is_stopped || (in_water && !under_water) };
        if !may || stops {
            self.is_sprinting = false;
        }
    }

    /// Whoever has no room to stand sneaks, or lies.
    fn decide_pose(&mut self, volume: &Volume, action: Action, in_water: bool, under_water: bool) {
        let swims = in_water && self.is_sprinting && (under_water || self.pose == Pose::Swimming);
        let wanted = match () {
            () if swims => Pose::Swimming,
            () if action.is_down(Button::Sneak) && !in_water => Pose::Sneaking,
            () => Pose::Standing,
        };
        let fits = |pose: &Pose| is_free(volume, self.bounds_in(*pose));
        let poses = [wanted, Pose::Sneaking, Pose::Swimming];
        self.pose = poses.into_iter().find(fits).unwrap_or(self.pose);
    }

    fn jump(&mut self, action: Action, water: f64, lava: f64) {
        self.jump_pause = self.jump_pause.saturating_sub(1);
        if !action.is_down(Button::Jump) {
            self.jump_pause = 0;
            return;
        }
        let threshold = if self.pose == Pose::Swimming { 0.0 } else { WADING };
        let floats = |depth: f64| depth > 0.0 && (!self.is_on_ground || depth > threshold);
        if floats(water) || floats(lava) {
            self.velocity[1] += SWIM_UP;
        } else if self.is_on_ground && self.jump_pause == 0 {
            self.velocity[1] = JUMP;
            if self.is_sprinting {
                self.velocity[0] -= sine(self.yaw) * SPRINT_JUMP;
                self.velocity[2] += cosine(self.yaw) * SPRINT_JUMP;
            }
            self.jump_pause = JUMP_PAUSE;
        }
    }

    fn walk(&mut self, volume: &Volume, action: Action, wish: [f64; 2]) {
        let below = [self.position[0], self.position[1] - 0.500_000_1, self.position[2]];
        let slip = volume.block(cell_of(below)).kind().slip;
        let (speed, drag) = if self.is_on_ground {
            let run = if self.is_sprinting { ON_GROUND * SPRINT } else { ON_GROUND };
            (run * GRIP / (slip * slip * slip), slip * DRAG)
        } else if self.is_sprinting {
            (IN_AIR_SPRINTING, DRAG)
        } else {
            (IN_AIR, DRAG)
        };
        self.accelerate(wish, speed);
        if self.is_on_ladder(volume) {
            self.fall = 0.0;
            self.velocity[0] = self.velocity[0].clamp(-LADDER, LADDER);
            self.velocity[2] = self.velocity[2].clamp(-LADDER, LADDER);
            let least = if action.is_down(Button::Sneak) { 0.0 } else { -LADDER };
            self.velocity[1] = self.velocity[1].max(least);
        }
        self.travel(volume, action);
        let climbs = self.is_stopped || action.is_down(Button::Jump);
        if climbs && self.is_on_ladder(volume) {
            self.velocity[1] = LADDER_UP;
        }
        self.velocity[1] = (self.velocity[1] - GRAVITY) * DRAG_DOWN;
        self.velocity[0] *= drag;
        self.velocity[2] *= drag;
    }

    /// Adds what the keys want: to the left and forward.
    fn accelerate(&mut self, [left, forward]: [f64; 2], speed: f64) {
        let length = left * left + forward * forward;
        if length < 1e-7 {
            return;
        }
        let scale = if length > 1.0 { speed / length.sqrt() } else { speed };
        let (left, forward) = (left * scale, forward * scale);
        let (sin, cos) = (sine(self.yaw), cosine(self.yaw));
        self.velocity[0] += left * cos - forward * sin;
        self.velocity[2] += forward * cos + left * sin;
    }

    fn is_on_ladder(&self, volume: &Volume) -> bool {
        volume.block(cell_of(self.position)).kind().climbable
    }

    pub(crate) fn mix_into(&self, mixer: &mut Mixer) {
        for part in self.position.iter().chain(&self.velocity) {
            mixer.add_f64(*part);
        }
        mixer.add_f64(self.fall);
        for number in [self.yaw, self.pitch, self.health, self.food, self.air, self.slot as i32] {
            mixer.add(number as u64);
        }
        let flags = [self.is_sprinting, self.is_on_ground, self.is_stopped, self.is_using];
        mixer.add(flags.iter().fold(0, |bits, flag| bits << 1 | u64::from(*flag)));
        mixer.add(self.pose as u64 | u64::from(self.jump_pause) << 8 | u64::from(self.lava_pause) << 16);
    }
}

/// The cell that holds a point.
pub fn cell_of(point: [f64; 3]) -> Cell {
    point.map(|at| at.floor() as i32)
}

/// A box without its rim: what only touches it is not in it.
fn within(body: Aabb) -> Aabb {
    Aabb { low: body.low.map(|at| at + 0.001), high: body.high.map(|at| at - 0.001) }
}
