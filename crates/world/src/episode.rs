//! Episodes: a world from its beginning to the end of a run, and several of them side by side.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::action::{Action, SentAction, StepInput};
use crate::events::Event;
use crate::hash::Mixer;
use crate::record::Recorder;
use crate::scene::{Scene, Terrain, Terrains};
use crate::screen::CraftProblem;
use crate::task::{TaskMetrics, TaskProgress, WorldTask};
use crate::view::Frame;
use crate::world::World;

/// A run at a task, which ends with the player's death or after the last of its steps.
#[derive(Clone)]
pub struct Episode {
    pub(crate) task: Arc<WorldTask>,
    pub(crate) terrain: Arc<Terrain>,
    pub(crate) world: World,
    pub(crate) progress: TaskProgress,
    pub(crate) max_steps: u64,
    pub(crate) stops_when_done: bool,
    pub(crate) help: RunHelp,
}

/// What a run has had that buttons and the pointer alone do not give.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunHelp {
    /// Something was crafted without the pointer, or was to be.
    pub is_assisted: bool,
    /// An action was held for several steps.
    pub is_held: bool,
}

/// What a step has brought.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StepOutcome {
    pub reward: f32,
    /// The player has died, or everything is done in an episode that stops then.
    pub terminated: bool,
    /// The steps are used up.
    pub truncated: bool,
    pub events: Vec<Event>,
    /// Why nothing was crafted without the pointer, where that was wanted.
    pub craft_problem: Option<CraftProblem>,
}

impl StepOutcome {
    pub fn is_end(&self) -> bool {
        self.terminated || self.truncated
    }
}

impl Episode {
    /// The steps of an episode for which nothing else is said.
    pub const STEPS: u64 = 600;

    /// A run at a task, with as many steps as the task says.
    pub fn new(task: &Arc<WorldTask>, seed: u64, terrains: &Terrains) -> Self {
        let terrain = terrains.get(task.scene(), seed);
        let world = task.begin(&terrain, seed);
        Self {
            progress: TaskProgress::new(task, &world),
            world,
            terrain,
            max_steps: task.max_steps(),
            stops_when_done: false,
            help: RunHelp::default(),
            task: Arc::clone(task),
        }
    }

    /// A scene without anything to do.
    pub fn free_play(scene: Scene, seed: u64, terrains: &Terrains) -> Self {
        Self::new(&Arc::new(WorldTask::free_play(scene)), seed, terrains)
    }

    /// The same with another number of steps.
    #[must_use]
    pub fn with_max_steps(self, max_steps: u64) -> Self {
        Self { max_steps, ..self }
    }

    /// The same, which ends as soon as all rewards have been given.
    #[must_use]
    pub fn stopping_when_done(self, stops_when_done: bool) -> Self {
        Self { stops_when_done, ..self }
    }

    /// The episode that comes after this one, with the same settings.
    #[must_use]
    pub fn next(&self, terrains: &Terrains) -> Self {
        Self::new(&self.task, self.next_seed(), terrains)
            .with_max_steps(self.max_steps)
            .stopping_when_done(self.stops_when_done)
    }

    pub fn step(&mut self, action: &Action) -> StepOutcome {
        self.step_with(&StepInput::from(*action))
    }

    /// Does what an agent has sent, for all its steps or until the run ends. `look` sees the episode after each of them.
    /// Returns what all of them have brought.
    pub fn act(&mut self, sent: SentAction, mut look: impl FnMut(&StepInput, &Self)) -> StepOutcome {
        self.help.is_held |= sent.ticks > 1;
        let mut whole = StepOutcome::default();
        for input in sent.inputs() {
            let outcome = self.step_with(&input);
            look(&input, self);
            whole.reward += outcome.reward;
            whole.events.extend(outcome.events);
            whole.craft_problem = whole.craft_problem.or(outcome.craft_problem);
            (whole.terminated, whole.truncated) = (outcome.terminated, outcome.truncated);
            if whole.is_end() {
                break;
            }
        }
        whole
    }

    /// Goes on by a step, in which something may be crafted without the pointer.
    pub fn step_with(&mut self, input: &StepInput) -> StepOutcome {
        self.help.is_assisted |= input.craft.is_some();
        let (events, craft_problem) = self.world.step_with(input);
        let paid = self.progress.note(&self.task, &self.world, &events);
        let is_over = self.stops_when_done && self.is_done();
        StepOutcome {
            reward: paid as f32,
            terminated: is_over || !self.world.player().is_alive(),
            truncated: self.world.tick() >= self.max_steps,
            events,
            craft_problem,
        }
    }

