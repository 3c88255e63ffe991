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
//! | `metrics` | what is shown beside the score: `steps`, `depth`, `distance`, `placed`, `light` |
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
mod place;
mod progress;
mod reward;
mod sets;
mod shipped;
mod site;
mod snbt;
mod words;

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

pub use goal::{GOAL_REWARD, Goal, Predicate};
pub use marks::Marks;
pub use progress::TaskProgress;
pub use reward::TaskReward;
pub use sets::BlockSet;
pub use shipped::{
    TaskFacts, TaskSolution, TaskStage, catalogue, find_task, shipped_files, shipped_tasks, solutions,
};

use crate::body::is_free;
use crate::events::EventKind;
use crate::inventory::Inventory;
use crate::scene::{Scene, Terrain, Terrains};
use crate::world::World;
use command::TaskCommand;
use file::{StartPlace, TaskFile};
use place::Place;

/// The most bytes of a task file.
pub const MAX_FILE: usize = 64 << 10;

/// The most steps of an episode, and those of one for which nothing is said.
pub const MAX_STEPS: u64 = 1_000_000;
const USUAL_STEPS: u64 = 600;

/// The most commands, rewards and places of a task.
const MAX_ENTRIES: usize = 200;

/// The most cells that all commands of a task fill; what goes beyond stays as it is.
const MAX_FILLED: usize = 200_000;

/// The category whose tasks are long.
const LONG: &str = "long_horizon";

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

/// What is shown beside a score.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Metric {
    Steps,
    Depth,
    Distance,
    Placed,
    Light,
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

/// A reward that is not given in full yet.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct OpenReward {
    pub identity: String,
    pub event: &'static str,
    pub times: u32,
    pub max_times: u32,
    pub reward: f64,
    #[serde(rename = "goal", skip_serializing_if = "is_false")]
    pub is_goal: bool,
    /// The predicates of a goal that do not hold.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unmet: Vec<&'static str>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_false(value: &bool) -> bool {
    !value
}

/// Something that is wrong with a task file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TaskProblem {
    pub line: Option<u64>,
    pub words: String,
}

/// Everything that is wrong with a task file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct TaskError {
    pub problems: Vec<TaskProblem>,
}

impl TaskError {
    fn of(line: Option<u64>, words: String) -> Self {
        Self { problems: vec![TaskProblem { line, words }] }
    }
}

impl fmt::Display for TaskProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(f, "line {line}: {}", self.words),
            None => f.write_str(&self.words),
        }
    }
}

impl fmt::Display for TaskError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, problem) in self.problems.iter().enumerate() {
            write!(f, "{}{problem}", if place > 0 { "; " } else { "" })?;
        }
        Ok(())
    }
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

    /// Reads a task file. Its name is `category/name`, or a name alone.
    ///
    /// # Errors
    /// With all that is wrong, in words, and the lines.
    pub fn parse(name: &str, text: &str) -> Result<Self, TaskError> {
        let (task, problems) = Self::read(name, text)?;
        if problems.is_empty() { Ok(task) } else { Err(TaskError { problems }) }
    }

    /// Reads a task file of somebody else's: what is not understood in it is left out, with a warning each.
    ///
    /// # Errors
    /// If it is not a task file at all.
    pub fn parse_leniently(name: &str, text: &str) -> Result<Self, TaskError> {
        let (mut task, problems) = Self::read(name, text)?;
        task.warnings.extend(problems);
        Ok(task)
    }

    fn read(name: &str, text: &str) -> Result<(Self, Vec<TaskProblem>), TaskError> {
        let file = TaskFile::read(text)?;
        let (category, name) = name.rsplit_once('/').unwrap_or(("custom", name));
        let mut task = Self {
            name: name.to_owned(),
            category: category.to_owned(),
            source: Some(text.into()),
            max_steps: if category == LONG { 12_000 } else { USUAL_STEPS },
            ..Self::free_play(Scene::Meadow)
        };
        let mut reading = TaskReading { task: &mut task, problems: Vec::new() };
        reading.take(file);
        let problems = reading.problems;
        Ok((task, problems))
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

/// A task while its file is read, with all that is wrong with it.
struct TaskReading<'a> {
    task: &'a mut WorldTask,
    problems: Vec<TaskProblem>,
}

