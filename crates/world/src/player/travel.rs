//! How a player's body goes where its velocity leads, stops at what is solid, lands and stays on edges.

use super::constants::*;
use super::{Player, Pose, cell_of, depth_in_water, within};
use crate::action::{Action, Button};
use crate::body::{Aabb, STEP, is_free, sweep};
use crate::volume::Volume;

impl Player {
    /// Goes where the velocity leads, and lands.
    pub(super) fn travel(&mut self, volume: &Volume, action: Action) {
        if is_in_cobweb(volume, self.bounds()) {
            self.velocity[0] *= COBWEB;
            self.velocity[1] *= COBWEB_UPRIGHT;
            self.velocity[2] *= COBWEB;
            self.move_by(volume, action, self.velocity);
            // Nothing of a speed is kept there.
            self.velocity = [0.0; 3];
            self.fall = 0.0;
            return;
        }
        self.move_by(volume, action, self.velocity);
    }

    fn move_by(&mut self, volume: &Volume, action: Action, mut by: [f64; 3]) {
        let holds_on = self.pose == Pose::Sneaking && action.is_down(Button::Sneak) && self.is_on_ground;
        if holds_on && by[1] <= 0.0 {
            by = self.stay_on_edge(volume, by);
        }
        let moved = sweep(volume, self.bounds(), by, self.is_on_ground);
        for axis in 0..3 {
            self.position[axis] += moved.by[axis];
        }
        self.is_stopped = moved.stopped[0] || moved.stopped[2];
        self.is_on_ground = moved.stopped[1] && by[1] < 0.0;
        self.land(volume, action, moved.by[1]);
        for axis in [0, 2] {
            if moved.stopped[axis] {
                self.velocity[axis] = 0.0;
            }
        }
        if moved.stopped[1] {
            let below = [self.position[0], self.position[1] - 0.2, self.position[2]];
            let bounces =
                volume.block(cell_of(below)).id() == "slime_block" && !action.is_down(Button::Sneak);
            self.velocity[1] = if bounces && self.velocity[1] < 0.0 { -self.velocity[1] } else { 0.0 };
        }
    }

    fn land(&mut self, volume: &Volume, action: Action, by: f64) {
        self.fall -= by.min(0.0);
        if !self.is_on_ground {
            return;
        }
        let below = [self.position[0], self.position[1] - 0.2, self.position[2]];
        let is_soft = volume.block(cell_of(below)).id() == "slime_block" && !action.is_down(Button::Sneak);
        // Sums of moves are a little more or less than the way.
        let harm = (self.fall - SAFE_FALL - 1e-6).ceil();
        if harm > 0.0 && !is_soft && depth_in_water(volume, self.bounds()) <= 0.0 {
            self.hurt(harm.min(1000.0) as i32);
        }
        self.fall = 0.0;
    }

    /// Shortens a move so that there is ground below it.
    fn stay_on_edge(&self, volume: &Volume, mut by: [f64; 3]) -> [f64; 3] {
        const PART: f64 = 0.05;
        let is_over_air = |x: f64, z: f64| is_free(volume, self.bounds().moved([x, -STEP, z]));
        let shorten = |part: f64| if part.abs() < PART { 0.0 } else { part - PART * part.signum() };
        while by[0] != 0.0 && is_over_air(by[0], 0.0) {
            by[0] = shorten(by[0]);
        }
        while by[2] != 0.0 && is_over_air(0.0, by[2]) {
            by[2] = shorten(by[2]);
        }
        while by[0] != 0.0 && by[2] != 0.0 && is_over_air(by[0], by[2]) {
            (by[0], by[2]) = (shorten(by[0]), shorten(by[2]));
        }
        by
    }
}

fn is_in_cobweb(volume: &Volume, body: Aabb) -> bool {
    within(body).cells().any(|cell| volume.block(cell).id() == "cobweb")
}