    pub fn task(&self) -> &Arc<WorldTask> {
        &self.task
    }

    pub fn progress(&self) -> &TaskProgress {
        &self.progress
    }

    /// The score so far: from 0 to 10, in long tasks to 50.
    pub fn score(&self) -> f64 {
        self.progress.score(&self.task)
    }

    /// What is shown beside the score: the metrics that the task names.
    pub fn metrics(&self) -> TaskMetrics {
        self.progress.metrics(&self.task, &self.world)
    }

    /// What the run has had that buttons and the pointer alone do not give.
    pub fn help(&self) -> RunHelp {
        self.help
    }

    /// Whether all rewards have been given.
    pub fn is_done(&self) -> bool {
        self.progress.is_done(&self.task)
    }

    pub fn scene(&self) -> Scene {
        self.task.scene()
    }

    pub fn world(&self) -> &World {
        &self.world
    }

    pub fn max_steps(&self) -> u64 {
        self.max_steps
    }

    /// The seed of the episode that follows by itself.
    pub fn next_seed(&self) -> u64 {
        let mut mixer = Mixer::new(self.world.seed());
        mixer.add(self.world.tick());
        // Many readers of JSON know whole numbers up to 2⁵³.
        mixer.finish() >> 11
    }
}

/// A place of a batch: an episode, and what its last step has brought.
pub struct Lane {
    pub episode: Episode,
    pub outcome: StepOutcome,
    /// What the player sees; none where nobody looks.
    pub frame: Option<Frame>,
    /// None if the episode is not recorded from its beginning.
    recorder: Option<Recorder>,
    is_recorded: bool,
}

impl Lane {
    pub fn new(episode: Episode, frame: Option<Frame>, is_recorded: bool) -> Self {
        let recorder = is_recorded.then(|| Recorder::new(&episode));
        let mut lane = Self { episode, outcome: StepOutcome::default(), frame, recorder, is_recorded };
        lane.look();
        lane
    }

    /// Goes on by a step. After the end of an episode, the next one begins instead, and the action does nothing.
    pub fn step(&mut self, action: &Action, terrains: &Terrains) {
        if self.outcome.is_end() {
            self.begin(self.episode.next(terrains));
        } else {
            self.outcome = self.episode.step(action);
            if let Some(recorder) = &mut self.recorder {
                recorder.note(*action, &self.episode.world);
            }
            self.look();
        }
    }

    /// Does what an agent has sent. After the end of an episode, the next one begins instead.
    pub fn act(&mut self, sent: SentAction, terrains: &Terrains) {
        if self.outcome.is_end() {
            self.begin(self.episode.next(terrains));
            return;
        }
        let recorder = &mut self.recorder;
        self.outcome = self.episode.act(sent, |input, episode| {
            if let Some(recorder) = recorder {
                recorder.note(*input, &episode.world);
            }
        });
        self.look();
    }

    /// Leaves the episode for another one, which begins.
    pub fn begin(&mut self, episode: Episode) {
        let recorder = self.is_recorded.then(|| Recorder::new(&episode));
        self.go_on(episode);
        self.recorder = recorder;
    }

    /// Leaves the episode for another one, which goes on from where it is and is not recorded.
    pub fn go_on(&mut self, episode: Episode) {
        self.recorder = None;
        self.episode = episode;
        self.outcome = StepOutcome::default();
        self.look();
    }

    /// The recording of the episode so far.
    pub fn recording(&self) -> Option<Vec<u8>> {
        Some(self.recorder.as_ref()?.finish(&self.episode))
    }

    fn look(&mut self) {
        if let Some(frame) = &mut self.frame {
            self.episode.world.view(frame);
        }
    }
}

/// Episodes that go on together. Lanes do not know of each other, so threads may share them out.
pub struct Batch {
    pub lanes: Vec<Lane>,
    pub terrains: Arc<Terrains>,
}

impl Batch {
    /// Goes on with an action for each lane.
    pub fn step(&mut self, actions: &[Action]) {
        for (lane, action) in self.lanes.iter_mut().zip(actions) {
            lane.step(action, &self.terrains);
        }
    }
}
