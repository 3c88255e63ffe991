//! What a client has made, and the answers to its messages.

use std::sync::Arc;
use std::thread;

use serde::{Deserialize, Serialize};
use serde_json::json;
use world::action::CAMERA_BINS;
use world::task::{OpenReward, TaskMetrics, find_task, solutions};
use world::view::MAX_EDGE;
use world::{
    Action, Batch, ENGINE, Episode, Frame, ItemStack, Lane, Scene, Screen, Terrains, World, WorldTask,
};

use super::message::{Kind, PipeMessage};
use crate::tasks::available_names;

/// The most worlds of a session, and the most bytes of their pictures.
const MAX_WORLDS: usize = 1024;
const MAX_PICTURES: usize = 256 << 20;

/// The most steps of an episode.
const MAX_STEPS: u64 = 1_000_000;

pub struct Session {
    /// What worlds are made as; none before any are.
    made: Option<Made>,
    /// Has no lanes before the first reset.
    batch: Batch,
    threads: usize,
}

/// How the worlds of a session are.
#[derive(Clone)]
struct Made {
    task: Arc<WorldTask>,
    count: usize,
    size: Option<[usize; 2]>,
    max_steps: u64,
    stops_when_done: bool,
    record: bool,
}

impl Made {
    fn episode(&self, seed: u64, terrains: &Terrains) -> Episode {
        let episode = Episode::new(&self.task, seed, terrains);
        episode.with_max_steps(self.max_steps).stopping_when_done(self.stops_when_done)
    }

    fn lane(&self, seed: u64, terrains: &Terrains) -> Lane {
        let episode = self.episode(seed, terrains);
        let frame = self.size.map(|[width, height]| Frame::new(width, height));
        Lane::new(episode, frame, self.record)
    }
}

/// Words about what is wrong with a message.
type Refusal = String;

#[derive(Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "camelCase")]
struct MakeRequest {
    /// The name of a task, or a whole task file. Without one it is free play.
    task: Option<String>,
    /// Where free play is.
    scene: Option<String>,
    count: usize,
    width: usize,
    height: usize,
    /// As many as the task says, if nothing is said.
    max_steps: Option<u64>,
    stop_when_done: bool,
    /// Whether anybody looks.
    pictures: bool,
    /// Whether episodes are recorded.
    record: bool,
    threads: Option<usize>,
}

