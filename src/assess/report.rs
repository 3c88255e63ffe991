//! The result of an assessment, in the shape in which this family of benchmarks publishes results.

#[expect(unused_imports, reason = "named in a schema")]
use std::collections::BTreeMap;
use std::fmt::Write as _;

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::order::{AssessmentOrder, OrderedTask};
use super::run::{RunEnding, RunOutcome};
use crate::judge::scores::{Revision, VideoScore};

/// All results of a file. The family's runner makes the list; one assessment is one element.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[schema(as = AssessmentResults)]
pub struct ResultFile {
    pub participants: ResultParticipants,
    pub results: Vec<AssessmentResult>,
}

#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct ResultParticipants {
    pub agent: String,
}

/// One assessment.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct AssessmentResult {
    pub task_category: Vec<String>,
    pub num_tasks: usize,
    pub total_score: f64,
    pub max_score: f64,
    #[schema(value_type = BTreeMap<String, TaskScores>)]
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
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct TaskScores {
    pub sim_score: Option<f64>,
    pub video_score: Option<f64>,
    pub total_score: Option<f64>,
    /// Why the run ended early, or failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// Who was assessed, and when.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
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

/// A run that has ended, as far as its score needs it.
pub struct ScoredRun<'a> {
    pub task: &'a OrderedTask,
    pub given: f64,
    pub payable: f64,
    pub held: bool,
    pub assisted: bool,
    /// Why it ended early, or failed.
    pub error: Option<String>,
    pub video: VideoScore,
}

impl<'a> ScoredRun<'a> {
    pub fn new(task: &'a OrderedTask, outcome: &RunOutcome, video: VideoScore) -> Self {
        let error = match &outcome.ending {
            RunEnding::Finished | RunEnding::Died => None,
            ended => Some(ended.to_string()),
        };
        let RunOutcome { given, payable, held, assisted, .. } = *outcome;
        Self { task, given, payable, held, assisted, error, video }
    }

    pub fn scores(&self, revision: Revision) -> TaskScores {
        let sim = self.task.length.sim_score(self.given, self.payable);
        let video_score = match self.video {
            VideoScore::Scored(score) => Some(score),
            VideoScore::NoJudge | VideoScore::Missing => None,
        };
        TaskScores {
            sim_score: sim.map(rounded),
            video_score: video_score.map(rounded),
            total_score: revision.run_score(sim, self.video).map(rounded),
            error: self.error.clone(),
        }
    }
}

impl AssessmentResult {
    pub fn new<'r>(source: ResultSource<'_>, runs: impl IntoIterator<Item = ScoredRun<'r>>) -> Self {
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
        for run in runs {
            let metrics = run.scores(order.revision);
            result.num_tasks += 1;
            result.max_score += run.task.length.max_score();
            result.total_score = rounded(result.total_score + metrics.total_score.unwrap_or(0.0));
            result.assisted |= run.assisted;
            result.held |= run.held;
            result.task_metrics.insert(run.task.task.name().to_owned(), metrics);
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

/// What a mean score out of 10 is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ScoreBand)]
pub enum Band {
    Expert,
    Proficient,
    Competent,
    Novice,
    Struggling,
}

impl Band {
    const FROM: [(Self, f64); 4] =
        [(Self::Expert, 9.0), (Self::Proficient, 7.0), (Self::Competent, 5.0), (Self::Novice, 3.0)];

    pub fn of(mean: f64) -> Self {
        let reached = Self::FROM.into_iter().find(|(_, from)| mean >= *from);
        reached.map_or(Self::Struggling, |(band, _)| band)
    }

    pub fn name(self) -> &'static str {
        match self {
            Self::Expert => "Expert",
            Self::Proficient => "Proficient",
            Self::Competent => "Competent",
            Self::Novice => "Novice",
            Self::Struggling => "Struggling",
        }
    }
}

/// Scores have two decimals, so that sums of them read well.
fn rounded(score: f64) -> f64 {
    (score * 100.0).round() / 100.0
}
