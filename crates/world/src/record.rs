//! Recordings: the actions of a run with hashes of its states, from which all of it can be made again.
//!
//! A recording is the gzip of lines of JSON. The first is `{"format": 1, "engine": …, "task": …, "seed": …}`, and its task
//! is `{"category": …, "name": …, "file": …}` with the whole file of the task, or `{"scene": …}` for free play. Then there
//! are lines `[n, buttons, hotbar, pitch, yaw]` for n equal actions, with the turns in hundredths of a degree, and after
//! every 20 steps `{"hash": …}`. Where something was crafted without the pointer, its item is a sixth element. The last line
//! is `{"final": …, "counters": …, "score": …, "steps": …}`, with `metrics` if the task names some, and with
//! `"assisted": true` or `"held": true` as in [`RunHelp`].

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::sync::Arc;

use craft::ItemId;
use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use serde::{Deserialize, Serialize};

use crate::ENGINE;
use crate::action::{Action, StepInput};
use crate::episode::{Episode, RunHelp};
use crate::scene::{Scene, Terrains};
use crate::task::{TaskMetrics, WorldTask};
use crate::world::World;

/// How many steps there are between two hashes.
pub const HASH_EVERY: u64 = 20;

/// The most steps of a recording.
pub const MAX_STEPS: u64 = 1_000_000;

/// The most bytes of an unpacked recording, and of one of its lines.
const MAX_BYTES: u64 = 64 << 20;
const MAX_LINE: usize = 256 << 10;

/// Where a recorded run began.
#[derive(Clone, Debug, PartialEq)]
pub struct Beginning {
    pub engine: String,
    pub task: Arc<WorldTask>,
    pub seed: u64,
}

/// How a recorded run ended.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RunEnd {
    pub hash: u64,
    /// How often each object of each event was counted.
    pub counters: BTreeMap<String, BTreeMap<String, u64>>,
    pub score: f64,
    /// None in recordings that were made before there were any.
    pub metrics: Option<TaskMetrics>,
    pub help: RunHelp,
    pub steps: u64,
}

/// A run while it is recorded.
pub struct Recorder {
    lines: Vec<Line>,
    steps: u64,
}

