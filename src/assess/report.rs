//! The result of an assessment, in the shape in which this family of benchmarks publishes results.

use std::fmt::Write as _;

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

use super::order::{AssessmentOrder, OrderedTask};
use super::run::{RunEnding, RunOutcome};
use crate::judge::scores::VideoScore;

/// All results of a file. The family's runner makes the list; one assessment is one element.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ResultFile {
    pub participants: ResultParticipants,
    pub results: Vec<AssessmentResult>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ResultParticipants {
    pub agent: String,
}

/// One assessment.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct AssessmentResult {
    pub task_category: Vec<String>,
    pub num_tasks: usize,
    pub total_score: f64,
    pub max_score: f64,
    pub task_metrics: IndexMap<String, TaskScores>,
    pub revision: String,
    /// The engine of the world. Scores of different worlds cannot be compared.
    pub world: String,
    pub judge: Option<String>,
    pub seed: u64,
    /// Whether anything was crafted past the pointer.
    pub assisted: bool,
    /// Whether actions were held for several steps.
    pub held: bool,
    pub asked: Vec<String>,
    /// Tasks of the categories that this world cannot run.
    pub not_available: Vec<String>,
    pub provenance: ResultProvenance,
}

/// The scores of a task. None stands for a score that is not known.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TaskScores {
    pub sim_score: Option<f64>,
    pub video_score: Option<f64>,
    pub total_score: Option<f64>,
    /// Why the run ended early, or failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// Who was assessed, and when.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ResultProvenance {
    pub version: String,
    /// The SHA-256 of the agent's card.
    pub card: String,
    pub at: String,
}

/// What a result is made of, besides the runs.
pub struct ResultSource<'a> {
    pub order: &'a AssessmentOrder,
    pub seed: u64,
    pub provenance: ResultProvenance,
}

impl TaskScores {
    pub fn of(order: &AssessmentOrder, task: &OrderedTask, outcome: &RunOutcome, video: VideoScore) -> Self {
        let sim = task.length.sim_score(outcome.given, outcome.payable);
        let video_score = match video {
            VideoScore::Scored(score) => Some(score),
            VideoScore::NoJudge | VideoScore::Missing => None,
        };
        let error = match &outcome.ending {
            RunEnding::Finished | RunEnding::Died => None,
            ended => Some(ended.to_string()),
        };
        Self {
            sim_score: sim.map(rounded),
            video_score: video_score.map(rounded),
            total_score: order.revision.run_score(sim, video).map(rounded),
            error,
        }
    }
}

impl AssessmentResult {
    pub fn new<'r>(
        source: ResultSource<'_>,
        runs: impl IntoIterator<Item = (&'r OrderedTask, &'r RunOutcome, VideoScore)>,
    ) -> Self {
        let ResultSource { order, seed, provenance } = source;
        let mut result = Self {
            task_category: order.categories.clone(),
            num_tasks: 0,
            total_score: 0.0,
            max_score: 0.0,
            task_metrics: IndexMap::new(),
            revision: order.revision.name().to_owned(),
            world: buildoff_world::ENGINE.to_owned(),
            judge: order.judge.clone(),
            seed,
            assisted: false,
            held: false,
            asked: order.asked.clone(),
            not_available: order.unavailable.clone(),
            provenance,
        };
        for (task, outcome, video) in runs {
            let metrics = TaskScores::of(order, task, outcome, video);
            result.num_tasks += 1;
            result.max_score += task.length.max_score();
            result.total_score = rounded(result.total_score + metrics.total_score.unwrap_or(0.0));
            result.assisted |= outcome.assisted;
            result.held |= outcome.held;
            result.task_metrics.insert(task.task.name().to_owned(), metrics);
        }
        result
    }

    /// The summary for people, as others of this family write it.
    pub fn text(&self) -> String {
        let mut text = String::from("MCU Evaluation Result\n");
        let _ = writeln!(text, "Categories: {}", self.task_category.join(", "));
        let _ = writeln!(text, "Number of Tasks: {}", self.num_tasks);
        let _ = writeln!(text, "Total Score: {:?}", self.total_score);
        text.push_str("\nTask Results:\n");
        for (task, metrics) in &self.task_metrics {
            let score = metrics.total_score.map_or("not scored".to_owned(), |score| format!("{score:?}"));
            let _ = writeln!(text, "Task '{task}': {score}");
        }
        text
    }
}

/// Scores have two decimals, so that sums of them read well.
fn rounded(score: f64) -> f64 {
    (score * 100.0).round() / 100.0
}
