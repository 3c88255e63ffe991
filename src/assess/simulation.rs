//! The world of a run, with the eyes of its agent.

use std::sync::Arc;

use jpeg_encoder::{ColorType, Encoder, SamplingFactor};
use world::action::SentAction;
use world::task::OpenReward;
use world::{Episode, Frame, Lane, RunHelp, StepOutcome, Terrains, WorldTask};

/// The quality of the pictures, of 100.
const JPEG_QUALITY: u8 = 95;

/// An episode that is recorded, and seen in pictures.
pub(super) struct Simulation {
    lane: Lane,
    terrains: Arc<Terrains>,
    /// The steps after which a reward was paid, and how much.
    paid: Vec<(u64, f64)>,
}

/// What comes of an action.
#[derive(Debug)]
pub(super) struct Observation {
    /// The number of steps so far.
    pub step: u64,
    pub jpeg: Vec<u8>,
    pub is_end: bool,
    pub is_dead: bool,
    pub score: f64,
    /// What was paid by the action.
    pub reward: f64,
}

/// How a run stands in the end.
#[derive(Clone, Debug)]
pub(super) struct FinalState {
    pub steps: u64,
    pub given: f64,
    pub payable: f64,
    pub open: Vec<OpenReward>,
    pub paid: Vec<(u64, f64)>,
    pub help: RunHelp,
    pub recording: Vec<u8>,
}

impl Simulation {
    pub fn new(
        task: &Arc<WorldTask>,
        seed: u64,
        max_steps: u64,
        stops_when_done: bool,
        [width, height]: [usize; 2],
        terrains: Arc<Terrains>,
    ) -> Self {
        let episode =
            Episode::new(task, seed, &terrains).with_max_steps(max_steps).stopping_when_done(stops_when_done);
        let lane = Lane::new(episode, Some(Frame::new(width, height)), true);
        Self { lane, terrains, paid: Vec::new() }
    }

    /// What is seen before the first step.
    pub fn first(&self) -> Observation {
        self.observe(0.0)
    }

    /// Does what the agent has sent, for as many steps as it says.
    pub fn act(&mut self, sent: SentAction) -> Observation {
        self.lane.act(sent, &self.terrains);
        let paid = f64::from(self.lane.outcome.reward);
        if paid != 0.0 {
            self.paid.push((self.lane.episode.world().tick(), paid));
        }
        self.observe(paid)
    }

    fn observe(&self, reward: f64) -> Observation {
        let StepOutcome { terminated, truncated, .. } = self.lane.outcome;
        Observation {
            step: self.lane.episode.world().tick(),
            jpeg: self.lane.frame.as_ref().map(jpeg).unwrap_or_default(),
            is_end: terminated || truncated,
            is_dead: !self.lane.episode.world().player().is_alive(),
            score: self.lane.episode.score(),
            reward,
        }
    }

    pub fn finish(&self) -> FinalState {
        let episode = &self.lane.episode;
        let task = episode.task();
        FinalState {
            steps: episode.world().tick(),
            given: episode.progress().given(task),
            payable: task.payable(),
            open: episode.progress().open(task),
            paid: self.paid.clone(),
            help: episode.help(),
            recording: self.lane.recording().unwrap_or_default(),
        }
    }
}

/// The frame as agents of this family get it: with half as many colours across and down as pixels.
fn jpeg(frame: &Frame) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(frame.rgb().len() / 4);
    let mut encoder = Encoder::new(&mut bytes, JPEG_QUALITY);
    encoder.set_sampling_factor(SamplingFactor::R_4_2_0);
    // Sizes are checked when an order is read, and writing into memory does not fail.
    let [width, height] = [frame.width(), frame.height()].map(|edge| u16::try_from(edge).unwrap_or(u16::MAX));
    if let Err(error) = encoder.encode(frame.rgb(), width, height, ColorType::Rgb) {
        tracing::error!(%error, "a frame could not be encoded");
    }
    bytes
}
