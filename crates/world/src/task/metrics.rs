//! What is measured beside the score, in whole numbers.
//!
//! | metric | |
//! |---|---|
//! | `steps` | the step of the last payment once everything has been paid, and until then all steps |
//! | `depth` | how many blocks below the start the lowest place is that the player stood in or dug out |
//! | `distance` | how many blocks the player went in all, there and back; up and down do not count |
//! | `placed` | the blocks that the player placed and that still stand |
//! | `light` | the light of lamps at the player's feet, from 0 to 15 |
//!
//! Ways are kept in ten-thousandths of a block, to which each step is rounded, so that their sums are exact. Metrics have
//! whole blocks, rounded down.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{TaskProgress, WorldTask};
use crate::player::cell_of;
use crate::world::World;

/// What is shown beside a score.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Metric {
    Steps,
    Depth,
    Distance,
    Placed,
    Light,
}

/// The metrics of a task, with their values.
pub type TaskMetrics = BTreeMap<Metric, u64>;

/// The parts of a block in which ways are kept.
const PARTS: u64 = 10_000;

/// What metrics are made of, as far as it cannot be seen in a world.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct TravelLog {
    /// How far the player has gone, and how far below the start the lowest place is, in parts of a block.
    gone: u64,
    lowest: u64,
    /// The last step that has paid something.
    last_paid: u64,
}

impl TravelLog {
    /// Notes that the player has gone from one place to another.
    pub fn note_way(&mut self, from: [f64; 3], to: [f64; 3]) {
        let [x, _, z] = [0, 1, 2].map(|axis| to[axis] - from[axis]);
        self.gone = self.gone.saturating_add(parts((x * x + z * z).sqrt()));
    }

    /// Notes a place that the player was in or dug out, so many blocks below the start.
    pub fn note_depth(&mut self, blocks: f64) {
        self.lowest = self.lowest.max(parts(blocks));
    }

    pub fn note_payment(&mut self, step: u64) {
        self.last_paid = step;
    }
}

/// A way in parts of a block; none for what is below zero.
fn parts(blocks: f64) -> u64 {
    (blocks * PARTS as f64).round() as u64
}

impl TaskProgress {
    /// The metrics that the task names.
    pub(crate) fn metrics(&self, task: &WorldTask, world: &World) -> TaskMetrics {
        let travel = &self.travel;
        let value = |metric| match metric {
            Metric::Steps if self.is_done(task) => travel.last_paid,
            Metric::Steps => world.tick(),
            Metric::Depth => travel.lowest / PARTS,
            Metric::Distance => travel.gone / PARTS,
            Metric::Placed => self.marks().placed().len() as u64,
            Metric::Light => u64::from(world.volume().light(cell_of(world.player().position)).block()),
        };
        task.metrics().iter().map(|metric| (*metric, value(*metric))).collect()
    }
}
