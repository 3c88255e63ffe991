//! Water and lava: how a player swims, wades, drowns and burns in them, and how deep bodies are in.

use super::constants::*;
use super::{Player, Pose, cell_of, within};
use crate::action::{Action, Button};
use crate::body::{Aabb, is_free};
use crate::volume::{Cell, Volume};

impl Player {
    /// Moves in water.
    pub(super) fn swim(&mut self, volume: &Volume, action: Action, wish: [f64; 2]) {
        if action.is_down(Button::Sneak) {
            self.velocity[1] -= SWIM_UP;
        }
        if self.pose == Pose::Swimming {
            let aim = self.look()[1];
            let pull = if aim < -0.2 { 0.085 } else { 0.06 };
            let above = [self.position[0], self.position[1] + 0.9, self.position[2]];
            if aim <= 0.0 || action.is_down(Button::Jump) || is_water_at(volume, above) {
                self.velocity[1] += (aim - self.velocity[1]) * pull;
            }
        }
        let from = self.position[1];
        self.accelerate(wish, IN_WATER);
        self.travel(volume, action);
        if self.is_stopped && self.is_on_ladder(volume) {
            self.velocity[1] = LADDER_UP;
        }
        let drag = if self.is_sprinting { WATER_DRAG_SPRINTING } else { WATER_DRAG };
        self.velocity[0] *= drag;
        self.velocity[1] *= WATER_DRAG;
        self.velocity[2] *= drag;
        if !self.is_sprinting {
            self.velocity[1] -= SINKING;
        }
        self.hop_out(volume, from);
        self.fall = 0.0;
    }

    /// In lava, bodies move like in thick water, and do not swim.
    pub(super) fn wade_in_lava(&mut self, volume: &Volume, action: Action, wish: [f64; 2], depth: f64) {
        let from = self.position[1];
        self.accelerate(wish, IN_LAVA);
        self.travel(volume, action);
        let is_wading = depth <= WADING;
        let upright = if is_wading { LAVA_DRAG_WADING } else { LAVA_DRAG };
        self.velocity[0] *= LAVA_DRAG;
        self.velocity[1] *= upright;
        self.velocity[2] *= LAVA_DRAG;
        if is_wading && !self.is_sprinting {
            self.velocity[1] -= SINKING;
        }
        self.velocity[1] -= LAVA_GRAVITY;
        self.hop_out(volume, from);
    }

    /// Leaves a liquid at a bank: whoever is stopped there, and has room above it, is lifted. `from` is the height before
    /// the move.
    fn hop_out(&mut self, volume: &Volume, from: f64) {
        let out = [self.velocity[0], self.velocity[1] + 0.6 - self.position[1] + from, self.velocity[2]];
        let hop = self.bounds().moved(out);
        let is_dry = || ["water", "lava"].into_iter().all(|liquid| depth_in(volume, hop, liquid) <= 0.0);
        if self.is_stopped && is_free(volume, hop) && is_dry() {
            self.velocity[1] = HOP_OUT;
        }
    }

    /// Lava hurts, breaks falls, and then hurts no more for some ticks.
    pub(super) fn burn(&mut self, in_lava: bool) {
        self.lava_pause = self.lava_pause.saturating_sub(1);
        if !in_lava {
            return;
        }
        self.fall *= LAVA_FALL;
        if self.lava_pause == 0 {
            self.hurt(LAVA_DAMAGE);
            self.lava_pause = LAVA_PAUSE;
        }
    }

    /// Uses up the air under water, and drowns without any.
    pub(super) fn breathe(&mut self, volume: &Volume) {
        if !is_water_at(volume, self.eyes()) {
            self.air = (self.air + 4).min(AIR);
            return;
        }
        self.air -= 1;
        if self.air <= -20 {
            self.air = 0;
            self.hurt(DROWNING);
        }
    }
}

/// How deep a box stands in water.
pub(crate) fn depth_in_water(volume: &Volume, body: Aabb) -> f64 {
    depth_in(volume, body, "water")
}

/// How deep a box stands in a liquid.
pub(super) fn depth_in(volume: &Volume, body: Aabb, liquid: &str) -> f64 {
    let inside = within(body);
    let surfaces = inside.cells().filter_map(|cell| surface(volume, cell, liquid));
    surfaces.fold(0.0_f64, |depth, surface| depth.max(surface - inside.low[1]))
}

/// How high a liquid in a cell reaches.
fn surface(volume: &Volume, [x, y, z]: Cell, liquid: &str) -> Option<f64> {
    let holds = |cell| {
        let block = volume.block(cell);
        block.is_liquid() && block.id() == liquid
    };
    if !holds([x, y, z]) {
        return None;
    }
    let level = if holds([x, y + 1, z]) { 1.0 } else { LIQUID_LEVEL };
    Some(f64::from(y) + level)
}

pub(crate) fn is_water_at(volume: &Volume, point: [f64; 3]) -> bool {
    surface(volume, cell_of(point), "water").is_some_and(|surface| point[1] < surface)
}

pub(crate) fn is_lava_at(volume: &Volume, point: [f64; 3]) -> bool {
    surface(volume, cell_of(point), "lava").is_some_and(|surface| point[1] < surface)
}