impl Default for MakeRequest {
    fn default() -> Self {
        Self {
            task: None,
            scene: None,
            count: 1,
            width: 128,
            height: 128,
            max_steps: None,
            stop_when_done: false,
            pictures: true,
            record: false,
            threads: None,
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SolutionsRequest {
    task: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ResetRequest {
    seeds: Vec<Option<u64>>,
}

/// What a client is told of a world besides the picture.
#[derive(Serialize)]
struct Info {
    events: Vec<EventInfo>,
    position: [f64; 3],
    yaw: f64,
    pitch: f64,
    health: i32,
    food: i32,
    air: i32,
    /// The 36 slots, those of the hot bar first.
    inventory: Vec<Option<StackInfo>>,
    slot: usize,
    /// The id of the block that the player looks at.
    target: Option<&'static str>,
    /// The name of the screen that is open.
    screen: Option<&'static str>,
    /// Where the pointer of that screen is, in a window of 640 by 360.
    pointer: Option<[i32; 2]>,
    /// The rewards and goals that are open.
    progress: Vec<OpenReward>,
    score: f64,
    /// What the task shows beside the score, if it names something.
    #[serde(skip_serializing_if = "TaskMetrics::is_empty")]
    metrics: TaskMetrics,
    time: u64,
    step: u64,
    seed: u64,
    hash: String,
}

#[derive(Serialize)]
struct StackInfo {
    item: &'static str,
    count: u8,
}

#[derive(Serialize)]
struct EventInfo {
    event: &'static str,
    object: &'static str,
    count: u32,
}

impl Session {
    pub fn new() -> Self {
        let threads = thread::available_parallelism().map_or(1, usize::from);
        Self {
            made: None,
            batch: Batch { lanes: Vec::new(), terrains: Arc::new(Terrains::default()) },
            threads,
        }
    }

    pub fn hello(&self) -> PipeMessage {
        let scenes = Scene::ALL.map(Scene::name);
        let tasks = available_names();
        let hello = json!({
            "protocol": 1, "engine": ENGINE, "scenes": scenes, "tasks": tasks, "threads": self.threads,
            "cameraBins": CAMERA_BINS,
        });
        PipeMessage::json(Kind::Hello, &hello)
    }

    pub fn answer(&mut self, message: &PipeMessage) -> PipeMessage {
        let body = &message.body[..];
        let kinds =
            [Kind::Make, Kind::Reset, Kind::Step, Kind::Save, Kind::Load, Kind::Recording, Kind::Solutions];
        let answer = match kinds.into_iter().find(|kind| *kind as u8 == message.kind) {
            Some(Kind::Make) => self.make(body),
            Some(Kind::Reset) => self.reset(body),
            Some(Kind::Step) => self.step(body),
            Some(Kind::Save) => self.save(body),
            Some(Kind::Load) => self.load(body),
            Some(Kind::Recording) => self.recording(body),
            Some(Kind::Solutions) => shipped_solutions(body),
            _ => Err(format!("a client sends no messages of kind {}", message.kind)),
        };
        answer.unwrap_or_else(|words| PipeMessage::error(&words))
    }

    fn make(&mut self, body: &[u8]) -> Result<PipeMessage, Refusal> {
        let request: MakeRequest = read_json(body)?;
        let task = task_of(request.task.as_deref(), request.scene.as_deref())?;
        let MakeRequest { count, width, height, pictures, record, stop_when_done, .. } = request;
        let max_steps = request.max_steps.unwrap_or_else(|| task.max_steps());
        if !(1..=MAX_WORLDS).contains(&count) {
            return Err(format!("count goes from 1 to {MAX_WORLDS}"));
        }
        if [width, height].iter().any(|edge| !(16..=MAX_EDGE).contains(edge) || edge % 4 != 0) {
            return Err(format!("width and height go from 16 to {MAX_EDGE} in steps of 4"));
        }
        if pictures && count * width * height * 3 > MAX_PICTURES {
            return Err(format!("the pictures of all worlds have at most {MAX_PICTURES} bytes"));
        }
        if !(1..=MAX_STEPS).contains(&max_steps) {
            return Err(format!("maxSteps goes from 1 to {MAX_STEPS}"));
        }
        if let Some(threads) = request.threads {
            self.threads = threads.clamp(1, 64);
        }
        let size = pictures.then_some([width, height]);
        self.batch.lanes.clear();
        let made = json!({
            "task": task.source().map(|_| task.name()), "text": task.text(), "scene": task.scene().name(),
            "count": count, "width": width, "height": height, "maxSteps": max_steps,
            "stopWhenDone": stop_when_done, "pictures": pictures, "record": record, "threads": self.threads,
        });
        self.made = Some(Made { task, count, size, max_steps, stops_when_done: stop_when_done, record });
        Ok(PipeMessage::json(Kind::Make, &made))
    }

    fn reset(&mut self, body: &[u8]) -> Result<PipeMessage, Refusal> {
        let ResetRequest { seeds } = read_json(body)?;
        let made = self.made.as_ref().ok_or("there are no worlds yet; make some")?;
        if seeds.len() != made.count {
            return Err(format!("there are {} worlds, and {} seeds", made.count, seeds.len()));
        }
        let terrains = &self.batch.terrains;
        if self.batch.lanes.is_empty() {
            let seeds: Option<Vec<u64>> = seeds.into_iter().collect();
            let seeds = seeds.ok_or("no world has begun yet, so each needs a seed")?;
            self.batch.lanes = seeds.into_iter().map(|seed| made.lane(seed, terrains)).collect();
            return Ok(frames(&self.batch.lanes));
        }
        for (lane, seed) in self.batch.lanes.iter_mut().zip(seeds) {
            if let Some(seed) = seed {
                lane.begin(made.episode(seed, terrains));
            }
        }
        Ok(frames(&self.batch.lanes))
    }

    fn step(&mut self, body: &[u8]) -> Result<PipeMessage, Refusal> {
        let (actions, rest) = body.as_chunks::<{ Action::BYTES }>();
        if !rest.is_empty() {
            return Err(format!("an action has {} bytes", Action::BYTES));
        }
        self.check_count(actions.len(), "actions")?;
        let actions: Vec<Action> = actions.iter().map(|bytes| Action::from_bytes(*bytes)).collect();
        let share = actions.len().div_ceil(self.threads);
        let terrains = &*self.batch.terrains;
        let go = |lanes: &mut [Lane], actions: &[Action]| {
            for (lane, action) in lanes.iter_mut().zip(actions) {
                lane.step(action, terrains);
            }
        };
        if share == actions.len() {
            go(&mut self.batch.lanes, &actions);
        } else {
            thread::scope(|scope| {
                for (lanes, actions) in self.batch.lanes.chunks_mut(share).zip(actions.chunks(share)) {
                    scope.spawn(|| go(lanes, actions));
                }
            });
        }
        Ok(frames(&self.batch.lanes))
    }

    fn save(&self, body: &[u8]) -> Result<PipeMessage, Refusal> {
        let (place, _) = self.place(body)?;
        Ok(PipeMessage::new(Kind::Save, self.batch.lanes[place].episode.save()))
    }

    fn load(&mut self, body: &[u8]) -> Result<PipeMessage, Refusal> {
        let (place, save) = self.place(body)?;
        let episode = Episode::load(save, &self.batch.terrains).map_err(|error| error.to_string())?;
        self.batch.lanes[place].go_on(episode);
        Ok(frames(&self.batch.lanes[place..=place]))
    }

    fn recording(&self, body: &[u8]) -> Result<PipeMessage, Refusal> {
        let (place, _) = self.place(body)?;
        let recording = self.batch.lanes[place].recording();
        let words = "this episode is not recorded; make worlds with \"record\", and reset them";
        Ok(PipeMessage::new(Kind::Recording, recording.ok_or(words)?))
    }

    /// The number of a world that a message begins with, and the rest of the message.
    fn place<'a>(&self, body: &'a [u8]) -> Result<(usize, &'a [u8]), Refusal> {
        let (number, rest) = body.split_first_chunk().ok_or("the number of a world has four bytes")?;
        let place = u32::from_le_bytes(*number) as usize;
        let count = self.batch.lanes.len();
        if count == 0 {
            return Err("no world has begun yet; reset them".to_owned());
        }
        if place >= count {
            return Err(format!("there is no world {place}; there are {count}, from 0"));
        }
        Ok((place, rest))
    }

    fn check_count(&self, count: usize, what: &str) -> Result<(), Refusal> {
        match self.batch.lanes.len() {
            0 => Err("no world has begun yet; reset them".to_owned()),
            worlds if worlds != count => Err(format!("there are {worlds} worlds, and {count} {what}")),
            _ => Ok(()),
        }
    }
}

/// The task that a client asks for: by its name, by its file, or free play in a scene.
fn task_of(task: Option<&str>, scene: Option<&str>) -> Result<Arc<WorldTask>, Refusal> {
    match (task, scene) {
        (Some(_), Some(_)) => Err("a task has a scene of its own".to_owned()),
        (None, scene) => {
            let scene: Scene =
                scene.map_or(Ok(Scene::default()), str::parse).map_err(|error| format!("{error}"))?;
            Ok(Arc::new(WorldTask::free_play(scene)))
        }
        (Some(file), None) if file.contains('\n') => {
            let task = WorldTask::parse("custom/custom", file);
            task.map(Arc::new).map_err(|error| format!("the task is wrong: {error}"))
        }
        (Some(name), None) => {
            let shown: String = name.chars().take(60).collect();
            find_task(name).ok_or_else(|| format!("there is no task {shown:?}; the hello lists all"))
        }
    }
}

fn shipped_solutions(body: &[u8]) -> Result<PipeMessage, Refusal> {
    let SolutionsRequest { task } = read_json(body)?;
    let task = task_of(Some(&task), None)?;
    let mut answer = Vec::new();
    for solution in solutions(&format!("{}/{}", task.category(), task.name())) {
        answer.extend(solution.seed.to_le_bytes());
        answer.extend((solution.recording.len() as u32).to_le_bytes());
        answer.extend(solution.recording);
    }
    Ok(PipeMessage::new(Kind::Solutions, answer))
}

fn read_json<'a, T: Deserialize<'a>>(body: &'a [u8]) -> Result<T, Refusal> {
    serde_json::from_slice(body).map_err(|error| format!("it cannot be read: {error}"))
}

fn frames(lanes: &[Lane]) -> PipeMessage {
    let mut body = Vec::new();
    for lane in lanes {
        let outcome = &lane.outcome;
        body.extend(outcome.reward.to_le_bytes());
        body.extend([u8::from(outcome.terminated), u8::from(outcome.truncated)]);
        let info = serde_json::to_vec(&Info::of(lane)).unwrap_or_default();
        body.extend((info.len() as u32).to_le_bytes());
        body.extend(info);
        if let Some(frame) = &lane.frame {
            body.extend(frame.rgb());
        }
    }
    PipeMessage::new(Kind::Frames, body)
}

impl Info {
    fn of(lane: &Lane) -> Self {
        let world: &World = lane.episode.world();
        let player = world.player();
        let stack_info = |stack: ItemStack| StackInfo { item: stack.item.id(), count: stack.count };
        let event = |event: &world::Event| EventInfo {
            event: event.kind.name(),
            object: event.object,
            count: event.count,
        };
        Self {
            events: lane.outcome.events.iter().map(event).collect(),
            position: player.position,
            yaw: f64::from(player.yaw) / 1000.0,
            pitch: f64::from(player.pitch) / 1000.0,
            health: player.health,
            food: player.food,
            air: player.air,
            inventory: world.inventory().slots().iter().map(|stack| stack.map(stack_info)).collect(),
            slot: player.slot,
            target: world.target().map(|target| world.volume().block(target.cell).id()),
            screen: world.screen().map(|screen| screen.kind().name()),
            pointer: world.screen().map(Screen::pointer),
            progress: lane.episode.progress().open(lane.episode.task()),
            score: lane.episode.score(),
            metrics: lane.episode.metrics(),
            time: world.time(),
            step: world.tick(),
            seed: world.seed(),
            hash: format!("{:016x}", world.hash()),
        }
    }
}