impl TaskReading<'_> {
    fn take(&mut self, file: TaskFile) {
        match file.text {
            Some(text) if !text.value.trim().is_empty() && text.value.len() <= 2000 => {
                self.task.text = text.value.trim().to_owned();
            }
            Some(text) => self.problems.push(TaskProblem::at(&text, "text has 1 to 2000 letters".to_owned())),
            None => self.note(None, "text is missing: it says what is wanted"),
        }
        if let Some(scene) = file.scene {
            match scene.value.scene() {
                Ok((scene, start)) => (self.task.scene, self.task.start) = (scene, start),
                Err(words) => self.problems.push(TaskProblem::at(&scene, words)),
            }
        }
        for place in self.bounded(file.places, "places") {
            match place.value.check() {
                Ok(()) => {
                    for block in place.value.blocks().into_iter().filter(|block| block.block.is_none()) {
                        let words = format!("the world has no {} yet", block.id);
                        self.task.warnings.push(TaskProblem::at(&place, words));
                    }
                    self.task.places.push(place.value);
                }
                Err(words) => self.problems.push(TaskProblem::at(&place, words)),
            }
        }
        for command in self.bounded(file.custom_init_commands, "commands") {
            match TaskCommand::parse(&command.value) {
                Ok(parsed) => self.task.commands.push(parsed),
                Err(error) if error.is_missing => {
                    self.task.warnings.push(TaskProblem::at(&command, error.words));
                }
                Err(error) => self.problems.push(TaskProblem::at(&command, error.words)),
            }
        }
        let mut rewards = self.bounded(file.reward_cfg, "rewards");
        rewards.extend(self.bounded(file.milestone_reward_cfg, "rewards"));
        for reward in rewards {
            match TaskReward::of(&reward.value) {
                Ok(parsed) => self.task.rewards.push(parsed),
                Err(words) => self.problems.push(TaskProblem::at(&reward, words)),
            }
        }
        if let Some(goal) = file.goal {
            match goal.value.check() {
                Ok(()) => self.task.goal = Some(goal.value),
                Err(words) => self.problems.push(TaskProblem::at(&goal, words)),
            }
        }
        if let Some(steps) = file.max_steps {
            self.number(&steps, 1..=MAX_STEPS, "max_steps");
            self.task.max_steps = steps.value.clamp(1, MAX_STEPS);
        }
        if let Some(difficulty) = file.difficulty {
            let number = serde_saphyr::Spanned::new(
                u64::from(difficulty.value),
                difficulty.referenced,
                difficulty.defined,
            );
            self.number(&number, 1..=3, "difficulty");
            self.task.difficulty = Some(difficulty.value.clamp(1, 3));
        }
        (self.task.metrics, self.task.needs) = (file.metrics, file.needs);
        if self.task.payable() <= 0.0 && self.problems.is_empty() {
            self.note(None, "nothing is paid: a task has rewards or a goal");
        }
        self.note_unpayable();
    }

    /// Notes rewards for what never happens here.
    fn note_unpayable(&mut self) {
        let never =
            [EventKind::KillEntity, EventKind::Leash, EventKind::Hook, EventKind::Ride, EventKind::Mobs];
        for reward in self.task.rewards.iter().filter(|reward| never.contains(&reward.event)) {
            let words =
                format!("{} cannot be paid: this world has no creatures with a will", reward.event.name());
            self.problems.push(TaskProblem { line: None, words });
        }
    }

    fn bounded<T>(&mut self, list: Option<Vec<T>>, what: &str) -> Vec<T> {
        let mut list = list.unwrap_or_default();
        if list.len() > MAX_ENTRIES {
            self.note(None, &format!("a task has at most {MAX_ENTRIES} {what}"));
            list.truncate(MAX_ENTRIES);
        }
        list
    }

    fn number(
        &mut self,
        number: &serde_saphyr::Spanned<u64>,
        range: std::ops::RangeInclusive<u64>,
        what: &str,
    ) {
        if !range.contains(&number.value) {
            let words = format!("{what} goes from {} to {}", range.start(), range.end());
            self.problems.push(TaskProblem::at(number, words));
        }
    }

    fn note(&mut self, line: Option<u64>, words: &str) {
        self.problems.push(TaskProblem { line, words: words.to_owned() });
    }
}
