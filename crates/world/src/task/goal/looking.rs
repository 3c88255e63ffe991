//! What the player looks at.

use super::LookAt;
use crate::aim::aim;
use crate::player::cell_of;
use crate::world::World;

/// How densely a look is searched for liquids, which looks go through.
const PARTS: u32 = 16;

impl LookAt {
    pub fn holds(&self, world: &World) -> bool {
        let (eyes, look) = (world.player.eyes(), world.player.look());
        let target = aim(&world.volume, eyes, look, self.within);
        if target.is_some_and(|target| self.of.has(world.volume.block(target.cell))) {
            return true;
        }
        if !["water", "lava"].into_iter().any(|liquid| self.of.has_id(liquid)) {
            return false;
        }
        let reach = target.map_or(self.within, |target| target.distance);
        let points = (0..).map(|part| f64::from(part) / f64::from(PARTS)).take_while(|away| *away <= reach);
        points.into_iter().any(|away| {
            let point = [0, 1, 2].map(|axis| eyes[axis] + look[axis] * away);
            let block = world.volume.block(cell_of(point));
            block.is_liquid() && self.of.has(block)
        })
    }
}
