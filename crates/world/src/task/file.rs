//! Task files as YAML: what stands in them, with the lines of everything that may be wrong.

use serde::Deserialize;
use serde_saphyr::options::{DuplicateKeyPolicy, MergeKeyPolicy};
use serde_saphyr::{Options, Spanned};

use super::goal::Goal;
use super::place::Place;
use super::{MAX_FILE, TaskError};
use crate::scene::Scene;

/// A task file, in which commands and rewards are still text.
#[derive(Deserialize)]
pub(super) struct TaskFile {
    #[serde(default)]
    pub text: Option<Spanned<String>>,
    #[serde(default)]
    pub custom_init_commands: Option<Vec<Spanned<String>>>,
    #[serde(default)]
    pub reward_cfg: Option<Vec<Spanned<RewardFile>>>,
    #[serde(default)]
    pub milestone_reward_cfg: Option<Vec<Spanned<RewardFile>>>,
    #[serde(default)]
    pub scene: Option<Spanned<SceneFile>>,
    #[serde(default)]
    pub places: Option<Vec<Spanned<Place>>>,
    #[serde(default)]
    pub goal: Option<Spanned<Goal>>,
    #[serde(default)]
    pub metrics: Vec<super::Metric>,
    #[serde(default)]
    pub max_steps: Option<Spanned<u64>>,
    #[serde(default)]
    pub difficulty: Option<Spanned<u8>>,
    #[serde(default)]
    pub needs: Vec<super::Need>,
}

#[derive(Deserialize)]
pub(super) struct RewardFile {
    pub event: String,
    #[serde(default)]
    pub identity: Option<String>,
    #[serde(default)]
    pub objects: Option<Vec<String>>,
    #[serde(default)]
    pub reward: Option<f64>,
    #[serde(default)]
    pub max_reward_times: Option<u32>,
}

/// A scene's name, or its name with where the player begins.
#[derive(Deserialize)]
#[serde(untagged)]
pub(super) enum SceneFile {
    Name(String),
    With(SceneParameters),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SceneParameters {
    pub name: String,
    #[serde(default)]
    pub start: StartPlace,
}

/// Where in a scene the player begins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum StartPlace {
    #[default]
    Usual,
    /// On the slope of the meadow's hill, with the look to its top.
    Hillside,
}

impl TaskFile {
    /// # Errors
    /// With the line at which the text is no task file.
    pub fn read(text: &str) -> Result<Self, TaskError> {
        if text.len() > MAX_FILE {
            return Err(TaskError::of(None, format!("a task file has at most {MAX_FILE} bytes")));
        }
        serde_saphyr::from_str_with_options(text, options()).map_err(|error| {
            let line = error.location().map(|location| location.line()).filter(|line| *line > 0);
            let words = error.without_snippet().to_string();
            TaskError::of(line, words.lines().next().unwrap_or_default().to_owned())
        })
    }
}

/// No aliases, nothing that grows while it is read, and nothing twice.
fn options() -> Options {
    serde_saphyr::options! {
        budget: serde_saphyr::budget! {
            max_reader_input_bytes: Some(MAX_FILE),
            max_events: 40_000,
            max_aliases: 0,
            max_anchors: 0,
            max_depth: 24,
            max_documents: 1,
            max_nodes: 20_000,
        },
        duplicate_keys: DuplicateKeyPolicy::Error,
        merge_keys: MergeKeyPolicy::Error,
    }
}

impl SceneFile {
    pub fn scene(&self) -> Result<(Scene, StartPlace), String> {
        let (name, start) = match self {
            Self::Name(name) => (name, StartPlace::Usual),
            Self::With(parameters) => (&parameters.name, parameters.start),
        };
        let scene: Scene = name.parse().map_err(|error| format!("{error}"))?;
        if start == StartPlace::Hillside && scene != Scene::Meadow {
            return Err("only the meadow has a hillside".to_owned());
        }
        Ok((scene, start))
    }
}
