//! Tasks: how a world begins, what is wanted, and what is paid for it.
//!
//! A task is a YAML file of at most 64 KiB. It is read and checked once, by [`WorldTask::parse`]; nothing below parses
//! again. Keys of the MCU benchmark's files are understood, ours come on top, and other keys are read over.
//!
//! | key | |
//! |---|---|
//! | `text` | what is wanted, in a sentence for whoever does it |
//! | `custom_init_commands` | commands of the game, carried out at the start for the one player |
//! | `reward_cfg`, or `milestone_reward_cfg` | a list of rewards: `event`, `objects` (ids, or groups such as `#logs`), `reward` (1), `max_reward_times` (1), `identity` |
//! | `scene` | `meadow`, `cave` or `house`, or `{name: meadow, start: hillside}` |
//! | `places` | what stands around the start, each at a place that the seed draws |
//! | `goal` | predicates that must hold at the same time; see [`Goal`] |
//! | `metrics` | what is shown beside the score; see [`Metric`] |
//! | `max_steps` | 600 if nothing is said |
//! | `difficulty` | 1 to 3 |
//! | `needs` | which parts of the world it needs |
//!
//! **Places.** Each is an entry of a list with one name, and `away: [least, most]` in cells from the player. Dice decide
//! where; ground that is level and free is preferred.
//!
//! | place | |
//! |---|---|
//! | `block: {of}` | one block that faces the player |
//! | `scatter: {of, count}` | blocks on the ground, each at a place of its own |
//! | `patch: {of, count, sunk, behind_rise}` | blocks close together, on the ground or in it |
//! | `trees: {log, leaves, count}` | trees |
//! | `outcrop: {of, ore}` | a rock, with an ore in the face that the player sees |
//! | `bank: {of}` | a bank with a steep face, seven cells deep and five high |
//! | `pool: {of, behind_rise}` | a pool of a liquid |
//! | `huts: {of, count, hold}` | huts with a way in; `hold` stands in one of them |
//! | `shaft: {}` | a shaft with ladders, down to two cells above the bottom of the world |
//! | `vein: {of, count}` | ore in a wall, so many steps of walking away |
//!
//! **Rewards.** Events are counted by what they were done to. In each step, a reward is given once if any of its objects
//! was counted, until it was given `max_reward_times` times. To mine cobblestone also counts stone, from which it falls.
//! A goal pays 10, once. The score is 10 × given / payable, and 50 × in long tasks.

mod apply;
mod block_text;
mod command;
mod edit;
mod file;
mod goal;
mod marks;
mod metrics;
mod place;
mod problem;
mod progress;
mod reading;
mod reward;
mod sets;
mod shipped;
mod site;
mod snbt;
mod words;

use std::sync::Arc;

use serde::{Deserialize, Serialize};

pub use goal::{GOAL_REWARD, Goal, Predicate};
pub use marks::Marks;
pub use metrics::{Metric, TaskMetrics};
pub use problem::{TaskError, TaskProblem};
pub use progress::{OpenReward, TaskProgress};
pub use reward::TaskReward;
pub use sets::BlockSet;
pub use shipped::{
    TaskFacts, TaskSolution, TaskStage, catalogue, find_task, shipped_files, shipped_tasks, solutions,
};
pub use words::metrics_told;

use crate::body::is_free;
use crate::inventory::Inventory;
use crate::scene::{Scene, Terrain, Terrains};
use crate::world::World;
use command::TaskCommand;
use file::StartPlace;
use place::Place;

/// The most bytes of a task file.
pub const MAX_FILE: usize = 64 << 10;

/// The most steps of an episode, and those of one for which nothing is said.
pub const MAX_STEPS: u64 = 1_000_000;
const USUAL_STEPS: u64 = 600;

/// The most cells that all commands of a task fill; what goes beyond stays as it is.
const MAX_FILLED: usize = 65_536;

/// The category whose tasks are long, and their steps if nothing is said.
const LONG: &str = "long_horizon";
const LONG_STEPS: u64 = 12_000;