/// A recorded run.
#[derive(Clone, Debug, PartialEq)]
pub struct Recording {
    pub beginning: Beginning,
    parts: Vec<RecordedPart>,
    end: RunEnd,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum RecordedPart {
    Inputs(u64, StepInput),
    Hash(u64),
}

#[derive(Debug, thiserror::Error)]
pub enum RecordingError {
    #[error("line {0}: {1}")]
    Line(usize, String),
    #[error("it is not a recording: {0}")]
    Gzip(#[from] std::io::Error),
    #[error("it was made with {0}, and this is {ENGINE}; other engines cannot run it again")]
    OtherEngine(String),
    #[error("after step {step} the world is another one than in the recording")]
    Differs { step: u64 },
    #[error("the world is the recorded one, and its score, its counters or its metrics are not")]
    OtherScore,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(untagged)]
enum Line {
    Actions(u64, u16, u8, i16, i16),
    Crafting(u64, u16, u8, i16, i16, ItemId),
    Hash(HashLine),
    End(EndLine),
    First(FirstLine),
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct HashLine {
    hash: String,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct EndLine {
    r#final: String,
    #[serde(default)]
    counters: BTreeMap<String, BTreeMap<String, u64>>,
    #[serde(default)]
    score: f64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    metrics: Option<TaskMetrics>,
    #[serde(default, skip_serializing_if = "is_false")]
    assisted: bool,
    #[serde(default, skip_serializing_if = "is_false")]
    held: bool,
    steps: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_false(value: &bool) -> bool {
    !value
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct FirstLine {
    format: u32,
    engine: String,
    task: TaskLine,
    seed: u64,
}

/// Free play in a scene, or a task with its file.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(untagged)]
enum TaskLine {
    Task { category: String, name: String, file: String },
    FreePlay { scene: String },
}

impl TaskLine {
    fn of(task: &WorldTask) -> Self {
        match task.source() {
            Some(file) => Self::Task {
                category: task.category().to_owned(),
                name: task.name().to_owned(),
                file: file.to_owned(),
            },
            None => Self::FreePlay { scene: task.scene().name().to_owned() },
        }
    }

    fn task(&self) -> Result<WorldTask, String> {
        match self {
            Self::Task { category, name, file } => {
                WorldTask::parse_leniently(&format!("{category}/{name}"), file)
                    .map_err(|error| error.to_string())
            }
            Self::FreePlay { scene } => {
                scene.parse::<Scene>().map(WorldTask::free_play).map_err(|error| error.to_string())
            }
        }
    }
}

impl Recorder {
    /// For an episode that begins.
    pub fn new(episode: &Episode) -> Self {
        let task = TaskLine::of(episode.task());
        let first = FirstLine { format: 1, engine: ENGINE.to_owned(), task, seed: episode.world().seed() };
        Self { lines: vec![Line::First(first)], steps: 0 }
    }

    /// Notes what was done in a step, and the world after it. What goes beyond the longest recording is left out.
    pub fn note(&mut self, input: impl Into<StepInput>, world: &World) {
        if self.steps >= MAX_STEPS {
            return;
        }
        self.steps += 1;
        let StepInput { action, craft } = input.into();
        let (buttons, hotbar, [pitch, yaw]) = action.parts();
        let same = (buttons, hotbar, pitch, yaw);
        match (self.lines.last_mut(), craft) {
            (Some(Line::Actions(count, b, h, p, y)), None) if (*b, *h, *p, *y) == same => *count += 1,
            (_, None) => self.lines.push(Line::Actions(1, buttons, hotbar, pitch, yaw)),
            (_, Some(item)) => self.lines.push(Line::Crafting(1, buttons, hotbar, pitch, yaw, item)),
        }
        if self.steps.is_multiple_of(HASH_EVERY) {
            self.lines.push(Line::Hash(HashLine { hash: hex(world.hash()) }));
        }
    }

    /// The recording, as a file has it.
    pub fn finish(&self, episode: &Episode) -> Vec<u8> {
        let end = Line::End(EndLine {
            r#final: hex(episode.world().hash()),
            counters: episode.progress().counters().clone(),
            score: episode.score(),
            metrics: Some(episode.metrics()).filter(|metrics| !metrics.is_empty()),
            assisted: episode.help().is_assisted,
            held: episode.help().is_held,
            steps: self.steps,
        });
        let mut packed = GzEncoder::new(Vec::new(), Compression::best());
        for line in self.lines.iter().chain([&end]) {
            let text = serde_json::to_string(line).unwrap_or_default();
            // Writing into memory does not fail.
            let _ = packed.write_all(text.as_bytes()).and_then(|()| packed.write_all(b"\n"));
        }
        packed.finish().unwrap_or_default()
    }
}

impl Recording {
    /// Reads a file.
    ///
    /// # Errors
    /// With the line that is wrong.
    pub fn read(bytes: &[u8]) -> Result<Self, RecordingError> {
        let mut text = BufReader::new(GzDecoder::new(bytes).take(MAX_BYTES));
        let (mut beginning, mut parts, mut steps) = (None, Vec::new(), 0);
        let mut number = 0;
        loop {
            number += 1;
            let mut line = Vec::new();
            (&mut text).take(MAX_LINE as u64).read_until(b'\n', &mut line)?;
            if line.is_empty() {
                return Err(RecordingError::Line(number, "it ends without its last line".to_owned()));
            }
            let wrong = |reason: &str| RecordingError::Line(number, reason.to_owned());
            let line: Line =
                serde_json::from_slice(&line).map_err(|_| wrong("it is no line of a recording"))?;
            match line {
                Line::First(first) if beginning.is_none() => {
                    let task = Arc::new(first.task.task().map_err(|words| wrong(&words))?);
                    if first.format != 1 {
                        return Err(wrong("only format 1 is known"));
                    }
                    beginning = Some(Beginning { engine: first.engine, task, seed: first.seed });
                }
                _ if beginning.is_none() => return Err(wrong("the first line says how the run began")),
                Line::First(_) => return Err(wrong("the run begins a second time")),
                line @ (Line::Actions(..) | Line::Crafting(..)) => {
                    let Some((count, input)) = line.input() else { continue };
                    steps = u64::saturating_add(steps, count);
                    if count == 0 || steps > MAX_STEPS {
                        return Err(wrong("a recording has up to 1,000,000 steps"));
                    }
                    parts.push(RecordedPart::Inputs(count, input));
                }
                Line::Hash(_) if matches!(parts.last(), None | Some(RecordedPart::Hash(_))) => {
                    return Err(wrong("a hash comes after steps"));
                }
                Line::Hash(line) => {
                    parts.push(RecordedPart::Hash(unhex(&line.hash).ok_or_else(|| wrong("it is no hash"))?));
                }
                Line::End(end) => {
                    let hash = unhex(&end.r#final).ok_or_else(|| wrong("it is no hash"))?;
                    if (&mut text).take(1).read_to_end(&mut Vec::new())? > 0 {
                        return Err(RecordingError::Line(
                            number + 1,
                            "nothing comes after the last line".to_owned(),
                        ));
                    }
                    if end.steps != steps {
                        return Err(wrong("it counts other steps than there are"));
                    }
                    let beginning = beginning.ok_or_else(|| wrong("there is no first line"))?;
                    let EndLine { counters, score, metrics, assisted, held, .. } = end;
                    let help = RunHelp { is_assisted: assisted, is_held: held };
                    let end = RunEnd { hash, counters, score, metrics, help, steps };
                    return Ok(Self { beginning, parts, end });
                }
            }
        }
    }

    pub fn steps(&self) -> u64 {
        self.end.steps
    }

    /// What the recording says of its end.
    pub fn end(&self) -> &RunEnd {
        &self.end
    }

    /// What was done, for each step.
    pub fn inputs(&self) -> impl Iterator<Item = StepInput> {
        self.parts.iter().flat_map(|part| match part {
            RecordedPart::Inputs(count, input) => std::iter::repeat_n(*input, *count as usize),
            RecordedPart::Hash(_) => std::iter::repeat_n(StepInput::default(), 0),
        })
    }

    /// Runs it again, and compares all hashes, the counters, the score and the metrics. `look` sees the episode at the start and after
    /// each step.
    ///
    /// # Errors
    /// If another engine made it, or a state is not the recorded one.
    pub fn replay(
        &self,
        terrains: &Terrains,
        mut look: impl FnMut(&Episode),
    ) -> Result<Episode, RecordingError> {
        let Beginning { engine, task, seed } = &self.beginning;
        if engine != ENGINE {
            return Err(RecordingError::OtherEngine(crate::printable(engine)));
        }
        let mut episode = Episode::new(task, *seed, terrains);
        look(&episode);
        for part in &self.parts {
            match part {
                RecordedPart::Inputs(count, input) => {
                    for _ in 0..*count {
                        episode.step_with(input);
                        look(&episode);
                    }
                }
                RecordedPart::Hash(hash) if episode.world.hash() != *hash => {
                    return Err(RecordingError::Differs { step: episode.world.tick() });
                }
                RecordedPart::Hash(_) => {}
            }
        }
        if episode.world.hash() != self.end.hash {
            return Err(RecordingError::Differs { step: episode.world.tick() });
        }
        // How long actions were held cannot be seen in them.
        episode.help.is_held = self.end.help.is_held;
        let is_same_score = (episode.score() - self.end.score).abs() < 1e-9;
        let has_metrics = self.end.metrics.as_ref().is_none_or(|metrics| *metrics == episode.metrics());
        let is_same_end = is_same_score && has_metrics && episode.help == self.end.help;
        if !is_same_end || *episode.progress.counters() != self.end.counters {
            return Err(RecordingError::OtherScore);
        }
        Ok(episode)
    }
}

impl Line {
    /// How often something was done, and what.
    fn input(self) -> Option<(u64, StepInput)> {
        let (count, buttons, hotbar, turn, craft) = match self {
            Self::Actions(count, buttons, hotbar, pitch, yaw) => (count, buttons, hotbar, [pitch, yaw], None),
            Self::Crafting(count, buttons, hotbar, pitch, yaw, item) => {
                (count, buttons, hotbar, [pitch, yaw], Some(item))
            }
            Self::Hash(_) | Self::End(_) | Self::First(_) => return None,
        };
        Some((count, StepInput { action: Action::from_parts(buttons, hotbar, turn), craft }))
    }
}

/// Numbers of 64 bits are text, since many readers of JSON round them.
fn hex(hash: u64) -> String {
    format!("{hash:016x}")
}

fn unhex(text: &str) -> Option<u64> {
    (text.len() == 16).then(|| u64::from_str_radix(text, 16).ok())?
}

#[cfg(test)]
mod tests;