/// A task, read and checked.
#[derive(Clone, Debug, PartialEq)]
pub struct WorldTask {
    name: String,
    category: String,
    /// The file, whole. None for free play.
    source: Option<Arc<str>>,
    text: String,
    scene: Scene,
    start: StartPlace,
    places: Vec<Place>,
    commands: Vec<TaskCommand>,
    rewards: Vec<TaskReward>,
    goal: Option<Goal>,
    metrics: Vec<Metric>,
    max_steps: u64,
    difficulty: Option<u8>,
    needs: Vec<Need>,
    warnings: Vec<TaskProblem>,
}

/// A part of the world that a task needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Need {
    Move,
    Dig,
    Place,
    Craft,
    Screens,
    Items,
    Throw,
    Light,
    Fluids,
    Fire,
    Crops,
    Health,
    Animals,
    Monsters,
    Tether,
    Wild,
    Sleep,
    Frames,
}

impl WorldTask {
    /// A scene without anything to do, with the kit of one who only walks about.
    pub fn free_play(scene: Scene) -> Self {
        Self {
            name: format!("free_play_{scene}"),
            category: "free_play".to_owned(),
            source: None,
            text: "Do as you like.".to_owned(),
            scene,
            start: StartPlace::Usual,
            places: Vec::new(),
            commands: Vec::new(),
            rewards: Vec::new(),
            goal: None,
            metrics: Vec::new(),
            max_steps: USUAL_STEPS,
            difficulty: None,
            needs: Vec::new(),
            warnings: Vec::new(),
        }
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    pub fn category(&self) -> &str {
        &self.category
    }

    /// The file, whole. None for free play.
    pub fn source(&self) -> Option<&str> {
        self.source.as_deref()
    }

    /// What is wanted.
    pub fn text(&self) -> &str {
        &self.text
    }

    pub fn scene(&self) -> Scene {
        self.scene
    }

    pub fn rewards(&self) -> &[TaskReward] {
        &self.rewards
    }

    pub fn goal(&self) -> Option<&Goal> {
        self.goal.as_ref()
    }

    pub fn metrics(&self) -> &[Metric] {
        &self.metrics
    }

    pub fn max_steps(&self) -> u64 {
        self.max_steps
    }

    /// From 1, the easiest, to 3.
    pub fn difficulty(&self) -> Option<u8> {
        self.difficulty
    }

    pub fn needs(&self) -> &[Need] {
        &self.needs
    }

    /// What was left out, and what this world does not have yet.
    pub fn warnings(&self) -> &[TaskProblem] {
        &self.warnings
    }

    /// All that the rewards and the goal may pay.
    pub fn payable(&self) -> f64 {
        let rewards: f64 = self.rewards.iter().map(TaskReward::payable).sum();
        rewards + if self.goal.is_some() { GOAL_REWARD } else { 0.0 }
    }

    pub fn max_score(&self) -> f64 {
        if self.category == LONG { 50.0 } else { 10.0 }
    }

    /// The world in which the task begins.
    pub(crate) fn begin(&self, terrain: &Terrain, seed: u64) -> World {
        let mut world = World::new(terrain, seed);
        if self.source.is_none() {
            return world;
        }
        world.inventory = Inventory::default();
        if self.start == StartPlace::Hillside
            && let Some((position, yaw)) = self.scene.hillside(terrain, seed)
        {
            world.place_player(position, yaw, 0);
        }
        let mut ground = site::StartGround::new(&mut world);
        for place in &self.places {
            ground.put_up(place);
        }
        ground.finish();
        let mut cells_left = MAX_FILLED;
        for command in &self.commands {
            apply::apply(command, &mut world, &mut cells_left);
        }
        world
    }

    /// What is wrong with the task's start on some seeds: a player who is stuck, or a goal that is met already.
    pub fn check_start(&self, seeds: impl IntoIterator<Item = u64>, terrains: &Terrains) -> Vec<TaskProblem> {
        let mut problems = Vec::new();
        for seed in seeds {
            let world = self.begin(&terrains.get(self.scene, seed), seed);
            let mut note = |words: &str| {
                problems.push(TaskProblem { line: None, words: format!("with seed {seed}, {words}") });
            };
            if !is_free(&world.volume, world.player.bounds()) {
                note("the player is stuck in blocks");
            }
            if TaskProgress::is_met_at_start(self, &world) {
                note("the goal is met before anything is done");
            }
        }
        problems
    }
}
